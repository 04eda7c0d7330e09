"""Executors of portions: this thread, threads, an executor of the caller, a Dask cluster; `processes` has one more."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from aqmlab.errors import Error, InputError, WorkerError
from aqmlab.runs.portions import PORTION_S, Portion, Results
from aqmlab.runs.progress import Throttled

DASK_TIMEOUT_S = 10
COUNT_AGAIN_S = 5.0
Report = Callable[[int, float], None]
"""Called with the number of a portion and the share of it that is done."""
T = TypeVar("T")


class Executor(ABC):
    """Does portions.

    Attributes
    ----------
    size
        How many portions are done at a time.
    portion_s
        Most that a portion of several jobs takes, in s: long against handing it over.
    lost
        Errors that say that a worker died, so that its portion must be done again.
    reports
        Numbers of portions, and the shares of them that are done.
    """

    size: int = 1
    portion_s: float = PORTION_S
    lost: tuple[type[BaseException], ...] = ()

    def __init__(self) -> None:
        self.reports: Any = SimpleQueue[tuple[int, float]]()

    @abstractmethod
    def submit(self, number: int, portion: Portion[T], report: Report) -> Future[Results[T]]:
        """Submit a portion; this thread calls `report` if it does the portion itself."""

    def recover(self) -> bool:
        """Go on after a worker died; whether all unfinished portions are lost too."""
        return False

    def close(self) -> None:  # noqa: B027 - by default there are none
        """End the workers."""


class Serial(Executor):
    """Does a portion when it is submitted, in this thread and in a context."""

    def __init__(self, context: Callable[[], contextlib.AbstractContextManager[None]]) -> None:
        super().__init__()
        self._context = context

    def submit(self, number: int, portion: Portion[T], report: Report) -> Future[Results[T]]:
        """Do the portion."""
        future: Future[Results[T]] = Future()
        with self._context():
            future.set_result(portion.perform(Throttled(partial(report, number))))
        return future


class Threads(Executor):
    """Threads of this process: they start at once, nothing is copied, and the core simulates without Python's lock."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.size, self._stopped = count, threading.Event()
        self._pool = futures.ThreadPoolExecutor(count, thread_name_prefix="run")

    def submit(self, number: int, portion: Portion[T], report: Report) -> Future[Results[T]]:
        """Hand a portion to the next thread that is free."""
        return self._pool.submit(portion.perform, Throttled(partial(self._report, number)))

    def _report(self, number: int, share: float) -> None:
        if self._stopped.is_set():
            raise Error("stopped")
        self.reports.put((number, share))

    def close(self) -> None:
        """Stop the threads at their next report of progress, and wait for them."""
        self._stopped.set()
        self._pool.shutdown(cancel_futures=True)


class External(Executor):
    """An executor that the caller has made and will end. It cannot report progress."""

    portion_s = 2.0
    lost: tuple[type[BaseException], ...] = (futures.BrokenExecutor,)

    def __init__(self, executor: Any) -> None:  # noqa: ANN401 - Dask has no types
        super().__init__()
        self._executor = executor
        self.size = int(getattr(executor, "_max_workers", 0) or available_cores())

    def submit(self, number: int, portion: Portion[T], report: Report) -> Future[Results[T]]:
        """Hand a portion over."""
        future: Future[Results[T]] = self._executor.submit(portion.perform, _unreported)
        return future

    def recover(self) -> bool:
        """Raise: a broken executor takes no work."""
        raise WorkerError("a worker of the executor died, and the executor takes no more work")


class Dask(External):
    """The workers of a Dask cluster. Dask itself repeats the portions of a lost worker, up to its own limit."""

    portion_s = 5.0

    def __init__(self, client: Any) -> None:  # noqa: ANN401 - Dask has no types
        from distributed import KilledWorker

        super().__init__(client.get_executor(pure=False))
        self._client, self.lost = client, (KilledWorker,)
        self._count_threads()

    def _count_threads(self) -> None:
        """Count the threads of all workers that are there now; they may come and go."""
        found = sum(self._client.nthreads().values())
        if not found:
            print("aqmlab: the Dask cluster has no worker now; waiting for one", file=sys.stderr)
        self.size, self._counted = max(found, 1), time.monotonic()

    def submit(self, number: int, portion: Portion[T], report: Report) -> Future[Results[T]]:
        """Hand a portion over."""
        if time.monotonic() - self._counted > COUNT_AGAIN_S:
            self._count_threads()
        return super().submit(number, portion, report)

    def recover(self) -> bool:
        """Go on with the workers that are left."""
        return False


def available_cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _unreported(share: float) -> None:
    """Do nothing: a portion elsewhere cannot report its progress."""


@contextlib.contextmanager
def dask_cluster(address: str) -> Iterator[Dask]:
    """Connect to a Dask scheduler for the time of the context."""
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
        except futures.CancelledError:
            raise WorkerError(f"--dask {address}: the connection to the scheduler was lost") from None
        finally:
            client.close(timeout=1)


def _dask_client(distributed: Any, address: str) -> Any:  # noqa: ANN401 - Dask has no types
    return distributed.Client(address, timeout=DASK_TIMEOUT_S, set_as_default=False)


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


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask from writing its own lines when a connection fails: one line reports the reason."""
    log = logging.getLogger("distributed")
    before = log.level
    log.setLevel(before if os.environ.get("AQMLAB_TRACEBACK") else logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
