#!/usr/bin/env python3
"""Check that the compiled core of each wheel needs only the libraries and symbols that its system has.

`check_libraries.py DIST` reads the wheels of a folder and prints, for each, its libraries and the number of symbols
that it takes from Python. A system that cannot be run here is checked in this way; LIEF reads the files of all systems.
"""

from __future__ import annotations

import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import lief

from check_wheel import core_of

LIBRARIES = {
    "manylinux": r"lib(c|m|dl|rt|pthread|gcc_s)\.so\.\d|ld-linux-.*\.so\.\d",
    "musllinux": r"libc\.so|libgcc_s\.so\.1",
    "macosx": r"/usr/lib/(libSystem\.B|libiconv\.2|libcharset\.1)\.dylib",
    "win": r"(?i)(python3|kernel32|ntdll|bcryptprimitives|userenv|ws2_32|advapi32|ucrtbase|msvcrt|api-ms-win-.*)\.dll",
}
"""Libraries of an installed system, by the word for it in a wheel's name. Windows has Python as a library."""
OF_PYTHON = re.compile(r"_{0,2}Py(?!Init)[A-Z_]")


def needs_of(core: bytes) -> tuple[list[str], list[str]]:
    """Return the libraries that a compiled core needs, and the symbols that it takes from Python.

    Raises
    ------
    ValueError
        If it is no library of a known format.
    """
    lief.logging.disable()  # of indices that strip leaves, which nothing here reads
    binary = lief.parse(core)
    if binary is None:
        raise ValueError("the compiled core is no library of Linux, macOS or Windows")
    names = {str(symbol.name) for symbol in binary.symbols}
    names |= {str(entry.name) for library in getattr(binary, "imports", ()) for entry in library.entries}
    libraries = {str(one if isinstance(one, str) else one.name) for one in binary.libraries}
    libraries -= {name for name in libraries if name.startswith("@rpath/aqmlab.")}  # its own name
    return sorted(libraries), sorted(name for name in names if OF_PYTHON.match(name))


def faults(wheel: Path) -> Iterator[str]:
    """Yield the libraries that the system of a wheel's name lacks; print those that it needs."""
    system = next(word for word in LIBRARIES if f"-{word}" in wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        libraries, symbols = needs_of(archive.read(core_of(wheel)))
    print(f"{wheel.name}: {', '.join(libraries)}; {len(symbols)} symbols of Python")
    yield from (
        f"{wheel.name} needs {one}, which its system lacks"
        for one in libraries
        if not re.fullmatch(LIBRARIES[system], one)
    )
    if not symbols:
        yield f"{wheel.name} takes no symbol from Python"


def main(folder: Path) -> int:
    """Check the wheels of a folder."""
    wrong = [fault for wheel in sorted(folder.glob("*.whl")) for fault in faults(wheel)]
    print("\n".join(wrong) or "Each core needs the libraries of its system alone.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
