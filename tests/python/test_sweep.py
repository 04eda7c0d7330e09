"""Runs share no state: at one time, in any order, in threads or one after the other, they give the same bytes."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import aqmlab
from aqmlab import _core
from aqmlab.runs.jobs import jobs_for
from aqmlab.runs.scheduler import execute
from aqmlab.scenario.file import Scenario
from conftest import contents

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = range(1, 7)


def numbers(job: tuple[str, int, str]) -> dict:
    """Summary and tables of a run, as the core gives them."""
    text, seed, engine = job
    found = _core.Scenario(text, "sweep.toml").run(seed, engine=engine)
    return {"summary": found["summary"], "tables": found["tables"]}


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["windows", "events"])
def test_runs_at_one_time_are_as_alone(dumbbell, engine):
    texts = [dumbbell]
    for name in ("flower", "diffserv"):
        plan = Scenario.load(EXAMPLES / f"{name}.toml", overrides={"run.warmup": "0s", "run.duration": "3s"})
        texts.append(plan.normalized)
    jobs = [(text, seed, engine) for text in texts for seed in SEEDS]
    alone = {job: numbers(job) for job in jobs}
    assert len({repr(found["tables"]["links"]) for found in alone.values()}) == len(jobs)
    mixed = [*jobs, *jobs]  # the same run may also be under way twice
    random.Random(1).shuffle(mixed)
    with ThreadPoolExecutor(6) as executor:
        for job, found in zip(mixed, executor.map(numbers, mixed), strict=True):
            assert found == alone[job]


def test_order_and_number_of_workers_do_not_matter(small, tmp_path):
    plan = Scenario.load(small)
    orders = {"up": list(SEEDS), "down": list(reversed(SEEDS)), "mixed": [4, 1, 6, 3, 5, 2]}
    found = {}
    for name, seeds in orders.items():
        for workers in (1, 4):
            folder = tmp_path / f"{name}-{workers}"
            folder.mkdir()
            outputs = execute(jobs_for(plan, seeds, folder=folder), workers=workers, progress=False)
            assert [output.summary["seed"] for output in outputs] == seeds
            found[name, workers] = contents(folder)
    first = found["up", 1]
    assert len(first) >= 4 * len(SEEDS)
    assert all(other == first for other in found.values())


def test_an_error_ends_a_sweep(small, tmp_path):
    """Finished runs stay; no further run begins."""
    plan = Scenario.load(small)
    good, bad = jobs_for(plan, SEEDS, folder=tmp_path), jobs_for(plan, [99], folder=tmp_path / "not" / "there")
    with pytest.raises(aqmlab.StorageError, match="of 7 runs finished"):
        execute([*bad, *good], workers=2, progress=False)
    assert all((path / "summary.json").exists() for path in tmp_path.glob("seed-*"))
    assert not list(tmp_path.glob(".*.tmp"))
