"""Commands that are killed at random moments and started again: the same files as without, and nothing else."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from attacks.processes import COMMANDS, finished, prepare, results_of, start, words_for
from attacks.tally import Tally

KILLS = 20
"""Kills of each command."""


class Victim:
    """A command, its files if it is left alone, and the folder on which it is killed and resumed."""

    def __init__(self, kind: str, tally: Tally, folder: Path) -> None:
        self.kind, self._tally, self._folder = kind, tally, folder
        self._output = folder / f"{kind}.txt"
        self._out = folder / "results"
        begun = time.monotonic()
        process = finished(kind, self._out, self._output)
        self._seconds = time.monotonic() - begun
        self.usable = process.code == 0
        if not self.usable:
            tally.find(f"{kind}: alone, code {process.code}: {process.said[-500:]}")
        self._expected = results_of(self._out)
        shutil.rmtree(self._out, ignore_errors=True)

    def kill(self, chance: random.Random) -> None:
        """Start the command and kill it, its whole group or itself alone; check it if it has ended before."""
        while True:
            process = start(words_for(self.kind, self._out), self._output)
            if process.wait(chance.uniform(0.0, self._seconds)) is None:
                group = chance.random() < 0.5
                process.kill(group=group)
                self._tally.note(f"{self.kind}: killed" + (", its group" if group else ", alone"))
                if results_of(self._out):
                    self._tally.note(f"{self.kind}: had results when it was killed")
                return
            self._check(process.code, process.said)

    def finish(self) -> None:
        """Resume the command for the last time."""
        process = finished(self.kind, self._out, self._output)
        self._check(process.code, process.said)

    def _check(self, code: int | None, said: str) -> None:
        self._tally.note(f"{self.kind}: resumed to its end")
        found = results_of(self._out)
        if code != 0:
            self._tally.find(f"{self.kind}: resumed with code {code}: {said[-500:]}")
        elif found != self._expected:
            names = sorted(name for name in found | self._expected if found.get(name) != self._expected.get(name))
            self._tally.find(f"{self.kind}: {len(names)} other files: {names[:5]}")
        shutil.rmtree(self._out, ignore_errors=True)


def killed(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Kill each command 20 times, one after the other, and resume it."""
    prepare()
    for kind in COMMANDS:
        if not left():
            return
        (folder / kind).mkdir()
        victim = Victim(kind, tally, folder / kind)
        if not victim.usable:
            continue
        for _ in range(KILLS):
            if left():
                victim.kill(chance)
        victim.finish()
