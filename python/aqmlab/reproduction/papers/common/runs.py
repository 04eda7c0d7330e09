"""Which runs a reproduction needs, and what is read off them: a table with a row per run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import pandas as pd

from aqmlab import _core
from aqmlab.errors import StorageError
from aqmlab.execution.pool import Work
from aqmlab.execution.runner import jobs_for
from aqmlab.scenario.file import Scenario
from aqmlab.storage import folders

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
    """Jobs whose results lie in one folder, and the text that says what they run."""

    folder: Path
    jobs: Sequence[Work[object]]
    text: str
    name: str

    def prepare(self) -> None:
        """Make the folder ready."""
        folders.prepare(self.folder, scenario=self.text, name=self.name)


class Runs(Protocol):
    """One point of a reproduction, run over its seeds: a `Setup` or a `Computation`."""

    @property
    def key(self) -> Mapping[str, str | float]:
        """What tells it from the others: the first columns of the table of runs."""

    @property
    def seeds(self) -> int:
        """Its seeds are 1 to this."""

    @property
    def reading(self) -> str:
        """`BASE`, or the label of another reading."""

    def batch(self, root: Path) -> Batch:
        """Return its jobs."""

    def run_folder(self, root: Path, seed: int) -> Path:
        """Where the result of one seed is."""


@dataclass(frozen=True)
class Setup:
    """One scenario of a reproduction, run over its seeds.

    Attributes
    ----------
    key
        What tells it from the others, for example ``{"case": "sole", "n": 5, "discipline": "RED"}``.
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

    def folder(self, root: Path) -> Path:
        """Where its runs are."""
        return root / "runs" / self.plan.label

    def run_folder(self, root: Path, seed: int) -> Path:
        """Where the result of one seed is."""
        return folders.seed_folder(self.folder(root), seed)

    def batch(self, root: Path) -> Batch:
        """Return its jobs."""
        folder = self.folder(root)
        jobs = jobs_for(self.plan, range(1, self.seeds + 1), folder=folder, tables=self.tables)
        return Batch(folder, jobs, self.plan.normalized, "scenario.toml")


@dataclass(frozen=True)
class Task:
    """One run that is no scenario: a function of plain data, whose answer is kept as JSON.

    Attributes
    ----------
    function
        A function of a module (it must be picklable) that takes `arguments` as keywords and returns plain data.
    arguments
        Plain data, as JSON knows it; the seed is among them.
    folder
        Where the answer goes.
    cost
        About how long it takes, in seconds of one core.
    """

    RECORD: ClassVar[str] = "answer.json"

    function: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any]
    folder: Path
    cost: float = 1.0

    @property
    def record(self) -> dict[str, Any]:
        """What the answer is a function of."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        return {"function": name, "arguments": dict(self.arguments), "version": _core.version()}

    def is_done(self) -> bool:
        """Whether the answer is on disk."""
        try:
            found = folders.read_json(self.folder / self.RECORD)
        except StorageError:
            return False
        record: dict[str, Any] = json.loads(folders.to_json(self.record))
        return record == {key: found.get(key) for key in record}

    def perform(self, progress: Callable[[float], None]) -> None:
        """Do it and write the answer."""
        answer = self.function(**self.arguments)
        folders.guarded(self.folder, lambda: self.folder.mkdir(parents=True, exist_ok=True))
        folders.save(self.folder / self.RECORD, folders.to_json({**self.record, "answer": dict(answer)}))


@dataclass(frozen=True)
class Computation:
    """A function of plain data and a seed, run over its seeds; the counterpart of a `Setup` where there is no scenario.

    Attributes
    ----------
    key, seeds, reading
        As in `Setup`.
    function, arguments
        As in `Task`; the argument ``seed`` is added.
    cost
        About how long one seed takes, in seconds of one core.
    by_chance
        Whether the function takes a seed; the solution of an equation has none, and is found once.
    """

    key: Mapping[str, str | float]
    function: Callable[..., Mapping[str, Any]]
    arguments: Mapping[str, Any]
    seeds: int = 1
    reading: str = BASE
    cost: float = 1.0
    by_chance: bool = True

    def folder(self, root: Path) -> Path:
        """Where its answers are."""
        return root / "runs" / f"{self.function.__name__}-{hashlib.sha256(self._text.encode()).hexdigest()[:8]}"

    def run_folder(self, root: Path, seed: int) -> Path:
        """Where the answer of one seed is."""
        return self.folder(root) / f"answer-{seed:04d}"

    def batch(self, root: Path) -> Batch:
        """Return its tasks."""
        jobs = [
            Task(self.function, self._arguments(seed), self.run_folder(root, seed), self.cost)
            for seed in range(1, self.seeds + 1)
        ]
        return Batch(self.folder(root), jobs, self._text, "computation.json")

    def _arguments(self, seed: int) -> dict[str, Any]:
        return {**self.arguments, "seed": seed} if self.by_chance else dict(self.arguments)

    @property
    def _text(self) -> str:
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        return folders.to_json({"function": name, "arguments": dict(self.arguments)})


def batches(points: Iterable[Runs], root: Path) -> list[Batch]:
    """Return the jobs of many points; two that mean the same runs are run once, over the larger number of seeds."""
    found: dict[Path, Batch] = {}
    for point in points:
        batch = point.batch(root)
        if batch.folder not in found or len(found[batch.folder].jobs) < len(batch.jobs):
            found[batch.folder] = batch
    return list(found.values())


def answer(folder: Path) -> dict[str, Any]:
    """Read the answer of one `Task`."""
    found: dict[str, Any] = folders.read_json(folder / Task.RECORD)["answer"]
    return found


def measure(points: Iterable[Runs], root: Path, read: Callable[[Any, Path], Mapping[str, Any]]) -> pd.DataFrame:
    """Read all runs of a reproduction into one table.

    Parameters
    ----------
    points
        What was run.
    root
        The folder of the reproduction.
    read
        Gives the numbers of one run: called with the point and the folder of one seed.

    Returns
    -------
    DataFrame
        A row per run: the columns of its key, ``reading``, ``seed``, and the numbers.
    """
    rows = []
    for point in points:
        for seed in range(1, point.seeds + 1):
            numbers = read(point, point.run_folder(root, seed))
            rows.append({**point.key, "reading": point.reading, "seed": seed, **numbers})
    return pd.DataFrame(rows)


def chosen(runs: pd.DataFrame, *, reading: str = BASE) -> pd.DataFrame:
    """Return the runs of one reading."""
    return runs[runs["reading"] == reading]


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
