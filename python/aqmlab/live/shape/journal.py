"""The journal of a shape: every change is recorded before it is made, so that the next start can undo it.

Each shape has a file below ``/run``, which is empty after a start of the machine, as are the changes. A shape that was
killed leaves its file; the next start sees that its maker is gone and undoes all that is listed.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from aqmlab.errors import Error, StorageError
from aqmlab.live.processes import Identity
from aqmlab.live.shape.network import Space
from aqmlab.live.shape.steps import Setting, Step, from_json, to_json
from aqmlab.live.state import NAMESPACES
from aqmlab.results.folders import explain, write_file

FOLDER = Path("/run/aqmlab-shape")
OWN = Path("/proc/self/ns/net")


@dataclass
class Journal:
    """The changes of one shape, in the order in which they are made.

    Attributes
    ----------
    maker
        The process that makes them.
    place
        The network namespace of the maker, by device and inode.
    steps
        The changes.
    """

    maker: Identity
    place: tuple[int, int]
    steps: list[Step]

    @classmethod
    def of(cls, steps: Sequence[Step]) -> Journal:
        """Begin one of this process."""
        maker = Identity.of(os.getpid())
        if maker is None:
            raise StorageError("/proc: cannot be read; a shape needs it")
        return cls(maker, _number(OWN), list(steps))

    @property
    def path(self) -> Path:
        """Its file."""
        return FOLDER / f"{self.maker.pid}-{self.maker.started}.json"

    @property
    def settings(self) -> list[Setting]:
        """The changes of settings."""
        return [step for step in self.steps if isinstance(step, Setting)]

    def do(self) -> None:
        """Write all changes down, then make them; if one fails, those before it are undone."""
        try:
            data = {"maker": vars(self.maker), "place": self.place, "steps": [to_json(step) for step in self.steps]}
            write_file(self.path, json.dumps(data).encode())
        except OSError as error:
            raise StorageError(explain(self.path, error)) from None
        try:
            for step in self.steps:
                step.do()
        except BaseException:
            self.undo()
            raise

    def undo(self) -> list[str]:
        """Undo all changes, the last first, and forget them. Settings that another shape needs stay; it undoes them.

        Returns
        -------
        list of str
            Descriptions of changes that could not be undone.
        """
        failed = []
        needed = {
            (step.space, step.key)
            for other in living()
            for step in other.settings
            if other.path != self.path and other.place == self.place
        }
        steps, self.steps = self.steps, []
        for step in reversed(steps):
            gone = step.space.path is not None and not step.space.path.exists()
            if gone or (isinstance(step, Setting) and (step.space, step.key) in needed):
                continue
            try:
                step.undo()
            except (Error, OSError) as error:
                failed.append(str(error))
        self.path.unlink(missing_ok=True)
        return failed


@contextmanager
def own_folder() -> Iterator[Path]:
    """Hold a folder of this process, which `clean` removes if this process is killed."""
    maker = Identity.of(os.getpid())
    if maker is None:
        raise StorageError("/proc: cannot be read; a shape needs it")
    folder = FOLDER / f"{maker.pid}-{maker.started}.d"
    try:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise StorageError(explain(folder, error)) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def alone() -> Iterator[None]:
    """Hold the folder of all journals, so that two that start at once do not choose the same numbers."""
    try:
        FOLDER.mkdir(mode=0o700, exist_ok=True)
        lock = os.open(FOLDER, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise StorageError(explain(FOLDER, error)) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def clean() -> list[str]:
    """Undo what shapes that were killed have left in this network namespace.

    Returns
    -------
    list of str
        A line for each of them.
    """
    told = []
    for folder in FOLDER.glob("*.d"):
        pid, _, started = folder.name.removesuffix(".d").partition("-")
        if pid.isdecimal() and started.isdecimal() and not Identity(int(pid), int(started)).alive:
            shutil.rmtree(folder, ignore_errors=True)
    for path in sorted(FOLDER.glob("*.json")):
        journal = _read(path)
        if journal is None:
            path.unlink(missing_ok=True)
        elif not journal.maker.alive:
            if journal.place == _number(OWN):
                failed = journal.undo()
                text = f"undid what a shape that was killed (process {journal.maker.pid}) had left behind"
                told.append("; ".join([text, *failed]))
            elif journal.place not in _places():
                path.unlink(missing_ok=True)
    return told


def living() -> list[Journal]:
    """Return the journals of the shapes that run, here and in other namespaces."""
    found = [journal for path in FOLDER.glob("*.json") if (journal := _read(path)) is not None]
    return [journal for journal in found if journal.maker.alive]


def setting(space: Space, key: str, value: str, *, always: bool = False) -> list[Setting]:
    """Return the step that gives a setting a value.

    The list is empty if the kernel has no such setting, or has that value by itself; then `always` asks for the step,
    so that undoing it undoes what another setting does to this one.
    """
    here = _number(OWN)
    for journal in living():
        for step in journal.settings:
            if (step.key, step.value) == (key, value) and step.space == space and journal.place == here:
                return [step]
    before = space.setting(key)
    return [] if before is None or (before == value and not always) else [Setting(space, key, value, before)]


def _read(path: Path) -> Journal | None:
    """Read a journal; None if it was not written to its end, hence nothing was done."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        place = (int(data["place"][0]), int(data["place"][1]))
        return Journal(Identity(**data["maker"]), place, [from_json(step) for step in data["steps"]])
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        return None


def _places() -> set[tuple[int, int]]:
    """Return all network namespaces that have a process or a name."""
    found = set()
    for path in [*Path("/proc").glob("[0-9]*/ns/net"), *NAMESPACES.glob("*")]:
        with suppress(OSError):
            found.add(_number(path))
    return found


def _number(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_dev, status.st_ino
