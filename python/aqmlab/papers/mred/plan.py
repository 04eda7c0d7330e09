"""Which runs the reproduction needs: the base reading in full, every other reading alone beside it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqmlab.papers import common
from aqmlab.papers.common import BASE, Batch, PaperFiles, Reading, Setup, batches
from aqmlab.toml_text import Value

FILES = PaperFiles("mred")
CASES = {"sole": "TCP alone", "mixed": "TCP and UDP"}
FLOWS = (5, 10, 20, 30, 40, 50)
DISCIPLINES = {"RED": "red", "gentle RED": "gentle-red", "MRED": "mred"}
FIGURE_N = 40
"""The number of flows of Figures 6 and 7."""
COARSE_SAMPLES = "100ms"
"""Interval of the queue samples where no figure needs them finer."""


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.papers.common.Effort`.
    reading_flows
        Numbers of flows at which the other readings are run.
    """

    seeds: int = 50
    reading_seeds: int = 10
    reading_flows: tuple[int, ...] = FLOWS

    @classmethod
    def of(cls, *, quick: bool, seeds: int | None = None) -> Effort:
        """Return the quick effort (15 s on two cores) or the full one."""
        if quick:
            return cls(seeds=seeds or 8, reading_seeds=min(seeds or 8, 3), reading_flows=(10, 30), quick=True)
        count = seeds or cls.seeds
        return cls(seeds=count, reading_seeds=min(count, cls.reading_seeds))


def readings(effort: Effort) -> list[Reading]:
    """List the other readings, in the order of ``readings.toml``."""
    return FILES.readings(quick=effort.quick)


def setups(effort: Effort) -> list[Setup]:
    """List every scenario that is needed."""
    found = []
    for case in CASES:
        for n in FLOWS:
            found += [setup(case, n, d, seeds=effort.seeds) for d in DISCIPLINES]
        for reading in readings(effort):
            if not reading.needs_runs:
                continue
            for n in effort.reading_flows:
                found += [setup(case, n, d, seeds=effort.reading_seeds, reading=reading) for d in ("RED", "MRED")]
    return found


def setup(case: str, n: int, discipline: str, *, seeds: int, reading: Reading | None = None) -> Setup:
    """Make one scenario. The samples of the average are kept for the base reading only."""
    overrides: dict[str, Value] = {
        "flow.tcp.count": n,
        "queue.bottleneck.aqm": DISCIPLINES[discipline],
    }
    if n != FIGURE_N:
        overrides["probe.queue_interval"] = COARSE_SAMPLES
    if reading is not None:
        overrides |= reading.overrides
    return Setup(
        key={"case": case, "n": n, "discipline": discipline},
        plan=FILES.scenario(case, overrides),
        seeds=seeds,
        reading=BASE if reading is None else reading.label,
        tables=("links", "queue_samples") if reading is None else ("links",),
    )


def jobs(effort: Effort, root: Path) -> list[Batch]:
    """List every run that is needed, by scenario."""
    return batches(setups(effort), root)
