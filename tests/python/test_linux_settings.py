"""Settings that Linux's own disciplines do not have: all that the tables of tc name is in a warning, or is rejected."""

from __future__ import annotations

import json

import pytest

from aqmlab.errors import InputError, ScenarioError
from aqmlab.interop.kernel.export import plan_and_link
from aqmlab.interop.tc.cake import CAKE
from aqmlab.interop.tc.other_queues import OTHER_QUEUES
from aqmlab.interop.tc.queues import qdisc_of, queue_differences
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import discipline

SCENARIO = """format = 1
[run]
duration = "1s"
[dumbbell]
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "1Gbps", delay = "0ms" }}
right = {{ rate = "1Gbps", delay = "0ms" }}
[queue.bottleneck]
aqm = "{aqm}"
{queue}
[[flow]]
name = "tcp"
start = "0s"
transport = "tcp"
"""
TABLES = {name: table for name, table in OTHER_QUEUES.items() if name not in ("sfq", "drr")} | {"cake": CAKE}
BY_LINUX_VERSION = {"cake": "linux-7.3"}
UNNAMED = {"hash_key"}
"""Linux draws the key of its hash; a key that is set makes a run repeatable."""


def read(aqm: str, **settings: object) -> Scenario:
    """Read a scenario with a queue in the dialect of Linux."""
    own = {"dialect": BY_LINUX_VERSION.get(aqm, "linux"), **settings}
    lines = [f"{key} = {json.dumps(value)}" for key, value in own.items()]
    return Scenario.from_text(SCENARIO.format(aqm=aqm, queue="\n".join(lines)))


def others(aqm: str, key: str) -> list[object]:
    """Return values of a parameter other than its default."""
    link = plan_and_link(read(aqm))[1]
    parameter = next(one for one in discipline(aqm).parameters if one.key == key)
    words = [word for word in parameter.choices if word != link.parameters.get(key)]
    value = link.parameters.get(key)
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [*words, *(_written(parameter.unit, factor * value) for factor in (0.013, 0.737, 1.137, 60.1))]
    return list(words)


def _written(unit: str, value: float) -> object:
    if unit == "s":
        return f"{value:.12g}s"
    if unit == "bytes":
        return f"{max(1, round(value))}B"
    return float(f"{value:.9g}")


@pytest.mark.parametrize("aqm", TABLES)
def test_values_that_linux_does_not_have_are_warned_of(aqm: str) -> None:
    table = TABLES[aqm]
    checked = 0
    for key in dict.fromkeys([*(row.key for row in table.rows), *(fixed.key for fixed in table.fixed)]):
        for value in others(aqm, key) if key not in UNNAMED | {"dialect"} else ():
            try:
                scenario = read(aqm, **{key: value})
                plan, link = plan_and_link(scenario)
                differences = [str(one) for one in queue_differences(link, qdisc_of(plan, link))]
            except (ScenarioError, InputError) as error:
                assert key in str(error)  # noqa: PT017 - an error is as good as a warning
                continue
            checked += 1
            if any(key in text for text in differences):
                warnings = "\n".join(str(warning) for warning in scenario.warnings)
                assert key in warnings, f"{key} = {value}: {differences}"
    assert checked > 4
