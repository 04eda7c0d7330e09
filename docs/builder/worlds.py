"""Worlds in which a queue runs: theory, simulator, live link, Linux and the laboratory are each asked for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

from aqmlab import _core
from aqmlab.errors import Error
from aqmlab.interop.kernel.export import kernel_queue
from aqmlab.interop.tc.queues import qdisc_of
from aqmlab.live.plan import live_plan
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.toml_text import read_toml
from aqmlab.theory.scenario.model import model_of

SCENARIO = Path(__file__).parents[1] / "combinations.toml"
"""A network in which every part of RED has flows to act on."""
LINK = "bottleneck"
ANALYSED = "analysed"
"""Name of the world of theory."""
BY_CODE_POINT = {"flow.assured.dscp": "EF"}
"""A code point for the flows with priority, by which a module tells them."""


def analysed(plan: Scenario) -> bool:
    """Return whether theory has a model of the queue under TCP."""
    return model_of(plan, link=LINK).kind != "none"


def live(plan: Scenario) -> bool:
    """Return whether a live run takes the scenario; an error if not."""
    return bool(live_plan(plan, seed=1).link)


def in_linux(plan: Scenario) -> bool:
    """Return whether a module for Linux can be written from the queue, or Linux has drop-tail; an error if not."""
    link = plan.link(LINK)
    return bool(qdisc_of(plan, link) if link.aqm == "drop-tail" else kernel_queue(plan, link=LINK))


def in_a_browser(plan: Scenario) -> bool:
    """Return whether the laboratory's core, compiled here, starts a run of the scenario."""
    request = {"text": plan.text, "file": plan.filename, "overrides": plan.overrides, "seed": 1}
    return bool(json.loads(_core.PageSession().answer("start", json.dumps(request)))["ok"])


WORLDS: dict[str, Callable[[Scenario], bool]] = {
    ANALYSED: analysed,
    "simulated": lambda _: True,
    "live": live,
    "in Linux": in_linux,
    "in a browser": in_a_browser,
}
"""World to the question whether it takes a checked scenario."""


@cache
def worlds_of(queue: str) -> tuple[str, ...]:
    """Return the worlds in which a queue runs.

    >>> worlds_of('aqm = "mred"')
    ('analysed', 'simulated', 'live', 'in Linux', 'in a browser')

    Parameters
    ----------
    queue
        Keys of its table in TOML, separated by ``;``; those of RED if it has no ``aqm``.

    Raises
    ------
    ScenarioError
        If no world knows it.
    """
    table = read_toml(queue.replace(";", "\n"), filename="queue")
    plan = Scenario.load(str(SCENARIO), overrides={**BY_CODE_POINT, f"queue.{LINK}": {"aqm": "red", **table}})
    return tuple(world for world, takes in WORLDS.items() if _takes(takes, plan))


def _takes(takes: Callable[[Scenario], bool], plan: Scenario) -> bool:
    try:
        return takes(plan)
    except Error:
        return False
