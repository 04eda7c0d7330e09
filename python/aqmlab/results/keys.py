"""The key of a run: all inputs that determine its result. Names of runs and blocks are hashes of keys."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

DIGEST_BYTES = 16
NAME = re.compile("[0-9a-f]{32}")
ALL_TABLES = "tables"
"""The reducer that keeps every table and the summary of a run."""


@dataclass(frozen=True, slots=True)
class RunKey:
    """All inputs that determine a run. Two runs with the same key have the same result, byte for byte.

    Attributes
    ----------
    version
        The version of the program that computes it.
    scenario
        Hash of the scenario without its seeds (`aqmlab.scenario.file.Scenario.run_hash`), or of the arguments of a
        computation (`question`).
    seed
        The seed.
    reducer
        The kept data of the run: `ALL_TABLES`, or the stable name of a function. A reducer's name says what it
        computes and never where its code lies, so that moving a module invalidates no stored run.
    """

    version: str
    scenario: str
    seed: int
    reducer: str = ALL_TABLES

    @property
    def name(self) -> str:
        """The key as a hash: the run's name in a store.

        >>> RunKey("0.1.0", "6c62272e07bb014262b821756295c58d", 1).name
        '263153d18fa3c8c838e9da309d8ea547'
        """
        reducer = "" if self.reducer == ALL_TABLES else f" {self.reducer}"
        return digest(f"{self.scenario} {self.seed} {self.version}{reducer}".encode())


def tables_reducer(names: Iterable[str] | None) -> str:
    """Name the reducer that keeps some tables and the summary of a run; None keeps all.

    >>> tables_reducer(("links", "flows")), tables_reducer(None)
    ('tables links,flows', 'tables')
    """
    return ALL_TABLES if names is None else f"{ALL_TABLES} {','.join(names)}"


def question(arguments: Mapping[str, Any]) -> str:
    """Return the hash of plain data, for the key of a computation that has no scenario."""
    return digest(json.dumps(arguments, sort_keys=True, ensure_ascii=False).encode())


def block_name(runs: Iterable[str]) -> str:
    """Name a block by its runs, in their order."""
    return digest(" ".join(runs).encode())


def is_name(text: object) -> bool:
    """Return whether a value can be the name of a run or a block: hexadecimal digits alone, so never a path.

    >>> is_name("263153d18fa3c8c838e9da309d8ea547"), is_name("../../home"), is_name(7)
    (True, False, False)
    """
    return isinstance(text, str) and NAME.fullmatch(text) is not None


def digest(data: bytes) -> str:
    """Return the hash of some bytes (BLAKE2b with 128 bits) as hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
