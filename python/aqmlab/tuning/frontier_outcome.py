"""The frontier that was found: its members, other disciplines with their places, a table and a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aqmlab import _core
from aqmlab.errors import counted, joined
from aqmlab.figures.chart import Chart, Mode, Series
from aqmlab.results.displays import OneLine
from aqmlab.scenario.toml_text import inline
from aqmlab.tuning.frontier_places import BEHIND, BEYOND, UNDECIDED, Placed
from aqmlab.tuning.goals import Goal, shown
from aqmlab.tuning.measurements import Body

Named = tuple[str, str, Body]
"""A discipline, a name for people, and the queue's table."""


@dataclass(frozen=True)
class Settings:
    """Settings with their goals on the seeds of the search.

    Attributes
    ----------
    aqm, name
        The discipline, and a name for people: parts of RED, or the discipline.
    body
        The queue's table.
    goals
        The mean of each goal, in its metric's unit.
    """

    aqm: str
    name: str
    body: Body
    goals: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Frontier(OneLine):
    """The frontier of the RED family in a scenario.

    Attributes
    ----------
    name, hash
        Of the scenario.
    goals
        Both goals.
    tried
        All settings of the family that were tried.
    members
        Members of the frontier on fresh seeds, by the first goal.
    others
        The other disciplines on fresh seeds, each with its place.
    points, fresh_points
        Names of the points of the search, and of new points for the fresh seeds.
    seeds
        Seeds of the search, and fresh seeds.
    search
        Arguments of the search: quantile over the points, ranges, trials, seed.
    folder
        Where the answer is, if it is on disk.
    """

    name: str
    hash: str
    goals: tuple[Goal, Goal]
    tried: list[Settings]
    members: list[Placed]
    others: list[Placed]
    points: list[str]
    fresh_points: list[str]
    seeds: tuple[int, int]
    search: dict[str, Any]
    folder: Path | None = field(default=None, compare=False)

    @property
    def answer(self) -> str:
        """The places of the other disciplines in words."""
        words = {BEYOND: "Beyond", BEHIND: "Behind", UNDECIDED: "Not distinguishable from"}
        parts, whole = [], "the frontier of the RED family"
        for place, text in words.items():
            names = [one.name for one in self.others if one.place == place]
            if names:
                parts.append(f"{text} {whole}: {joined(names)}.")
                whole = "it"
        return " ".join(parts)

    def table(self) -> pd.DataFrame:
        """Return a row for each member and each other discipline: both goals, and the place."""
        rows = []
        for number, one in enumerate((*self.members, *self.others), 1):
            row = {"settings": one.name if one.place else f"{number} {one.name}"}
            for goal, found in zip(self.goals, one.goals, strict=True):
                row[goal.metric.label] = shown(goal.metric, found)
            row["place"] = f"{BEHIND} {one.by}" if one.place == BEHIND else one.place
            rows.append(row)
        return pd.DataFrame(rows)

    def csv(self) -> str:
        """Return a row for each member and each other discipline: goals with intervals, and the place."""
        rows = []
        for one in (*self.members, *self.others):
            row: dict[str, Any] = {"aqm": one.aqm, "settings": one.name, "queue": inline(one.body)}
            for goal, found in zip(self.goals, one.goals, strict=True):
                key = goal.metric.key
                row |= {key: found.mean, f"{key}_low": found.low, f"{key}_high": found.high, f"{key}_n": found.n}
            rows.append({**row, "place": one.place or "member", "by": one.by or "", "p": one.p if one.place else ""})
        return pd.DataFrame(rows).to_csv(index=False)

    def evidence_table(self) -> pd.DataFrame:
        """Return a row for each other discipline: place, number of the member ahead or 0, corrected p."""
        return pd.DataFrame([{"aqm": one.aqm, "place": one.place, "by": one.by, "p": one.p} for one in self.others])

    def chart(self) -> Chart:
        """Return the figure: the first goal against the second of all settings, the frontier, other disciplines."""
        first, second = (goal.metric for goal in self.goals)
        usable = [one for one in self.tried if np.isfinite(one.goals).all()]
        series = [
            Series(
                "RED family, tried",
                [second.scale * one.goals[1] for one in usable],
                [first.scale * one.goals[0] for one in usable],
                mode="points",
                color=5,
            ),
            _series("frontier, fresh seeds", self.goals, self.members, color=0, mode="line"),
            *(_series(one.name, self.goals, [one], mode="points", aqm=one.aqm) for one in self.others),
        ]
        text = (
            f"{first.title} against {second.in_sentence}: {counted(len(usable), 'setting')} of the RED family, "
            f"their frontier, and {joined([one.name for one in self.others])} on fresh seeds."
        )
        return Chart("frontier", f"RED family: {self.name}", text, second.label, first.label, series)

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; the same for the same scenario, arguments and version."""
        return {
            "version": _core.version(),
            "scenario": {"name": self.name, "hash": self.hash},
            "goals": [goal.words for goal in self.goals],
            "seeds": dict(zip(("search", "fresh"), self.seeds, strict=True)),
            "search": self.search,
            "answer": self.answer,
            "points": self.points,
            "fresh_points": self.fresh_points,
            "members": [_data(one) for one in self.members],
            "others": [_data(one) for one in self.others],
            "tried": [{"name": one.name, "settings": one.body, "goals": list(one.goals)} for one in self.tried],
        }


def _series(
    name: str, goals: tuple[Goal, Goal], placed: Sequence[Placed], *, mode: Mode, color: int = 0, aqm: str = ""
) -> Series:
    first, second = (goal.metric.scale for goal in goals)
    return Series(
        name,
        [second * one.goals[1].mean for one in placed],
        [first * one.goals[0].mean for one in placed],
        low=[first * one.goals[0].low for one in placed],
        high=[first * one.goals[0].high for one in placed],
        mode=mode,
        color=color,
        discipline=aqm,
    )


def _data(one: Placed) -> dict[str, Any]:
    return {
        "aqm": one.aqm,
        "name": one.name,
        "settings": dict(one.body),
        "goals": [{"mean": found.mean, "low": found.low, "high": found.high, "n": found.n} for found in one.goals],
        "place": one.place,
        "by": one.by,
        "p": one.p,
    }
