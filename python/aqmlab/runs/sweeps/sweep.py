"""Results of a sweep: a row per run, a row per point, and the tables of any run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from aqmlab.errors import Error, InputError
from aqmlab.results.displays import Shown
from aqmlab.results.evaluation import Evaluation
from aqmlab.results.limits import limits_in
from aqmlab.results.quantities import Limits, in_order, interval_of, quantity
from aqmlab.results.result import Result
from aqmlab.runs.comparison_matrix import Cell
from aqmlab.runs.store.index import StudyRow
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.design import number_and_unit
from aqmlab.statistics.intervals import LEVEL

if TYPE_CHECKING:
    import xarray as xr

POINT, SEED, RUN = "point", "seed", "run"


@dataclass(frozen=True, repr=False)
class Study(Shown):
    """A finished sweep.

    Attributes
    ----------
    name, hash, version
        Its name, the hash of all it says, and the version of its runs.
    keys, units
        The scenario's keys that are swept, and the unit of each; "" for plain numbers and for text.
    seeds
        Seeds of every point.
    runs
        A row a run: ``point``, a column a key, ``seed``, a column a metric at the bottleneck (see
        `aqmlab.results.quantities.QUANTITIES` for units), and the run's name ``run``.
    shape
        Values of every key if the points are all their combinations; else empty.
    folder
        The store.
    evaluation
        How the runs of the call that made this were evaluated; None if it was only loaded.
    warnings
        Warnings about valid but probably mistaken settings.
    """

    name: str
    hash: str
    version: str
    keys: tuple[str, ...]
    units: dict[str, str]
    seeds: tuple[int, ...]
    runs: pd.DataFrame = field(repr=False)
    shape: tuple[tuple[str, ...], ...] = field(repr=False)
    folder: Path
    evaluation: Evaluation | None = field(default=None, compare=False, repr=False)
    warnings: tuple[str, ...] = ()

    @classmethod
    def load(cls, store: str | Path, name: str | None = None) -> Study:
        """Read a sweep from a store.

        Parameters
        ----------
        store
            The store's folder.
        name
            The sweep's name or the beginning of its hash; not needed if there is only one.
        """
        with ResultStore(store) as opened:
            return cls.read(opened, opened.study_row(name))

    @classmethod
    def read(cls, store: ResultStore, row: StudyRow, **how: Any) -> Study:  # noqa: ANN401 - fields of this class
        """Read a sweep from an open store; `how` says how its runs were done just now."""
        found = store.study_runs(row)
        columns, units = _parameters(row.keys, [row.points[number][1] for number, _, _ in found])
        metrics = [store.index.numbers(run.metrics) for _, run, _ in found]
        known = in_order(key for one in metrics for key in one)
        table = {POINT: [number for number, _, _ in found], **columns, SEED: [run.seed for _, run, _ in found]}
        values = {key: np.array([one.get(key) for one in metrics], dtype=float) for key in known}  # NaN for None
        runs = pd.DataFrame({**table, **values, RUN: [run.run for _, run, _ in found]})
        keys, seeds, shape = tuple(row.keys), tuple(row.seeds), tuple(map(tuple, row.shape))
        return cls(row.name, row.study, row.version, keys, units, seeds, runs, shape, store.root, **how)

    @property
    def simulation_s(self) -> float:
        """Time that the runs of the call that made this were in the core, in s; 0 if it was only loaded."""
        return sum(run.core_s for run in self.evaluation.runs) if self.evaluation else 0.0

    @property
    def simulation_cpu_s(self) -> float:
        """Processor time of that, in s."""
        return sum(run.core_cpu_s for run in self.evaluation.runs) if self.evaluation else 0.0

    @property
    def metrics(self) -> list[str]:
        """Keys of the metrics that the runs have."""
        return in_order(self.runs.columns)

    def points(self, *, level: float = LEVEL) -> pd.DataFrame:
        """A row a point: its values, its number of runs, and every metric's mean with its interval.

        The columns of a metric are its key (the mean), and the key with ``_low`` and ``_high``.
        """
        rows = []
        for point, group in self.runs.groupby(POINT, sort=True):
            row: dict[str, Any] = {POINT: point, **{key: group[key].iloc[0] for key in self.keys}, "n": len(group)}
            for key in self.metrics:
                found, _ = interval_of(key, group[key].to_numpy(), level=level, limits=self.limits[point])
                row |= {key: found.mean, f"{key}_low": found.low, f"{key}_high": found.high}
            rows.append(row)
        return pd.DataFrame(rows)

    @property
    def varies(self) -> bool:
        """Whether the seeds of any point give different numbers; True too for points of one run."""
        groups = [own for _, own in self.runs.groupby(POINT) if len(own) > 1]
        return not groups or any((own[self.metrics].nunique(dropna=False) > 1).any() for own in groups)

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of runs, indexed by the swept keys and the seed."""
        return self.runs.drop(columns=POINT).set_index([*self.keys, SEED])

    def to_xarray(self) -> xr.Dataset:
        """Return the metrics over the swept keys and the seed; needs xarray.

        A dimension a key if the points are all combinations of values; else there is one dimension ``point``, along
        which the keys are coordinates.
        """
        if find_spec("xarray") is None:
            raise InputError("to_xarray: needs xarray, which is not installed (pip install 'aqmlab[xarray]')")
        table = self.runs.drop(columns=RUN).drop_duplicates([POINT, SEED])
        order = [*self.keys, SEED] if self.shape else [POINT, SEED]
        data: xr.Dataset = table.set_index(order)[self.metrics].to_xarray()
        if not self.shape:
            first = self.runs.groupby(POINT, sort=True)[list(self.keys)].first()
            data = data.assign_coords({key: (POINT, values.to_numpy()) for key, values in first.items()})
        for key in self.metrics:
            data[key].attrs = {"units": quantity(key).unit, "long_name": quantity(key).title}
        for key in self.keys:
            data[key].attrs = {"units": self.units[key] or "1"} if self.runs[key].dtype != object else {}
        data.attrs = {"study": self.name, "hash": self.hash, "aqmlab": self.version}
        return data

    @cached_property
    def limits(self) -> dict[Any, Limits]:
        """Point to the limits of quantities at its bottleneck (`aqmlab.results.limits`)."""
        firsts = self.runs.groupby(POINT, sort=True)[RUN].first()
        try:
            with ResultStore(self.folder) as store:
                texts = store.scenario_texts(firsts.astype(str))
        except Error:  # the numbers of the index are there without the runs' blocks
            texts = [""] * len(firsts)
        return dict(zip(firsts.index, map(limits_in, texts), strict=True))

    def result(self, point: int) -> Result:
        """Return the runs of a point with all their tables."""
        names = self.runs.loc[self.runs[POINT] == point, RUN]
        if not len(names):
            raise InputError(f"{self.name}: no finished run of point {point} (there are {self.runs[POINT].nunique()})")
        with ResultStore(self.folder) as store:
            return store.result(str(name) for name in names)


def _parameters(
    keys: Sequence[str], values: Sequence[Sequence[str]]
) -> tuple[dict[str, list[float] | list[str]], dict[str, str]]:
    """Return the values of every key as numbers where all have one unit, else as text; and the units.

    >>> _parameters(["a", "b"], [("5p", "red"), ("10p", "mred")])
    ({'a': [5.0, 10.0], 'b': ['red', 'mred']}, {'a': 'p', 'b': ''})
    """
    columns: dict[str, list[float] | list[str]] = {}
    units = {}
    for number, key in enumerate(keys):
        texts = [row[number] for row in values]
        read = {text: number_and_unit(text) for text in dict.fromkeys(texts)}
        numbers = {text: found[0] for text, found in read.items() if found is not None}
        found_units = {found[1] for found in read.values() if found is not None}
        numeric = len(numbers) == len(read) and len(found_units) == 1
        columns[key] = [numbers[text] for text in texts] if numeric else texts
        units[key] = found_units.pop() if numeric else ""
    return columns, units


def points_text(study: Study, points: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """Return points for reading: their values, their number of runs, and means with intervals as text.

    Parameters
    ----------
    study
        The sweep.
    points
        Rows of `Study.points` to show.
    metrics
        Keys of the metrics to show, as far as the runs have them.
    """
    table = points[[POINT, *study.keys, "n"]].copy()
    for key in (key for key in metrics if key in points):
        ends = points[[key, f"{key}_low", f"{key}_high"]].itertuples(index=False)
        table[key] = [Cell.of(key, *one).estimate if one[0] == one[0] else "-" for one in ends]
    return table
