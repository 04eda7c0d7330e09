"""A module in this machine's own kernel: whether it can be loaded, and that it is removed.

A kernel has one list of modules for all namespaces. So a module is loaded before a run's namespaces are made, is there
for everyone while the run lasts, and is removed when its queue has gone with the namespaces.
"""

from __future__ import annotations

import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.live import rootless
from aqmlab.live.tc.job import LOGGED

OPTION = "--backend tc --kernel-qdisc"
LOADED = Path("/proc/modules")
"""A line for each module, its name first; not there in a kernel without loadable modules."""
FORBIDDEN = Path("/proc/sys/kernel/modules_disabled")
INSTALLED = Path("/lib/modules")
SYS_MODULE = 16
"""Number of the capability to load modules (capability.h)."""
PATIENCE_S = 20.0
"""How long the kernel may take to remove namespaces, and with them the queue that uses the module."""
POLL_S = 0.2
OTHER = "--backend vm brings its own kernel"


def build_folder(module: str) -> Path:
    """Return the folder of the running kernel's headers, if a module of this name can be loaded.

    Raises
    ------
    InputError
        If this kernel loads no modules, this process has no right to, there are no headers, or a module of this name is
        loaded already.
    """
    release = platform.release()
    build = INSTALLED / release / "build"
    if not LOADED.exists():
        raise InputError(f"{OPTION}: this machine's kernel {release} has no loadable modules ({OTHER})")
    if FORBIDDEN.exists() and FORBIDDEN.read_text(encoding="ascii").strip() != "0":
        raise InputError(f"{OPTION}: this machine's kernel loads no more modules (kernel.modules_disabled; {OTHER})")
    if not may_load():
        raise InputError(f"{OPTION} needs root, outside of a user namespace, to load a module ({OTHER})")
    if not (build / "Makefile").is_file():
        packages = f"apt-get install linux-headers-{release}"
        raise InputError(f"{OPTION}: the running kernel's headers are missing: {build} ({packages})")
    if is_loaded(module):
        raise InputError(f"{OPTION}: the module {module} is already loaded (remove it: rmmod {module})")
    return build


def may_load() -> bool:
    """Whether this process may load modules."""
    return rootless.is_real_root() and rootless.has_capability(SYS_MODULE)


def is_loaded(module: str) -> bool:
    """Whether a module of this name is loaded."""
    return any(line.partition(" ")[0] == module for line in LOADED.read_text(encoding="utf-8").splitlines())


@contextmanager
def loaded(module: str, program: bytes, folder: Path, *, path: str, tell: Callable[[str], None]) -> Iterator[None]:
    """Load a module, and remove it at the end, whatever happens.

    Parameters
    ----------
    module, program
        Its name, and its file ``.ko``.
    folder
        Where the file may be written.
    path
        Where the programs `insmod` and `rmmod` are looked for, as in ``$PATH``.
    tell
        Is called with a line if the module cannot be removed.

    Raises
    ------
    InputError
        If the kernel does not take it.
    """
    file = folder / f"{module}.ko"
    file.write_bytes(program)
    if failed := _failure(["insmod", str(file), f"log={LOGGED}"], path):
        raise InputError(f"{OPTION}: {failed}")
    try:
        yield
    finally:
        if failed := _remove(module, path):
            tell(f"the module {module} is still loaded: {failed} (remove it: rmmod {module})")


def _remove(module: str, path: str) -> str:
    """Remove a module as soon as nothing uses it; return why it cannot be removed, an empty text if it is."""
    until = time.monotonic() + PATIENCE_S
    while (failed := _failure(["rmmod", module], path)) and time.monotonic() < until:
        time.sleep(POLL_S)
    return failed


def _failure(words: list[str], path: str) -> str:
    """Run a program; return its first line on stderr if it fails, else an empty text."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PATH": path})
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"{words[0]} failed"])[0]
