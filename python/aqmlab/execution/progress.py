"""Show the progress of many jobs on stderr, each job weighted by its cost.

rich draws the bar, estimates the time left and restores the terminal. `Bar` is our own because jobs run in parallel
and each reports its share. `Throttled` is our own because rich limits how often it draws, not how often workers report.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

REPORT_EVERY_S = 0.25


class Bar:
    """Progress over all jobs by their cost: finished ones count whole, running ones the share they report."""

    def __init__(self, shown: Progress, title: str, costs: Sequence[float], runs: int) -> None:
        self._shown = shown
        self._costs = costs
        self._runs = runs
        self._task = shown.add_task(title, total=sum(costs), runs=f"0/{runs}")
        self._running: dict[int, float] = {}
        self._done = 0.0
        self.finished = 0

    def report(self, job: int, share: float) -> None:
        """Record which share of a job is done, 0 to 1."""
        self._running[job] = min(max(share, 0.0), 1.0)
        self._show()

    def done(self, job: int, runs: int = 1) -> None:
        """Record that a job of `runs` runs is finished."""
        self._running.pop(job, None)
        self.finished += runs
        self._done += self._costs[job]
        self._show()

    def _show(self) -> None:
        running = sum(self._costs[job] * share for job, share in self._running.items())
        self._shown.update(self._task, completed=self._done + running, runs=f"{self.finished}/{self._runs}")


@contextlib.contextmanager
def bar_over(title: str, costs: Sequence[float], *, shown: bool, runs: int | None = None) -> Iterator[Bar]:
    """Show a bar over jobs with these costs, with an estimate of the time left, if stderr is a terminal.

    A job is one run unless `runs` says how many all of them are.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[runs]}"),
        TimeRemainingColumn(),
    )
    off = not (shown and console.is_terminal)
    with Progress(*columns, console=console, transient=True, disable=off, speed_estimate_period=120) as rich_bar:
        yield Bar(rich_bar, title, costs, len(costs) if runs is None else runs)


class Throttled:
    """Passes on a report at most every `REPORT_EVERY_S` seconds."""

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report
        self._next = time.monotonic() + REPORT_EVERY_S

    def __call__(self, share: float) -> None:
        """Report a share, if the last report is long enough ago."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + REPORT_EVERY_S
            self._report(share)
