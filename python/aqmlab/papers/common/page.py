"""The page of a paper: ``page.jinja``, which all papers share, with the verdicts and the paper's own sections."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import resources
from typing import Any

import jinja2
import pandas as pd

from aqmlab import _core
from aqmlab.papers.common.cards import preliminary
from aqmlab.papers.common.claims import FORMS, Finding, by_claim, findings_table, found_text, tally
from aqmlab.papers.common.contents import PROVENANCE, READINGS, Block, Code, Figure, Network, Section, Table, Text
from aqmlab.papers.common.files import PaperFiles
from aqmlab.papers.common.gaps import IN_REACH, gaps_words, used_words
from aqmlab.papers.common.runs import Effort, Setup
from aqmlab.reporting.flowchart import FlowChart
from aqmlab.reporting.fragments import PaperCard, claim_anchor
from aqmlab.reporting.page import Page


@dataclass(frozen=True)
class Built:
    """Results of a reproduction, and its report; `paper` is its card."""

    page: Page
    tables: dict[str, pd.DataFrame]
    claims: pd.DataFrame
    readings: pd.DataFrame
    paper: PaperCard


def command(files: PaperFiles, effort: Effort) -> str:
    """Return the command that makes a report again."""
    name = files.key if files.folder is None else str(files.folder)
    return f"aqmlab reproduce {name}{' --quick' if effort.quick else ''} --seeds {effort.seeds}"


def fill(
    page: Page,
    files: PaperFiles,
    *,
    card: PaperCard,
    findings: Sequence[Finding],
    parts: pd.DataFrame,
    sections: Sequence[Section],
    gaps: pd.DataFrame | None,
    effort: Effort,
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
    sections
        The paper's own sections; that of the title `READINGS` follows the list of readings.
    gaps
        The gaps to printed numbers; None without any.
    effort, setups
        How much was run, and all scenarios.
    quick_note, example, scenarios
        The sentence on the quick version, a command for one point, and the names of the paper's scenario files.
    """
    page.notice = preliminary(files.key, effort)
    values = {
        "card": card,
        "tally": tally(findings_table(findings)),
        "summary": [_summary(own) for own in by_claim(findings)],
        "effort": effort,
        "quick_note": quick_note,
        "sections": [section for section in sections if section.title not in (READINGS, PROVENANCE)],
        "gaps": gaps,
        "gaps_words": "" if gaps is None else gaps_words(gaps),
        "in_reach": IN_REACH.capitalize(),
        "used": used_words(files.toml("readings.toml")),
        "claims": [_claim(name, findings, parts) for name in dict.fromkeys(finding.claim for finding in findings)],
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
    functions = _functions(page, command(files, effort))
    environment.globals |= functions
    environment.filters |= {name: functions[name] for name in ("text", "note")}
    environment.from_string(text).render(values)


def _functions(page: Page, again: str) -> dict[str, Callable[..., str]]:
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
            _show(page, block, again)

    found: dict[str, Callable[..., None]] = {
        "section": page.section,
        "heading": page.heading,
        "cards": page.cards,
        "verdicts": page.verdicts,
        "code": page.code,
        "text": paragraph,
        "note": partial(paragraph, note=True),
        "table": table,
        "show": show,
    }
    return {name: adding(function) for name, function in found.items()}


def _show(page: Page, block: Block, again: str) -> None:
    """Add one of the paper's own blocks; a chart has the command `again` unless it states another."""
    if isinstance(block, Text | Table) and block.heading and not (isinstance(block, Table) and block.kept_only):
        page.heading(block.heading, listed=isinstance(block, Table) and block.listed)
    if isinstance(block, Text) and block.says:
        page.text(block.says, note=block.note)
    elif isinstance(block, Table) and (shown := block.for_reading) is not None:
        page.table(shown, caption=block.caption, digits=block.digits)
    elif isinstance(block, Network):
        page.topology(block.plan, key=block.name, title=block.title, caption=block.caption)
    elif isinstance(block, Code):
        page.code(block.text, fold=block.fold)
    elif isinstance(block, Figure):
        chart = block.chart
        if isinstance(chart, FlowChart):
            page.flowchart(chart, caption=block.caption)
        else:
            page.chart(chart, command=block.command or again)


def _summary(own: Sequence[Finding]) -> tuple[list[tuple[str, str]], str, str]:
    """Return an entry of the list of verdicts: form and verdict, the claim, the result."""
    verdicts = [(str(finding.verdict), finding.form) for finding in own]
    return verdicts, f"{own[0].claim}  {own[0].title}{_about(own[0])}", found_text(own)


def _claim(name: str, findings: Sequence[Finding], parts: pd.DataFrame) -> dict[str, Any]:
    """Return a claim's statement, its tests by form, and its parts."""
    own = [finding for finding in findings if finding.claim == name]
    tests = {finding.form: finding.test for finding in own}
    rows = parts[parts["claim"] == name].drop(columns="claim")
    empty = [column for column in rows.columns if (rows[column] == "").all()]
    return {
        "id": name,
        "title": own[0].title,
        "says": own[0].says,
        "own": own[0].own,
        "anchor": claim_anchor(name),
        "tests": [(form.capitalize(), tests[form]) for form in FORMS if form in tests],
        "parts": rows.drop(columns=empty),
    }


def _about(finding: Finding) -> str:
    words = []
    if finding.against:
        words.append(f"against {'classic RED' if finding.against == 'RED' else finding.against}")
    if finding.reading:
        words.append(finding.reading)
    if finding.own:
        words.append("our own question")
    return f" ({', '.join(words)})" if words else ""


def _words(setup: Setup) -> str:
    return ", ".join(f"{name} = {value}" for name, value in setup.key.items())
