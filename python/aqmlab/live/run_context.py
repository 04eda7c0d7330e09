"""Where a run takes place, what takes part in it, and what comes out of it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Protocol

from aqmlab.live.options import Options
from aqmlab.live.plan import LivePlan
from aqmlab.live.processes import start
from aqmlab.live.state import RunState


@dataclass
class Raw:
    """Raw results of a run, before they are made into tables.

    Attributes
    ----------
    outcome
        Of the link process.
    at_warmup
        The link's snapshot at the end of the warm-up, if it has one.
    sources, sinks
        Reports of the two ends of TCP flows, by flow.
    samples
        ``cwnd_samples`` and ``flow_samples``.
    datagrams
        Rows of UDP flows, by flow.
    commands, outputs
        Results of commands, and their output.
    troubles
        Errors that did not end the run, a line each.
    """

    outcome: dict[str, Any] = field(default_factory=dict)
    at_warmup: dict[str, Any] | None = None
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    sinks: dict[str, dict[str, Any]] = field(default_factory=dict)
    samples: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    datagrams: dict[str, dict[str, Any]] = field(default_factory=dict)
    commands: list[dict[str, Any]] = field(default_factory=list)
    outputs: dict[str, bytes] = field(default_factory=dict)
    troubles: list[str] = field(default_factory=list)

    def add_reports(self, kind: str, flows: Sequence[dict[str, Any]]) -> None:
        """Keep the reports of ``source`` or ``sink``."""
        into = self.sources if kind == "source" else self.sinks
        for flow in flows:
            into[flow["name"]] = flow
            if flow.get("error"):
                self.troubles.append(f"flow {flow['name']}: {flow['error']}")


@dataclass(frozen=True)
class Stage:
    """The two namespaces of a run; whatever is started there is written down first of all.

    Attributes
    ----------
    plan, options
        The run, and its options.
    spaces
        The namespaces by side.
    state
        Where it is written down.
    """

    plan: LivePlan
    options: Options
    spaces: Mapping[str, Path]
    state: RunState

    def start(
        self,
        command: Sequence[str],
        side: str,
        *,
        stdin: int = subprocess.DEVNULL,
        stdout: int | IO[bytes] = subprocess.PIPE,
        stderr: int | IO[bytes] = subprocess.PIPE,
        environment: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start a program at a side."""
        process = start(
            command, netns=self.spaces[side], stdin=stdin, stdout=stdout, stderr=stderr, environment=environment
        )
        self.state.add(process.pid)
        return process


class Part(Protocol):
    """A component of a run: it is prepared, notified when the run begins, polled, and finished."""

    def prepare(self) -> None:
        """Start what has to be there before the run begins, and wait until it is."""

    def begin(self, start_at: float) -> None:
        """Hear when the run begins, by the monotonic clock."""

    def due(self, now: float) -> None:
        """Do the tasks that are due at this time of the run in s; raise errors that occurred since."""

    def finish(self, raw: Raw) -> None:
        """End, and add the results to `raw`."""

    def close(self) -> None:
        """End whatever still runs; may be called at any time."""
