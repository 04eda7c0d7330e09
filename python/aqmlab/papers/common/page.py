"""Sections that the pages of all reproductions share: summary, claims in detail, readings, provenance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from aqmlab import _core
from aqmlab.papers.common.cards import preliminary
from aqmlab.papers.common.claim_file import FORMS
from aqmlab.papers.common.claims import Finding, by_claim, findings_table, found_text, tally
from aqmlab.papers.common.files import PaperFiles
from aqmlab.papers.common.gaps import IN_REACH, gaps_words, used_words
from aqmlab.papers.common.runs import Effort, Setup
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


def command(key: str, effort: Effort) -> str:
    """Return the command that makes a report again."""
    return f"aqmlab reproduce {key}{' --quick' if effort.quick else ''} --seeds {effort.seeds}"


def summary(
    page: Page, files: PaperFiles, findings: Iterable[Finding], *, paper: PaperCard, effort: Effort, quick_note: str
) -> None:
    """Add the paper's card, the verdicts and how they came about; say above all if they are preliminary."""
    findings = list(findings)
    page.notice = preliminary(files.key, effort)
    page.section("At a glance")
    page.cards([paper])
    page.section("Summary")
    page.text(tally(findings_table(findings)))
    page.verdicts(
        [
            (
                [(str(f.verdict), f.form) for f in own],
                f"{own[0].claim}  {own[0].title}{_about(own[0])}",
                found_text(own),
            )
            for own in by_claim(findings)
        ]
    )
    page.text(
        "The literal form of a claim is the authors' sentence, the strict form our stronger one, mostly cell by cell. "
        "A form holds if every part of it does: the 95 % interval of the paired difference lies wholly on the claimed "
        "side. It fails if a part lies wholly on the other side and still does so after Holm's correction for the "
        f"number of parts. Otherwise it is undecided with {effort.seeds} seeds. It is not engaged if what it is about "
        "never happened in the runs.",
        note=True,
    )
    if effort.quick:
        page.text(quick_note, note=True)


def gaps_section(page: Page, files: PaperFiles, table: pd.DataFrame) -> None:
    """Add the gaps to printed numbers, largest first."""
    page.section("Gaps to printed numbers")
    page.text(gaps_words(table))
    page.table(
        table,
        caption="Every printed number that the runs measure, under the chosen readings, largest gap first. The factor "
        "is measured / printed or its inverse; less than half a unit of the last printed digit counts as that. Held "
        f"out: no reading was chosen by it. {IN_REACH.capitalize()}: one further run would lie as far from the mean "
        "with a probability of 5 % or more.",
        digits=3,
    )
    for line in used_words(files.toml("readings.toml")):
        page.text(f"Used to choose readings: {line}.", note=True)


def claims_in_detail(page: Page, findings: Iterable[Finding], parts: pd.DataFrame) -> None:
    """Add the paper's statements, the tests, and every part."""
    page.section("Claims in detail")
    of_claims: dict[str, list[Finding]] = {}
    for finding in findings:
        of_claims.setdefault(finding.claim, []).append(finding)
    for own in of_claims.values():
        first = own[0]
        page.heading(f"{first.claim}: {first.title}", anchor=claim_anchor(first.claim))
        page.text(f"{'Our own question' if first.own else 'The paper says'}: {first.says}")
        tests = {finding.form: finding.test for finding in own}
        for form in FORMS:
            if form in tests:
                page.text(
                    f"{form.capitalize()}: {tests[form]}" if len(tests) > 1 else f"Tested: {tests[form]}", note=True
                )
        of_claim = parts[parts["claim"] == first.claim].drop(columns="claim")
        empty = [column for column in of_claim.columns if (of_claim[column] == "").all()]
        page.table(of_claim.drop(columns=empty), caption=f"Parts of {first.claim}.", digits=3)


def readings_chosen(page: Page, files: PaperFiles) -> None:
    """Begin the section on readings: open points of the paper, choices and reasons."""
    page.section("Readings")
    page.text("What the paper leaves open, what was chosen, and how much each other reading, taken alone, changes.")
    page.table(pd.DataFrame(files.choices()), caption="Readings chosen.")


def provenance(
    page: Page, files: PaperFiles, setups: Sequence[Setup], effort: Effort, *, scenarios: Sequence[str], example: str
) -> None:
    """Add version, commands, scenario files and the hashes of all scenarios.

    Parameters
    ----------
    page, files, effort
        The page, the paper and how much was run.
    setups
        All scenarios that were run.
    scenarios
        Names of the paper's scenario files, without ``.toml``.
    example
        The command that makes one point again.
    """
    page.section("Provenance")
    page.text(
        f"aqmlab {_core.version()}. The whole report: `{command(files.key, effort)}`. One point of it, for example:"
    )
    page.code(example)
    for name in scenarios:
        page.code(files.text(f"{name}.toml"), fold=f"Scenario {files.scenario_name(name)}")
    lines = [f"{s.plan.hash[:16]}  {_words(s)}  {s.reading}" for s in setups]
    page.code("\n".join(lines), fold=f"Hashes of the {len(setups)} scenarios")


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
