"""Child processes execute nothing that lies in the current directory, and killed processes leave nothing for good."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from aqmlab.cli import main
from aqmlab.errors import InputError
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

    @pytest.mark.slow
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

    @pytest.mark.slow
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


class TestAShapeThatWasKilled:
    @pytest.fixture
    def folder(self, tmp_path, monkeypatch):
        pytest.importorskip("pyroute2", reason="needs pyroute2, of the extra live")
        from aqmlab.live.shape import journal

        monkeypatch.setattr(journal, "FOLDER", tmp_path / "aqmlab-shape")
        return tmp_path / "aqmlab-shape"

    def test_leaves_a_folder_that_the_next_clean_removes(self, folder):
        from aqmlab.live.shape import journal

        with journal.alone(), journal.own_folder() as own:
            (own / "link.json").write_text("{}")
            dead = folder / f"{2**22 + 1}-7.d"
            dead.mkdir()
            (dead / "link.json").write_text("{}")
            journal.clean()
            assert own.is_dir()
            assert own.stat().st_mode & 0o077 == 0
            assert not dead.exists()
        assert not own.exists()

    def test_is_cleaned_up_by_a_command(self, folder, monkeypatch, capsys):
        monkeypatch.setattr("aqmlab.live.shape.shaping.check_machine", lambda: None)
        assert main(["shape", "--clean"]) == 0
        assert capsys.readouterr().out == "nothing was left\n"
        assert main(["shape"]) == 2
        assert "CONFIG.toml is missing (or --clean)" in capsys.readouterr().err


class TestCommandsOfAScenario:
    SCENARIO = """\
[[flow]]
name = "page"
transport = "tcp"
exec = "curl http://{peer}/"
exec_server = "python3 -m http.server\\u001b[2J"
"""

    @pytest.fixture
    def file(self, tmp_path, dumbbell, monkeypatch):
        def stop(*_, **__):
            raise InputError("stopped here")

        monkeypatch.setattr("aqmlab.live.running.run", stop)
        monkeypatch.setattr(rootless, "is_privileged", lambda: True)
        path = tmp_path / "a.toml"
        path.write_text(f"{dumbbell}\n{self.SCENARIO}")
        return path

    def test_are_named_before_they_run_as_root(self, file, monkeypatch, capsys):
        monkeypatch.setattr(rootless, "is_real_root", lambda: True)
        assert main(["live", str(file)]) == 2
        first, second, _ = capsys.readouterr().err.splitlines()
        assert first == f"aqmlab: warning: {file}: flow.page.exec runs as root: curl http://{{peer}}/"
        assert second.endswith(r"flow.page.exec_server runs as root: python3 -m http.server\x1b[2J")

    def test_run_without_a_warning_as_a_user(self, file, monkeypatch, capsys):
        monkeypatch.setattr(rootless, "is_real_root", lambda: False)
        assert main(["live", str(file)]) == 2
        assert "runs as root" not in capsys.readouterr().err

    def test_root_of_a_user_namespace_is_no_root(self, monkeypatch, tmp_path):
        (tmp_path / "uid_map").write_text("         0       1000          1\n")
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(rootless, "Path", lambda _: tmp_path / "uid_map")
        assert not rootless.is_real_root()
        (tmp_path / "uid_map").write_text("         0          0 4294967295\n")
        assert rootless.is_real_root()
