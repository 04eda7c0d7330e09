"""Processes at work on a store: each holds a locked file, and the system lets go of it when the process ends.

So unfinished work of a killed process differs from work in progress, on one machine or on several that
share the folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from aqmlab.errors import StorageError
from aqmlab.results.folders import guarded
from aqmlab.results.keys import is_name

OWNERS = "owners"
LOCK = "lock"
GATE = "store.lock"


class Owner:
    """The process that this is, while it works on a store.

    Attributes
    ----------
    name
        Its name in claims.
    folder
        A folder for half-written files, on the store's file system.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.name = uuid.uuid4().hex
        self.folder = root / OWNERS / self.name
        self._lock = guarded(root, self._enter)

    def _enter(self) -> int:
        with _gate(self._root):
            for name in _present(self._root):
                if not _is_held(self._root / OWNERS / name / LOCK):
                    shutil.rmtree(self._root / OWNERS / name, ignore_errors=True)
            self.folder.mkdir(parents=True)
            lock = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT)
            fcntl.flock(lock, fcntl.LOCK_EX)
            return lock

    def leave(self) -> None:
        """End the work: remove half-written files and the lock."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)


def living(root: Path) -> set[str]:
    """Return the owners whose processes are still there."""
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
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


@contextmanager
def _gate(root: Path) -> Iterator[None]:
    """Admit one process at a time, so that a new process without its lock yet is not taken for dead."""
    gate = os.open(root / GATE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
    try:
        fcntl.flock(gate, fcntl.LOCK_EX)
        yield
    finally:
        os.close(gate)
