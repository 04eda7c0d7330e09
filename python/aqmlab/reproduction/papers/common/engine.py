"""Execute the tests of ``claims.toml`` on a table of runs, and on the printed numbers.

`claim_file` describes the format. For each claim, form and baseline there is one `Finding`:

* A test has a cell for each combination of the columns in `each`. Both sides of a cell are paired by seed.
* A cell is **not engaged** if both sides have the same numbers in every seed (although their parameters differ), or if
  the claim's `mechanism` did not act in its runs. Such cells are listed and left out. If all cells of a form are not
  engaged, this is its verdict.
* Rows in which a quantity is NaN are no runs of it, so that a table may hold rows about different quantities.
* The verdict of a form follows from its cells as in `aqmlab.statistics.verdict_all`.
* If a form is undecided, the finding says how many seeds would decide it.
* The same test is applied to the printed numbers; if they contradict it, the finding names the cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.reproduction.papers.common.claim_file import (
    FORMS,
    SEED,
    Claim,
    ClaimFile,
    Column,
    Mechanism,
    Other,
    Range,
    Test,
    Value,
    Where,
)
from aqmlab.reproduction.papers.common.claim_prose import form_sentences, side
from aqmlab.reproduction.papers.common.claims import Finding, Part, describe, part_difference, places
from aqmlab.reproduction.papers.common.files import Cell
from aqmlab.reproduction.papers.common.power import seeds_words
from aqmlab.statistics import (
    Difference,
    Interval,
    Verdict,
    verdict_above,
    verdict_all,
    verdict_below,
    verdict_between,
)

Explain = Callable[[str, str, Mapping[str, Verdict]], list[str]]
"""Further lines on a claim: called with its id, the baseline and the verdict of each form."""


@dataclass(frozen=True)
class Pair:
    """Both sides of one cell, by seed; `b` is None if the other side is a number."""

    at: dict[str, Value]
    a: np.ndarray
    b: np.ndarray | None
    engaged: bool = True


@dataclass(frozen=True)
class _Bound:
    """One comparison of a cell: the difference a - b is above or below a bound, or between two."""

    b: np.ndarray
    low: float = -math.inf
    high: float = math.inf
    words: str = ""
    aspect: str = ""


def execute_claims(
    file: ClaimFile,
    runs: pd.DataFrame,
    *,
    cells: Iterable[Cell] = (),
    reading: str = "",
    explain: Explain | None = None,
) -> tuple[list[Finding], list[Part]]:
    """Judge all claims of which there are runs.

    Parameters
    ----------
    file
        The claims.
    runs
        A row per run of one reading: the declared columns, ``seed``, and the columns of the quantities.
    cells
        The printed numbers.
    reading
        The name of the reading in the findings; "" if only one is judged.
    explain
        Gives further lines on a claim.
    """
    measured, printed = table_of_runs(file, runs), table_of_printed(file, cells)
    findings: list[Finding] = []
    parts: list[Part] = []
    for claim in file.claims:
        for against in dict.fromkeys(label for test in claim.tests for label, _ in test.baselines):
            found = [_form(file, claim, form, against, measured, printed) for form in FORMS]
            own = [one for one in found if one is not None]
            verdicts = {finding.form: finding.verdict for finding, _ in own}
            lines = explain(claim.id, against, verdicts) if explain and own else []
            findings += [replace(finding, reading=reading, reasons="\n".join(lines)) for finding, _ in own]
            parts += [replace(part, reading=reading) for _, of_form in own for part in of_form]
    return findings, parts


def table_of_runs(file: ClaimFile, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the declared columns, the seed and every quantity under its own name."""
    for name in [*file.columns, SEED]:
        _has(runs, name, "column")
    table = runs[[*file.columns, SEED]].copy()
    for name, quantity in file.quantities.items():
        if quantity.column:
            _has(runs, quantity.column, f"quantity {name}: column")
            table[name] = runs[quantity.column].to_numpy(dtype=float)
    return _with_formulas(file, table)


def table_of_printed(file: ClaimFile, cells: Iterable[Cell]) -> pd.DataFrame:
    """Return the printed numbers in the form of `table_of_runs`, as one seed."""
    rows: dict[tuple[Value, ...], dict[str, Value]] = {}
    cells = list(cells)
    for name, quantity in file.quantities.items():
        for cell in cells if quantity.printed else ():
            own: dict[str, Value] = {"table": cell.table, "quantity": cell.quantity, "unit": cell.unit, **cell.key}
            if all(own.get(key) == value for key, value in quantity.printed.items()) and not math.isnan(cell.value):
                key = tuple(own.get(column, "") for column in file.columns)
                rows.setdefault(key, dict(zip(file.columns, key, strict=True)))[name] = cell.value
    table = pd.DataFrame(list(rows.values()), columns=[*file.columns, *file.quantities]).assign(**{SEED: 1})
    return _with_formulas(file, table)


def _with_formulas(file: ClaimFile, table: pd.DataFrame) -> pd.DataFrame:
    for name, quantity in file.quantities.items():
        if quantity.formula:
            try:
                table[name] = table.eval(quantity.formula) if len(table) else math.nan
            except (NameError, SyntaxError, ValueError) as error:
                raise InputError(f"quantity {name}: formula {quantity.formula!r}: {error}") from None
    return table


def _has(runs: pd.DataFrame, name: str, kind: str) -> None:
    if name not in runs:
        raise InputError(f"claims.toml and the table of runs: {unknown(kind, name, [str(c) for c in runs.columns])}")


def _form(
    file: ClaimFile, claim: Claim, form: str, against: str, runs: pd.DataFrame, printed: pd.DataFrame
) -> tuple[Finding, list[Part]] | None:
    """Judge one form of a claim against one baseline; None if there are no runs for it."""
    tests = [test for test in claim.tests if test.form == form]
    parts = [part for test in tests for part in parts_of(file, claim, test, against, runs)]
    if not parts:
        return None
    engaged = [part for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    verdict = overall(claim, engaged) if engaged else Verdict.NOT_ENGAGED
    lines = [describe(parts)]
    if verdict is Verdict.UNDECIDED:
        lines += seeds_words(engaged)
    on_paper = [part for test in tests for part in parts_of(file, claim, _on_paper(test), against, printed, paper=True)]
    contradicted = [part for part in on_paper if part.verdict is Verdict.FAILS]
    if contradicted:
        lines.append(f"The printed numbers contradict it{_where(contradicted, on_paper)}.")
    text = form_sentences(file, claim, form)
    agree = all(part.verdict is Verdict.HOLDS for part in on_paper)
    says = "" if not on_paper else "contradict" if contradicted else "agree" if agree else "do not decide"
    finding = Finding(claim.id, claim.title, against, verdict, "\n".join(lines), claim.says, text, claim.own)
    return replace(finding, form=form, printed=says), parts


def _on_paper(test: Test) -> Test:
    """Return the test that printed numbers can answer: without chance, mechanism and seeds."""
    each = tuple(name for name in test.each if name != SEED)
    return replace(test, statistic="exact", mechanism=None, each=each)


def overall(claim: Claim, parts: Sequence[Part]) -> Verdict:
    """Return the verdict that follows from those of all cells."""
    verdicts = [part.verdict for part in parts]
    if claim.correction == "none" and Verdict.FAILS in verdicts:
        return Verdict.FAILS
    return verdict_all(verdicts, [part.difference.p for part in parts])


def parts_of(
    file: ClaimFile, claim: Claim, test: Test, against: str, runs: pd.DataFrame, *, paper: bool = False
) -> Iterator[Part]:
    """Judge every cell of a test; nothing where runs are missing."""
    several = len({name for other in claim.tests if other.form == test.form for name in other.quantities}) > 1
    for label, where in test.baselines:
        for quantity in test.quantities if label == against else ():
            aspect = test.name or (file.quantities[quantity].title if several else "")
            for pair in pairs_of(file, claim, test, quantity, where, runs):
                what = _what(file, test, quantity, where)
                case, at = _place(file, pair.at)
                for bound in _bounds(test, pair):
                    question = ", ".join(word for word in (aspect, bound.aspect) if word)
                    difference, verdict = _judge(test, pair, bound, paper=paper)
                    yield Part(
                        claim.id,
                        what + bound.words,
                        difference,
                        verdict,
                        case,
                        at,
                        against,
                        question,
                        test.form,
                        bounds=(bound.low, bound.high),
                    )


def _place(file: ClaimFile, at: Mapping[str, Value]) -> tuple[str, dict[str, Value]]:
    """Write where a cell is: the values of columns without a title as text, the others by name."""
    titles = {name: file.column(name).title for name in at}
    case = ", ".join(file.column(name).words(value) for name, value in at.items() if not titles[name])
    return case, {titles[name]: value for name, value in at.items() if titles[name]}


def _bounds(test: Test, pair: Pair) -> list[_Bound]:
    """Return the comparisons of one cell."""
    zero = np.zeros(len(pair.a))
    number = test.than if isinstance(test.than, float) else 0.0
    b = zero + number if pair.b is None else pair.b
    if test.compare == "between":
        if isinstance(test.than, tuple):
            return [_Bound(zero, test.than[0], test.than[1])]
        least, most = test.factor
        return [
            _Bound(least * b, 0.0, math.inf, f", less {least:g} times", f"at least {least:g} times"),
            _Bound(most * b, -math.inf, 0.0, f", less {most:g} times", f"at most {most:g} times"),
        ]
    if test.compare == "equal":
        return [_Bound(b, -test.within, test.within)]
    times = f", less {test.factor[0]:g} times" if test.factor else ""
    b = test.factor[0] * b if test.factor else b
    if test.compare in ("above", "grows"):
        return [_Bound(b, low=-test.margin, words=times)]
    return [_Bound(b, high=test.margin, words=times)]


def _judge(test: Test, pair: Pair, bound: _Bound, *, paper: bool) -> tuple[Difference, Verdict]:
    mean = float(np.nanmean(pair.a - bound.b))
    finite = [side for side in (bound.low, bound.high) if math.isfinite(side)]
    nearest = min(finite, key=lambda side: abs(mean - side))
    if test.statistic == "exact":
        found = Difference(Interval(mean, 0.0, 1, mean, mean), math.nan)
    else:
        found = part_difference(pair.a, bound.b, nearest)
    if not pair.engaged:
        return found, Verdict.NOT_ENGAGED
    if not math.isfinite(bound.high):
        verdict = verdict_above(found.interval, bound.low)
    elif not math.isfinite(bound.low):
        verdict = verdict_below(found.interval, bound.high)
    else:
        verdict = verdict_between(found.interval, bound.low, bound.high)
    if test.statistic == "exact" and not paper:
        verdict = Verdict.FAILS if verdict is Verdict.UNDECIDED else verdict
        found = replace(found, p=0.0 if verdict is Verdict.FAILS else math.nan)
    return found, verdict


def pairs_of(
    file: ClaimFile, claim: Claim, test: Test, quantity: str, baseline: Where, runs: pd.DataFrame
) -> Iterator[Pair]:
    """Return both sides of every cell, paired by seed."""
    rows = _select(runs[runs[quantity].notna()], test.of)
    rows = rows[~_mask(rows, test.without)] if test.without else rows
    rows = _select(rows, test.at)
    against = _against(test, baseline, quantity)
    if against is not None:
        where, other = against
        right = _select(runs[runs[other].notna()], {**test.of, **where})
        right = _select(right[~_mask(right, test.without)] if test.without else right, test.at)
    place = f"claims.toml: claim {claim.id}, {test.form} form"
    for at in _cells_of(file, test, rows, quantity):
        here = _select(rows, at)
        a = _by_seed(here, quantity, test, place)
        b = None if against is None else _by_seed(_select(right, at), other, test, place)
        words = {name: values[0] for name, values in at.items() if isinstance(values, tuple)}
        if test.along:
            acted = _acted(test.mechanism, test, at, runs)
            column = file.column(test.along)
            found = _steps(test, column, words, a, b)
            yield from (replace(pair, engaged=acted and pair.engaged) for pair in found)
            continue
        columns = a.columns if b is None else a.columns.intersection(b.columns)
        seeds = a.index if b is None else a.index.intersection(b.index)
        if not len(columns) or not len(seeds):
            continue
        x = _mean(a.loc[seeds, columns])
        y = None if b is None else _mean(b.loc[seeds, columns])
        if np.isnan(x).all() or (y is not None and np.isnan(y).all()):
            continue
        engaged = _acted(test.mechanism, test, at, runs) and not _identical(test, x, y)
        yield Pair(words, x, y, engaged)


def _against(test: Test, baseline: Where, quantity: str) -> tuple[Where, str] | None:
    """Return the columns in which the other side differs, and its quantity; None if it is a number."""
    if isinstance(test.than, Other):
        return {**test.than.where, **baseline}, test.than.quantity or quantity
    return (baseline, quantity) if baseline else None


def _steps(
    test: Test, column: Column, words: dict[str, Value], a: pd.DataFrame, b: pd.DataFrame | None
) -> Iterator[Pair]:
    """Return a pair for each step along a column: the higher value and the lower; words go in their declared order."""
    if b is not None:
        a = (a - b).dropna(axis="columns", how="all")
    words_only = all(isinstance(value, str) for value in a.columns)
    order = sorted(a.columns, key=lambda value: _order(column, value)) if words_only else sorted(a.columns)
    steps = list(pairwise(order)) if test.steps == "each" else [(order[0], order[-1])] if len(order) > 1 else []
    for lower, higher in steps:
        both = a[[lower, higher]].dropna()
        if len(both):
            x, y = both[higher].to_numpy(), both[lower].to_numpy()
            yield Pair({**words, test.along: higher}, x, y, not _identical(test, x, y))


def _cells_of(file: ClaimFile, test: Test, rows: pd.DataFrame, quantity: str) -> list[Where]:
    """Return the combinations of the columns in `each`, in the declared order of their values."""
    if rows.empty:
        return []
    if not test.each:
        return [{}]
    found = list(dict.fromkeys(rows.loc[rows[quantity].notna(), list(test.each)].itertuples(index=False, name=None)))

    def place(at: tuple[Value, ...]) -> list[int]:
        return [_order(file.column(name), value) for name, value in zip(test.each, at, strict=True)]

    return [{name: (value,) for name, value in zip(test.each, at, strict=True)} for at in sorted(found, key=place)]


def _order(column: Column, value: Value) -> int:
    declared = list(column.values or ())
    return declared.index(value) if value in declared else len(declared)


def _by_seed(rows: pd.DataFrame, quantity: str, test: Test, place: str) -> pd.DataFrame:
    """Return one quantity with a row per seed and a column per value of what is averaged or goes along."""
    over = [*test.mean_over, *([test.along] if test.along else [])]
    if rows.duplicated([SEED, *over]).any():
        differing = [
            c for c in rows.columns if c not in (SEED, *over) and rows[c].nunique() > 1 and rows[c].dtype == "O"
        ]
        hint = f"; they differ in {', '.join(differing)}" if differing else ""
        raise InputError(f"{place}: several runs of one seed in a cell{hint}; name columns in of, each or mean_over")
    if not over:
        return rows.set_index(SEED)[[quantity]].set_axis([""], axis="columns")
    if test.along and test.mean_over:
        wide = rows.pivot_table(index=SEED, columns=test.along, values=quantity, aggfunc="mean")
    else:
        wide = rows.pivot(index=SEED, columns=over if len(over) > 1 else over[0], values=quantity)
    found: pd.DataFrame = wide.dropna(axis="columns", how="all")
    return found


def _mean(table: pd.DataFrame) -> np.ndarray:
    """Return the mean over columns, seed by seed; NaN where one is missing."""
    found: np.ndarray = table.mean(axis="columns", skipna=False).to_numpy(dtype=float)
    return found


def _identical(test: Test, a: np.ndarray, b: np.ndarray | None) -> bool:
    """Whether runs under different parameters are the same, in a test for which this is no answer."""
    about_one = test.compare == "between" and len(test.factor) == 2 and test.factor[0] <= 1 <= test.factor[1]
    tolerant = test.compare == "equal" or about_one or test.margin > 0 or test.statistic == "exact"
    return b is not None and not tolerant and len(a) > 0 and np.array_equal(a, b, equal_nan=True)


def _acted(mechanism: Mechanism | None, test: Test, at: Where, runs: pd.DataFrame) -> bool:
    """Whether the mechanism of a claim acted in a cell."""
    if mechanism is None:
        return True
    where = test.of if mechanism.of is None else {**test.of, **mechanism.of}
    rows = _select(_select(_select(runs, where), test.at), at)
    listed = [name for name, values in where.items() if isinstance(values, tuple) and len(values) > 1]
    groups = [rows] if not listed else [group for _, group in rows.groupby(listed)]
    return bool(len(rows)) and all(_meets(mechanism, group[mechanism.quantity]) for group in groups)


def _meets(mechanism: Mechanism, values: pd.Series[float]) -> bool:
    found = np.array([values.sum()]) if mechanism.total else values.to_numpy(dtype=float)
    if mechanism.above is not None:
        return bool((found > mechanism.above).any())
    return bool((found < float(mechanism.below or 0)).any())


def _select(rows: pd.DataFrame, where: Where) -> pd.DataFrame:
    return rows[_mask(rows, where)] if where else rows


def _mask(rows: pd.DataFrame, where: Where) -> np.ndarray:
    fits = np.ones(len(rows), dtype=bool)
    for name, values in where.items():
        column = rows[name]
        if isinstance(values, Range):
            fits &= np.array([value in values for value in column], dtype=bool)
        else:
            fits &= column.isin(list(values)).to_numpy()
    return fits


def _what(file: ClaimFile, test: Test, quantity: str, where: Where) -> str:
    """Say what is compared, for the table of parts."""
    one = file.quantities[quantity]
    unit = f", {one.unit}" if one.unit not in ("", "1") else ""
    who = ", ".join(
        file.columns[name].words(values[0])
        for name, values in test.of.items()
        if isinstance(values, tuple) and len(values) == 1
    )
    other = side(file, test, where)
    if test.along:
        title = file.columns[test.along].title or test.along
        less = f" - {other}" if other else ""
        lower = f"the {'next lower' if test.steps == 'each' else 'lowest'} {title}"
        return f"{one.title}{f', {who}' if who else ''}{less}, less that at {lower}{unit}"
    if other:
        return f"{one.title}, {who} - {other}{unit}"
    than = f" less {test.than:g}" if isinstance(test.than, float) and test.than else ""
    return f"{one.title}{f', {who}' if who else ''}{than}{unit}"


def _where(found: Sequence[Part], everywhere: Sequence[Part]) -> str:
    """Name cells: `` for TCP alone at n = 20``."""
    words = []
    for key in dict.fromkeys((part.case, part.aspect) for part in found):
        own, every = ([p.at for p in parts if (p.case, p.aspect) == key] for parts in (found, everywhere))
        named = ", ".join(word for word in key if word)
        words.append(f"{f' for {named}' if named else ''}{places(own, every)}")
    return ";".join(words)
