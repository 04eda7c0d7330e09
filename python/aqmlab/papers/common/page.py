"""The page of a paper: ``page.jinja``, which all papers share, with the verdicts and the paper's own sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import resources
from typing import Any

import jinja2
import pandas as pd

from aqmlab import _core
from aqmlab.papers.common.cards import preliminary
from aqmlab.papers.common.claims import Finding, Part, parts_table
from aqmlab.papers.common.contents import PROVENANCE, READINGS, Block, Code, Figure, Network, Section, Table, Text
from aqmlab.papers.common.details import Once, add_details
from aqmlab.papers.common.fight import add_fights, records_of
from aqmlab.papers.common.files import PaperFiles
from aqmlab.papers.common.gaps import IN_REACH, gaps_words, used_words
from aqmlab.papers.common.matrix import COLUMNS, matrix
from aqmlab.papers.common.runs import Effort, Setup
from aqmlab.reporting.flowchart import FlowChart
from aqmlab.reporting.fragments import KeyFigure, PaperCard
from aqmlab.reporting.page import Page


@dataclass(frozen=True)
class Built:
    """Results of a reproduction, and its report; `paper` is its card, `seeds` the fewest and the most."""

    page: Page
    tables: dict[str, pd.DataFrame]
    claims: pd.DataFrame
    readings: pd.DataFrame
    paper: PaperCard
    seeds: tuple[int, int]


def command(files: PaperFiles, effort: Effort) -> str:
    """Return the command that makes a report again."""
    return f"aqmlab reproduce {files.name}{' --quick' if effort.quick else ''} --seeds {effort.seeds}"


def fill(
    page: Page,
    files: PaperFiles,
    *,
    card: PaperCard,
    findings: Sequence[Finding],
    parts: Sequence[Part],
    figure: KeyFigure | None,
    lead: str,
    sections: Sequence[Section],
    gaps: pd.DataFrame | None,
    effort: Effort,
    seeds: tuple[int, int],
    setups: Sequence[Setup],
    quick_note: str,
    example: str,
    scenarios: Sequence[str],
) -> None:
    """Fill a page.

    Parameters
    ----------
    page, files
        The page with its title, and the paper.
    card, findings, parts
        The paper's card, its verdicts and their evidence.
    figure, lead
        The paper's key figure, and the sentence on its seeds and intervals.
    sections
        The paper's own sections; that of the title `READINGS` follows the list of readings.
    gaps
        The gaps to printed numbers; None without any.
    effort, seeds, setups
        How much was run, the fewest and the most seeds of a comparison, and all scenarios.
    quick_note, example, scenarios
        The sentence on the quick version, a command for one point, and the names of the paper's scenario files.
    """
    page.notice = preliminary(files.name, effort, seeds)
    values = {
        "card": card,
        "figure": figure,
        "groups": matrix(findings, parts),
        "forms": list(COLUMNS.values()),
        "contents": contents_words,
        "lead": lead,
        "effort": effort,
        "quick_note": quick_note,
        "sections": [section for section in sections if section.title not in (READINGS, PROVENANCE)],
        "gaps": gaps,
        "gaps_words": "" if gaps is None else gaps_words(gaps),
        "in_reach": IN_REACH.capitalize(),
        "used": used_words(files.toml("readings.toml")),
        "choices": pd.DataFrame(files.choices()),
        **{
            title.lower(): [block for section in sections if section.title == title for block in section.blocks]
            for title in (READINGS, PROVENANCE)
        },
        "version": _core.version(),
        "command": command(files, effort),
        "example": example,
        "scenarios": [(files.scenario_name(name), files.text(f"{name}.toml")) for name in scenarios],
        "hashes": [f"{setup.plan.hash[:16]}  {_words(setup)}  {setup.reading}" for setup in setups],
    }
    text = resources.files("aqmlab.papers.common").joinpath("page.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined)
    once = Once()
    details = partial(add_details, page, findings, parts_table(parts), once)
    fights = records_of(files)
    functions = _functions(page, command(files, effort), details, partial(add_fights, page, fights), once)
    environment.globals |= functions
    environment.filters |= {name: functions[name] for name in ("text", "note")}
    environment.from_string(text).render({**values, "fights": fights})


def _functions(
    page: Page, again: str, details: Callable[[], None], against_tuned: Callable[[], None], once: Once
) -> dict[str, Callable[..., str]]:
    """Return the functions of the template: each adds to the page, and to its own text nothing."""

    def adding(add: Callable[..., None]) -> Callable[..., str]:
        def function(*values: Any, **options: Any) -> str:  # noqa: ANN401 - those of the page's method
            add(*values, **options)
            return ""

        return function

    def paragraph(text: str, *, note: bool = False) -> None:
        page.text(" ".join(text.split()), note=note)

    def table(numbers: pd.DataFrame, *, caption: str, digits: int = 5) -> None:
        page.table(numbers, caption=" ".join(caption.split()), digits=digits)

    def show(blocks: Iterable[Block]) -> None:
        for block in blocks:
            _show(page, block, again, once)

    found: dict[str, Callable[..., None]] = {
        "section": page.section,
        "heading": page.heading,
        "trial": page.trial,
        "matrix": page.matrix,
        "details": details,
        "against_tuned": against_tuned,
        "code": page.code,
        "text": paragraph,
        "note": partial(paragraph, note=True),
        "table": table,
        "show": show,
    }
    return {name: adding(function) for name, function in found.items()}


def _show(page: Page, block: Block, again: str, once: Once) -> None:
    """Add one of the paper's own blocks; a chart has the command `again` unless it states another."""
    if isinstance(block, Text | Table) and block.heading and not (isinstance(block, Table) and block.kept_only):
        page.heading(block.heading, listed=isinstance(block, Table) and block.listed)
    if isinstance(block, Text) and block.says:
        page.text(once(block.says), note=block.note)
    elif isinstance(block, Table) and (shown := block.for_reading) is not None:
        page.table(shown, caption=once(block.caption, otherwise="As above."), digits=block.digits)
    elif isinstance(block, Network):
        page.topology(block.plan, key=block.name, title=block.title, caption=once(block.caption))
    elif isinstance(block, Code):
        page.code(block.text, fold=block.fold)
    elif isinstance(block, Figure):
        chart = block.chart
        if isinstance(chart, FlowChart):
            page.flowchart(chart, caption=once(block.caption))
        else:
            page.chart(replace(chart, caption=once(chart.caption)), command=block.command or again)


def contents_words(section: Section) -> str:
    """Say how many figures and tables a section has."""
    tables = sum(isinstance(block, Table) and block.for_reading is not None for block in section.blocks)
    figures = sum(isinstance(block, Figure | Network) for block in section.blocks)
    counts = ((figures, "figure"), (tables, "table"))
    return ", ".join(f"{count} {word}{'s' if count > 1 else ''}" for count, word in counts if count)


def _words(setup: Setup) -> str:
    return ", ".join(f"{name} = {value}" for name, value in setup.key.items())
