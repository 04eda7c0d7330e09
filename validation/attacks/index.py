"""Flipped bits in the index of a store."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import aqmlab
from aqmlab.errors import StorageError
from aqmlab.results.folders import seed_folder
from aqmlab.results.keys import RunKey
from aqmlab.results.output import Output
from aqmlab.runs.jobs import jobs_for, missing
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.sweep import Study
from aqmlab.scenario.file import Scenario
from attacks.stores import store_in
from attacks.tally import EXAMPLES, SHORT, Tally, snapshot


def index(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Bits of the index that flip: an error, a run that is computed again, or the same numbers."""
    made = folder / "made"
    store_in(made)
    root = made / "store"
    plan = Scenario.load(EXAMPLES / "dumbbell-red.toml", overrides=SHORT)
    run_here = aqmlab.run(plan, seeds=[7, 8], out=root, progress=False)
    assert run_here.folder is not None
    keys = [RunKey("1", "a" * 32, seed, "an answer") for seed in range(40)]
    answers = ResultStore(root, create=True)
    for key in keys:
        answers.put(key, Output({"goodput": key.seed / 7, "delays": [key.seed] * 20}, {}))
    answers.close()
    studies = Study.load(root).runs
    store = folder / "store"
    shutil.copytree(root, store)
    data = (root / "index.sqlite").read_bytes()
    while left():
        for name in ("index.sqlite-wal", "index.sqlite-shm"):
            (store / name).unlink(missing_ok=True)
        damaged = bytearray(data)
        for _ in range(chance.choice([1, 1, 1, 1, 2, 8])):
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        (store / "index.sqlite").write_bytes(damaged)
        with tally.case("sweep"):
            found = Study.load(store, "small" if chance.random() < 0.1 else None).runs
            if found.equals(studies):
                tally.note("sweep: the same")
            elif studies[studies["run"].isin(found["run"])].reset_index(drop=True).equals(found):
                tally.note("sweep: some runs are missing")
            else:
                tally.find(f"sweep: other numbers without an error: {found.to_csv()} instead of {studies.to_csv()}")
        with tally.case("answers"):
            kept = ResultStore(store, create=True)
            for key in chance.sample(keys, 10):
                if not kept.has(key):
                    tally.note("answer: is computed again")
                elif kept.get(key) != {"goodput": key.seed / 7, "delays": [key.seed] * 20}:
                    tally.find("answer: another one without an error")
                else:
                    tally.note("answer: the same")
        with tally.case("folder"):
            target = folder / "target"
            target.mkdir()
            jobs = jobs_for(plan, [7, 8], folder=target)
            with contextlib.suppress(StorageError):
                again = missing(jobs, store)
                for job in jobs:
                    if job in again:
                        tally.note("run: is computed again")
                    elif snapshot(seed_folder(target, job.key.seed)) != snapshot(
                        seed_folder(run_here.folder, job.key.seed)
                    ):
                        tally.find("run: another one was copied without an error")
                    else:
                        tally.note("run: copied, the same")
        shutil.rmtree(folder / "target", ignore_errors=True)
