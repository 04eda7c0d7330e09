"""Runs of a scenario that go on together, interval by interval, each under a controller's actions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aqmlab import _core
from aqmlab.arena.actions import Action, Numbers, action_of
from aqmlab.errors import InputError
from aqmlab.results.output import provenance
from aqmlab.results.quantities import bottleneck_of
from aqmlab.results.result import Result
from aqmlab.runs.arguments import as_scenario
from aqmlab.runs.comparison_settings import exchange
from aqmlab.runs.jobs import Simulation
from aqmlab.scenario.file import Overrides, Scenario

SHORTEST_S = 1e-4
"""Shortest interval in s."""
COLUMN = {name: place for place, name in enumerate(_core.ControlledRuns.COLUMNS)}
"""Place of each count in a row of `Episodes.step`."""


@dataclass(frozen=True)
class Controlled:
    """A scenario whose queue before one link takes actions.

    Attributes
    ----------
    plan
        The scenario; its queue has the action's discipline.
    link
        The link.
    action
        The action, on the scale of the link.
    interval_s
        Time between two decisions, in s. The last interval of a run may be shorter.
    """

    plan: Scenario
    link: str
    action: Action
    interval_s: float

    @property
    def steps(self) -> int:
        """Decisions of a run."""
        return int(np.ceil(round(self.plan.duration_s / self.interval_s, 9)))


def controlled(
    scenario: str | Path | Scenario,
    *,
    action: str | Action = "probability",
    link: str | None = None,
    interval_s: float = 0.1,
    overrides: Overrides = (),
) -> Controlled:
    """Give the queue of a link to a controller.

    Parameters
    ----------
    scenario
        A scenario file, ``example:NAME``, or a scenario already loaded.
    action
        ``probability``, ``curve``, or an `Action`.
    link
        The link; default: ``bottleneck``, ``down``, or the first whose queue is not drop-tail.
    interval_s
        Time between two decisions in s, from 0.0001 to the length of a run.
    overrides
        As for `aqmlab.run`.

    Raises
    ------
    InputError, ScenarioError
        If the link is unknown, or its queue cannot take the action.
    """
    plan = as_scenario(scenario, overrides=overrides)
    if not SHORTEST_S <= interval_s <= plan.duration_s:
        raise InputError(f"interval_s: {interval_s} is out of range (allowed: {SHORTEST_S} to {plan.duration_s} s)")
    links = plan.links
    name = bottleneck_of([one.name for one in links], [one.aqm for one in links]) if link is None else link
    own = action_of(action)
    queue = own_queue(plan, name)
    # The discipline first: a curve over ms scales with its mean packet.
    plan = exchange(plan, [queue], "action", {"aqm": own.table(own.low)["aqm"]}, [])
    own = own.on(plan, name)
    exchange(plan, [queue], "action", own.table(own.high), [])  # raises if a range is too wide
    plan = exchange(plan, [queue], "action", own.table(own.low), [])
    found = Controlled(plan, name, own, float(interval_s))
    Episodes(found, [1])  # raises if the queue cannot take the action
    return found


def own_queue(plan: Scenario, link: str) -> str:
    """Return the name of the queue before a link.

    Raises
    ------
    InputError
        If other links have the same ``[queue.NAME]`` table, so that setting it would set their queues too.
    """
    queue = plan.link(link).queue
    others = [one.name for one in plan.links if one.queue == queue and one.name != link]
    if others:
        raise InputError(
            f"link {link}: the table queue.{queue} also sets the queues of {', '.join(others)}; "
            "give this link a table of its own"
        )
    return queue


class Episodes:
    """Runs of a controlled scenario, one for each seed, from time 0 to their end.

    Parameters
    ----------
    control
        The controlled scenario.
    seeds
        Seeds of the runs.
    threads
        Threads that simulate; the results do not depend on them.
    """

    def __init__(self, control: Controlled, seeds: Sequence[int], *, threads: int = 1) -> None:
        self.control = control
        self.seeds = [int(seed) for seed in seeds]
        self._threads = threads
        self._runs = _core.ControlledRuns(control.plan.core, control.link, list(control.action.keys), self.seeds)

    @property
    def is_over(self) -> bool:
        """Whether the runs are at their end."""
        return self._runs.is_over()

    def step(self, actions: Numbers) -> Numbers:
        """Let the actions hold, a row for each run, and go on by an interval.

        Returns
        -------
        Numbers
            A row for each run, with the counts of the interval at the places of `COLUMN`: ``length_s``;
            ``queue_packets`` and ``queue_bytes`` at the interval's end; ``mean_queue`` in packets; ``arrivals``,
            ``departures``, ``departed_bytes``, ``drops`` and ``marks``; ``delay_s``, the mean queueing delay of the
            departures (0 without); ``busy_s``, the time in service.
        """
        wanted = len(self.seeds), len(self.control.action.low)
        if actions.shape != wanted:
            raise InputError(f"action: {actions.size} numbers (allowed: {wanted[1]} for each of {wanted[0]} runs)")
        if not np.isfinite(actions).all():
            raise InputError("action: is not finite (allowed: finite numbers)")
        if self.is_over:
            raise InputError("the run is over: call reset")
        values = np.ascontiguousarray(self.control.action.values(actions), dtype="<f8")
        answer = self._runs.step(values.tobytes(), self.control.interval_s, self._threads)
        return np.frombuffer(answer, dtype="<f8").reshape(len(self.seeds), len(COLUMN))

    def finish(self) -> Result:
        """Finish the runs under the last actions, and return their tables."""
        plan = self.control.plan
        source = Simulation(plan, provenance(plan))
        raw = self._runs.finish()
        outputs = [source.kept(one, seed) for one, seed in zip(raw, self.seeds, strict=True)]
        return replace(Result.from_outputs(outputs, scenario_text=plan.normalized), is_controlled=True)
