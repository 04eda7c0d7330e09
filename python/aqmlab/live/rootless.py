"""Live runs without root: the same command again, inside a user namespace in which it is root.

There, networks are the namespace's own, and ``/run`` is an empty folder that vanishes with the last process. What it
takes is a kernel that lets users make user namespaces and open ``/dev/net/tun``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from aqmlab.live.link_process import LiveError
from aqmlab.live.processes import module_path, python_module

NET_ADMIN, SYS_ADMIN = 12, 21
"""Numbers of the capabilities that make networks and namespaces (capability.h)."""
SCRIPT = 'mount -t tmpfs tmpfs /run && exec "$@"'
PROBE = f"{SCRIPT.partition(' && ')[0]} && test -w /dev/net/tun"


def is_privileged() -> bool:
    """Whether this process may make network namespaces."""
    return has_capability(NET_ADMIN) and has_capability(SYS_ADMIN)


def has_capability(number: int) -> bool:
    """Whether this process has a capability, by its number in capability.h."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> number & 1)
    return os.geteuid() == 0


def is_real_root() -> bool:
    """Whether this process is root outside of any user namespace, as under sudo."""
    if os.geteuid() != 0:
        return False
    try:
        inside, outside, _ = Path("/proc/self/uid_map").read_text(encoding="ascii").split()[:3]
    except (OSError, ValueError):
        return True
    return inside == outside == "0"


def must_be_possible() -> None:
    """Raise in one line why live runs cannot be done without root here."""
    unshare = shutil.which("unshare")
    if unshare is None:
        raise LiveError("a live run needs root, or the program unshare (package util-linux)")
    tried = subprocess.run([unshare, "-Urnm", "/bin/sh", "-c", PROBE], capture_output=True, text=True, check=False)
    if tried.returncode:
        said = (tried.stderr.strip().splitlines() or ["/dev/net/tun cannot be opened"])[-1]
        raise LiveError(f"a live run needs root, or a user namespace in which TUN devices can be opened: {said}")


def again(arguments: Sequence[str]) -> NoReturn:
    """Become ``aqmlab`` with these arguments in a user namespace: what signals this process signals the run."""
    must_be_possible()
    command = ["unshare", "-Urnm", "/bin/sh", "-c", SCRIPT, "aqmlab", *python_module("aqmlab"), *arguments]
    environment = {**os.environ, "PYTHONPATH": module_path()}
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvpe(command[0], command, environment)
