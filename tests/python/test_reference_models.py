"""The core against reference models: same operations and random numbers, same decisions; and victims in edge cases."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from functools import cache
from random import Random

import pytest

from reference_models.compare import first_difference, replay
from reference_models.edges import RATE_BPS, Edge
from reference_models.edges_classes import CLASSES
from reference_models.edges_ddred import DDRED, DDRED_TAIL
from reference_models.edges_pc_red import PC_RED
from reference_models.readings import READINGS, Reading
from reference_models.red import Draws
from reference_models.traffic import Recorder, random_traffic

pytestmark = pytest.mark.slow

OPERATIONS = 100_000
VISITS = 20


@cache
def numbers() -> tuple[float, ...]:
    rng = Random(20070401)
    return tuple(rng.random() for _ in range(OPERATIONS))


@pytest.fixture
def _no_garbage_collection() -> Iterator[None]:
    """A replay answers with a million small objects that are all in use; looking for garbage takes half of its time."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_garbage_collection")
@pytest.mark.parametrize("reading", READINGS, ids=lambda reading: reading.name)
def test_model_and_core_agree(reading: Reading) -> None:
    recorder = random_traffic(reading.model(Draws(numbers())), reading.rate_bps, OPERATIONS, Random(7), reading.levels)
    assert [place for place in reading.visits if recorder.seen[place] < VISITS] == []
    difference = first_difference(
        recorder, reading.queue, reading.rate_bps, numbers(), lambda: reading.model(Draws(numbers()))
    )
    if difference is not None:
        pytest.fail(difference, pytrace=False)


EDGES = [*PC_RED, *DDRED, *DDRED_TAIL, *CLASSES]


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.name)
def test_victim_of_the_model(edge: Edge) -> None:
    recorder = Recorder(edge.model)
    recorder.replay(edge.operations)
    assert [hit for record in recorder.records for hit in record.dropped] == edge.dropped
    assert [number for record in recorder.records for number in record.marked] == edge.marked
    assert recorder.records[-1].draws <= len(edge.draws)


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.name)
def test_victim_of_the_core(edge: Edge) -> None:
    answers = replay(edge.queue, RATE_BPS, edge.operations, edge.draws)
    assert [hit for answer in answers for hit in answer["dropped"]] == edge.dropped
    assert [number for answer in answers for number in answer["marked"]] == edge.marked
