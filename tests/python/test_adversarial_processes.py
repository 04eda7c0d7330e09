"""Child processes execute nothing that lies in the current directory, and killed processes leave nothing for good."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from aqmlab.live import link_process, rootless
from aqmlab.live.processes import end, module_path, start
from aqmlab.live.traffic.workers import Worker

PLANTED = ("json", "socket", "struct", "pickle", "signal", "runpy", "typing", "contextlib")
"""Modules that children of aqmlab import early; `pickle` and `runpy` are imported by multiprocessing."""
AQMLAB = Path(sys.executable).with_name("aqmlab")


@pytest.fixture
def trap(tmp_path, monkeypatch):
    """A current directory with modules that leave a file when they are imported, and an ``aqmlab`` package too."""
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write('{name} ')\n")
    (tmp_path / "aqmlab").mkdir()
    (tmp_path / "aqmlab" / "__init__.py").write_text(f"open({str(tmp_path / 'executed')!r}, 'a').write('aqmlab ')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    # As after `python -m aqmlab`, or with an empty entry in PYTHONPATH.
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return tmp_path


def executed(folder):
    path = folder / "executed"
    return path.read_text() if path.exists() else ""


class TestTheCurrentDirectoryIsNotOnThePathOf:
    def test_the_link_process(self, trap):
        process = start([*link_process.COMMAND, "nothing.json"])
        _, complaint = process.communicate(timeout=60)
        end(process)
        assert b"nothing.json" in complaint
        assert executed(trap) == ""

    @pytest.mark.parametrize("module", ["aqmlab.live.traffic", "aqmlab.live.udp"])
    def test_the_processes_of_the_traffic(self, trap, module):
        stage = SimpleNamespace(start=lambda command, side, stdin: start(command, stdin=stdin))
        worker = Worker("source", {}, stage, "a", module=module)
        worker.process.wait(60)
        end(worker.process)
        assert executed(trap) == ""

    def test_the_command_in_a_user_namespace(self, trap, monkeypatch):
        programs = trap / "programs"
        programs.mkdir()
        (programs / "unshare").write_text('#!/bin/sh\n[ -n "$5" ] || exit 0\nshift 5\nexec "$@"\n')
        (programs / "unshare").chmod(0o755)
        monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
        program = "import sys; from aqmlab.live import rootless; sys.path.insert(0, sys.argv[1]); "
        program += "rootless.again(['--version'])"
        done = subprocess.run(
            [sys.executable, "-P", "-c", program, str(trap)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert executed(trap) == ""
        assert rootless.python_module("aqmlab")[1] == "-P"

    def test_the_workers_of_a_sweep(self, trap, dumbbell):
        (trap / "small.toml").write_text(dumbbell)
        words = ["sweep", "small.toml", "--grid", "flow.tcp.count=1,2", "--seeds", "2", "--workers", "2"]
        done = subprocess.run(
            [AQMLAB, *words, "--set", "run.duration=1s"], capture_output=True, text=True, check=False, timeout=100
        )
        assert done.returncode == 0, done.stderr
        assert executed(trap) == ""


def test_the_path_of_children_keeps_the_package_wherever_it_is(tmp_path, monkeypatch):
    package = str(Path(link_process.__file__).parents[2])
    monkeypatch.setattr(sys, "path", ["", "relative", package, str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    assert module_path() == package
    monkeypatch.chdir(package)
    assert module_path() == f"{package}:{tmp_path}"
