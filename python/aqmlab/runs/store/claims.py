"""Claims of runs by the processes at work on a store: no two processes do the same run at the same time.

Each process holds a locked file, which the system unlocks when the process ends, so the claims of a killed process are
void, on one machine or on several that share the folder. `docs/decisions/0012-own-file-locks.md` says why the package
`filelock` does not replace these locks.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path

from aqmlab.errors import StorageError
from aqmlab.results.folders import guarded
from aqmlab.results.keys import is_name
from aqmlab.runs.store import file_lock
from aqmlab.runs.store.index import Index

OWNERS = "owners"
LOCK = "lock"
LOOK_AGAIN_S = 0.3
"""Least time between two looks for processes that have ended."""


class Claims:
    """The claims of this process, which locks its file at the first one.

    `name` is the name of this process in claims, `folder` its folder for half-written files in the store.
    """

    def __init__(self, root: Path, index: Index) -> None:
        self._root, self._index = root, index
        self.name = uuid.uuid4().hex
        self.folder = root / OWNERS / self.name
        self._lock: int | None = None
        self._looked = -LOOK_AGAIN_S

    def enter(self) -> None:
        """Lock the file of this process, if it is not locked yet, and give up the claims of processes that ended."""
        if self._lock is None:
            with self._index.transaction():  # others wait: a process without its lock yet would be taken for dead
                self._lock = guarded(self._root, self._locked)
            self.forget_the_dead()

    def _locked(self) -> int:
        for name in set(_present(self._root)) - living(self._root):
            shutil.rmtree(self._root / OWNERS / name, ignore_errors=True)
        self.folder.mkdir(parents=True)
        lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT)
        file_lock.wait(lock)
        return lock

    def close(self) -> None:
        """Give up all claims; remove half-written files and the lock."""
        if self._lock is not None:
            with contextlib.suppress(StorageError):  # on a full disk: claims of a process that has left are void
                self._give_up([self.name])
            os.close(self._lock)
            self._lock = None
            shutil.rmtree(self.folder, ignore_errors=True)  # Windows removes no open file

    def claim(self, runs: Sequence[str]) -> list[str] | None:
        """Claim the runs that are not stored, so that no other process does them too.

        Return the runs to do, in order; None if another process has some of them in hand.
        """
        self.enter()
        left = self._claim(runs)
        if left is None and time.monotonic() - self._looked > LOOK_AGAIN_S:
            self.forget_the_dead()
        return left

    def _claim(self, runs: Sequence[str]) -> list[str] | None:
        if runs and self._index.rows("SELECT 1 FROM claims WHERE run = ? AND owner != ?", runs[0], self.name):
            return None
        with self._index.transaction() as change:
            left = [run for run in runs if not change.execute("SELECT 1 FROM runs WHERE run = ?", (run,)).fetchone()]
            for run in left:
                held = change.execute("SELECT owner FROM claims WHERE run = ?", (run,)).fetchone()
                if held and held[0] != self.name:
                    return None
            change.executemany("INSERT OR IGNORE INTO claims VALUES (?, ?)", [(run, self.name) for run in left])
        return left

    def forget_the_dead(self) -> None:
        """Give up the claims of processes that have ended."""
        self._looked = time.monotonic()
        claimed = {name for (name,) in self._index.rows("SELECT DISTINCT owner FROM claims")}
        dead = claimed - living(self._root) if claimed else set()
        if dead:
            self._give_up(dead)

    def _give_up(self, owners: Iterable[str]) -> None:
        with self._index.transaction() as change:
            change.executemany("DELETE FROM claims WHERE owner = ?", [(name,) for name in owners])


def living(root: Path) -> set[str]:
    """Return the names of the processes that are at work on a store."""
    return {name for name in _present(root) if _is_held(root / OWNERS / name / LOCK)}


def _present(root: Path) -> list[str]:
    folder = root / OWNERS
    must_not_be_links(folder)
    return sorted(entry.name for entry in folder.iterdir() if is_name(entry.name)) if folder.is_dir() else []


def must_not_be_links(*folders: Path) -> None:
    """Raise if one of a store's own folders is a symbolic link: a removal in it would remove files elsewhere."""
    for folder in folders:
        if folder.is_symlink():
            raise StorageError(
                f"{folder}: is a symbolic link; a store's folders are not followed out of it (allowed: a link to the "
                "whole store)"
            )


def _is_held(path: Path) -> bool:
    try:
        lock = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        return not file_lock.take(lock)
    finally:
        os.close(lock)
