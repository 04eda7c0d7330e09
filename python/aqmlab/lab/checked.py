"""A scenario with the sliders' settings, as far as the page shows it.

`aqmlab.scenario.file.Scenario` describes every link and every flow, which takes long where there are thousands; the
page shows one link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aqmlab.errors import Problem
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link

Overrides = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Checked:
    """The core's reading of a scenario.

    Attributes
    ----------
    filename, overrides
        The file, and all overrides.
    link
        The link in question.
    duration_s, warmup_s, changes, normalized, warnings
        As in `aqmlab.scenario.file.Scenario`.
    """

    filename: str
    overrides: Overrides
    link: Link
    duration_s: float
    warmup_s: float
    changes: tuple[dict[str, Any], ...]
    normalized: str
    warnings: tuple[Problem, ...]


def checked(plan: Scenario, pairs: Overrides, link: str) -> Checked:
    """Apply overrides to a scenario and check it.

    Raises
    ------
    ScenarioError, InputError
        If it is not valid, or has this link no more.
    """
    found = plan.with_overrides(pairs)
    return Checked(
        filename=found.filename,
        overrides=found.overrides,
        link=found.link(link),
        duration_s=found.duration_s,
        warmup_s=found.warmup_s,
        changes=found.changes,
        normalized=found.normalized,
        warnings=found.warnings,
    )
