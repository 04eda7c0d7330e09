"""Details of claims on a paper's page: tests, results, objections with answers, parts; no sentence twice."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd

from aqmlab.papers.common.claims import LITERAL, STRICT, Finding, by_claim
from aqmlab.papers.common.engine import ANSWER
from aqmlab.papers.common.matrix import about
from aqmlab.reporting.fragments import claim_anchor
from aqmlab.reporting.page import Page

SHORT = 40
"""Characters of a sentence that may be there several times."""


class Once:
    """Leaves out the sentences of a text that were there before.

    >>> once = Once()
    >>> once("Means over all seeds of the runs, each with its 95 % interval in brackets. One.")
    'Means over all seeds of the runs, each with its 95 % interval in brackets. One.'
    >>> once("Two. Means over all seeds of the runs, each with its 95 % interval in brackets.")
    'Two.'
    """

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, text: str, *, otherwise: str = "") -> str:
        """Return the new sentences of a text, or other words if there are none."""
        lines = [" ".join(self._new(line)) for line in text.splitlines()]
        return "\n".join(line for line in lines if line) or otherwise

    def _new(self, line: str) -> list[str]:
        sentences = re.split(r"(?<=\.)\s+(?=[A-Z])", line)
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
            page.text(f"{'Our own question' if own[0].own else 'The paper says'}: {own[0].says}")
            for line in _tests(own):
                page.text(line, note=True)
            for line in _results(own):
                page.text(line)
            for line in _notes(own):
                if new := once(line):
                    page.text(new)
            rows = parts[parts["claim"] == name].drop(columns="claim")
            empty = [column for column in rows.columns if (rows[column] == "").all()]
            page.table(rows.drop(columns=empty), caption=f"Parts of {name}.", digits=3)


def _tests(findings: Sequence[Finding]) -> list[str]:
    """Return the test of each form; the strict form without the sentences of the literal form."""
    tests = {finding.form: finding.test for finding in findings}
    if len(tests) == 1:
        return [f"Tested: {test}" for test in tests.values()]
    first, further = tests[LITERAL], tests[STRICT]
    if first in further:
        rest = further.replace(first, "").strip()
        further = f"the same; and further: {rest}" if rest else "the same test."
    return [f"Literal: {first}", f"Strict: {further}"]


def _results(findings: Sequence[Finding]) -> list[str]:
    """Return the results of a claim by form, each text once with its subjects."""
    found: dict[str, list[str]] = {}
    for finding in findings:
        text = f"{finding.form.capitalize()}: {' '.join(finding.found.splitlines())}"
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
    return f"{words[:1].upper()}{words[1:]}: {line}" if words else line
