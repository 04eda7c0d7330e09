"""The best free monotone curve of RED for a goal, beside RED's own curve with the same search, on fresh seeds.

The page of `make validate`. About ten minutes on two cores. `--live` runs some of the answers with real TCP, in half an
hour (root or user namespaces), `--kernel` also with the queue in an emulated kernel (QEMU); both rewrite only their
section of the page.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import aqmlab
from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting import plots
from aqmlab.results.quantities import Quantity
from aqmlab.rfc7928.network import QUEUE
from aqmlab.scenario.toml_text import inline
from aqmlab.statistics import Interval, mean_interval
from aqmlab.tuning.free_curve import POINTS
from aqmlab.tuning.measurements import Body
from aqmlab.tuning.outcome import Tuned
from aqmlab.tuning.tuned_outcome import in_unit
from aqmlab.tuning.verification import Against, confirmed, fresh_seeds
from compare_frontiers import CASES, REPORT, SEARCHES, Case
from live_pairs import HEADING, KERNEL, LIVE, make_pairs, section, settings_of

TITLE = "The best free monotone curve"
TRIALS, FRESH = 80, 20
TUNED_RED = "tuned RED"
LINEAR, FREE = ["curve=linear"], [f"curve={POINTS}"]


@dataclass(frozen=True)
class Goal:
    """A goal with its bounds, as `aqmlab tune` has them."""

    words: str
    minimize: str | None = None
    maximize: str | None = None
    keep: tuple[str, ...] = ()


DELAY = Goal("mean delay, utilization >= 98 %", minimize="mean_delay_ms", keep=("utilization>=0.98",))
GOALS = (
    DELAY,
    Goal("99 % quantile of the delay, utilization >= 98 %", minimize="delay_p99_ms", keep=("utilization>=0.98",)),
    Goal("goodput, mean delay <= 10 ms", maximize="goodput_mbps", keep=("mean_delay_ms<=10",)),
    Goal("loss, mean delay <= 20 ms", minimize="loss", keep=("mean_delay_ms<=20",)),
    Goal("Jain's index, mean delay <= 20 ms", maximize="jain", keep=("mean_delay_ms<=20",)),
)
SEVERAL = CASES[1]
"""The scenario with all goals; the others have the first."""
FLOWS, RATE = ("flows=2:20",), ("rate=7Mbps:14Mbps",)
"""Varied conditions of the other examples, and of the scenarios of RFC 7928 with a constant rate."""
CONSTANT = ("5.2", "5.3 between", "8.2.2", "8.2.4", "7.2 IV")


@dataclass(frozen=True)
class Found:
    """The answers of one search: RED's curve tuned, and the free curve tuned, which began there."""

    linear: Tuned
    free: Tuned

    @property
    def against(self) -> Against | None:
        """The free curve against tuned RED on the same fresh seeds; None if the search found nothing else."""
        return next((one for one in self.free.against if one.reference.name == TUNED_RED), None)

    def in_integers(self) -> np.ndarray:
        """The goal of the free curve in the arithmetic of a kernel module, by seed, less that in floating point."""
        rerun = self.free.rerun
        assert rerun is not None
        seeds = fresh_seeds(FRESH)
        bodies: list[Body] = [self.free.body, {**self.free.body, "arithmetic": "integer"}]
        measured = rerun.bench.measure(bodies, rerun.points, seeds, title="integers")
        exact, integer = (
            confirmed("free curve", body, self.free.task, rerun.points, one).per_seed
            for body, one in zip(bodies, measured, strict=True)
        )
        return np.asarray(integer - exact)

    @property
    def verdict(self) -> str:
        """The verdict on the free curve."""
        return self.against.verdict if self.against else "the same"


def report() -> tuple[str, bool]:
    """Return the page, and whether no search contradicts the other."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            (case, goal, [_search(case, goal, seed, Path(folder)) for seed in SEARCHES])
            for case, goal in [*((SEVERAL, goal) for goal in GOALS), *((case, DELAY) for case in _others())]
        ]
    agree = all({"better", "worse"} - {one.verdict for one in both} for _, _, both in rows)
    plots.save_as(
        _chart([found for case, _, both in rows if case is SEVERAL for found in both[:1]]),
        REPORT / "free-curve.svg",
        size="wide",
    )
    settings = _settings(rows)
    return "\n".join([*_head(rows), *settings, *section(settings_of("\n".join(settings)))]), agree


def _others() -> list[Case]:
    return [case for case in CASES if case.example not in ("", SEVERAL.example) or case.section in CONSTANT]


def _over(case: Case) -> tuple[str, ...]:
    return case.over or (RATE if case.section else FLOWS)


def _search(case: Case, goal: Goal, seed: int, folder: Path) -> Found:
    print(f"{case.title}, {goal.words}: search {seed}", file=sys.stderr, flush=True)
    plan, queue = case.scenario(), QUEUE if case.section else "bottleneck"
    asked: dict[str, Any] = {
        "minimize": goal.minimize, "maximize": goal.maximize, "keep": goal.keep, "over": _over(case), "queue": queue,
        "trials": TRIALS, "seeds": 2, "fresh": FRESH, "search_seed": seed, "best_anyway": True, "progress": False,
        "store": folder,
    }  # fmt: skip
    linear = aqmlab.tune(plan, aqm="red", vary=LINEAR, **asked)
    from_there = plan.with_overrides({f"queue.{queue}": inline(linear.body)})
    free = aqmlab.tune(from_there, vary=FREE, against_settings={TUNED_RED: linear.body}, **asked)
    return Found(linear, free)


def _head(rows: Sequence[tuple[Case, Goal, list[Found]]]) -> list[str]:
    count = sum(all(one.verdict == "better" for one in both) for _, _, both in rows)
    return [
        "Written by `validation/free_curves.py` (`make validate` calls it). RED's linear curve is tuned: its",
        f"thresholds, max_p and w_q, in {TRIALS} trials. From there a free curve is tuned in as many: it rises from",
        "0 at min_th through p_b at a quarter, half and three quarters of the way to max_p at max_th, and then to 1",
        f"at up to three times max_th. Both run on the same {FRESH} to {4 * FRESH} fresh seeds, at the conditions of",
        "the search and at new ones; each goal counts at its worst condition. A second search has other trials and",
        "other seeds.",
        "",
        f"The free curve is better in both searches in {count} of {len(rows)} rows. The difference is free curve -",
        "tuned RED with its 95 % interval; verdicts are Holm-corrected. The last column has the free curve with",
        '`arithmetic = "integer"`, as in a kernel module, less that in floating point, on the same seeds.',
        "Where no setting keeps the bound, the settings are those nearest to it, and the verdict is undecided.",
        "",
        "![Curves of tuned RED and free curves](free-curve.svg)",
        "",
        "| scenario | goal | RED's curve | free curve | difference | search 1 | search 2 | in integers |",
        "|---|---|---:|---:|---:|---|---|---:|",
        *(f"| {' | '.join(_row(*row))} |" for row in rows),
        "",
    ]


def _row(case: Case, goal: Goal, both: Sequence[Found]) -> list[str]:
    first = both[0]
    metric, against = first.free.task.goal.metric, first.against
    own = first.linear.confirmed if against is None else against.reference
    values = [in_unit(metric, one.goal.mean, one.goal.low, one.goal.high) for one in (own, first.free.confirmed)]
    apart = "0"
    if against is not None:
        apart = _apart(metric, against.compared.difference.interval)
    unit = f" {metric.shown_unit}" if metric.shown_unit else ""
    return [
        f"{case.title}, {', '.join(_over(case))}", goal.words, f"{values[0]}{unit}", values[1], apart,
        *(one.verdict for one in both), _apart(metric, mean_interval(first.in_integers())[0]),
    ]  # fmt: skip


def _apart(metric: Quantity, found: Interval) -> str:
    return in_unit(metric, found.mean, found.low, found.high, signed=True)


def _settings(rows: Sequence[tuple[Case, Goal, list[Found]]]) -> list[str]:
    lines = ["## Settings of search 1", "", "| scenario | goal | RED's curve | free curve |", "|---|---|---|---|"]
    for case, goal, (first, *_) in rows:
        bodies = [f"`{inline(one.body)}`" for one in (first.linear, first.free)]
        lines.append(f"| {case.title} | {goal.words} | {' | '.join(bodies)} |")
    return [*lines, ""]


def _chart(found: Sequence[Found]) -> Chart:
    """Return the curves of the answers, p_b against the average in packets."""
    series = []
    for number, one in enumerate(found):
        for color, (name, tuned) in enumerate([("RED", one.linear), ("free curve", one.free)]):
            at = _points(tuned)
            series.append(
                Series(f"{name}, {GOALS[number].words.partition(',')[0]}", [x for x, _ in at], [p for _, p in at],
                       mode="line", color=2 * number + color)
            )  # fmt: skip
    text = f"Drop probability against the average queue of tuned RED and of free curves for {len(found)} goals."
    return Chart("free-curve", SEVERAL.title, text, "average queue, packets", "p_b", series)


def _points(tuned: Tuned) -> list[tuple[float, float]]:
    """Return the points of a curve; RED's is 1 from max_th on."""
    body: dict[str, Any] = tuned.body
    if POINTS in body:
        return [(x, p) for x, p in body[POINTS]]
    low, high = (float(body[key].removesuffix("p")) for key in ("min_th", "max_th"))
    return [(low, 0.0), (high, body["max_p"]), (high, 1.0)]


def main() -> int:
    """Run pairs of the answers on the page with real TCP, and rewrite their section."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--live", dest="worlds", action="append_const", const=LIVE, help="pairs in network namespaces")
    words.add_argument("--kernel", dest="worlds", action="append_const", const=KERNEL, help="pairs in a kernel")
    words.add_argument(
        "--pairs", type=int, help=f"pairs of each case (default: live {LIVE.pairs}, kernel {KERNEL.pairs})"
    )
    asked = words.parse_args()
    if not asked.worlds:
        words.error("one of the arguments --live --kernel is required")
    page = REPORT / "free-curve.md"
    begin = page.read_text(encoding="utf-8").partition(HEADING)[0].rstrip("\n")
    settings = settings_of(begin)
    # Started in the background of a shell, a program ignores Ctrl-C; either signal ends the runs under way.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        incomplete = [world.name for world in asked.worlds if not make_pairs(settings, world, pairs=asked.pairs)]
    except KeyboardInterrupt:
        print("interrupted; finished runs are kept", file=sys.stderr)
        return 130
    page.write_text("\n".join([begin, "", *section(settings)]), encoding="utf-8")
    return 1 if incomplete else 0


if __name__ == "__main__":
    sys.exit(main())
