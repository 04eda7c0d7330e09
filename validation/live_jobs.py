"""Live runs in parallel, started only while the hypervisor takes no processor time: stolen time makes packets late.

A run that cannot become valid is stopped, and every run that was not valid is queued again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

LOOK_S = 1.0
CALM_S = 5
"""So long must the machine have been its own..."""
CALM_SHARE = 0.01
"""...up to this share of its time, before a run begins."""
GIVE_UP_SHARE = 0.012
"""With more than this share of a run's whole time taken, none has been valid."""
STAGGER_S = 1.5
"""Between two beginnings: a program's start is work."""
END_WITHIN_S = 30.0


@dataclass(frozen=True)
class Job:
    """A live run.

    Attributes
    ----------
    name
        Name in messages.
    command
        The command; after SIGTERM it must clean up.
    seconds
        How long it takes.
    weight
        How much of the machine it needs, relative to 10 Mb/s.
    is_valid
        Whether it is done, and counts.
    """

    name: str
    command: tuple[str, ...]
    seconds: float
    weight: float
    is_valid: Callable[[], bool]


@dataclass
class _Running:
    job: Job
    process: subprocess.Popen[str]
    begun_s: float
    stolen_s: float


@dataclass
class LiveJobs:
    """Does jobs until all are valid, or time is up.

    Attributes
    ----------
    width
        Most weight at a time.
    patience_s
        The longest time for all.
    """

    width: float
    patience_s: float
    _waiting: deque[Job] = field(default_factory=deque)
    _running: list[_Running] = field(default_factory=list)

    def do(self, jobs: Iterable[Job]) -> list[Job]:
        """Do these, and return those that are missing at the end."""
        self._waiting.extend(jobs)
        looks: deque[tuple[float, float]] = deque(maxlen=CALM_S + 1)
        until, begun = time.monotonic() + self.patience_s, 0.0
        try:
            while (self._waiting or self._running) and time.monotonic() < until:
                time.sleep(LOOK_S)
                now = time.monotonic()
                looks.append((now, stolen_s()))
                self._look(now, looks[-1][1])
                is_calm = len(looks) > CALM_S and _share(looks) < CALM_SHARE
                room = self.width - sum(one.job.weight for one in self._running)
                if is_calm and self._waiting and room > 0 and now - begun >= STAGGER_S:
                    self._begin(self._waiting.popleft(), now)
                    begun = now
        finally:
            for one in self._running:
                self._end(one)
        return [*self._waiting, *(one.job for one in self._running)]

    def _begin(self, job: Job, now: float) -> None:
        process = subprocess.Popen(job.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self._running.append(_Running(job, process, now, stolen_s()))

    def _look(self, now: float, stolen: float) -> None:
        """Take away the jobs that ended, and stop those that need not go on."""
        for one in list(self._running):
            share = (stolen - one.stolen_s) / one.job.seconds
            if one.process.poll() is not None:
                self._running.remove(one)
                self._judge(one, now - one.begun_s)
            elif share > GIVE_UP_SHARE and now - one.begun_s < one.job.seconds - 5:
                self._running.remove(one)
                self._end(one)
                self._waiting.appendleft(one.job)
                print(f"{one.job.name}: stopped after {now - one.begun_s:.0f} s, {share:.1%} stolen", flush=True)

    def _judge(self, one: _Running, took_s: float) -> None:
        said = one.process.communicate()[1].strip().splitlines()
        if one.job.is_valid():
            print(f"{one.job.name}: valid", flush=True)
            return
        self._waiting.append(one.job)
        why = said[-1] if one.process.returncode and said else "not valid"
        print(f"{one.job.name}: {why} (after {took_s:.0f} s)", flush=True)

    def _end(self, one: _Running) -> None:
        one.process.send_signal(signal.SIGTERM)
        try:
            one.process.communicate(timeout=END_WITHIN_S)
        except subprocess.TimeoutExpired:
            one.process.kill()
            one.process.communicate()


def stolen_s() -> float:
    """Time that a hypervisor has taken from a processor so far, the mean over all, in s (proc(5), ``/proc/stat``)."""
    words = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    ticks = int(words[8]) if len(words) > 8 else 0
    return ticks / os.sysconf("SC_CLK_TCK") / (os.cpu_count() or 1)


def _share(looks: deque[tuple[float, float]]) -> float:
    (begin, before), (end, after) = looks[0], looks[-1]
    return (after - before) / (end - begin)
