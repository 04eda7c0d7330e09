"""Check of the operating system for live runs."""

from __future__ import annotations

import sys

from aqmlab.errors import InputError


def need_linux(what: str) -> None:
    """Raise on another system.

    Raises
    ------
    InputError
        On a system other than Linux.
    """
    if sys.platform != "linux":
        raise InputError(f"{what}: needs Linux, its network namespaces and TUN devices (this is {sys.platform})")
