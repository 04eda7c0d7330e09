"""A small scenario, and the command line as a user starts it."""

from __future__ import annotations

import fcntl
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import aqmlab
from aqmlab import cli, errors

# A shell starts its background jobs with Ctrl-C ignored, and programs hand that on to those that they start; the tests
# are about the use in the foreground.
signal.signal(signal.SIGINT, signal.default_int_handler)

BESIDE_LIVE = 10
"""Niceness of all other tests: live ones run beside them and measure times."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Give a live test the processor before the tests of other processes; without root there is no live test."""
    live = item.get_closest_marker("live") is not None
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, 0 if live else BESIDE_LIVE)
    return (yield)


DUMBBELL = Path(__file__).with_name("small.toml").read_text(encoding="utf-8")
"""A dumbbell of 2 Mb/s with three TCP flows and RED: 3 s, three seeds."""


@dataclass(frozen=True)
class Answer:
    """Exit code, output and errors of a command."""

    code: int
    out: str
    err: str


class Shell:
    """Runs the command line in a folder of its own.

    Called, it runs the command in this process, which saves the second in which a process starts; `process` starts one,
    for tests of the process itself.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "aqmlab", *words]

    def environment(self) -> dict[str, str]:
        return {**os.environ, "COLUMNS": "160", "NO_COLOR": "1"}

    def __call__(self, *words: str) -> Answer:
        with (
            pytest.MonkeyPatch.context() as patched,
            warnings.catch_warnings(),
            _captured(1, "stdout") as out,
            _captured(2, "stderr") as err,
        ):
            patched.chdir(self.folder)
            for name, value in self.environment().items():
                patched.setenv(name, value)
            warnings.resetwarnings()
            errors.show_warnings_in_one_line()
            code = cli.main(words)
        return Answer(code, out.text, err.text)

    def process(self, *words: str, stdout: int | None = subprocess.PIPE) -> Answer:
        done = subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environment(),
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
        return Answer(done.returncode, done.stdout or "", done.stderr)


@dataclass
class Captured:
    """Text that went to a standard file."""

    text: str = ""


@contextmanager
def _captured(number: int, name: str) -> Iterator[Captured]:
    """Catch all text to a standard file, also that of worker processes."""
    found = Captured()
    with tempfile.TemporaryFile() as file:
        before, descriptor = getattr(sys, name), os.dup(number)
        before.flush()
        os.dup2(file.fileno(), number)
        with open(number, "w", encoding="utf-8", closefd=False) as stream:
            setattr(sys, name, stream)
            try:
                yield found
            finally:
                stream.flush()
                setattr(sys, name, before)
                os.dup2(descriptor, number)
                os.close(descriptor)
                file.seek(0)
                found.text = file.read().decode()


@pytest.fixture(scope="session")
def overview(tmp_path_factory: pytest.TempPathFactory) -> aqmlab.Overview:
    """The quick reproductions of two papers, with few seeds: for the tests of each, and of both together.

    The processes of a test run share its folder: one makes the pages, the others read its answer.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "reproductions"
    folder.mkdir(exist_ok=True)
    answer = folder / "overview.pickle"
    with (own.parent / "reproductions.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.exists():
            found = aqmlab.reproduce_all(
                only=["mred", "exred"], quick=True, seeds=3, out=folder, progress=False, pictures=True
            )
            answer.write_bytes(pickle.dumps(found))
    return pickle.loads(answer.read_bytes())


@pytest.fixture
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages without their figures as PNG and SVG beside them, for tests that look at the page alone."""
    monkeypatch.setattr("aqmlab.reporting.plots.save_figure", lambda *_, **__: [])


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    (tmp_path / "small.toml").write_text(DUMBBELL)
    return Shell(tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(DUMBBELL)
    return path


@pytest.fixture
def dumbbell() -> str:
    return DUMBBELL


def contents(folder: Path) -> dict[str, bytes]:
    """All result files below a folder, without the log."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "log.txt"
    }
