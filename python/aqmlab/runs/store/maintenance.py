"""Remove damaged runs and runs without an index entry from a store."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.errors import InputError, Interrupted
from aqmlab.results.folders import guarded
from aqmlab.runs.store.block import files_in
from aqmlab.runs.store.claims import living
from aqmlab.runs.store.store import ResultStore, block_folders


@dataclass(frozen=True)
class Waste:
    """Files that `collect` found, and removed unless it was a dry run.

    Attributes
    ----------
    studies
        Hashes of studies of other versions, and of those that were named to be forgotten.
    unwanted, damaged, nameless
        Blocks of which no study names a run; with missing or altered files; and that are not in
        the index, since a process was killed before they were.
    runs, bytes
        Runs in the blocks that are unwanted or damaged, and the size of all files of all these blocks.
    """

    studies: tuple[str, ...]
    unwanted: tuple[str, ...]
    damaged: tuple[str, ...]
    nameless: tuple[str, ...]
    runs: int
    bytes: int

    @property
    def blocks(self) -> tuple[str, ...]:
        """All of these blocks."""
        return (*self.unwanted, *self.damaged, *self.nameless)

    def data(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in vars(self).items()}


def collect(store: ResultStore, *, dry_run: bool = False, forget: Sequence[str] = ()) -> Waste:
    """Find and remove runs that no entry refers to.

    A study that has the version of this program keeps its runs, unless it is to be forgotten. A block goes when no
    study keeps a run in it, when it is damaged, or when it is not in the index.

    Parameters
    ----------
    dry_run
        Only say what would be removed.
    forget
        Studies that are not wanted any more, by name or beginning of the hash.
    """
    store.claims.enter()
    if living(store.root) - {store.claims.name} and not dry_run:
        raise InputError(f"{store.root}: another process is at work on this store; try again when it is done")
    damaged = [block for block in _indexed(store) if not store.intact(block, read=True)]
    if dry_run:
        return _waste(store, damaged, forget)
    # One transaction finds the wanted runs and removes the rows, so that a sweep that begins now sees both or none;
    # the rows go first: a process that is killed then leaves files that are not counted.
    with store.index.transaction() as change:
        waste = _waste(store, damaged, forget)
        for study in waste.studies:
            change.execute("DELETE FROM studies WHERE study = ?", (study,))
        store.index.drop_blocks((*waste.unwanted, *waste.damaged))
    try:
        guarded(store.root, lambda: _remove(map(store.block_folder, waste.blocks)))
    except KeyboardInterrupt:
        raise Interrupted("interrupted; the same command removes the rest") from None
    return waste


def _waste(store: ResultStore, damaged: Sequence[str], forget: Sequence[str]) -> Waste:
    forgotten = {store.study_row(name).study for name in forget}
    gone = {s.study for s in store.studies() if s.version != _core.version()} | forgotten
    kept = {block for s in store.studies() if s.study not in gone for _, _, block in store.study_runs(s)}
    indexed = _indexed(store)
    unwanted = [block for block in indexed if block not in kept and block not in damaged]
    nameless = sorted({folder.name for folder in block_folders(store.root)} - set(indexed))
    lost = [*unwanted, *damaged]
    return Waste(
        studies=tuple(sorted(gone)),
        unwanted=tuple(unwanted),
        damaged=tuple(damaged),
        nameless=tuple(nameless),
        runs=sum(len(store.index.rows("SELECT 1 FROM runs WHERE block = ?", block)) for block in lost),
        bytes=sum(p.stat().st_size for block in (*lost, *nameless) for p in files_in(store.block_folder(block))),
    )


def _remove(folders: Iterable[Path]) -> None:
    for folder in folders:  # each was checked by `ResultStore.block_folder`
        if folder.exists():
            shutil.rmtree(folder)
        with contextlib.suppress(OSError):  # not empty
            folder.parent.rmdir()


def _indexed(store: ResultStore) -> list[str]:
    return [block for (block,) in store.index.rows("SELECT block FROM blocks ORDER BY block")]
