"""The runs of a sweep, cut into blocks.

A block is the unit of storage, so its runs depend on the sweep alone, not on how fast they are. Runs of one point are
neighbours, and a block takes about as long as is worth a few files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aqmlab.results.keys import RunKey, study_name
from aqmlab.runs.store.index import PointRow, StudyRow
from aqmlab.runs.sweeps.design import Design
from aqmlab.runs.sweeps.points import Point

LONGEST_BLOCK_S = 2.0
SHORTEST_BLOCK_S = 0.25
PARTS = 32
"""A sweep is cut into at least so many blocks, unless they would be shorter than `SHORTEST_BLOCK_S`."""
MOST_RUNS_IN_BLOCK = 512


@dataclass(frozen=True)
class Block:
    """Runs that are done and stored together.

    Attributes
    ----------
    number
        Its place in the study.
    runs
        The runs.
    cost
        About how long they take, in seconds of one core.
    """

    number: int
    runs: tuple[RunKey, ...]
    cost: float


def sweep_row(name: str, version: str, design: Design, points: Sequence[Point], seeds: Sequence[int]) -> StudyRow:
    """Describe a sweep for the index."""
    pairs = [(point.scenario, point.values) for point in points]
    study = study_name(name, version, design.keys, tuple(seeds), design.shape, pairs)
    return StudyRow(study, name, version, design.keys, tuple(seeds), design.shape)


def point_rows(points: Sequence[Point]) -> Iterator[PointRow]:
    """Describe the points of a sweep for the index."""
    return (PointRow(number, point.scenario, point.values) for number, point in enumerate(points))


def cut(points: Sequence[Point], seeds: Sequence[int], version: str) -> list[Block]:
    """Cut the runs of a sweep into blocks; a run that several points share is in the first only."""
    distinct = {point.scenario: point for point in points}.values()
    total = sum(point.cost for point in distinct) * len(seeds)
    longest = min(max(total / PARTS, SHORTEST_BLOCK_S), LONGEST_BLOCK_S)
    blocks: list[Block] = []
    runs: list[RunKey] = []
    cost = 0.0
    for point in distinct:
        for seed in seeds:
            if runs and (cost + point.cost > longest or len(runs) == MOST_RUNS_IN_BLOCK):
                blocks.append(Block(len(blocks), tuple(runs), cost))
                runs, cost = [], 0.0
            runs.append(RunKey(version, point.scenario, seed))
            cost += point.cost
    return [*blocks, Block(len(blocks), tuple(runs), cost)] if runs else blocks
