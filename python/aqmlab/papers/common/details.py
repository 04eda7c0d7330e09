"""Details of claims on a paper's page: tests, results, objections with answers, parts; no sentence twice."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from aqmlab.errors import capitalized
from aqmlab.papers.common.claims import LITERAL, STRICT, Finding, by_claim
from aqmlab.papers.common.engine import ANSWER
from aqmlab.papers.common.matrix import about
from aqmlab.reporting.fragments import claim_anchor
from aqmlab.reporting.page import Page

SHORT = 40
"""Characters of a sentence that may be there several times."""
BETWEEN = re.compile(r"(?<=\.)\s+(?=[A-Z])")
"""The space between two sentences."""


class Once:
    """Leaves out the sentences of a text that were there before.

    >>> once = Once()
    >>> once("Means over all seeds of the runs, each with its 95 % interval in brackets. One.")
    'Means over all seeds of the runs, each with its 95 % interval in brackets. One.'
    >>> once("Two. Means over all seeds of the runs, each with its 95 % interval in brackets.")
    'Two.'
    >>> once("Means over all seeds of the runs, each with its 95 % interval in brackets.", otherwise="As above.")
    'As above.'
    >>> once("", otherwise="As above.")
    ''
    """

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str, *, otherwise: str = "") -> str:
        """Return the new sentences of a text; without new ones, the words given for that case."""
        lines = [" ".join(self._new(line)) for line in text.splitlines()]
        return "\n".join(line for line in lines if line) or (otherwise if text else "")

    def _new(self, line: str) -> list[str]:
        sentences = BETWEEN.split(line)
        found = [one for one in sentences if len(one) <= SHORT or one not in self._said]
        self._said.update(sentences)
        return found


def add_details(page: Page, findings: Sequence[Finding], parts: pd.DataFrame, once: Once) -> None:
    """Add the details of each claim, folded: its sentence and tests, results, objections with answers, and parts.

    Parameters
    ----------
    page, findings, parts
        The page, all verdicts, and the table of their evidence.
    once
        Leaves out sentences that the page has.
    """
    for name in dict.fromkeys(finding.claim for finding in findings):
        own = [finding for finding in findings if finding.claim == name]
        with page.folded(f"{name}: {own[0].title}", anchor=claim_anchor(name)):
            page.text(f"{'Our own question' if own[0].own else 'The authors say'}: {own[0].says}")
            for line in _tests(own):
                page.text(once(line), note=True)
            for line in _results(own):
                page.text(line)
            for line in _notes(own):
                if new := once(line):
                    page.text(new)
            rows = parts[parts["claim"] == name].drop(columns="claim")
            empty = [column for column in rows.columns if (rows[column] == "").all()]
            alone = ", each judged by itself, without Holm's correction" if rows["p"].notna().sum() > 1 else ""
            page.table(rows.drop(columns=empty), caption=f"Parts of {name}{alone}.", digits=3)


def _tests(findings: Sequence[Finding]) -> list[str]:
    tests = {finding.form: finding.test for finding in findings}
    return forms_in_words(tests.get(LITERAL, ""), tests.get(STRICT, ""))


def forms_in_words(literal: str, strict: str) -> list[str]:
    """Return a line for the sentences on each form, the shared sentences left out; "" for a form without runs.

    >>> forms_in_words("L is above 0.", "L is above 0. S is below 1.")
    ['Literal: L is above 0.', 'Strict: the same; and further: S is below 1.']
    >>> forms_in_words("L is above 0. S is below 1.", "L is above 0. S is below 0.")
    ['Literal and strict: L is above 0.', 'Literal: further: S is below 1.', 'Strict: further: S is below 0.']
    """
    if not literal or not strict:
        return [f"Tested: {literal or strict}"]
    own, other = BETWEEN.split(literal), BETWEEN.split(strict)
    rest = " ".join(one for one in other if one not in own)
    both = [one for one in own if one in other]
    if len(both) == len(own):
        return [f"Literal: {literal}", f"Strict: the same; and further: {rest}" if rest else "Strict: the same test."]
    if not both:
        return [f"Literal: {literal}", f"Strict: {strict}"]
    lines = {"Literal: further": " ".join(one for one in own if one not in both), "Strict: further": rest}
    return [f"Literal and strict: {' '.join(both)}", *(f"{title}: {text}" for title, text in lines.items() if text)]


def _results(findings: Sequence[Finding]) -> list[str]:
    """Return the results of a claim by form, each text once with its subjects."""
    found: dict[str, list[str]] = {}
    for finding in findings:
        words = " ".join(finding.found.splitlines()).replace(
            " decide it", f" decide the {finding.form} form of {finding.claim}"
        )
        text = f"{finding.form.capitalize()}: {words}"
        found.setdefault(text, []).append(about(finding))
    return [_headed(_subjects(subjects, findings), text) for text, subjects in found.items()]


def _notes(findings: Sequence[Finding]) -> list[str]:
    """Return the notes on a claim and the objections with their answers, each text once with its subjects."""
    found: dict[str, list[str]] = {}
    for own in by_claim(findings):
        for line in own[0].reasons.splitlines():
            found.setdefault(line, []).append(about(own[0]))
    notes: list[str] = []
    objections: dict[str, list[str]] = {}
    for line, subjects in found.items():
        words = _subjects(subjects, findings)
        objection, is_one, answer = line.partition(ANSWER)
        if is_one:
            objections.setdefault(objection, []).append(_headed(words, answer))
        else:
            notes.append(_headed(words, line))
    return notes + ["\n".join([objection, *answers]) for objection, answers in objections.items()]


def _subjects(found: Sequence[str], findings: Sequence[Finding]) -> str:
    """Write the subjects of a text; nothing if it is about all verdicts on the claim."""
    return "" if len(found) == len(by_claim(findings)) else "; ".join(found)


def _headed(words: str, line: str) -> str:
    return f"{capitalized(words)}: {line}" if words else line
