"""Files that a user names: ``--out FILE``, ``--csv FILE``, and folders of exports.

`aqmlab.results.folders.write_file` writes the files of results folders: it follows no link and takes no device.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.results.folders import guarded, make_folder, write_file

OWN_FILES = ".aqmlab-files"
"""Name of the file that lists what exports wrote to a folder."""
STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")
"""Names of open files, as ``>(gzip > out.gz)`` of a shell has them."""

ENDINGS = {
    "html": (".html", ".htm"),
    "csv": (".csv",),
    "parquet": (".parquet",),
    "tex": (".tex",),
    "pcap": (".pcap",),
    "flent": (".flent", ".gz"),
    "ns2": (".tr",),
    "toml": (".toml",),
}
"""Formats of files that a user names, and the endings of their names."""


def check_ending(path: Path, form: str, *, needed: bool = False) -> None:
    """Check that the name of a file does not end as that of another format.

    Parameters
    ----------
    path
        The file. A device, a pipe and an open file may have any name.
    form
        Its format, one of `ENDINGS`; others are not checked.
    needed
        Whether the name must have an ending of the format: a browser opens a page by it.

    Raises
    ------
    InputError
        If it does.

    >>> check_ending(Path("a.csv"), "csv"), check_ending(Path("a.txt"), "csv")
    (None, None)
    >>> check_ending(Path("a.parquet"), "csv")
    Traceback (most recent call last):
    aqmlab.errors.InputError: a.parquet: the file is in the format csv (allowed: a name that ends in .csv)
    """
    own, ending = ENDINGS.get(form, ()), path.suffix.lower()
    others = {one for endings in ENDINGS.values() for one in endings} - {*own}
    if not own or ending in own or not (needed or ending in others) or _is_stream(path):
        return
    raise InputError(f"{path}: the file is in the format {form} (allowed: a name that ends in {own[0]})")


def _is_stream(path: Path) -> bool:
    """Whether a path is of a device, a pipe or an open file."""
    if DESCRIPTOR.fullmatch(str(path)) or str(path) in STREAMS:
        return True
    return guarded(path, lambda: path.exists() and not path.is_file() and not path.is_dir())


def save_output(path: Path, content: str | bytes) -> None:
    """Write a file that a user names, in a folder that is made if it is missing.

    A regular file is replaced whole; where a symbolic link leads to it, the link stays. A pipe, a character device
    (``/dev/null``) and an open file (``/dev/stdout``, ``/dev/fd/3``) are written into.

    Raises
    ------
    StorageError
        If it is a folder, a socket or a block device, or cannot be written.
    """
    data = content.encode(errors="backslashreplace") if isinstance(content, str) else content
    make_folder(path.parent)
    guarded(path, lambda: _write(path, data))


def _write(path: Path, data: bytes) -> None:
    opened = DESCRIPTOR.fullmatch(str(path))
    descriptor = int(opened[1]) if opened else STREAMS.get(str(path))
    if descriptor is not None:
        sys.stdout.flush()
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(data)
        return
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:  # it is new, or a link to a file that is
        mode = stat.S_IFREG
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        path.write_bytes(data)
    else:
        write_file(Path(os.path.realpath(path)) if path.is_symlink() else path, data)


def write_export(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """Write files, by name, to a folder of their own, made if it is missing; return their paths.

    Files of earlier exports, as `OWN_FILES` lists them, are replaced. Other files stay untouched.

    Raises
    ------
    StorageError
        If a file of the same name is there that no export wrote, or that is a symbolic link; if the folder cannot be
        written.
    """
    return guarded(folder, lambda: _write_export(folder, files))


def _write_export(folder: Path, files: Mapping[str, str]) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    listing = folder / OWN_FILES
    listed = listing.is_file() and not listing.is_symlink()
    known = listing.read_text(encoding="utf-8", errors="replace").split("\n") if listed else []
    for name in (OWN_FILES, *files):
        path = folder / name
        if path.is_symlink() or (path.exists() and name not in (OWN_FILES, *known)):
            raise OSError(errno.EINVAL, f"{name} in it was not written by an export; name another folder", str(folder))
    write_file(listing, "\n".join(dict.fromkeys([*known, *files])).encode())
    for name, text in files.items():
        write_file(folder / name, text.encode())
    return [folder / name for name in files]
