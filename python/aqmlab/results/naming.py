"""Names of runs and blocks: hashes of what they are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

DIGEST_BYTES = 16
NAME = re.compile("[0-9a-f]{32}")
PINNED_SEEDS = ("run.seeds", "1")
"""The override under which a scenario's hash says nothing of its seeds."""


def run_name(scenario: str, seed: int, version: str) -> str:
    """Name a run by the hash of its scenario without the seeds, its seed and the version.

    >>> run_name("6c62272e07bb014262b821756295c58d", 1, "0.1.0")
    '263153d18fa3c8c838e9da309d8ea547'
    """
    return digest(f"{scenario} {seed} {version}".encode())


def block_name(runs: Iterable[str]) -> str:
    """Name a block by its runs, in their order."""
    return digest(" ".join(runs).encode())


def is_name(text: object) -> bool:
    """Whether something can be the name of a run or a block: hexadecimal digits alone, hence never a path.

    >>> is_name("263153d18fa3c8c838e9da309d8ea547"), is_name("../../home"), is_name(7)
    (True, False, False)
    """
    return isinstance(text, str) and NAME.fullmatch(text) is not None


def digest(data: bytes) -> str:
    """Return the hash of some bytes (BLAKE2b with 128 bits) as hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
