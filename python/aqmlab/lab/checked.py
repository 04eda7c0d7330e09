"""A scenario with the sliders' settings, as far as the page shows it.

`aqmlab.scenario.file.Scenario` describes every link and every flow, which takes long where there are thousands; the
page shows one link.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from aqmlab import _core
from aqmlab.errors import InputError, Problem, ScenarioError, unknown
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
    overrides = plan.overrides + pairs
    answer = json.loads(_core.check(plan.text, plan.filename, list(overrides)))
    if not answer["ok"]:
        raise ScenarioError([Problem.from_json(error) for error in answer["errors"]])
    found = answer["scenario"]
    bodies = {body["name"]: body for body in found["links"]}
    if link not in bodies:
        raise InputError(unknown("link", link, list(bodies)))
    return Checked(
        filename=plan.filename,
        overrides=overrides,
        link=Link.from_json(bodies[link], {}),
        duration_s=float(found["duration_s"]),
        warmup_s=float(found["warmup_s"]),
        changes=tuple(found["changes"]),
        normalized=found["normalized"],
        warnings=tuple(Problem.from_json(warning) for warning in answer.get("warnings") or ()),
    )
