"""Execute the tests of claims on a table of runs, and on the printed numbers.

For each claim, form and baseline there is one `Finding`:

* A test has a cell for each combination of the columns in `Numbers.each`. Both sides of a cell are paired by seed.
* A cell is **not engaged** if both sides have the same numbers in every seed (although their parameters differ), or if
  the claim's mechanism did not act in its runs. Such cells are joined and left out. If all cells of a form are not
  engaged, this is its verdict.
* The verdict of a form follows from its cells as in `aqmlab.statistics.verdict_all`.
* If a form is undecided and an equivalence test shows that any effect is smaller than the margin (half of the printed
  effect, or the test's own), its verdict is "no effect"; see `judge_effect` and `overall` of `claims`.
* If a form is still undecided, the finding says how many seeds would decide it.
* The same test is applied to the printed numbers; if they contradict it, the finding names the cells.
* Notes stand below the verdicts, and objections of the authors with their answers where a form fails.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from aqmlab.errors import InputError, joined
from aqmlab.papers.common.claim_functions import Claim, Claims, Note, called
from aqmlab.papers.common.claims import (
    FORMS,
    LITERAL,
    STRICT,
    Finding,
    Part,
    correction_words,
    describe,
    equal_words,
    judge_effect,
    margin_words,
    overall,
    part_difference,
    places,
)
from aqmlab.papers.common.expressions import MISSING, Numbers, Runs, Tables, Test
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.pairs import Pair
from aqmlab.papers.common.power import decisive, decisive_words, seeds_cell, seeds_to_decide, seeds_words
from aqmlab.papers.common.prose import side, unit_of
from aqmlab.papers.common.quantities import Kind, bounds_of, difference_of_bounds
from aqmlab.papers.common.run_table import RunTable, table_of_printed, table_of_runs
from aqmlab.papers.common.runs import ALLOWED
from aqmlab.papers.common.vocabulary import SEED, Value, Vocabulary
from aqmlab.statistics import (
    Difference,
    Interval,
    Verdict,
    verdict_above,
    verdict_below,
    verdict_between,
)
from aqmlab.statistics.intervals import Bounds

ANSWER = " Answer: "
"""Between an objection and its answer."""


@dataclass(frozen=True)
class PaperFinding:
    """The paper's idea and the one finding, in words.

    Attributes
    ----------
    idea
        The paper's idea in one sentence.
    verdict
        The verdict of the tests behind the finding.
    says
        The finding in one sentence, as the verdict has it.
    shows
        The numbers behind it, with 95 % intervals.
    """

    idea: str
    verdict: Verdict
    says: str
    shows: str


@dataclass(frozen=True)
class _Bound:
    """One comparison of a cell: the difference a - b is above or below a bound, or between two.

    `b` is the other side multiplied by `factor`.
    """

    b: np.ndarray
    low: float = -math.inf
    high: float = math.inf
    aspect: str = ""
    factor: float = 1.0


def execute_claims(
    claims: Claims,
    runs: pd.DataFrame,
    *,
    cells: Iterable[Cell] = (),
    reading: str = "",
    experiments: pd.DataFrame | None = None,
    readings: Sequence[str] | None = None,
) -> tuple[list[Finding], list[Part]]:
    """Judge all claims of which there are runs.

    Parameters
    ----------
    claims
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
    readings
        Labels of the readings that claims may name, beside those of `experiments`; None allows any.
    """
    words = claims.words
    printed = RunTable(table_of_printed(words, cells))
    tables = Tables(RunTable(table_of_runs(words, runs)), printed, experiments, readings)
    findings: list[Finding] = []
    parts: list[Part] = []
    for claim in claims:
        for baseline in claim.baselines:
            found = [_form(claims, claim, form, baseline, tables) for form in FORMS]
            own = [one for one in found if one is not None]
            context = Runs(words, tables, verdicts={finding.form: finding.verdict for finding, _ in own})
            reasons = "\n".join(_notes(claim, baseline, context, reading)) if own else ""
            findings += [replace(finding, reading=reading, reasons=reasons) for finding, _ in own]
            parts += [replace(part, reading=reading) for _, of_form in own for part in of_form]
    return findings, parts


def find(claims: Claims, runs: pd.DataFrame, *, cells: Iterable[Cell] = ()) -> PaperFinding | None:
    """Fill in the paper's one finding from the runs; None without finding, or without runs of it.

    Parameters
    ----------
    claims, cells
        As for `execute_claims`.
    runs
        A row per run of all readings that the finding is about.
    """
    text, words = claims.found, claims.words
    if text is None:
        return None
    tables = Tables(RunTable(table_of_runs(words, runs)), RunTable(table_of_printed(words, cells)))
    context = Runs(words, tables)
    parts = [part for test in text.function(context) for part in _parts(words, "finding", test, tables.runs)]
    engaged = [part for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    if not engaged:
        return None
    verdict = overall(engaged)
    return PaperFinding(text.idea, verdict, text.says[str(verdict)], text.shows(context))


def _form(
    claims: Claims, claim: Claim[...], form: str, baseline: str, tables: Tables
) -> tuple[Finding, list[Part]] | None:
    """Judge one form of a claim against one baseline; None if there are no runs for it."""
    words = claims.words
    tests = [test for test in claim.tests(Runs(words, tables), baseline) if test.form == form]
    several = len({test.numbers.quantity for test in tests}) > 1
    tests = [
        test if test.name or not several else replace(test, name=words.quantity(test.numbers.quantity).title)
        for test in tests
    ]
    parts = [part for test in tests for part in _parts(words, claim.id, test, tables.runs, against=baseline)]
    if not parts:
        return None
    on_paper = [part for test in tests for part in _parts(words, claim.id, _on_paper(test), tables.printed, paper=True)]
    known = {part.place: part.difference.mean for part in on_paper}
    parts = [judge_effect(part, known.get(part.place)) for part in parts]
    engaged = [part for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    verdict = overall(engaged) if engaged else Verdict.NOT_ENGAGED
    lines = [describe(parts), *([margin_words(engaged)] if verdict is Verdict.NO_EFFECT else [])]
    seeds = ""
    if verdict in (Verdict.HOLDS, Verdict.FAILS):
        lines += equal_words(engaged, verdict)
    if verdict is Verdict.UNDECIDED:
        lines += correction_words(engaged)
        needed, way = seeds_to_decide(engaged)
        lines.append(seeds_words(needed, way))
        seeds = seeds_cell(needed, way)
    contradicted = [part for part in on_paper if part.verdict is Verdict.FAILS]
    if contradicted:
        lines.append(f"The printed numbers contradict it{_where(contradicted, on_paper)}.")
    agree = all(part.verdict is Verdict.HOLDS for part in on_paper)
    return Finding(
        claim=claim.id,
        title=claim.title,
        against=baseline,
        verdict=verdict,
        found="\n".join(lines),
        says=claim.quote,
        test=claims.sentences(claim, form),
        own=claim.own,
        form=form,
        printed="" if not on_paper else "contradict" if contradicted else "agree" if agree else "do not decide",
        decided_by=decisive_words(decisive(parts, verdict)),
        seeds_needed=seeds,
    ), parts


def _on_paper(test: Test) -> Test:
    """Return the test that printed numbers can answer: without chance, mechanism and seeds."""
    per = tuple(name for name in test.numbers.per if name != SEED)
    return replace(test, by_chance=False, mechanism=None, numbers=replace(test.numbers, per=per))


def _parts(
    words: Vocabulary, claim: str, test: Test, runs: RunTable, *, against: str = "", paper: bool = False
) -> Iterator[Part]:
    """Judge every cell of a test; nothing where runs are missing."""
    numbers = test.numbers
    place = f"claim {claim}, {test.form} form"
    for pair in numbers.pairs(runs, place=place, along=test.along, steps=test.steps):
        if test.by_chance and (np.isinf(pair.a).any() or (pair.b is not None and np.isinf(pair.b).any())):
            raise InputError(f"{place}: {numbers.quantity}: is infinite in a run (allowed: {ALLOWED})")
        case, at = _place(words, pair.at)
        engaged = _acted(test, pair.at, runs) and not _identical(test, pair)
        for bound in _bounds(test, pair):
            difference, verdict = _judge(test, pair, bound, paper=paper, engaged=engaged)
            yield Part(
                claim,
                _what(words, test, bound.factor),
                difference,
                verdict,
                case,
                at,
                against,
                ", ".join(word for word in (test.name, bound.aspect) if word),
                test.form,
                bounds=(bound.low, bound.high),
                effect=pair.b is not None and not test.factor and 0.0 in (bound.low, bound.high),
                margin=test.no_effect,
            )


def _identical(test: Test, pair: Pair) -> bool:
    """Whether runs under different parameters are the same, in a test for which this is no answer."""
    about_one = len(test.factor) == 2 and test.factor[0] <= 1 <= test.factor[1]
    tolerant = test.compare == "equal" or about_one or test.margin > 0 or not test.by_chance
    return pair.b is not None and not tolerant and len(pair.a) > 0 and np.array_equal(pair.a, pair.b, equal_nan=True)


def _acted(test: Test, at: Mapping[str, Value], runs: RunTable) -> bool:
    """Whether the mechanism of a claim acted in a cell."""
    if test.mechanism is None:
        return True
    condition, numbers = test.mechanism.test, test.numbers
    where = {**numbers.of, **condition.numbers.of}
    cell = {name: (value,) for name, value in at.items() if name in numbers.per}
    fits = runs.fits(where) & runs.fits(numbers.limits) & runs.fits(cell)
    names = [name for name, values in where.items() if isinstance(values, tuple) and len(values) > 1]
    groups = [dict(zip(names, key, strict=True)) for key in runs.places(fits, names)] if names else [{}]
    values = runs[condition.numbers.quantity]

    def met(group: Mapping[str, Value]) -> bool:
        own = values[fits & runs.fits({name: (value,) for name, value in group.items()})]
        found = np.array([np.nansum(own)]) if test.mechanism and test.mechanism.total else own
        (bound,) = condition.bound
        return bool((found > bound).any() if condition.compare == "above" else (found < bound).any())

    return bool(fits.any()) and all(met(group) for group in groups)


def _place(words: Vocabulary, at: Mapping[str, Value]) -> tuple[str, dict[str, Value]]:
    """Write where a cell is: the values of columns without a title as text, the others by name."""
    titles = {name: words.column(name).title for name in at}
    case = ", ".join(words.column(name).words(value) for name, value in at.items() if not titles[name])
    return case, {titles[name]: value for name, value in at.items() if titles[name]}


def _bounds(test: Test, pair: Pair) -> list[_Bound]:
    """Return the comparisons of one cell."""
    zero = np.zeros(len(pair.a))
    if test.compare == "between":
        if test.bound:
            return [_Bound(zero, test.bound[0], test.bound[1])]
        b = zero if pair.b is None else pair.b
        least, most = test.factor
        return [
            _Bound(least * b, 0.0, math.inf, f"at least {least:g} times", least),
            _Bound(most * b, -math.inf, 0.0, f"at most {most:g} times", most),
        ]
    b = zero + (test.bound[0] if test.bound else 0.0) if pair.b is None else pair.b
    if test.compare == "equal":
        return [_Bound(b, -test.within, test.within)]
    factor = test.factor[0] if test.factor else 1.0
    if test.compare in ("above", "grows"):
        return [_Bound(factor * b, low=-test.margin, factor=factor)]
    return [_Bound(factor * b, high=test.margin, factor=factor)]


def _limits(test: Test, pair: Pair, bound: _Bound) -> Bounds:
    """Return the bounds of a cell's difference, given the bounds of the quantities."""
    numbers = test.numbers
    own = bounds_of(numbers.quantity)
    if pair.b is None:
        number = float(bound.b[0])
        return difference_of_bounds(own, (number, number))
    if not test.along:
        return difference_of_bounds(own, bounds_of(numbers.other or numbers.quantity), bound.factor)
    step = own if numbers.than is None else bounds_of(numbers.quantity, Kind.DIFFERENCE, numbers.other)
    return difference_of_bounds(step, step, bound.factor)


def _judge(test: Test, pair: Pair, bound: _Bound, *, paper: bool, engaged: bool) -> tuple[Difference, Verdict]:
    mean = float(np.nanmean(pair.a - bound.b))
    finite = [side for side in (bound.low, bound.high) if math.isfinite(side)]
    nearest = min(finite, key=lambda side: abs(mean - side))
    if test.by_chance:
        found = part_difference(pair.a, bound.b, nearest, _limits(test, pair, bound))
    else:
        found = Difference(Interval(mean, 0.0, 1, mean, mean), math.nan)
    if not engaged:
        return found, Verdict.NOT_ENGAGED
    if not math.isfinite(bound.high):
        verdict = verdict_above(found.interval, bound.low)
    elif not math.isfinite(bound.low):
        verdict = verdict_below(found.interval, bound.high)
    else:
        verdict = verdict_between(found.interval, bound.low, bound.high)
    if not test.by_chance and not paper:
        verdict = Verdict.FAILS if verdict is Verdict.UNDECIDED else verdict
        found = replace(found, p=0.0 if verdict is Verdict.FAILS else math.nan)
    return found, verdict


def _what(words: Vocabulary, test: Test, factor: float) -> str:
    """Return the name of the comparison, for the table of parts; `factor` multiplies the other side."""
    times = f"{factor:g} × " if factor != 1 else ""
    numbers = test.numbers
    title, unit = words.quantity(numbers.quantity).title, unit_of(words, numbers.quantity, ", ")
    label = ", ".join(
        words.column(name).words(values[0])
        for name, values in numbers.of.items()
        if isinstance(values, tuple) and len(values) == 1
    )
    named, other = f"{title}{f', {label}' if label else ''}", side(words, numbers)
    if test.along:
        along = words.column(test.along).title or test.along
        lower = f"the {'next lower' if test.steps == 'each' else 'lowest'} {along}"
        return f"{named}{f' - {other}' if other else ''}, less {times}that at {lower}{unit}"
    if other:
        return f"{title}, {label} - {times}{other}{unit}"
    than = f" less {test.bound[0]:g}" if len(test.bound) == 1 and test.bound[0] else ""
    return f"{named}{than}{unit}"


def _where(found: Sequence[Part], everywhere: Sequence[Part]) -> str:
    """Name cells: `` for TCP alone at n = 20``."""
    words = []
    for key in dict.fromkeys((part.case, part.aspect) for part in found):
        own, every = ([p.at for p in parts if (p.case, p.aspect) == key] for parts in (found, everywhere))
        named = ", ".join(word for word in key if word)
        words.append(f"{f' for {named}' if named else ''}{places(own, every)}")
    return ";".join(words)


def _notes(claim: Claim[...], baseline: str, context: Runs, reading: str) -> Iterator[str]:
    """Yield a line for each note, and for each objection to a failed form, with its answer."""
    failed = [form for form in FORMS if context.verdicts.get(form) is Verdict.FAILS]
    shown = {"": True, "any": bool(failed), LITERAL: LITERAL in failed, STRICT: failed == [STRICT]}
    for note in sorted(claim.notes, key=lambda note: bool(note.objection)):
        about = (not note.against or baseline in note.against) and (not note.under or reading in note.under)
        if shown[note.fails] and about:
            yield from _line(claim.id, note, baseline, replace(context, used=[]))


def _line(claim: str, note: Note[...], baseline: str, context: Runs) -> list[str]:
    try:
        text = called(note.text, context, baseline)
    except InputError as error:
        raise InputError(f"claim {claim}, {'objection' if note.objection else 'note'}: {error}") from None
    used: Sequence[Numbers] = context.used
    if used and all(str(numbers) == MISSING for numbers in list(used)):
        readings = dict.fromkeys(numbers.reading for numbers in used if numbers.reading)
        named = "; ".join(readings) or joined([numbers.quantity for numbers in used])
        without = f"Objection: {note.objection} Not answered in these runs, which leave out: {named}."
        return [without] if note.objection else []
    return [f"Objection: {note.objection}{ANSWER}{text}" if note.objection else text]
