"""The runs of a tuning on disk: a line of JSON for each, written when the run is finished.

An interrupted tuning asks the same questions again when it is started anew, in the same order, since its sampler has a
fixed seed; runs that are in the file are not run again. So the file is all that is needed to go on. A line that a
crash cut off counts as a run that was not finished.
"""

from __future__ import annotations

import hashlib
import json
import threading
from pathlib import Path

from aqmlab import _core
from aqmlab.errors import InputError, StorageError
from aqmlab.storage import folders
from aqmlab.tuning.ranges import Pairs

NAME = "runs.jsonl"
Values = dict[str, float]
"""Metric to its value in one run."""


def run_key(text: str, pairs: Pairs, seed: int, link: str) -> str:
    """Name a run by everything that it depends on: version, scenario, seed, and the link that is measured."""
    data = json.dumps([_core.version(), text, pairs, seed, link])
    return hashlib.sha256(data.encode()).hexdigest()[:32]


class Ledger:
    """Finished runs by their keys; in memory alone if there is no folder. Threads may add at the same time."""

    def __init__(self, folder: Path | None) -> None:
        self._lock = threading.Lock()
        self._runs: dict[str, Values] = {}
        self.failure = ""
        self.path = None if folder is None else folder / NAME
        if self.path is not None and folder is not None:
            folders.guarded(folder, lambda: folder.mkdir(parents=True, exist_ok=True))
            self._read(self.path)

    def __contains__(self, key: str) -> bool:
        return key in self._runs

    def __getitem__(self, key: str) -> Values:
        return self._runs[key]

    def __len__(self) -> int:
        return len(self._runs)

    def add(self, key: str, values: Values) -> None:
        """Keep a run."""
        with self._lock:
            self._runs[key] = values
            if self.path is None:
                return
            try:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"run": key, "values": values}) + "\n")
            except OSError as error:
                self.failure = folders.explain(self.path.parent, error)
                raise StorageError(self.failure) from None

    def _read(self, path: Path) -> None:
        if not path.exists():
            return
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            raise InputError(f"{path}: damaged, not UTF-8 text; delete it to begin anew") from None
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line) if line else None
                if entry is not None:
                    self._runs[str(entry["run"])] = {str(k): float(v) for k, v in entry["values"].items()}
            except (ValueError, KeyError, TypeError, AttributeError):
                if number < len(lines) and any(lines[number:]):
                    raise InputError(f"{path}:{number}: damaged; delete the line to go on without it") from None
        if lines[-1]:  # A line without its end: begin a new one.
            folders.save(path, "".join(f"{line}\n" for line in lines[:-1]))
