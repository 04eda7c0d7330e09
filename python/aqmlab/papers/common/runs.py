"""Runs that a reproduction needs, and their measurements: a table with a row per run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pandas as pd

from aqmlab.errors import Error, InputError, unknown
from aqmlab.results import folders
from aqmlab.results.tables import TABLES
from aqmlab.runs.jobs import Call, Job, called, jobs_for
from aqmlab.runs.store.index import store_root
from aqmlab.runs.store.store import ResultStore, SeedFolder
from aqmlab.scenario.file import Scenario

ALLOWED = "a finite number, or NaN where a run has none"
"""The numbers of a quantity."""
BASE = "base"
"""Name of the reading that was chosen."""


@dataclass(frozen=True)
class Effort:
    """How much to run. A paper derives its own, with further numbers, and with defaults for the full version.

    Attributes
    ----------
    seeds
        Seeds of the reading that was chosen.
    reading_seeds
        Seeds of every other reading.
    quick
        Whether this is the quick version, which tries only the readings marked ``quick``.
    """

    seeds: int
    reading_seeds: int
    quick: bool = False

    QUICK: ClassVar[Mapping[str, Any]] = {}
    """Values of the quick version in place of the full one's defaults."""

    @classmethod
    def of(cls, *, quick: bool, seeds: int | None = None) -> Self:
        """Return the quick effort or the full one. No number of seeds is above `seeds`, if that is given."""
        own: dict[str, Any] = {f.name: f.default for f in fields(cls)} | (dict(cls.QUICK) if quick else {})
        count = seeds or own["seeds"]
        most = {name: min(count, value) for name, value in own.items() if name.endswith("_seeds")}
        return cls(**{**own, **most, "seeds": count, "quick": quick})

    def to_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        return cls(**fields)


@dataclass(frozen=True)
class Batch:
    """The jobs of one point.

    Attributes
    ----------
    of
        Identifies the runs: points with the same value mean the same runs.
    jobs
        A job for each seed.
    folder, text
        The folder of the runs and the text of their scenario; None and "" if they have no folder.
    """

    of: tuple[str, ...]
    jobs: Sequence[Job]
    folder: Path | None = None
    text: str = ""

    def with_engine(self, engine: str) -> Batch:
        """Return the same jobs, evaluated by another engine."""
        return replace(self, jobs=[job.with_engine(engine) for job in self.jobs])

    def prepare(self) -> None:
        """Make the folder ready, if there is one."""
        if self.folder is not None:
            folders.prepare(self.folder, scenario=self.text)


class Point(Protocol):
    """One point of a reproduction, run over its seeds: a `Setup` or a `Computation`."""

    @property
    def key(self) -> Mapping[str, str | float]:
        """Its identifying values: the first columns of the table of runs."""

    @property
    def seeds(self) -> int:
        """Its seeds are 1 to this."""

    @property
    def reading(self) -> str:
        """`BASE`, or the label of another reading."""

    def batch(self, root: Path, answers: ResultStore) -> Batch:
        """Return its jobs. `root` is the folder of the reproduction, `answers` those of the store it belongs to."""

    def read(self, root: Path, answers: ResultStore) -> Sequence[Any]:
        """Return the result of each seed: the folder of the run, or the answer of the computation."""


@dataclass(frozen=True)
class Setup:
    """One scenario of a reproduction, run over its seeds.

    Attributes
    ----------
    key
        Its identifying values, for example ``{"case": "sole", "n": 5, "discipline": "RED"}``.
    plan
        The scenario.
    seeds
        Its seeds are 1 to this.
    reading
        `BASE`, or the label of another reading.
    tables
        The tables to keep; None keeps all.
    """

    key: Mapping[str, str | float]
    plan: Scenario
    seeds: int
    reading: str = BASE
    tables: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Raise if a table to keep is unknown."""
        for name in self.tables or ():
            if name not in TABLES:
                raise InputError(unknown("table", name, list(TABLES)))

    def folder(self, root: Path) -> Path:
        """Where its runs are."""
        return root / "runs" / self.plan.label

    def run_folder(self, root: Path, seed: int) -> Path:
        """Where the result of one seed is."""
        return folders.seed_folder(self.folder(root), seed)

    def batch(self, root: Path, answers: ResultStore) -> Batch:
        """Return its jobs."""
        folder = self.folder(root)
        jobs = jobs_for(self.plan, range(1, self.seeds + 1), folder=folder, tables=self.tables)
        return Batch((str(folder),), jobs, folder, self.plan.normalized)

    def read(self, root: Path, answers: ResultStore) -> list[Path]:
        """Return the folders of all seeds, in order."""
        return [self.run_folder(root, seed) for seed in range(1, self.seeds + 1)]


@dataclass(frozen=True)
class Computation:
    """A function of plain data and a seed, run over its seeds; the counterpart of a `Setup` where there is no scenario.

    Attributes
    ----------
    key, seeds, reading
        As in `Setup`.
    name
        The stable name of the computation, a part of the keys of its runs: no other computation has it, and it
        changes when the function computes something else.
    function, arguments
        As in `aqmlab.runs.jobs.Call`; the argument ``seed`` is added.
    cost
        About how long one seed takes, in seconds of one core.
    by_chance
        Whether the function takes a seed; the solution of an equation has none, and is found once.
    """

    key: Mapping[str, str | float]
    name: str
    function: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any]
    seeds: int = 1
    reading: str = BASE
    cost: float = 1.0
    by_chance: bool = True

    def batch(self, root: Path, answers: ResultStore) -> Batch:
        """Return its jobs."""
        jobs = self._jobs(answers)
        return Batch((self.name, jobs[0].key.scenario), jobs)

    def read(self, root: Path, answers: ResultStore) -> list[dict[str, Any]]:
        """Return the answers of all seeds, in order."""
        return [answers.get(job.key) for job in self._jobs(answers)]

    def _jobs(self, answers: ResultStore) -> list[Job]:
        call = Call(self.function, self.arguments, self.by_chance)
        return called(self.name, call, range(1, self.seeds + 1), store=answers, cost=self.cost)


def batches(points: Iterable[Point], root: Path) -> list[Batch]:
    """Return the jobs of many points; two that mean the same runs are run once, over the larger number of seeds."""
    answers = answers_of(root)
    found: dict[tuple[str, ...], Batch] = {}
    for point in points:
        batch = point.batch(root, answers)
        if batch.of not in found or len(found[batch.of].jobs) < len(batch.jobs):
            found[batch.of] = batch
    return list(found.values())


def answers_of(root: Path) -> ResultStore:
    """Return the answers of the store that a reproduction's folder belongs to."""
    return ResultStore(store_root(root), create=True)


def measure(points: Iterable[Point], root: Path, read: Callable[[Any, Any], Mapping[str, Any]]) -> pd.DataFrame:
    """Read all runs of a reproduction into one table.

    Parameters
    ----------
    points
        The points that were run.
    root
        The folder of the reproduction.
    read
        Gives the numbers of one run: called with the point and what its `Point.read` returns for one seed, which is
        the folder of a run, or the answer of a computation.

    Returns
    -------
    DataFrame
        A row per run: the columns of its key, ``reading``, ``seed``, and the numbers.
    """
    answers, rows = answers_of(root), []
    for point in points:
        for seed, run in enumerate(point.read(root, answers), 1):
            rows.append(_row(point, seed, read(point, run)))
    return pd.DataFrame(rows)


def _row(point: Point, seed: int, numbers: Mapping[str, Any]) -> dict[str, Any]:
    given: object = numbers  # a paper's own function may return anything
    if not isinstance(given, Mapping):
        raise InputError(f"measure: returned {type(given).__name__}, not numbers by name")
    return {**point.key, "reading": point.reading, "seed": seed, **numbers}


def _check_finite(row: Mapping[str, Any], point: Point) -> None:
    """Raise if a number measured in a run is infinite; a calculated one may be."""
    for name, value in row.items():
        if isinstance(value, float | np.floating) and np.isinf(value):
            at = "".join(f"{key} = {own}, " for key, own in point.key.items())
            raise InputError(f"measure: {name} is infinite in the run {at}seed {row['seed']} (allowed: {ALLOWED})")


class Reader:
    """Reads the runs of scenarios, each once: when it is finished, while others are computed, or for the table.

    Parameters
    ----------
    points
        The scenarios that are run.
    root
        The folder of the reproduction.
    read
        Gives the numbers of one run: called with the point and the run's folder.
    """

    def __init__(self, points: Sequence[Setup], root: Path, read: Callable[[Setup, Path], Mapping[str, float]]) -> None:
        self.points, self._root, self._read = points, root, read
        self._known: dict[tuple[int, int], Mapping[str, float]] = {}

    def finished(self, job: Job) -> None:
        """Read the run of a job."""
        if isinstance(job.store, SeedFolder):
            for number, seed in self._places.get(job.store.path, ()):
                with contextlib.suppress(Error):  # `table` reports the error
                    self._numbers(number, seed)

    def table(self) -> pd.DataFrame:
        """Return a table as `measure` does."""
        rows = [
            _row(point, seed, self._numbers(number, seed))
            for number, point in enumerate(self.points)
            for seed in range(1, point.seeds + 1)
        ]
        for row, point in zip(rows, (one for one in self.points for _ in range(one.seeds)), strict=True):
            _check_finite(row, point)
        return pd.DataFrame(rows)

    def _numbers(self, number: int, seed: int) -> Mapping[str, float]:
        if (number, seed) not in self._known:
            point = self.points[number]
            self._known[number, seed] = self._read(point, point.run_folder(self._root, seed))
        return self._known[number, seed]

    @cached_property
    def _places(self) -> Mapping[Path, Sequence[tuple[int, int]]]:
        """The folder of each run to its points, by number, and seed; two points may mean the same runs."""
        found: dict[Path, list[tuple[int, int]]] = {}
        for number, point in enumerate(self.points):
            for seed in range(1, point.seeds + 1):
                found.setdefault(point.run_folder(self._root, seed), []).append((number, seed))
        return found


def chosen(runs: pd.DataFrame, *, reading: str = BASE) -> pd.DataFrame:
    """Return the runs of one reading."""
    return runs[runs["reading"] == reading]


def seeds_words(seeds: tuple[int, int]) -> str:
    """Write the fewest and the most seeds of a point.

    >>> seeds_words((4, 11)), seeds_words((8, 8))
    ('4 to 11', '8')
    """
    fewest, most = seeds
    return f"{most}" if fewest == most else f"{fewest} to {most}"


def values(runs: pd.DataFrame, quantity: str, **where: str | float) -> np.ndarray:
    """Return one quantity of one point, by seed.

    >>> runs = pd.DataFrame({"n": [5, 5, 9], "seed": [2, 1, 1], "loss": [0.2, 0.1, 0.3]})
    >>> values(runs, "loss", n=5).tolist()
    [0.1, 0.2]
    """
    fits = np.ones(len(runs), dtype=bool)
    for column, value in where.items():
        fits &= runs[column].to_numpy() == value  # plain arrays: pandas' own comparison takes ten times as long
    rows = np.flatnonzero(fits)
    rows = rows[np.argsort(runs["seed"].to_numpy()[rows])]
    found: np.ndarray = runs[quantity].to_numpy(dtype=float)[rows]
    return found


def pick(points: Iterable[Any], *, reading: str = BASE, **where: str | float) -> list[Any]:
    """Return the points of a reading whose key has these values."""
    return [p for p in points if p.reading == reading and all(p.key.get(k) == v for k, v in where.items())]
