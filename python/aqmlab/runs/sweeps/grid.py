"""Tests over the grid of a sweep: each discipline against the first at each combination of the other keys.

Holm's correction is over all cells: the chance that any verdict of the table is wrong is 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab.errors import InputError, counted, unknown
from aqmlab.results.limits import loosest
from aqmlab.results.quantities import Limits, difference_of, interval_of, quantity, shown_in
from aqmlab.runs.comparison_exports import escaped, interval_in_latex
from aqmlab.runs.comparison_matrix import Cell
from aqmlab.runs.comparison_tables import EQUAL, HIGHER, LOWER, NOT_TESTED, UNDECIDED, verdict
from aqmlab.statistics.intervals import LEVEL
from aqmlab.statistics.many import holm

if TYPE_CHECKING:
    from aqmlab.runs.sweeps.sweep import Study

POINT, SEED = "point", "seed"
SIGNS = {HIGHER: " ↑", LOWER: " ↓", EQUAL: " ="}


def is_choice(key: str) -> bool:
    """Whether a swept key is chosen by who runs the queue; the others are conditions, such as load and round trip.

    >>> is_choice("queue.bottleneck.aqm"), is_choice("flow.tcp.count"), is_choice("link.a.queue")
    (True, False, True)
    """
    return key.split(".")[0] == "queue" or key.rpartition(".")[2] == "queue"


def choice_of(study: Study, choice: str | None = None) -> str:
    """Return the key whose values are compared: the one asked for, the discipline, or the only choice.

    Raises
    ------
    InputError
        If the key has one value only, or no swept key is a choice, or several are and none is a discipline.
    """
    varied = [key for key in study.keys if study.runs[key].nunique() > 1]
    if choice is not None:
        if choice not in varied:
            raise InputError(unknown("swept key", choice, varied))
        return choice
    choices = [key for key in varied if is_choice(key)]
    disciplines = [key for key in choices if key.endswith(".aqm")]
    if len(disciplines or choices) != 1:
        raise InputError(
            f"{study.name}: name the key whose values are compared (allowed: {', '.join(varied) or 'none'})"
        )
    return (disciplines or choices)[0]


def grid_table(
    study: Study, metrics: Sequence[str] | None = None, *, choice: str | None = None, level: float = LEVEL
) -> pd.DataFrame:
    """Return a row for each cell of the grid: mean with interval, and the difference against the first value.

    Parameters
    ----------
    study
        The sweep. Points of a cell share their seeds, so differences are paired where that helps.
    metrics
        Keys of quantities; default: those of the report.
    choice
        The key whose values are compared; default: the discipline, or the only swept key of a queue.
    level
        Level of the intervals.

    Returns
    -------
    pandas.DataFrame
        The swept keys, ``metric``, ``unit``, ``n``, ``mean``, ``low``, ``high``, ``against``, ``difference`` with
        ``difference_low``, ``difference_high``, ``percent``, ``p``, ``p_holm`` (over all rows) and ``verdict``
        (higher, lower, equal, undecided, not tested; "" for the first value).

    Raises
    ------
    InputError
        If a metric was not measured, if two points have the same values, or as `choice_of`.
    """
    key = choice_of(study, choice)
    known = study.metrics
    wanted = list(metrics) if metrics is not None else [one for one in shown_in("sweep-report") if one in known]
    for one in wanted:
        if one not in known:
            raise InputError(unknown("metric", one, known))
    conditions = [one for one in study.keys if one != key and study.runs[one].nunique() > 1]
    base = study.runs[key].iloc[0]
    rows, p = [], []
    groups = study.runs.groupby(conditions, sort=False) if conditions else [((), study.runs)]
    for _, cell in groups:
        by = {value: own.set_index(SEED) for value, own in cell.groupby(key, sort=False)}
        if any(own.index.has_duplicates for own in by.values()):
            raise InputError(f"{study.name}: two points have the same values, and the grid takes each once")
        for one in wanted:
            for value, own in by.items():
                first = by.get(base) if value != base else None
                limits = [study.limits[table[POINT].iloc[0]] for table in (own, first) if table is not None]
                row, tested = _row(one, own, first, level, limits)
                rows.append({**{name: own[name].iloc[0] for name in study.keys}, **row, "against": base})
                p.append(tested)
    table = pd.DataFrame(rows)
    table["p"], table["p_holm"] = p, holm(p)
    found = zip(rows, table["p"], table["p_holm"], strict=True)
    table["verdict"] = [_verdict(row, raw, adjusted, quantity(row["metric"]).is_tested) for row, raw, adjusted in found]
    return table.drop(columns="constant")


def _row(
    key: str, own: pd.DataFrame, base: pd.DataFrame | None, level: float, limits: Sequence[Limits]
) -> tuple[dict[str, Any], float]:
    """Return a cell's mean and difference, and p before the correction; NaN for the first value.

    `limits` are those of the cell and of the first value's.
    """
    what = quantity(key)
    found, _ = interval_of(key, own[key].to_numpy(dtype=float), level=level, limits=limits[0])
    row: dict[str, Any] = {"metric": key, "unit": what.unit, "n": found.n, "mean": found.mean}
    row |= {"low": found.low, "high": found.high, "difference": math.nan, "difference_low": math.nan}
    row |= {"difference_high": math.nan, "percent": math.nan, "constant": False}
    if base is None:
        return row, math.nan
    shared = own.index.intersection(base.index)
    a, b = (part.loc[shared, key].to_numpy(dtype=float) for part in (own, base))
    one = difference_of(key, a, b, level=level, limits=loosest(limits))
    width = one.difference.interval
    row |= {"difference": width.mean, "difference_low": width.low, "difference_high": width.high}
    row |= {"percent": 100 * width.mean / one.base if one.base else math.nan, "constant": one.constant}
    return row, one.difference.p if what.is_tested else math.nan


def _verdict(row: dict[str, Any], p: float, p_holm: float, is_tested: bool) -> str:
    if math.isnan(row["difference"]):
        return ""
    if not is_tested:
        return EQUAL if row["difference"] == 0 and row["constant"] else NOT_TESTED
    return verdict(row["difference"], p_holm, constant=row["constant"])


def count_tests(table: pd.DataFrame) -> int:
    """Return the number of differences that were tested in a table of `grid_table`."""
    return int(table["p"].notna().sum())


def grid_text(study: Study, table: pd.DataFrame, *, choice: str | None = None) -> pd.DataFrame:
    """Return a table of `grid_table` for reading: conditions by values, a row a condition and quantity."""
    key = choice_of(study, choice)
    values = list(table[key].drop_duplicates())
    rows = []
    for metric, condition, cells in _cells(study, table, key):
        row: dict[str, Any] = {"quantity": quantity(metric).label, **condition}
        for value in values:
            row[_word(value)] = _text(cells.get(value))
        rows.append(row)
    return pd.DataFrame(rows)


def _text(cell: Cell | None) -> str:
    if cell is None or math.isnan(cell.mean):
        return "-"
    return f"{cell.estimate}{SIGNS.get(cell.verdict, '')}"


def grid_latex(study: Study, table: pd.DataFrame, *, choice: str | None = None, level: float = LEVEL) -> str:
    r"""Return a table of `grid_table` for LaTeX (booktabs): a block a quantity, a row a condition."""
    return "\n".join(_latex(study, table, choice_of(study, choice), level)) + "\n"


def _latex(study: Study, table: pd.DataFrame, key: str, level: float) -> Iterator[str]:
    values = list(table[key].drop_duplicates())
    names = _conditions(study, key)
    yield r"% Needs \usepackage{booktabs}; if it is too wide, table* in place of table."
    yield r"\begin{table}"
    yield r"  \centering"
    yield f"  \\caption{{{escaped(study.name)}: {_caption(table, escaped(_word(values[0])), level)}}}"
    yield f"  \\label{{tab:{''.join(c if c.isalnum() and c.isascii() else '-' for c in study.name)}-grid}}"
    yield f"  \\begin{{tabular}}{{{'r' * len(names) or 'l'}{'r' * len(values)}}}"
    yield r"    \toprule"
    heads = [*(escaped(one) for one in names.values()), *(escaped(_word(one)) for one in values)]
    yield f"    {' & '.join(heads if names else ['', *heads])} \\\\"
    last = ""
    for metric, condition, cells in _cells(study, table, key):
        if metric != last:
            yield r"    \midrule"
            columns = max(len(names), 1) + len(values)
            yield f"    \\multicolumn{{{columns}}}{{l}}{{{escaped(quantity(metric).label)}}} \\\\"
            last = metric
        own = [escaped(_word(one)) for one in condition.values()] or [""]
        there = {one for one, cell in cells.items() if not math.isnan(cell.mean)}
        shown = [interval_in_latex(cells[one]) if one in there else "--" for one in values]
        yield f"    {' & '.join([*own, *shown])} \\\\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _caption(table: pd.DataFrame, base: str, level: float) -> str:
    """Explain the numbers and signs of a table for LaTeX."""
    sizes = table.loc[table["n"] > 0, "n"]
    if sizes.empty or sizes.max() < 2:
        return "one run each, without intervals and tests."
    least, most, count = int(sizes.min()), int(sizes.max()), count_tests(table)
    runs = f"{most}" if least == most else f"{least} to {most}"
    verdicts = set(table["verdict"])
    every = "every run" if least == most else "every run with the quantity"
    equal = f"; $=$ equal in {every}" if EQUAL in verdicts else ""
    tested = set(table.loc[table["verdict"].isin([HIGHER, LOWER, UNDECIDED]), "metric"])
    untested = table.loc[table["verdict"] == NOT_TESTED, "metric"].drop_duplicates()
    names = [f"{escaped(quantity(one).title)}{' in some cells' if one in tested else ''}" for one in untested]
    not_tested = f"; not tested, or the same difference in {every}: {', '.join(names)}" if names else ""
    return (
        f"mean $\\pm$ half-width of the {100 * level:.4g}\\,\\% interval over {runs} runs. $\\uparrow$ higher, "
        f"$\\downarrow$ lower than {base} (5\\,\\%, Holm's correction over "
        f"{counted(count, 'test')}); no arrow: undecided{equal}{not_tested}."
    )


def _conditions(study: Study, key: str) -> dict[str, str]:
    """Return the keys of the conditions, each with its name and unit."""
    names = {}
    for one in study.keys:
        if one != key and study.runs[one].nunique() > 1:
            last = one.rpartition(".")[2]
            unique = sum(other.rpartition(".")[2] == last for other in study.keys) == 1
            names[one] = f"{last if unique else one}{f', {study.units[one]}' if study.units[one] else ''}"
    return names


def _cells(study: Study, table: pd.DataFrame, key: str) -> Iterator[tuple[str, dict[str, Any], dict[Any, Cell]]]:
    """Yield each quantity with each condition, and the cells by the value that is compared."""
    names = _conditions(study, key)
    for metric, own in table.groupby("metric", sort=False):
        for _, rows in own.groupby(list(names), sort=False) if names else [((), own)]:
            condition = {name: rows[one].iloc[0] for one, name in names.items()}
            names_of = ("mean", "low", "high", "verdict", "n")
            cells = {row[key]: Cell.of(str(metric), *(row[one] for one in names_of)) for row in rows.to_dict("records")}
            yield str(metric), condition, cells


def _word(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)
