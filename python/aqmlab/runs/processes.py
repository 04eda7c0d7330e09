"""Worker processes: started without this process's main module, ended with it, and only by it."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing as mp
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from aqmlab.errors import Error, show_warnings_in_one_line
from aqmlab.runs.executors import Executor, Report
from aqmlab.runs.portions import Portion, Results
from aqmlab.runs.progress import Throttled
from aqmlab.signals import ENDING

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

HELD = (signal.SIGINT, *ENDING)
"""Signals that the parent alone acts on."""
SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that is Python's option ``-P``."""
T = TypeVar("T")


class Processes(Executor):
    """Processes of this machine, which are started when work is submitted. If one dies all are restarted."""

    portion_s = 2.0
    lost = (BrokenExecutor,)

    def __init__(self, count: int) -> None:
        super().__init__()
        self.size = count
        self._start()

    def _start(self) -> None:
        context = mp.get_context("spawn")
        # The queue's lock may start multiprocessing's resource tracker.
        with _interrupts_held(), _current_directory_off_path():
            self.reports = context.SimpleQueue()
        self._pool = ProcessPoolExecutor(
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
    """While work is submitted, which starts processes."""
    with _interrupts_held(), _main_module_hidden(), _current_directory_off_path():
        yield


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back the signals that end a command while processes are started: they inherit the mask.

    A terminal, ``timeout`` and service managers signal all processes of a command; the parent ends the others.
    """
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


@contextlib.contextmanager
def _current_directory_off_path() -> Iterator[None]:
    """Start interpreters that do not import from the current directory before they have this process's ``sys.path``.

    ``multiprocessing`` starts them with ``python -c``, which puts the current directory first: a ``json.py`` or
    ``struct.py`` that lies there would be executed.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


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
