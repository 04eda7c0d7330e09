"""The committed tables of the DiffServ module and their index."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dsred.cases import Case, QueueCase
from dsred.marking import Marking
from dsred.queueing import Arrival
from dsred.rio import CoupledQueue, Outcome

INDEX = "cases.json"
MARKERS = "markers"
QUEUES = "queues"


def write_markings(folder: Path, case: Case, table: Sequence[Marking]) -> dict[str, Any]:
    """Writes a marker's table; returns its entry of the index."""
    path = folder / MARKERS / f"{case.name}.csv.xz"
    _write(path, "t_ps,bytes,color,draw", ((m.t_ps, m.bytes, m.color, m.draw) for m in table))
    colors = [m.color for m in table]
    return {
        "case": case.name,
        "kind": case.kind,
        "parameters": case.parameters,
        "packets": len(table),
        "green": colors.count(0),
        "yellow": colors.count(1),
        "red": colors.count(2),
        "draws": sum(m.draw is not None for m in table),
    }


def write_arrivals(folder: Path, case: QueueCase, table: Sequence[Arrival], model: CoupledQueue) -> dict[str, Any]:
    """Writes a queue's table; returns its entry of the index."""
    path = folder / QUEUES / f"{case.name}.csv.xz"
    _write(path, "t_ps,class,bytes,outcome,draw", ((a.t_ps, a.klass, a.bytes, a.outcome, a.draw) for a in table))
    return {
        "case": case.name,
        "rate": case.rate,
        "limit": case.limit,
        "mean_packet": case.mean_packet,
        "classes": [dict(zip(("min_th", "max_th", "max_p", "w_q"), values, strict=True)) for values in case.thresholds],
        "packets": len(table),
        **{outcome.value: sum(a.outcome is outcome for a in table) for outcome in Outcome},
        "draws": model.drawn,
        "negative_probabilities": model.unclamped,
    }


def write_index(folder: Path, markers: list[dict[str, Any]], queues: list[dict[str, Any]]) -> None:
    """Writes the index."""
    (folder / INDEX).write_text(json.dumps({"ns": "2.35", "markers": markers, "queues": queues}, indent=1) + "\n")


def compare_folders(committed: Path, made: Path) -> str | None:
    """The first difference between the files of two folders, or None."""
    for path in sorted(p for p in made.rglob("*") if p.is_file()):
        name = path.relative_to(made)
        other = committed / name
        if not other.exists():
            return f"{name} is not committed"
        if _content(other) != _content(path):
            return f"{name}: other content"
    return None


def _write(path: Path, header: str, rows: Iterable[Sequence[object]]) -> None:
    lines = [header, *(",".join("" if value is None else str(value) for value in row) for row in rows), ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress("\n".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))


def _content(path: Path) -> bytes:
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data
