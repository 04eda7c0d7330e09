"""Exclusive locks of open files, which the system releases when the file is closed or its process ends."""

from __future__ import annotations

import importlib
import time
from types import ModuleType
from typing import Any

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

AGAIN_S = 0.01


def take(descriptor: int) -> bool:
    """Lock a file that is open for writing, if no other descriptor has locked it; return whether it is locked now.

    Raises
    ------
    OSError
        If the file system has no locks.
    """
    if fcntl is None:
        return _take_of_windows(importlib.import_module("msvcrt"), descriptor)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def wait(descriptor: int) -> None:
    """Lock a file as `take`, once another process that tests or holds its lock lets go."""
    while not take(descriptor):
        time.sleep(AGAIN_S)


def _take_of_windows(msvcrt: Any, descriptor: int) -> bool:  # noqa: ANN401 - a module that other systems lack
    """Lock the first byte, which need not exist."""
    try:
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except PermissionError:
        return False
    return True
