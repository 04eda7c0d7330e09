"""The card of a paper: idea, finding, verdicts by form, what fails and what was not engaged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from aqmlab.papers.common.claims import COUNTED, FORMS, Finding, Part, by_author, findings_table, places, short
from aqmlab.papers.common.engine import PaperFinding
from aqmlab.papers.common.ideas import picture
from aqmlab.papers.common.runs import Effort, Setup, seeds_words
from aqmlab.reporting.fragments import ClaimMention, PaperCard, Tally, claim_anchor
from aqmlab.statistics import Verdict

FAILS, NO_EFFECT, NOT_ENGAGED = map(str, (Verdict.FAILS, Verdict.NO_EFFECT, Verdict.NOT_ENGAGED))
LITERAL, STRICT = FORMS
OURS = "our questions"
"""Heading of the verdicts on questions of this project."""
ORDER = (Verdict.HOLDS, Verdict.FAILS, Verdict.NO_EFFECT, Verdict.UNDECIDED, Verdict.NOT_ENGAGED)
MOST_CELLS = 3
"""So many cells that were not engaged are named."""
Record = dict[str, Any]


def card(
    name: str, findings: Iterable[Finding], parts: Iterable[Part], finding: PaperFinding | None, *, run: str = ""
) -> PaperCard:
    """Make the card for the paper's own page; `linked` makes that of another page.

    Parameters
    ----------
    name
        The paper.
    findings, parts
        Its verdicts and their evidence.
    finding
        Its finding.
    run
        How much was run, in words.
    """
    claims, parts = findings_table(findings), list(parts)
    records: list[Record] = [{str(key): value for key, value in row.items()} for row in claims.to_dict("records")]
    groups = {
        "Fails as the authors state it": [r for r in records if r[LITERAL] == FAILS],
        "Shows no effect as the authors state it": [r for r in records if r[LITERAL] == NO_EFFECT],
        "Fails in our strict form only": [r for r in records if r[STRICT] == FAILS and r[LITERAL] != FAILS],
    }
    mentions = [(heading, _mentions(own, records)) for heading, own in groups.items()]
    mentions.append(("Not engaged, so never tested there", _not_engaged(records, parts)))
    idea = picture(name)
    return PaperCard(
        name=name,
        href="",
        idea=finding.idea if finding else "",
        finding=finding.says if finding else "",
        shows=finding.shows if finding else "",
        tallies=tallies(claims),
        groups=[(heading, claims) for heading, claims in mentions if claims],
        run=run,
        picture=idea.svg() if idea else "",
        picture_alt=idea.alt if idea else "",
    )


def linked(own: PaperCard, href: str) -> PaperCard:
    """Return the card for a page from which the paper's page is at `href`."""
    groups = [(heading, [replace(one, href=href + one.href) for one in claims]) for heading, claims in own.groups]
    return replace(own, href=href, groups=groups)


def tallies(claims: pd.DataFrame) -> list[Tally]:
    """Count the verdicts of each form on the authors' claims, and apart from them those on our questions."""
    theirs, ours = by_author(claims)
    counted = {form: theirs[form] for form in FORMS} | {OURS: ours[LITERAL]}
    found = []
    for form, column in counted.items():
        verdicts = [verdict for verdict in column if verdict]
        counts = [_counted(verdict, verdicts.count(str(verdict))) for verdict in ORDER]
        if verdicts:
            found.append(Tally(form, counts))
    return found


def _counted(verdict: Verdict, count: int) -> tuple[str, int, str]:
    """Return a verdict, how often it is there, and its short verb."""
    return str(verdict), count, short(COUNTED[verdict][count != 1])


def effort_words(effort: Effort, plans: Iterable[Setup], *, seeds: str = "") -> str:
    """Say how much was run: seeds, runs and simulated time.

    Parameters
    ----------
    effort, plans
        How much was run, and all scenarios.
    seeds
        The seeds in words, if not all points have the same.
    """
    points: dict[str, tuple[int, float]] = {}
    for plan in plans:
        least = points.get(plan.plan.label, (0, 0.0))[0]
        points[plan.plan.label] = (max(least, plan.seeds), plan.plan.duration_s)
    runs = sum(count for count, _ in points.values())
    hours = sum(count * duration_s for count, duration_s in points.values()) / 3600
    words = seeds or f"{effort.seeds} seeds a point"
    kind = "Quick run" if effort.quick else "Full run" if _is_full(effort) else "Shorter run"
    return f"{kind}: {words}; {runs:,} simulations, {hours:,.1f} h of simulated time."


def preliminary(name: str, effort: Effort, seeds: tuple[int, int]) -> str:
    """Say that verdicts are preliminary, and the command for the full run; "" for a full run.

    Parameters
    ----------
    name, effort
        The paper's name on the command line, and how much was run.
    seeds
        The fewest and the most seeds that a comparison of the claims rests on.
    """
    if not effort.quick and _is_full(effort):
        return ""
    full = type(effort).of(quick=False).seeds
    kind = "quick run, a demonstration" if effort.quick else f"run with fewer than the full {full} seeds"
    return (
        f"This is a {kind}: {seeds_words(seeds)} seeds a point. Its verdicts are preliminary. "
        f"Full run: `aqmlab reproduce {name}`"
    )


def _is_full(effort: Effort) -> bool:
    return effort.seeds >= type(effort).of(quick=False).seeds


def _mentions(found: Sequence[Record], records: Sequence[Record]) -> list[ClaimMention]:
    """Name each claim once, with what its verdicts are about unless it is everything."""
    mentions = []
    for claim in dict.fromkeys(record["claim"] for record in found):
        own = [record for record in found if record["claim"] == claim]
        every = [record for record in records if record["claim"] == claim]
        about = "; ".join(_about(record) for record in own) if len(own) < len(every) else ""
        words = [word for word in ("our question" if own[0].get("own") is True else "", about) if word]
        mentions.append(ClaimMention(claim, str(own[0]["title"]), "; ".join(words), f"#{claim_anchor(claim)}"))
    return mentions


def _not_engaged(records: Sequence[Record], parts: Sequence[Part]) -> list[ClaimMention]:
    """Name each claim of which a part was not engaged, with the cells unless it is the whole claim."""
    titles = {record["claim"]: str(record["title"]) for record in records}
    mentions = []
    for claim, title in titles.items():
        own = [part for part in parts if part.claim == claim]
        idle = [part for part in own if part.verdict is Verdict.NOT_ENGAGED]
        if not idle:
            continue
        about = "" if len(idle) == len(own) else f"{len(idle)} of {len(own)} cells: {_cells(idle)}"
        mentions.append(ClaimMention(claim, title, about, f"#{claim_anchor(claim)}"))
    return mentions


def _cells(parts: Sequence[Part]) -> str:
    """Name cells by case (or question) and place."""
    found = []
    for key in dict.fromkeys((part.case or part.aspect, tuple(part.at)) for part in parts):
        at = [part.at for part in parts if (part.case or part.aspect, tuple(part.at)) == key]
        unique = [dict(pairs) for pairs in dict.fromkeys(tuple(place.items()) for place in at)]
        found.append((key[0] + places(unique, unique)).removeprefix(" at "))
    more = f" and {len(found) - MOST_CELLS} more" if len(found) > MOST_CELLS else ""
    return "; ".join(found[:MOST_CELLS]) + more


def _about(record: Record) -> str:
    words = [f"against {record['against']}" if record.get("against") else "", str(record.get("reading") or "")]
    return ", ".join(word for word in words if word)
