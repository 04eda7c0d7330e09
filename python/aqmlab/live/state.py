"""The record of a live run's namespaces and processes, written before they are made, so that nothing is left behind.

Each run has a folder in the *run directory* (``/run/aqmlab``, or ``$XDG_RUNTIME_DIR/aqmlab`` where ``/run`` cannot be
written) with one file: its maker, and the names of its namespaces and the numbers of its processes. A run that was
killed leaves the file; the next run, or ``aqmlab live --clean``, sees that its maker is gone and removes all.
Process number and start time identify a maker, so that a reused number is not taken for it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from aqmlab.errors import StorageError
from aqmlab.live.processes import Identity, empty
from aqmlab.results.folders import explain, write_file
from aqmlab.signals import ENDING

NAMESPACES = Path("/run/netns")
"""Where namespaces have their names, as ``ip netns`` does it."""
PREFIX = "aql"
_serial = count(1)


def namespace_path(name: str) -> Path:
    """Return the file that stands for a namespace."""
    return NAMESPACES / name


def run_directory() -> Path:
    """Return the folder with a folder for each live run; it is made if need be."""
    places = [Path("/run")]
    if session := os.environ.get("XDG_RUNTIME_DIR"):
        places.append(Path(session))
    problem: OSError | None = None
    for place in places:
        folder = place / "aqmlab"
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
        except OSError as error:
            problem = problem or error
    raise StorageError(explain(places[0] / "aqmlab", problem or PermissionError(13, "Permission denied")))


@dataclass
class RunState:
    """The record of one run.

    Attributes
    ----------
    id
        Its name: the maker's number and a counter.
    maker
        The process that made it.
    namespaces
        Names of its network namespaces.
    processes
        The processes that it has started outside of these.
    """

    id: str
    maker: Identity
    namespaces: list[str]
    processes: list[Identity] = field(default_factory=list)

    @classmethod
    def new(cls) -> RunState:
        """Begin a run of this process; nothing of it exists yet."""
        own = Identity.of(os.getpid())
        if own is None:
            raise StorageError("/proc: cannot be read; a live run needs it")
        name = f"{own.pid}-{next(_serial)}"
        return cls(name, own, [f"{PREFIX}-{name}-{side}" for side in "ab"])

    @property
    def folder(self) -> Path:
        """Its folder in the run directory."""
        return run_directory() / self.id

    def save(self) -> None:
        """Write it down."""
        data = {
            "id": self.id,
            "maker": _data(self.maker),
            "namespaces": self.namespaces,
            "processes": [_data(process) for process in self.processes],
        }
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            write_file(self.folder / "state.json", json.dumps(data).encode())
        except OSError as error:
            raise StorageError(explain(self.folder, error)) from None

    def add(self, pid: int) -> None:
        """Write down a process that was started."""
        found = Identity.of(pid)
        if found is not None:
            self.processes.append(found)
            self.save()

    def remove(self) -> None:
        """Remove all of it: processes, namespaces (and with them their devices), the folder."""
        from pyroute2 import netns

        for process in self.processes:
            process.kill()
        for name in self.namespaces:
            path = namespace_path(name)
            if path.exists():
                empty(path)
                with suppress(OSError):
                    netns.remove(name)
                path.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def run_state() -> Iterator[RunState]:
    """Hold what one run makes; it is removed at the end, whatever happens."""
    state = RunState.new()
    state.save()
    try:
        yield state
    finally:
        with _undisturbed():
            state.remove()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Protect what removes a run from interrupts: a second Ctrl-C has no effect on it."""
    numbers = {signal.SIGINT, *ENDING}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def clean() -> list[str]:
    """Remove what runs that were killed have left behind.

    Returns
    -------
    list of str
        The runs of which something was removed.
    """
    removed = []
    for folder in sorted(run_directory().iterdir()):
        state = _read(folder)
        if state is None:
            # Nothing is written yet, so nothing is made yet; its maker may be about to.
            pid = folder.name.partition("-")[0]
            if not pid.isdigit() or Identity.of(int(pid)) is None:
                shutil.rmtree(folder, ignore_errors=True)
        elif not state.maker.alive:
            state.remove()
            removed.append(state.id)
    return removed


def _read(folder: Path) -> RunState | None:
    """Return the record that a run wrote; None if it was killed before it had written anything."""
    try:
        data = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        processes = [Identity(*entry) for entry in data["processes"]]
        return RunState(str(data["id"]), Identity(*data["maker"]), list(data["namespaces"]), processes)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _data(process: Identity) -> list[Any]:
    return [process.pid, process.started]
