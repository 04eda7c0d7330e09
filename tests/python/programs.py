"""Programs that tests need: a test names all of them, and is skipped with their names where one is missing."""

import re
import shutil
from pathlib import Path

import pytest

from aqmlab.live.processes import search_path
from aqmlab.live.vm.build import PROGRAMS
from aqmlab.live.vm.machine import QEMU

EMULATOR = (QEMU, *PROGRAMS)
"""Programs for a run in the emulated machine: the emulator, and those of this machine that are put into its image."""


HEADERS = sorted(Path("/lib/modules").glob("*/build/Makefile"))
"""Makefiles of the headers of installed kernels."""
COMPILER = re.compile(r'^CONFIG_CC_VERSION_TEXT="?(\S+)', re.MULTILINE)
"""In a kernel's configuration: the compiler that it was built with, and with which its headers compile."""
# A module is compiled against the headers of the kernel that would load it, which not every machine has.
needs_headers = pytest.mark.skipif(
    not HEADERS, reason="there are no kernel headers in /lib/modules (linux-headers-amd64)"
)


def compiler_of(headers: Path) -> str:
    """Return the name of the compiler that a kernel's headers need."""
    configuration = headers / "include/config/auto.conf"
    found = COMPILER.search(configuration.read_text()) if configuration.is_file() else None
    return "gcc" if found is None else found[1]


def missing(*names: str) -> str:
    """Return which of these programs are not installed, as "needs the programs NAME, NAME"; empty if all are."""
    lacking = [name for name in names if shutil.which(name, path=search_path()) is None]
    return f"needs the program{'s' if len(lacking) > 1 else ''} {', '.join(lacking)}" if lacking else ""


def needs(*names: str) -> pytest.MarkDecorator:
    """Mark a test or a class that runs these programs."""
    why = missing(*names)
    # Not every machine has every program; the reason names the missing ones. pytest wants a reason in any case.
    return pytest.mark.skipif(bool(why), reason=why or "all programs are installed")


def require(*names: str) -> None:
    """Skip the test that calls this, or the fixture that it uses, where one of these programs is missing."""
    if why := missing(*names):
        pytest.skip(why)
