"""Pairs of runs of tuned RED and of the free curve with real TCP, in network namespaces and in the emulated machine.

`free_curves.py --live` and `--kernel` make them; `section` writes their part of its page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

import aqmlab
from aqmlab.errors import InputError
from aqmlab.live.kernel_backends import Bottleneck
from aqmlab.live.running import certificates_in
from aqmlab.results.quantities import difference_of, quantity
from aqmlab.results.result import Result
from aqmlab.rfc7928.network import QUEUE
from aqmlab.scenario.file import Scenario
from aqmlab.statistics import Interval, mean_interval, welch
from aqmlab.tuning.tuned_outcome import in_unit
from compare_frontiers import CASES, REPORT, ROOT
from csv_rows import read_rows, write_rows
from live_jobs import Job, LiveJobs
from live_runs import LiveRuns

TABLE = REPORT / "free-curve-live.csv"
STORE = ROOT / "results" / "live-pairs"
SIMULATED = 80
MINUTES = 120.0
CURVES = ("red", "free")
BESIDE = ("loss", "timeouts")
"""Further quantities of the table."""
FIELDS = (
    "world", "case", "settings", "seed", *CURVES, *(f"{curve}_{key}" for key in ("bound", *BESIDE) for curve in CURVES),
    "lateness_p99_us",
)  # fmt: skip
HEADING = "## With real TCP"
KERNEL_TCP = """
format = 1
name = "free-curve-live"
[run]
duration = "30s"
warmup = "5s"
[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "bottleneck" }
left = { rate = "1Gbps", delay = "5ms" }
right = { rate = "1Gbps", delay = "5ms" }
[queue.bottleneck]
aqm = "red"
[[flow]]
name = "tcp"
count = 10
transport = "tcp"
start = { uniform = ["0s", "100ms"] }
tcp = { congestion_control = "reno", mss = "948B" }
[probe]
links = ["bottleneck"]
delay_histogram = true
"""
"""The example dumbbell-red with the kernel's Reno and its packets of 1000 bytes; other links are delay only."""


@dataclass(frozen=True)
class World:
    """A place of runs with real TCP.

    Attributes
    ----------
    name
        In the table and on the page.
    bottleneck, words
        The link, and the words of `aqmlab live` for it.
    pairs
        Of each case.
    side_by_side
        Runs at a time.
    """

    name: str
    bottleneck: Bottleneck
    words: tuple[str, ...]
    pairs: int
    side_by_side: float


LIVE = World("live", Bottleneck(), (), 20, 4.0)
KERNEL = World("kernel", Bottleneck("vm", in_module=True), ("--backend", "vm", "--kernel-qdisc"), 5, 1.0)
WORLDS = (LIVE, KERNEL)
Bodies = tuple[str, str]
"""The queue's table with RED's curve, and with the free curve."""


@dataclass(frozen=True)
class Cell:
    """A row of the page that is run live, at the condition where the goal of tuned RED is worst in simulation.

    Attributes
    ----------
    key, title, goal
        Its name in the table; scenario and goal in words, as the page has them.
    metric, bound
        Keys of the quantities of goal and bound.
    queue, overrides
        The queue's name, and the condition.
    text
        The scenario; empty: that of the page, which begins with this title.
    in_kernel
        Whether a few pairs in the emulated machine can resolve the difference.
    """

    key: str
    title: str
    goal: str
    metric: str
    bound: str
    queue: str
    overrides: tuple[tuple[str, str], ...]
    text: str = ""
    in_kernel: bool = True

    def scenario(self) -> str:
        """Return the text of the scenario."""
        return self.text or next(case for case in CASES if case.title == self.title).scenario().text


SEVERAL = "Two to fifty NewReno flows, 10 Mb/s"
DELAY = "mean delay, utilization >= 98 %"
SLOW = (("dumbbell.bottleneck.rate", "7Mbps"),)
CELLS = (
    Cell(
        "jain", SEVERAL, "Jain's index, mean delay <= 20 ms", "jain", "mean_delay_ms", "bottleneck",
        (("flow.tcp.count", "50"),), KERNEL_TCP, in_kernel=False,
    ),
    Cell(
        "goodput", SEVERAL, "goodput, mean delay <= 10 ms", "goodput_mbps", "mean_delay_ms", "bottleneck",
        (("flow.tcp.count", "2"),), KERNEL_TCP,
    ),
    Cell("one-cubic", "RFC 7928: one CUBIC flow", DELAY, "mean_delay_ms", "utilization", QUEUE, SLOW),
    Cell(
        "beside-udp", "RFC 7928: UDP at 0.75 of the link beside one flow", DELAY, "mean_delay_ms", "utilization", QUEUE,
        SLOW,
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Runs:
    """The runs of a cell with one of its curves."""

    world: World
    cell: Cell
    body: str
    file: Path

    @property
    def overrides(self) -> dict[str, str]:
        """Condition and queue."""
        return {**dict(self.cell.overrides), f"queue.{self.cell.queue}": self.body}

    def scenario(self) -> Scenario:
        """Load the scenario with its overrides."""
        return Scenario.load(self.file, overrides=self.overrides)

    @property
    def live(self) -> LiveRuns:
        """Return the runs themselves."""
        return LiveRuns(self.scenario(), self.file, self.overrides, STORE, self.world.words, self.world.bottleneck)

    def job(self, seed: int) -> Job:
        """Return the job of a live run."""
        curve = "free curve" if "points" in self.body else "RED"
        name = f"{self.world.name}, {self.cell.key}, {curve}, seed {seed}"
        return self.live.job(name, seed)


def make_pairs(settings: Mapping[tuple[str, str], Bodies], world: World, *, pairs: int | None = None) -> bool:
    """Do the runs that are missing, the two of a pair one after the other, and write them to the table of pairs.

    Return whether all pairs are there.
    """
    STORE.mkdir(parents=True, exist_ok=True)
    pairs = pairs or world.pairs
    found = [_runs_of(world, cell, settings[cell.title, cell.goal]) for cell in cells_of(world)]
    # Every other pair begins with the free curve.
    jobs = [
        one.job(seed)
        for seed in range(1, pairs + 1)
        for both in found
        for one in (both if seed % 2 else both[::-1])
        if one.live.lacks(seed)
    ]
    missing = LiveJobs(world.side_by_side, 60 * MINUTES).do(jobs)
    others = [row for row in read_rows(TABLE) if row["world"] != world.name]
    rows = [*others, *(row for both in found for row in _rows(both, pairs))]
    write_rows(TABLE, FIELDS, sorted(rows, key=lambda row: row["world"] != LIVE.name))
    return not missing


def cells_of(world: World) -> list[Cell]:
    """Return the cells that are run there."""
    return [cell for cell in CELLS if cell.in_kernel or world is LIVE]


def _runs_of(world: World, cell: Cell, bodies: Bodies) -> tuple[Runs, Runs]:
    file = STORE / f"{cell.key}.toml"
    file.write_text(cell.scenario(), encoding="utf-8")
    red, free = (Runs(world, cell, body, file) for body in bodies)
    return red, free


def _rows(both: tuple[Runs, Runs], pairs: int) -> Iterator[dict[str, str]]:
    """Yield a row for each pair of valid runs."""
    cell = both[0].cell
    seeds = [seed for seed in range(1, pairs + 1) if not any(one.live.lacks(seed) for one in both)]
    if not seeds:
        return
    results = [Result.load(one.live.folder, seeds=seeds).metrics().set_index("seed") for one in both]
    late = [certificates_in(one.live.folder, seeds) for one in both]
    for seed in seeds:
        values = {name: found.loc[seed] for name, found in zip(CURVES, results, strict=True)}
        p99 = [one[seed]["measured"].get("lateness_us", {}).get("p99") for one in late]
        yield {
            "world": both[0].world.name,
            "case": cell.key,
            "settings": digest(both[0].body, both[1].body),
            "seed": str(seed),
            **{name: f"{found[cell.metric]:.8g}" for name, found in values.items()},
            **{f"{name}_bound": f"{found[cell.bound]:.8g}" for name, found in values.items()},
            **{f"{name}_{key}": f"{found.get(key, np.nan):.6g}" for name, found in values.items() for key in BESIDE},
            "lateness_p99_us": "" if None in p99 else f"{max(p99):.0f}",
        }


def digest(red: str, free: str) -> str:
    """Return the name of two settings in the table."""
    return hashlib.sha256(f"{red}\n{free}".encode()).hexdigest()[:8]


def settings_of(page: str) -> dict[tuple[str, str], Bodies]:
    """Read the settings of search 1 from the page, by scenario and goal."""
    found = {}
    for line in page.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 4 and all(cell.startswith("`{") for cell in cells[2:]):
            red, free = (cell.strip("`") for cell in cells[2:])
            found[cells[0], cells[1]] = (red, free)
    if not found:
        raise InputError("free-curve.md has no settings: `python validation/validate.py free-curve` writes them")
    return found


def section(settings: Mapping[tuple[str, str], Bodies]) -> list[str]:
    """Write the lines of the page on pairs with real TCP."""
    rows = read_rows(TABLE)
    late = [float(row["lateness_p99_us"]) for row in rows if row["lateness_p99_us"]]
    table = [line for cell in CELLS for line in _lines(cell, settings[cell.title, cell.goal], rows)]
    outcomes = {one.name: [words for _, _, name, *_, words in table if name == one.name] for one in WORLDS}
    return [
        HEADING,
        "",
        "Differences with real TCP that agree with the simulated ones:",
        "",
        *(
            f"* {name}: the sign in {sum('same sign' in words for words in found)} of {len(found)} cases, the size in "
            f"{sum('same size' in words for words in found)}"
            for name, found in outcomes.items()
        ),
        "",
        "`sudo .venv/bin/python validation/free_curves.py --live` runs settings of search 1 with this machine's TCP in",
        "network namespaces ([live runs](../live.md)), at the condition where the goal of tuned RED is worst in",
        "simulation. A pair is a run with RED's curve and one with the free curve, begun one after the other with the",
        f"same seed; every other pair begins with the free curve. At most {LIVE.side_by_side:g} links of 7 to 10 Mb/s",
        "ran at a time, on a machine with other work; a run outside the limits of its certificate is repeated.",
        "`--kernel` runs pairs in the [emulated machine](../live-vm.md), with the queue as a kernel module in",
        "integers, and the core replays every decision. `free-curve-live.csv` has each pair.",
        "",
        "The first scenario has the kernel's Reno with packets of 1000 bytes in place of ns-2's NewReno, so its",
        "differences are not those above. *Simulated* is the same scenario with the simulator's TCP,",
        f"{SIMULATED} pairs. All differences are free curve - tuned RED. *Same sign*: both intervals are on one side",
        "of 0; *same size*: the interval of real - simulated (Welch) contains 0.",
        "",
        "| scenario | goal | TCP | pairs | RED's curve | free curve | difference | simulated | real - simulated "
        "| outcome |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---|",
        *(f"| {' | '.join(cells)} |" for cells in table),
        "",
        *([f"Lateness of live departures, 99 % quantile: {min(late):.0f} to {max(late):.0f} us.", ""] if late else []),
        "Loss and time-outs, live and simulated. Jain's index is worst at 50 flows, where a fifth of the packets is",
        "lost. There the simulator's TCP times out more often than the kernel's, with either curve. With the kernel's "
        "TCP no",
        "gain in Jain's index was found, and it is smaller than with the simulator's.",
        "",
        "| scenario | goal | loss, RED's curve: live, simulated | free curve | time-outs, RED's curve | free curve |",
        "|---|---|---:|---:|---:|---:|",
        *(line for cell in CELLS for line in _beside(cell, settings[cell.title, cell.goal], rows)),
        "",
    ]


def _beside(cell: Cell, bodies: Bodies, rows: Iterable[Mapping[str, str]]) -> Iterator[str]:
    """Yield the row of a cell in the table of further quantities."""
    own = [
        row for row in rows if (row["world"], row["case"], row["settings"]) == (LIVE.name, cell.key, digest(*bodies))
    ]
    if len(own) < 2:
        return
    cells = []
    for key in BESIDE:
        unit = quantity(key).shown_unit
        for name, body in zip(CURVES, bodies, strict=True):
            both = [float(row[f"{name}_{key}"]) for row in own], list(_simulated(cell, body)[key])
            live, simulated = (_text(key, float(np.mean(values))) for values in both)
            cells.append(f"{live}, {simulated}{f' {unit}' if unit else ''}")
    yield f"| {_where(cell)} | {cell.goal} | {' | '.join(cells)} |"


def _where(cell: Cell) -> str:
    """Return scenario and condition in words."""
    return ", ".join([cell.title, *(f"{key.rpartition('.')[2]}={value}" for key, value in cell.overrides)])


def _lines(cell: Cell, bodies: Bodies, rows: Iterable[Mapping[str, str]]) -> Iterator[list[str]]:
    """Yield the cells of a row of the table for each world in which the cell was run with these settings."""
    red, free = bodies
    found = [row for row in rows if (row["case"], row["settings"]) == (cell.key, digest(red, free))]
    simulated = [np.asarray(_simulated(cell, body)[cell.metric]) for body in bodies] if found else []
    for world in WORLDS:
        own = [row for row in found if row["world"] == world.name]
        if len(own) > 1:
            yield _line(cell, world, own, simulated)


def _line(cell: Cell, world: World, rows: Sequence[Mapping[str, str]], simulated: Sequence[np.ndarray]) -> list[str]:
    metric, bound = quantity(cell.metric), quantity(cell.bound)
    real = [np.array([float(row[name]) for row in rows]) for name in CURVES]
    kept = [float(np.mean([float(row[f"{name}_bound"]) for row in rows])) for name in CURVES]
    unit = f" {metric.shown_unit}" if metric.shown_unit else ""
    bound_unit = f" {bound.shown_unit}" if bound.shown_unit else ""
    held = [f"{bound.title.lower()} {_text(cell.bound, at)}{bound_unit}" for at in kept]
    means = [
        f"{_text(cell.metric, mean_interval(values)[0])}{unit}, {words}"
        for values, words in zip(real, held, strict=True)
    ]
    apart = [difference_of(cell.metric, both[1], both[0]).difference.interval for both in (real, simulated)]
    beyond = welch(real[1] - real[0], simulated[1] - simulated[0]).interval
    shown = [_text(cell.metric, one, signed=True) for one in (*apart, beyond)]
    return [_where(cell), cell.goal, world.name, str(len(rows)), *means, *shown, outcome(apart[0], apart[1], beyond)]


def _text(key: str, value: Interval | float, *, signed: bool = False) -> str:
    if not isinstance(value, Interval):
        return in_unit(quantity(key), value, value, value)
    return in_unit(quantity(key), value.mean, value.low, value.high, signed=signed)


@cache
def _simulated(cell: Cell, body: str) -> pd.DataFrame:
    plan = Scenario.from_text(
        cell.scenario(), filename=cell.key, overrides={**dict(cell.overrides), f"queue.{cell.queue}": body}
    )
    return aqmlab.run(plan, seeds=SIMULATED, out=None, progress=False, workers=1).metrics()


def outcome(real: Interval, simulated: Interval, beyond: Interval) -> str:
    """Compare real and simulated differences in words; `beyond` is the interval of real - simulated."""
    size = "same size" if beyond.low <= 0 <= beyond.high else "other size"
    signs = [np.sign(one.low) if one.low * one.high > 0 else 0 for one in (real, simulated)]
    for sign, world in zip(signs, ("real", "simulated"), strict=True):
        if not sign:
            return f"undecided {world}, {size}"
    return f"same sign, {size}" if signs[0] == signs[1] else "opposite sign"
