"""Archives of the form "newc" (kernel documentation, driver-api/early-userspace/buffer-format), as initramfs.

They are written here, not by `cpio`, so that equal contents are equal bytes: entries in the order of their names, times
and owners 0. Archives may follow each other, so a run's own files are an archive behind the image's.
"""

from __future__ import annotations

import io
import stat
from collections.abc import Mapping
from dataclasses import dataclass

ALIGN = 4
TRAILER = "TRAILER!!!"


@dataclass(frozen=True)
class Entry:
    """A file, folder, link or device: its mode with its type, its contents (a link's target), its device number."""

    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def folder() -> Entry:
    """Return an empty folder."""
    return Entry(stat.S_IFDIR | 0o755)


def file(data: bytes, *, executable: bool = False) -> Entry:
    """Return a file."""
    return Entry(stat.S_IFREG | (0o755 if executable else 0o644), data)


def link(target: str) -> Entry:
    """Return a symbolic link."""
    return Entry(stat.S_IFLNK | 0o777, target.encode())


def character_device(major: int, minor: int) -> Entry:
    """Return a node of a character device."""
    return Entry(stat.S_IFCHR | 0o600, device=(major, minor))


def newc(entries: Mapping[str, Entry]) -> bytes:
    """Write an archive of entries by path, with the folders that their paths need.

    >>> newc({"a": file(b"x")}).count(b"070701"), len(newc({"a/b": file(b"x")})) % 4
    (2, 0)
    """
    whole = dict(entries)
    for path in entries:
        for at, letter in enumerate(path):
            if letter == "/":
                whole.setdefault(path[:at], folder())
    out = io.BytesIO()
    for number, path in enumerate(sorted(whole), start=1):
        _write(out, number, path, whole[path])
    _write(out, 0, TRAILER, Entry(0))
    return out.getvalue()


def _write(out: io.BytesIO, number: int, path: str, entry: Entry) -> None:
    name = path.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    fields = (number, entry.mode, 0, 0, links, 0, len(entry.data), 0, 0, *entry.device, len(name), 0)
    out.write(b"070701" + b"".join(b"%08X" % value for value in fields) + name)
    _align(out)
    out.write(entry.data)
    _align(out)


def _align(out: io.BytesIO) -> None:
    out.write(b"\0" * (-out.tell() % ALIGN))
