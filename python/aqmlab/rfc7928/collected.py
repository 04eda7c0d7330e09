"""Measurements of the runs of a suite, by scenario, discipline, phase and group of flows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab.results.quantities import SHARE, quantity
from aqmlab.rfc7928.case import Case
from aqmlab.rfc7928.settings import Settings
from aqmlab.scenario.file import Scenario
from aqmlab.statistics import Interval, mean_interval
from aqmlab.statistics.intervals import Bounds

BOUNDS: dict[str, Bounds] = {
    **dict.fromkeys(("loss", "marks", "synchronization", "unplayed_there", "unplayed_back"), SHARE),
    **dict.fromkeys(("mos_there", "mos_back"), quantity("mos").bounds),
}
"""Bounds of a measured number, by the last part of its name; any other is at least 0."""


def mean_of(values: np.ndarray | list[float], name: str = "") -> Interval:
    """Return the mean of the runs that have a number, with its 95 % interval clipped to the number's bounds.

    Parameters
    ----------
    values
        A number of each run; NaN where it lacks.
    name
        The number's last name, a key of `BOUNDS`; default: any number of at least 0.

    >>> found = mean_of([0.0, 0.1, 0.3], "loss")
    >>> found.low, round(found.high, 2)
    (0.0, 0.51)
    """
    return mean_interval(values, bounds=BOUNDS.get(name, (0.0, math.inf)))[0]


@dataclass(frozen=True)
class Measured:
    """One scenario of one discipline with the measurements of its runs, by seed."""

    case: Case
    plan: Scenario
    answers: Sequence[Mapping[str, Any]]

    def values(self, *path: str, phase: str | None = None) -> np.ndarray:
        """Return one number of each run, by where it stands: ``("groups", "long", "delay_ms")``; nan where it lacks."""
        return np.array(
            [_number(answer if phase is None else answer["phases"][phase], path) for answer in self.answers]
        )

    def mean(self, *path: str, phase: str | None = None) -> Interval:
        """Return its mean with the interval that suits its runs (`mean_of`)."""
        return mean_of(self.values(*path, phase=phase), path[-1])

    def lists(self, *path: str) -> list[float]:
        """Return the numbers of all runs where each has a list."""
        found: list[float] = []
        for answer in self.answers:
            part: Any = answer
            for key in path:
                part = part.get(key, {})
            found += [float(value) for value in part]
        return found

    def counts(self, *path: str) -> list[list[int]]:
        """Return a histogram of each run."""
        return [answer[path[0]][path[1]] for answer in self.answers if path[1] in answer[path[0]]]

    def course(self, quantity: str, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the time since time 0 and the mean over the runs of something in its course."""
        times = np.array(self.answers[0]["course"]["t_s"]) - self.case.begin_s
        rows = [answer["course"][quantity][name] for answer in self.answers if name in answer["course"][quantity]]
        return times, np.mean(np.array(rows, dtype=float), axis=0) if rows else np.full(len(times), np.nan)

    def total_goodput(self, phase: str | None = None) -> np.ndarray:
        """Return the goodput of all groups that go from A to B together, by run, in Mb/s."""
        forward = [group.name for group in self.case.groups if group.forward]
        found: np.ndarray = np.nansum(
            [self.values("groups", name, "goodput_mbps", phase=phase) for name in forward], axis=0
        )
        return found

    @property
    def cumulates(self) -> bool:
        """Return whether several groups go from A to B, so that their goodput is to be cumulated."""
        return sum(group.forward for group in self.case.groups) > 1

    def first_link(self) -> str:
        """Return the name of the link with the discipline in question."""
        return next(iter(self.case.rates_bps))


@dataclass(frozen=True)
class Collected:
    """Everything that a suite measured.

    Attributes
    ----------
    entries
        All scenarios of all disciplines, in the order of the suite.
    disciplines
        The disciplines, drop-tail first.
    """

    entries: Sequence[Measured]
    disciplines: Sequence[Settings]

    @property
    def names(self) -> list[str]:
        """Return the disciplines' names."""
        return [one.name for one in self.disciplines]

    @property
    def sections(self) -> list[str]:
        """Return the sections of which something ran."""
        return list(dict.fromkeys(entry.case.section for entry in self.entries))

    def scenarios(self, section: str) -> list[dict[str, Measured]]:
        """Return a section's scenarios in order, each by discipline; subsections count."""
        found: dict[str, dict[str, Measured]] = {}
        for entry in self.entries:
            if entry.case.section == section or entry.case.section.startswith(f"{section}."):
                found.setdefault(entry.case.name, {})[entry.case.settings.name] = entry
        return list(found.values())


def _number(part: Any, path: Sequence[str]) -> float:  # noqa: ANN401 - JSON
    for key in path:
        if not isinstance(part, Mapping) or key not in part:
            return math.nan
        part = part[key]
    return math.nan if part is None else float(part)
