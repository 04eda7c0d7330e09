"""Many independent runs on many processor cores.

A worker writes its finished runs itself, while it computes the next (`portions`); the parent only counts finished runs.
So every stored run is on disk, whatever happens. Threads do the runs of scenarios. They share only memory: they start
at once, and nothing is copied. Processes do the work that computes in Python.
"""

from __future__ import annotations

import importlib
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from aqmlab.errors import Error, Interrupted, StorageError, WorkerError
from aqmlab.runs.portions import Portion, Work, in_portions
from aqmlab.runs.progress import REPORT_EVERY_S, Bar, Throttled, bar_over
from aqmlab.runs.worker_processes import Reports, starting, work_in_process, worker_processes
from aqmlab.signals import exit_code

T = TypeVar("T")


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def execute(
    jobs: Sequence[Work[T]], *, workers: int | None = None, progress: bool = True, title: str = "runs"
) -> list[T]:
    """Do all runs with workers of their own; see `Workers`."""
    with Workers(workers, progress=progress) as own:
        return own.execute(jobs, title=title)


class Workers:
    """A pool of workers. Processes that were started for some jobs serve later jobs too, until the context ends.

    Parameters
    ----------
    most
        How many jobs are done at a time; default: as many as there are cores for.
    progress
        Whether there is a progress bar on stderr.
    """

    def __init__(self, most: int | None = None, *, progress: bool = True) -> None:
        self._most, self._progress = most, progress
        self._context = ExitStack()
        self._processes: tuple[ProcessPoolExecutor, Reports] | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401 - what went wrong, as Python hands it over
        self._context.__exit__(*error)

    def execute(
        self,
        jobs: Sequence[Work[T]],
        *,
        title: str = "runs",
        finished: Callable[[int], None] = lambda _: None,
    ) -> list[T]:
        """Do all jobs.

        Parameters
        ----------
        title
            The title of the progress bar.
        finished
            Called in this thread with the number of each job that is done, while others are done.

        Returns
        -------
        list
            Per job, in order, what its `keep` returned.

        Raises
        ------
        Interrupted
            On Ctrl-C. Its text names the number of finished runs and how to go on.
        StorageError
            If a result cannot be written.
        """
        if not jobs:
            return []
        count = min(self._at_a_time(jobs), len(jobs))
        divided = in_portions([job.cost for job in jobs], count)
        portions = [Portion([jobs[index] for index in indices]) for indices in divided]
        with bar_over(title, [portion.cost for portion in portions], shown=self._progress, runs=len(jobs)) as bar:
            lot = _Lot(portions, divided, bar, finished)
            try:
                if count == 1:
                    found = _do_here(lot)
                elif not any(job.in_python for job in jobs):
                    found = _do_in_threads(lot, count)
                else:
                    found = _do_in_processes(lot, *self._started(count))
            except KeyboardInterrupt:
                raise Interrupted(_how_to_go_on("interrupted", jobs, bar.finished)) from None
            except StorageError as error:
                raise StorageError(_how_to_go_on(str(error), jobs, bar.finished)) from None
            except BrokenProcessPool:
                text = "a worker process died, perhaps for want of memory (try fewer --workers)"
                raise WorkerError(_how_to_go_on(text, jobs, bar.finished)) from None
        outputs = dict(zip(chain.from_iterable(divided), chain.from_iterable(found), strict=True))
        return [outputs[index] for index in range(len(jobs))]

    def import_ahead(self, module: str, jobs: Sequence[Work[Any]] = ()) -> None:
        """Have as many processes as these jobs can use import what they need, while this one does something else."""
        count = self._at_a_time(jobs)
        if count > 1:
            executor, _ = self._started(count)
            with starting():
                for _ in range(count):
                    executor.submit(importlib.import_module, module)

    def _at_a_time(self, jobs: Sequence[Work[T]]) -> int:
        return self._most or max(1, available_cores() // max((job.cores for job in jobs), default=1))

    def _started(self, count: int) -> tuple[ProcessPoolExecutor, Reports]:
        """Return the processes; there are `count` of them if they are not there yet."""
        if self._processes is None:
            self._processes = self._context.enter_context(worker_processes(count))
        return self._processes


@dataclass(frozen=True)
class _Lot(Generic[T]):
    """Portions of jobs that run at the same time, the numbers of their jobs, and the receivers of progress."""

    portions: Sequence[Portion[T]]
    numbers: Sequence[Sequence[int]]
    bar: Bar
    finished: Callable[[int], None]

    def done(self, number: int) -> None:
        """Note that a portion is done."""
        self.bar.done(number, len(self.numbers[number]))
        for job in self.numbers[number]:
            self.finished(job)


def _do_here(lot: _Lot[T]) -> list[list[T]]:
    outputs = []
    for number, portion in enumerate(lot.portions):
        outputs.append(portion.perform(Throttled(partial(lot.bar.report, number))))
        lot.done(number)
    return outputs


def _do_in_threads(lot: _Lot[T], count: int) -> list[list[T]]:
    """Do all in threads of this process: the core lets go of Python's lock while it simulates."""
    reports: SimpleQueue[tuple[int, float]] = SimpleQueue()
    stopped = threading.Event()

    def work(number: int) -> list[T]:
        def report(share: float) -> None:
            if stopped.is_set():
                raise Error("stopped")
            reports.put((number, share))

        return lot.portions[number].perform(Throttled(report))

    with interrupts_noted() as interrupted:
        executor = ThreadPoolExecutor(count, thread_name_prefix="run")
        try:
            started = [executor.submit(work, number) for number in range(len(lot.portions))]
            return _results(lot, started, reports, interrupted)
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
            os._exit(exit_code())
        interrupted.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield interrupted
    finally:
        signal.signal(signal.SIGINT, before)


def _do_in_processes(lot: _Lot[T], executor: ProcessPoolExecutor, reports: Reports) -> list[list[T]]:
    """Do all in processes of their own, which Python's lock does not hold up."""
    with starting():
        started = [executor.submit(work_in_process, number, one) for number, one in enumerate(lot.portions)]
    return _results(lot, started, reports)


def _results(
    lot: _Lot[T], started: Sequence[Future[list[T]]], reports: Reports, interrupted: threading.Event | None = None
) -> list[list[T]]:
    """Wait for all portions, keep the bar moving, and return the results in order; the first error ends the wait."""
    finished: SimpleQueue[int] = SimpleQueue()

    def when_done(number: int) -> Callable[[Future[list[T]]], None]:
        return lambda _: finished.put(number)

    for number, future in enumerate(started):
        future.add_done_callback(when_done(number))
    left = len(started)
    while left:
        done = _taken(finished)
        while not reports.empty():
            number, share = reports.get()
            if not started[number].done():
                lot.bar.report(number, share)
        for number in done:
            error = started[number].exception()
            if error is not None:
                raise error
            lot.done(number)
        left -= len(done)
        if interrupted is not None and interrupted.is_set():
            raise KeyboardInterrupt
    return [future.result() for future in started]


def _taken(finished: SimpleQueue[int]) -> list[int]:
    """Wait for the next portion that is finished, but not for long; take all that are."""
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
