"""The congestion window of the kernel's Reno and CUBIC compared with the simulator's, from the first loss on.

One greedy flow goes through a drop-tail queue, live and simulated, so that chance has no part but the machine's own
lateness. `report` is the page ``docs/validation/kernel.md``. Runs that are in ``results/kernel`` already, and are
valid, are not done again. Needs root (or user namespaces) and SCHED_FIFO.

    python validation/compare_kernel.py [--runs 3] [--side-by-side 3] [--minutes 60]
"""

from __future__ import annotations

import argparse
import platform
import signal
import sys
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import aqmlab
from aqmlab.live.agreement import group_goodput
from aqmlab.results.result import Result
from aqmlab.scenario.file import Scenario
from live_jobs import Job, LiveJobs
from live_runs import LiveRuns

TITLE = "The kernel's TCP window compared with the simulator's"
ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "tests" / "data" / "kernel" / "window.toml"
STORE = ROOT / "results" / "kernel"
RUNS, SIDE_BY_SIDE, MINUTES = 3, 3.0, 60.0
WINDOW_WITHIN, GOODPUT_WITHIN = 0.10, 0.03
"""Bounds of the median relative difference of windows, and of the relative difference of goodput."""
REDUCED = 0.95
"""A threshold below this share of the greatest window so far is a loss's; HyStart sets it to the window itself."""
PAGE = f"""One greedy flow of Linux {{kernel}} through a drop-tail queue of 50 packets at 10 Mb/s in user space, and
the same file simulated with `profile = "rfc"`. Both windows are sampled every round trip (the live run's mean) from the
first loss on, at the same time since that loss. The difference is |simulated - live| / live; its median over all
samples of a row, of up to {RUNS} live runs of 48 s with valid certificates, is to be at most {WINDOW_WITHIN:.0%}, and
the goodput of each behind the warm-up of 8 s within {GOODPUT_WITHIN:.0%}. A simulation of one flow has no chance in it,
and is one run. The kernel's runs have a little: `among themselves` is the same median between the two that differ most.

"""
REASON = """
Where windows differ, it is by a phase: once a sequence of losses has begun, reductions follow each other at the same
distances in both worlds. Which sequence it is depends on how slow start ends, and the kernel's own runs take now one
sequence and now the other, so that some runs agree with the simulation as it is and others with that of
`window_growth = true`, in which the receiver's window grows as the kernel's and an acknowledgement of each segment
announces it. CUBIC ends slow start by a train of acknowledgements at most 2 ms apart, a segment takes 1.2 ms here,
and so a train needs one for each. That this is what differs between runs of the kernel is concluded from these numbers
and from captures of its acknowledgements; it was not traced inside the kernel.
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """A congestion control on a path."""

    control: str
    rtt_ms: int

    @property
    def words(self) -> str:
        """Which one it is."""
        return f"{self.control}, {self.rtt_ms} ms"

    @property
    def overrides(self) -> dict[str, str]:
        """Return the overrides of the file: half of the round trip each way, half of that on the bottleneck."""
        quarter = self.rtt_ms / 4
        return {
            "flow.tcp.tcp.congestion_control": self.control,
            "dumbbell.bottleneck.delay": f"{quarter:g}ms",
            "dumbbell.left.delay": f"{quarter / 2:g}ms",
            "dumbbell.right.delay": f"{quarter / 2:g}ms",
        }

    @cache  # noqa: B019 - there are few of them, for as long as the program runs
    def scenario(self) -> Scenario:
        """Return it."""
        return Scenario.load(FILE, overrides=self.overrides)

    @property
    def runs(self) -> LiveRuns:
        """Return its live runs."""
        return LiveRuns(self.scenario(), FILE, self.overrides, STORE)

    def job(self, seed: int) -> Job:
        """Return the live run of this number."""
        return self.runs.job(f"{self.words}, run {seed}", seed)

    def simulated(self, *, window_growth: bool = False) -> Result:
        """Return its simulation, or that with a receiver whose window grows."""
        scenario = self.scenario()
        if window_growth:
            scenario = scenario.with_overrides({"flow.tcp.tcp.window_growth": "true"})
        return aqmlab.run(scenario, seeds=1, out=None, progress=False)


SETTINGS = tuple(Setting(control, rtt_ms) for control in ("reno", "cubic") for rtt_ms in (20, 40, 80))


@dataclass(frozen=True)
class Window:
    """The window of one run against time, and when its threshold was first set by a loss, in s."""

    t_s: Floats
    cwnd: Floats
    first_loss_s: float

    @classmethod
    def of(cls, result: Result, seed: int) -> Window:
        """Read the run of this seed."""
        samples = result.cwnd_samples
        own = samples[samples["seed"] == seed]
        t_s, cwnd, ssthresh = (own[name].to_numpy(dtype=float) for name in ("t_s", "cwnd", "ssthresh"))
        by_loss = ssthresh < REDUCED * np.maximum.accumulate(cwnd)
        return cls(t_s, cwnd, float(t_s[np.argmax(by_loss)]))

    def at(self, since_loss_s: Floats) -> Floats:
        """Return the window at these times since the first loss: the last sample before."""
        place = np.searchsorted(self.t_s, self.first_loss_s + since_loss_s, side="right") - 1
        return np.asarray(self.cwnd[np.maximum(place, 0)])

    @property
    def span_s(self) -> float:
        """How long it was observed after the first loss."""
        return float(self.t_s[-1] - self.first_loss_s)

    def reductions(self) -> list[float]:
        """Return when it fell from a peak, in s since the first loss: once until it rises again."""
        found: list[float] = []
        peak, least, falls = 0.0, 0.0, False
        for t_s, cwnd in zip(self.t_s - self.first_loss_s, self.cwnd, strict=True):
            if falls:
                least = min(least, cwnd)
                falls = cwnd <= least
                peak = cwnd
            else:
                peak = max(peak, cwnd)
                if falls := t_s >= 0 and cwnd < FALL * peak:
                    found.append(float(t_s))
                    least = cwnd
        return found


FALL = 0.85
"""A reduction takes the window below this share of its peak."""


@dataclass(frozen=True)
class Pair:
    """A live run beside the simulation.

    Attributes
    ----------
    apart
        Relative differences of windows, a round trip from one to the next.
    mbps
        Goodput, live and simulated.
    reductions, period_s
        How often the window was reduced, and the mean time between, live and simulated.
    """

    apart: Floats
    mbps: tuple[float, float]
    reductions: tuple[int, int]
    period_s: tuple[float, float]

    @property
    def goodput(self) -> float:
        """Relative difference of goodput."""
        return self.mbps[1] / self.mbps[0] - 1


def differences(one: Window, other: Window, rtt_s: float) -> Floats:
    """Return how far the other is from the one, relative to it, every round trip from the first loss on."""
    times = np.arange(0, min(one.span_s, other.span_s), rtt_s)
    return np.asarray(np.abs(other.at(times) - one.at(times)) / one.at(times))


def pair(live: Result, seed: int, simulated: Result) -> Pair:
    """Lay a live run and the simulation over each other."""
    number = simulated.seeds[0]
    own, other = Window.of(live, seed), Window.of(simulated, number)
    reductions = own.reductions(), other.reductions()
    return Pair(
        differences(own, other, round_trip_s(live, seed)),
        (float(group_goodput(live)["tcp"][seed]), float(group_goodput(simulated)["tcp"][number])),
        (len(reductions[0]), len(reductions[1])),
        (_period(reductions[0]), _period(reductions[1])),
    )


def among(live: Result) -> float:
    """Return the greatest median difference between two live runs; NaN if there is one."""
    windows = [Window.of(live, seed) for seed in live.seeds]
    rtt_s = round_trip_s(live, live.seeds[0])
    return max((float(np.median(differences(a, b, rtt_s))) for a, b in combinations(windows, 2)), default=float("nan"))


def each(pairs: list[Pair]) -> str:
    """Return the median difference of each pair."""
    return ", ".join(f"{np.median(one.apart):.1%}" for one in pairs)


def round_trip_s(live: Result, seed: int) -> float:
    """Return the mean round-trip time of a run."""
    return float(live.flows.loc[live.flows["seed"] == seed, "mean_rtt_s"].iloc[0])


def _period(reductions: list[float]) -> float:
    return float(np.mean(np.diff(reductions))) if len(reductions) > 1 else float("nan")


def do_runs(*, runs: int = RUNS, side_by_side: float = SIDE_BY_SIDE, minutes: float = MINUTES) -> None:
    """Do the live runs that are missing."""
    jobs = [one.job(seed) for seed in range(1, runs + 1) for one in SETTINGS if one.runs.lacks(seed)]
    missing = LiveJobs(side_by_side, 60 * minutes).do(jobs)
    print(f"{len(missing)} runs are missing" if missing else "all runs are there", flush=True)


def report(minutes: float = MINUTES) -> tuple[str, bool]:
    """Do the runs that are missing, and write the page: its text, and whether everything on it is shown."""
    do_runs(minutes=minutes)
    return page()


def page(*, runs: int = RUNS) -> tuple[str, bool]:
    """Write the page over the runs that there are."""
    rows, shown = [], True
    for setting in SETTINGS:
        live = setting.runs.valid(range(1, runs + 1))
        if live is None:
            rows.append(f"| {setting.words} | 0 | no valid run yet | | | | | | | |")
            shown = False
            continue
        simulated, growing = setting.simulated(), setting.simulated(window_growth=True)
        pairs = [pair(live, seed, simulated) for seed in live.seeds]
        median = float(np.median(np.concatenate([one.apart for one in pairs])))
        furthest = max(pairs, key=lambda one: abs(one.goodput))
        holds = median <= WINDOW_WITHIN and abs(furthest.goodput) <= GOODPUT_WITHIN
        shown = shown and holds and len(pairs) == runs
        worst = max(pairs, key=lambda one: float(np.median(one.apart)))
        columns = (
            setting.words if holds else f"{setting.words}, **fails**",
            str(len(pairs)),
            f"{median:.1%}",
            each(pairs),
            each([pair(live, seed, growing) for seed in live.seeds]),
            f"{among(live):.1%}",
            f"{furthest.mbps[0]:.3f}, {furthest.mbps[1]:.3f}",
            f"{furthest.goodput:+.2%}",
            f"{worst.reductions[0]}, {worst.reductions[1]}",
            f"{worst.period_s[0]:.2f}, {worst.period_s[1]:.2f}",
        )
        rows.append(f"| {' | '.join(columns)} |")
    kernel = ".".join(platform.release().split(".")[:2])
    head = (
        "| control, round trip | runs | median difference | of each run | of each with window_growth "
        "| the kernel's runs among themselves "
        "| goodput in Mb/s, live and simulated | difference | reductions | s between them |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([PAGE.format(kernel=kernel) + head, *rows, REASON]), shown


def main() -> int:
    """Do runs, and show the page."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--runs", type=int, default=RUNS)
    words.add_argument("--side-by-side", type=float, default=SIDE_BY_SIDE)
    words.add_argument("--minutes", type=float, default=MINUTES)
    asked = words.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        do_runs(runs=asked.runs, side_by_side=asked.side_by_side, minutes=asked.minutes)
    except KeyboardInterrupt:
        print("interrupted; runs that were done are kept", file=sys.stderr)
        return 130
    text, shown = page(runs=asked.runs)
    print(text)
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
