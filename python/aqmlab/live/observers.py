"""Observers of a run while it lasts: the views of its link, if any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from aqmlab.errors import to_stderr
from aqmlab.scenario.file import Scenario


class Watching(Protocol):
    """Takes snapshots of the link.

    Attributes
    ----------
    takes_terminal
        Whether it needs the terminal for itself, so that no progress bar is drawn.
    """

    takes_terminal: bool

    def show(self, line: str) -> None:
        """Take a snapshot, as the link wrote it."""


class _NoView:
    takes_terminal = False

    def show(self, line: str) -> None:
        """Discard a snapshot."""


@contextmanager
def watching(names: Sequence[str], scenario: Scenario) -> Iterator[Watching]:
    """Open the views with these names, if any; they are closed at the end."""
    if not names:
        yield _NoView()
        return
    from aqmlab.live.telemetry import open_views

    with open_views(names, scenario=scenario) as views:
        for note in views.notes:
            to_stderr(note)
        yield views
