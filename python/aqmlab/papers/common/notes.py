"""Texts below a verdict: notes with the sizes of effects, and objections of the authors with their answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from aqmlab.papers.common.claim_file import ANY, FORMS, Claim, ClaimFile, Note, Objection
from aqmlab.papers.common.claims import COUNTED
from aqmlab.papers.common.numbers import MISSING, NumberWords, number_words
from aqmlab.papers.common.pairs import table_of_runs
from aqmlab.papers.common.run_table import RunTable
from aqmlab.statistics import Verdict

LITERAL, STRICT = FORMS


@dataclass(frozen=True)
class Experiments:
    """Runs from which notes and answers take their numbers.

    Attributes
    ----------
    judged, printed
        The runs of the reading that was judged, and the printed numbers, as `table_of_runs` and `table_of_printed`
        return them.
    others
        The runs of all readings, with the column ``reading``; None if there are no others.
    """

    judged: RunTable
    printed: RunTable
    others: pd.DataFrame | None = None
    _known: dict[str, RunTable] = field(default_factory=dict)

    def runs(self, file: ClaimFile, reading: str) -> RunTable:
        """Return the runs of one reading; "" for the one that was judged."""
        if not reading:
            return self.judged
        if reading not in self._known:
            none = self.judged.frame.iloc[:0]
            others = self.others
            own = none if others is None else table_of_runs(file, others[others["reading"] == reading])
            self._known[reading] = RunTable(own)
        return self._known[reading]


def note_lines(
    file: ClaimFile,
    claim: Claim,
    against: str,
    verdicts: Mapping[str, Verdict],
    experiments: Experiments,
    *,
    reading: str = "",
) -> list[str]:
    """Return a line for each note, and for each objection to what fails, with its answer.

    Parameters
    ----------
    file, claim, against
        The claims, the one judged, and the baseline.
    verdicts
        The verdict on each form.
    experiments
        Where the numbers come from.
    reading
        The name of the reading that was judged, if several are.
    """
    baselines = {label: where for test in claim.tests for label, where in test.baselines}
    lines = []
    for note in claim.notes:
        if not _shown(note, against, verdicts, reading):
            continue
        words = {
            name: number_words(
                file,
                number,
                experiments.runs(file, number.reading),
                experiments.printed,
                place=f"claims.toml: claim {claim.id}: number {name}",
                baseline=baselines.get(against, {}),
            )
            for name, number in note.numbers.items()
        }
        lines += _lines(note, words, verdicts)
    return lines


def _shown(note: Note, against: str, verdicts: Mapping[str, Verdict], reading: str) -> bool:
    failed = [form for form in FORMS if verdicts.get(form) is Verdict.FAILS]
    wanted = {"": True, ANY: bool(failed), LITERAL: LITERAL in failed, STRICT: failed == [STRICT]}[note.fails]
    about = not note.against or against in note.against
    return wanted and about and (not note.under or reading in note.under)


def _lines(note: Note, words: Mapping[str, NumberWords], verdicts: Mapping[str, Verdict]) -> list[str]:
    missing = bool(words) and all(str(one) == MISSING for one in words.values())
    said = {form: COUNTED[verdicts[form]][0] if form in verdicts else "was not judged" for form in FORMS}
    if not isinstance(note, Objection):
        return [] if missing else [note.says.format(**words, **said)]
    says = f"Objection: {note.says}"
    if note.unanswered:
        return [f"{says} Not answered: {note.unanswered}"]
    if missing:
        readings = dict.fromkeys(number.reading for number in note.numbers.values() if number.reading)
        named = "; ".join(readings) or "what the answer is about"
        return [f"{says} Not answered in these runs, which leave out: {named}."]
    return [f"{says} Answer: {note.answer.format(**words, **said)}"]
