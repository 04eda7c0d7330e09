"""The queue on the site's first page: a short recording of real runs, and the script that plays it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pandas as pd

import aqmlab
from aqmlab.figures.marks import PALETTE
from aqmlab.lab.page import bundle
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link
from aqmlab.scenario.toml_text import Value

URI = "front-queue.js"
SCENARIO = "example:dumbbell-red"
LINK = "bottleneck"
DISCIPLINES = ("drop-tail", "red")
FROM_S, SECONDS, BEFORE_S = 8.0, 0.5, 0.1
"""When the recording begins, its length, and how much earlier the log does: longer than any packet waits."""
PACKETS_A_SECOND = 25
COLUMNS = ("t_ps", "kind", "flow", "packet", "seq", "average", "reason")


def script() -> str:
    """Return the script: recording, colours, and the code of the laboratory that draws a queue."""
    own = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
    known = f"const RECORDED = {json.dumps(recorded())}, PALETTE = {json.dumps(PALETTE)};"
    return f'(() => {{\n"use strict";\n{known}\n{bundle(("recording", "curve_view", "queue_view"))}\n{own}}})();\n'


def recorded() -> dict[str, object]:
    """Run the first example with each discipline and return what happens at the bottleneck, packet by packet."""
    overrides: dict[str, Value] = {
        "run.duration": f"{FROM_S + SECONDS + 1}s",
        "probe.links": [LINK],
        "probe.events": True,
        "probe.events_from": f"{FROM_S - BEFORE_S}s",
        "probe.events_until": f"{FROM_S + SECONDS}s",
    }
    with tempfile.TemporaryDirectory() as folder:
        found = aqmlab.compare(
            SCENARIO, aqm=DISCIPLINES, seeds=1, out=folder, overrides=overrides, workers=1, progress=False
        )
    results = found.results
    lanes = [
        {"name": name, "levels": _thresholds(result), "events": _plain(result.events)}
        for name, result in results.items()
    ]
    first = next(iter(results.values()))
    data = first.events.loc[first.events["packet"] == "data", "bytes"].median()
    packet_s = 8 * float(data) / _link(first).rate_bps
    return {
        "from_s": FROM_S,
        "until_s": FROM_S + SECONDS,
        "pace": PACKETS_A_SECOND * packet_s,
        "flows": first.flows["flow"].tolist(),
        "lanes": lanes,
    }


def _link(result: aqmlab.Result) -> Link:
    return Scenario.from_text(result.scenario_text).link(LINK)


def _thresholds(result: aqmlab.Result) -> list[tuple[float, str]]:
    parameters = _link(result).parameters
    return [(parameters[key], key) for key in ("min_th", "max_th") if key in parameters]


def _plain(events: pd.DataFrame) -> dict[str, list[object]]:
    """Return the columns that a recording needs as JSON has them; null where there is no average."""
    rounded = events.assign(average=events["average"].round(1))
    return {key: rounded[key].astype(object).where(rounded[key].notna(), None).tolist() for key in COLUMNS}
