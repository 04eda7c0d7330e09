"""Test vectors through adapters, with a toy implementation: answers, differences, and smallest vectors."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import who_passes
from peer_reduction import differing, reduce
from peer_vectors import Case, Event, read, run

TOY = """
import sys
waiting, limit = [], 0
for line in sys.stdin:
    op, *words = line.split()
    if op == "new":
        limit = float(dict(word.split("=") for word in words)["limit"]) + {slack}
        answer = "ok"
    elif op == "enqueue":
        fits = len(waiting) < limit
        waiting += [words[1]] if fits else []
        answer = "enqueue dropped marked drawn 0" if fits else f"drop dropped {{words[1]}} marked drawn 0"
    else:
        answer = (waiting.pop(0) if waiting else "none") + " dropped marked drawn 0"
    print(answer, flush=True)
"""
"""A drop-tail queue that accepts `slack` packets too many."""


def enqueue(t_ns: int, packet: int) -> Event:
    return {"op": "enqueue", "t_ns": t_ns, "id": packet, "length": 1000, "flow": 0, "ecn": "not-ect", "random": []}


def dequeue(t_ns: int) -> Event:
    return {"op": "dequeue", "t_ns": t_ns, "id": None, "random": []}


@pytest.fixture
def case() -> Case:
    """A queue for two packets: six departures, and an overflow by the last arrival."""
    events: list[Event] = []
    for packet in range(6):
        events += [enqueue(packet * 10**6, packet), dequeue(packet * 10**6)]
    events += [enqueue(6 * 10**6, 6 + packet) for packet in range(3)]
    empty = Case("toy", "overflow", 8_000_000, 'aqm = "drop-tail"\nlimit = "2p"', frozenset(), ())
    return empty.with_events(events)


def toy(tmp_path: Path, slack: int) -> list[str]:
    program = tmp_path / f"toy{slack}.py"
    program.write_text(TOY.format(slack=slack))
    return [sys.executable, str(program)]


def test_the_core_decides_events(case: Case) -> None:
    assert [event["id"] for event in case.events if event["op"] == "dequeue"] == [0, 1, 2, 3, 4, 5]
    assert [event["decision"] for event in case.events[-3:]] == ["enqueue", "enqueue", "drop"]
    assert case.events[-1]["dropped"] == [8]


def test_an_implementation_passes_or_differs(case: Case, tmp_path: Path) -> None:
    settings = who_passes.adapter_settings(case)
    assert run(toy(tmp_path, 0), case, settings) is None
    found = run(toy(tmp_path, 1), case, settings)
    assert found is not None
    assert (found.place, str(found.expected), str(found.got)) == (14, "none, dropped 8", "packet 8")


def test_vectors_shrink_to_the_events_of_the_difference(case: Case, tmp_path: Path) -> None:
    settings = who_passes.adapter_settings(case)
    command = toy(tmp_path, 1)
    found = run(command, case, settings)
    assert found is not None
    small, smallest = reduce(case, found, differing(command, settings))
    assert [event["op"] for event in small.events] == ["enqueue"] * 3
    assert small.events[-1]["decision"] == "drop"
    assert run(command, small, settings) == smallest


def test_a_broken_program_gives_no_answer(case: Case) -> None:
    code = "import sys; sys.stdin.read(); print('ok'); print('enqueue dropped marked drawn 0'); sys.exit(3)"
    found = run([sys.executable, "-c", code], case, who_passes.adapter_settings(case))
    assert found is not None
    assert (found.place, found.got) == (1, None)


def test_files_of_vectors_are_read(case: Case, tmp_path: Path) -> None:
    start = {"op": "new", "case": case.name, "settings": case.settings, "uses": "ecn", "expect": ""}
    lines = [{"format": 1, "rate_bps": case.rate_bps}, start, *case.events]
    path = tmp_path / "toy.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (found,) = read(path)
    assert found.events == case.events
    settings = who_passes.adapter_settings(found)
    assert who_passes.obstacle({}, found, settings) == "needs ecn"
    assert who_passes.obstacle({"uses": ["ecn"], "limit": [3]}, found, settings) == "limit = 2"
    assert who_passes.obstacle({"uses": ["ecn"], "step_ns": [1000]}, found, settings) == ""


def test_every_failure_on_the_page_has_a_reason() -> None:
    text, shown = who_passes.report()
    assert shown
    assert "Not explained" not in text


def test_an_unknown_name_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert who_passes.main(["unknown"]) == 2
    assert capsys.readouterr().err.startswith("who_passes: no implementation unknown (there are ")
