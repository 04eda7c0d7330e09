"""The interface of all views: shown lines, and closed at the end."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from typing import Protocol

from aqmlab.live.telemetry.snapshot import Snapshot

Clock = Callable[[], float]


class Line:
    """A line as it came; it is parsed on first use, so that lines that no view uses cost nothing."""

    def __init__(self, text: str) -> None:
        self.text = text.rstrip("\n")

    @cached_property
    def snapshot(self) -> Snapshot:
        """The parsed snapshot."""
        return Snapshot.from_line(self.text)


class View(Protocol):
    """Takes snapshots as fast as they come."""

    def show(self, line: Line) -> None:
        """Take a line."""

    def close(self) -> None:
        """Show the remaining output, and release everything."""


class Paced:
    """Draws at most every `every_s` seconds, and at the end the last snapshot."""

    def __init__(self, draw: Callable[[Snapshot], None], every_s: float, clock: Clock = time.monotonic) -> None:
        self._draw = draw
        self._every_s = every_s
        self._clock = clock
        self._next = clock()
        self._waiting: Line | None = None

    def show(self, line: Line) -> None:
        """Draw a line if it is time, else keep it."""
        self._waiting = line
        now = self._clock()
        if now >= self._next:
            self._next = self._next + self._every_s if now < self._next + self._every_s else now + self._every_s
            self.close()

    def close(self) -> None:
        """Draw what came last, if it is not drawn yet."""
        line, self._waiting = self._waiting, None
        if line is not None:
            self._draw(line.snapshot)
