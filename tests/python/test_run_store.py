"""One store for all commands: what one command has run, no other runs again, and the bytes are the same."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

import aqmlab
from aqmlab.results import folders
from aqmlab.results.keys import ALL_TABLES, RunKey, tables_reducer
from aqmlab.results.output import Output
from aqmlab.runs.jobs import Call, called, jobs_for, missing
from aqmlab.runs.store.index import INDEX, store_root
from aqmlab.runs.store.store import ResultStore

PINNED = {"run.seeds": "[3, 4]", "run.duration": "3s"}


@pytest.fixture(scope="module")
def plan():
    from conftest import DUMBBELL

    return aqmlab.Scenario.from_text(DUMBBELL, filename="small.toml", overrides=PINNED)


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def run(plan, out, **options):
    return aqmlab.run(plan, seeds=2, out=out, workers=1, progress=False, **options)


def test_the_key_of_a_run_is_all_that_it_depends_on():
    key = RunKey("1", "a" * 32, 1)
    changed = {"version": "2", "scenario": "b" * 32, "seed": 2, "reducer": tables_reducer(["links"])}
    others = [replace(key, **{name: value}) for name, value in changed.items()]
    assert len({key.name, *(other.name for other in others)}) == 5
    assert key.reducer == ALL_TABLES


def test_a_scenario_is_known_without_its_seeds(plan):
    other = plan.with_overrides({"run.seeds": "7"})
    assert other.hash != plan.hash
    assert other.run_hash == plan.run_hash
    (job,), (same,) = jobs_for(plan, [1], folder=None), jobs_for(other, [1], folder=None)
    assert job.key == same.key


def test_jobs_can_be_sent_to_workers(plan, tmp_path):
    (job,) = jobs_for(plan, [1], folder=tmp_path, tables=("links",))
    assert pickle.loads(pickle.dumps(job)) == job


def test_a_comparison_takes_the_runs_of_run(plan, tmp_path):
    first = run(plan, tmp_path)
    found = aqmlab.compare(plan, aqm=["red", "mred"], seeds=2, out=tmp_path, workers=1, progress=False)
    own = next(one for one in found.results.values() if one.hash == first.hash)
    assert len(found.evaluation.runs) == 2
    for seed in own.seeds:
        assert files(folders.seed_folder(own.folder, seed)) == files(folders.seed_folder(first.folder, seed))


def test_run_takes_the_runs_of_a_sweep(plan, tmp_path):
    alone = run(plan, tmp_path / "alone")
    aqmlab.sweep(plan, seeds=2, out=tmp_path / "store", workers=1, progress=False)
    taken = run(plan, tmp_path / "store")
    assert not taken.evaluation.runs
    for seed in alone.seeds:
        assert files(folders.seed_folder(taken.folder, seed)) == files(folders.seed_folder(alone.folder, seed))


def test_a_sweep_takes_the_runs_of_run(plan, tmp_path):
    run(plan, tmp_path / "store")
    taken = aqmlab.sweep(plan, seeds=3, out=tmp_path / "store", workers=1, progress=False)
    alone = aqmlab.sweep(plan, seeds=3, out=tmp_path / "alone", workers=1, progress=False)
    assert len(taken.evaluation.runs) == 1
    assert taken.runs.equals(alone.runs)
    for table, values in alone.result(0).tables.items():
        assert values.equals(taken.result(0).tables[table]), table


def test_some_tables_are_taken_of_a_run_that_kept_all(plan, tmp_path):
    run(plan, tmp_path)
    target = tmp_path / "some"
    target.mkdir()
    jobs = jobs_for(plan, [1, 3], folder=target, tables=("links",))
    assert missing(jobs, tmp_path) == jobs[1:]
    assert set(files(folders.seed_folder(target, 1))) == {"summary.json", "links.parquet", "SHA256SUMS"}


def test_a_run_that_was_deleted_is_computed_again(plan, tmp_path):
    first = run(plan, tmp_path)
    (folders.seed_folder(first.folder, 1) / "summary.json").unlink()
    found = aqmlab.compare(plan, aqm=["red", "mred"], seeds=2, out=tmp_path, workers=1, progress=False)
    assert len(found.evaluation.runs) >= 3


def cube(*, x, seed):
    """A computation of the tests."""
    return {"cube": x**3 + seed}


def test_answers_in_memory_and_in_a_store_are_the_same(tmp_path):
    (job,) = called("cube", Call(cube, {"x": 2}), [1], store=None)
    answer = {"b": float("nan"), "a": [1, 2.5, "text"], "c": {"d": None}}
    for answers in (ResultStore(None), ResultStore(tmp_path, create=True)):
        assert not answers.has(job.key)
        with pytest.raises(aqmlab.StorageError, match="run again"):
            answers.get(job.key)
        answers.put(job.key, Output(answer, {}))
        assert answers.get(job.key) == {"a": [1, 2.5, "text"], "b": None, "c": {"d": None}}


def test_a_folder_belongs_to_the_nearest_store(tmp_path):
    (tmp_path / INDEX).touch()
    assert store_root(tmp_path / "mred" / "runs") == tmp_path
