"""SIGTERM and SIGHUP end a command as Ctrl-C does: one line, children ended, temporary folders removed.

Windows lacks SIGHUP and the holding of signals; its SIGBREAK takes the place of SIGHUP.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING: tuple[signal.Signals, ...] = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)
"""Signals of a service manager, of ``timeout`` and of a terminal that is closed."""
REPEATED_S = 5.0
"""``timeout`` and terminals send a signal twice; the second must not stop the removal that the first began."""

_received: int | None = None
_received_at = -REPEATED_S


def end_as_ctrl_c() -> None:
    """Pass each of `ENDING` to the handler of Ctrl-C; one that is ignored, as under ``nohup``, stays ignored."""
    for number in ENDING:
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, interrupt)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Do as Ctrl-C does now, but not again within `REPEATED_S`."""
    global _received, _received_at
    now = time.monotonic()
    if now - _received_at < REPEATED_S:
        return
    _received, _received_at = number, now
    ctrl_c = signal.getsignal(signal.SIGINT)
    if not callable(ctrl_c):
        raise KeyboardInterrupt
    ctrl_c(number, frame)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold back Ctrl-C and `ENDING`, in this thread and in processes that are started within the context."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *ENDING))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def exit_code() -> int:
    """Return the exit code of an interrupted command: 128 and the number of the signal, 130 after Ctrl-C."""
    return 128 + (signal.SIGINT if _received is None else _received)
