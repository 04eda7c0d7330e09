"""Run the test vectors of this folder against an implementation in Python.

    python3 run.py my_module:MyQueue red-floyd93.jsonl codel.jsonl ...

`MyQueue` is a class with the methods of `Queue` below. It needs the standard library only, of Python 3.11 or later.
The exit code is 1 if a case failed.
"""

from __future__ import annotations

import importlib
import json
import math
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

ANSWERS = {"enqueue": ("decision", "dropped"), "dequeue": ("id",)}
"""Keys of which an answer to each kind of event must have one."""
EXACT = ("decision", "id", "dropped", "marked", "reasons", "not_before_ns")


class UnsupportedError(Exception):
    """Raise an error of this name in `__init__` for a case whose settings or fields you lack; its text is why."""


class Draws:
    """The random numbers of an event, in order; 0.5 after the last one."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.drawn = 0

    def uniform(self) -> float:
        """Return the next number in [0, 1)."""
        self.drawn += 1
        return self.numbers[self.drawn - 1] if self.drawn <= len(self.numbers) else 0.5

    def below(self, n: int) -> int:
        """Return the next integer in 0 to n - 1."""
        return math.floor(self.uniform() * n)


class Queue(Protocol):
    """An implementation under test, one object a case.

    An answer has keys of an event, such as ``{"decision": "drop", "dropped": [7], "state": {"average": 5.0}}``.
    Keys that are absent are not compared.
    """

    def __init__(self, case: dict[str, Any], rate_bps: int, draws: Draws) -> None:
        """Create an empty queue; `case["settings"]` is a dict of the settings, `case["text"]` their text."""

    def enqueue(self, t_ns: int, packet: dict[str, Any]) -> dict[str, Any]:
        """Decide about a packet, which has the keys id, length, flow, ecn, ... of the event."""

    def dequeue(self, t_ns: int) -> dict[str, Any]:
        """Return the packet to send as ``{"id": 3}``, or ``{"id": None}``."""


def cases(path: Path) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]], int]]:
    """Return each case of a file with its events and the rate of the link in bit/s."""
    try:
        header, *lines = map(json.loads, path.read_text("ascii").splitlines())
    except ValueError as error:
        raise SystemExit(f"{path}: invalid file of vectors: {error}") from None
    if header.get("format") != 1:
        raise SystemExit(f"{path}: format {header.get('format')} (allowed: 1)")
    starts = [i for i, line in enumerate(lines) if line["op"] == "new"]
    names = {lines[start]["case"] for start in starts}
    if starts[:1] != [0] or len(names) < len(starts):
        raise SystemExit(f"{path}: events before the first case, no case, or two cases of one name")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        text = lines[start]["settings"]
        case = lines[start] | {"settings": tomllib.loads(text), "text": text, "line": start + 2}
        yield case, lines[start + 1 : end], header["rate_bps"]


def differences(event: dict[str, Any], answer: dict[str, Any], drawn: int | None) -> Iterator[str]:
    """Return the keys of an event whose value differs in the answer, with both values."""
    for key in EXACT:
        if key in answer and answer[key] != event.get(key):
            yield f"{key}: {event.get(key)} expected, not {answer[key]}"
    if drawn is not None and drawn != len(event["random"]):
        yield f"random: {len(event['random'])} numbers expected, not {drawn}"
    for key, value in answer.get("state", {}).items():
        expected = event["state"].get(key, "no such key")
        if isinstance(expected, str):
            yield f"state: {key}: {expected}"
        elif expected is not None and not math.isclose(value, expected, rel_tol=1e-9, abs_tol=1e-12):
            yield f"{key}: {expected} expected, not {value}"


def run_case(kind: type[Queue], case: dict[str, Any], events: list[dict[str, Any]], rate_bps: int) -> str | None:
    """Return the first difference of a case in words; None if it passes."""
    draws = Draws()
    queue = kind(case, rate_bps, draws)
    for line, event in enumerate(events, case["line"] + 1):
        draws.numbers, draws.drawn = event["random"], 0
        is_arrival = event["op"] == "enqueue"
        try:
            answer = queue.enqueue(event["t_ns"], event) if is_arrival else queue.dequeue(event["t_ns"])
        except Exception as error:
            if type(error).__name__ == UnsupportedError.__name__:
                raise
            return f"line {line}, {event['op']} at {event['t_ns']} ns: {type(error).__name__}: {error}"
        needed = ANSWERS[event["op"]]
        if not isinstance(answer, dict) or not answer.keys() & needed or answer.keys() - {*EXACT, "state"}:
            allowed = f"a dict with {' or '.join(needed)}, and others of {', '.join(EXACT)}, state"
            return f"line {line}, {event['op']} at {event['t_ns']} ns: {allowed} expected, not {answer!r}"
        if found := list(differences(event, answer, draws.drawn if getattr(queue, "counts_draws", True) else None)):
            return f"line {line}, {event['op']} at {event['t_ns']} ns: " + "; ".join(found)
    return None


def run_file(kind: type[Queue], path: Path) -> dict[str, str | None]:
    """Return the difference of each case of a file by name, "skipped: ..." for one that the implementation lacks."""
    results: dict[str, str | None] = {}
    for case, events, rate_bps in cases(path):
        try:
            results[case["case"]] = run_case(kind, case, events, rate_bps)
        except Exception as error:
            # As a program this file is the module `__main__`: an import of `run` has a class of its own.
            is_skipped = type(error).__name__ == UnsupportedError.__name__
            results[case["case"]] = f"skipped: {error}" if is_skipped else f"{type(error).__name__}: {error}"
    return results


def main(kind: str, *files: str) -> int:
    """Run files and print a line for each case that does not pass."""
    module, _, name = kind.partition(":")
    sys.path.insert(0, "")
    failed = 0
    for file in files:
        results = run_file(getattr(importlib.import_module(module), name), Path(file))
        skipped = sum(1 for text in results.values() if text and text.startswith("skipped: "))
        failures = [f"  {case}: {text}" for case, text in results.items() if text and not text.startswith("skipped: ")]
        failed += len(failures)
        passed = len(results) - skipped - len(failures)
        print(f"{file}: {passed} of {len(results)} cases pass, {skipped} skipped", *failures, sep="\n")
    return int(failed > 0)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    raise SystemExit(main(*sys.argv[1:]))
