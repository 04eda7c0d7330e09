"""Results on disk: one folder per scenario, one folder per seed in it, each seed written whole or not at all.

    OUT/<scenario>-<hash8>/
        scenario.toml             the scenario with its overrides applied
        log.txt                   host, times and paths of every call; never part of a result
        seed-0001/summary.json    named numbers and provenance: version, scenario's hash, seed, readings
        seed-0001/<table>.parquet
        seed-0001/SHA256SUMS      digests of the files of this seed, as ``sha256sum --check`` reads them

The contents of a seed's folder are a function of (scenario, seed, version) alone.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import json
import math
import os
import re
import shutil
import socket
import stat
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from aqmlab.errors import InputError, StorageError, one_line
from aqmlab.input_files import read_regular
from aqmlab.results.keys import digest

if TYPE_CHECKING:  # Arrow takes 0.1 s to import, and commands that print need this module
    import pyarrow as pa

SCENARIO = "scenario.toml"
SUMMARY = "summary.json"
SUMS = "SHA256SUMS"
DIGEST = "digest"
"""Key of a record that has the hash of the others."""
COMPARISON, TUNING, REPRODUCTION = "compare.json", "tune.json", "reproduction.json"
"""The record that makes a folder one of a comparison, a tuning or a reproduction."""
TUNED_COMPARISON = "tuned-comparison.json"
"""The record of a comparison of tuned disciplines."""
STALE_AFTER_S = 600.0
"""Age at which a temporary file of another machine is taken for one that was left behind."""
MOST_SWAPS = 100
"""How often a seed's folder may be replaced by other processes while this one puts its own in place."""
SHAPE: Mapping[str, type] = {"scenario": dict, "seed": int, "summary": dict, "version": str, "readings": dict}
"""Keys of the summary of every seed, with their types."""
ALWAYS = "links"
"""The table that every run has."""
TEMPORARY = re.compile(r"\.(?:(?P<machine>[0-9a-f]{8})-)?(?P<pid>[0-9]{1,10})(?:-[0-9a-f]{12})?\.tmp$")
"""End of a temporary file's name: machine (absent until 0.1), process, something unique."""
_T = TypeVar("_T")


def seed_folder(folder: Path, seed: int) -> Path:
    """Return the folder of one seed.

    >>> seed_folder(Path("red-0a1b2c3d"), 7).name
    'seed-0007'
    """
    return folder / f"seed-{seed:04d}"


def prepare(folder: Path, *, scenario: str, name: str = SCENARIO) -> None:
    """Create a results folder, so that errors of the path are found before any work is done.

    The text that describes its runs goes into the file `name`.
    """

    def work() -> None:
        if folder.is_symlink():  # results go into it, and are removed from it
            raise OSError(errno.EINVAL, "it is a symbolic link, and results need a folder of their own", str(folder))
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / name, scenario.encode())
        for entry in folder.glob(".*.tmp"):
            if _is_stale(entry):  # an earlier call was killed
                _remove(entry)

    guarded(folder, work)


@contextmanager
def results_folder(folder: Path, *, scenario: str) -> Iterator[None]:
    """Make a results folder ready as `prepare` does; if the work fails before there is any result, remove it."""
    new = [one for one in (folder, *folder.parents) if not one.exists()]
    prepare(folder, scenario=scenario)
    try:
        yield
    except BaseException:
        if new and [one.name for one in folder.iterdir()] == [SCENARIO]:
            (folder / SCENARIO).unlink()
            with contextlib.suppress(OSError):
                for one in new:
                    one.rmdir()
        raise


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
    keep_finished: bool = False,
) -> None:
    """Write one finished run: all its files into a folder of another name, made durable, then renamed.

    Several processes and threads may write the same seed; one of them remains, with `keep_finished` the first that
    wrote the same run. `files` are further files by name.
    """

    def stays() -> bool:
        return keep_finished and is_finished(
            folder, scenario_hash=summary["scenario"]["hash"], version=summary["version"]
        )

    def work() -> None:
        temporary = temporary_path(folder)
        try:
            temporary.mkdir()
            _write_all(temporary, _seed_files(summary, tables, files or {}))
            sync_folder(temporary)
            _put_in_place(temporary, folder, stays)
            sync_folder(folder.parent)
        except BaseException:  # an interrupt too leaves nothing half written
            shutil.rmtree(temporary, ignore_errors=True)
            raise

    guarded(folder.parent, work)


def _seed_files(
    summary: Mapping[str, Any], tables: Mapping[str, pa.Table], files: Mapping[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a seed by name, one at a time, since tables are large; at last their digests."""
    from aqmlab.results.parquet import parquet_bytes

    encoded = ((f"{name}.parquet", parquet_bytes(table)) for name, table in tables.items())
    sums = {}
    for name, data in chain(encoded, files.items(), [(SUMMARY, to_json(summary).encode())]):
        sums[name] = hashlib.sha256(data).hexdigest()
        yield name, data
    yield SUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)).encode()


def _foreign(folder: Path) -> str:
    """Return the name of something in the folder of a run that is not of a run, or nothing."""
    try:
        sums = read_regular(folder / SUMS).decode(errors="replace")
    except OSError:
        sums = ""
    own = {SUMMARY, SUMS, *(line.partition("  ")[2] for line in sums.splitlines())}
    for path in folder.iterdir():
        known = path.name in own or path.suffix in (".parquet", ".tmp")
        if not known or path.is_symlink() or not path.is_file():
            return path.name
    return ""


def _put_in_place(made: Path, folder: Path, stays: Callable[[], bool]) -> None:
    """Give a folder its name; the one that has it goes, unless it `stays`."""
    for _ in range(MOST_SWAPS):
        if stays():
            shutil.rmtree(made)
            return
        try:
            made.rename(folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
        else:
            return
        # Moved aside first: to remove it takes a while, in which another process could put its own there.
        aside = temporary_path(folder)
        with contextlib.suppress(FileNotFoundError):
            found = folder.lstat()
            if name := _foreign(folder):
                # Files that vanish during this check belong to a run that another process moves aside. A new folder may
                # get the number of a removed one, but not its time.
                now = folder.lstat()
                if os.path.samestat(found, now) and found.st_ctime_ns == now.st_ctime_ns:
                    raise OSError(errno.EEXIST, f"{name} in it is not of a run, and would be deleted", str(folder))
                continue
            folder.rename(aside)
            shutil.rmtree(aside, ignore_errors=True)
    raise OSError(errno.EBUSY, "other processes keep replacing it", str(folder))


def temporary_path(path: Path) -> Path:
    """Return a name beside `path` that no other process or thread uses, and that names its machine and process."""
    name = os.fsencode(path.name)[:180].decode(errors="ignore")  # a name has at most 255 bytes
    return path.with_name(f".{name}.{_machine()}-{os.getpid()}-{uuid.uuid4().hex[:12]}.tmp")


@functools.cache
def _machine() -> str:
    """Return a few digits that tell machines, and containers on them, from each other: where a pid means something."""
    try:
        space = str(os.stat("/proc/self/ns/pid").st_ino)  # noqa: PTH116 - of a link that leads nowhere
    except OSError:
        space = ""
    return hashlib.sha256(f"{socket.gethostname()} {space}".encode()).hexdigest()[:8]


def write_file(path: Path, data: bytes) -> None:
    """Write a file so that a reader sees the old content or the new, never a part.

    A symbolic link in its place is replaced and not followed, since results from elsewhere may hold links to any file.
    Anything else that is no regular file is an error. `aqmlab.results.outputs.save_output` writes files that a user
    names.
    """
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise OSError(errno.EINVAL, f"it is {kind}", str(path))
    temporary = temporary_path(path)
    try:
        _write_all(temporary.parent, [(temporary.name, data)])
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write_all(folder: Path, contents: Iterable[tuple[str, bytes]]) -> None:
    """Write files that are not there yet, then make all durable: that costs less than each after it is written."""
    with contextlib.ExitStack() as open_files:
        written = []
        for name, data in contents:
            file = open_files.enter_context((folder / name).open("xb"))
            file.write(data)
            file.flush()
            written.append(file.fileno())
        for descriptor in written:
            os.fsync(descriptor)


def save(path: Path, text: str) -> None:
    """Write a text file whole; errors become one clear line."""
    guarded(path.parent, lambda: write_file(path, text.encode()))


def read_summary(folder: Path) -> dict[str, Any]:
    """Read the summary of one seed; it is an error if it is missing, not what was written, or lacks a necessary key."""
    found = read_json(folder / SUMMARY, verified(folder, SUMMARY))
    if (
        not _has_shape(found, SHAPE)
        or not _has_shape(found["scenario"], {"name": str, "hash": str})
        or not all(
            isinstance(one, dict) and _has_shape(one, {"parameters": dict}) for one in found["readings"].values()
        )
    ):
        raise StorageError(f"{folder / SUMMARY}: is damaged; delete {folder} and run again")
    return found


def _has_shape(record: Mapping[str, Any], shape: Mapping[str, type]) -> bool:
    return all(isinstance(record.get(key), kind) for key, kind in shape.items())


def verified(folder: Path, name: str) -> bytes:
    """Return the content of a file of a seed; raise if it is not what was written.

    Runs of versions that wrote no digests pass.
    """
    data = _read(folder / name)
    try:
        text = read_regular(folder / SUMS).decode("ascii")
    except FileNotFoundError:
        return data
    except (OSError, UnicodeDecodeError):
        text = ""
    known = {line[66:]: line[:64] for line in text.splitlines()}
    if hashlib.sha256(data).hexdigest() != known.get(name):
        raise StorageError(f"{folder / name}: is damaged (differs from {SUMS}); delete {folder} and run again")
    return data


def _read(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read ({error.strerror})") from None


def read_json(path: Path, text: bytes | None = None) -> dict[str, Any]:
    """Read a JSON file of a results folder, whose contents may be given."""
    try:
        data = json.loads((_read(path) if text is None else text).decode())
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise StorageError(f"{path}: is damaged; delete {path.parent} and run again")
    return data


def save_record(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record of a command as JSON, with the digest of its content."""
    save(path, to_json({**record, DIGEST: digest(to_json(record).encode())}))


def read_record(path: Path, shape: Mapping[str, type]) -> dict[str, Any]:
    """Read what `save_record` wrote; it is an error if it is anything else, or lacks a key.

    `shape` has the keys that the record must have, and the types of their values.
    """
    record = read_json(path)
    written = record.pop(DIGEST, None)
    if not _has_shape(record, shape) or written != digest(to_json(record).encode(errors="surrogatepass")):
        raise StorageError(f"{path}: is damaged; delete it and run the same command again")
    return record


def read_table(folder: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table | None:
    """Read one table of one seed, or some columns of it, or None if this run did not record it."""
    import pyarrow as pa

    from aqmlab.results.parquet import read_parquet

    path = folder / f"{name}.parquet"
    if not path.exists():
        if name == ALWAYS:
            raise StorageError(f"{path}: is missing; delete {folder} and run again")
        return None
    data = verified(folder, path.name)
    try:
        return read_parquet(data, columns)
    except MemoryError:  # of Arrow, which is an ArrowException too
        raise
    except (OSError, pa.ArrowException, ValueError):  # ValueError: text that is not UTF-8 in the schema
        raise StorageError(f"{path}: is damaged; delete {folder} and run again") from None


def finished_seeds(folder: Path) -> list[int]:
    """Seeds of which a results folder holds a finished run, in order."""
    found = {entry.name.removeprefix("seed-"): entry for entry in folder.glob("seed-*")}
    return sorted(int(digits) for digits, entry in found.items() if digits.isdigit() and (entry / SUMMARY).exists())


def log(folder: Path, line: str) -> None:
    """Add a line with host and time to ``log.txt``, beside the results and never in them."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    # A link of that name, in results from elsewhere, would have this line written somewhere else.
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)

    def work() -> None:
        with os.fdopen(os.open(folder / "log.txt", flags, 0o666), "a", encoding="utf-8") as file:
            file.write(f"{stamp} {socket.gethostname()} {one_line(line)}\n")

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


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, unless it is there."""
    guarded(folder, lambda: folder.mkdir(parents=True, exist_ok=True))


def explain(folder: Path, error: OSError) -> str:
    """Say in one line why a folder cannot be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"{folder}: the disk is full"
    if error.errno == errno.EFBIG:
        return f"{folder}: a file would be larger than is allowed here"
    if error.errno == errno.ENOTDIR or (error.errno == errno.EEXIST and error.strerror == os.strerror(errno.EEXIST)):
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
    """Make the names in a folder durable; Windows has no such call."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        entry.unlink(missing_ok=True)


def _is_stale(entry: Path) -> bool:
    """Whether the process that made a temporary file is gone; on another machine, whether the file is old.

    On Windows age decides too: there `os.kill` with signal 0 sends Ctrl-C to the processes of the console.
    """
    maker = TEMPORARY.search(entry.name)
    if maker is None:
        return False
    try:
        if os.name == "nt" or maker["machine"] != _machine():
            return time.time() - entry.stat().st_mtime > STALE_AFTER_S
        os.kill(int(maker["pid"]), 0)
    except ProcessLookupError:
        return True
    except OSError:  # the file is gone meanwhile, or the process is another user's
        return False
    return False


def without_runs(folder: Path) -> InputError:
    """Return the error of a folder without finished runs; of a tuning it names the option that writes a page."""
    commands = {TUNING: "tune", TUNED_COMPARISON: "compare --tuned"}
    places = [folder, *sorted(folder.iterdir())] if folder.is_dir() else []
    found = next((command for one in places for record, command in commands.items() if (one / record).is_file()), "")
    hint = f" (the page of '{found}': the same command with --report PAGE.html)" if found else ""
    return InputError(f"{folder}: holds no finished run{hint}")
