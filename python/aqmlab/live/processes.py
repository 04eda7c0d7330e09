"""Processes of a live run: started in a namespace, known by number and start time, ended for sure."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aqmlab.errors import InputError

HURRIED = -10
"""Niceness of the programs at the ends."""
GRACE_S = 2.0
"""How long a process may take to end before it is killed."""
START_TIME = 19
"""Place of ``starttime`` among the fields of ``/proc/PID/stat`` that come after the name (proc(5): field 22)."""


@dataclass(frozen=True)
class Identity:
    """A process: its number alone may belong to another one later.

    Attributes
    ----------
    pid
        Number.
    started
        When it was started, in clock ticks since the machine was.
    """

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> Identity | None:
        """Return the process that has this number now, or None."""
        try:
            text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        return cls(pid, int(text.rpartition(")")[2].split()[START_TIME]))

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return Identity.of(self.pid) == self

    def kill(self) -> None:
        """End it, if it still is the same one."""
        if self.alive:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def search_path() -> str:
    """Return where programs are looked for: those of administrators are not on everyone's path."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"


def python_module(module: str) -> tuple[str, ...]:
    """Return the command that runs a module of this package in a new Python interpreter.

    ``-P`` keeps the current directory off ``sys.path``: without it a file named like a module (``json.py``) that lies
    there runs with the rights of this process, often root. ``-I`` would also ignore ``PYTHONPATH``, by which a source
    tree or a user's installation of this package is found; `module_path` gives the child a checked one instead.
    """
    return (sys.executable, "-P", "-m", module)


def module_path() -> str:
    """Return ``PYTHONPATH`` for a child process: this process's path, without the current directory.

    The current directory is on ``sys.path`` after ``python -m`` and by an empty entry of ``PYTHONPATH``. It stays only
    if this package itself was imported from there.
    """
    package = Path(__file__).resolve().parents[2]
    entries = [Path(entry) for entry in sys.path if Path(entry).is_absolute()]
    try:
        here = Path.cwd().resolve()
    except OSError:  # the directory was removed: nothing can be imported from it
        return os.pathsep.join(map(str, entries))
    return os.pathsep.join(str(entry) for entry in entries if entry.resolve() == package or entry.resolve() != here)


def start(
    command: Sequence[str],
    *,
    netns: Path | None = None,
    stdin: int | IO[bytes] = subprocess.DEVNULL,
    stdout: int | IO[bytes] = subprocess.PIPE,
    stderr: int | IO[bytes] = subprocess.PIPE,
    environment: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program, in a namespace if one is given, that is killed when its parent dies.

    ``nsenter`` and ``setpriv`` (both of util-linux) become the program itself, so the number is the program's.
    """
    words = [needed("setpriv"), "--pdeathsig", "KILL", *command]
    if netns is not None:
        words = [needed("nsenter"), f"--net={netns}", *words]
    if shutil.which(command[0]) is None:
        raise InputError(f"{command[0]}: no such program")
    own = {**os.environ, **(environment or {})}
    if command[0] == sys.executable:
        # Modules of this package are found where this process found them. Commands of the user keep their own path.
        own["PYTHONPATH"] = module_path()
    # A group of its own, so that Ctrl-C reaches the run and not its parts, which are ended in their order.
    return subprocess.Popen(words, stdin=stdin, stdout=stdout, stderr=stderr, env=own, start_new_session=True)


def finish(
    command: Sequence[str], *, longest_s: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, for that long at most; it is killed when its parent dies.

    Raises
    ------
    subprocess.TimeoutExpired
        If it took longer; it is killed.
    """
    process = start(command, environment=environment)
    try:
        out, err = process.communicate(timeout=longest_s)
    finally:
        end(process, grace_s=0.0)
    return subprocess.CompletedProcess(command, process.returncode, *(t.decode(errors="replace") for t in (out, err)))


def hurry(pid: int) -> None:
    """Let a process that sends or receives go before those that do not matter, where that is allowed."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, HURRIED)


def end(process: subprocess.Popen[bytes], *, grace_s: float = GRACE_S) -> None:
    """End a process and all of its group: asked first, killed after a while."""
    if process.poll() is None:
        _signal(process, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(grace_s)
    _signal(process, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def inside(netns: Path) -> Iterator[int]:
    """Numbers of the processes whose network is this namespace."""
    try:
        wanted = netns.stat()
    except OSError:
        return
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            found = (entry / "ns/net").stat()
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                yield int(entry.name)


def empty(netns: Path) -> None:
    """Kill whatever still runs in a namespace, this process excepted, and wait until it is gone."""
    until = time.monotonic() + GRACE_S
    while pids := [pid for pid in inside(netns) if pid != os.getpid()]:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if time.monotonic() > until:
            return
        time.sleep(0.01)


def needed(program: str) -> str:
    """Return the path of a program of util-linux that live runs need."""
    found = shutil.which(program)
    if found is None:
        raise InputError(f"{program} is not installed; a live run needs it (package util-linux)")
    return found


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
