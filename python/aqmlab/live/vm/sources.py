"""Modules compiled from the source of an image's kernel: fetched by apt in the same version, never committed.

``linux-source-X.Y`` has the distribution's source of a kernel. One folder of it is unpacked in the cache. A file of
that folder is compiled as a module with the kernel's headers, unchanged or with edits: a discipline that is built into
the kernel, one that the distribution does not build, or a copy with a known fault.
"""

from __future__ import annotations

import re
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from aqmlab.errors import InputError
from aqmlab.live.tc.module import program_of
from aqmlab.live.vm.build import Image, cache
from aqmlab.live.vm.headers import headers
from aqmlab.live.vm.kernels import FOLDER, PACKAGE
from aqmlab.live.vm.packages import package, said
from aqmlab.live.vm.suites import Suites

SOURCE = "linux-source-"
"""Beginning of the packages with a kernel's source; two numbers of its version follow."""
QDISCS = "net/sched"
"""Folder of the queue disciplines in a kernel's source."""
MAKEFILE = """\
modules:
\t$(MAKE) -C $(KERNEL) M=$(CURDIR) CONFIG_MODVERSIONS= modules

.PHONY: modules
"""
"""Compiles a module without checksums of the names that it imports, so that they can be changed."""


@dataclass(frozen=True)
class Edit:
    """A change of a source file: a text that is in it once, and its replacement."""

    old: str
    new: str


def source(path: str, image: Image, folder: Path | None = None, *, tell: Callable[[str], None] = print) -> str:
    """Return a file of the source of an image's kernel.

    Parameters
    ----------
    path
        As in the kernel's source: ``net/sched/sch_fq_codel.c``.
    image
        Its manifest names the version of the kernel's package.
    folder
        Cache; default: the user's. The folder of the file is kept there.
    tell
        Is called with a line when a package is fetched.

    Raises
    ------
    InputError
        If apt does not serve this version's source, or the source has no such file.
    """
    version, place = version_of(image), str(PurePosixPath(path).parent)
    kept = (cache() if folder is None else folder) / FOLDER
    tree = kept / "sources" / version
    if not (tree / place).is_dir():
        _fetch(_package_of(version), version, place, Suites(kept / "apt"), tree, tell)
    try:
        return (tree / path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(f"the source of Linux {version} has no file {path}") from None


def edited(text: str, edits: Iterable[Edit]) -> str:
    """Return a text with changes, one after another.

    Raises
    ------
    InputError
        If the text to be replaced is not there, or is there more than once.

    Examples
    --------
    >>> edited("limit = 64;", [Edit("64", "63")])
    'limit = 63;'
    """
    for edit in edits:
        if (count := text.count(edit.old)) != 1:
            raise InputError(f'"{edit.old}" is {count} times in the source (allowed: once)')
        text = text.replace(edit.old, edit.new)
    return text


def module_sources(
    path: str,
    image: Image,
    edits: Iterable[Edit] = (),
    folder: Path | None = None,
    *,
    tell: Callable[[str], None] = print,
) -> dict[str, str]:
    """Return the files to compile one source file as a module of its name: name and text.

    Headers beside the file, which it includes in quotation marks, are among them.
    """
    text = edited(source(path, image, folder, tell=tell), edits)
    name = PurePosixPath(path)
    found = {name.name: text, "Kbuild": f"obj-m := {name.stem}.o\n", "Makefile": MAKEFILE}
    for included in re.findall(r'^#include "([^/"]+)"', text, re.MULTILINE):
        found[included] = source(str(name.parent / included), image, folder, tell=tell)
    return found


def compiled_source(
    path: str,
    image: Image,
    edits: Iterable[Edit] = (),
    folder: Path | None = None,
    *,
    compiler: Callable[[Mapping[str, str], str], bytes] | None = None,
    tell: Callable[[str], None] = print,
) -> bytes:
    """Compile a source file of an image's kernel, and return the file ``.ko``.

    Parameters
    ----------
    path, image, folder, tell
        As of `source`.
    edits
        Changes of its text.
    compiler
        Compiles files into a module with a name; default: this machine's compiler with the kernel's headers.

    Raises
    ------
    InputError
        As of `source`, `edited`, `headers` and `program_of`.
    """
    files = module_sources(path, image, edits, folder, tell=tell)
    name = PurePosixPath(path).stem
    if compiler is not None:
        return compiler(files, name)
    return program_of(files, name, headers(image.release, folder, tell=tell))


def version_of(image: Image) -> str:
    """Return the version of the package that an image's kernel is from.

    Raises
    ------
    InputError
        If the manifest does not name it.
    """
    package_name = f"{PACKAGE}{image.release}"
    for entry in image.manifest["packages"]:
        name, _, version = entry.partition(" ")
        if name == package_name and version:
            return str(version)
    raise InputError(f"{image.folder}: the manifest names no version of {package_name}")


def _package_of(version: str) -> str:
    """Return the package with the source of a version.

    >>> _package_of("6.12.95-1~bpo12+1")
    'linux-source-6.12'
    """
    return SOURCE + ".".join(version.split(".")[:2])


def _fetch(name: str, version: str, place: str, suites: Suites, tree: Path, tell: Callable[[str], None]) -> None:
    """Unpack a folder of a source package into a tree; it is there whole or not at all."""
    environment = serving(name, version, suites)
    tell(f"fetching {name} {version}")
    (tree / place).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=tree, prefix=".unpacked-") as made:
        with package(f"{name}={version}", environment=environment) as (files, _):
            packed = next(member for member in files.getmembers() if member.name.endswith(f"/{name}.tar.xz"))
            with tarfile.open(fileobj=files.extractfile(packed), mode="r|xz") as source_files:
                unpack(source_files, f"{name}/{place}", Path(made))
        if not Path(made, name, place).is_dir():
            raise InputError(f"the source of Linux {version} has no folder {place}")
        Path(made, name, place).rename(tree / place)


def unpack(files: tarfile.TarFile, place: str, folder: Path) -> None:
    """Unpack the files of one folder, without those of its folders."""
    for member in files:
        if member.isreg() and str(PurePosixPath(member.name).parent) == place:
            files.extract(member, folder, filter="data")


def serving(name: str, version: str, suites: Suites) -> dict[str, str]:
    """Return the environment in which apt serves a package's version: the system's, or that of the suites.

    Raises
    ------
    InputError
        If apt does not serve it.
    """
    if version in _versions(name, {}):
        return {}
    suites.update()
    served = _versions(name, suites.environment)
    if version not in served:
        own = f"it serves {', '.join(served)}" if served else "it serves none"
        raise InputError(f"apt does not serve {name} {version} ({own}); build a new image of the kernel")
    return suites.environment


def _versions(name: str, environment: Mapping[str, str]) -> list[str]:
    """Return the versions of a package that apt serves."""
    lines = said(["apt-cache", "madison", name], environment=environment).splitlines()
    return [line.split("|")[1].strip() for line in lines if line.count("|") == 2]
