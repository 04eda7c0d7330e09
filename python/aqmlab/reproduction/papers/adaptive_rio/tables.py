"""Table 1, and what the figures show as numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.adaptive_rio.effects import gain
from aqmlab.reproduction.papers.adaptive_rio.measure import ACTIVE, IDLE, LINK, MORE_FLOWS, PERIODS_S, abscissae, values
from aqmlab.reproduction.papers.adaptive_rio.plan import ADAPTIVE, AT_MAX_U, DISCIPLINES, FILES, PRINTED_FLOWS, RED, RIO
from aqmlab.reproduction.papers.common import Setup, intervals_table
from aqmlab.statistics import Interval, interval

Row = dict[str, str | float | Interval]


def parameter_table(setup: Setup) -> pd.DataFrame:
    """Table 1 beside the effective parameters of the preset that was run."""
    effective = setup.plan.link(LINK).parameters
    rows = []
    for cell in FILES.cells():
        if cell.quantity in effective:
            found = number(effective[cell.quantity])
            rows.append(
                {
                    "parameter": cell.quantity,
                    "printed": cell.printed,
                    "unit": cell.unit,
                    "value": cell.value,
                    "in the preset": found,
                    "same": "yes" if abs(found - cell.value) < 1e-12 else "no",
                    "note": cell.note,
                }
            )
    return pd.DataFrame(rows)


def figure_2(runs: pd.DataFrame, *, case: str = "figure2") -> pd.DataFrame:
    """Utilization, loss and queue at each threshold."""
    rows: list[Row] = []
    for x in abscissae(runs, case):
        found = {
            key: interval(values(runs, key, case=case, discipline=RED, x=x))
            for key in ("utilization_arrived", "utilization_delivered", "loss", "mean_queue")
        }
        thresholds: Row = {"max_th": x, "min_th": x / 3} if case == "figure2" else {"min_th": x}
        rows.append(
            {
                **thresholds,
                "utilization": found["utilization_arrived"],
                "as goodput": found["utilization_delivered"],
                "loss": found["loss"],
                "mean queue, packets": found["mean_queue"],
                "seeds": found["loss"].n,
            }
        )
    return intervals_table(rows)


def experiment_1(runs: pd.DataFrame) -> pd.DataFrame:
    """Assured, best-effort and total throughput in each period, Mb/s."""
    rows: list[Row] = []
    for name in DISCIPLINES:
        for index, (begin, end) in enumerate(PERIODS_S):
            found = {
                title: interval(values(runs, f"{kind}_{index}_arrived", case="experiment1", discipline=name))
                for kind, title in (("assured", "assured"), ("best_effort", "best effort"), ("total", "total"))
            }
            state = "idle" if index in IDLE else "active"
            rows.append({"discipline": name, "period": f"{begin}-{end} s, {state}", **found, "seeds": found["total"].n})
    return intervals_table(rows)


def experiment_2(runs: pd.DataFrame) -> pd.DataFrame:
    """Figures 6 and 7: best-effort utilization and assured throughput while on, at each off time."""
    rows: list[Row] = []
    for off in abscissae(runs, "experiment2"):
        row: Row = {"off time, s": off}
        for key, title in (("u_be_arrived", "U_BE"), ("on_arrived", "assured while on, Mb/s")):
            for name in (RIO, ADAPTIVE):
                row[f"{title}, {name}"] = interval(values(runs, key, case="experiment2", discipline=name, x=off))
            row[f"{title}, difference"] = interval(gain(runs, key, "experiment2", off))
        rows.append(row)
    return intervals_table(rows)


def by_class(runs: pd.DataFrame) -> pd.DataFrame:
    """Loss of each class at the bottleneck, and its queue, in both experiments."""
    rows: list[Row] = []
    places = [("experiment1", 0)] + [("experiment2", off) for off in abscissae(runs, "experiment2")]
    for case, x in places:
        for name in (RIO, ADAPTIVE):
            found = {
                key: interval(values(runs, key, case=case, discipline=name, x=x))
                for key in ("drops_in", "loss_in", "drops_out", "loss_out", "mean_queue", "mean_delay_ms")
            }
            rows.append(
                {
                    "experiment": "first" if case == "experiment1" else f"second, off time {x} s",
                    "discipline": name,
                    "drops in profile": found["drops_in"],
                    "loss in profile": found["loss_in"],
                    "drops out of profile": found["drops_out"],
                    "loss out of profile": found["loss_out"],
                    "mean queue, packets": found["mean_queue"],
                    "mean queueing delay, ms": found["mean_delay_ms"],
                }
            )
    return intervals_table(rows)


AT_MAX_U_LESS = f"{AT_MAX_U} less {ADAPTIVE}"
"""The column of what it costs the assured flow that thresholds stand at max_U."""


def more_flows(runs: pd.DataFrame) -> pd.DataFrame:
    """Assured throughput in the active periods of the first experiment, by the number of best-effort flows."""
    rows: list[Row] = []
    others = [(MORE_FLOWS, n) for n in abscissae(runs, MORE_FLOWS)]
    for case, x in [("experiment1", 0), *others]:
        by_name = {
            name: np.mean(
                [values(runs, f"assured_{i}_arrived", case=case, discipline=name, x=x) for i in ACTIVE], axis=0
            )
            for name in (RIO, AT_MAX_U, ADAPTIVE)
        }
        rows.append(
            {
                "best-effort flows": x or PRINTED_FLOWS,
                **{name: interval(found) for name, found in by_name.items()},
                AT_MAX_U_LESS: interval(by_name[AT_MAX_U] - by_name[ADAPTIVE]),
                "seeds": len(by_name[RIO]),
            }
        )
    return intervals_table(rows)


def delays(answers: pd.DataFrame) -> pd.DataFrame:
    """Queueing delay of both classes in the first experiment, ms."""
    rows: list[Row] = []
    for name in answers["discipline"].unique():
        for state in ("idle", "active"):
            row: Row = {"discipline": str(name), "assured flow": state}
            for kind, title in (("mean", "mean"), ("p99", "99 %")):
                for key, of in (("in", "in profile"), ("out", "out of profile")):
                    row[f"{title}, {of}, ms"] = interval(
                        common.values(answers, f"{kind}_{key}_{state}", discipline=str(name))
                    )
            rows.append(row | {"seeds": int((answers["discipline"] == name).sum())})
    return intervals_table(rows)


def number(value: object) -> float:
    """Read a parameter that the core gives as a number or as text with a unit.

    >>> number("200ms"), number("5s"), number(0.9), number("60p")
    (0.2, 5.0, 0.9, 60.0)
    """
    if isinstance(value, int | float):
        return float(value)
    text = str(value)
    for unit, size in (("ms", 1e-3), ("us", 1e-6), ("s", 1.0), ("p", 1.0), ("", 1.0)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * size
    raise ValueError(text)
