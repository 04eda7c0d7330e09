"""Which runs the reproduction needs: the base reading in full, every other reading alone beside it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from aqmlab.pool import Job
from aqmlab.runner import jobs_for
from aqmlab.scenario import Scenario
from aqmlab.toml_text import Value

CASES = {"sole": "TCP alone", "mixed": "TCP and UDP"}
FLOWS = (5, 10, 20, 30, 40, 50)
DISCIPLINES = {"RED": "red", "gentle RED": "gentle-red", "MRED": "mred"}
FIGURE_N = 40
"""The number of flows of Figures 6 and 7."""
BASE = "base"
"""Name of the reading that was chosen."""
COARSE_SAMPLES = "100ms"
"""Interval of the queue samples where no figure needs them finer."""


@dataclass(frozen=True)
class Effort:
    """How much to run.

    Attributes
    ----------
    seeds
        Seeds of the base reading.
    reading_seeds
        Seeds of every other reading.
    reading_flows
        Numbers of flows at which the other readings are run.
    quick
        Only the readings marked ``quick``.
    """

    seeds: int = 50
    reading_seeds: int = 10
    reading_flows: tuple[int, ...] = FLOWS
    quick: bool = False

    @classmethod
    def of(cls, *, quick: bool, seeds: int | None = None) -> Effort:
        """Return the quick effort (under a minute on two cores) or the full one."""
        if quick:
            return cls(seeds=seeds or 8, reading_seeds=min(seeds or 8, 3), reading_flows=(10, 30), quick=True)
        count = seeds or cls.seeds
        return cls(seeds=count, reading_seeds=min(count, cls.reading_seeds))

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "seeds": self.seeds,
            "reading_seeds": self.reading_seeds,
            "reading_flows": list(self.reading_flows),
            "quick": self.quick,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Effort:
        """Read what `to_json` wrote."""
        return cls(
            seeds=int(data["seeds"]),
            reading_seeds=int(data["reading_seeds"]),
            reading_flows=tuple(data["reading_flows"]),
            quick=bool(data["quick"]),
        )


@dataclass(frozen=True)
class Reading:
    """One answer to one thing the paper leaves open."""

    key: str
    question: str
    chosen: str
    why: str
    name: str
    overrides: dict[str, Value] = field(default_factory=dict)
    baseline: str = "RED"
    quick: bool = False

    @property
    def label(self) -> str:
        """Name of the reading in tables."""
        return f"{self.question}: {self.name}"

    @property
    def needs_runs(self) -> bool:
        """Whether it changes the scenario; another baseline does not."""
        return bool(self.overrides)


@dataclass(frozen=True)
class Setup:
    """One scenario of the reproduction."""

    case: str
    n: int
    discipline: str
    reading: str
    plan: Scenario
    seeds: int

    def folder(self, root: Path) -> Path:
        """Where its runs are."""
        return root / "runs" / self.plan.label

    @property
    def tables(self) -> tuple[str, ...]:
        """Tables worth keeping: the samples of the average are needed for the base reading only."""
        return ("links", "queue_samples") if self.reading == BASE else ("links",)


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    found = []
    for entry in _data("readings.toml")["reading"]:
        for other in entry["other"]:
            found.append(
                Reading(
                    key=entry["key"],
                    question=entry["question"],
                    chosen=entry["chosen"],
                    why=entry["why"],
                    name=other["name"],
                    overrides=other["set"],
                    baseline=other.get("baseline", "RED"),
                    quick=other.get("quick", False),
                )
            )
    return [reading for reading in found if reading.quick or not effort.quick]


def setups(effort: Effort) -> list[Setup]:
    """List every scenario that is needed."""
    found = []
    for case in CASES:
        for n in FLOWS:
            found += [setup(case, n, d, seeds=effort.seeds) for d in DISCIPLINES]
        for reading in readings(effort):
            if not reading.needs_runs:
                continue
            for n in effort.reading_flows:
                found += [setup(case, n, d, seeds=effort.reading_seeds, reading=reading) for d in ("RED", "MRED")]
    return found


def setup(case: str, n: int, discipline: str, *, seeds: int, reading: Reading | None = None) -> Setup:
    """Make one scenario."""
    overrides: dict[str, Value] = {
        "flow.tcp.count": n,
        "queue.bottleneck.aqm": DISCIPLINES[discipline],
    }
    if n != FIGURE_N:
        overrides["probe.queue_interval"] = COARSE_SAMPLES
    if reading is not None:
        overrides |= reading.overrides
    name = BASE if reading is None else reading.label
    plan = Scenario.from_text(scenario_text(case), filename=f"paper:mred/{case}.toml", overrides=overrides)
    return Setup(case, n, discipline, name, plan, seeds)


def jobs(effort: Effort, root: Path) -> list[tuple[Setup, list[Job]]]:
    """List every run that is needed, by scenario."""
    return [
        (one, jobs_for(one.plan, range(1, one.seeds + 1), folder=one.folder(root), tables=one.tables))
        for one in setups(effort)
    ]


def scenario_text(case: str) -> str:
    """Return the scenario file of a case, ``sole`` or ``mixed``."""
    return resource(f"{case}.toml")


def claims() -> list[dict[str, str]]:
    """Return the paper's claims: id, title, what the paper says, test."""
    entries: list[dict[str, str]] = _data("claims.toml")["claim"]
    return entries


def resource(name: str) -> str:
    """Return a file of this paper's folder as text."""
    return resources.files("aqmlab.papers.mred").joinpath(name).read_text(encoding="utf-8")


@cache
def _data(name: str) -> dict[str, Any]:
    return tomllib.loads(resource(name))
