"""The tables of a comparison: means, differences with their verdicts, and what pairing by seed gained."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab.results.metrics import APPLICATIONS, in_order, metric
from aqmlab.statistics.compared import Compared, compare_means
from aqmlab.statistics.estimate import mean_interval
from aqmlab.statistics.intervals import LEVEL
from aqmlab.statistics.many import benjamini_hochberg, holm
from aqmlab.statistics.pairing import Gain

if TYPE_CHECKING:
    from aqmlab.results.result import Result

EVERY_RUN = (
    "throughput_mbps",
    "loss",
    "mean_queue",
    "mean_delay_ms",
    "delay_p99_ms",
    "goodput_mbps",
    "jain",
    "timeouts",
)
"""Metrics of links and TCP that are compared."""
HIGHER, LOWER, EQUAL, UNDECIDED = "higher", "lower", "equal", "undecided"
DIFFERENCE_COLUMNS = (
    "aqm", "metric", "difference", "low", "high", "percent", "p_holm", "hedges_g", "correlation", "test", "verdict",
)  # fmt: skip
"""The columns of the differences that a command prints."""


def means_table(results: Mapping[str, Result], link: str, *, level: float = LEVEL) -> pd.DataFrame:
    """Make the table of every discipline's means; ``method`` says how each interval was made."""
    rows = []
    for name, result in results.items():
        table = result.metrics(link=link)
        for key in _compared(table):
            found, method = mean_interval(table[key].to_numpy(), level=level)
            values = {"mean": found.mean, "sd": found.sd, "n": found.n, "low": found.low, "high": found.high}
            rows.append({"aqm": name, "metric": key, "unit": metric(key).unit, **values, "method": str(method)})
    return pd.DataFrame(rows)


def differences_table(results: Mapping[str, Result], link: str, *, level: float = LEVEL) -> pd.DataFrame:
    """Make the table of differences against the first discipline.

    ``p_holm`` is p after Holm's correction over all metrics of the discipline, and what the verdict rests on: that
    any of its verdicts is wrong has a chance of 5 %. ``p_fdr`` is p after Benjamini and Hochberg's correction over the
    whole table, for who screens many disciplines: of those below 5 % about one in twenty is expected to be nothing.
    """
    names = list(results)
    first = results[names[0]].metrics(link=link)
    rows = []
    for name in names[1:]:
        table = results[name].metrics(link=link)
        keys = [key for key in _compared(table) if key in first.columns]
        found = [compare_means(table[key].to_numpy(), first[key].to_numpy(), level=level) for key in keys]
        adjusted = holm([one.difference.p for one in found])
        for key, one, p_holm in zip(keys, found, adjusted, strict=True):
            rows.append(
                {"aqm": name, "against": names[0], "metric": key, "unit": metric(key).unit, **_row(one, p_holm)}
            )
    table = pd.DataFrame(rows)
    if len(table):
        table.insert(list(table.columns).index("p_holm") + 1, "p_fdr", benjamini_hochberg(list(table["p"])))
    return table


def pairing_lines(differences: pd.DataFrame) -> list[str]:
    """Say what pairing by seed gained, a line a discipline.

    Parameters
    ----------
    differences
        What `differences_table` made.
    """
    lines = []
    for (name, against), own in differences.groupby(["aqm", "against"], sort=False) if len(differences) else ():
        rows = [r for r in own.to_dict("records") if math.isfinite(r["r_low"]) and r["verdict"] != EQUAL]
        parts = []
        for gain, words in _GAINS.items():
            found = [_achieved(row) for row in rows if row["gain"] == gain]
            if found:
                parts.append(words.format(", ".join(found)))
        if parts:
            lines.append(f"Pairing {name} with {against} by seed {'; it '.join(parts)}.")
    return lines


_GAINS = {
    Gain.YES: "needs fewer runs than independent ones for {}",
    Gain.NONE: "gains nothing that shows for {}: independent runs would do",
    Gain.HARM: "needs more runs than independent ones for {}",
}


def _achieved(row: Mapping[Any, Any]) -> str:
    share = "" if row["gain"] == Gain.NONE else f", {100 * row['runs_share']:.0f} % of the runs"
    return f"{row['metric']} (r = {row['correlation']:.2f}{share})"


def _row(one: Compared, p_holm: float) -> dict[str, object]:
    found = one.difference.interval
    return {
        "difference": found.mean,
        "low": found.low,
        "high": found.high,
        "percent": 100 * found.mean / one.base if one.base else float("nan"),
        "n": found.n,
        "p": one.difference.p,
        "p_holm": p_holm,
        "verdict": verdict(found.mean, p_holm),
        "test": one.test,
        "correlation": one.pairing.correlation,
        "r_low": one.pairing.low,
        "r_high": one.pairing.high,
        "gain": str(one.pairing.gain),
        "runs_share": one.pairing.runs_share,
        "hedges_g": one.hedges_g,
        "cliffs_delta": one.cliffs_delta,
    }


def verdict(difference: float, p: float) -> str:
    """Say whether a quantity is higher or lower; ``undecided`` if the runs are too noisy to tell.

    >>> verdict(0.5, 0.01), verdict(0.5, 0.2), verdict(0.0, 1.0), verdict(0.5, float("nan"))
    ('higher', 'undecided', 'equal', 'undecided')
    """
    if difference == 0 and p == 1:
        return EQUAL
    if not p < 1 - LEVEL:
        return UNDECIDED
    return HIGHER if difference > 0 else LOWER


def _compared(table: pd.DataFrame) -> Iterable[str]:
    keys = [*EVERY_RUN, *APPLICATIONS, *(key for key in in_order(table.columns) if "." in key)]
    return [key for key in keys if key in table.columns and not table[key].isna().all()]
