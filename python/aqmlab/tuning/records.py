"""Folders of records below the folder of finished runs: each question has one of its own, all share the runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from aqmlab.results import folders
from aqmlab.results.keys import digest
from aqmlab.scenario.file import Scenario

LONGEST_NAME = 100
"""Characters of a folder's name before its hash."""


def record_folder(root: Path, plan: Scenario, kind: str, names: Sequence[str], asked: Iterable[object]) -> Path:
    """Return the folder of a question's records.

    Parameters
    ----------
    root
        The folder of finished runs.
    plan
        The scenario.
    kind
        The kind of question, a part of the folder's name.
    names
        The disciplines, in the name as far as there is room.
    asked
        All other arguments on which the records depend; with scenario and names they are in the name's hash.
    """
    hashed = digest("\n".join([plan.hash, *names, *map(str, asked)]).encode())[:8]
    return root / f"{'-'.join([plan.safe_name, kind, *names])[:LONGEST_NAME]}-{hashed}"


def write_records(folder: Path, name: str, data: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    """Write an answer as JSON under a name, and further files, to a folder that is made if it is missing."""
    folders.make_folder(folder)
    for file, text in {name: folders.to_json(data), **texts}.items():
        folders.save(folder / file, text)
