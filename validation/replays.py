"""Rows of replays: runs of a kernel's discipline or module, made side by side, with their outcome in the core."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from aqmlab.interop.kernel.replay import ReplayedLog
from aqmlab.interop.kernel.tap import with_logged_imports
from aqmlab.live.vm.build import Image, cache
from aqmlab.live.vm.headers import headers
from aqmlab.live.vm.kernels import FOLDER
from aqmlab.live.vm.packages import kernel_of, package
from aqmlab.live.vm.sources import QDISCS, compiled_source, serving
from aqmlab.live.vm.suites import Suites
from aqmlab.live.vm.tap import Tap, tap_program

Row = dict[str, str]
COUNTS = ("decisions", "marks", "drops")


@dataclass(frozen=True)
class Replays:
    """Rows of replays, by their outcome.

    Attributes
    ----------
    runs, faults
        Runs as they are, and runs with a fault that was put in on purpose.
    differing, missed
        Runs that differ from the core, and faults that the replay did not find.
    """

    runs: list[Row]
    faults: list[Row]
    differing: list[Row]
    missed: list[Row]

    @classmethod
    def of(cls, found: Sequence[Row]) -> Replays:
        """Sort rows by their columns ``fault`` and ``difference``."""
        runs, faults = [row for row in found if not row["fault"]], [row for row in found if row["fault"]]
        differing = [row for row in runs if row["difference"]]
        return cls(runs, faults, differing, [row for row in faults if not row["difference"]])

    @property
    def kernels(self) -> list[tuple[str, str]]:
        """Release and digest of each kernel, in the order of the runs."""
        return list(dict.fromkeys((row["kernel"], row["image"]) for row in self.runs))

    @property
    def faults_found(self) -> str:
        """A sentence with the number of faults that were found."""
        found = len(self.faults) - len(self.missed)
        return f"{found} of {len(self.faults)} faults that were put in on purpose are found."


def outcome(found: ReplayedLog) -> Row:
    """Return the counts of a replay, or its difference."""
    if found.difference is not None:
        return {"difference": str(found.difference)}
    return {"decisions": str(found.decisions), "marks": str(found.marks), "drops": str(found.drops)}


def total(some: Iterable[Row], name: str) -> int:
    """Return the sum of a column."""
    return sum(int(row[name] or 0) for row in some)


def counts_and_equality(row: Row) -> str:
    """Return the cells of a run: its counts, and whether it is equal."""
    equal = "**no**" if row["difference"] else "yes"
    return " | ".join([*(f"{int(row[name] or 0):,}" for name in COUNTS), equal])


def tap_for(image: Image, folder: Path | None, children: Sequence[str]) -> Tap:
    """Return the tap for an image's kernel and the image's modules of a discipline, with logged imports.

    Parameters
    ----------
    folder
        The tap is read from ``FOLDER/RELEASE.ko`` if that exists; else it is compiled. So is a module that is part of
        the kernel itself, or that the distribution does not build: from ``FOLDER/RELEASE-NAME.ko``, or from the
        kernel's source.
    children
        Names of the modules, e.g. ``sch_cake``.
    """
    program = compiled(folder, image.release, lambda: tap_program(headers(image.release)))
    return Tap(program, {name: with_logged_imports(_module_of(image, name, folder), name) for name in children})


def with_modules(tap: Tap, image: Image, names: Sequence[str]) -> Tap:
    """Return the tap with further modules of the image's kernel, and all that they depend on.

    They are fetched by apt from the packages of the image's manifest.
    """
    suites = Suites(cache() / FOLDER / "apt")
    with ExitStack() as opened:
        files = []
        for entry in image.manifest["packages"]:
            name, _, version = entry.partition(" ")
            if name.startswith("linux-"):
                environment = serving(name, version, suites)
                files.append(opened.enter_context(package(f"{name}={version}", environment=environment))[0])
        return replace(tap, further=dict(kernel_of(files, names).modules))


def compiled(folder: Path | None, name: str, build: Callable[[], bytes]) -> bytes:
    """Return a compiled module: ``FOLDER/NAME.ko`` if it exists."""
    path = None if folder is None else folder / f"{name}.ko"
    return path.read_bytes() if path is not None and path.is_file() else build()


def _module_of(image: Image, name: str, folder: Path | None) -> bytes:
    """Read a module out of an image; compile one that is part of the kernel, or that the distribution lacks."""
    if name not in image.manifest["modules"]:
        return compiled(folder, f"{image.release}-{name}", lambda: compiled_source(f"{QDISCS}/{name}.c", image))
    with tempfile.TemporaryDirectory(prefix="aqmlab-image-") as unpacked, image.initramfs.open("rb") as packed:
        path = f"modules/{name}.ko"
        subprocess.run(["cpio", "-id", "--quiet", path], stdin=packed, cwd=unpacked, check=True)
        return (Path(unpacked) / path).read_bytes()


def kept(folder: Path | None, name: str, make: Callable[[], bytes]) -> bytes:
    """Return a log; it is kept in the folder, and read again on later calls."""
    path = None if folder is None else folder / f"{name}.log"
    if path is not None and path.is_file():
        return path.read_bytes()
    log = make()
    if path is not None:
        path.write_bytes(log)
    return log


def make_runs(
    tasks: Iterable[Callable[[], list[Row]]], found: list[Row], write: Callable[[list[Row]], None], workers: int
) -> None:
    """Make runs side by side, append their rows to those found, and write all rows after each run."""
    with ThreadPoolExecutor(workers) as pool:
        for done in as_completed([pool.submit(task) for task in tasks]):
            found += done.result()
            shown = {name: value for name, value in done.result()[0].items() if name not in ("image", "sha256")}
            print(shown, flush=True)
            write(found)
