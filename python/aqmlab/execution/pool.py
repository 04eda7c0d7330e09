"""Many independent runs on many processor cores.

A worker writes its finished run itself, at once; who waits for it only counts. So whatever happens, every run that was
finished is on disk. Runs of scenarios are done in threads, which share nothing but the memory: they start at once, and
nothing is copied. Work that computes in Python is done in processes.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Protocol, TypeVar

from aqmlab.errors import Error, Interrupted, StorageError, WorkerError
from aqmlab.execution.progress import REPORT_EVERY_S, Bar, Throttled, bar_over
from aqmlab.execution.worker_processes import Reports, starting, work_in_process, worker_processes

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Work(Protocol[T_co]):
    """What the pool can do: a picklable piece of work. A run is a `aqmlab.execution.jobs.Job`."""

    @property
    def place(self) -> Path | None:
        """The folder that keeps the result; None if it stays in memory."""

    @property
    def cost(self) -> float:
        """About how long it takes, in seconds of one core. Only proportions matter."""

    @property
    def in_python(self) -> bool:
        """Whether it works in Python for long, so that it belongs into a process of its own."""

    @property
    def cores(self) -> int:
        """How many processor cores it keeps busy."""

    def perform(self, progress: Callable[[float], None]) -> T_co:
        """Do the job. `progress` is called with the share that is done, 0 to 1."""


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def perform(job: Work[T], progress: Callable[[float], None]) -> T:
    """Do one piece of work, here."""
    return job.perform(progress)


def execute(
    jobs: Sequence[Work[T]], *, workers: int | None = None, progress: bool = True, title: str = "runs"
) -> list[T]:
    """Do all runs, up to `workers` at a time (default: as many as there are cores for), with a progress bar on stderr.

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
    at_a_time = max(1, available_cores() // max(job.cores for job in jobs))
    count = min(workers or at_a_time, len(jobs))
    with bar_over(title, [job.cost for job in jobs], shown=progress) as bar:
        try:
            if count == 1:
                return _execute_here(jobs, bar)
            if not any(job.in_python for job in jobs):
                return _execute_in_threads(jobs, count, bar)
            return _execute_in_processes(jobs, count, bar)
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


def _execute_in_threads(jobs: Sequence[Work[T]], count: int, bar: Bar) -> list[T]:
    """Do all jobs in threads of this process: the core lets go of Python's lock while it simulates."""
    reports: SimpleQueue[tuple[int, float]] = SimpleQueue()
    stopped = threading.Event()

    def work(index: int) -> T:
        def report(share: float) -> None:
            if stopped.is_set():
                raise Error("stopped")
            reports.put((index, share))

        return perform(jobs[index], Throttled(report))

    with interrupts_noted() as interrupted:
        executor = ThreadPoolExecutor(count, thread_name_prefix="run")
        try:
            started = {index: executor.submit(work, index) for index in _costliest_first(jobs)}
            return _results(started, reports, bar, interrupted)
        finally:
            stopped.set()
            executor.shutdown(cancel_futures=True)


@contextmanager
def interrupts_noted() -> Iterator[threading.Event]:
    """Note Ctrl-C instead of raising it wherever the main thread is, which may hold the locks that threads wait for."""
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted
        return

    def note(*_: object) -> None:
        if interrupted.is_set():  # a plug-in may compute for ever, and a thread cannot be ended
            os.write(2, b"\naqmlab: interrupted; what is finished is kept\n")
            os._exit(Interrupted.exit_code)
        interrupted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def _execute_in_processes(jobs: Sequence[Work[T]], count: int, bar: Bar) -> list[T]:
    """Do all jobs in processes of their own, which Python's lock does not hold up."""
    with worker_processes(count) as (executor, reports):
        with starting():
            started = {index: executor.submit(work_in_process, index, jobs[index]) for index in _costliest_first(jobs)}
        return _results(started, reports, bar)


def _costliest_first(jobs: Sequence[Work[T]]) -> list[int]:
    return sorted(range(len(jobs)), key=lambda index: -jobs[index].cost)


def _results(
    started: Mapping[int, Future[T]], reports: Reports, bar: Bar, interrupted: threading.Event | None = None
) -> list[T]:
    """Wait for all runs and keep the bar moving; the first error ends it. What they returned, in order."""
    finished: SimpleQueue[int] = SimpleQueue()

    def when_done(index: int) -> Callable[[Future[T]], None]:
        return lambda _: finished.put(index)

    for index, future in started.items():
        future.add_done_callback(when_done(index))
    left = len(started)
    while left:
        done = _taken(finished)
        while not reports.empty():
            job, share = reports.get()
            if not started[job].done():
                bar.report(job, share)
        for index in done:
            error = started[index].exception()
            if error is not None:
                raise error
            bar.done(index)
        left -= len(done)
        if interrupted is not None and interrupted.is_set():
            raise KeyboardInterrupt
    return [started[index].result() for index in range(len(started))]


def _taken(finished: SimpleQueue[int]) -> list[int]:
    """Wait for the next job that is finished, but not for long; take all that are."""
    try:
        taken = [finished.get(timeout=REPORT_EVERY_S)]
        while not finished.empty():
            taken.append(finished.get())
    except Empty:
        return []
    return taken


def _how_to_go_on(what: str, jobs: Sequence[Work[T]], finished: int) -> str:
    folders = {job.place for job in jobs if job.place is not None}
    state = f"{what}; {finished} of {len(jobs)} runs finished"
    if not folders:
        return f"{state}, none kept (no output folder was given)"
    where = folders.pop() if len(folders) == 1 else Path(os.path.commonpath(folders))
    return f"{state} and kept in {where}; the same command goes on with the rest"
