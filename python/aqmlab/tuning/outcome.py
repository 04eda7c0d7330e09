"""The answer of a tuning: settings, what fresh seeds say of them, the Pareto front, and texts for other systems."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab import _core
from aqmlab.errors import counted
from aqmlab.results.displays import OneLine
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import DROP_TAIL
from aqmlab.scenario.toml_text import entries
from aqmlab.statistics import LEVEL, Interval, Verdict, runs_needed
from aqmlab.tuning.goals import shown
from aqmlab.tuning.measurements import Bench, Body
from aqmlab.tuning.ranges import Point
from aqmlab.tuning.search import Task, Trial, front
from aqmlab.tuning.starts import TUNED
from aqmlab.tuning.verification import Against, Confirmed

if TYPE_CHECKING:
    from aqmlab.figures.chart import Chart


@dataclass(frozen=True)
class Rerun:
    """Further runs of a tuning.

    Attributes
    ----------
    bench
        The object that runs settings at points.
    search, points
        The points of the search, and of the confirmation.
    looks
        The numbers of fresh seeds that a confirmation may have.
    again
        A function that returns the answer, confirmed on at least so many fresh seeds.
    """

    bench: Bench
    search: list[Point]
    points: list[Point]
    looks: list[int]
    again: Callable[[int], Tuned]


@dataclass(frozen=True, repr=False)
class Tuned(OneLine):
    """Settings that hold over a range, with all that is known of them.

    Attributes
    ----------
    name, hash
        Of the scenario.
    queue, link, aqm
        The queue that was tuned, the link that was measured, the discipline.
    task
        Goal, bounds, and the quantile over the points.
    body
        The queue's table.
    confirmed
        The settings on fresh seeds.
    against
        The settings against each reference, on the same seeds.
    trials
        Everything that was tried, in order.
    points, fresh_points
        Names of the points of the search, and of those that only the confirmation has seen.
    seeds
        Seeds of a trial, of the choice among the best, and of the confirmation.
    tuned
        The scenario with the settings.
    notes
        Requests that could not be met, and remarks on how the settings were found.
    warnings
        Bounds that no trial keeps, and work that the time budget left out.
    dialects
        The settings as text for other systems.
    folder
        Where the answer is, if it is on disk.
    rerun
        Further runs of the same tuning; None for an answer that was not found here.
    """

    name: str
    hash: str
    queue: str
    link: str
    aqm: str
    task: Task
    body: Body
    confirmed: Confirmed
    against: list[Against]
    trials: list[Trial]
    points: list[str]
    fresh_points: list[str]
    seeds: tuple[int, int, int]
    tuned: Scenario
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    dialects: list[Dialect] = field(default_factory=list)
    folder: Path | None = None
    rerun: Rerun | None = field(default=None, compare=False)

    @property
    def scenario_text(self) -> str:
        """The answer as it stands in a scenario file."""
        return "\n".join([f"[queue.{self.queue}]", *entries(self.body)])

    @property
    def holds(self) -> Verdict:
        """Whether the bounds hold on fresh seeds, at every point."""
        return self.confirmed.verdict

    @property
    def front(self) -> list[Trial]:
        """The Pareto front of the trials: the goal against the first bound's quantity."""
        return front(self.trials, self.task)

    def answer_table(self) -> pd.DataFrame:
        """Return a row for the answer and each reference on fresh seeds, short enough for 80 columns.

        Columns: the settings' name, the goal, each bound with its verdict, and how the answer compares.
        """
        rows, goal = [], self.task.goal.metric
        for one, entry in [(self.confirmed, None), *((entry.reference, entry) for entry in self.against)]:
            row = {"settings": one.name, goal.label: shown(goal, one.goal)}
            row |= {kept.bound.words: kept.bound.judged(kept.verdict, kept.interval.mean) for kept in one.kept}
            row["tuned is"] = "" if entry is None else f"{entry.verdict} ({self._apart(entry)})"
            rows.append(row)
        return pd.DataFrame(rows)

    def why_undecided(self) -> list[str]:
        """Say for each reference against which the answer is undecided why it is."""
        return [
            f"undecided against {entry.reference.name}: {self._why(entry)}"
            for entry in self.against
            if entry.verdict == "undecided"
        ]

    def _why(self, entry: Against) -> str:
        for name, verdict in ((TUNED, self.holds), (entry.reference.name, entry.reference.verdict)):
            if verdict is Verdict.UNDECIDED and self.task.bounds:
                return f"whether {name} keeps the bounds is open"
        if self.holds is Verdict.FAILS and entry.reference.verdict is Verdict.FAILS:
            return "neither keeps the bounds"
        found = entry.compared.difference.interval
        if found.low > 0 or found.high < 0:
            return f"the corrected p is {entry.p:.2g}"
        needed = runs_needed(found, 0.0)
        if not math.isfinite(needed):
            return "the difference is as good as none"
        return f"the interval includes no difference; about {counted(int(needed), 'fresh seed')} would decide"

    def against_drop_tail(self) -> str:
        """Say how the answer compares with drop-tail; "" if it was not compared."""
        for entry in self.against:
            if entry.reference.body.get("aqm", DROP_TAIL) == DROP_TAIL:
                own, other = self.confirmed.goal, entry.reference.goal
                metric = self.task.goal.metric
                values = f"{metric.key} {metric.text(own.mean)} against {metric.text(other.mean)}"
                alone = ", by the objective alone" if self.task.is_felt else ""
                told = f"{values}; difference {self._apart(entry)}, p {entry.p:.2g}"
                return f"Against drop-tail: {self.felt_against(entry)}{alone} ({told})"
        return ""

    def _apart(self, entry: Against) -> str:
        return shown(self.task.goal.metric, entry.compared.difference.interval, signed=True)

    def felt_against(self, entry: Against) -> str:
        """Judge by the goal alone where users feel it, else by the verdict."""
        if not self.task.is_felt:
            return entry.verdict
        if not entry.p < 1 - LEVEL:
            return "undecided"
        return "better" if self.task.goal.sign * entry.compared.difference.interval.mean < 0 else "worse"

    def settings_table(self) -> pd.DataFrame:
        """Return a row for the answer and each reference: the goal and each bound, on fresh seeds."""
        rows, goal = [], self.task.goal.metric
        for one in (self.confirmed, *(entry.reference for entry in self.against)):
            row: dict[str, Any] = {
                "settings": one.name,
                goal.label: str(one.goal.times(goal.scale)),
                f"{goal.title} at": one.point,
            }
            for kept in one.kept:
                metric = kept.bound.metric
                row |= {
                    kept.bound.words: kept.verdict.value,
                    f"{metric.label} there": str(kept.interval.times(metric.scale)),
                    f"{metric.title} at": kept.point,
                }
            rows.append(row)
        return pd.DataFrame(rows)

    def differences_table(self) -> pd.DataFrame:
        """Return a row for each reference: tuned - reference with its interval, of the goal and of each bound."""
        rows = []
        for one in self.against:
            found = one.compared.difference.interval.times(self.task.goal.metric.scale)
            row: dict[str, Any] = {
                "against": one.reference.name,
                "verdict": one.verdict,
                "difference": found.mean,
                "low": found.low,
                "high": found.high,
                "p": one.p,
                "test": one.compared.test,
            }
            for bound, kept in zip(self.task.bounds, one.kept, strict=True):
                apart, title = kept.difference.interval.times(bound.metric.scale), bound.metric.title
                row |= {
                    f"{bound.metric.label}, diff.": apart.mean,
                    f"{title} low": apart.low,
                    f"{title} high": apart.high,
                }
            rows.append(row)
        return pd.DataFrame(rows)

    def front_table(self) -> pd.DataFrame:
        """Return the Pareto front: the goal, the first bound's quantity at its worst point, and the settings."""
        goal, bound = self.task.goal.metric, self.task.bounds[0].metric if self.task.bounds else None
        return pd.DataFrame(
            [
                {
                    "trial": trial.name,
                    goal.label: goal.scale * trial.goal,
                    **({bound.label: bound.scale * trial.kept[0]} if bound is not None else {}),
                    "kept": trial.feasible,
                    "queue": short(trial.body),
                }
                for trial in self.front
            ]
        )

    def chart(self) -> Chart:
        """Return the figure of all trials, the front, the references, the answer, and the bound."""
        from aqmlab.tuning.figures import chart_of

        confirmed = [self.confirmed, *(one.reference for one in self.against)]
        return chart_of(self.queue, self.task, trials=self.trials, front=self.front, confirmed=confirmed)

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; the same for the same scenario, arguments and version."""
        return {
            "version": _core.version(),
            "scenario": {"name": self.name, "hash": self.hash},
            "queue": self.queue,
            "link": self.link,
            "aqm": self.aqm,
            "goal": self.task.goal.words,
            "keep": [bound.plain for bound in self.task.bounds],
            "quantile": self.task.share,
            "settings": dict(self.body),
            "scenario_text": self.scenario_text,
            "bounds": self.holds.value,
            "confirmed": confirmed_data(self.confirmed),
            "against": [
                {
                    "verdict": one.verdict,
                    "p_holm": one.p,
                    "test": one.compared.test,
                    "difference": interval_data(one.compared.difference.interval),
                    "kept": [interval_data(kept.difference.interval) for kept in one.kept],
                    **confirmed_data(one.reference),
                }
                for one in self.against
            ],
            "points": self.points,
            "fresh_points": self.fresh_points,
            "seeds": dict(zip(("trial", "choice", "fresh"), self.seeds, strict=True)),
            "trials": [trial_data(trial) for trial in self.trials],
            "front": [trial.number for trial in self.front],
            "notes": [*self.notes, *self.warnings],
            "dialects": {
                one.name: {"text": one.text, "effective": one.effective, "notes": one.notes} for one in self.dialects
            },
        }


def short(body: Body) -> str:
    """Write the searched parameters on one line.

    >>> short({"aqm": "red", "limit": "100p", "max_p": 0.1}), short({"aqm": "drop-tail", "limit": "30p"})
    ('aqm red, max_p 0.1', 'aqm drop-tail, limit 30p')
    """
    rest = {key: value for key, value in body.items() if key not in ("limit", "mean_packet", "ecn")}
    only = {key: body[key] for key in ("limit",) if key in body and set(rest) <= {"aqm"}}
    return ", ".join(f"{key} {value}" for key, value in {**rest, **only}.items())


def trial_data(trial: Trial) -> dict[str, Any]:
    """Return a trial as plain data."""
    return {
        "number": trial.number,
        "name": trial.name,
        "settings": dict(trial.body),
        "goal": trial.goal,
        "kept": list(trial.kept),
        "violation": trial.violation if math.isfinite(trial.violation) else None,
    }


def interval_data(found: Interval) -> dict[str, float]:
    """Return an interval as plain data."""
    return {"mean": found.mean, "low": found.low, "high": found.high, "sd": found.sd, "n": found.n}


def confirmed_data(one: Confirmed) -> dict[str, Any]:
    """Return settings on fresh seeds as plain data."""
    return {
        "name": one.name,
        "settings": dict(one.body),
        "goal": interval_data(one.goal),
        "goal_worst_at": one.point,
        "bounds": [
            {
                "bound": kept.bound.plain,
                "verdict": kept.verdict.value,
                "worst_at": kept.point,
                "mean": interval_data(kept.interval),
            }
            for kept in one.kept
        ],
    }
