"""Headers of an image's kernel, to compile modules with: fetched by apt, unpacked in the cache, not installed."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from tarfile import TarFile

from aqmlab.errors import InputError
from aqmlab.live.vm.build import cache
from aqmlab.live.vm.kernels import FOLDER
from aqmlab.live.vm.suites import Suites

PACKAGE = "linux-headers-"
PARTS = (PACKAGE, "linux-kbuild-")
"""Beginnings of the packages that a build needs; the compiler is this machine's."""
UNPACKED = ("./usr/src/", "./usr/lib/linux-kbuild-")
INSTALLED = Path("/lib/modules")


def headers(
    release: str, folder: Path | None = None, *, installed: Path = INSTALLED, tell: Callable[[str], None] = print
) -> Path:
    """Return the folder with which ``make -C`` builds modules for a kernel.

    Parameters
    ----------
    release
        As ``uname -r`` prints it.
    folder
        Cache; default: the user's.
    installed
        Where this machine's own headers are looked for first.
    tell
        Is called with a line when headers are fetched.

    Raises
    ------
    InputError
        If apt does not serve them.
    """
    own = installed / release / "build"
    if (own / "Makefile").is_file():
        return own
    kept = (cache() if folder is None else folder) / FOLDER
    root = kept / "headers" / release
    place = root / "usr/src" / f"{PACKAGE}{release}"
    if not place.is_dir():
        tell(f"fetching {PACKAGE}{release}")
        _fetch(release, Suites(kept / "apt"), root)
    return place


def _fetch(release: str, suites: Suites, root: Path) -> None:
    """Unpack the packages into a folder, which is there whole or not at all."""
    name = f"{PACKAGE}{release}"
    suites.update()
    if name not in suites.names(name):
        raise InputError(f"no headers of Linux {release}: apt serves no package {name}")
    parts = [name, *(part for part in suites.depends(name) if part.startswith(PARTS))]
    root.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root.parent, prefix=".unpacked-") as made:
        with suites.packages(parts) as (files, _):
            unpack(files, Path(made))
        makefile = Path(made, "usr/src", name, "Makefile")
        # The package names its other half by its place in the system.
        makefile.write_text(makefile.read_text(encoding="utf-8").replace("/usr/src/", f"{root}/usr/src/"), "utf-8")
        Path(made).rename(root)
        Path(made).mkdir()


def unpack(packages: Iterable[TarFile], folder: Path) -> None:
    """Unpack what of the packages is headers and programs of the build."""
    for files in packages:
        wanted = [member for member in files.getmembers() if member.name.startswith(UNPACKED)]
        files.extractall(folder, members=wanted, filter="tar")
