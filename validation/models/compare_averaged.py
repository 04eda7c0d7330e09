"""Compares the chain of number in system and average with simulations of the open loop at w_q = 0.02.

A page of `make validate`.
"""

from __future__ import annotations

import csv
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from aqmlab import _core
from aqmlab.papers.exred.plan import QUEUE, SERVICE_RATE
from aqmlab.scenario.toml_text import inline
from aqmlab.statistics import Interval, interval
from aqmlab.theory import AveragedChain, DropCurve, consecutive_drops, solve_averaged_chain, solve_chain

ROOT = Path(__file__).resolve().parents[2]
INDEPENDENT = ROOT / "tests" / "data" / "oracle" / "exred_open_loop.csv"
CURVES = ("red", "gentle-red", "mred", "exred")
LOADS = (0.8, 0.9, 1.0, 1.1, 1.2, 1.5, 2.0)
CAPACITY, W_Q = 100, 0.02
SEEDS = 10
ARRIVALS, RARE_ARRIVALS = 2_000_000, 10_000_000
"""Arrivals of a run; at loads below 1, where drops are rare, the second."""
BOUND = 0.02
"""Largest relative difference of the chain and the mean of the simulations."""
WORKERS = 2
Numbers = tuple[float, float, float]
"""P_drop, E(N), delay in ms."""
MEASURES = ("P_drop", "E(N)", "delay, ms")


@dataclass(frozen=True)
class Point:
    """A measure of a curve at a load: two chains, and the simulation."""

    curve: str
    load: float
    measure: str
    chain: float
    plain_chain: float
    simulated: Interval

    @property
    def gap(self) -> float:
        """Relative difference of the chain with the average and the simulation."""
        return self.chain / self.simulated.mean - 1

    @property
    def precision(self) -> float:
        """Half the simulation's 95 % interval, relative."""
        return self.simulated.half_width / self.simulated.mean

    @property
    def shown(self) -> bool:
        """Whether the difference is within the bound or, where the simulation is not so precise, in its interval."""
        inside = self.simulated.low <= self.chain <= self.simulated.high
        return abs(self.gap) <= BOUND or (self.precision > BOUND and inside)

    def row(self) -> str:
        """Return the row of the table."""
        found = self.simulated
        return (
            f"| {self.curve} | {self.load} | {self.measure} | {self.chain:.5g} | {found.mean:.5g} ± "
            f"{found.half_width:.2g} | {self.gap:+.2%} | {self.precision:.2%} | "
            f"{self.plain_chain / found.mean - 1:+.1%} | {'yes' if self.shown else '**no**'} |"
        )


def run(job: tuple[str, float, int]) -> Numbers:
    """Simulate one curve at one load with one seed."""
    curve, load, seed = job
    queue = "\n".join(f"{key} = {inline(value)}" for key, value in ({"aqm": curve} | QUEUE).items())
    arrivals = RARE_ARRIVALS if load < 1 else ARRIVALS
    found = _core.open_loop(queue, load * SERVICE_RATE, SERVICE_RATE, arrivals, arrivals // 20, seed)
    return _number(found["p_drop"]), _number(found["mean_run"]), _number(found["mean_wait_s"]) * 1e3


def chains(curve: str, load: float) -> tuple[AveragedChain, Numbers, Numbers]:
    """Solve both chains."""
    drops = DropCurve.of(curve, min_th=10, max_th=30, max_p=0.1, limit=CAPACITY)
    full = solve_averaged_chain(drops, load=load, capacity=CAPACITY, w_q=W_Q, service_rate=SERVICE_RATE)
    plain = solve_chain(drops, load=load, capacity=CAPACITY, service_rate=SERVICE_RATE)
    run_length = math.nan if full.mean_run is None else full.mean_run
    return (
        full,
        (full.p_drop, run_length, full.mean_wait * 1e3),
        (plain.p_drop, consecutive_drops(plain).mean_run, plain.mean_wait * 1e3),
    )


def independent(curve: str, load: float) -> list[Numbers]:
    """Return the runs of a simulation by a program of its own."""
    with INDEPENDENT.open() as file:
        return [
            (float(row["P_drop"]), float(row["E_N_run"]), float(row["D_wait"]) * 1e3)
            for row in csv.DictReader(file)
            if row["algo"] == curve.replace("-", "_") and float(row["load"]) == load
        ]


def points() -> tuple[list[Point], list[Point], list[AveragedChain]]:
    """Compute everything: against our simulation, against the independent one, and the chains."""
    jobs = [(curve, load, seed) for curve in CURVES for load in LOADS for seed in range(1, SEEDS + 1)]
    with ProcessPoolExecutor(WORKERS) as pool:
        runs = dict(zip(jobs, pool.map(run, jobs), strict=True))
    ours: list[Point] = []
    theirs: list[Point] = []
    solved: list[AveragedChain] = []
    for curve in CURVES:
        for load in LOADS:
            full, numbers, plain = chains(curve, load)
            solved.append(full)
            own = [runs[curve, load, seed] for seed in range(1, SEEDS + 1)]
            for found, samples in ((ours, own), (theirs, independent(curve, load))):
                for i, measure in enumerate(MEASURES):
                    simulated = interval([sample[i] for sample in samples])
                    found.append(Point(curve, load, measure, numbers[i], plain[i], simulated))
    return ours, theirs, solved


def table(found: list[Point]) -> str:
    """Return a table in markdown."""
    head = (
        "| curve | load | measure | chain (q, average) | simulation | gap | its 95 % half-width | gap of the chain "
        "without averaging | shown |\n|---|---|---|---|---|---|---|---|---|\n"
    )
    return head + "\n".join(point.row() for point in found)


def largest(found: list[Point], measure: str) -> str:
    """Return the largest gap of a measure, and that of the chain without averaging."""
    own = [p for p in found if p.measure == measure]
    precise = [p for p in own if p.precision <= BOUND]
    most = max(abs(p.gap) for p in precise)
    plain = max(abs(p.plain_chain / p.simulated.mean - 1) for p in own)
    return f"| {measure} | {most:.2%} | {len(precise)} of {len(own)} | {plain:.0%} |"


def report() -> tuple[str, bool]:
    """Return the page, and whether everything in it is shown."""
    ours, theirs, solved = points()
    summary = "\n".join(largest(ours, measure) for measure in MEASURES)
    text = f"""ExRED's open loop at w_q = {W_Q}, mu = {SERVICE_RATE:g} packets/s, K = {CAPACITY}, k_l = 10, k_h = 30,
max_p = 0.1, real exponent, no spacing of drops. The chain of (number in system, average) is
`aqmlab.theory.solve_averaged_chain` with its default grid ({min(c.states for c in solved)} to \
{max(c.states for c in solved)} states; largest residual of a
balance {max(c.residual for c in solved):.0e} mu). The simulation is ours, {SEEDS} seeds of {ARRIVALS:,} arrivals
({RARE_ARRIVALS:,} at loads below 1), the same seeds at every curve. A gap is chain/simulation - 1. Shown: a gap of at
most {BOUND:.0%}, or, where half the simulation's own 95 % interval is wider than that, a chain inside the interval.

| measure | largest gap where the simulation is known to {BOUND:.0%} | points | largest gap without averaging |
|---|---|---|---|
{summary}

{table(ours)}

## An independent simulation

Five runs of 2,000,000 arrivals of a program of its own.

{table(theirs)}"""
    return text, all(point.shown for point in [*ours, *theirs])


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else math.nan
