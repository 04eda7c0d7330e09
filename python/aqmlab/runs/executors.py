"""Executors of portions: this thread, threads, processes of this machine, an executor of the caller, a Dask cluster."""

from __future__ import annotations

import contextlib
import importlib
import logging
import multiprocessing as mp
import os
import signal
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from aqmlab.errors import Error, InputError, WorkerError, show_warnings_in_one_line
from aqmlab.runs.portions import PORTION_S, Portion, Results
from aqmlab.runs.progress import Throttled
from aqmlab.signals import ENDING, held_back

if TYPE_CHECKING:
    import multiprocessing.queues

DASK_TIMEOUT_S = 10
COUNT_AGAIN_S = 5.0
Report = Callable[[int, float], None]
"""Called with the number of a portion and the share of it that is done."""
HELD = (signal.SIGINT, *ENDING)
"""Signals that the parent alone acts on."""
SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that is Python's option ``-P``."""
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
        host, port = parse_host_port(place) if scheme != "inproc" else (scheme, 1)
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


class Processes(Executor):
    """Processes of this machine, which are started when work is submitted. If one dies all are restarted."""

    portion_s = 2.0
    lost = (futures.BrokenExecutor,)

    def __init__(self, count: int) -> None:
        super().__init__()
        self.size = count
        self._start()

    def _start(self) -> None:
        context = mp.get_context("spawn")
        with _starting():  # the queue's lock may start multiprocessing's resource tracker
            self.reports = context.SimpleQueue()
        self._pool = futures.ProcessPoolExecutor(
            self.size, mp_context=context, initializer=_start_worker, initargs=(self.reports,)
        )

    def submit(self, number: int, portion: Portion[T], report: Report) -> Future[Results[T]]:
        """Hand a portion to the next process that is free."""
        with _starting():
            return self._pool.submit(_work, number, portion)

    def import_ahead(self, module: str) -> None:
        """Have all processes import a module, while this one does something else."""
        with _starting():
            for _ in range(self.size):
                self._pool.submit(importlib.import_module, module)

    def recover(self) -> bool:
        """Replace all processes, and the channel of reports, which a dying process may have left half written."""
        self.close()
        self._start()
        return True

    def close(self) -> None:
        """End the processes at once: unfinished work is not wanted, finished work is on disk.

        One that is ended while it sends its answer leaves part of it in the pipe. The executor's thread waits for the
        rest until no process can write it, and Python at its end for that thread: so the last writer, this process,
        lets go.
        """
        processes = list((getattr(self._pool, "_processes", None) or {}).values())
        answers = getattr(self._pool, "_result_queue", None)
        self._pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.kill()  # SIGTERM is held back
        for process in processes:
            process.join()
        if answers is not None:
            answers._writer.close()


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Start processes within the context, which inherit its state.

    * The signals that end a command are held back: a terminal, ``timeout`` and service managers signal all processes of
      a command; the parent ends the others.
    * ``multiprocessing`` starts interpreters with ``python -c``, which puts the current directory first in the path: a
      ``json.py`` or ``struct.py`` that lies there would be executed. `SAFE_PATH` keeps it out.
    * Workers do not need the caller's main module. So a script need not guard its main part, and may come from standard
      input.
    """
    main, path = sys.modules["__main__"], os.environ.get(SAFE_PATH)
    hidden: dict[str, Any] = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__, os.environ[SAFE_PATH] = None, "1"
    try:
        with held_back():
            yield
    finally:
        os.environ.pop(SAFE_PATH)
        if path is not None:
            os.environ[SAFE_PATH] = path
        vars(main).update(hidden)


_channel: multiprocessing.queues.SimpleQueue[tuple[int, float]] | None = None


def _start_worker(channel: multiprocessing.queues.SimpleQueue[tuple[int, float]]) -> None:
    global _channel
    _channel = channel
    show_warnings_in_one_line()
    for number in HELD:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Do not go on alone when the parent is killed: no other process would end this one."""
    parent = mp.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(number: int, portion: Portion[T]) -> Results[T]:
    channel = _channel
    if channel is None:
        raise Error("a worker was not started by aqmlab")
    return portion.perform(Throttled(lambda share: channel.put((number, share))))
