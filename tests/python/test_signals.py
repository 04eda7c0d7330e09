"""SIGTERM and SIGHUP end commands as Ctrl-C does: one line, exit code 143 or 129, no child and no folder left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

IGNORES_SIGHUP = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
"""As below nohup; children inherit it, and an ignored signal stays ignored."""
CODES = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130}
ENDLESS = "set ns [new Simulator]\nwhile {1} {}\n"


def started(tmp_path, *words):
    """A command as the leader of a group of its own, with its temporary files in a folder."""
    (tmp_path / "tmp").mkdir()
    return subprocess.Popen(
        [sys.executable, "-m", "aqmlab", *words],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def when(condition, process):
    until = time.monotonic() + 100
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)


def group(process):
    """Processes of the command's group but itself."""
    found = subprocess.run(["pgrep", "-g", str(process.pid)], capture_output=True, text=True, check=False)
    return {int(line) for line in found.stdout.split()} - {process.pid}


def group_ends(process):
    """Whether all processes of the command end soon; one that was killed may take a moment."""
    until = time.monotonic() + 10
    while group(process) and time.monotonic() < until:
        time.sleep(0.05)
    return not group(process)


def sendable(*numbers: signal.Signals) -> list[object]:
    """Return the signals for `parametrize`; SIGHUP is skipped where it is ignored."""
    skip = pytest.mark.skipif(IGNORES_SIGHUP, reason="SIGHUP is ignored here, as below nohup")
    return [pytest.param(one, marks=skip) if one == signal.SIGHUP else one for one in numbers]


@pytest.mark.slow
@pytest.mark.parametrize("number", sendable(*CODES))
def test_an_import_ends_its_sandbox_and_removes_its_folder(tmp_path, number):
    (tmp_path / "endless.tcl").write_text(ENDLESS)
    process = started(tmp_path, "import", "endless.tcl")
    when(lambda: list((tmp_path / "tmp").glob("*/*")), process)
    os.kill(process.pid, number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (CODES[number], "", "aqmlab: interrupted\n")
    assert list((tmp_path / "tmp").iterdir()) == []
    assert group_ends(process)


@pytest.mark.slow
@pytest.mark.parametrize("number", sendable(signal.SIGTERM, signal.SIGHUP))
@pytest.mark.parametrize("to_all", [False, True], ids=["to the parent", "to all, as timeout and terminals do"])
def test_a_sweep_keeps_what_is_finished(tmp_path, dumbbell, number, to_all):
    (tmp_path / "small.toml").write_text(dumbbell)
    words = ["--grid", "queue.bottleneck.max_p=0.01:0.4:200", "--seeds", "20", "--set", "run.duration=60s"]
    process = started(tmp_path, "sweep", "small.toml", *words, "--workers", "2", "--out", "store")
    when(
        lambda: list((tmp_path / "store").glob("*/*/*.parquet")) or list((tmp_path / "store").rglob("*.parquet")),
        process,
    )
    for _ in range(2 if to_all else 1):
        (os.killpg if to_all else os.kill)(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == CODES[number], err
    (line,) = err.splitlines()
    assert line.startswith("aqmlab: interrupted; "), err
    assert line.endswith("kept in store; the same command goes on with the rest"), err
    assert "leaked" not in err
    assert group_ends(process)


def test_an_ignored_signal_stays_ignored():
    program = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
        "from aqmlab import signals; signals.end_as_ctrl_c(); os.kill(os.getpid(), signal.SIGHUP); print('goes on')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "goes on\n"
