"""Claims judged: each rests on parts, each part on a number with an interval or on one that is exact.

`execute_claims` of `engine` makes parts and findings; this module defines and describes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from aqmlab.errors import counted
from aqmlab.statistics import Difference, Verdict, paired, verdict_all, verdict_within
from aqmlab.statistics.intervals import UNBOUNDED, Bounds

LITERAL, STRICT = FORMS = ("literal", "strict")
"""Both forms of a claim: the authors' sentence, and our stronger form."""
Values = Sequence[float] | np.ndarray
At = Mapping[str, str | float]
COUNTED = {
    Verdict.HOLDS: ("holds", "hold"),
    Verdict.FAILS: ("fails", "fail"),
    Verdict.NO_EFFECT: ("shows no effect", "show no effect"),
    Verdict.UNDECIDED: ("is undecided", "are undecided"),
    Verdict.NOT_ENGAGED: ("is not engaged", "are not engaged"),
}
"""Each verdict with its verb, of one and of several."""
EFFECT_SHARE = 0.5
"""An effect of less than this share of the printed one counts as none, unless a test names another margin."""
SINGLE_LINES = 3
"""More parts than these that name no place are listed by verdict."""
MANY_PLACES = 8
"""From more places than these on, neighbours are written as a range."""


@dataclass(frozen=True)
class Part:
    """One comparison that a claim rests on.

    Attributes
    ----------
    claim
        The claim's id.
    what
        The compared quantity, with its unit.
    difference
        The paired difference, or a mean less its bound, or an exact number.
    verdict
        Of this part alone.
    case
        The case it belongs to, in words; "" if there is only one.
    at
        Where in that case, for example ``{"n": 5}``.
    against
        The baseline that this part is about, if the claim is judged against several; each gets a verdict.
    aspect
        Which of a claim's several questions this part answers, for the summary.
    form
        ``literal`` or ``strict``.
    bounds
        Between which the difference is claimed to lie.
    reading
        The reading whose runs were judged; "" if only one is.
    printed
        The printed difference; None without any.
    effect
        Whether it is an effect: runs less other runs, claimed to be above or below 0.
    margin
        An effect of less than this in either direction counts as none; 0 if that is not tested.
    """

    claim: str
    what: str
    difference: Difference
    verdict: Verdict
    case: str = ""
    at: At = field(default_factory=dict)
    against: str = ""
    aspect: str = ""
    form: str = STRICT
    bounds: tuple[float, float] = (-math.inf, math.inf)
    reading: str = ""
    printed: float | None = None
    effect: bool = False
    margin: float = 0.0

    @property
    def equivalent(self) -> bool:
        """Whether the runs show that any effect is smaller than the margin.

        These are two one-sided tests, each at the level of a claim (2.5 %): the 95 % interval lies within the margin.
        """
        return self.margin > 0 and verdict_within(self.difference.interval, self.margin) is Verdict.HOLDS

    @property
    def remark(self) -> str:
        """The reason why a comparison by chance has no interval; "" for one that has."""
        found = self.difference.interval
        return f"equal in all {found.n} runs" if found.constant else ""

    @property
    def place(self) -> tuple[str, str, str, tuple[tuple[str, str | float], ...]]:
        """Which comparison it is, on paper as in the runs."""
        return self.what, self.case, self.aspect, tuple(self.at.items())


@dataclass(frozen=True)
class Finding:
    """The verdict on one form of a claim against one baseline under one reading, with its evidence.

    Attributes
    ----------
    form
        ``literal`` (the authors' sentence) or ``strict`` (our stronger form).
    printed
        Whether the printed numbers ``agree`` with this form, ``contradict`` it or ``do not decide``; "" if none are
        printed.
    reading
        The reading; "" if only one is judged.
    reasons
        The explanation of the verdicts of both forms.
    decided_by
        The comparison that shows the verdict best, with its interval.
    seeds_needed
        The number of seeds that would decide an undecided verdict, and how.
    """

    claim: str
    title: str
    against: str
    verdict: Verdict
    found: str
    says: str
    test: str
    own: bool = False
    form: str = STRICT
    printed: str = ""
    reading: str = ""
    reasons: str = ""
    decided_by: str = ""
    seeds_needed: str = ""


def judge_effect(part: Part, printed: float | None) -> Part:
    """Add the printed difference to a part, and judge an undecided one by the equivalence test.

    Without a margin of its own, that of an effect is `EFFECT_SHARE` of the printed one if this is on the claimed side.

    >>> from aqmlab.statistics import Interval
    >>> found = Difference(Interval(0.15, 0.4, 10, -0.13, 0.43), 0.3)
    >>> part = Part("X", "a - b", found, Verdict.UNDECIDED, bounds=(0.0, math.inf), effect=True)
    >>> [str(judge_effect(part, printed).verdict) for printed in (6.0, 0.8, -6.0, None)]
    ['no effect', 'undecided', 'undecided', 'undecided']
    """
    margin = part.margin
    if not margin and part.effect and printed is not None and part.bounds[0] < printed < part.bounds[1]:
        margin = EFFECT_SHARE * abs(printed)
    found = replace(part, printed=printed, margin=margin)
    no_effect = part.verdict is Verdict.UNDECIDED and found.equivalent
    return replace(found, verdict=Verdict.NO_EFFECT) if no_effect else found


def overall(parts: Sequence[Part]) -> Verdict:
    """Judge a form by its engaged parts: as `verdict_all`; if that is undecided, by the equivalence tests.

    A form shows no effect if each of its parts has an effect below its margin. This is an intersection-union test,
    which needs no correction.
    """
    own = [Verdict.UNDECIDED if part.verdict is Verdict.NO_EFFECT else part.verdict for part in parts]
    verdict = verdict_all(own, [part.difference.p for part in parts])
    return Verdict.NO_EFFECT if verdict is Verdict.UNDECIDED and all(part.equivalent for part in parts) else verdict


def correction_words(parts: Sequence[Part]) -> list[str]:
    """Write the number of parts that fail by themselves but not after the correction, for an undecided form.

    >>> found = [Difference(paired([0.0, 0.1], [1.0, 1.3]).interval, p) for p in (0.04, 0.5)]
    >>> parts = zip(found, (Verdict.FAILS, Verdict.UNDECIDED), strict=True)
    >>> correction_words([Part("X", "a - b", difference, verdict) for difference, verdict in parts])
    ["1 part fails by itself, and none after Holm's correction for 2 parts."]
    """
    failed = sum(part.verdict is Verdict.FAILS for part in parts)
    tested = sum(not math.isnan(part.difference.p) for part in parts)
    own = "itself" if failed == 1 else "themselves"
    words = f"{counted(failed, 'part')} {COUNTED[Verdict.FAILS][failed > 1]} by {own}"
    return [f"{words}, and none after Holm's correction for {tested} parts."] if failed else []


def equal_words(parts: Sequence[Part], verdict: Verdict) -> list[str]:
    """Write the number of parts that rest on equal runs, of those with the verdict of their form.

    >>> part = Part("X", "a - b", paired([1.0, 1.0], [0.0, 0.0]), Verdict.HOLDS)
    >>> equal_words([part, part], Verdict.HOLDS)
    ['Equal in all runs, and so without an interval: 2 of 2 parts that hold.']
    """
    own = [part for part in parts if part.verdict is verdict]
    equal = sum(bool(part.remark) for part in own)
    which = f"{equal} of {counted(len(own), 'part')} that {COUNTED[verdict][len(own) > 1]}"
    return [f"Equal in all runs, and so without an interval: {which}."] if equal else []


def margin_words(parts: Sequence[Part]) -> str:
    """Say how small the effect of parts without one is.

    >>> found = Difference(paired([1.0, 2.0], [1.5, 1.5]).interval, 0.3)
    >>> margin_words([Part("X", "a - b", found, Verdict.NO_EFFECT, margin=m, printed=2 * m) for m in (3.0, 5.0)])
    'No effect larger than 3 to 5 (half of that printed).'
    """
    margins = sorted({part.margin for part in parts})
    half = all(
        part.printed is not None and math.isclose(part.margin, EFFECT_SHARE * abs(part.printed)) for part in parts
    )
    size = " to ".join(f"{margin:.3g}" for margin in dict.fromkeys((margins[0], margins[-1])))
    return f"No effect larger than {size}{' (half of that printed)' if half else ''}."


def short(verb: str) -> str:
    """Return a verb of `COUNTED` without its auxiliary.

    >>> [short(verb) for verb in ("holds", "are undecided", "shows no effect")]
    ['holds', 'undecided', 'no effect']
    """
    return re.sub("^(is|are|shows?) ", "", verb)


def seeds_run(parts: Iterable[Part]) -> tuple[int, int]:
    """Return the fewest and the most seeds that an engaged comparison by chance rests on; 0 and 0 without any."""
    engaged = [part.difference.interval.n for part in parts if part.verdict is not Verdict.NOT_ENGAGED]
    found = [count for count in engaged if count > 1] or [0]
    return min(found), max(found)


def describe(parts: Sequence[Part]) -> str:
    """Say where a claim holds, fails and is undecided, a line per case and question."""
    if len(parts) > 1 and len({part.verdict for part in parts}) == 1:
        return f"All {len(parts)} parts {COUNTED[parts[0].verdict][1]}."
    if len(parts) > SINGLE_LINES and not any(part.at for part in parts):
        named = {verdict: [_named(part) for part in parts if part.verdict is verdict] for verdict in Verdict}
        named = {
            v: n if v is not Verdict.HOLDS or len(n) <= SINGLE_LINES else [f"{len(n)} parts"] for v, n in named.items()
        }
        return "\n".join(f"{verdict}: {'; '.join(names)}." for verdict, names in named.items() if names)
    sentences = []
    for case in dict.fromkeys(part.case for part in parts):
        for aspect in dict.fromkeys(part.aspect for part in parts):
            own = [part for part in parts if (part.case, part.aspect) == (case, aspect)]
            everywhere = [part.at for part in own]
            words = [
                f"{verdict}{places([part.at for part in own if part.verdict is verdict], everywhere)}"
                for verdict in Verdict
                if any(part.verdict is verdict for part in own)
            ]
            where = _named(own[0]) if own else ""
            if words:
                sentences.append(f"{where}{': ' if where else ''}{'; '.join(words)}.")
    return "\n".join(sentences)


def _named(part: Part) -> str:
    return ", ".join(word for word in (part.case, part.aspect) if word)


def by_author(claims: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divide a table of findings into those on the authors' claims and those on this project's own questions."""
    ours = claims["own"].astype(bool) if "own" in claims else pd.Series(data=False, index=claims.index)
    return claims[~ours], claims[ours]


def parts_table(parts: Iterable[Part]) -> pd.DataFrame:
    """Return all parts as a table; what no part names (case, places) has no column."""
    parts = list(parts)
    places = list(dict.fromkeys(name for part in parts for name in part.at))
    rows = [
        {
            "claim": part.claim,
            "reading": part.reading,
            "form": part.form,
            "case": part.case,
            **{name: part.at.get(name, "") for name in places},
            "quantity": part.what,
            "difference": part.difference.mean,
            "95 % low": part.difference.interval.low,
            "95 % high": part.difference.interval.high,
            "p": part.difference.p if part.difference.interval.n > 1 else math.nan,
            "seeds": part.difference.interval.n,
            "no effect below": part.margin or math.nan,
            "remark": part.remark,
            "verdict": str(part.verdict),
        }
        for part in parts
    ]
    table = pd.DataFrame(rows)
    optional = {"case": "case", "reading": "reading", "no effect below": "margin", "remark": "remark"}
    return table.drop(columns=[name for name, own in optional.items() if not any(getattr(part, own) for part in parts)])


def findings_table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return the verdicts as a table: a row per claim, baseline and reading, with the verdict of each form.

    ``reading``, ``printed`` and ``own`` are there if a finding has one.
    """
    rows = []
    for of_claim in by_claim(findings):
        first = of_claim[0]
        forms = {finding.form: finding for finding in of_claim}
        row: dict[str, str | bool] = {
            "claim": first.claim,
            "title": first.title,
            "against": first.against,
            "reading": first.reading,
            **{form: str(forms[form].verdict) if form in forms else "" for form in FORMS},
            "printed": "; ".join(f"{f.printed} ({f.form})" for f in of_claim if f.printed),
            **{f"{form}: by": forms[form].decided_by for form in FORMS if form in forms},
            **{f"{form}: seeds": forms[form].seeds_needed for form in FORMS if form in forms},
            "found": found_text(of_claim),
            "own": first.own,
        }
        rows.append(row)
    table = pd.DataFrame(rows)
    return table.drop(columns=[name for name in ("reading", "printed", "own") if not table[name].any()])


def tally(claims: pd.DataFrame) -> str:
    """Count the verdicts of a table of findings in words, each form apart.

    >>> tally(pd.DataFrame({"literal": ["holds", "holds", ""], "strict": ["fails", "not engaged", "holds"]}))
    '2 verdicts on literal forms: 2 hold. 3 verdicts on strict forms: 1 holds, 1 fails, 1 is not engaged.'
    """
    sentences = []
    for form in FORMS:
        verdicts = [verdict for verdict in claims[form] if verdict]
        counts = []
        for verdict, (one, many) in COUNTED.items():
            count = verdicts.count(str(verdict))
            counts += [f"{count} {one if count == 1 else many}"] if count else []
        if counts:
            noun = "verdict" if len(verdicts) == 1 else "verdicts"
            sentences.append(f"{len(verdicts)} {noun} on {form} forms: {', '.join(counts)}.")
    return " ".join(sentences)


def by_claim(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Group findings: the forms of one claim against one baseline under one reading."""
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        found.setdefault((finding.claim, finding.against, finding.reading), []).append(finding)
    return list(found.values())


def found_text(of_claim: Sequence[Finding]) -> str:
    """Say what was found about the forms of one claim, and why."""
    lines = []
    for finding in of_claim:
        lines.append(f"{finding.form.capitalize()}: {finding.found}" if len(of_claim) > 1 else finding.found)
    return "\n".join([*lines, *([of_claim[0].reasons] if of_claim[0].reasons else [])])


def verdicts_by_reading(judged: Mapping[tuple[str, str], Iterable[Finding]]) -> pd.DataFrame:
    """How the verdicts move: a row per reading and form, a column per claim (and baseline).

    Parameters
    ----------
    judged
        (question, reading) to the findings under that reading; the chosen one first.
    """
    rows = []
    for (question, reading), findings in judged.items():
        findings = list(findings)
        for form in FORMS:
            verdicts = {
                f"{f.claim} ({f.against})" if f.against else f.claim: str(f.verdict) for f in findings if f.form == form
            }
            if verdicts:
                rows.append({"question": question, "reading": reading, "form": form, **verdicts})
    table = pd.DataFrame(rows, columns=None if rows else ["question", "reading"]).fillna("")
    return table.drop(columns="form") if rows and set(table["form"]) == {STRICT} else table


def part_difference(a: Values, b: Values | float, bound: float, limits: Bounds = UNBOUNDED) -> Difference:
    """Return a - b with its interval, clipped to `limits` (what it can be), and p for "it is the bound"."""
    x = np.asarray(a, dtype=float)
    y = np.full(len(x), float(b)) if isinstance(b, int | float) else np.asarray(b, dtype=float)
    return Difference(paired(x, y).interval.within(limits), paired(x, y + bound).p)


def places(found: Sequence[At], everywhere: Sequence[At]) -> str:
    """Write where; nothing if the parts name no place.

    >>> places([{"n": 5}, {"n": 10}], [{"n": 5}, {"n": 10}, {"n": 20}])
    ' at n = 5, 10'
    >>> places([{"load": 2, "n": n} for n in range(9)], [{"load": 2, "n": n} for n in range(9)])
    ' at load = 2, n = 0 to 8'
    """
    named = [place for place in found if place]
    if not named:
        return ""
    if all(list(place) == list(named[0]) for place in everywhere):
        *first, name = named[0]
        groups: dict[tuple[str | float, ...], list[str | float]] = {}
        for place in named:
            groups.setdefault(tuple(place[column] for column in first), []).append(place[name])
        words = []
        for at, own in groups.items():
            there = [place[name] for place in everywhere if tuple(place[column] for column in first) == at]
            prefix = [f"{column} = {value}" for column, value in zip(first, at, strict=True)]
            words.append(", ".join([*prefix, f"{name} = {', '.join(_ranges(own, there))}"]))
        return " at " + "; ".join(words)
    return " at " + "; ".join(", ".join(f"{name} = {value}" for name, value in place.items()) for place in named)


def _ranges(found: Sequence[str | float], everywhere: Sequence[str | float]) -> list[str]:
    """Write values one by one; where there are many, four or more neighbours as a range.

    >>> _ranges([1, 2, 3, 4, 7], [1, 2, 3, 4, 5, 6, 7, 8, 9])
    ['1 to 4', '7']
    """
    if len(everywhere) <= MANY_PLACES:
        return [str(value) for value in found]
    words: list[str] = []
    row: list[str | float] = []
    for value in [*everywhere, None]:
        if value is not None and value in found:
            row.append(value)
            continue
        words += [f"{row[0]} to {row[-1]}"] if len(row) >= 4 else [str(one) for one in row]
        row = []
    return words
