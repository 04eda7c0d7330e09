"""SIGTERM and SIGHUP end a command as Ctrl-C does: one line, children ended, temporary folders removed."""

from __future__ import annotations

import signal
import time
from types import FrameType

ENDING = (signal.SIGTERM, signal.SIGHUP)
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


def exit_code() -> int:
    """Return the exit code of an interrupted command: 128 and the number of the signal, 130 after Ctrl-C."""
    return 128 + (signal.SIGINT if _received is None else _received)
