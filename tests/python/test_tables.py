"""`tables.toml` describes the tables that runs write, column by column."""

from __future__ import annotations

from pathlib import Path

import pytest

import aqmlab
from aqmlab.results.tables import DESCRIBED, OPTIONAL, TABLES

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROBES = {
    "probe.queue_interval": "100ms",
    "probe.cwnd_interval": "100ms",
    "probe.flow_interval": "100ms",
    "probe.discipline_interval": "100ms",
    "probe.delay_histogram": "true",
    "probe.events": "true",
    "probe.packets": "true",
    "probe.losses": "true",
    "probe.flow_delay": "true",
}


CODEL = """
format = 1

[run]
duration = "5s"

[dumbbell]
bottleneck = { rate = "2Mbps", delay = "10ms", queue = "bottleneck", loss = 0.001 }
left = { rate = "100Mbps", delay = "1ms" }
right = { rate = "100Mbps", delay = "1ms" }

[queue.bottleneck]
aqm = "codel"

[[flow]]
name = "tcp"
count = 5
"""

DUALPI2 = {"queue.bottleneck.aqm": "dualpi2"}
CAKE = {"queue.bottleneck.aqm": "cake"}


@pytest.fixture(scope="module")
def written() -> dict[str, list[str]]:
    """Columns of every table that these runs wrote."""
    found: dict[str, list[str]] = {}
    scenarios = [aqmlab.Scenario.from_text(CODEL, overrides=PROBES | aqm) for aqm in ({}, DUALPI2, CAKE)]
    scenarios += [
        aqmlab.Scenario.load(EXAMPLES / f"{name}.toml", overrides=PROBES) for name in ("diffserv", "applications")
    ]
    for scenario in scenarios:
        result = aqmlab.run(scenario, seeds=1, progress=False)
        found |= {table: list(columns) for table, columns in result.tables.items()}
    return found


def test_every_column_is_described(written: dict[str, list[str]]) -> None:
    described = {name: ["seed", *(column.name for column in DESCRIBED[name].columns)] for name in written}
    assert written == described


def test_every_table_is_written(written: dict[str, list[str]]) -> None:
    assert set(written) == set(TABLES)


def test_a_key_asks_for_it() -> None:
    keys = {"probe.links", *PROBES}
    assert {key for key in OPTIONAL.values() if key} == keys
