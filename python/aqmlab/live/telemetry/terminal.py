"""A running link at a glance, drawn over itself five times a second; plain lines, one a second, on no terminal."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING, TextIO

from aqmlab.errors import counted
from aqmlab.live.telemetry import formatting
from aqmlab.live.telemetry.snapshot import ClassCounts, Direction, FlowCounts, Snapshot
from aqmlab.live.telemetry.view import Clock, Line, Paced

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

DRAWN_EVERY_S = 0.2
PLAIN_EVERY_S = 1.0
PAST = 60
"""Queue lengths in the sparkline."""
MOST_FLOWS = 10


class Terminal:
    """Draws on a terminal, writes lines on anything else."""

    def __init__(self, out: TextIO, *, clock: Clock = time.monotonic) -> None:
        self._out = out
        self._live: Live | None = None
        self._picture = Picture(_bars(out))
        if out.isatty():
            self._pace = Paced(self._draw, DRAWN_EVERY_S, clock)
        else:
            self._pace = Paced(self._write, PLAIN_EVERY_S, clock)

    def show(self, line: Line) -> None:
        """Take a line."""
        self._pace.show(line)

    def close(self) -> None:
        """Draw what came last and leave it there."""
        try:
            self._pace.close()
        finally:
            if self._live is not None:
                self._live.stop()
                self._live = None

    def _draw(self, snapshot: Snapshot) -> None:
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._out, highlight=False)
            # Lines on stderr go above the picture where it is the same terminal.
            same = sys.stderr.isatty()
            self._live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=same)
            self._live.start()
        self._live.update(self._picture.of(snapshot), refresh=True)

    def _write(self, snapshot: Snapshot) -> None:
        for direction in snapshot.directions:
            self._out.write(plain(snapshot, direction) + "\n")
        self._out.flush()


def plain(snapshot: Snapshot, direction: Direction) -> str:
    """Return the state of a direction in one line."""
    head = (
        f"{snapshot.t:.1f} s {direction.name} {direction.link} {direction.aqm} {formatting.rate(direction.rate_bps)}: "
    )
    parts = [f"{name} {value}" for name, value in formatting.state(direction)]
    return head + ", ".join([*parts, formatting.drops(direction), *formatting.plane(snapshot.plane)])


class Picture:
    """The drawn picture, with the queue lengths and the bytes of the times before."""

    def __init__(self, bars: str = formatting.BARS) -> None:
        self._bars = bars
        self._queues: dict[str, deque[float]] = {}
        self._departed: dict[str, tuple[float, int]] = {}

    def of(self, snapshot: Snapshot) -> RenderableType:
        """Return the picture of a snapshot."""
        from rich.console import Group
        from rich.text import Text

        parts: list[RenderableType] = []
        for direction in snapshot.directions:
            parts += self._direction(snapshot.t, direction)
        parts.append(Text("; ".join(formatting.plane(snapshot.plane)), style="dim"))
        return Group(*parts)

    def _direction(self, t: float, direction: Direction) -> list[RenderableType]:
        from rich.text import Text

        queue = self._queues.setdefault(direction.name, deque(maxlen=PAST))
        queue.append(direction.backlog_packets)
        head = Text(f"{direction.name} {direction.link}", style="bold")
        rates = f"{formatting.rate(self._goodput(t, direction))} of {formatting.rate(direction.rate_bps)}"
        head.append(f"  {direction.aqm}, {rates}, {t:.1f} s", style="not bold")
        parts: list[RenderableType] = [head]
        parts.append(Text("  ".join(f"{name} {value}" for name, value in formatting.state(direction))))
        parts.append(Text(f"{formatting.sparkline(queue, self._bars)}  up to {max(queue):.0f} p", style="cyan"))
        parts.append(Text(formatting.drops(direction)))
        if direction.classes:
            parts.append(_table(("dscp", "packets", "dropped", "marked", "bytes out"), _classes(direction.classes)))
        if direction.flows:
            parts.append(
                _table(("flow", "group", "packets", "dropped", "marked", "bytes out"), _flows(direction.flows))
            )
            more = len(direction.flows) - MOST_FLOWS
            parts += [Text(f"and {counted(more, 'more flow')}", style="dim")] if more > 0 else []
        return parts

    def _goodput(self, t: float, direction: Direction) -> float | None:
        """Return the rate of departures since the last picture in bit/s."""
        before, bytes_before = self._departed.get(direction.name, (0.0, 0))
        departed = direction.counters.departed_bytes
        self._departed[direction.name] = (t, departed)
        return max(departed - bytes_before, 0) * 8 / (t - before) if t > before else None


def _classes(classes: tuple[ClassCounts, ...]) -> list[tuple[str, ...]]:
    return [(str(c.dscp), str(c.arrivals), str(c.drops), str(c.marks), str(c.departed_bytes)) for c in classes]


def _flows(flows: tuple[FlowCounts, ...]) -> list[tuple[str, ...]]:
    """Return the rows of the flows that had the most, in the order of their numbers."""
    most = sorted(flows, key=lambda f: f.departed_bytes, reverse=True)[:MOST_FLOWS]
    shown = sorted(most, key=lambda f: f.flow)
    return [(f.label, f.group, str(f.arrivals), str(f.drops), str(f.marks), str(f.departed_bytes)) for f in shown]


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for head in heads:
        table.add_column(head, justify="left" if head in ("flow", "group") else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    return table


def _bars(out: TextIO) -> str:
    """Return bars that the terminal's encoding has."""
    try:
        formatting.BARS.encode(getattr(out, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return formatting.ASCII_BARS
    return formatting.BARS
