"""Executors of runs: this process, processes on this machine, an executor that is handed over, or a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Any, Protocol

from aqmlab.errors import InputError, WorkerError
from aqmlab.runs.pool import available_cores
from aqmlab.runs.progress import Throttled
from aqmlab.runs.sweeps.work import Task, TaskDone, perform
from aqmlab.runs.worker_processes import start_workers, starting, stop_workers, work_in_process

DASK_TIMEOUT_S = 10
ASK_AGAIN_S = 5.0
WORTH_PROCESSES_S = 1.0
"""Work below this is done before processes would be ready for it."""


class Crew(Protocol):
    """Workers that take tasks."""

    @property
    def size(self) -> int:
        """How many tasks they do at a time."""

    @property
    def task_s(self) -> float:
        """How long a task should take, in s: long against handing it over, short against what may be lost."""

    def submit(self, number: int, task: Task, progress: Callable[[float], None]) -> Future[TaskDone]:
        """Submit a task; `progress` may be called with the share of it that is done."""

    def reports(self) -> Iterator[tuple[int, float]]:
        """Which share of which task is done, as far as workers reported it since the last call."""

    def lost(self, error: BaseException) -> bool:
        """Whether this error says that a worker died, so that its task must be done again."""

    def recover(self) -> bool:
        """Go on after that. Whether all that was in hand and is not finished is lost too."""


class Here:
    """The process that sweeps, one task at a time."""

    size = 1
    task_s = 0.0

    def submit(self, number: int, task: Task, progress: Callable[[float], None]) -> Future[TaskDone]:
        """Do it at once."""
        future: Future[TaskDone] = Future()
        future.set_result(task.perform(Throttled(progress)))
        return future

    def reports(self) -> Iterator[tuple[int, float]]:
        """Nothing is left to tell."""
        return iter(())

    def lost(self, error: BaseException) -> bool:
        """Return False: threads do not die alone."""
        return False

    def recover(self) -> bool:
        """Do nothing."""
        return False


class Processes:
    """Processes on this machine. If one dies all are restarted, and lost work is repeated."""

    task_s = 2.0

    def __init__(self, count: int) -> None:
        self.size = count
        self._executor, self._reports = start_workers(count)

    def submit(self, number: int, task: Task, progress: Callable[[float], None]) -> Future[TaskDone]:
        """Hand it to the next process that is free."""
        with starting():
            return self._executor.submit(work_in_process, number, task)

    def reports(self) -> Iterator[tuple[int, float]]:
        """Yield the reports that the processes sent."""
        while not self._reports.empty():
            yield self._reports.get()

    def lost(self, error: BaseException) -> bool:
        """Whether a process died."""
        return isinstance(error, BrokenExecutor)

    def recover(self) -> bool:
        """Restart all. The channel is replaced too, since a dying process may have left it half written."""
        stop_workers(self._executor)
        self._executor, self._reports = start_workers(self.size)
        return True

    def stop(self) -> None:
        """End them."""
        stop_workers(self._executor)


class Foreign:
    """An executor that somebody else has made and will end."""

    task_s = 2.0

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self.size = int(getattr(executor, "_max_workers", 0) or available_cores())

    def submit(self, number: int, task: Task, progress: Callable[[float], None]) -> Future[TaskDone]:
        """Hand it over."""
        return self._executor.submit(perform, task)

    def reports(self) -> Iterator[tuple[int, float]]:
        """It cannot tell."""
        return iter(())

    def lost(self, error: BaseException) -> bool:
        """Whether it is broken."""
        return isinstance(error, BrokenExecutor)

    def recover(self) -> bool:
        """Say that nothing can be done about it."""
        raise WorkerError("a worker of the executor died, and the executor takes no more work")


class Dask:
    """The workers of a Dask cluster. Dask itself repeats the tasks of a lost worker, up to its own limit."""

    task_s = 5.0

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - Dask has no types
        self._client = client
        self._executor = client.get_executor(pure=False)
        self._size, self._asked = 1, -ASK_AGAIN_S

    @property
    def size(self) -> int:
        """Threads of all workers that are there now; they may come and go."""
        if time.monotonic() - self._asked > ASK_AGAIN_S:
            found = sum(self._client.nthreads().values())
            if not found and self._size:
                print("aqmlab: the Dask cluster has no worker now; waiting for one", file=sys.stderr)
            self._size, self._asked = found, time.monotonic()
        return max(self._size, 1)

    def submit(self, number: int, task: Task, progress: Callable[[float], None]) -> Future[TaskDone]:
        """Hand it to the scheduler."""
        future: Future[TaskDone] = self._executor.submit(perform, task)
        return future

    def reports(self) -> Iterator[tuple[int, float]]:
        """It cannot tell."""
        return iter(())

    def lost(self, error: BaseException) -> bool:
        """Whether Dask gave a task up after several workers died on it."""
        from distributed import KilledWorker

        return isinstance(error, KilledWorker)

    def recover(self) -> bool:
        """Do nothing: the scheduler goes on with the workers it has."""
        return False


@contextlib.contextmanager
def crew_for(
    *, workers: int | None, executor: Executor | None, dask: str | None, blocks: int, cost: float
) -> Iterator[Crew]:
    """Yield the executor for a sweep of so many blocks, which would take one core about `cost` seconds."""
    if executor is not None and dask is not None:
        raise InputError("give an executor or the address of a Dask cluster, not both")
    if dask is not None:
        with _dask(dask) as crew:
            yield crew
        return
    if executor is not None:
        yield Foreign(executor)
        return
    count = min(workers or available_cores(), blocks)
    if count <= 1 or (workers is None and cost < WORTH_PROCESSES_S):
        yield Here()
        return
    processes = Processes(count)
    try:
        yield processes
    finally:
        processes.stop()


@contextlib.contextmanager
def _dask(address: str) -> Iterator[Dask]:
    try:
        import distributed
    except ImportError:
        raise InputError("--dask: needs Dask, which is not installed (pip install 'aqmlab[dask]')") from None
    _must_be_address(address)
    with _quiet():
        try:
            client = _dask_client(distributed, address)
        except (OSError, ValueError, TypeError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"--dask {address}: no Dask scheduler answers there ({reason})") from None
        try:
            yield Dask(client)
        except CancelledError:
            raise WorkerError(f"--dask {address}: the connection to the scheduler was lost") from None
        finally:
            client.close(timeout=1)


def _must_be_address(address: str) -> None:
    """Raise if the text cannot be a scheduler's address: a client made with it fails only long afterwards."""
    from distributed.comm.addressing import parse_address, parse_host_port
    from distributed.comm.registry import backends

    try:
        scheme, place = parse_address(address)
        if scheme not in backends:
            raise ValueError(f"unknown scheme {scheme!r}; known: {', '.join(sorted(backends))}")
        if scheme != "inproc":
            host, port = parse_host_port(place)
            if not host or not host.isprintable() or not 0 < port < 65536:
                raise ValueError("a host and a port from 1 to 65535 are needed")
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"--dask {address}: no Dask scheduler answers there ({error}; allowed: tcp://HOST:PORT)"
        ) from None


def _dask_client(distributed: Any, address: str) -> Any:  # noqa: ANN401 - Dask has no types
    return distributed.Client(address, timeout=DASK_TIMEOUT_S, set_as_default=False)


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from writing its own lines when a connection fails: one line reports the reason."""
    import logging

    if os.environ.get("AQMLAB_TRACEBACK"):
        yield
        return
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
