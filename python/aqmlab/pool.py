"""Many independent runs on many processor cores.

A worker writes its finished run itself, at once; the parent only counts. So whatever happens to the parent,
every run that was finished is on disk.
"""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa

from aqmlab import _core
from aqmlab.errors import Error, Interrupted, StorageError, WorkerError
from aqmlab.progress import REPORT_EVERY_S, Bar, Throttled, bar_over
from aqmlab.store import is_finished, write_seed
from aqmlab.tables import to_arrow

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue


@dataclass(frozen=True)
class Output:
    """A run that stays in memory."""

    summary: dict[str, Any]
    tables: dict[str, pa.Table]


T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Work(Protocol[T_co]):
    """What the pool can do: a picklable piece of work that knows where its result goes and whether it is there."""

    @property
    def folder(self) -> Path | None:
        """Where the result goes; None keeps it in memory."""

    @property
    def cost(self) -> float:
        """About how long it takes, in seconds of one core. Only proportions matter."""

    def is_done(self) -> bool:
        """Whether the result is on disk already."""

    def perform(self, progress: Callable[[float], None]) -> T_co:
        """Do it. `progress` is told the share that is done, 0 to 1."""


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
    cost
        About how long the run takes, in seconds of one core.
    """

    text: str
    filename: str
    overrides: tuple[tuple[str, str], ...]
    seed: int
    summary: dict[str, Any]
    folder: Path | None = None
    tables: tuple[str, ...] | None = None
    cost: float = 1.0

    def is_done(self) -> bool:
        """Whether this run is on disk: same scenario, seed and version."""
        if self.folder is None:
            return False
        return is_finished(self.folder, scenario_hash=self.summary["scenario"]["hash"], version=self.summary["version"])

    def perform(self, progress: Callable[[float], None]) -> Output | None:
        """Do one run. `progress` is told the share that is done, 0 to 1."""
        output = _core.run(self.text, self.filename, self.seed, list(self.overrides), progress)
        wanted = output["tables"] if self.tables is None else [t for t in self.tables if t in output["tables"]]
        made = {name: to_arrow(output["tables"][name], seed=self.seed) for name in wanted}
        tables = {name: table for name, table in made.items() if table.num_rows}
        summary = {**self.summary, "seed": self.seed, "summary": output["summary"]}
        if self.folder is None:
            return Output(summary=summary, tables=tables)
        write_seed(self.folder, summary, tables)
        return None


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def perform(job: Work[T], progress: Callable[[float], None]) -> T:
    """Do one piece of work, here."""
    return job.perform(progress)


def execute(
    jobs: Sequence[Work[T]], *, workers: int | None = None, progress: bool = True, title: str = "runs"
) -> list[T]:
    """Do all runs, in up to `workers` processes (default: one per core), with a progress bar on stderr.

    The costliest are begun first, so that no core is left alone with a long one at the end.

    Returns
    -------
    list
        Per job, in order, what its `perform` returned.

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
    with bar_over(title, [job.cost for job in jobs], shown=progress) as bar:
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


def _execute_here(jobs: Sequence[Work[T]], bar: Bar) -> list[T]:
    outputs = []
    for index, job in enumerate(jobs):
        outputs.append(perform(job, Throttled(partial(bar.report, index))))
        bar.done(index)
    return outputs


def _execute_pool(jobs: Sequence[Work[T]], count: int, bar: Bar) -> list[T]:
    context = mp.get_context("spawn")
    channel: SimpleQueue[tuple[int, float]] = context.SimpleQueue()
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_start_worker, initargs=(channel,))
    try:
        with _interrupts_held(), _main_module_hidden():
            started = {index: executor.submit(_work, index, jobs[index]) for index in _costliest_first(jobs)}
        futures = [started[index] for index in range(len(jobs))]
        _collect(futures, channel, bar)
        outputs = [future.result() for future in futures]
    except BaseException:
        _stop(executor)
        raise
    executor.shutdown()
    return outputs


def _costliest_first(jobs: Sequence[Work[T]]) -> list[int]:
    return sorted(range(len(jobs)), key=lambda index: -jobs[index].cost)


def _collect(futures: list[Future[T]], channel: SimpleQueue[tuple[int, float]], bar: Bar) -> None:
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


@contextlib.contextmanager
def _main_module_hidden() -> Iterator[None]:
    """Let workers start without the caller's main module, which they do not need.

    So a script need not guard its main part, and may come from standard input.
    """
    main = sys.modules["__main__"]
    hidden: dict[str, Any] = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(hidden)


_channel: SimpleQueue[tuple[int, float]] | None = None


def _start_worker(channel: SimpleQueue[tuple[int, float]]) -> None:
    global _channel
    _channel = channel
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Do not go on alone when the parent is killed: nobody would end this process."""
    parent = mp.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(index: int, job: Work[T]) -> T:
    channel = _channel
    if channel is None:
        raise Error("a worker was not started by aqmlab")
    return perform(job, Throttled(lambda share: channel.put((index, share))))


def _how_to_go_on(what: str, jobs: Sequence[Work[T]], finished: int) -> str:
    folders = {job.folder.parent for job in jobs if job.folder is not None}
    state = f"{what}; {finished} of {len(jobs)} runs finished"
    if not folders:
        return f"{state}, none kept (no output folder was given)"
    where = folders.pop() if len(folders) == 1 else Path(os.path.commonpath(folders))
    return f"{state} and kept in {where}; the same command goes on with the rest"
