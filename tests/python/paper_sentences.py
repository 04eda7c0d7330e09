"""Sentences of a paper's page, and the repeated ones among them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from aqmlab.papers.common.claims import Finding, Part, parts_table
from aqmlab.papers.common.details import BETWEEN, SHORT, Once, add_details
from aqmlab.reporting.page import Page

RESULT = re.compile(r"\b(Literal|Strict): .*\b(holds?|fails?|undecided|not engaged)\b")
"""A block with the result of a form; another claim may have the same result."""


def sentences_of(page: str) -> list[str]:
    """Return all sentences of a page, without code, figures and results of claims."""
    text = re.sub(r"<(script|style|svg|code|pre).*?</\1>", "", page, flags=re.DOTALL)
    blocks = re.split(r"</?(?:p|li|td|th|h\d|caption|figcaption|summary|div|br)\b[^>]*>", text)
    words = [" ".join(re.sub(r"<[^>]*>", "", block).split()) for block in blocks]
    return [one for block in words if not RESULT.search(block) for one in BETWEEN.split(block)]


def sentences_on_claims(findings: Sequence[Finding], parts: Sequence[Part]) -> list[str]:
    """Return all sentences in the details of claims: tests, objections and notes."""
    page = Page("claims", "")
    page.section("Claims")
    add_details(page, findings, parts_table(parts), Once())
    return sentences_of(page.html())


def repeated(sentences: Iterable[str]) -> list[str]:
    """Return the sentences that are there twice; a short one may be, and so may a title."""
    counts = Counter(one for one in sentences if len(one) > SHORT and one.endswith("."))
    return [one for one, count in counts.items() if count > 1]
