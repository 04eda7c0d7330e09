"""Overhead of a sweep; and equal results after the sweep, its workers or parallel sweeps are killed."""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dask_cluster import Cluster, cluster
from store_snapshot import snapshot

TITLE = "Sweeps: overhead, and results after kills"
CORES = 2
BOUND = 0.10
KILLS = 20
WORKER_KILLS = 10
DASK_WORKERS = 3
SCENARIO = """\
format = 1
name = "short"

[run]
duration = "100s"
warmup = "10s"

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "bottleneck", reverse_queue = "access" }
left = { rate = "100Mbps", delay = "2ms", queue = "access" }
right = { rate = "100Mbps", delay = "2ms", queue = "access" }

[queue.bottleneck]
aqm = "red"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.002

[queue.access]
aqm = "drop-tail"
limit = "200p"

[[flow]]
name = "tcp"
count = 10
transport = "newreno"
start = { uniform = ["0s", "1s"] }

[probe]
links = ["bottleneck"]
queue_interval = "500ms"
"""
GRID = ("--grid", "queue.bottleneck.max_p=0.05:0.5:10", "--grid", "flow.tcp.count=5:14:10")
SMALLER = ("--set", "run.duration=20s", "--grid", "queue.bottleneck.max_p=0.05:0.5:10", "--seeds", "60")


def command(folder: Path, out: str, *words: str) -> list[str]:
    """Return the command of a sweep of the scenario in a folder."""
    return [sys.executable, "-m", "aqmlab", "sweep", str(folder / "short.toml"), "--out", str(folder / out), *words]


def done(folder: Path, out: str, *words: str) -> dict[str, Any]:
    """Run the sweep command, and return its output."""
    answer = subprocess.run(command(folder, out, *words, "--json"), capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


def overhead(folder: Path) -> tuple[str, bool]:
    """10,000 short runs: time and processor time of all against those in the core."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    load = os.getloadavg()[0]
    began = time.perf_counter()
    found = done(folder, "many", *GRID, "--seeds", "100", "--workers", str(CORES))
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    runs = found["evaluation"]["runs"]
    core_s, core_cpu_s = found["simulation_s"], found["simulation_cpu_s"]
    began = time.perf_counter()
    again = done(folder, "many", *GRID, "--seeds", "100", "--workers", str(CORES))["evaluation"]["runs"]
    resumed = time.perf_counter() - began
    by_wall, by_cpu = CORES * wall / core_s - 1, cpu / core_cpu_s - 1
    shown = runs == 10_000 and again == 0 and by_cpu < BOUND and by_wall < BOUND
    text = f"""## Overhead

{runs:,} runs of {1000 * core_cpu_s / runs:.0f} ms (100 points, 100 seeds) on {CORES} cores, from the start of the
command to its end: the start of Python and of workers, checking every point, metrics, Parquet, the index and the table
at the end. The load of the machine just before was {load:.1f}; where others share the machine the processor time is the
fairer measure, since waiting for a core does not count in it.

| | all | in the core | overhead | bound |
|---|---|---|---|---|
| time x {CORES} cores, s | {CORES * wall:.1f} | {core_s:.1f} | {by_wall:.1%} | {BOUND:.0%} |
| processor time, s | {cpu:.1f} | {core_cpu_s:.1f} | {by_cpu:.1%} | {BOUND:.0%} |

The same command again, which finds all runs there, took {resumed:.1f} s and did {again} runs."""
    return text, shown


def killed(folder: Path) -> tuple[str, bool]:
    """A sweep that is killed at random moments and taken up again each time."""
    words = (*SMALLER, "--workers", str(CORES))
    began = time.perf_counter()
    done(folder, "undisturbed", *words)
    whole_s = time.perf_counter() - began
    expected = snapshot(folder / "undisturbed")
    moments = random.Random(1)
    kills, stores, equal = 0, 0, True
    with_rows = 0
    while kills < KILLS:
        name = f"killed-{stores}"
        stores += 1
        while kills < KILLS:
            process = subprocess.Popen(
                command(folder, name, *words), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            try:
                process.wait(moments.uniform(0.2, 1.0) * whole_s)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
                with_rows += (folder / name / "runs").is_dir()
        done(folder, name, *words)
        equal = equal and snapshot(folder / name) == expected
    text = f"""## Killed at random moments

A sweep of {len(expected.rows["runs"])} runs on {CORES} cores, which takes {whole_s:.0f} s undisturbed and leaves
{len(expected.files)} files, was killed (SIGKILL) {kills} times at moments drawn between a fifth and the whole of that
time, and taken up again with the same command each time, in {stores} stores; {with_rows} of the kills found runs
stored.
{_verdict(equal)}"""
    return text, equal


def clustered(folder: Path) -> tuple[str, bool]:
    """A Dask cluster whose workers are killed during the sweep."""
    expected = snapshot(folder / "undisturbed")
    place = folder / "dask"
    place.mkdir()
    with cluster(place, DASK_WORKERS) as made:
        kills = Killer(made)
        found = kills.during(lambda: done(folder, "clustered", *SMALLER, "--dask", made.address))
    runs = found["evaluation"]["runs"]
    equal = snapshot(folder / "clustered") == expected and runs == 600
    text = f"""## A Dask cluster

The same 600 runs on {DASK_WORKERS} worker processes of a Dask cluster; {kills.count} times during the sweep one of
them was killed (SIGKILL) and another started. Results of {runs} runs were taken in: each once. {_verdict(equal)}"""
    return text, equal and kills.count > 0


class Killer:
    """Kills a worker of a cluster now and then, and starts another."""

    def __init__(self, made: Cluster) -> None:
        self._cluster = made
        self._stop = threading.Event()
        self.count = 0

    def during(self, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do some work while workers are killed."""
        thread = threading.Thread(target=self._kill)
        thread.start()
        try:
            return work()
        finally:
            self._stop.set()
            thread.join()

    def _kill(self) -> None:
        moments = random.Random(2)
        self._stop.wait(2.0)
        while not self._stop.wait(moments.uniform(0.2, 2.0)) and self.count < WORKER_KILLS:
            self._cluster.kill_worker(moments.randrange(DASK_WORKERS))
            self.count += 1
            self._cluster.start_worker()
            self._cluster.wait_for_workers(DASK_WORKERS)


def together(folder: Path) -> tuple[str, bool]:
    """Two processes on one store."""
    expected = snapshot(folder / "undisturbed")
    words = command(folder, "together", *SMALLER, "--workers", "1", "--json")
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [json.loads(process.communicate()[0]) for process in both]
    runs = [answer["evaluation"]["runs"] for answer in answers]
    equal = snapshot(folder / "together") == expected and sum(runs) == 600
    text = f"""## Two processes on one store

Two processes swept the same 600 runs into one store at the same time. One did {runs[0]} runs, the other {runs[1]}.
{_verdict(equal)}"""
    return text, equal


def report() -> tuple[str, bool]:
    """Return the page and whether everything on it is shown."""
    parts: Sequence[Callable[[Path], tuple[str, bool]]] = (overhead, killed, clustered, together)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "short.toml").write_text(SCENARIO)
        texts, shown = zip(*(part(folder) for part in parts), strict=True)
    intro = """A store is compared with that of an undisturbed sweep: every file byte for byte, every row of the index.
`tests/python/test_study_store.py` has small forms of the same, with kills at named steps of the storing."""
    return "\n\n".join([intro, *texts]), all(shown)


def _verdict(equal: bool) -> str:
    return (
        "The files are the same bytes as those of the undisturbed sweep, and the index has the same rows."
        if equal
        else "**The store differs from that of the undisturbed sweep.**"
    )
