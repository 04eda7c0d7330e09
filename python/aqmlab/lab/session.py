"""One scenario with its controls, and the runs for a choice of their settings."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aqmlab.errors import Error, InputError, shell_word
from aqmlab.lab.checked import Checked
from aqmlab.lab.control import Control, Setting, rounded
from aqmlab.lab.network_controls import network_controls
from aqmlab.lab.numbers import chart_data, number_rows, numbers
from aqmlab.lab.queue_controls import NO_OTHER, discipline_controls, exchanged, queue_controls
from aqmlab.lab.request_error import BUSY, UNUSABLE, RequestError
from aqmlab.lab.simulation import BUDGET_S, Side, Simulator, Wanted, busiest
from aqmlab.lab.views import charts
from aqmlab.runs.executors import available_cores
from aqmlab.scenario.file import Overrides, Scenario

BUILT_IN = "lab:dumbbell.toml"
LONGEST_S = 600.0
MOST_SEED = 1_000_000
PATIENCE_S = 2.0
"""Longest time in s that a request waits for a free processor core; then it is rejected."""


class Session:
    """One scenario and one of its links, with the controls of the page.

    Parameters
    ----------
    scenario
        A scenario file; default: the dumbbell that comes with the package.
    link
        The link whose queue the controls set; default: ``bottleneck``, else the busiest link that is not drop-tail.
    overrides
        Dotted keys and values that override the file's.
    budget_s
        Longest time of the runs of one answer, in s.
    """

    def __init__(
        self,
        scenario: str | Path | None = None,
        *,
        link: str | None = None,
        overrides: Overrides = (),
        budget_s: float = BUDGET_S,
    ) -> None:
        self.file = str(scenario or BUILT_IN)
        self.scenario = Scenario.load(self.file, overrides=overrides)
        self.link = self.scenario.link(link).name if link is not None else _default_link(self.scenario)
        self.queue = self.scenario.link(self.link).queue
        self._simulator = Simulator(self.scenario, self.link, budget_s=budget_s)
        self._network = tuple(network_controls(self.scenario, self.link))
        self._panels: dict[str, tuple[Control, ...]] = {}
        self._exchanges: dict[str, tuple[tuple[str, str], ...]] = {}
        self._places = threading.BoundedSemaphore(available_cores())
        try:
            self.answer({})  # whatever is slow the first time is over when the page asks
        except RequestError as no:
            self.close()
            raise InputError(no.text) from None

    def close(self) -> None:
        """Stop the threads."""
        self._simulator.close()

    def panel(self, aqm: str) -> tuple[Control, ...]:
        """Return the controls that there are with this discipline, with their values in the scenario."""
        if aqm not in self._panels:
            self._exchanges[aqm] = exchanged(self.scenario, self.queue, aqm)
            pairs = self._exchanges[aqm]
            plan = self.scenario.with_overrides(pairs) if pairs else self.scenario
            queue = (*discipline_controls(aqm), *queue_controls(plan, self.link))
            self._panels[aqm] = (*queue, *self._network, *_run_controls(self.scenario))
        return self._panels[aqm]

    def answer(
        self, settings: Mapping[str, object], *, superseded: Callable[[], bool] = lambda: False
    ) -> dict[str, Any]:
        """Run a setting and return the data that the page shows.

        Parameters
        ----------
        settings
            Key of a control to its value, for each that was changed; the others are as in the scenario.
        superseded
            Returns whether a newer request has replaced this one; called during the run.

        Raises
        ------
        RequestError
            If a setting is invalid, or cannot be run.
        """
        began = time.monotonic()
        known = self._checked(settings)
        aqm = str(known.get("aqm", self.scenario.link(self.link).aqm))
        beside = str(known.get("beside", NO_OTHER))
        names = [aqm] if beside in (NO_OTHER, aqm) else [aqm, beside]
        wanted = Wanted(
            sides=tuple(Side(name, self._pairs(name, known)) for name in names),
            seconds=float(known.get("seconds", min(self.scenario.duration_s, LONGEST_S))),
            seed=int(known.get("seed", self.scenario.seeds[0])),
            rate_bps=1e6 * float(known["rate"]) if "rate" in known else self.scenario.link(self.link).rate_bps,
            flows=self._flows(known),
            superseded=superseded,
        )
        if not self._places.acquire(timeout=PATIENCE_S):
            raise RequestError(BUSY, "other runs are under way; try again")
        try:
            runs = self._simulator.runs(wanted)
        except Error as error:
            raise RequestError(UNUSABLE, _first_line(error)) from None
        finally:
            self._places.release()
        values = [numbers(run, self.link) for run in runs]
        return {
            "name": self.scenario.name,
            "description": self.scenario.description,
            "file": self.file,
            "link": self.link,
            "aqm": aqm,
            "names": names,
            "panel": [control.data() for control in self.panel(aqm)],
            "charts": [chart_data(chart) for chart in charts(runs, values, self.link)],
            "numbers": number_rows(runs, values),
            "asked_s": wanted.seconds,
            "simulated_s": runs[0].plan.duration_s,
            "warmup_s": runs[0].plan.warmup_s,
            "seed": wanted.seed,
            "warnings": list(dict.fromkeys(str(w) for run in runs for w in run.plan.warnings)),
            "text": "\n".join(run.plan.normalized for run in runs[:1]),
            "command": "\n".join(command(run.plan, wanted.seed) for run in runs),
            "took_ms": rounded(1e3 * (time.monotonic() - began), 3),
        }

    def _checked(self, settings: Mapping[str, object]) -> dict[str, Setting]:
        """Return the settings if each is one of a control that the page has been given.

        Settings of another discipline than the chosen one are kept for when it is chosen again.
        """
        own = self.scenario.link(self.link).aqm
        chosen = next(iter(discipline_controls(own))).checked(settings.get("aqm", own))
        first = self.panel(str(chosen))
        given = [control for panel in list(self._panels.values()) for control in panel]
        panel = {control.key: control for control in (*given, *first)}
        found = {}
        for key, value in settings.items():
            if key not in panel:
                raise RequestError(UNUSABLE, f"{key[:60]!r} is not among the controls of {chosen}")
            found[key] = panel[key].checked(value)
        return found

    def _flows(self, settings: Mapping[str, Setting]) -> float:
        """Return how many flows there are."""
        counts = [control for control in self._network if control.key.endswith(".count")]
        return len(self.scenario.flows) + sum(
            float(settings[one.key]) - float(one.value) for one in counts if one.key in settings
        )

    def _pairs(self, aqm: str, settings: Mapping[str, Setting]) -> tuple[tuple[str, str], ...]:
        """Return the overrides for this discipline and all settings that it has a control for."""
        other = aqm != settings.get("aqm", self.scenario.link(self.link).aqm)
        controls = self.panel(aqm)
        pairs = list(self._exchanges[aqm])
        for control in controls:
            if control.key in settings and not (other and control.kind == "choice" and control.group == "Queue"):
                pairs += control.overrides(settings[control.key])
        return tuple(pairs)


def command(plan: Scenario | Checked, seed: int) -> str:
    """Return the command that repeats a run of one seed.

    >>> from aqmlab.scenario.file import Scenario
    >>> print(command(Scenario.load(BUILT_IN, overrides={"flow.tcp.count": 5}), 3))
    aqmlab run lab:dumbbell.toml --seeds 3-3 --set flow.tcp.count=5
    """
    seeds = "1" if seed == 1 else f"{seed}-{seed}"
    last = dict(reversed(plan.overrides))  # of several values of a key the last one, in its place
    words = [word for key, value in reversed(last.items()) for word in ("--set", f"{key}={value}")]
    return " ".join(map(shell_word, ["aqmlab", "run", plan.filename, "--seeds", seeds, *words]))


def _run_controls(plan: Scenario) -> tuple[Control, ...]:
    seconds = min(plan.duration_s, LONGEST_S)
    return (
        Control(
            key="seconds",
            label="Simulated time",
            group="Run",
            kind="number",
            value=seconds,
            low=1.0,
            high=max(120.0, seconds),
            least=0.1,
            most=LONGEST_S,
            log=True,
            unit="s",
            doc="a run that would take too long is cut to what fits",
        ),
        Control(
            "seed",
            "Seed",
            "Run",
            "number",
            float(plan.seeds[0]),
            low=1.0,
            high=50.0,
            least=0.0,
            most=float(MOST_SEED),
            step=1.0,
            doc="of the random numbers of a run",
        ),
    )


def _default_link(plan: Scenario) -> str:
    names = [link.name for link in plan.links]
    if "bottleneck" in names:
        return "bottleneck"
    managed = [link.name for link in plan.links if link.aqm != "drop-tail"] or names
    return managed[0] if len(managed) == 1 else busiest(plan, managed)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]
