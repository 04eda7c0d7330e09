"""Results on disk: one folder per scenario, one folder per seed in it, each seed written whole or not at all.

    OUT/<scenario>-<hash8>/
        scenario.toml             the scenario with its overrides applied
        log.txt                   host, times and paths of every call; never part of a result
        seed-0001/summary.json    named numbers and provenance: version, scenario's hash, seed, readings
        seed-0001/<table>.parquet

What is in a seed's folder is a function of (scenario, seed, version) alone.
"""

from __future__ import annotations

import errno
import json
import math
import os
import shutil
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from aqmlab.errors import StorageError
from aqmlab.storage.tables import parquet_bytes, read_parquet

SUMMARY = "summary.json"
COMPARISON = "compare.json"
"""The file that makes a folder one of a comparison."""
STALE_AFTER_S = 600.0
_T = TypeVar("_T")


def seed_folder(folder: Path, seed: int) -> Path:
    """Return the folder of one seed.

    >>> seed_folder(Path("red-0a1b2c3d"), 7).name
    'seed-0007'
    """
    return folder / f"seed-{seed:04d}"


def prepare(folder: Path, *, scenario: str, name: str = "scenario.toml") -> None:
    """Make a results folder ready, so that what is wrong with it is known before any work is done.

    The text that says what is run in it goes into the file `name`.
    """

    def work() -> None:
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / name, scenario.encode())
        _remove_stale(folder)

    guarded(folder, work)


def is_finished(folder: Path, *, scenario_hash: str, version: str) -> bool:
    """Whether this seed was already run with this scenario by this version."""
    try:
        summary = read_summary(folder)
    except StorageError:
        return False
    return bool(summary.get("scenario", {}).get("hash") == scenario_hash and summary.get("version") == version)


def write_seed(
    folder: Path,
    summary: Mapping[str, Any],
    tables: Mapping[str, pa.Table],
    *,
    files: Mapping[str, bytes] | None = None,
) -> None:
    """Write one finished run: all its files into a folder of another name, made durable, then renamed.

    `files` are further ones that belong to it, by name.
    """

    def work() -> None:
        temporary = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir()
            for name, table in tables.items():
                write_file(temporary / f"{name}.parquet", parquet_bytes(table))
            for name, data in (files or {}).items():
                write_file(temporary / name, data)
            write_file(temporary / SUMMARY, to_json(summary).encode())
            sync_folder(temporary)
            if folder.exists():
                shutil.rmtree(folder)
            temporary.rename(folder)
            sync_folder(folder.parent)
        except BaseException:  # an interrupt too leaves nothing half written
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    guarded(folder.parent, work)


def write_file(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def save(path: Path, text: str) -> None:
    """Write a text file whole; what goes wrong becomes one clear line."""
    guarded(path.parent, lambda: write_file(path, text.encode()))


def read_summary(folder: Path) -> dict[str, Any]:
    """Read the summary of one seed."""
    return read_json(folder / SUMMARY)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON file of a results folder."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror})") from None
    except ValueError:
        raise StorageError(f"{path}: is damaged; delete {path.parent} and run again") from None
    return data


def read_table(folder: Path, name: str) -> pa.Table | None:
    """Read one table of one seed, or None if this run did not record it."""
    path = folder / f"{name}.parquet"
    if not path.exists():
        return None
    try:
        return read_parquet(path)
    except (OSError, pa.ArrowException):
        raise StorageError(f"{path}: is damaged; delete {folder} and run again") from None


def finished_seeds(folder: Path) -> list[int]:
    """Seeds of which a results folder holds a finished run, in order."""
    found = []
    for entry in folder.glob("seed-*"):
        digits = entry.name.removeprefix("seed-")
        if digits.isdigit() and (entry / SUMMARY).exists():
            found.append(int(digits))
    return sorted(found)


def log(folder: Path, line: str) -> None:
    """Add a line with host and time to ``log.txt``, beside the results and never in them."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")

    def work() -> None:
        with (folder / "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"{stamp} {socket.gethostname()} {line}\n")

    guarded(folder, work)


def to_json(data: object) -> str:
    r"""Write JSON with sorted keys; a number that is not finite becomes null.

    >>> to_json({"b": float("nan"), "a": 0.1})
    '{\n "a": 0.1,\n "b": null\n}\n'
    """
    return json.dumps(plain(data), indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def guarded(folder: Path, work: Callable[[], _T]) -> _T:
    """Do something with files; an error of the operating system becomes one clear line."""
    try:
        return work()
    except OSError as error:
        raise StorageError(explain(folder, error)) from None


def explain(folder: Path, error: OSError) -> str:
    """Say in one line why a folder cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{folder}: the disk is full"
    if error.errno == errno.EFBIG:
        return f"{folder}: a file would be larger than is allowed here"
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{folder}: cannot be made a folder (a part of this path is a file)"
    return f"{folder}: cannot be written ({error.strerror or error})"


def plain(data: object) -> object:
    """Return plain data as JSON can have it: a number that is not finite becomes None."""
    if isinstance(data, Mapping):
        return {str(k): plain(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [plain(v) for v in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_stale(folder: Path) -> None:
    """Remove what an earlier call left half written when it was killed."""
    for entry in folder.glob(".*.tmp"):
        pid = entry.name.split(".")[-2]
        old = time.time() - entry.stat().st_mtime > STALE_AFTER_S
        if old and pid.isdigit() and not _alive(int(pid)):
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
