"""A store survives whatever happens to those that work on it."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

import aqmlab
from aqmlab.runs.store import maintenance
from aqmlab.runs.store.claims import living
from aqmlab.runs.store.store import ResultStore
from store_snapshot import snapshot

pytestmark = pytest.mark.slow

MAX_P = "queue.bottleneck.max_p"
SWEEP = ("sweep", "small.toml", "--set", "run.duration=30s", "--grid", f"{MAX_P}=0.05:0.2:3", "--seeds", "20")
# Kills its own process at the n-th call of a function of the store.
DIE = """\
import os, signal, sys
from aqmlab.cli import main
from aqmlab.runs.store import index, store

place, name = {{"store": store, "ResultStore": store.ResultStore, "Index": index.Index}}[{owner!r}], {name!r}
before, calls = getattr(place, name), []

def dying(*arguments, **named):
    calls.append(1)
    if len(calls) == {nth} and {early}:
        os.kill(os.getpid(), signal.SIGKILL)
    found = before(*arguments, **named)
    if len(calls) == {nth}:
        os.kill(os.getpid(), signal.SIGKILL)
    return found

setattr(place, name, dying)
sys.exit(main({words!r}))
"""


def sweep(small, out, **options):
    said = {"grid": {MAX_P: "0.05:0.2:3"}, "seeds": 20, "overrides": {"run.duration": "30s"}, "out": out}
    return aqmlab.sweep(small, **{**said, "workers": 1, "progress": False, **options})


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    from conftest import DUMBBELL

    folder = tmp_path_factory.mktemp("undisturbed")
    (folder / "small.toml").write_text(DUMBBELL)
    sweep(folder / "small.toml", folder / "store")
    found = snapshot(folder / "store")
    assert len(found.rows["blocks"]) >= 2
    assert found.rows["claims"] == []
    return found


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "store"


@pytest.mark.parametrize(
    ("owner", "name", "nth", "early"),
    [
        ("store", "write_file", 3, False),  # within a block
        ("store", "sync_folder", 2, True),  # a block has its name, which is not durable yet
        ("Index", "add_block", 1, True),  # a block has its name, and no rows
        ("Index", "add_block", 2, False),  # its rows are not committed
        ("ResultStore", "add", 1, False),  # just done
    ],
)
def test_killed_and_taken_up_again(shell, small, undisturbed, owner, name, nth, early):
    words = [*SWEEP, "--workers", "1", "--out", "store"]
    script = DIE.format(owner=owner, name=name, nth=nth, early=early, words=words)
    done = subprocess.run([sys.executable, "-c", script], cwd=shell.folder, env=shell.environment(), check=False)
    assert done.returncode == -signal.SIGKILL
    store = shell.folder / "store"
    with ResultStore(store) as opened:
        assert living(store) == set()
        counted = {block for (block,) in opened.index.rows("SELECT block FROM blocks")}
        assert all(opened.intact(block, read=True) for block in counted)
    sweep(small, store)
    assert snapshot(store) == undisturbed


def test_a_killed_sweep_leaves_no_worker_and_no_claim(shell, small, undisturbed):
    words = [*SWEEP, "--workers", "2", "--out", "store"]
    process = subprocess.Popen(shell.command(*words), cwd=shell.folder, env=shell.environment())
    store = shell.folder / "store"
    while not list(store.glob("runs/*/*")) and process.poll() is None:
        time.sleep(0.01)
    process.kill()
    process.wait()
    sweep(small, store, workers=2)
    assert snapshot(store) == undisturbed


def test_what_a_killed_process_left_goes_though_nothing_is_to_do(small, folder, undisturbed):
    sweep(small, folder)
    left = folder / "owners" / ("ab" * 16)
    left.mkdir()
    (left / "lock").touch()
    assert sweep(small, folder).evaluation.runs == ()
    assert snapshot(folder) == undisturbed


def test_two_processes_on_one_store(shell, undisturbed):
    words = [*SWEEP, "--workers", "1", "--out", "store", "--json"]
    both = [
        subprocess.Popen(
            shell.command(*words), cwd=shell.folder, env=shell.environment(), stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    answers = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    import json

    found = [json.loads(answer) for answer in answers]
    assert sum(one["evaluation"]["runs"] for one in found) == 60
    assert found[0]["points"] == found[1]["points"]
    assert snapshot(shell.folder / "store") == undisturbed


def test_runs_claimed_by_another_process_are_waited_for(small, folder, undisturbed):
    """A process that ends without giving up its claims: they are void."""
    with ResultStore(folder, create=True) as other:
        sweep(small, folder, seeds=1)
        assert other.claims.claim(["a", "b"]) == ["a", "b"]
        with ResultStore(folder) as own:
            assert own.claims.claim(["b", "c"]) is None
            assert own.claims.claim(["c"]) == ["c"]
            held = {name for (name,) in own.index.rows("SELECT owner FROM claims")}
            assert held == living(folder)
            with other.index.transaction() as change:
                change.execute("INSERT INTO claims VALUES ('d', 'no-process')")
            assert own.claims.claim(["d"]) is None
            own.claims.forget_the_dead()
            assert own.claims.claim(["d"]) == ["d"]


def test_a_lost_index_is_rebuilt(small, folder, undisturbed):
    study = sweep(small, folder)
    (folder / "index.sqlite").unlink()
    again = sweep(small, folder)
    assert again.evaluation.runs == ()
    assert again.runs.equals(study.runs)
    assert snapshot(folder) == undisturbed


def test_files_that_are_gone_or_short_are_run_again(small, folder, undisturbed):
    sweep(small, folder)
    links, flows = sorted(folder.glob("runs/*/*/links.parquet"))[0], sorted(folder.glob("runs/*/*/flows.parquet"))[1]
    links.unlink()
    flows.write_bytes(flows.read_bytes()[:-10])
    assert 0 < len(sweep(small, folder).evaluation.runs) < 60
    assert snapshot(folder) == undisturbed


def test_gc(small, folder, undisturbed):
    sweep(small, folder)
    other = sweep(small, folder, grid={MAX_P: [0.3]}, seeds=2, name="other")
    with ResultStore(folder) as opened:
        assert maintenance.collect(opened).runs == 0
        dry = maintenance.collect(opened, dry_run=True, forget=["other"])
        assert (dry.runs, len(dry.unwanted), dry.studies) == (2, 1, (other.hash,))
        assert maintenance.collect(opened, forget=["other"]) == dry
    assert snapshot(folder) == undisturbed
    damaged = sorted(folder.glob("runs/*/*/links.parquet"))[0]
    data = damaged.read_bytes()
    damaged.write_bytes(bytes([*data[:100], data[100] ^ 1, *data[101:]]))
    with ResultStore(folder) as opened:
        waste = maintenance.collect(opened)
        assert waste.damaged == (damaged.parent.name,)
    assert 0 < len(sweep(small, folder).evaluation.runs) < 60
    assert snapshot(folder) == undisturbed


def test_gc_leaves_others_at_work_alone(small, folder):
    sweep(small, folder, seeds=1)
    with ResultStore(folder) as one, ResultStore(folder) as other:
        other.claims.enter()
        with pytest.raises(aqmlab.InputError, match="another process is at work"):
            maintenance.collect(one)


def test_runs_of_another_version_are_others(small, folder, monkeypatch):
    from aqmlab import _core

    first = sweep(small, folder, seeds=1)
    for module in ("runs.sweeps.blocks", "runs.sweeps.sweeping", "runs.store.maintenance"):
        monkeypatch.setattr(f"aqmlab.{module}._core", type("Other", (), {**vars(_core), "version": lambda: "9.9"}))
    second = sweep(small, folder, seeds=1)
    assert len(second.evaluation.runs) == 3
    assert not set(first.runs["run"]) & set(second.runs["run"])
    with ResultStore(folder) as opened:
        assert maintenance.collect(opened).runs == 3
        assert [study.version for study in opened.studies()] == ["9.9"]
