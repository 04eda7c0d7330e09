"""Requirements of RFC 7928, in our own words: section, level, and the part of a report that answers each.

The levels are the RFC's: those of its summary (section 13, figure 4) for scenarios, those of the text for all else;
"definition" is a definition of the RFC, "discussion" a topic that it wants discussed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources

from aqmlab.scenario.toml_text import read_toml

LEVELS = ("must", "should", "recommended", "may", "definition", "discussion")


@dataclass(frozen=True)
class Requirement:
    """One thing that the RFC asks for.

    Attributes
    ----------
    section
        Of the RFC.
    level
        One of `LEVELS`.
    asks
        The requirement, in short.
    answer
        Where the report answers it.
    needs
        Sections of scenarios that must have run for it; empty if every report answers it.
    """

    section: str
    level: str
    asks: str
    answer: str
    needs: tuple[str, ...] = ()


def requirements() -> list[Requirement]:
    """Return all, in the RFC's order.

    >>> {one.level for one in requirements()} == set(LEVELS)
    True
    """
    text = resources.files("aqmlab.rfc7928").joinpath("requirements.toml").read_text(encoding="utf-8")
    return [
        Requirement(one["section"], one["level"], one["asks"], one["answer"], tuple(one.get("needs", ())))
        for one in read_toml(text)["requirement"]
    ]


def status(requirement: Requirement, *, ran: Iterable[str], missing: Iterable[str]) -> str:
    """Say whether a report answers a requirement.

    Parameters
    ----------
    requirement
        The requirement.
    ran, missing
        Sections of the scenarios that ran, and of those that this version cannot run.

    >>> bursts = next(r for r in requirements() if r.section == "7.2")
    >>> status(bursts, ran=["7.2"], missing=[]), status(bursts, ran=[], missing=["7.2"])
    ('answered', 'not runnable in this version')
    """
    done, out = set(ran), set(missing)
    if all(section in done and section not in out for section in requirement.needs):
        return "answered"
    if any(section in done for section in requirement.needs):
        return "in part"
    return "not runnable in this version" if out & set(requirement.needs) else "not run"
