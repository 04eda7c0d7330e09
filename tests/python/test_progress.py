"""The progress bar: jobs weighted by cost, silent without a terminal, the terminal restored after Ctrl-C."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
import types

import pytest

from aqmlab.runs import progress
from aqmlab.runs.progress import Talk, bar_over, is_quiet, phase, talking

SHOWN, HIDDEN = b"\x1b[?25h", b"\x1b[?25l"
INTERRUPTED = """
import time
from aqmlab.runs.progress import bar_over
with bar_over("work", [1.0, 3.0], shown=True) as bar:
    bar.done(0)
    time.sleep(60)
"""


def test_jobs_are_weighted_by_cost():
    with bar_over("work", [1.0, 3.0], shown=False) as bar:
        bar.done(0)
        bar.report(1, 0.5)
        task = bar._shown.tasks[0]
        assert (task.completed, task.total, task.fields["runs"]) == (2.5, 4.0, "1/2")
        bar.done(1)
        assert task.finished


@pytest.mark.parametrize("shown", [True, False])
def test_nothing_is_written_without_a_terminal(shown, capfd):
    with bar_over("work", [1.0], shown=shown) as bar:
        bar.done(0)
    assert capfd.readouterr() == ("", "")


def test_an_interrupt_restores_the_terminal():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    )
    os.close(theirs)
    seen, until = b"", time.monotonic() + 60
    while b"1/2" not in seen and time.monotonic() < until:
        seen += os.read(ours, 4096)
    child.send_signal(signal.SIGINT)
    try:
        while piece := os.read(ours, 4096):
            seen += piece
    except OSError:
        pass  # the other end is closed
    child.wait(timeout=60)
    os.close(ours)
    assert HIDDEN in seen
    assert seen.rindex(SHOWN) > seen.rindex(HIDDEN)


class _Handle:
    def __init__(self, shown):
        self.shown = shown

    def update(self, page):
        self.shown.append(page)


def test_a_notebook_shows_a_bar_without_further_packages(monkeypatch):
    shown = []
    display = types.ModuleType("IPython.display")
    display.HTML = str
    display.display = lambda page, display_id: (shown.append(page), _Handle(shown))[1]
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "REPORT_EVERY_S", 0.0)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    with bar_over("a<b", [1.0, 3.0], shown=True) as bar:
        bar.done(0)
    assert shown[0] == shown[-1] == ""
    assert shown[-2] == 'a&lt;b <progress max="4" value="1" aria-label="a&lt;b"></progress> 1/2'


@pytest.mark.parametrize(("how", "told"), [(Talk.QUIET, 0), (Talk.NORMAL, 0), (Talk.VERBOSE, 2)])
def test_verbose_runs_are_told_of(how, told, capfd, monkeypatch):
    monkeypatch.setattr(progress, "TELL_EVERY_S", 0.0)
    with talking(how), bar_over("work", [1.0, 1.0], shown=True) as bar:
        bar.done(0)
        bar.done(1)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert (out, len(lines)) == ("", told)
    assert all(line.startswith(f"aqmlab: work: {n} of 2 done after ") for n, line in enumerate(lines, start=1))
    assert not is_quiet()


def test_a_bar_within_a_bar_hides_the_outer_one(monkeypatch):
    from rich.console import Console
    from rich.progress import Progress

    events = []
    monkeypatch.setattr(Console, "is_terminal", property(lambda _: True))
    monkeypatch.setattr(Progress, "start", lambda own: events.append(("start", own.tasks[0].description[:5])))
    monkeypatch.setattr(Progress, "stop", lambda own: events.append(("stop", own.tasks[0].description[:5])))
    monkeypatch.setattr(Progress, "__enter__", lambda own: own)
    monkeypatch.setattr(Progress, "__exit__", lambda *_: None)
    with phase("outer", shown=True), phase("inner", shown=True):
        pass
    assert events == [("stop", "outer"), ("start", "outer")]
