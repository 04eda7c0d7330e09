"""Runs that answer in time: the requested length is cut to the seconds that fit.

How long a run takes is learned from the runs before (`aqmlab.lab.time_budget`). One that takes longer all the
same is stopped and repeated with fewer seconds, so that an answer takes about twice the budget at most, whatever the
scenario; only setting up a network of very many hosts is out of reach of this.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.lab.checked import Checked, Overrides, checked
from aqmlab.lab.request_error import SUPERSEDED, RequestError
from aqmlab.lab.time_budget import Pace
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.toml_text import inline

BUDGET_S = 0.06
"""Longest time of the runs of one answer, in s; drawing and the way there and back have the rest of 200 ms."""
WALL = 1.5
"""A run is stopped after so many times the budget by the clock on the wall, if the machine is busy."""
FIRST_S = 5.0
"""So much is run to see which link is busy."""
SAMPLES = 500
FLOW_ROWS = 6000
"""About so many rows of flow samples are recorded."""


@dataclass(frozen=True)
class Side:
    """One setting to run: its name on the page, and its overrides of the scenario."""

    name: str
    pairs: Overrides


@dataclass(frozen=True)
class Wanted:
    """The runs that a page requests.

    Attributes
    ----------
    sides
        One or two settings of the same scenario.
    seconds, seed
        Length of the runs, if it fits, and their seed.
    rate_bps, flows
        Rate of the link and number of flows, by which the cost of a run is estimated.
    superseded
        Whether the answer is still wanted; asked during the runs.
    """

    sides: tuple[Side, ...]
    seconds: float
    seed: int
    rate_bps: float
    flows: float
    superseded: Callable[[], bool]


@dataclass(frozen=True)
class Run:
    """One finished run: the scenario as it was run, and the core's output."""

    name: str
    plan: Checked
    output: dict[str, Any]


@dataclass(frozen=True)
class _Done:
    side: Side
    overrides: Overrides
    output: dict[str, Any]
    cpu_s: float


class _TooSlowError(Exception):
    """The run did not fit: so much of it was done, in so much processor time."""

    def __init__(self, share: float, cpu_s: float) -> None:
        self.share = share
        self.cpu_s = cpu_s


def cut(plan: Scenario, seconds: float) -> Overrides:
    """Return the overrides that make a run of a scenario as long as this, with a warm-up in proportion.

    Changes of links that would come after the end are left out.
    """
    if seconds == plan.duration_s:
        return ()
    found = [("run.duration", f"{seconds:g}s")]
    if plan.warmup_s > 0 and seconds < plan.duration_s:
        found.append(("run.warmup", f"{plan.warmup_s * seconds / plan.duration_s:.3g}s"))
    if any(change["at_s"] >= seconds for change in plan.changes):
        found.append(("change", inline([_written(change) for change in plan.changes if change["at_s"] < seconds])))
    return tuple(found)


def _written(change: Mapping[str, Any]) -> dict[str, str]:
    """Return the table ``[[change]]`` of a change of the plan, which has them in order of time, not of the file."""
    found = {"at": f"{change['at_s']:.15g}s", "link": change["link"]}
    for key, number, unit in (("rate", "rate_bps", "bps"), ("delay", "delay_s", "s")):
        if change[number] is not None:
            found[key] = f"{change[number]:.15g}{unit}"
    return found


def busiest(plan: Scenario, links: Sequence[str]) -> str:
    """Return the link of these that is used most in the first seconds."""
    first = plan.with_overrides((*cut(plan, min(plan.duration_s, FIRST_S)), ("probe", "{}")))
    output = first.core.run(first.seeds[0])
    table: dict[str, Any] = dict(output["tables"]["links"])
    utilization = np.frombuffer(table["utilization"][1])
    return max(links, key=lambda link: utilization[table["link"].index(link)])


def _hopeless(share: float, used_s: float, patience_s: float) -> bool:
    """Whether a run has taken too long, and would take longer to its end than a shorter one that begins now."""
    return used_s > patience_s and used_s * (1 - share) > 0.5 * patience_s * share


class Simulator:
    """Does the runs of one scenario's link, one or two at a time, and learns what they cost."""

    def __init__(self, plan: Scenario, link: str, *, budget_s: float = BUDGET_S) -> None:
        self.plan = plan
        self.link = link
        self.budget_s = budget_s
        self._pace = Pace()
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="lab-run")

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def runs(self, wanted: Wanted) -> list[Run]:
        """Return the requested runs, all sides for as long, with the same seed."""
        return [Run(d.side.name, checked(self.plan, d.overrides, self.link), d.output) for d in self._in_time(wanted)]

    def _in_time(self, wanted: Wanted) -> list[_Done]:
        began = time.monotonic()

        def fitting(budget_s: float) -> float:
            return self._pace.fits(budget_s, rate_bps=wanted.rate_bps, asked_s=wanted.seconds)

        length = fitting(self.budget_s)
        try:
            done = self._measured(wanted, length, self.budget_s)
        except _TooSlowError:
            return self._measured(wanted, min(length, fitting(0.5 * self.budget_s)), math.inf)
        longer = fitting(self.budget_s - (time.monotonic() - began))
        if longer > length:  # less was expected to fit than does
            with suppress(_TooSlowError):
                return self._measured(wanted, longer, self.budget_s)
        return done

    def _measured(self, wanted: Wanted, length: float, patience_s: float) -> list[_Done]:
        """Run all sides, and learn from it what runs cost."""
        began = time.monotonic()

        def learn(share: float, cpu_s: float) -> None:
            bits = share * length * wanted.rate_bps
            self._pace.learn(cpu_s=cpu_s, wall_s=time.monotonic() - began, bits=bits)

        try:
            done = self._all(wanted, length, patience_s)
        except _TooSlowError as slow:
            learn(slow.share, slow.cpu_s)
            raise
        learn(1.0, max(one.cpu_s for one in done))
        return done

    def _all(self, wanted: Wanted, length: float, patience_s: float) -> list[_Done]:
        if len(wanted.sides) == 1:
            return [self._one(wanted.sides[0], wanted, length, patience_s)]
        started = [self._threads.submit(self._one, side, wanted, length, patience_s) for side in wanted.sides]
        errors = [error for error in (future.exception() for future in started) if error is not None]
        if errors:
            raise errors[0]
        return [future.result() for future in started]

    def _one(self, side: Side, wanted: Wanted, length: float, patience_s: float) -> _Done:
        cpu, wall = time.thread_time(), time.monotonic()

        def progress(share: float) -> None:
            if wanted.superseded():
                raise RequestError(SUPERSEDED, "a newer request took the place of this one")
            used = time.thread_time() - cpu
            if _hopeless(share, used, patience_s) or _hopeless(share, time.monotonic() - wall, WALL * patience_s):
                raise _TooSlowError(share, used)

        plan, overrides = self.plan, side.pairs + cut(self.plan, length)
        recorded = ("probe", self._recorded(length, wanted.flows))
        output = plan.with_overrides((*overrides, recorded)).core.run(wanted.seed, progress)
        return _Done(side, overrides, dict(output), time.thread_time() - cpu)

    def _recorded(self, length: float, flows: float) -> str:
        """Return the probe table that the page needs in place of the file's; it changes nothing else in a run."""
        steps = min(60, max(15, FLOW_ROWS // max(int(flows), 1)))
        return inline(
            {
                "links": [self.link],
                "queue_interval": f"{1e9 * length / SAMPLES:.0f}ns",
                "flow_interval": f"{1e9 * length / steps:.0f}ns",
            }
        )
