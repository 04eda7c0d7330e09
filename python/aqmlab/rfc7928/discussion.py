"""Topics that the RFC wants discussed: ECN, scheduling, stability of control, cost, and control by operators."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from aqmlab import _core
from aqmlab.errors import Error, InputError
from aqmlab.reporting.fragments import bounded
from aqmlab.rfc7928.case import FORWARD
from aqmlab.rfc7928.collected import Collected, Measured
from aqmlab.rfc7928.sensitivity import target_of, turnable
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.tables import Row, shown
from aqmlab.statistics.compared import compare_means
from aqmlab.theory.scenario.model import model_of
from aqmlab.theory.scenario.theory import theory_of

AT_DEQUEUE = ("codel", "cobalt", "fq-codel", "cake", "pi2", "dualpi2")
"""Disciplines that decide when a packet leaves; all others decide when it comes."""
SCHEDULERS: Mapping[str, str] = {
    "fq-codel": "a queue a flow (hashed), deficit round robin with new flows first, CoDel in each",
    "fq-pie": "a queue a flow (hashed), deficit round robin with new flows first, PIE in each",
    "cake": "a queue a flow (hashed) in each tin, deficit round robin with new flows first, COBALT in each",
    "dualpi2": "two coupled queues, weighted, low latency first",
    "sfq": "a queue a flow (hashed), round robin",
    "drr": "a queue a flow, deficit round robin",
    "priority": "a queue a class, strict priority",
    "wfq": "a queue a class, by weights",
}
"""Disciplines that schedule themselves."""
ARRIVALS, REPEATS = 200_000, 5


def ecn(disciplines: Sequence[Settings]) -> pd.DataFrame:
    """Return which disciplines can mark, and the parameters that control it (section 4.5)."""
    rows = []
    for one in disciplines:
        keys = [p.key for p in one.discipline.own_parameters if p.key == "ecn" or p.key.startswith("mark_")]
        rows.append(
            {
                "discipline": one.name,
                "marks": "yes" if one.marks else "no: it drops packets that could be marked",
                "parameters": ", ".join(keys) or "none",
            }
        )
    return pd.DataFrame(rows)


def scheduling(disciplines: Sequence[Settings]) -> pd.DataFrame:
    """Section 4.6: when a discipline decides, and whether it schedules."""
    return pd.DataFrame(
        [
            {
                "discipline": one.name,
                "decides": "as packets leave" if one.name in AT_DEQUEUE else "as packets come",
                "scheduling": SCHEDULERS.get(one.name, "none of its own: one queue, first in, first out"),
            }
            for one in disciplines
        ]
    )


def stability(scenario: Mapping[str, Measured]) -> pd.DataFrame:
    """Section 8.3: margins of the linearized loop of TCP and discipline, where there is one."""
    rows = []
    for name, entry in scenario.items():
        row: dict[str, str | float] = {"discipline": name}
        try:
            theory = theory_of(model_of(entry.plan, link=FORWARD))
            margins = theory.margins
        except Error as error:
            rows.append(row | {"loop": f"not modelled ({str(error).splitlines()[0]})"})
            continue
        if margins is None:
            rows.append(row | {"loop": f"none: {theory.model.reason or 'no operating point at which it is linear'}"})
            continue
        rows.append(
            row
            | {
                "loop": "stable" if margins.stable else "unstable",
                "gain margin, dB": margins.gain_margin_db,
                "phase margin, degrees": margins.phase_margin,
                "delay margin, ms": margins.delay_margin * 1e3,
            }
        )
    return pd.DataFrame(rows)


def swings(scenario: Mapping[str, Measured]) -> pd.DataFrame:
    """Section 8.3, as runs show it: how much delay and goodput swing in time, in intervals of 1 s."""
    rows = []
    for name, entry in scenario.items():
        delay, goodput = (
            [np.array(_series(answer["course"][quantity]), dtype=float) for answer in entry.answers]
            for quantity in ("delay_ms", "goodput_mbps")
        )
        rows.append(
            {
                "discipline": name,
                "queueing delay, ms: mean": float(np.mean([d.mean() for d in delay])),
                "its deviation over 1 s intervals": float(np.mean([d.std(ddof=1) for d in delay])),
                "goodput, Mb/s: mean": float(np.mean([g.mean() for g in goodput])),
                "deviation over 1 s intervals": float(np.mean([g.std(ddof=1) for g in goodput])),
            }
        )
    return pd.DataFrame(rows)


def _series(of: Mapping[str, Sequence[float]]) -> Sequence[float]:
    return next(iter(of.values()))


def sensitivities(collected: Collected) -> pd.DataFrame:
    """Return effects of each parameter, halved or doubled, at medium congestion, in % with intervals (section 8.3)."""
    base = _base(collected)
    rows = []
    for scenario in collected.scenarios("8.3"):
        for name, entry in scenario.items():
            if name not in base:
                continue
            key, _, factor = entry.case.key.partition(" ")
            n = len(entry.answers)
            row = {"discipline": name, "parameter": key, "factor": factor, "set to": entry.case.settings.label}
            for title, path in (
                ("delay", ("links", FORWARD, "delay_ms")),
                ("goodput", ("groups", "bulk", "goodput_mbps")),
                ("loss", ("links", FORWARD, "loss")),
            ):
                found = compare_means(entry.values(*path), base[name].values(*path)[:n])
                share, ends = 100 / found.base if found.base else math.nan, found.difference.interval
                row[title] = f"{bounded(share * ends.mean, share * ends.low, share * ends.high, signed=True)} %"
            rows.append(row)
    return pd.DataFrame(rows).sort_values("discipline", kind="stable") if rows else pd.DataFrame()


def ranges(collected: Collected) -> dict[str, list[tuple[float, Measured]]]:
    """Section 4.3.1: every discipline's settings in order of their factor, the one of the suite among them."""
    found = {name: [(1.0, entry)] for name, entry in _base(collected).items()}
    for scenario in collected.scenarios("4.3.1"):
        for name, entry in scenario.items():
            found.setdefault(name, []).append((entry.case.point or 1.0, entry))
    return {name: sorted(own, key=lambda pair: pair[0]) for name, own in found.items()}


def ranges_table(collected: Collected) -> pd.DataFrame:
    """Return the same as a table."""
    rows: list[Row] = [
        {
            "discipline": name,
            "setting": entry.case.settings.label or "as in the suite",
            "goodput, Mb/s": entry.mean("groups", "bulk", "goodput_mbps"),
            "queueing delay, ms": entry.mean("links", FORWARD, "delay_ms"),
            "loss": entry.mean("links", FORWARD, "loss"),
            "utilization": entry.mean("links", FORWARD, "utilization"),
        }
        for name, points in ranges(collected).items()
        for _, entry in points
    ]
    return shown(rows)


def _base(collected: Collected) -> dict[str, Measured]:
    scenarios = collected.scenarios("8.2.3")
    return dict(scenarios[0]) if scenarios else {}


def parameters(disciplines: Sequence[Settings]) -> pd.DataFrame:
    """Section 12: how many parameters a discipline shows, which set its target, which set themselves."""
    rows = []
    for one in disciplines:
        own = [p for p in one.discipline.own_parameters if p.key != "limit"]
        switches = [p for p in own if p.choices or isinstance(p.default, bool)]
        automatic = [p.key for p in own if "auto" in p.allowed]
        adaptation = one.discipline.parameter("adaptation")
        adapts = adaptation is not None and adaptation.default not in (None, "none")
        rows.append(
            {
                "discipline": one.name,
                "parameters": len(own),
                "of them switches": len(switches),
                "numbers that change its behaviour": ", ".join(p.key for p in turnable(one)) or "none",
                "set the target": ", ".join(target_of(one)) or "none",
                "automatic on request": ", ".join(automatic) or "none",
                "adapts as it runs": f"yes: {adaptation.default}"
                if adapts and adaptation is not None
                else ADAPTIVE.get(one.name, "no"),
            }
        )
    return pd.DataFrame(rows)


ADAPTIVE: Mapping[str, str] = {
    "codel": "yes: the interval between drops follows the time above the target",
    "fq-codel": "yes: the interval between drops follows the time above the target",
    "cobalt": "yes: as CoDel, and a drop probability as BLUE",
    "cake": "yes: as COBALT",
    "pie": "yes: the gain follows the drop probability",
    "fq-pie": "yes: the gain follows the drop probability",
    "pi": "yes: the probability follows the queue's distance from its target",
    "pi2": "yes: the probability follows the delay's distance from its target",
    "dualpi2": "yes: the probability follows the delay's distance from its target",
    "rem": "yes: the price follows queue and rate",
    "avq": "yes: the virtual capacity follows the arrivals",
    "blue": "yes: the probability moves by itself",
    "sfb": "yes: the probabilities move by themselves",
}
"""Non-RED disciplines whose control law adapts by itself."""


def cost(disciplines: Sequence[Settings], *, buffer: int) -> pd.DataFrame:
    """Section 11: time a packet on this machine, by the code of the simulator, under Poisson arrivals at load 1.

    It is the least of some repeats and has the making of the arrivals in it, which is the same for all.
    """
    rows: list[dict[str, str | float]] = []
    for one in disciplines:
        table = {**one.queue(buffer=buffer), **{key: _value(value) for key, value in one.chosen.items()}}
        try:
            least = min(_timed(json.dumps(table)) for _ in range(REPEATS))
        except (InputError, ValueError) as error:
            rows.append({"discipline": one.name, "note": f"not measured alone ({str(error).splitlines()[0]})"})
            continue
        rows.append({"discipline": one.name, "ns a packet": round(least * 1e9 / ARRIVALS, 1), "note": ""})
    base = next((float(row["ns a packet"]) for row in rows if "ns a packet" in row), math.nan)
    for row in rows:
        if "ns a packet" in row:
            row["over the first"] = round(float(row["ns a packet"]) / base, 2)
    return pd.DataFrame(rows)


def _timed(queue: str) -> float:
    began = time.perf_counter()
    _core.open_loop(queue, 833.0, 833.0, ARRIVALS, 1000, 1)
    return time.perf_counter() - began


def _value(text: str) -> str | float | bool:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text
