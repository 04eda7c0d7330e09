"""A shape from its start to its end: the link process, the way through it, a new configuration on the fly."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, counted, to_stderr
from aqmlab.live.link_process import LinkProcess, LiveError, link_command
from aqmlab.live.linux import need_linux
from aqmlab.live.shape import journal, routing
from aqmlab.live.shape.choosing import check_machine, check_options, way_through
from aqmlab.live.shape.configuration import Configuration, in_one_line
from aqmlab.live.telemetry import Snapshot, Views, open_views
from aqmlab.scenario.file import Overrides

LOOK_S = 0.1
"""How long a signal may wait."""
DRAIN_S = 2.0
"""How long a queue may take to empty at the end."""
QUIET_S = 0.25
"""How often the link reports while no view is open."""

Report = Callable[[str], None]
Message = Callable[[Configuration, routing.Way], dict[str, Any]]


@dataclass(frozen=True)
class Shaped:
    """Result of a shape.

    Attributes
    ----------
    outcome
        The link process's last message: the last snapshot and the certificate.
    reloads
        New configurations that were taken.
    """

    outcome: dict[str, Any]
    reloads: int

    def line(self) -> str:
        """Say it in a line."""
        last = Snapshot.from_json(self.outcome["last"], "outcome.last")
        dropped = sum(direction.counters.drops for direction in last.directions)
        marked = sum(direction.counters.marks for direction in last.directions)
        seconds = f"{last.t:.1f} s, {counted(last.plane.packets_in, 'packet')} in, {last.plane.packets_out} out"
        return f"{seconds}, {dropped} dropped, {marked} marked, {counted(self.reloads, 'reload')}"


class _Signals:
    """Ctrl-C and SIGTERM ask for the end, SIGHUP for the file to be read again."""

    def __init__(self) -> None:
        self.stop = False
        self.reload = False
        self._had_terminal = os.isatty(0)

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """Take the signals for a while."""
        before = {
            number: signal.signal(number, self._take) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _take(self, number: int, _: object) -> None:
        # SIGHUP asks for a reload, unless it comes from closing the terminal.
        if number == signal.SIGHUP and not (self._had_terminal and not os.isatty(0)):
            self.reload = True
        else:
            self.stop = True


class _Link(LinkProcess):
    """A link process whose complaints are read while it runs."""

    _told = 0

    def complaints(self) -> list[str]:
        """Return what it has said on stderr since the last call."""
        new = self.heard.complaints[self._told :]
        self._told += len(new)
        return new if not self.ended else []


def shape(
    file: str | Path,
    *,
    into: str | None = None,
    out: str | None = None,
    netns: str | None = None,
    addresses: Sequence[str] = (),
    link: str | None = None,
    rate: str | None = None,
    overrides: Overrides = (),
    stats: Sequence[str] = (),
    interval_s: float = 0.1,
    keep_awake: bool = False,
    yes: bool = False,
    report: Report | None = None,
    command: Sequence[str] | None = None,
) -> Shaped:
    """Be the bottleneck of this machine's traffic until Ctrl-C or SIGTERM; SIGHUP reads the file again.

    Parameters
    ----------
    file
        A scenario file with the link; flows and the length of a run may be left out.
    into, out
        The two interfaces between which it is; what comes in at `into` goes forward.
    netns
        In place of `into`: a namespace whose default route it is; `out` is then where the answers come in, if not from
        this machine.
    addresses
        With `netns`: the namespace's addresses behind the bottleneck; default: 10.78.0.1 and fd78::1.
    link
        Which link of the file; default: the only one, else ``bottleneck``.
    rate
        In place of the link's rate: a rate such as ``10Mbps``, or ``trace:FILE``, a trace as of a scenario file.
    overrides
        Dotted keys and values that override the file's, each time it is read.
    stats
        Views of the running link, see `aqmlab.live.telemetry.open_views`.
    interval_s
        How often they are fed.
    keep_awake
        Keep the processors from sleeping, so that packets are late less: on a virtual machine above all.
    yes
        Also take an interface that carries the default route.
    report
        Takes lines about what happens; default: stderr.
    command
        Another link process.

    Raises
    ------
    ScenarioError, InputError, LiveError, StorageError
        With one clear line each. Rules and settings are as before then.
    """
    need_linux("shape")
    tell = report or to_stderr
    check_options(into=into, out=out, netns=netns, addresses=addresses)
    load = partial(Configuration.load, file, link=link, rate=rate, overrides=overrides)
    configuration = load()
    check_machine()
    signals = _Signals()
    message = partial(_message, interval_s=interval_s if stats else None, keep_awake=keep_awake)
    with contextlib.ExitStack() as open_:
        open_.enter_context(signals.caught())
        way, views, process, changes = _begin(
            open_, configuration, message,
            ends=lambda: way_through(into=into, out=out, netns=netns, addresses=addresses, yes=yes),
            stats=stats, command=command, tell=tell,
        )  # fmt: skip
        open_.callback(_undo, changes, tell)
        ends = f"namespace {netns}" if netns else into
        line = f"shaping {ends} to {out or 'this machine'}: {configuration.words()}; process {os.getpid()}"
        for note in (*way.notes, *views.notes, line):
            tell(note)

        def again() -> dict[str, Any]:
            found = load()
            if (found.reverse is None) != (configuration.reverse is None):
                raise InputError(f"{file}: duplex cannot change while the link runs (allowed: as it was at the start)")
            views.learn(found.scenario)
            tell(f"{file}: read again: {found.words()}")
            return message(found, way)

        reloads = _serve(process, views, signals, again, tell)
        return _end(process, views, changes, tell, reloads)


def _begin(
    open_: contextlib.ExitStack, configuration: Configuration, message: Message,
    *, ends: Callable[[], routing.Way], stats: Sequence[str], command: Sequence[str] | None, tell: Report,
) -> tuple[routing.Way, Views, _Link, journal.Journal]:  # fmt: skip
    """Start the link process and lead the traffic through it; one `shape` at a time does this on a machine."""
    with journal.alone():
        for line in journal.clean():
            tell(line)
        way = ends()
        views = open_.enter_context(open_views(stats, scenario=configuration.scenario, report=tell))
        folder = open_.enter_context(journal.own_folder())
        process = _Link(message(configuration, way), folder, command=command or link_command())
        open_.callback(process.close)
        process.wait_ready()
        way.a.set_up()
        way.b.set_up()
        process.tell("start")
        changes = journal.Journal.of(way.steps)
        changes.do()
    return way, views, process, changes


def _end(process: _Link, views: Views, changes: journal.Journal, tell: Report, reloads: int) -> Shaped:
    """Lead the traffic past the link, empty its queue, and stop it."""
    _undo(changes, tell)
    _drain(process, views)
    process.tell("stop")
    return Shaped(process.wait_outcome(), reloads)


def clean() -> list[str]:
    """Undo what shapes that were killed have left in this network namespace: rules, settings, forwarding, files.

    Returns
    -------
    list of str
        A line for each of them.
    """
    check_machine()
    with journal.alone():
        return journal.clean()


def _serve(process: _Link, views: Views, signals: _Signals, again: Callable[[], dict[str, Any]], tell: Report) -> int:
    """Show the link's output until it is to stop; return how often it was changed."""
    reloads = 0
    while not signals.stop:
        if signals.reload:
            signals.reload = False
            try:
                process.tell(f"reload {json.dumps(again())}")
                reloads += 1
            except InputError as error:
                tell(f"the configuration stays as it is: {in_one_line(error)}")
        line = process.next_line(LOOK_S)
        for complaint in process.complaints():
            tell(complaint)
        if line is not None:
            views.show(line)
        elif process.ended:
            process.check()
            raise LiveError("the link process has ended by itself")
    return reloads


def _drain(process: LinkProcess, views: Views) -> None:
    """Wait until the queued packets have gone out; no new ones come any more."""
    until = time.monotonic() + DRAIN_S
    while time.monotonic() < until:
        line = process.next_line(LOOK_S)
        if line is None:
            process.check()
            continue
        views.show(line)
        if Snapshot.from_line(line).plane.held == 0:
            return


def _undo(changes: journal.Journal, tell: Report) -> None:
    with journal.alone():
        for line in changes.undo():
            tell(line)


def _message(
    configuration: Configuration, way: routing.Way, *, interval_s: float | None, keep_awake: bool
) -> dict[str, Any]:
    found = configuration.message(way.a.data(), way.b.data(), interval_s=interval_s or QUIET_S)
    realtime = {**found["realtime"], "keep_awake": keep_awake}
    return {**found, "snapshot_flows": interval_s is not None, "realtime": realtime}
