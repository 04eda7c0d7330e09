"""Event tables: files and the two comparisons, in order (exact family) and as sets (ordinary family)."""

from __future__ import annotations

import csv
import io
import lzma
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from goldens.model import Case, Event

COLUMNS = ("t_ps", "kind", "flow", "seq", "bytes")
TOLERANCE_PS = 1_000_000
"""One microsecond."""


class Row(NamedTuple):
    """One event at the bottleneck: + offered to the queue, - its transmission starts, d dropped."""

    t_ps: int
    kind: str
    flow: int
    seq: int
    bytes: int


def rows(case: Case, trace: Sequence[Event], shift: Decimal = Decimal(0)) -> list[Row]:
    """The bottleneck's events of a trace, in its order, times moved back by `shift`."""
    link = case.bottleneck
    return [
        Row(picoseconds(e.t - shift), e.kind, e.flow, e.seq, e.bytes)
        for e in trace
        if e.kind in "+-d" and e.source == link.source and e.target == link.target
    ]


def picoseconds(seconds: Decimal) -> int:
    """`seconds` to the nearest picosecond."""
    return int((seconds * 10**12).to_integral_value())


def to_csv(table: Sequence[Row]) -> bytes:
    """The table as CSV text with a header line."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(table)
    return text.getvalue().encode()


def from_csv(data: bytes) -> list[Row]:
    """The inverse of `to_csv`."""
    lines = csv.reader(io.StringIO(data.decode()))
    if tuple(next(lines)) != COLUMNS:
        raise ValueError("unexpected columns")
    return [Row(int(t), kind, int(flow), int(seq), int(size)) for t, kind, flow, seq, size in lines]


def read(path: Path) -> list[Row]:
    """Reads a `.events.csv.xz` file."""
    return from_csv(lzma.decompress(path.read_bytes()))


def write(path: Path, table: Sequence[Row]) -> None:
    """Writes a `.events.csv.xz` file."""
    path.write_bytes(lzma.compress(to_csv(table), preset=9 | lzma.PRESET_EXTREME))


def difference_in_order(want: Sequence[Row], have: Sequence[Row]) -> str | None:
    """Return the first difference of two tables that must be the same, row by row; None for equal tables."""
    for index, (a, b) in enumerate(zip(want, have, strict=False)):
        if a != b:
            return f"event {index}: expected {_show(a)}, found {_show(b)}"
    if len(want) != len(have):
        return f"expected {len(want)} events, found {len(have)}"
    return None


def difference_as_sets(want: Sequence[Row], have: Sequence[Row], tolerance_ps: int = TOLERANCE_PS) -> str | None:
    """Return the first difference, with the events of one microsecond compared as a set; None for equal tables.

    Both tables are cut together wherever neither has an event for longer than the tolerance. Within a piece
    the multisets of (kind, flow, seq, bytes) must be equal, and the k-th occurrence of an event in one table
    may be at most the tolerance away from its k-th occurrence in the other.
    """
    merged = sorted([(r.t_ps, 0, r) for r in want] + [(r.t_ps, 1, r) for r in have])
    start = 0
    for end in range(1, len(merged) + 1):
        if end < len(merged) and merged[end][0] - merged[end - 1][0] <= tolerance_ps:
            continue
        found = _piece([m[2] for m in merged[start:end] if m[1] == 0], [m[2] for m in merged[start:end] if m[1] == 1])
        if found is not None:
            return found
        start = end
    return _too_far(want, have, tolerance_ps)


def _piece(want: list[Row], have: list[Row]) -> str | None:
    missing = Counter(r[1:] for r in want)
    missing.subtract(Counter(r[1:] for r in have))
    for key, count in missing.items():
        if count:
            t = (want or have)[0].t_ps
            what = "missing" if count > 0 else "unexpected"
            return f"near {t / 1e12:.6f} s: {what} {_show(Row(t, *key))}"
    return None


def _too_far(want: Sequence[Row], have: Sequence[Row], tolerance_ps: int) -> str | None:
    for a, b in zip(_by_identity(want), _by_identity(have), strict=True):
        if abs(a.t_ps - b.t_ps) > tolerance_ps:
            return f"expected {_show(a)}, found it at {b.t_ps} ps"
    return None


def _by_identity(table: Sequence[Row]) -> list[Row]:
    return sorted(table, key=lambda r: (r[1:], r.t_ps))


def _show(row: Row) -> str:
    return f"{row.kind} flow {row.flow} seq {row.seq} ({row.bytes} B) at {row.t_ps} ps"
