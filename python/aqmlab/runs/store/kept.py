"""Where the results of jobs are kept: a folder for each run with its tables, or answers in the index of a store."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from aqmlab.errors import StorageError
from aqmlab.results.folders import guarded, is_finished, plain, write_seed
from aqmlab.results.keys import RunKey
from aqmlab.runs.store.index import Index


class Store(Protocol):
    """Where a job's result goes. It is picklable, since workers write what they have finished themselves."""

    @property
    def place(self) -> Path | None:
        """The folder that messages name; None for memory."""

    def has(self, key: RunKey) -> bool:
        """Whether the result of this run is there."""

    def put(self, key: RunKey, summary: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
        """Keep a finished run, whole or not at all."""


@dataclass(frozen=True)
class SeedFolder:
    """The folder of one run: ``summary.json`` and a Parquet file for each table (`aqmlab.results.folders`).

    Attributes
    ----------
    path
        The folder.
    scenario
        Hash of the scenario, its seeds included, as ``summary.json`` has it.
    """

    path: Path
    scenario: str

    @property
    def place(self) -> Path:
        """The scenario's folder."""
        return self.path.parent

    def has(self, key: RunKey) -> bool:
        """Whether the folder holds this scenario's run by this version."""
        return is_finished(self.path, scenario_hash=self.scenario, version=key.version)

    def put(self, key: RunKey, summary: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> None:
        """Write the folder."""
        write_seed(self.path, summary, tables, keep_finished=True)


class Answers:
    """Results of the runs' reducers, as plain data. Threads and processes may add at the same time.

    Parameters
    ----------
    root
        The store's folder; None keeps the answers in memory, for this process alone.
    """

    def __init__(self, root: Path | None) -> None:
        self.root = root
        self._lock = threading.Lock()
        self._memory: dict[str, str] = {}
        self._index: Index | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Answers) and self.root is not None and self.root == other.root

    def __hash__(self) -> int:
        return hash(self.root)

    def __reduce__(self) -> tuple[type[Answers], tuple[Path | None]]:
        return Answers, (self.root,)

    @property
    def place(self) -> Path | None:
        """The store's folder."""
        return self.root

    def has(self, key: RunKey) -> bool:
        """Whether the answer of this run is there."""
        return self._read(key) is not None

    def missing(self, keys: Iterable[RunKey]) -> set[RunKey]:
        """Return those of the runs that have no answer."""
        return {key for key in keys if not self.has(key)}

    def get(self, key: RunKey) -> dict[str, Any]:
        """Return the answer of a run; a number that was not finite is None."""
        text = self._read(key)
        if text is None:
            raise StorageError(f"{self.root}: holds no answer of run {key.name} ({key.reducer}); run again")
        answer: dict[str, Any] = json.loads(text)
        return answer

    def put(self, key: RunKey, summary: Mapping[str, Any], tables: Mapping[str, pa.Table] | None = None) -> None:
        """Keep the answer of a run."""
        text = json.dumps(plain(summary), sort_keys=True, ensure_ascii=False, allow_nan=False)
        with self._lock:
            if self.root is None:
                self._memory[key.name] = text
            else:
                self._opened(self.root).put_answer(key, text)

    def _read(self, key: RunKey) -> str | None:
        with self._lock:
            if self.root is None:
                return self._memory.get(key.name)
            return self._opened(self.root).answer(key)

    def _opened(self, root: Path) -> Index:
        """Open the index once for all threads of this process; it is closed with this object."""
        if self._index is None:
            guarded(root, lambda: root.mkdir(parents=True, exist_ok=True))
            self._index = Index(root, create=True, threads=True)
            weakref.finalize(self, self._index.close)
        return self._index
