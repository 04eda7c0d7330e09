"""Execute the tests of ``claims.toml`` on a table of runs, and on the printed numbers.

`claim_file` describes the format. For each claim, form and baseline there is one `Finding`:

* A test has a cell for each combination of the columns in `each`. Both sides of a cell are paired by seed.
* A cell is **not engaged** if both sides have the same numbers in every seed (although their parameters differ), or if
  the claim's `mechanism` did not act in its runs. Such cells are listed and left out. If all cells of a form are not
  engaged, this is its verdict.
* The verdict of a form follows from its cells as in `aqmlab.statistics.verdict_all`.
* If a form is undecided, the finding says how many seeds would decide it.
* The same test is applied to the printed numbers; if they contradict it, the finding names the cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aqmlab.papers.common.claim_file import (
    FORMS,
    SEED,
    Claim,
    ClaimFile,
    Other,
    Test,
    Value,
    Where,
)
from aqmlab.papers.common.claim_prose import form_sentences, side
from aqmlab.papers.common.claims import Finding, Part, describe, part_difference, places
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.notes import Experiments, note_lines
from aqmlab.papers.common.pairs import Pair, pairs_of, table_of_printed, table_of_runs
from aqmlab.papers.common.power import decisive, decisive_words, seeds_cell, seeds_to_decide, seeds_words
from aqmlab.papers.common.quantities import Kind, bounds_of, difference_of_bounds
from aqmlab.papers.common.run_table import RunTable
from aqmlab.statistics import (
    Difference,
    Interval,
    Verdict,
    verdict_above,
    verdict_all,
    verdict_below,
    verdict_between,
)
from aqmlab.statistics.intervals import Bounds


@dataclass(frozen=True)
class _Bound:
    """One comparison of a cell: the difference a - b is above or below a bound, or between two.

    `b` is the other side multiplied by `factor`.
    """

    b: np.ndarray
    low: float = -math.inf
    high: float = math.inf
    words: str = ""
    aspect: str = ""
    factor: float = 1.0


def execute_claims(
    file: ClaimFile,
    runs: pd.DataFrame,
    *,
    cells: Iterable[Cell] = (),
    reading: str = "",
    experiments: pd.DataFrame | None = None,
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
    experiments
        Runs of all readings, with the column ``reading``, from which notes and answers take their numbers; without
        them, only the runs of the reading that is judged.
    """
    measured, printed = RunTable(table_of_runs(file, runs)), RunTable(table_of_printed(file, cells))
    known = Experiments(measured, printed, experiments)
    findings: list[Finding] = []
    parts: list[Part] = []
    for claim in file.claims:
        for against in dict.fromkeys(label for test in claim.tests for label, _ in test.baselines):
            found = [_form(file, claim, form, against, measured, printed) for form in FORMS]
            own = [one for one in found if one is not None]
            verdicts = {finding.form: finding.verdict for finding, _ in own}
            lines = note_lines(file, claim, against, verdicts, known, reading=reading)
            findings += [replace(finding, reading=reading, reasons="\n".join(lines)) for finding, _ in own]
            parts += [replace(part, reading=reading) for _, of_form in own for part in of_form]
    return findings, parts


def _form(
    file: ClaimFile, claim: Claim, form: str, against: str, runs: RunTable, printed: RunTable
) -> tuple[Finding, list[Part]] | None:
    """Judge one form of a claim against one baseline; None if there are no runs for it."""
    tests = [test for test in claim.tests if test.form == form]
    parts = [part for test in tests for part in parts_of(file, claim, test, against, runs)]
    if not parts:
        return None
    engaged = [part for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    verdict = overall(claim, engaged) if engaged else Verdict.NOT_ENGAGED
    lines = [describe(parts)]
    seeds = ""
    if verdict is Verdict.UNDECIDED:
        needed, way = seeds_to_decide(engaged)
        lines.append(seeds_words(needed, way))
        seeds = seeds_cell(needed, way)
    on_paper = [part for test in tests for part in parts_of(file, claim, _on_paper(test), against, printed, paper=True)]
    contradicted = [part for part in on_paper if part.verdict is Verdict.FAILS]
    if contradicted:
        lines.append(f"The printed numbers contradict it{_where(contradicted, on_paper)}.")
    text = form_sentences(file, claim, form)
    agree = all(part.verdict is Verdict.HOLDS for part in on_paper)
    says = "" if not on_paper else "contradict" if contradicted else "agree" if agree else "do not decide"
    finding = Finding(claim.id, claim.title, against, verdict, "\n".join(lines), claim.says, text, claim.own)
    by = decisive_words(decisive(parts, verdict))
    return replace(finding, form=form, printed=says, decided_by=by, seeds_needed=seeds), parts


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
    file: ClaimFile, claim: Claim, test: Test, against: str, runs: RunTable, *, paper: bool = False
) -> Iterator[Part]:
    """Judge every cell of a test; nothing where runs are missing."""
    several = len({name for other in claim.tests if other.form == test.form for name in other.quantities}) > 1
    for label, where in test.baselines:
        for quantity in test.quantities if label == against else ():
            aspect = test.name or (file.quantities[quantity].title if several else "")
            place = f"claims.toml: claim {claim.id}, {test.form} form"
            for pair in pairs_of(file, place, test, quantity, where, runs):
                what = _what(file, test, quantity, where)
                case, at = _place(file, pair.at)
                for bound in _bounds(test, pair):
                    question = ", ".join(word for word in (aspect, bound.aspect) if word)
                    limits = _limits(test, quantity, pair, bound)
                    difference, verdict = _judge(test, pair, bound, limits, paper=paper)
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
            _Bound(least * b, 0.0, math.inf, f", less {least:g} times", f"at least {least:g} times", least),
            _Bound(most * b, -math.inf, 0.0, f", less {most:g} times", f"at most {most:g} times", most),
        ]
    if test.compare == "equal":
        return [_Bound(b, -test.within, test.within)]
    times = f", less {test.factor[0]:g} times" if test.factor else ""
    factor = test.factor[0] if test.factor else 1.0
    b = factor * b
    if test.compare in ("above", "grows"):
        return [_Bound(b, low=-test.margin, words=times, factor=factor)]
    return [_Bound(b, high=test.margin, words=times, factor=factor)]


def _limits(test: Test, quantity: str, pair: Pair, bound: _Bound) -> Bounds:
    """Return the bounds of a cell's difference, given the bounds of the quantities."""
    other = test.than.quantity if isinstance(test.than, Other) else ""
    if pair.b is None:
        number = float(bound.b[0])
        return difference_of_bounds(bounds_of(quantity), (number, number))
    if not test.along:
        return difference_of_bounds(bounds_of(quantity), bounds_of(other or quantity), bound.factor)
    compared = isinstance(test.than, Other) or any(where for _, where in test.baselines)
    own = bounds_of(quantity, Kind.DIFFERENCE, other) if compared else bounds_of(quantity)
    return difference_of_bounds(own, own, bound.factor)


def _judge(test: Test, pair: Pair, bound: _Bound, limits: Bounds, *, paper: bool) -> tuple[Difference, Verdict]:
    mean = float(np.nanmean(pair.a - bound.b))
    finite = [side for side in (bound.low, bound.high) if math.isfinite(side)]
    nearest = min(finite, key=lambda side: abs(mean - side))
    if test.statistic == "exact":
        found = Difference(Interval(mean, 0.0, 1, mean, mean), math.nan)
    else:
        found = part_difference(pair.a, bound.b, nearest, limits)
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


def _what(file: ClaimFile, test: Test, quantity: str, where: Where) -> str:
    """Return the name of the comparison, for the table of parts."""
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
