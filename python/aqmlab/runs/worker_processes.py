"""Processes that work for this one: started without its main module, ended with it, and only by it."""

from __future__ import annotations

import contextlib
import multiprocessing as mp
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from aqmlab.errors import Error, show_warnings_in_one_line
from aqmlab.runs.progress import Throttled
from aqmlab.signals import ENDING

if TYPE_CHECKING:
    from multiprocessing.queues import SimpleQueue

HELD = (signal.SIGINT, *ENDING)
"""Signals that the parent alone acts on."""
SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable that is Python's option ``-P``."""
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Performs(Protocol[T_co]):
    """A picklable piece of work."""

    def perform(self, progress: Callable[[float], None]) -> T_co:
        """Do the job. `progress` is called with the share that is done, 0 to 1."""


class Reports(Protocol):
    """Where workers report which share of which job is done."""

    def empty(self) -> bool:
        """Whether there is no report."""

    def get(self) -> tuple[int, float]:
        """Take the number of a job and the share of it that is done."""


def start_workers(count: int) -> tuple[ProcessPoolExecutor, Reports]:
    """Make ready processes for `work_in_process`; they are started when work is submitted."""
    context = mp.get_context("spawn")
    # The queue's lock may start multiprocessing's resource tracker.
    with _interrupts_held(), _current_directory_off_path():
        channel: SimpleQueue[tuple[int, float]] = context.SimpleQueue()
    executor = ProcessPoolExecutor(count, mp_context=context, initializer=_start_worker, initargs=(channel,))
    return executor, channel


@contextlib.contextmanager
def worker_processes(count: int) -> Iterator[tuple[ProcessPoolExecutor, Reports]]:
    """Yield processes for `work_in_process`, and their reports. At the end of the context they are ended at once."""
    executor, channel = start_workers(count)
    try:
        yield executor, channel
    finally:
        stop_workers(executor)


@contextlib.contextmanager
def starting() -> Iterator[None]:
    """While work is submitted, which starts the processes."""
    with _interrupts_held(), _main_module_hidden(), _current_directory_off_path():
        yield


def stop_workers(executor: ProcessPoolExecutor) -> None:
    """End the workers at once: unfinished work is not wanted, finished work is on disk.

    One that is ended while it sends its answer leaves part of it in the pipe. The executor's thread waits for the rest
    until no process can write it, and Python at its end for that thread: so the last writer, this process, lets go.
    """
    processes = list((getattr(executor, "_processes", None) or {}).values())
    answers = getattr(executor, "_result_queue", None)
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()  # SIGTERM is held back
    for process in processes:
        process.join()
    if answers is not None:
        answers._writer.close()


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


def work_in_process(index: int, job: Performs[T]) -> T:
    """Do a piece of work in a worker."""
    channel = _channel
    if channel is None:
        raise Error("a worker was not started by aqmlab")
    return job.perform(Throttled(lambda share: channel.put((index, share))))
