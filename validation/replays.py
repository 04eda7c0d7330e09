"""Rows of replays: runs of a kernel's discipline or module, made side by side, with their outcome in the core."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from aqmlab.interop.kernel.replay import ReplayedLog
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.headers import headers

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


def compiled_tap(image: Image, folder: Path | None, compile_tap: Callable[[Path], bytes]) -> bytes:
    """Return the tap for an image's kernel: ``FOLDER/RELEASE.ko`` if it exists; else compile it."""
    compiled = None if folder is None else folder / f"{image.release}.ko"
    if compiled is not None and compiled.is_file():
        return compiled.read_bytes()
    return compile_tap(headers(image.release))


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
