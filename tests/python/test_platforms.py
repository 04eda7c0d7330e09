"""Systems other than Linux: errors of live commands, and all other commands without the live part."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.live import run
from aqmlab.live.shape import shape
from conftest import DUMBBELL

ELSEWHERE = """
import sys
sys.modules["pyroute2"] = None
from aqmlab import _core
for name in ("live_link", "live_udp", "live_replay"):
    delattr(_core, name)
from aqmlab.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line without the live part of the core and without netlink, as on systems other than Linux."""


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


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["check", "FILE"],
        ["run", "FILE", "--out", "FOLDER"],
        ["compare", "FILE", "--aqm", "red,codel", "--out", "FOLDER"],
        ["sweep", "FILE", "--grid", "flow.tcp.count=1,2", "--out", "FOLDER"],
        ["export", "FILE", "--to", "tc", "--out", "FOLDER/tc"],
        ["list"],
    ],
    ids=lambda words: words[0],
)
def test_other_commands_work_without_the_live_part(tmp_path: Path, words: list[str]):
    (tmp_path / "small.toml").write_text(DUMBBELL)
    places = {"FILE": str(tmp_path / "small.toml"), "FOLDER": str(tmp_path / "out")}
    for name, place in places.items():
        words = [word.replace(name, place) for word in words]
    done = subprocess.run([sys.executable, "-c", ELSEWHERE, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
