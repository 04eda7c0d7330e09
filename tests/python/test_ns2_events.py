"""Equal to ns-2 2.35, event for event, where nothing is random."""

from __future__ import annotations

import csv
import io
import lzma
from collections import Counter
from pathlib import Path

import pytest

from aqmlab import _core
from aqmlab.results.parquet import values

DATA = Path(__file__).resolve().parents[1] / "data" / "ns2"
MICROSECOND = 1_000_000

Event = tuple[int, str, int, int, int]


def golden(path: Path) -> list[Event]:
    rows = csv.reader(io.StringIO(lzma.decompress(path.read_bytes()).decode()))
    next(rows)
    return [(int(t), kind, int(flow), int(seq), int(size)) for t, kind, flow, seq, size in rows]


def simulated(path: Path, *, shortcuts: bool = True) -> list[Event]:
    events = _core.Scenario(path.read_text(), str(path)).run(1, shortcuts=shortcuts)["tables"]["events"]
    columns = [values(events[name]).tolist() for name in ("t_ps", "kind", "flow", "seq", "bytes")]
    return list(zip(*columns, strict=True))


def cases(family: str) -> list[Path]:
    return sorted((DATA / family).glob("*.toml"))


def test_there_are_enough_cases() -> None:
    assert len(cases("exact")) >= 12
    assert len(cases("ordinary")) >= 12


@pytest.mark.parametrize("path", cases("exact"), ids=lambda p: p.stem)
def test_same_events_in_the_same_order(path: Path) -> None:
    want, have = golden(path.with_suffix(".events.csv.xz")), simulated(path)
    assert len(want) >= 10_000
    assert have == want


@pytest.mark.slow
@pytest.mark.parametrize("path", cases("ordinary"), ids=lambda p: p.stem)
def test_same_events_within_a_microsecond(path: Path) -> None:
    want, have = golden(path.with_suffix(".events.csv.xz")), simulated(path)
    assert len(want) >= 10_000
    # The same packet may be offered, sent or dropped several times: compare its events in order of time.
    assert Counter(e[1:] for e in have) == Counter(e[1:] for e in want)
    by_identity = [sorted(events, key=lambda e: (e[1:], e[0])) for events in (have, want)]
    assert max(abs(a[0] - b[0]) for a, b in zip(*by_identity, strict=True)) <= MICROSECOND


@pytest.mark.parametrize("path", [cases("exact")[0], cases("ordinary")[0]], ids=lambda p: p.stem)
def test_shortcuts_change_nothing(path: Path) -> None:
    assert simulated(path) == simulated(path, shortcuts=False)
