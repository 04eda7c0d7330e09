"""Several processes on one folder: the same command, and different commands on one store."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from attacks.processes import COMMANDS, ENDING_S, Process, finished, prepare, results_of, start, words_for
from attacks.tally import Tally


def together(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Start a command two to four times at once, each command in turn, then different ones on one store."""
    prepare()
    expected = {}
    for kind in COMMANDS:
        process = finished(kind, folder / kind, folder / "output.txt")
        if process.code != 0:
            tally.find(f"{kind}: alone, code {process.code}: {process.said[-500:]}")
        expected[kind] = results_of(folder / kind)
    for number, kind in enumerate(itertools.cycle([*COMMANDS, "different"])):
        if not left():
            return
        out = folder / f"together-{number}"
        if kind == "different":
            _different(tally, chance, out, expected["run"])
        else:
            ended(tally, kind, [start(words_for(kind, out), folder / f"{n}.txt") for n in range(chance.randint(2, 4))])
            found = results_of(out)
            names = sorted(name for name in found | expected[kind] if found.get(name) != expected[kind].get(name))
            if names:
                tally.find(f"{kind}: {len(names)} other files: {names[:5]}")
        shutil.rmtree(out, ignore_errors=True)


def ended(tally: Tally, what: str, processes: list[Process]) -> None:
    """Wait for processes, which must all end well."""
    for process in processes:
        code = process.wait(ENDING_S)
        tally.note(f"{what}: code {code}")
        if code != 0:
            process.kill(group=True)
            tally.find(f"{what}: code {code}: {process.said[-500:]}")


def _different(tally: Tally, chance: random.Random, out: Path, alone: dict[str, bytes]) -> None:
    """Start different commands on one store: no run differs from one that was alone."""
    kinds = [chance.choice(["run", "compare", "sweep"]) for _ in range(chance.randint(2, 4))]
    processes = [start(words_for(kind, out), out.with_suffix(f".{n}.txt")) for n, kind in enumerate(kinds)]
    ended(tally, "different commands", processes)
    expected = {name: data for name, data in alone.items() if "/seed-" in name}
    found = results_of(out)
    if different := [name for name, data in found.items() if expected.get(name, data) != data]:
        tally.find(f"different commands: other files: {different[:5]}")
    if left := [str(path) for path in out.rglob(".*.tmp")]:
        tally.find(f"different commands: temporary files: {left[:5]}")
