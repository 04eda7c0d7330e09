"""The strongest objection of a paper's authors to each verdict "fails", and the experiment that answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from aqmlab.reproduction.papers.common.claim_file import FORMS, Claim, ClaimFile, Objection, Where
from aqmlab.reproduction.papers.common.claims import COUNTED
from aqmlab.reproduction.papers.common.numbers import MISSING, NumberWords, number_words
from aqmlab.reproduction.papers.common.pairs import table_of_runs
from aqmlab.statistics import Verdict

LITERAL, STRICT = FORMS


@dataclass(frozen=True)
class Experiments:
    """Runs from which answers take their numbers.

    Attributes
    ----------
    judged, printed
        The runs of the reading that was judged, and the printed numbers, as `table_of_runs` and `table_of_printed`
        return them.
    others
        The runs of all readings, with the column ``reading``; None if there are no others.
    """

    judged: pd.DataFrame
    printed: pd.DataFrame
    others: pd.DataFrame | None = None

    def runs(self, file: ClaimFile, reading: str) -> pd.DataFrame:
        """Return the runs of one reading; "" for the one that was judged."""
        if not reading:
            return self.judged
        if self.others is None:
            return self.judged.iloc[:0]
        return table_of_runs(file, self.others[self.others["reading"] == reading])


def objection_lines(
    file: ClaimFile,
    claim: Claim,
    against: str,
    verdicts: Mapping[str, Verdict],
    experiments: Experiments,
    *,
    reading: str = "",
) -> list[str]:
    """Return a line for each objection to what fails, with its answer.

    Parameters
    ----------
    file, claim, against
        The claims, the one judged, and the baseline.
    verdicts
        The verdict on each form.
    experiments
        Where the numbers in answers come from.
    reading
        The name of the reading that was judged, if several are.
    """
    baselines = {label: where for test in claim.tests for label, where in test.baselines}
    place = f"claims.toml: claim {claim.id}: objection"
    return [
        _line(file, one, experiments, baselines.get(against, {}), verdicts, place)
        for one in claim.objections
        if _raised(one, against, verdicts, reading)
    ]


def _raised(objection: Objection, against: str, verdicts: Mapping[str, Verdict], reading: str) -> bool:
    failed = [form for form in FORMS if verdicts.get(form) is Verdict.FAILS]
    wanted = {"": bool(failed), LITERAL: LITERAL in failed, STRICT: failed == [STRICT]}[objection.form]
    about = not objection.against or against in objection.against
    return wanted and about and (not objection.under or reading in objection.under)


def _line(
    file: ClaimFile,
    objection: Objection,
    experiments: Experiments,
    baseline: Where,
    verdicts: Mapping[str, Verdict],
    place: str,
) -> str:
    words: dict[str, NumberWords | str] = {
        name: number_words(
            file,
            number,
            experiments.runs(file, number.reading),
            experiments.printed,
            place=place,
            baseline=baseline,
        )
        for name, number in objection.numbers.items()
    }
    says = f"Objection: {objection.says}"
    if objection.unanswered:
        return f"{says} Not answered: {objection.unanswered}"
    if words and all(str(one) == MISSING for one in words.values()):
        readings = dict.fromkeys(number.reading for number in objection.numbers.values() if number.reading)
        named = "; ".join(readings) or "what the answer is about"
        return f"{says} Not answered in these runs, which leave out: {named}."
    said = {form: COUNTED[verdicts[form]][0] if form in verdicts else "was not judged" for form in FORMS}
    return f"{says} Answer: {objection.answer.format(**words, **said)}"
