"""Contents of the image: a kernel of the distribution, and programs with the libraries that they load."""

from __future__ import annotations

import lzma
import os
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import pyarrow as pa

from aqmlab.errors import InputError
from aqmlab.live.processes import search_path

KERNEL = "linux-image-amd64"
"""The distribution's package that depends on its present kernel."""
BUSYBOX = "busybox-static"
IMAGE = re.compile(r"(?:.*/)?(?:boot/vmlinuz-(?P<boot>[^/]+)|lib/modules/(?P<modules>[^/]+)/vmlinuz)")
"""Path of a kernel's program in its package, by Debian's release."""
MODULE = re.compile(r".*/([^/]+)\.ko(?:\.xz)?")
PATIENCE_S = 600.0
"""How long a command may take; the slowest fetches a package."""
LZ4_BLOCK = 8 << 20
"""Bytes in each block of LZ4's legacy format but the last."""


@dataclass(frozen=True)
class Kernel:
    """A kernel: its release, its program, modules in the order in which they are loaded, and those built in."""

    release: str
    image: bytes
    modules: tuple[tuple[str, bytes], ...]
    builtin: tuple[str, ...] = ()


def said(command: Sequence[str], *, folder: Path | None = None, environment: Mapping[str, str] = {}) -> str:
    """Return a command's output; its failure is one line."""
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
            timeout=PATIENCE_S,
            env={**os.environ, **environment},
        )
    except FileNotFoundError:
        raise InputError(
            f"the image of the emulated machine needs the command {command[0]}, which is not installed"
        ) from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{' '.join(command)}: not finished after {PATIENCE_S:.0f} s") from None
    except subprocess.CalledProcessError as error:
        lines = [line for line in error.stderr.splitlines() if line.startswith("E:")] or error.stderr.splitlines()
        raise InputError(f"{' '.join(command)}: {lines[0] if lines else f'exit code {error.returncode}'}") from None
    return done.stdout


def newest_kernel() -> str:
    """Return the name of the package of the distribution's present kernel, e.g. ``linux-image-6.1.0-50-amd64``."""
    for line in said(["apt-cache", "depends", "--important", KERNEL]).splitlines():
        kind, _, package = line.strip().partition(": ")
        if kind == "Depends" and package.startswith("linux-image-"):
            return package
    raise InputError(f"no kernel package: {KERNEL} is not known to apt (apt-get update; Debian only)")


@contextmanager
def package(name: str, *, environment: Mapping[str, str] = {}) -> Iterator[tuple[tarfile.TarFile, str]]:
    """Fetch a package without installing it; its files, and ``name version``.

    The environment may choose apt's sources.
    """
    with tempfile.TemporaryDirectory() as folder:
        said(["apt-get", "download", name], folder=Path(folder), environment=environment)
        found = next(Path(folder).glob("*.deb"))
        version = said(["dpkg-deb", "--field", str(found), "Version"]).strip()
        with tempfile.TemporaryFile() as plain:
            subprocess.run(["dpkg-deb", "--fsys-tarfile", str(found)], stdout=plain, check=True)
            plain.seek(0)
            with tarfile.open(fileobj=plain) as files:
                yield files, f"{name} {version}"


def kernel_of(packages: Iterable[tarfile.TarFile], wanted: Iterable[str]) -> Kernel:
    """Read a kernel out of its packages, with the wanted modules and all that they depend on.

    Modules that are in none of the packages are left out: they may be part of the kernel itself, as `Kernel.builtin`
    reports.
    """
    members = {member.name: (files, member) for files in packages for member in files.getmembers()}
    images = [match for match in map(IMAGE.fullmatch, members) if match is not None]
    if not images:
        raise InputError("the kernel's packages hold no vmlinuz")
    paths = {match[1].replace("-", "_"): name for name in members if (match := MODULE.fullmatch(name)) is not None}
    order: dict[str, bytes] = {}

    def add(module: str) -> None:
        if module in order or module not in paths:
            return
        data = _contents(*members[paths[module]])
        if paths[module].endswith(".xz"):
            data = lzma.decompress(data)
        for other in depends(data):
            add(other)
        order[module] = data

    asked = list(wanted)
    for module in asked:
        add(module)
    lists = [name for name in members if name.endswith("/modules.builtin")]
    inside = {
        PurePosixPath(line).stem.replace("-", "_")
        for name in lists
        for line in _contents(*members[name]).decode().splitlines()
    }
    release = images[0]["boot"] or images[0]["modules"]
    image = unpacked(_contents(*members[images[0][0]]))
    return Kernel(release, image, tuple(order.items()), tuple(name for name in asked if name in inside))


def unpacked(image: bytes) -> bytes:
    """Return the kernel in a compressed image (kernel documentation, x86 boot protocol 2.08), or the image itself.

    An emulated processor would need longer to unpack it than to boot it. Images packed with xz, gzip, LZ4 and zstd are
    unpacked; the last four bytes of the latter two are the length of what they hold.
    """
    offset, length = struct.unpack_from("<II", image, 0x248)
    begin = (image[0x1F1] + 1) * 512 + offset
    payload = image[begin : begin + length]
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31).decompress(payload)
    if payload.startswith(b"\x02\x21\x4c\x18"):
        return _of_lz4(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return bytes(pa.CompressedInputStream(pa.py_buffer(payload[:-4]), "zstd").read())
    return image


def _of_lz4(payload: bytes) -> bytes:
    """Unpack LZ4's legacy format: after the magic number blocks, each behind its length."""
    (left,) = struct.unpack_from("<I", payload, len(payload) - 4)
    at, found = 4, []
    while left > 0:
        (length,) = struct.unpack_from("<I", payload, at)
        block = payload[at + 4 : at + 4 + length]
        found.append(pa.decompress(block, decompressed_size=min(left, LZ4_BLOCK), codec="lz4_raw", asbytes=True))
        at += 4 + length
        left -= LZ4_BLOCK
    return b"".join(found)


def depends(module: bytes) -> list[str]:
    r"""Return which modules a module needs, from its section ``.modinfo``.

    >>> depends(b"\0license=GPL\0depends=x_tables,nf-conntrack\0intree=Y\0")
    ['x_tables', 'nf_conntrack']
    """
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    return [name.replace("-", "_") for name in found[1].decode().split(",") if name] if found else []


def file_of(files: tarfile.TarFile, ending: str) -> bytes:
    """Return the contents of the file whose path ends so."""
    return _contents(files, next(member for member in files.getmembers() if member.name.endswith(ending)))


def program(name: str) -> Path:
    """Find a program of this machine."""
    found = shutil.which(name, path=search_path())
    if found is None:
        raise InputError(f"the image of the emulated machine needs the program {name}, which is not installed")
    return Path(found)


def libraries(binary: Path) -> list[Path]:
    """Return the libraries that a program loads; none for one that is statically linked."""
    done = subprocess.run(["ldd", str(binary)], capture_output=True, text=True, check=False)
    return [Path(match) for match in re.findall(r"(/\S+) \(0x", done.stdout)]


def owner(path: Path) -> str:
    """Return package and version that a file of this machine came with, or an empty text.

    Packages name files as they were before ``/bin`` became a link to ``/usr/bin``, or after.
    """
    real = str(path.resolve())
    for name in (real, real.removeprefix("/usr"), f"/sbin/{path.name}", f"/bin/{path.name}"):
        done = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found = done.stdout.partition(":")[0].strip()
            return f"{found} {said(['dpkg-query', '-W', '-f=${Version}', found])}"
    return ""


def _contents(files: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    opened: IO[bytes] | None = files.extractfile(member)
    assert opened is not None
    return opened.read()
