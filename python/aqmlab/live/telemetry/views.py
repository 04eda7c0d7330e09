"""Which views there are, and all that were asked for as one."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from aqmlab.errors import InputError, to_stderr, unknown
from aqmlab.live.telemetry.jsonl import JsonLines
from aqmlab.live.telemetry.prometheus import Metrics
from aqmlab.live.telemetry.snapshot import SnapshotError
from aqmlab.live.telemetry.tc_text import TcText
from aqmlab.live.telemetry.terminal import Terminal
from aqmlab.live.telemetry.view import Line, View
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link

ON_STDOUT = ("terminal", "tc", "jsonl")
NAMES = (*ON_STDOUT, "prometheus")
ALLOWED = "allowed: terminal, tc, jsonl, jsonl=FILE, prometheus, prometheus=PORT, several with commas between"

Report = Callable[[str], None]


class Views:
    """Several views as one. A view that fails prints one line and is closed; the link goes on.

    Attributes
    ----------
    notes
        Notes by which the user finds a view, for example the address of the metrics.
    takes_terminal
        Whether one of them writes on a terminal, where nothing else can be drawn then.
    """

    def __init__(
        self,
        views: Sequence[View],
        *,
        links: dict[str, Link],
        notes: Sequence[str] = (),
        takes_terminal: bool = False,
        report: Report,
    ) -> None:
        self._views = list(views)
        self._links = links
        self._report = report
        self._refused = False
        self.notes = tuple(notes)
        self.takes_terminal = takes_terminal

    def show(self, line: str) -> None:
        """Show a snapshot, given as the link process wrote it."""
        shared = Line(line)
        for view in self._views.copy():
            try:
                view.show(shared)
            except SnapshotError as error:
                self._refuse(error)
            except OSError as error:
                self._drop(view, error)

    def learn(self, scenario: Scenario) -> None:
        """Take the parameters of the disciplines from a scenario, at the start and when it has changed."""
        self._links.clear()
        self._links.update({link.name: link for link in scenario.links})

    def close(self) -> None:
        """Show what came last and close all; may be called again."""
        while self._views:
            view = self._views.pop()
            try:
                view.close()
            except SnapshotError as error:
                self._refuse(error)
            except OSError as error:
                self._report(_lost(error))

    def __enter__(self) -> Views:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _drop(self, view: View, error: OSError) -> None:
        self._views.remove(view)
        self._report(_lost(error))
        with contextlib.suppress(OSError, SnapshotError):
            view.close()

    def _refuse(self, error: SnapshotError) -> None:
        """Report the first line that cannot be read, and only the first: more would come a hundred times a second."""
        if not self._refused:
            self._refused = True
            self._report(f"statistics: {error}")


def open_views(
    names: Sequence[str],
    *,
    scenario: Scenario | None = None,
    out: TextIO | None = None,
    report: Report | None = None,
) -> Views:
    """Open views of a running link.

    Parameters
    ----------
    names
        ``terminal``, ``tc``, ``jsonl``, ``jsonl=FILE``, ``prometheus`` or ``prometheus=PORT``; each may hold several
        with commas between. One at most writes on stdout.
    scenario
        Where the parameters of the disciplines are found that ``tc`` shows; without it only their names are.
    out
        In place of stdout.
    report
        Takes a line about a view that failed; default: stderr.

    Raises
    ------
    InputError
        If a name is not known, two views want stdout, or the port cannot be had.
    """
    words = [word.strip() for name in names for word in name.split(",") if word.strip()]
    _check(words)
    stream = sys.stdout if out is None else out
    notes: list[str] = []
    links: dict[str, Link] = {}
    with contextlib.ExitStack() as opened:
        views: list[View] = []
        for word in words:
            view = _open(word, links, stream)
            opened.callback(view.close)
            views.append(view)
            if isinstance(view, Metrics):
                notes.append(f"metrics: {view.url}")
        opened.pop_all()
    takes_terminal = stream.isatty() and any(word in ON_STDOUT for word in words)
    found = Views(views, links=links, notes=notes, takes_terminal=takes_terminal, report=report or to_stderr)
    if scenario is not None:
        found.learn(scenario)
    return found


def _check(words: Sequence[str]) -> None:
    """Reject wrong names before anything is opened."""
    for word in words:
        name, sign, value = word.partition("=")
        if name not in NAMES:
            raise InputError(f"--stats: {unknown('view', name, list(NAMES))}")
        if sign and (not value or name in ("terminal", "tc")):
            raise InputError(f"--stats {word}: is not understood ({ALLOWED})")
    twice = sorted({word for word in words if words.count(word) > 1})
    if twice:
        raise InputError(f"--stats {twice[0]}: is given twice")
    on_stdout = [word for word in words if word in ON_STDOUT]
    if len(on_stdout) > 1:
        text = " and ".join(on_stdout)
        raise InputError(f"--stats: {text} cannot share stdout (allowed: one of them; jsonl=FILE writes a file)")


def _open(word: str, links: Mapping[str, Link], out: TextIO) -> View:
    name, _, value = word.partition("=")
    if name == "terminal":
        return Terminal(out)
    if name == "tc":
        return TcText(out, links)
    if name == "jsonl":
        return JsonLines(out, path=Path(value) if value else None)
    return Metrics.at(value)


def _lost(error: OSError) -> str:
    return f"statistics: a view is closed ({error.strerror or error})"
