"""Any command as part of a live run: those of ``--exec-a`` and ``--exec-b``, and of flows with ``exec``."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.live.groups import A, B, command_group, ends, other, sender_side
from aqmlab.live.options import Options
from aqmlab.live.plan import FlowGroup, LivePlan
from aqmlab.live.processes import end
from aqmlab.live.run_context import Raw, Stage
from aqmlab.live.traffic.workers import port

SHELL = "/bin/sh"
LONGEST_OUTPUT = 10_000_000
"""Bytes of a command's output that are kept."""
SERVERS_LEAD_S = 0.3
"""How long before the run the commands that answer are started."""


@dataclass(frozen=True)
class Command:
    """A command to run.

    Attributes
    ----------
    name
        The name of its output.
    side
        Where.
    text
        For the shell, with all places filled.
    at_s
        When, in s of the run; below 0 before its start.
    environment
        Variables that it gets.
    """

    name: str
    side: str
    text: str
    at_s: float
    environment: Mapping[str, str]


def commands(plan: LivePlan, options: Options) -> list[Command]:
    """List the commands of a run."""
    found = [command for group in plan.groups for command in _of_group(plan, group)]
    for side in (B, A):
        text = options.command(side)
        if text is not None:
            own = ends(command_group(plan), plan.family)
            words = {"local": own.at(side), "peer": own.at(other(side)), "duration": f"{plan.scenario.duration_s:g}"}
            found.append(Command(f"exec-{side}", side, fill(text, words), 0.0, _environment(words)))
    return found


def fill(text: str, words: Mapping[str, str]) -> str:
    """Put words where a command has their names in braces; all else stays, other braces too.

    >>> fill("ping -c 1 {peer} | awk '{print}'", {"peer": "10.77.1.2"})
    "ping -c 1 10.77.1.2 | awk '{print}'"
    """
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    return text


class Running:
    """A command that runs, with what it says going into a file."""

    def __init__(self, command: Command, stage: Stage) -> None:
        self.command = command
        self._output = stage.state.folder / f"{command.name}.txt"
        with self._output.open("wb") as file:
            words = [SHELL, "-c", command.text]
            self.process = stage.start(
                words, command.side, stdout=file, stderr=subprocess.STDOUT, environment=command.environment
            )

    def finish(self) -> dict[str, Any]:
        """End it if it still runs, and say what became of it."""
        code = self.process.poll()
        end(self.process)
        return {"name": self.command.name, "command": self.command.text, "code": code}

    def output(self) -> bytes:
        """Return what it said, or the beginning of it."""
        with self._output.open("rb") as file:
            return file.read(LONGEST_OUTPUT)


class Commands:
    """All commands of a run."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._waiting = sorted(commands(stage.plan, stage.options), key=lambda command: command.at_s)
        self._running: list[Running] = []

    def prepare(self) -> None:
        """Start those that answer."""
        self.due(-1.0)
        if self._running:
            time.sleep(SERVERS_LEAD_S)

    def begin(self, start_at: float) -> None:
        """Wait for `due`."""

    def due(self, now: float) -> None:
        """Start those whose time has come."""
        while self._waiting and self._waiting[0].at_s <= now:
            self._running.append(Running(self._waiting.pop(0), self._stage))

    def finish(self, raw: Raw) -> None:
        """End those that still run; one that failed by itself is a trouble."""
        for one in self._running:
            found = one.finish()
            raw.commands.append(found)
            raw.outputs[one.command.name] = one.output()
            if found["code"]:
                raw.troubles.append(f"{one.command.name}: the command ended with code {found['code']}")

    def close(self) -> None:
        """End all."""
        for one in self._running:
            end(one.process)


def _of_group(plan: LivePlan, group: FlowGroup) -> list[Command]:
    """Return the commands that stand in for the generator of a group: a receiver, if any, and a sender a flow."""
    if group.exec is None:
        return []
    own, side = ends(group.number, plan.family), sender_side(group)
    found = []
    for index, (name, start_s) in enumerate(zip(group.flows, group.starts_s, strict=True)):
        left = (group.stop_s or plan.scenario.duration_s) - start_s
        words = {"server": own.at(other(side)), "port": str(port(index)), "duration": f"{max(left, 0):g}"}
        if group.exec_server is not None:
            text = fill(group.exec_server, words)
            found.append(Command(f"{name}-server", other(side), text, -1.0, _environment(words)))
        found.append(Command(name, side, fill(group.exec, words), start_s, _environment(words)))
    return found


def _environment(words: Mapping[str, str]) -> dict[str, str]:
    return {f"AQMLAB_{name.upper()}": word for name, word in words.items()}
