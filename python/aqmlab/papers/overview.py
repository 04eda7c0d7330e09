"""The page over several reproductions: a card for each paper, all claims with verdicts, gaps, and links."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aqmlab import _core
from aqmlab.errors import counted
from aqmlab.papers.common.cards import linked
from aqmlab.papers.common.claims import tally
from aqmlab.papers.common.gaps import COLUMNS, GAPS, gaps_words
from aqmlab.papers.common.runs import seeds_words
from aqmlab.papers.registry import PAPERS
from aqmlab.reporting.fragments import ClaimLine, claim_anchor
from aqmlab.reporting.page import Page

if TYPE_CHECKING:
    from aqmlab.papers.outcome import Reproduction

LARGEST = 12
"""So many gaps to printed numbers are shown."""


def page_over(found: Sequence[Reproduction], folder: Path) -> Page:
    """Make the page over several reproductions; `folder` is where it will lie, for its links."""
    page = Page(
        "Papers reproduced: what holds, what fails, what was never tested",
        f"{counted(len(found), 'paper')}, simulated with the same queue disciplines and the same "
        f"TCP. aqmlab {_core.version()}.",
        notice=notice_over(found),
    )
    page.section("At a glance")
    page.text(tally(pd.concat([one.claims for one in found])))
    page.cards([linked(one.card, _href(one, folder)) for one in found if one.card is not None])
    page.text(
        "The literal form of a claim is its authors' sentence, the strict form our stronger one. Not engaged: nothing "
        "happened in the runs that the claim is about.",
        note=True,
    )
    page.section("Claims")
    page.claims([line for one in found for line in _lines(one, _href(one, folder))])
    page.text(
        "The paper's page says what was found, and how other readings move it. What is marked as ours is no claim of "
        "the paper, but a question that it left open.",
        note=True,
    )
    _gaps(page, found)
    for one in found:
        href = _href(one, folder)
        page.section(one.name)
        page.text(f"{one.citation}. {seeds_words(one.seeds_run)} seeds a point. {tally(one.claims)}")
        page.links([(f"{one.name}: the whole page", href)])
        page.links([(title, f"{href}#{anchor}") for anchor, title in one.contents], title="Tables and figures")
        files = [(f"{name}.csv", f"{Path(href).parent.as_posix()}/{name}.csv") for name in one.tables]
        page.links(files, title="Numbers")
    return page


def notice_over(found: Sequence[Reproduction]) -> str:
    """Say that verdicts are preliminary, if those of a paper are."""
    notices = [one.notice for one in found if one.notice]
    if not notices:
        return ""
    ranges = [one.seeds_run for one in found if one.notice]
    command = "aqmlab reproduce all" if len(found) == len(PAPERS) else "aqmlab reproduce PAPER"
    words = seeds_words((min(least for least, _ in ranges), max(most for _, most in ranges)))
    return (
        f"This is a quick run, a demonstration: {words} seeds a point. Its verdicts are preliminary. "
        f"Full run: `{command}`"
    )


def gaps_of(found: Sequence[Reproduction]) -> pd.DataFrame:
    """Return the gaps to printed numbers of all papers, largest first, with the column ``paper``."""
    tables = [one.tables[GAPS].assign(paper=one.name) for one in found if len(one.tables[GAPS])]
    every = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=["paper", *COLUMNS])
    every = every[["paper", *(column for column in every.columns if column != "paper")]]
    return every.sort_values("factor", ascending=False, kind="stable").reset_index(drop=True)


def _gaps(page: Page, found: Sequence[Reproduction]) -> None:
    """Add the largest gaps to printed numbers of all papers."""
    page.section("Gaps to printed numbers")
    for one in found:
        if len(one.tables[GAPS]):
            page.text(f"{one.name}: {gaps_words(one.tables[GAPS])}")
    without = [one.name for one in found if not len(one.tables[GAPS])]
    if without:
        page.text(f"No measured number is printed: {', '.join(without)}.", note=True)
    every = gaps_of(found)
    if len(every):
        largest = every.head(LARGEST)
        page.table(
            largest,
            caption=f"The {len(largest)} largest of {len(every)}. The factor is measured / printed or its inverse. "
            "Held out: no reading was chosen by the number.",
            digits=3,
        )


def _lines(one: Reproduction, href: str) -> list[ClaimLine]:
    lines = []
    for record in one.claims.to_dict("records"):
        about = [f"against {record['against']}"] if record["against"] else []
        about += [str(record["reading"])] if record.get("reading") else []
        about += ["ours"] if record.get("own") is True else []
        lines.append(
            ClaimLine(
                literal=str(record["literal"]),
                strict=str(record["strict"]),
                paper=one.name,
                claim=str(record["claim"]),
                title=f"{record['title']} ({', '.join(about)})" if about else str(record["title"]),
                href=f"{href}#{claim_anchor(str(record['claim']))}",
            )
        )
    return lines


def _href(one: Reproduction, folder: Path) -> str:
    return Path(os.path.relpath(one.report, folder)).as_posix()
