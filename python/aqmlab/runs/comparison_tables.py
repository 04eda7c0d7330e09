"""The tables of a comparison: means, differences with their verdicts, and the gain of pairing by seed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab.results.limits import loosest
from aqmlab.results.quantities import difference_of, in_order, interval_of, quantity
from aqmlab.statistics.compared import Compared
from aqmlab.statistics.intervals import LEVEL
from aqmlab.statistics.many import benjamini_hochberg, holm
from aqmlab.statistics.pairing import Gain

if TYPE_CHECKING:
    from aqmlab.results.result import Result

HIGHER, LOWER, EQUAL, UNDECIDED = "higher", "lower", "equal", "undecided"
NOT_TESTED = "not tested"
"""Verdict of a difference that is the same in every run, so that there is no interval, and of described quantities."""
DIFFERENCE_COLUMNS = (
    "aqm", "metric", "difference", "low", "high", "percent", "p_holm", "hedges_g", "correlation", "test", "verdict",
)  # fmt: skip
"""The columns of the differences that a command prints."""


def means_table(results: Mapping[str, Result], link: str, *, level: float = LEVEL) -> pd.DataFrame:
    """Make the table of every discipline's means; ``method`` says how each interval was made."""
    rows = []
    for name, result in results.items():
        table, limits = result.metrics(link=link), result.limits(link=link)
        for key in _compared(table):
            found, method = interval_of(key, table[key].to_numpy(), level=level, limits=limits)
            values = {"mean": found.mean, "sd": found.sd, "n": found.n, "low": found.low, "high": found.high}
            rows.append({"aqm": name, "metric": key, "unit": quantity(key).unit, **values, "method": str(method)})
    return pd.DataFrame(rows)


def differences_table(results: Mapping[str, Result], link: str, *, level: float = LEVEL) -> pd.DataFrame:
    """Make the table of differences against the first discipline.

    ``p_holm`` is p after Holm's correction over the whole table, all tested metrics of all disciplines. The verdict
    rests on it: the chance that any verdict is wrong is 5 %. ``p_fdr`` is p after Benjamini and Hochberg's correction
    over the same table, for screens of many disciplines: of those below 5 % about one in twenty is expected to be
    false.
    """
    names = list(results)
    first = results[names[0]].metrics(link=link)
    found: dict[tuple[str, str], Compared] = {}
    for name in names[1:]:
        table = results[name].metrics(link=link)
        limits = loosest([results[one].limits(link=link) for one in (name, names[0])])
        for key in (key for key in _compared(table) if key in first.columns):
            values = table[key].to_numpy(), first[key].to_numpy()
            found[name, key] = difference_of(key, *values, level=level, limits=limits)
    p = [math.nan if not quantity(key).is_tested else one.difference.p for (_, key), one in found.items()]
    table = pd.DataFrame(
        {"aqm": name, "against": names[0], "metric": key, "unit": quantity(key).unit, **_row(one, p_tested, p_holm)}
        for ((name, key), one), p_tested, p_holm in zip(found.items(), p, holm(p), strict=True)
    )
    if len(table):
        table.insert(list(table.columns).index("p_holm") + 1, "p_fdr", benjamini_hochberg(list(table["p"])))
    return table


def pairing_lines(differences: pd.DataFrame) -> list[str]:
    """Say what pairing by seed gained, a line a discipline.

    Parameters
    ----------
    differences
        The result of `differences_table`.
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


def _row(one: Compared, p: float, p_holm: float) -> dict[str, object]:
    found = one.difference.interval
    return {
        "difference": found.mean,
        "low": found.low,
        "high": found.high,
        "percent": 100 * found.mean / one.base if one.base else float("nan"),
        "n": found.n,
        "p": p,
        "p_holm": p_holm,
        "verdict": _verdict(one, p, p_holm),
        "test": one.test,
        "correlation": one.pairing.correlation,
        "r_low": one.pairing.low,
        "r_high": one.pairing.high,
        "gain": str(one.pairing.gain),
        "runs_share": one.pairing.runs_share,
        "hedges_g": math.nan if one.constant and found.mean else one.hedges_g,
        "cliffs_delta": one.cliffs_delta,
    }


def _verdict(one: Compared, p: float, p_holm: float) -> str:
    is_described = math.isnan(p) and not math.isnan(one.difference.p)
    adjusted = one.difference.p if is_described else p_holm
    found = verdict(one.difference.interval.mean, adjusted, constant=one.constant)
    return NOT_TESTED if is_described and found != EQUAL else found


def verdict(difference: float, p: float, *, constant: bool = False) -> str:
    """Say whether a quantity is higher or lower; ``undecided`` if the runs cannot resolve the difference.

    Parameters
    ----------
    difference, p
        The mean difference, and p after correction.
    constant
        Whether the difference is the same in all of several runs.

    >>> verdict(0.5, 0.01), verdict(0.5, 0.2), verdict(0.0, 1.0), verdict(0.5, float("nan"))
    ('higher', 'undecided', 'undecided', 'undecided')
    >>> verdict(0.5, float("nan"), constant=True), verdict(0.0, 1.0, constant=True)
    ('not tested', 'equal')
    """
    if constant:
        return EQUAL if difference == 0 and p == 1 else NOT_TESTED
    if not p < 1 - LEVEL:
        return UNDECIDED
    return HIGHER if difference > 0 else LOWER


def _compared(table: pd.DataFrame) -> Iterable[str]:
    keys = [key for key in in_order(table.columns) if "compare" in quantity(key).places]
    return [key for key in keys if not table[key].isna().all()]
