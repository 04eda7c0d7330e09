"""Show the progress of many jobs on stderr or in a notebook, each job weighted by its cost.

On a terminal rich draws the bar, estimates the time left and restores the terminal. `Bar` is our own because jobs run
in parallel and each reports its share. `Throttled` is our own because rich limits how often it draws, not how often
workers report.
"""

from __future__ import annotations

import contextlib
import enum
import html
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

REPORT_EVERY_S = 0.25
TELL_EVERY_S = 1.0
"""With `Talk.VERBOSE`: the least time between two lines about finished runs."""


class Talk(enum.Enum):
    """How much is printed on stderr while runs are done."""

    QUIET = enum.auto()
    """Neither progress nor warnings; errors are always printed."""
    NORMAL = enum.auto()
    VERBOSE = enum.auto()
    """Also lines about finished runs, for logs."""


_talk: ContextVar[Talk] = ContextVar("talk", default=Talk.NORMAL)
_drawn: ContextVar[Any] = ContextVar("drawn", default=None)
"""The bar on the terminal."""


def is_quiet() -> bool:
    """Whether warnings are unwanted too."""
    return _talk.get() is Talk.QUIET


@contextlib.contextmanager
def talking(how: Talk) -> Iterator[None]:
    """Print more or less than usual meanwhile."""
    token = _talk.set(how)
    try:
        yield
    finally:
        _talk.reset(token)


class Bar:
    """Progress over all jobs by their cost: finished ones count whole, running ones the share they report."""

    def __init__(self, shown: Any, title: str, costs: Sequence[float], runs: int) -> None:  # noqa: ANN401 - rich's bar
        self._shown, self._title, self._costs, self._runs = shown, title, costs, runs
        self._task = shown.add_task(title, total=sum(costs), runs=f"0/{runs}")
        self._running: dict[int, float] = {}
        self._done = 0.0
        self._began = time.monotonic()
        self._told = -TELL_EVERY_S
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
        took = time.monotonic() - self._began
        if took - self._told >= TELL_EVERY_S or self.finished == self._runs:
            self._told = took
            _tell(f"aqmlab: {self._title}: {self.finished} of {self._runs} done after {took:.1f} s")

    def _show(self) -> None:
        running = sum(self._costs[job] * share for job, share in self._running.items())
        self._shown.update(self._task, completed=self._done + running, runs=f"{self.finished}/{self._runs}")


@contextlib.contextmanager
def bar_over(title: str, costs: Sequence[float], *, shown: bool, runs: int | None = None) -> Iterator[Bar]:
    """Show a bar over jobs with these costs, with an estimate of the time left, if there is a terminal or a notebook.

    With `Talk.QUIET` no bar is shown; with `Talk.VERBOSE` lines about finished runs are printed on stderr too. A job is
    one run unless `runs` says how many all of them are.
    """
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    shown = shown and not is_quiet()
    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(),
        rich.TextColumn("{task.fields[runs]}"),
        rich.TimeRemainingColumn(),
    )
    hidden = not (shown and console.is_terminal)
    on_terminal = rich.Progress(*columns, console=console, transient=True, disable=hidden, speed_estimate_period=120)

    on_screen = on_terminal if hidden else _alone(on_terminal)
    with _InNotebook() if shown and console.is_jupyter else on_screen as display:
        yield Bar(display, title, costs, len(costs) if runs is None else runs)


@contextlib.contextmanager
def _alone(display: Any) -> Iterator[Any]:  # noqa: ANN401 - rich's bar
    """Draw a bar; the one around it, if any, is hidden meanwhile, since both would draw on the same line."""
    outer = _drawn.get()
    if outer is not None:
        outer.stop()
    token = _drawn.set(display)
    try:
        with display:
            yield display
    finally:
        _drawn.reset(token)
        if outer is not None:
            outer.start()


@contextlib.contextmanager
def phase(title: str, *, shown: bool) -> Iterator[None]:
    """Show a bar during one piece of work whose share is unknown, such as the drawing of a page."""
    with bar_over(title, [1.0], shown=shown) as bar:
        yield
        bar.done(0)


def _tell(line: str) -> None:
    if _talk.get() is Talk.VERBOSE:
        from rich.console import Console

        Console(stderr=True).print(line, markup=False, highlight=False, soft_wrap=True)


class _InNotebook:
    """A bar in the output of a notebook's cell, which is empty again at the end; it has methods of rich's bar.

    rich needs ipywidgets for that and warns without; an element of HTML that IPython replaces needs nothing.
    """

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html, self._handle, self._next = HTML, display(HTML(""), display_id=True), 0.0

    def __enter__(self) -> _InNotebook:
        return self

    def __exit__(self, *_: object) -> None:
        self._handle.update(self._html(""))

    def add_task(self, description: str, *, total: float, runs: str) -> tuple[str, float]:
        """Begin the bar."""
        self.update((description, total), completed=0.0, runs=runs)
        return description, total

    def update(self, task: tuple[str, float], *, completed: float, runs: str) -> None:
        """Replace the bar, at most every `REPORT_EVERY_S` seconds."""
        now = time.monotonic()
        if now >= self._next:
            self._next = now + REPORT_EVERY_S
            title = html.escape(task[0])
            bar = f'<progress max="{task[1]:g}" value="{completed:g}" aria-label="{title}"></progress>'
            self._handle.update(self._html(f"{title} {bar} {runs}"))


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
