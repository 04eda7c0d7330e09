"""Helpers of attacks: count cases, run commands, and damage files."""

from __future__ import annotations

import contextlib
import io
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from aqmlab.cli import main
from aqmlab.errors import Error

EXAMPLES = Path(__file__).parents[2] / "examples"
SLOW_S = 40.0
SHORT = {"run.duration": "500ms", "run.warmup": "0s"}


class Tally:
    """Count cases by outcome, and keep findings."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.outcomes: Counter[str] = Counter()
        self.findings: list[str] = []

    def note(self, outcome: str) -> None:
        """Count a case."""
        self.outcomes[outcome] += 1

    def find(self, text: str) -> None:
        """Keep a finding."""
        self.findings.append(text[:2000])
        print(f"FINDING {self.name}: {text[:2000]}", flush=True)

    @contextlib.contextmanager
    def case(self, what: str) -> Iterator[None]:
        """Do a case: errors other than those of the package are findings, and so is much time."""
        begun = time.monotonic()
        try:
            yield
        except Error as error:
            self.note(type(error).__name__)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self.find(f"{what}: {type(error).__name__}: {error}")
        if time.monotonic() - begun > SLOW_S:
            self.find(f"{what}: took {time.monotonic() - begun:.0f} s")


def command(tally: Tally, words: list[str], what: str) -> int:
    """Run a command of the command line here, and check its messages."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    said = err.getvalue()
    if code not in (0, 1, 2) or "internal error" in said or "Traceback" in said:
        tally.find(f"{what}: {words[:2]}: code {code}: {said[:500]}")
    if any(c in said + out.getvalue() for c in "\x1b\x07\x00\x9b\u202e"):
        tally.find(f"{what}: {words[:2]}: control characters: {said[:200]!r}")
    return code


def spoil(path: Path, chance: random.Random, others: list[Path]) -> str:
    """Damage a file: a bit, a byte, its end, its content."""
    data = bytearray(path.read_bytes())
    kind = chance.choice(["bit"] * 8 + ["cut", "grown", "swapped", "zeroes"])
    if kind == "bit":
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "cut":
        del data[chance.randrange(len(data)) :]
    elif kind == "grown":
        data += chance.randbytes(chance.randint(1, 100))
    elif kind == "swapped":
        data = bytearray(chance.choice(others).read_bytes())
    else:
        at = chance.randrange(len(data))
        data[at : at + 512] = bytes(len(data[at : at + 512]))
    path.write_bytes(data)
    return kind


def snapshot(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
