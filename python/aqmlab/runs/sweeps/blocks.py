"""The points of a sweep, checked, and their runs, cut into blocks.

A block is the unit of storage, so its runs depend on the sweep alone, not on how fast they are. Runs of one point are
neighbours, and a block takes about as long as is worth a few files. Workers need neither the store nor a shared disk:
a block has the texts of its scenarios, and its result is bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path

from aqmlab import _core
from aqmlab.errors import InputError, ScenarioError, WorkerError
from aqmlab.results.evaluation import cores_of
from aqmlab.results.keys import RunKey
from aqmlab.results.output import Output
from aqmlab.runs.comparison_settings import QUEUE_KEY, exchange
from aqmlab.runs.jobs import Simulation, expected_cost
from aqmlab.runs.portions import Work
from aqmlab.runs.store.block import EncodedBlock, encoded
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.design import Design
from aqmlab.scenario.file import PINNED_SEEDS, Scenario

LONGEST_BLOCK_S = 2.0
SHORTEST_BLOCK_S = 0.25
PARTS = 32
"""A sweep is cut into at least so many blocks, unless they would be shorter than `SHORTEST_BLOCK_S`."""
MOST_RUNS_IN_BLOCK = 512
SHORT_S = 0.5
"""After a run that was shorter the next one does not report its progress, which would take a hundredth of its time."""


@dataclass(frozen=True, slots=True)
class Point:
    """One scenario of a study: its values of the swept keys, hash without seeds, text, and the cost of a run in s."""

    values: tuple[str, ...]
    scenario: str
    text: str
    cost: float


def check_points(base: Scenario, design: Design, warnings: set[str], progress: Callable[[float], None]) -> list[Point]:
    """Check the scenario at all points of a design, and return the points; `warnings` gets probable mistakes.

    `progress` is called with the share that is checked, 0 to 1.
    """
    if PINNED_SEEDS[0] in design.keys:
        raise InputError(f"{PINNED_SEEDS[0]}: cannot be swept; say --seeds, every point gets them all")
    checked = []
    for number, values in enumerate(design.points()):
        progress(number / design.size)
        notes: list[str] = []
        try:
            found = _at(base, tuple(zip(design.keys, values, strict=True)), notes)
        except ScenarioError as error:
            raise error.of_options(design.options, dict(zip(design.keys, values, strict=True))) from None
        warnings.update(map(str, found.warnings), notes)
        checked.append(Point(values, found.hash, found.normalized, expected_cost(found)))
    return checked


def _at(base: Scenario, pairs: Sequence[tuple[str, str]], notes: list[str]) -> Scenario:
    """Return the scenario at a point. Another discipline keeps the parameters of the queue that it knows."""
    for key, value in pairs:
        found = QUEUE_KEY.match(key)
        queue = (found[1] or found[2]) if found and found[3] == "aqm" else None
        name = value.strip("\"'")
        if queue in {link.queue for link in base.links}:
            base = exchange(base, [queue], name, {"aqm": name}, notes)
    return base.with_overrides((*pairs, PINNED_SEEDS))


@dataclass(frozen=True)
class Block(Work[EncodedBlock]):
    """Runs that are done and stored together.

    Attributes
    ----------
    keys, texts
        The runs, and hash to text of their scenarios.
    engine
        The engine to evaluate them with.
    """

    keys: tuple[RunKey, ...]
    texts: Mapping[str, str] = field(repr=False)
    engine: str = "auto"

    def only(self, names: Collection[str]) -> Block:
        """Return the part of the block that has the runs with these names."""
        keys = tuple(key for key in self.keys if key.name in names)
        return replace(self, keys=keys, runs=len(keys), cost=self.cost * len(keys) / len(self.keys))

    def compute(self, progress: Callable[[float], None]) -> EncodedBlock:
        """Do all runs. `progress` is called with the share that is done, 0 to 1."""
        version = self.keys[0].version
        if version != _core.version():
            raise WorkerError(f"a worker has version {_core.version()} of aqmlab, not {version}")
        found: dict[RunKey, Output] = {}
        short = False
        for scenario, keys in groupby(self.keys, key=lambda key: key.scenario):
            source = Simulation(Scenario.from_text(self.texts[scenario], filename="<study>"), engine=self.engine)
            for key in keys:
                report = partial(self._report, progress, len(found))
                report(0.0)
                output = found[key] = source.output(key.seed, None if short else report)
                short = output.evaluated is not None and output.evaluated.core_s < SHORT_S
        return encoded(found, self.texts)

    def _report(self, progress: Callable[[float], None], before: int, share: float) -> None:
        """Report the progress of a run as a part of that of its block."""
        progress((before + share) / len(self.keys))

    def adopted(self, store: ResultStore) -> EncodedBlock | None:
        """Return those runs as a block that are in folders of a store, but in no block; None if there are none."""
        there = store.index.has_runs(key.name for key in self.keys)
        found = {key: store.find(key) for key in self.keys if key.name not in there}
        runs = {key: output for key, output in found.items() if output is not None}
        return encoded(runs, self.texts) if runs else None


def cut(
    points: Sequence[Point], seeds: Sequence[int], version: str, *, engine: str = "auto", place: Path | None = None
) -> list[Block]:
    """Cut the runs of a sweep into blocks; a run that several points share is in the first only."""
    distinct = {point.scenario: point for point in points}
    total = sum(point.cost for point in distinct.values()) * len(seeds)
    longest = min(max(total / PARTS, SHORTEST_BLOCK_S), LONGEST_BLOCK_S)
    parts: list[list[RunKey]] = []
    costs: list[float] = []
    for point in distinct.values():
        for seed in seeds:
            if not parts or costs[-1] + point.cost > longest or len(parts[-1]) == MOST_RUNS_IN_BLOCK:
                parts.append([])
                costs.append(0.0)
            parts[-1].append(RunKey(version, point.scenario, seed))
            costs[-1] += point.cost
    blocks, cores = [], cores_of(engine)
    for keys, cost in zip(parts, costs, strict=True):
        texts = {key.scenario: distinct[key.scenario].text for key in keys}
        block = Block(tuple(keys), texts, engine, place=place, cost=cost, in_python=True, cores=cores, runs=len(keys))
        blocks.append(block)
    return blocks
