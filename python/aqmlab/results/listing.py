"""Contents of a results folder, as the commands left them: runs, comparisons, tunings, reproductions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.errors import StorageError
from aqmlab.results import folders


@dataclass(frozen=True)
class Entry:
    """A folder that a command wrote.

    Attributes
    ----------
    kind
        ``run``, ``comparison``, ``tuning`` or ``reproduction``.
    folder
        The folder, relative to the one that is listed.
    about
        Description of the runs, in a few words.
    seeds
        How many seeds are finished; of a tuning, how many the confirmation had. None if the record does not say.
    """

    kind: str
    folder: str
    about: str
    seeds: int | None


def entries(root: Path) -> list[Entry]:
    """List what commands wrote into a folder for results, and one level below (``tune`` of several disciplines)."""
    return list(_below(root, root, depth=2))


def _below(folder: Path, root: Path, *, depth: int) -> Iterator[Entry]:
    for entry in sorted(path for path in folder.iterdir() if path.is_dir()):
        found = _entry(entry, str(entry.relative_to(root)))
        if found is not None:
            yield found
        elif depth > 1:
            yield from _below(entry, root, depth=depth - 1)


def _entry(folder: Path, name: str) -> Entry | None:
    for record, describe in RECORDS.items():
        if (folder / record).exists():
            kind, about, seeds = describe(_read(folder / record))
            return Entry(kind, name, about, seeds)
    seeds_there = folders.finished_seeds(folder)
    return Entry("run", name, "", len(seeds_there)) if seeds_there else None


def _read(path: Path) -> dict[str, Any]:
    """Read a record; one that is damaged is listed without what it says."""
    try:
        return folders.read_json(path)
    except StorageError:
        return {}


def _comparison(record: dict[str, Any]) -> tuple[str, str, int | None]:
    labels = [pair[0] for pair in record.get("runs", ()) if isinstance(pair, list) and pair]
    return "comparison", ", ".join(map(str, labels)) or "damaged record", len(record.get("seeds", ()))


def _tuning(record: dict[str, Any]) -> tuple[str, str, int | None]:
    seeds = record.get("seeds")
    fresh = seeds.get("fresh") if isinstance(seeds, dict) else None
    about = f"{record['aqm']}, {record['goal']}" if {"aqm", "goal"} <= set(record) else "damaged record"
    return "tuning", about, fresh if isinstance(fresh, int) else None


def _reproduction(record: dict[str, Any]) -> tuple[str, str, int | None]:
    effort = record.get("effort")
    seeds = effort.get("seeds") if isinstance(effort, dict) else None
    return "reproduction", str(record.get("paper", "damaged record")), seeds if isinstance(seeds, int) else None


RECORDS = {folders.COMPARISON: _comparison, folders.TUNING: _tuning, folders.REPRODUCTION: _reproduction}
"""The record that a command leaves in its folder, and the function that describes it."""
