"""The index of a store: SQLite in WAL mode, so that readers never wait and a killed writer leaves nothing half done.

No time, no host and no order of arrival is in it: the same sweeps give the same rows.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from aqmlab.errors import InputError, StorageError
from aqmlab.results.folders import guarded
from aqmlab.results.keys import RunKey, digest, is_name
from aqmlab.runs.store.block import RunRow

INDEX = "index.sqlite"
FORMAT = 4
"""Format of the store; another one is rejected."""
BUSY_S = 60.0
AGAIN_S = 0.01
FILE = re.compile(r"[a-z_]+\.parquet")
TABLES = """
CREATE TABLE IF NOT EXISTS studies (study TEXT PRIMARY KEY, content TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS blocks (block TEXT PRIMARY KEY, files TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY, scenario TEXT NOT NULL, seed INTEGER NOT NULL, version TEXT NOT NULL, block TEXT NOT NULL,
    metrics TEXT NOT NULL, digest TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_by_scenario ON runs (scenario, version, seed);
CREATE INDEX IF NOT EXISTS runs_by_block ON runs (block);
CREATE TABLE IF NOT EXISTS folders (run TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    run TEXT PRIMARY KEY, scenario TEXT NOT NULL, seed INTEGER NOT NULL, version TEXT NOT NULL, reducer TEXT NOT NULL,
    answer TEXT NOT NULL, digest TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS claims (run TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID;
"""
Files = dict[str, tuple[int, str]]
_T = TypeVar("_T")


@dataclass(frozen=True)
class StudyRow:
    """A study as the index has it.

    Attributes
    ----------
    study
        Hash of all that follows.
    name, version
        For people, and the version that its runs are of.
    keys, seeds
        The scenario's keys that are swept, and the seeds of every point.
    shape
        Values of each key if the points are all their combinations in order, else empty.
    points
        The scenario's hash and the values of the keys of every point.
    """

    study: str
    name: str
    version: str
    keys: list[str]
    seeds: list[int]
    shape: list[list[str]]
    points: list[tuple[str, list[str]]] = field(repr=False)


class Index:
    """Opens, reads and changes the index. An error of SQLite becomes one clear line.

    Threads may share it. It is closed when it is deleted, if not before.

    Parameters
    ----------
    root
        The store's folder; None for an index in memory.
    create
        Make it if it is not there; without this a missing index is an error.
    """

    def __init__(self, root: Path | None, *, create: bool) -> None:
        self.path = (root or Path("memory")) / INDEX
        self._lock = threading.RLock()
        if root is not None and not create and not self.path.exists():
            lacks = f"holds no store of results (no {INDEX})" if root.is_dir() else "no such folder"
            raise InputError(f"{root}: {lacks}")
        self._connection = self._guard(lambda: self._prepared(self._opened(root, create=create)))
        weakref.finalize(self, self._connection.close)

    def _opened(self, root: Path | None, *, create: bool) -> sqlite3.Connection:
        """Open it; one that this process may not write, on a read-only medium or of another user, only to read.

        SQLite reads a database in WAL mode only with a file of shared memory beside it. If no process has made that, a
        copy in memory is read.
        """
        uri = self.path.absolute().as_uri()
        if root is not None and not (self.path.exists() and not _is_writable(self.path)):
            return _connected(f"{uri}?mode={'rwc' if create else 'rw'}")
        memory = _connected("file::memory:")
        if root is None:
            return memory
        reading = _connected(f"{uri}?mode=ro")
        with contextlib.suppress(sqlite3.OperationalError):
            if _format(reading):
                return reading
        reading.close()
        with tempfile.TemporaryDirectory(prefix="aqmlab-index-") as folder:
            for path in (self.path, self.path.with_name(f"{INDEX}-wal")):
                if path.exists():
                    shutil.copyfile(path, Path(folder) / path.name)
            with contextlib.closing(_connected((Path(folder) / INDEX).as_uri())) as copy:
                copy.backup(memory)
        return memory

    def _prepared(self, connection: sqlite3.Connection) -> sqlite3.Connection:
        """Check the format, and make the tables if there are none."""
        connection.execute("PRAGMA trusted_schema = OFF")
        found = _format(connection)
        if found == FORMAT:
            return connection
        if found:
            raise StorageError(
                f"{self.path.parent}: is a store of another aqmlab (format {found}; this one reads {FORMAT})"
            )
        _set_wal(connection)
        connection.execute("BEGIN IMMEDIATE")
        for statement in TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")
        return connection

    def close(self) -> None:
        """Close it; the last to do so folds the write-ahead log into the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Change several rows or none; others wait meanwhile."""
        with self._lock:
            self._guard(lambda: self._connection.execute("BEGIN IMMEDIATE"))
            try:
                yield self._connection
                self._guard(lambda: self._connection.execute("COMMIT"))
            except BaseException as error:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error):
                    raise StorageError(self._explain(error)) from None
                raise

    def rows(self, query: str, *values: object) -> list[Any]:
        """Answer a question."""
        with self._lock:
            return self._guard(lambda: self._connection.execute(query, values).fetchall())

    def has_runs(self, names: Iterable[str]) -> set[str]:
        """Return those of the runs that are stored in blocks."""
        return {name for name in names if self.rows("SELECT 1 FROM runs WHERE run = ?", name)}

    def add_block(self, block: str, files: Files, rows: Iterable[RunRow]) -> None:
        """Put a block's rows in, inside a transaction; a run that is stored stays where it is."""
        add = self._connection
        add.execute("INSERT OR REPLACE INTO blocks VALUES (?, ?)", (block, json.dumps(files, sort_keys=True)))
        kept = [
            (row.run, row.scenario, row.seed, row.version, block, row.metrics, digest(row.metrics.encode()))
            for row in rows
        ]
        add.executemany("INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", kept)
        add.executemany("DELETE FROM claims WHERE run = ?", [(row[0],) for row in kept])

    def drop_blocks(self, blocks: Iterable[str]) -> None:
        """Take blocks and their runs out, inside a transaction."""
        for block in blocks:
            self._connection.execute("DELETE FROM runs WHERE block = ?", (block,))
            self._connection.execute("DELETE FROM blocks WHERE block = ?", (block,))

    def runs(self, where: str, *values: object) -> list[tuple[RunRow, str]]:
        """Return runs and their blocks, checked; the table of runs is ``r`` in the end of the question, `where`."""
        ask = f"SELECT DISTINCT r.run, r.scenario, r.seed, r.version, r.metrics, r.block, r.digest {where}"
        found = []
        for run, scenario, seed, version, metrics, block, written in self.rows(ask, *values):
            if RunKey(version, scenario, seed).name != run or not _is_written(metrics, written):
                raise self._damaged()
            found.append((RunRow(run, scenario, seed, version, metrics), block))
        return found

    def answer(self, key: RunKey) -> dict[str, Any] | None:
        """Return the answer of a run; None if it is missing or differs from the answer as written."""
        for text, written in self.rows("SELECT answer, digest FROM answers WHERE run = ?", key.name):
            with contextlib.suppress(StorageError):
                if _is_written(text, written):
                    return self.table(text)
        return None

    def put_answer(self, key: RunKey, answer: str) -> None:
        """Keep the answer of a run, in place of an earlier one."""
        row = (key.name, key.scenario, key.seed, key.version, key.reducer, answer, digest(answer.encode()))
        with self.transaction() as change:
            change.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?)", row)

    def put_study(self, *content: object) -> StudyRow:
        """Note a study, unless it is known; `content` are the fields of its row after the hash."""
        text = json.dumps(content)
        with self.transaction() as change:
            change.execute("INSERT OR IGNORE INTO studies VALUES (?, ?)", (digest(text.encode()), text))
        return self._study(text)

    def studies(self) -> list[StudyRow]:
        """Return all studies by name, checked."""
        found = self.rows("SELECT study, content FROM studies")
        if not all(_is_written(text, study) for study, text in found):
            raise self._damaged()
        return sorted((self._study(text) for _, text in found), key=lambda study: (study.name, study.study))

    def _study(self, text: str) -> StudyRow:
        content = self._json(text, list)
        if len(content) != len(fields(StudyRow)) - 1:
            raise self._damaged()
        return StudyRow(digest(text.encode()), *content)

    def files(self, block: str) -> Files:
        """Return size and digest of every file of a block."""
        ((text,),) = self.rows("SELECT files FROM blocks WHERE block = ?", block) or [("{}",)]
        files = self.table(text)
        if not all(FILE.fullmatch(name) and _is_fact(fact) for name, fact in files.items()):
            raise self._damaged()
        return {name: (size, digest) for name, (size, digest) in files.items()}

    def table(self, text: object) -> dict[str, Any]:
        """Read a table in JSON of the index."""
        return self._json(text, dict)

    def numbers(self, text: object) -> dict[str, float | None]:
        """Read the metrics of a run."""
        found = self.table(text)
        if not all(value is None or isinstance(value, int | float) for value in found.values()):
            raise self._damaged()
        return found

    def _json(self, text: object, kind: type[_T]) -> _T:
        """Read JSON of the index; it is damaged if there is something else."""
        try:
            found = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, kind):
            raise self._damaged()
        return found

    def _damaged(self) -> StorageError:
        return StorageError(f"{self.path}: is damaged; move it away, and it is made again from the files of the runs")

    def _guard(self, work: Callable[[], _T]) -> _T:
        try:
            return guarded(self.path.parent, work)
        except sqlite3.Error as error:
            raise StorageError(self._explain(error)) from None
        except UnicodeDecodeError:  # SQLite's own message has a part of the damaged file
            raise self._damaged() from None

    def _explain(self, error: sqlite3.Error) -> str:
        text = str(error)
        if "is full" in text:
            return f"{self.path.parent}: the disk is full"
        if "not a database" in text or "malformed" in text:
            return str(self._damaged())
        if "locked" in text:
            return f"{self.path}: another process has held it for {BUSY_S:g} s"
        return f"{self.path}: cannot be used ({text})"


def store_root(folder: Path) -> Path:
    """Return the store that a folder belongs to: the nearest one at or above it, else the folder itself.

    >>> store_root(Path("nowhere/mred"))
    PosixPath('nowhere/mred')
    """
    found = (place for place in (folder, *folder.parents) if (place / INDEX).is_file())
    return next(found, folder)


def _connected(uri: str) -> sqlite3.Connection:
    return sqlite3.connect(uri, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False)


def _set_wal(connection: sqlite3.Connection) -> None:
    """Set WAL mode. SQLite does not wait for others that do the same at that time, as it does for a transaction."""
    until = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
            time.sleep(AGAIN_S)


def _format(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def _is_written(text: object, written: object) -> bool:
    """Whether a text has the digest that it was written with."""
    return isinstance(text, str) and digest(text.encode(errors="surrogatepass")) == written


def _is_fact(fact: object) -> bool:
    """Whether something is size and digest of a file."""
    return isinstance(fact, list) and len(fact) == 2 and isinstance(fact[0], int) and is_name(fact[1])
