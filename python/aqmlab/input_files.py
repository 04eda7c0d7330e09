"""Read a file that a user names, within limits: its kind, its length, and how far it unpacks."""

from __future__ import annotations

import errno
import os
import select
import stat
import zlib
from pathlib import Path

from aqmlab.errors import InputError

READ = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""Flags that open a file as bytes and do not wait for the writer of a pipe, as far as the system has them."""
SILENT_S = 10.0
"""A pipe out of which nothing comes for so long is an error."""
PIECE = 1 << 20
GZIP = 16 + zlib.MAX_WBITS
RATIO = 200
"""Most bytes that a packed byte may become; texts and logs of decisions have 3 to 30."""
LONGEST_RESULT = 16 << 30
"""Most bytes of a file of results."""
FREE = 64 << 20
"""Bytes that a packed file may become whatever the ratio."""


def read_bytes(path: Path, *, longest: int) -> bytes:
    """Return the content of a file or a pipe of at most `longest` bytes.

    Raises
    ------
    InputError
        If it is a device or a socket, is longer, or if nothing comes out of a pipe for `SILENT_S` seconds.
    OSError
        If it is a folder or cannot be read.
    """
    descriptor = os.open(path, READ)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InputError(f"{path}: is a device or a socket (allowed: a file or a pipe)")
        parts: list[bytes] = []
        length = 0
        while length <= longest:
            if stat.S_ISFIFO(mode) and not select.select([file], [], [], SILENT_S)[0]:
                raise InputError(f"{path}: nothing came out of this pipe for {SILENT_S:g} s")
            part = file.read(PIECE)
            if part == b"":
                return b"".join(parts)
            parts.append(part or b"")
            length += len(parts[-1])
    raise InputError(f"{path}: is too long (allowed: up to {longest:,} bytes)")


def read_regular(path: Path) -> bytes:
    """Return the content of a regular file of results; an `OSError` for a pipe, a device or a huge file.

    Results from elsewhere may hold anything; a pipe could hang.
    """
    with os.fdopen(os.open(path, READ), "rb") as file:
        status = os.fstat(file.fileno())
        mode = status.st_mode
        if status.st_size > LONGEST_RESULT:
            raise OSError(errno.EFBIG, f"it has more than {LONGEST_RESULT >> 30} GiB", str(path))
        if not stat.S_ISREG(mode):
            number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
            raise OSError(number, "it is not a regular file", str(path))
        return file.read()


def unpacked(data: bytes, path: Path, *, longest: int) -> bytes:
    """Return what gzip packed into these bytes, at most `longest` bytes and `RATIO` times as much.

    Raises
    ------
    InputError
        If it is more, or if the data are not a whole file of gzip; the message names `path`.
    """
    most = min(longest, max(FREE, RATIO * len(data)))
    parts: list[bytes] = []
    length = 0
    try:
        while data:
            member = zlib.decompressobj(GZIP)
            while data and not member.eof:
                part = member.decompress(data, PIECE)
                data = member.unconsumed_tail
                parts.append(part)
                length += len(part)
                if length > most:
                    raise InputError(f"{path}: unpacks to more than {most:,} bytes")
            if not member.eof:
                raise InputError(f"{path}: is not a whole file of gzip")
            data = member.unused_data
    except zlib.error:
        raise InputError(f"{path}: is not a whole file of gzip") from None
    return b"".join(parts)
