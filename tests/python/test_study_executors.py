"""A store has the same contents with every executor, and after workers are killed."""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext

import pytest

import aqmlab
from aqmlab.runs.executors import Executor
from aqmlab.runs.portions import Waiting
from aqmlab.runs.scheduler import Workers
from aqmlab.runs.sweeps.blocks import Point, cut
from aqmlab.runs.sweeps.sweeping import MOST_DEATHS
from dask_cluster import cluster
from store_snapshot import snapshot

pytestmark = pytest.mark.slow

MAX_P = "queue.bottleneck.max_p"
SAID = {
    "grid": {MAX_P: "0.05:0.2:3"},
    "seeds": 20,
    "overrides": {"run.duration": "30s"},
    "progress": False,
}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory):
    from conftest import DUMBBELL

    path = tmp_path_factory.mktemp("scenario") / "small.toml"
    path.write_text(DUMBBELL)
    return path


@pytest.fixture(scope="module")
def undisturbed(scenario, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "store"
    aqmlab.sweep(scenario, **SAID, out=folder, workers=1)
    return snapshot(folder)


def test_threads_that_somebody_else_made(scenario, tmp_path, undisturbed):
    with ThreadPoolExecutor(2) as executor:
        study = aqmlab.sweep(scenario, **SAID, out=tmp_path, executor=executor)
    assert len(study.evaluation.runs) == 60
    assert snapshot(tmp_path) == undisturbed


def kill_one_child(stop: threading.Event, killed: list[int]) -> None:
    while not stop.wait(0.01):
        for child in multiprocessing.active_children():
            if child.is_alive():
                time.sleep(0.3)
                child.kill()
                killed.append(child.pid)
                return


def killing(work):
    """Do some work while one of this process's children is killed."""
    stop, killed = threading.Event(), []
    thread = threading.Thread(target=kill_one_child, args=(stop, killed))
    thread.start()
    try:
        work()
    finally:
        stop.set()
        thread.join()
    assert killed


def test_a_killed_worker_loses_only_its_current_runs(scenario, tmp_path, undisturbed):
    killing(lambda: aqmlab.sweep(scenario, **SAID, out=tmp_path, workers=2))
    assert snapshot(tmp_path) == undisturbed


def test_a_broken_external_executor_is_reported(scenario, tmp_path, undisturbed):
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as executor,
        pytest.raises(aqmlab.Error, match=r"a worker of the executor died.* of 60 runs finished and kept in"),
    ):
        killing(lambda: aqmlab.sweep(scenario, **SAID, out=tmp_path, executor=executor))
    aqmlab.sweep(scenario, **SAID, out=tmp_path, workers=1)
    assert snapshot(tmp_path) == undisturbed


def test_runs_that_kill_every_worker_are_given_up(scenario, tmp_path, monkeypatch):
    class Doomed(Executor):
        size, lost = 2, (BrokenProcessPool,)

        def submit(self, number, portion, report):
            future = Future()
            future.set_exception(BrokenProcessPool("died"))
            return future

        def recover(self):
            return True

    monkeypatch.setattr(Workers, "_executor_of", lambda *_: nullcontext(Doomed()))
    with pytest.raises(aqmlab.Error, match=f"workers died {MOST_DEATHS + 1} times at the same runs"):
        aqmlab.sweep(scenario, **SAID, out=tmp_path)


def test_a_dask_cluster_whose_workers_are_killed(scenario, tmp_path):
    pytest.importorskip("distributed")
    said = {**SAID, "overrides": {"run.duration": "200s"}}
    aqmlab.sweep(scenario, **said, out=tmp_path / "undisturbed", workers=1)
    killed = []
    with cluster(tmp_path, 3) as made:

        def kill() -> None:
            while not stop.is_set():
                if list(tmp_path.glob("store/runs/*/*")):
                    made.kill_worker(0)
                    killed.append(len(list(tmp_path.glob("store/runs/*/*"))))
                    return

        made.wait_for_workers(3)
        stop, thread = threading.Event(), threading.Thread(target=kill)
        thread.start()
        try:
            study = aqmlab.sweep(scenario, **said, out=tmp_path / "store", dask=made.address)
        finally:
            stop.set()
            thread.join()
    assert len(study.evaluation.runs) == 60
    expected = snapshot(tmp_path / "undisturbed")
    assert snapshot(tmp_path / "store") == expected
    assert killed
    assert killed[0] < len(expected.rows["blocks"])


def test_blocks_depend_on_the_study_alone():
    points = [Point((str(n),), f"{n:032x}", "", 0.01) for n in range(100)]
    blocks = cut(points, range(1, 101), "1.0")
    assert sum(block.runs for block in blocks) == 10_000
    assert 40 <= len(blocks) <= 80  # of two seconds each
    assert blocks == cut(points, range(1, 101), "1.0")
    assert [block.runs for block in cut(points[:1], [1], "1.0")] == [1]
    long = [Point(("a",), "a", "", 100.0)]
    assert [block.runs for block in cut(long, [1, 2, 3], "1.0")] == [1, 1, 1]


def test_portions_are_sized_by_what_runs_were_seen_to_cost():
    waiting = Waiting([2.0])
    assert waiting.pace is None
    waiting.learn(2.0, 0.1)
    assert 4.0 * waiting.pace == pytest.approx(0.2)
    for _ in range(20):
        waiting.learn(1.0, 4.0)  # half of a block was there already
    assert 2.0 * waiting.pace == pytest.approx(8.0, rel=0.05)


def test_a_job_at_which_a_worker_died_is_a_portion_of_its_own():
    waiting = Waiting([0.01] * 100)
    waiting.learn(1.0, 1.0)
    first = waiting.portion(2)
    assert len(first) > 2
    waiting.again(first[:2])
    assert [waiting.portion(2) for _ in range(2)] == [[number] for number in first[:2]]
    assert len(waiting.portion(2)) > 2
