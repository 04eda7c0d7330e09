"""Systems other than Linux: errors of live commands, and all other commands without the live part."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import resources
from pathlib import Path
from types import SimpleNamespace

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.interop.importing.recording import record
from aqmlab.lab.page import CORE
from aqmlab.live import run
from aqmlab.live.shape import shape
from aqmlab.results.evaluation import Evaluated, Evaluation
from aqmlab.runs.store import file_lock
from conftest import DUMBBELL

ELSEWHERE = """
import fcntl, os, signal, subprocess, sys, types

flock, most = fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB


def locking(descriptor, how, length):
    try:
        flock(descriptor, most)
    except BlockingIOError:
        raise PermissionError from None


msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_NBLCK, msvcrt.locking = 2, locking
sys.modules["msvcrt"] = msvcrt
for name in ("fcntl", "grp", "pty", "pwd", "resource", "termios", "pyroute2"):
    sys.modules[name] = None
for module, names in (
    (os, ("O_NONBLOCK", "O_CLOEXEC", "O_NOFOLLOW", "killpg", "sched_getaffinity", "getuid", "geteuid", "statvfs")),
    (signal, ("SIGHUP", "SIGXCPU", "SIGKILL", "SIGALRM", "pthread_sigmask", "setitimer")),
):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
"""Makes Python, and the processes that it starts, lack netlink and the parts of POSIX that Windows lacks."""
COMMANDS = """
import json, sys
from aqmlab import _core
for name in ("live_link", "live_udp", "live_replay"):
    delattr(_core, name)
from aqmlab.cli import main
for words in json.loads(sys.argv[1]):
    assert main(words) == 0, words
"""
"""Several commands in one process, without the live part of the core, which is for Linux alone."""


@pytest.mark.parametrize("words", [["live"], ["live", "--clean"], ["shape"], ["shape", "--clean"]])
def test_live_commands_say_that_they_need_linux(monkeypatch, capsys, words):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert main(words) == 2
    assert f"{words[0]}: needs Linux" in capsys.readouterr().err


@pytest.mark.parametrize(("function", "name"), [(run, "live"), (shape, "shape")])
def test_live_functions_say_that_they_need_linux(monkeypatch, function, name):
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(aqmlab.InputError, match=f"{name}: needs Linux"):
        function("small.toml")


@pytest.fixture
def elsewhere(tmp_path: Path):
    """Return a function that runs commands as on Windows, and returns their standard output."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(ELSEWHERE)
    (tmp_path / "small.toml").write_text(DUMBBELL)
    path = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])

    def commands(*lines: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", COMMANDS, json.dumps([line.split() for line in lines])],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return commands


@pytest.mark.slow
def test_other_commands_work_without_the_live_part_and_posix(tmp_path: Path, elsewhere):
    printed = elsewhere(
        "check small.toml",
        "run small.toml --out out",
        "compare small.toml --aqm red,codel --out compared",
        "sweep small.toml --grid flow.tcp.count=1,2 --seeds 2 --out swept --workers 2",
        "report compared --out report.html",
        "export small.toml --to tc --out tc",
        "list",
    )
    assert "codel" in printed
    assert list((tmp_path / "tc").iterdir())
    assert (tmp_path / "report.html").stat().st_size > 10_000
    aqmlab.run(tmp_path / "small.toml", out=tmp_path / "here")
    assert _digests(tmp_path / "out") == _digests(tmp_path / "here") != []


def _digests(folder: Path) -> list[str]:
    return [path.read_text() for path in folder.rglob("SHA256SUMS")]


@pytest.mark.slow
def test_the_laboratory_is_written_without_the_live_part_and_posix(tmp_path: Path, elsewhere):
    if not resources.files("aqmlab").joinpath(CORE).is_file():
        pytest.skip("the simulator for browsers is not built (make web)")
    elsewhere("lab --out lab.html")
    assert (tmp_path / "lab.html").stat().st_size > 1_000_000


def test_a_file_has_one_lock_until_it_is_closed(tmp_path: Path):
    first, second = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(2))
    assert file_lock.take(first)
    assert not file_lock.take(second)
    os.close(first)
    file_lock.wait(second)
    os.close(second)


def test_windows_locks_the_first_byte(monkeypatch):
    called = []

    def locking(*arguments: int) -> None:
        called.append(arguments)
        if len(called) == 2:
            raise PermissionError

    monkeypatch.setattr(file_lock, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    assert file_lock.take(3)
    assert not file_lock.take(4)
    assert called == [(3, 2, 1), (4, 2, 1)]


def test_an_unknown_peak_memory_is_not_printed():
    run = Evaluated("windows", "", 1_000_000, 0)
    assert Evaluation((run,), 1.0).lines()[-1] == "1 run in 1.00 s: 1,000,000 packet-hops, 1.0 million a second"


def test_a_study_of_ns2_needs_limits_of_processes(monkeypatch):
    monkeypatch.setitem(sys.modules, "resource", None)
    with pytest.raises(aqmlab.InputError, match=r"study\.tcl: .* which Windows lacks"):
        record("set ns [new Simulator]", "study.tcl")
