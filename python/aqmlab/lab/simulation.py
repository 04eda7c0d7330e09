"""Runs that answer in time: what is asked for is cut to the seconds that fit.

How long a run takes is learned from the runs before (`aqmlab.lab.pace`). One that takes longer all the same is stopped
and begun anew with fewer seconds, so that an answer takes about twice the budget at most, whatever the scenario; only
setting up a network of very many hosts is out of reach of this.
"""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.lab.pace import Pace
from aqmlab.lab.refusal import SUPERSEDED, Refusal
from aqmlab.scenario import Scenario
from aqmlab.toml_text import inline

BUDGET_S = 0.06
"""What the runs of one answer may take; drawing and the way there and back have the rest of 200 ms."""
WALL = 1.5
"""A run is stopped after so many times the budget by the clock on the wall, if the machine is busy."""
FIRST_S = 5.0
"""So much is run to see which link is busy."""
SAMPLES = 500
FLOW_ROWS = 6000
"""About so many rows of flow samples are recorded."""

Overrides = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Run:
    """One run that was done: the scenario as it was run, what the core gave, and the processor time it took."""

    name: str
    plan: Scenario
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
        written = tomllib.loads(plan.normalized)["change"]
        kept = [text for text, change in zip(written, plan.changes, strict=True) if change["at_s"] < seconds]
        found.append(("change", inline(kept)))
    return tuple(found)


def busiest(plan: Scenario, links: Sequence[str]) -> str:
    """Return the link of these that is used most in the first seconds."""
    first = plan.with_overrides(cut(plan, min(plan.duration_s, FIRST_S)))
    output = _core.run(first.text, first.filename, first.seeds[0], [*first.overrides, ("probe", "{}")])
    table: dict[str, Any] = dict(output["tables"]["links"])
    utilization = np.frombuffer(table["utilization"][1])
    return max(links, key=lambda link: utilization[table["link"].index(link)])


def _hopeless(share: float, used_s: float, patience_s: float) -> bool:
    """Whether a run has taken too long, and would take longer to its end than a shorter one that begins now."""
    return used_s > patience_s and used_s * (1 - share) > 0.5 * patience_s * share


class Simulator:
    """Does the runs of one scenario's link, one or two at a time, and learns what they cost."""

    def __init__(self, link: str, *, budget_s: float = BUDGET_S) -> None:
        self.link = link
        self.budget_s = budget_s
        self._pace = Pace()
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="lab-run")

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def runs(
        self,
        plans: Sequence[tuple[str, Scenario]],
        *,
        seconds: float,
        seed: int,
        superseded: Callable[[], bool],
    ) -> list[Run]:
        """Run these scenarios, all for as long, with the same seed."""
        rate = max(plan.link(self.link).rate_bps for _, plan in plans)
        began = time.monotonic()

        def fitting(budget_s: float) -> float:
            return self._pace.fits(budget_s, rate_bps=rate, asked_s=seconds)

        def done(length: float, patience_s: float) -> list[Run]:
            return self._measured(plans, length, seed, rate, patience_s, superseded)

        length = fitting(self.budget_s)
        try:
            runs = done(length, self.budget_s)
        except _TooSlowError:
            return done(min(length, fitting(0.5 * self.budget_s)), math.inf)
        longer = fitting(self.budget_s - (time.monotonic() - began))
        if longer > length:  # less was expected to fit than does
            with suppress(_TooSlowError):
                return done(longer, self.budget_s)
        return runs

    def _measured(
        self,
        plans: Sequence[tuple[str, Scenario]],
        length: float,
        seed: int,
        rate: float,
        patience_s: float,
        superseded: Callable[[], bool],
    ) -> list[Run]:
        """Run these scenarios, and learn from it what runs cost."""
        began = time.monotonic()

        def learn(share: float, cpu_s: float) -> None:
            self._pace.learn(cpu_s=cpu_s, wall_s=time.monotonic() - began, bits=share * length * rate)

        try:
            runs = self._all(plans, length, seed, patience_s, superseded)
        except _TooSlowError as slow:
            learn(slow.share, slow.cpu_s)
            raise
        learn(1.0, max(run.cpu_s for run in runs))
        return runs

    def _all(
        self,
        plans: Sequence[tuple[str, Scenario]],
        length: float,
        seed: int,
        patience_s: float,
        superseded: Callable[[], bool],
    ) -> list[Run]:
        if len(plans) == 1:
            return [self._one(*plans[0], length, seed, patience_s, superseded)]
        started = [self._threads.submit(self._one, *one, length, seed, patience_s, superseded) for one in plans]
        errors = [error for error in (future.exception() for future in started) if error is not None]
        if errors:
            raise errors[0]
        return [future.result() for future in started]

    def _one(
        self,
        name: str,
        asked: Scenario,
        length: float,
        seed: int,
        patience_s: float,
        superseded: Callable[[], bool],
    ) -> Run:
        cpu, wall = time.thread_time(), time.monotonic()

        def progress(share: float) -> None:
            if superseded():
                raise Refusal(SUPERSEDED, "a newer request took the place of this one")
            used = time.thread_time() - cpu
            if _hopeless(share, used, patience_s) or _hopeless(share, time.monotonic() - wall, WALL * patience_s):
                raise _TooSlowError(share, used)

        shorter = cut(asked, length)
        plan = asked.with_overrides(shorter) if shorter else asked
        recorded = self._recorded(plan)
        try:
            output = _core.run(plan.text, plan.filename, seed, [*plan.overrides, ("probe", recorded)], progress)
        except ValueError as error:
            raise InputError(str(error)) from None
        return Run(name, plan, dict(output), time.thread_time() - cpu)

    def _recorded(self, plan: Scenario) -> str:
        """Return the probe table that the page needs in place of the file's; it changes nothing else in a run."""
        steps = min(60, max(15, FLOW_ROWS // max(len(plan.flows), 1)))
        return inline(
            {
                "links": [self.link],
                "queue_interval": f"{1e9 * plan.duration_s / SAMPLES:.0f}ns",
                "flow_interval": f"{1e9 * plan.duration_s / steps:.0f}ns",
            }
        )
