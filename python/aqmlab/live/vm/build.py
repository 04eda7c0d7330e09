"""The image of the emulated machine: a kernel and a small initramfs, made once and kept in the user's cache.

Nothing is installed and no root is needed: the kernel's package is fetched and unpacked; programs and libraries are
this machine's. ``manifest.json`` beside the image names every version and the digest of every file; the folder's name
is the digest of the whole, so that results can say on what they were made.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, counted
from aqmlab.live.vm import archive
from aqmlab.live.vm.packages import (
    BUSYBOX,
    Kernel,
    file_of,
    kernel_of,
    libraries,
    newest_kernel,
    owner,
    package,
    program,
)

PROGRAMS = ("ip", "tc", "iperf3")
QUEUES = (
    "red",
    "tbf",
    "netem",
    "codel",
    "fq_codel",
    "pie",
    "fq_pie",
    "fq",
    "sfq",
    "htb",
    "gred",
    "choke",
    "sfb",
    "cake",
    "prio",
)
MODULES = (
    *("veth", "tun"),
    *("sch_ingress", "cls_u32", "act_skbmod", "act_mirred", "act_police", "act_pedit", "act_csum"),
    *(f"sch_{queue}" for queue in QUEUES),
    *("tcp_bbr", "tcp_dctcp"),
)
ASKED = [*PROGRAMS, *MODULES]
"""Requested contents of an image, as its manifest lists them; without modules that are part of the kernel itself."""
COMMAND = "aqmlab live --backend vm --build-vm"
"""The command that builds an image."""
CURRENT = "current"
"""Name of the link to the image that was built last."""
FOLDERS = ("proc", "sys", "dev", "tmp", "run", "root", "job", "sbin", "usr/sbin")


@dataclass(frozen=True)
class Image:
    """A built image: its folder and its manifest."""

    folder: Path
    manifest: dict[str, Any]

    @property
    def release(self) -> str:
        """The kernel's release: ``6.12.95+deb12-cloud-amd64``."""
        return str(self.manifest["kernel"])

    def has(self, module: str) -> bool:
        """Whether the kernel has one of the `MODULES`, to be loaded or built in."""
        return module in self.manifest["modules"] or module in self.manifest["builtin"]

    @property
    def kernel(self) -> Path:
        """The kernel to boot."""
        return self.folder / "kernel"

    @property
    def initramfs(self) -> Path:
        """The root file system to boot it with."""
        return self.folder / "initramfs"


def cache() -> Path:
    """Return the folder that images are kept in: ``aqmlab/lab`` in ``$XDG_CACHE_HOME`` or ``~/.cache``.

    The folder has the backend's former name, so that images that were built before are still found.
    """
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "aqmlab" / "lab"


def find(folder: Path | None = None) -> Image:
    """Return the image that was built last; raise a one-line error without an image, or without one of this version."""
    kept = (cache() if folder is None else folder) / CURRENT
    try:
        manifest = json.loads((kept / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(f"no image of the emulated machine in {kept.parent} (build it: {COMMAND})") from None
    image = Image(kept.resolve(), manifest)
    if manifest.get("asked") != ASKED:
        raise InputError(f"{image.folder} was built by another version of aqmlab (build it again: {COMMAND})")
    for path in (image.kernel, image.initramfs):
        if not path.is_file():
            raise InputError(f"{path} is missing (build the image again: {COMMAND})")
    return image


def find_or_build(folder: Path | None = None, *, tell: Callable[[str], None] = print) -> Image:
    """Return the image that was built last; build one if no complete image exists."""
    try:
        return find(folder)
    except InputError:
        return build(folder, tell=tell)


def build(folder: Path | None = None, *, tell: Callable[[str], None] = print) -> Image:
    """Fetch, pack and keep an image of the distribution's present kernel; the same packages give the same bytes."""
    kept = cache() if folder is None else folder
    chosen = newest_kernel()
    tell(f"fetching {chosen}")
    with package(chosen) as (files, version):
        kernel = kernel_of([files], MODULES)
    made = keep(kernel, [version], kept, tell=tell)
    pointer = kept / CURRENT
    pointer.unlink(missing_ok=True)
    pointer.symlink_to(made.folder.name)
    return find(kept)


def keep(kernel: Kernel, versions: Sequence[str], kept: Path, *, tell: Callable[[str], None]) -> Image:
    """Pack a kernel, a shell and this machine's programs into an image.

    Parameters
    ----------
    kernel, versions
        The kernel, and ``name version`` of the packages it is from.
    kept
        The folder for images.
    """
    tell(f"fetching {BUSYBOX}")
    with package(BUSYBOX) as (files, shell_version):
        shell = file_of(files, "bin/busybox")
    programs = [program(name) for name in PROGRAMS]
    initramfs = archive.newc(root(kernel, shell, programs))
    manifest: dict[str, Any] = {
        "kernel": kernel.release,
        "packages": sorted({*versions, shell_version, *(filter(None, map(owner, programs)))}),
        "programs": programs_here(),
        "asked": ASKED,
        "modules": [name for name, _ in kernel.modules],
        "builtin": list(kernel.builtin),
        "sha256": {"kernel": digest(kernel.image), "initramfs": digest(initramfs)},
    }
    text = json.dumps(manifest, indent=1) + "\n"
    made = kept / f"{kernel.release}-{digest(text.encode())[:12]}"
    made.mkdir(parents=True, exist_ok=True)
    for name, data in (("kernel", kernel.image), ("initramfs", initramfs), ("manifest.json", text.encode())):
        (made / name).write_bytes(data)
    tell(f"{made}: {(len(kernel.image) + len(initramfs)) / 1e6:.0f} MB, {counted(len(kernel.modules), 'module')}")
    return Image(made, manifest)


def programs_here() -> dict[str, str]:
    """Return the digests of this machine's programs, which an image has copies of."""
    return {name: digest(program(name).read_bytes()) for name in PROGRAMS}


def root(kernel: Kernel, shell: bytes, programs: list[Path]) -> dict[str, archive.Entry]:
    """Lay out the guest's root file system."""
    guest = resources.files("aqmlab.live.vm").joinpath("guest")
    entries = {
        "init": archive.file(guest.joinpath("init").read_bytes(), executable=True),
        "bin/busybox": archive.file(shell, executable=True),
        "bin/sh": archive.link("busybox"),
        "etc/passwd": archive.file(b"root:x:0:0::/root:/bin/sh\n"),
        "etc/hosts": archive.file(b"127.0.0.1 localhost\n"),
        "dev/console": archive.character_device(5, 1),
        "modules/order": archive.file("".join(f"{name}\n" for name, _ in kernel.modules).encode()),
    }
    entries |= {name: archive.folder() for name in FOLDERS}
    entries |= {f"modules/{name}.ko": archive.file(data) for name, data in kernel.modules}
    for path in programs:
        entries |= with_libraries(path, f"usr/sbin/{path.name}")
    return entries


def with_libraries(binary: Path, place: str) -> dict[str, archive.Entry]:
    """Return a program at its place in the guest, and what it loads where it looks for it."""
    entries = {str(path).lstrip("/"): archive.file(path.read_bytes(), executable=True) for path in libraries(binary)}
    return {**entries, place: archive.file(binary.read_bytes(), executable=True)}


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()
