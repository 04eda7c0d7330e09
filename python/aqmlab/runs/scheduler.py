"""The one scheduler of jobs, of whatever command: it hands portions to an executor, and takes the results.

Threads do the runs of scenarios, processes the work that computes in Python. A worker stores finished runs
itself, while it computes the next (`portions`), or returns it to be stored here: so every finished run is on disk,
whatever happens. The work of a worker that died is repeated, as often as is allowed. While another process on the same
store has a job in hand this one does others, and waits for it at the end.
"""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from aqmlab.errors import InputError, Interrupted, StorageError, WorkerError
from aqmlab.runs.executors import Executor, External, Processes, Serial, Threads, available_cores, dask_cluster
from aqmlab.runs.portions import Portion, Results, Waiting, Work
from aqmlab.runs.progress import REPORT_EVERY_S, Bar, bar_over
from aqmlab.signals import exit_code

AHEAD = 2
"""Portions in hand for each worker: the one it does, and the next."""
LOOK_AGAIN_S = 0.3
WORTH_PROCESSES_S = 1.0
"""Work below this is done before processes would be ready for it."""
T = TypeVar("T")
Claim = Callable[[int], "Work[T] | bool"]
"""Returns the job of a number if it is to be done now, True if its results are there, False if it is done elsewhere."""


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
    executor, dask
        An executor, or the address of a Dask scheduler, that does all jobs in place of threads and processes.
    deaths
        How often workers may die at a job before it is given up: it may be what kills them.
    noun
        The name of the jobs in messages.
    stop
        Called when the work ends by an error or an interrupt, before the workers are waited for.
    """

    def __init__(
        self,
        most: int | None = None,
        *,
        progress: bool = True,
        executor: futures.Executor | None = None,
        dask: str | None = None,
        deaths: int = 0,
        noun: str = "runs",
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        if executor is not None and dask is not None:
            raise InputError("give an executor or the address of a Dask cluster, not both")
        self._most, self._progress, self._executor, self._dask = most, progress, executor, dask
        self._deaths, self._noun, self._stop = deaths, noun, stop
        self._context = ExitStack()
        self._processes: Processes | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *error: Any) -> None:  # noqa: ANN401 - what went wrong, as Python hands it over
        self._context.__exit__(*error)

    def execute(
        self, jobs: Sequence[Work[T]], *, title: str = "runs", finished: Callable[[int], None] = lambda _: None
    ) -> list[T]:
        """Do all jobs; return the results of their `keep`, in order.

        Parameters
        ----------
        title
            The title of the progress bar.
        finished
            Called in this thread with the number of each job that is done, while others are done.

        Raises
        ------
        Interrupted
            On Ctrl-C. Its text names the number of finished runs and how to go on.
        StorageError
            If a result cannot be written.
        """
        found: dict[int, T] = {}

        def take(number: int, result: T) -> None:
            found[number] = result
            finished(number)

        self.each(jobs, take, title=title)
        return [found[number] for number in range(len(jobs))]

    def each(
        self,
        jobs: Sequence[Work[T]],
        take: Callable[[int, T], None],
        *,
        title: str,
        claim: Claim[T] | None = None,
        known: int = 0,
    ) -> None:
        """Do all jobs as `execute` does; the number of each and its result are passed to `take` and not kept.

        `claim` is asked before a job is handed out; by default all jobs are done. `known` is the number of runs that
        were finished before, for messages.
        """
        if not jobs:
            return
        if len(jobs) == 1 and known == 0 and self._has_spare_core():
            jobs = [jobs[0].alone()]
        total = known + sum(job.runs for job in jobs)
        costs = [job.cost for job in jobs]
        with interrupts_noted() as interrupts, bar_over(title, costs, shown=self._progress, runs=total) as bar:
            bar.finished = known
            try:
                with self._executor_of(jobs, interrupts) as executor:
                    try:
                        _Schedule(jobs, take, claim or jobs.__getitem__, executor, bar, interrupts, self._deaths).work()
                    except BaseException:
                        self._stop()
                        raise
            except KeyboardInterrupt:
                raise Interrupted(self._how_to_go_on("interrupted", jobs, f"{bar.finished} of {total}")) from None
            except (StorageError, WorkerError) as error:
                raise type(error)(self._how_to_go_on(str(error), jobs, f"{bar.finished} of {total}")) from None

    def import_ahead(self, module: str, jobs: Sequence[Work[Any]] = ()) -> None:
        """Have as many processes as these jobs can use import what they need, while this one does something else."""
        count = self._at_a_time(jobs)
        if count > 1:
            self._started(count).import_ahead(module)

    def _at_a_time(self, jobs: Sequence[Work[T]]) -> int:
        return self._most or max(1, available_cores() // max((job.cores for job in jobs), default=1))

    def _has_spare_core(self) -> bool:
        here = self._executor is None and self._dask is None
        return here and self._most != 1 and available_cores() > 1

    def _started(self, count: int) -> Processes:
        """Return the processes; there are `count` of them if they are not there yet."""
        if self._processes is None:
            self._processes = self._context.enter_context(closing(Processes(count)))
        return self._processes

    def _executor_of(self, jobs: Sequence[Work[T]], interrupts: Interrupts) -> AbstractContextManager[Executor]:
        count = min(self._at_a_time(jobs), len(jobs))
        in_python = any(job.in_python for job in jobs)
        short = self._most is None and self._processes is None and sum(job.cost for job in jobs) < WORTH_PROCESSES_S
        if self._dask is not None:
            return dask_cluster(self._dask)
        if self._executor is not None:
            return nullcontext(External(self._executor))
        if count == 1 or (in_python and short):
            return nullcontext(Serial(interrupts.raised))
        return nullcontext(self._started(count)) if in_python else closing(Threads(count))

    def _how_to_go_on(self, what: str, jobs: Sequence[Work[T]], state: str) -> str:
        folders = {job.place for job in jobs if job.place is not None}
        state = f"{what}; {state} {self._noun} finished"
        if not folders:
            return f"{state}, none kept (no output folder was given)"
        where = folders.pop() if len(folders) == 1 else Path(os.path.commonpath(folders))
        return f"{state} and kept in {where}; the same command goes on with the rest"


@dataclass
class _Schedule(Generic[T]):
    """Jobs on their way through an executor; the fields are as in `Workers`."""

    jobs: Sequence[Work[T]]
    take: Callable[[int, T], None]
    claim: Claim[T]
    executor: Executor
    bar: Bar
    interrupts: Interrupts
    deaths: int

    def __post_init__(self) -> None:
        self._waiting = Waiting([job.cost for job in self.jobs])
        self._portions: list[tuple[list[int], float]] = []
        self._in_hand: dict[Future[Results[T]], int] = {}
        self._died: Counter[int] = Counter()

    def work(self) -> None:
        """Do all jobs; return when the results of all are there, by this process or another."""
        try:
            while self._waiting or self._in_hand:
                self._check()
                self._hand_out()
                if self._in_hand:
                    self._take_back()
                elif self._waiting:
                    self.interrupts.wait(LOOK_AGAIN_S)
        finally:
            for future in self._in_hand:
                future.cancel()

    def _hand_out(self) -> None:
        while self._waiting and len(self._in_hand) < AHEAD * self.executor.size:
            claimed: list[Work[T]] = []
            accepts = partial(self._accepts, claimed)
            numbers = self._waiting.portion(self.executor.size, self.executor.portion_s, accepts)
            if not numbers or self._submit(numbers, Portion(claimed)).done():
                return

    def _accepts(self, claimed: list[Work[T]], number: int) -> bool | None:
        job = self.claim(number)
        if isinstance(job, Work):
            claimed.append(job)
            return True
        if job:
            self.bar.done(number, self.jobs[number].runs)
        return False if job else None

    def _submit(self, numbers: list[int], portion: Portion[T]) -> Future[Results[T]]:
        index = len(self._portions)
        self._portions.append((numbers, portion.cost))
        try:
            future = self.executor.submit(index, portion, self._report)
        except self.executor.lost as error:
            future = Future()
            future.set_exception(error)
        self._in_hand[future] = index
        return future

    def _take_back(self) -> None:
        done, _ = wait(self._in_hand, timeout=REPORT_EVERY_S, return_when=FIRST_COMPLETED)
        while not self.executor.reports.empty():
            self._show(*self.executor.reports.get())
        lost = []
        for future in done:
            index, error = self._in_hand.pop(future), future.exception()
            if error is None:
                self._finish(index, *future.result())
            elif isinstance(error, self.executor.lost):
                lost.append(index)
            else:
                raise error
        if lost and self.executor.recover():
            for future in [one for one in self._in_hand if not one.done() or one.cancelled() or one.exception()]:
                lost.append(self._in_hand.pop(future))
        for index in lost:
            self._again(self._portions[index][0])

    def _finish(self, index: int, results: list[T], seconds: float) -> None:
        numbers, cost = self._portions[index]
        self._waiting.learn(cost, seconds)
        for number, result in zip(numbers, results, strict=True):
            self.take(number, result)
            self.bar.done(number, self.jobs[number].runs)

    def _again(self, numbers: list[int]) -> None:
        self._died.update(numbers)
        most = max(self._died[number] for number in numbers)
        if most > self.deaths:
            what = "a worker process died" if most == 1 else f"workers died {most} times at the same runs"
            raise WorkerError(f"{what}, perhaps for want of memory (try fewer --workers)")
        self._waiting.again(numbers)

    def _report(self, index: int, share: float) -> None:
        self._check()
        self._show(index, share)

    def _show(self, index: int, share: float) -> None:
        """Show the progress of the jobs of a portion, one of which comes after the other."""
        numbers, cost = self._portions[index]
        left = share * cost
        for number in numbers:
            self.bar.report(number, left / self.jobs[number].cost)
            left -= self.jobs[number].cost

    def _check(self) -> None:
        if self.interrupts.is_set():
            raise KeyboardInterrupt


class Interrupts(threading.Event):
    """Notes Ctrl-C instead of raising it where the main thread may hold locks that other threads wait for."""

    _raised = False

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise it meanwhile: this thread computes."""
        self._raised = True
        try:
            yield
        finally:
            self._raised = False

    def note(self, *_: object) -> None:
        """Handle the signal."""
        if self.is_set():  # a plug-in may compute for ever, and a thread cannot be ended
            os.write(2, b"\naqmlab: interrupted; what is finished is kept\n")
            os._exit(exit_code())
        self.set()
        if self._raised:
            raise KeyboardInterrupt


@contextmanager
def interrupts_noted() -> Iterator[Interrupts]:
    """Note Ctrl-C during the context, in the main thread."""
    interrupts = Interrupts()
    if threading.current_thread() is not threading.main_thread():
        yield interrupts
        return
    before = signal.signal(signal.SIGINT, interrupts.note)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)
