"""Contents of a results folder, as the commands left them: runs, comparisons, tunings, reproductions."""

from __future__ import annotations

import contextlib
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
    kind, folder
        ``run``, ``comparison``, ``tuning``, ``tuned comparison`` or ``reproduction``; the folder, relative to the one
        that is listed.
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
    for file, (kind, describe) in RECORDS.items():
        if (folder / file).exists():
            record: dict[str, Any] = {}
            with contextlib.suppress(StorageError):  # a damaged record is listed without its contents
                record = folders.read_json(folder / file)
            about, seeds = describe(record)
            return Entry(kind, name, about or "damaged record", seeds if isinstance(seeds, int) else None)
    seeds_there = folders.finished_seeds(folder)
    return Entry("run", name, "", len(seeds_there)) if seeds_there else None


def _comparison(record: dict[str, Any]) -> tuple[str, object]:
    labels = [pair[0] for pair in record.get("runs", ()) if isinstance(pair, list) and pair]
    return ", ".join(map(str, labels)), len(record.get("seeds", ()))


def _tuning(record: dict[str, Any]) -> tuple[str, object]:
    return f"{record['aqm']}, {record['goal']}" if {"aqm", "goal"} <= set(record) else "", _within(
        record, "seeds", "fresh"
    )


def _tuned_comparison(record: dict[str, Any]) -> tuple[str, object]:
    entries = record.get("disciplines", ())
    names = [str(one.get("aqm")) for one in entries if isinstance(one, dict)] if isinstance(entries, list) else []
    return f"{', '.join(names)}, {record['goal']}" if names and "goal" in record else "", _within(
        record, "budget", "fresh"
    )


def _reproduction(record: dict[str, Any]) -> tuple[str, object]:
    return str(record.get("paper", "")), _within(record, "effort", "seeds")


def _within(record: dict[str, Any], table: str, key: str) -> object:
    own = record.get(table)
    return own.get(key) if isinstance(own, dict) else None


RECORDS = {
    folders.COMPARISON: ("comparison", _comparison),
    folders.TUNING: ("tuning", _tuning),
    folders.TUNED_COMPARISON: ("tuned comparison", _tuned_comparison),
    folders.REPRODUCTION: ("reproduction", _reproduction),
}
"""The record that a command leaves in its folder: the kind of the folder, and the function that describes it."""
