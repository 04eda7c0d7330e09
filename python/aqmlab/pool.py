"""Many independent runs on many processor cores.

A worker writes its finished run itself, at once; the parent only counts. So whatever happens to the parent,
every run that was finished is on disk.
"""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from aqmlab import _core
from aqmlab.errors import Error, Interrupted, StorageError, WorkerError
from aqmlab.store import write_seed
from aqmlab.tables import to_arrow

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

    from rich.progress import Progress

REPORT_EVERY_S = 0.25


@dataclass(frozen=True)
class Job:
    """One run to do: a scenario, a seed, and where its result goes.

    Attributes
    ----------
    text, filename, overrides
        The scenario.
    seed
        The run's seed.
    summary
        Provenance that goes into the run's ``summary.json``.
    folder
        The seed's folder; None keeps the result in memory.
    tables
        Names of the tables to keep; None keeps all.
    """

    text: str
    filename: str
    overrides: tuple[tuple[str, str], ...]
    seed: int
    summary: dict[str, Any]
    folder: Path | None = None
    tables: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Output:
    """A run that stays in memory."""

    summary: dict[str, Any]
    tables: dict[str, pa.Table]


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def perform(job: Job, progress: Callable[[float], None]) -> Output | None:
    """Do one run. `progress` is told the share that is done, 0 to 1."""
    output = _core.run(job.text, job.filename, job.seed, list(job.overrides), progress)
    wanted = output["tables"] if job.tables is None else [t for t in job.tables if t in output["tables"]]
    made = {name: to_arrow(output["tables"][name], seed=job.seed) for name in wanted}
    tables = {name: table for name, table in made.items() if table.num_rows}
    summary = {**job.summary, "seed": job.seed, "summary": output["summary"]}
    if job.folder is None:
        return Output(summary=summary, tables=tables)
    write_seed(job.folder, summary, tables)
    return None


def execute(
    jobs: Sequence[Job], *, workers: int | None = None, progress: bool = True, title: str = "runs"
) -> list[Output | None]:
    """Do all runs, in up to `workers` processes (default: one per core), with a progress bar on stderr.

    Returns
    -------
    list
        Per job, in order: its output if it stays in memory, else None.

    Raises
    ------
    Interrupted
        On Ctrl-C. Its text says what is finished and how to go on.
    StorageError
        If a result cannot be written.
    """
    if not jobs:
        return []
    count = min(workers or available_cores(), len(jobs))
    with _bar(title, len(jobs), shown=progress) as bar:
        try:
            if count == 1:
                return _execute_here(jobs, bar)
            return _execute_pool(jobs, count, bar)
        except KeyboardInterrupt:
            raise Interrupted(_how_to_go_on("interrupted", jobs, bar.finished)) from None
        except StorageError as error:
            raise StorageError(_how_to_go_on(str(error), jobs, bar.finished)) from None
        except BrokenProcessPool:
            text = "a worker process died, perhaps for want of memory (try fewer --workers)"
            raise WorkerError(_how_to_go_on(text, jobs, bar.finished)) from None


class _Bar:
    """Progress over all jobs: finished ones count 1, running ones the share they report."""

    def __init__(self, shown: Progress, title: str, total: int) -> None:
        self._shown = shown
        self._task = shown.add_task(title, total=total)
        self._running: dict[int, float] = {}
        self.finished = 0

    def report(self, job: int, share: float) -> None:
        self._running[job] = min(max(share, 0.0), 1.0)
        self._show()

    def done(self, job: int) -> None:
        self._running.pop(job, None)
        self.finished += 1
        self._show()

    def _show(self) -> None:
        self._shown.update(self._task, completed=self.finished + sum(self._running.values()))


@contextlib.contextmanager
def _bar(title: str, total: int, *, shown: bool) -> Iterator[_Bar]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeRemainingColumn(),
    )
    off = not (shown and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=off) as rich_bar:
        yield _Bar(rich_bar, title, total)


def _execute_here(jobs: Sequence[Job], bar: _Bar) -> list[Output | None]:
    outputs = []
    for index, job in enumerate(jobs):
        outputs.append(perform(job, _Throttled(partial(bar.report, index))))
        bar.done(index)
    return outputs


def _execute_pool(jobs: Sequence[Job], count: int, bar: _Bar) -> list[Output | None]:
    context = mp.get_context("spawn")
    channel: SimpleQueue[tuple[int, float]] = context.SimpleQueue()
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_start_worker, initargs=(channel,))
    try:
        with _interrupts_held():
            futures = [executor.submit(_work, index, job) for index, job in enumerate(jobs)]
        _collect(futures, channel, bar)
        outputs = [future.result() for future in futures]
    except BaseException:
        _stop(executor)
        raise
    executor.shutdown()
    return outputs


def _collect(futures: list[Future[Output | None]], channel: SimpleQueue[tuple[int, float]], bar: _Bar) -> None:
    """Wait for all runs and keep the bar moving; the first error ends it."""
    index = {future: i for i, future in enumerate(futures)}
    open_futures = set(futures)
    while open_futures:
        done, open_futures = wait(open_futures, timeout=REPORT_EVERY_S, return_when=FIRST_COMPLETED)
        while not channel.empty():
            job, share = channel.get()
            if not futures[job].done():
                bar.report(job, share)
        errors = []
        for future in done:
            error = future.exception()
            if error is None:
                bar.done(index[future])
            else:
                errors.append(error)
        if errors:
            raise errors[0]


def _stop(executor: ProcessPoolExecutor) -> None:
    """End the workers at once: what they have not finished is not wanted, what they have is on disk."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold SIGINT back while workers are started: they inherit the mask, so Ctrl-C reaches the parent only."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


_channel: SimpleQueue[tuple[int, float]] | None = None


def _start_worker(channel: SimpleQueue[tuple[int, float]]) -> None:
    global _channel
    _channel = channel
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _work(index: int, job: Job) -> Output | None:
    channel = _channel
    if channel is None:
        raise Error("a worker was not started by aqmlab")
    return perform(job, _Throttled(lambda share: channel.put((index, share))))


class _Throttled:
    """Passes on a report at most every `REPORT_EVERY_S` seconds."""

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report
        self._next = time.monotonic() + REPORT_EVERY_S

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + REPORT_EVERY_S
            self._report(share)


def _how_to_go_on(what: str, jobs: Sequence[Job], finished: int) -> str:
    folders = {job.folder.parent for job in jobs if job.folder is not None}
    state = f"{what}; {finished} of {len(jobs)} runs finished"
    if not folders:
        return f"{state}, none kept (no output folder was given)"
    where = folders.pop() if len(folders) == 1 else Path(os.path.commonpath(folders))
    return f"{state} and kept in {where}; the same command goes on with the rest"
