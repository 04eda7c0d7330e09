"""Answers in the files of stores before format 2, so that nothing of them is computed again.

Until format 2 each command kept answers in its own way: reproductions a file ``answer.json`` for each run, the suite of
RFC 7928 ``measured.json``, tuning lines in ``runs.jsonl``, the cross-check ``measured/seed-N.json``. These functions
read the files; the job that finds its run there puts the answer into the store. A file that is damaged or of another
version is not read: its run is computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.input_files import read_regular


def answer_files(root: Path) -> Iterator[dict[str, Any]]:
    """Read every ``answer.json`` of a reproduction: its function, arguments, version and answer."""
    for path in sorted((root / "runs").glob("*/answer-*/answer.json")):
        found = _json(path)
        if {"function", "arguments", "version", "answer"} <= found.keys():
            yield found


def measured_file(folder: Path, known: Mapping[str, Any]) -> dict[str, Any] | None:
    """Read the ``measured.json`` of a run of RFC 7928's suite; None unless it is of what is `known` of the run."""
    found = _json(folder / "measured.json")
    same = all(found.get(key) == value for key, value in known.items())
    return found["measured"] if same and isinstance(found.get("measured"), dict) else None


def crosscheck_file(folder: Path, seed: int, of: str) -> list[list[Any]] | None:
    """Read the measurements of another program; None unless they are of these files and this version."""
    found = _json(folder / "measured" / f"seed-{seed}.json")
    return found["measured"] if found.get("of") == of and isinstance(found.get("measured"), list) else None


def tuning_runs(folder: Path) -> dict[str, dict[str, float]]:
    """Read the ``runs.jsonl`` of a tuning: the metrics of each run by its name (`tuning_name`)."""
    found: dict[str, dict[str, float]] = {}
    with contextlib.suppress(OSError, ValueError):
        for line in read_regular(folder / "runs.jsonl").decode().splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
                entry = json.loads(line)
                found[str(entry["run"])] = {str(key): float(value) for key, value in entry["values"].items()}
    return found


def tuning_name(version: str, text: str, pairs: Sequence[tuple[str, str]], seed: int, link: str) -> str:
    """Name a run as ``runs.jsonl`` does."""
    return hashlib.sha256(json.dumps([version, text, pairs, seed, link]).encode()).hexdigest()[:32]


def _json(path: Path) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_regular(path))
        if isinstance(found, dict):
            return found
    return {}
