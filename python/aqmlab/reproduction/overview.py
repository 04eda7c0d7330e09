"""The page over several reproductions: all claims with their verdicts on top, then every paper's tables and figures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aqmlab import _core
from aqmlab.reporting.fragments import ClaimLine, claim_anchor
from aqmlab.reporting.page import Page
from aqmlab.reproduction.papers.common.claims import tally

if TYPE_CHECKING:
    from aqmlab.reproduction.outcome import Reproduction


def page_over(found: Sequence[Reproduction], folder: Path) -> Page:
    """Make the page over several reproductions; `folder` is where it will lie, for its links."""
    page = Page(
        "Papers reproduced: every claim with its verdict",
        f"{len(found)} paper{'s' if len(found) > 1 else ''}, simulated with the same queue disciplines and the same "
        f"TCP. aqmlab {_core.version()}.",
    )
    page.section("Claims")
    page.text(tally(pd.concat([one.claims for one in found])))
    page.claims([line for one in found for line in _lines(one, _href(one, folder))])
    page.text(
        "The literal form of a claim is its authors' sentence, the strict form our stronger one. The paper's page says "
        "what was found, and how other readings move it. What is marked as ours is no claim of the paper, but a "
        "question that it left open.",
        note=True,
    )
    for one in found:
        href = _href(one, folder)
        page.section(one.name)
        page.text(f"{one.citation}. {one.seeds} seeds a point. {tally(one.claims)}")
        page.links([(f"{one.name}: the whole page", href)])
        page.links([(title, f"{href}#{anchor}") for anchor, title in one.contents], title="Tables and figures")
        files = [(f"{name}.csv", f"{Path(href).parent.as_posix()}/{name}.csv") for name in one.tables]
        page.links(files, title="Numbers")
    return page


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
