"""Tuned RED against ns-2's automatic RED and the papers' settings over three ranges, on fresh seeds.

The page of `make validate`. About five minutes on two cores.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import aqmlab
from aqmlab.reporting import plots
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.toml_text import inline
from aqmlab.statistics import Verdict
from aqmlab.tuning.measurements import Bench, Body, Place
from aqmlab.tuning.ranges import ranges_of, search_points
from aqmlab.tuning.starts import AUTOMATIC
from aqmlab.tuning.verification import Against, Confirmed, Kept, confirm

TITLE = "Tuned settings against automatic RED and the papers'"
REPORT = Path(__file__).resolve().parents[1] / "docs" / "validation"
TRIALS, SEEDS, FRESH = 60, 3, 20
LONGER, LONGER_SEEDS = 100, 5
"""Seconds of the long runs, and their number."""
ENOUGH = 2
"""Ranges, of three, over which the tuned settings must be better than all of `JUDGED`."""

SCENARIO = """\
format = 1
name = "tuning"

[run]
duration = "25s"
warmup = "5s"
seeds = 1

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "bottleneck" }
left = { rate = "100Mbps", delay = "5ms" }
right = { rate = "100Mbps", delay = "5ms" }

[queue.bottleneck]
aqm = "red"
limit = "100p"
min_th = "5p"
max_th = "15p"
max_p = 0.02
w_q = 0.002

[[flow]]
name = "tcp"
count = 20
transport = "newreno"
packet_size = "1000B"
start = { uniform = ["0s", "1s"] }
tcp = { window = "1000p" }
"""
"""The settings in it are those of Floyd and Jacobson 1993, which the papers call RED 5/15."""

PAPERS: dict[str, Body] = {
    "RED 5/15, max_p 0.1": {"aqm": "red", "limit": "100p", "min_th": "5p", "max_th": "15p", "max_p": 0.1, "w_q": 0.002},
    "MRED's paper": {"aqm": "mred", "limit": "100p", "min_th": "10p", "max_th": "30p", "max_p": 0.1, "w_q": 0.002},
    "Adaptive RED": {"aqm": "adaptive-red", "limit": "100p", "min_th": "auto", "max_th": "auto", "w_q": "auto"},
}
FILE = "RED 5/15, max_p 0.02"
JUDGED = (AUTOMATIC, FILE, "RED 5/15, max_p 0.1", "MRED's paper")


@dataclass(frozen=True)
class Case:
    """A range by its name, what varies in it, and the bound; the goal is always the 95 % quantile of the delay."""

    name: str
    over: tuple[str, ...]
    keep: str


CASES = (
    Case("many flows", ("flows=10:100", "rtt=20ms:100ms"), "utilization>=0.95"),
    Case("long paths", ("flows=10:60", "rtt=50ms:200ms"), "utilization>=0.9"),
    Case("slow and fast", ("rate=2Mbps:20Mbps", "flows=10:50"), "utilization>=0.95"),
)


def tuned(case: Case, *, trials: int = TRIALS, seeds: int = SEEDS, fresh: int = FRESH) -> aqmlab.Tuned:
    """Tune over one range."""
    return aqmlab.tune(
        aqmlab.Scenario.from_text(SCENARIO, filename="tuning.toml"),
        minimize="delay_p95",
        keep=[case.keep],
        over=case.over,
        against_settings=PAPERS,
        trials=trials,
        seeds=seeds,
        fresh=fresh,
    )


def report() -> tuple[str, bool]:
    """Return the page's text, and whether what should be shown is."""
    found = {case: tuned(case) for case in CASES}
    better = {case: beats(one) for case, one in found.items()}
    enough = sum(better.values()) >= ENOUGH
    text = [
        paragraph(
            f"`aqmlab tune` of RED over three ranges, {TRIALS} trials on {SEEDS} seeds each: the least 95 % quantile "
            "of the queueing delay at the worst point of the range, while the mean utilization at every point keeps "
            f"its bound. The answer and all others are run on {FRESH} fresh seeds, at the corners and the centre of "
            "the range and at four points inside it that no trial has seen. 25 s a run, 5 s of them warm-up, 1000-byte "
            "packets, NewReno, a buffer of 100 packets."
        ),
        "",
        paragraph(
            "A difference is tuned - other of the 95 % delay in ms at the worst point, with its 95 % interval; p is "
            "corrected for all others of the range (Holm). A setting that keeps the bound is better than one that "
            "breaks it, and than one with a longer delay. Differences that the runs cannot resolve are undecided. "
            f"Since settings may profit from how a run begins, all are run for {LONGER} s too, on {LONGER_SEEDS} seeds "
            "at the corners and the centre: the delay and the least utilization there are in the last column."
        ),
        "",
        paragraph(f"Better than each of {'; '.join(JUDGED)}: on {sum(better.values())} of {len(CASES)} ranges."),
    ]
    for case, one in found.items():
        text += [
            "",
            f"## {case.name}: {', '.join(case.over)}, {case.keep}",
            "",
            *lines(one, better[case], in_long_runs(case, one)),
            "",
        ]
        chart = one.chart()
        png, _ = plots.save_figure(partial(plots.draw, chart=chart), REPORT / f"tuning-{slug(case)}")
        png.unlink()
        text.append(f"![{chart.alt}](tuning-{slug(case)}.svg)")
    return "\n".join(text), enough


def in_long_runs(case: Case, found: aqmlab.Tuned) -> dict[str, Confirmed]:
    """Run the tuned settings and all others four times as long, to check that they are not tuned to a transient."""
    plan = aqmlab.Scenario.from_text(SCENARIO, filename="tuning.toml", overrides={"run.duration": f"{LONGER}s"})
    place = Place(plan, found.queue, found.link)
    points = search_points(ranges_of(case.over, plan))
    bodies = {found.confirmed.name: found.body, **{named(one): one.reference.body for one in found.against}}
    bench = Bench(place, ResultStore(None), points, found.body)
    return {one.name: one for one in confirm(bench, found.task, bodies, points=points, seeds=LONGER_SEEDS)}


def beats(found: aqmlab.Tuned) -> bool:
    """Whether the tuned settings are better than all that are judged."""
    verdicts = {named(one): one.verdict for one in found.against}
    return all(verdicts.get(name) == "better" for name in JUDGED)


def named(one: Against) -> str:
    """Return the name of a reference on the page."""
    return FILE if one.reference.name == "file" else one.reference.name


def lines(found: aqmlab.Tuned, better: bool, long: Mapping[str, Confirmed]) -> Sequence[str]:
    """Return the section of one range."""
    own = found.confirmed
    kept = own.kept[0]
    body = ", ".join(f"{key} = {inline(value)}" for key, value in found.body.items())
    text = [
        paragraph(
            f"{'Better than all that count' if better else 'Not better than all that count'}. The answer: {body}. On "
            f"fresh seeds its delay is {own.goal} ms at worst, its utilization {kept.interval} at {kept.point}, where "
            f"it is least: the bound {words(kept)}. In the long runs: {in_words(long[own.name])}."
        ),
        "",
        f"| other | 95 % delay, ms | least utilization | bound | difference, ms | p | tuned is | in {LONGER} s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for one in found.against:
        apart = one.compared.difference.interval
        text.append(
            f"| {named(one)} | {one.reference.goal} | {one.reference.kept[0].interval} | "
            f"{one.reference.kept[0].verdict.value} | {apart.mean:.2f} ({apart.low:.2f} to {apart.high:.2f}) | "
            f"{one.p:.2g} | {one.verdict} | {in_words(long[named(one)])} |"
        )
    return text


def words(kept: Kept) -> str:
    """Return in words whether a bound is kept."""
    return "is undecided" if kept.verdict is Verdict.UNDECIDED else kept.verdict.value


def in_words(one: Confirmed) -> str:
    """Return goal and least utilization on one line."""
    return f"{one.goal.mean:.1f} ms, {one.kept[0].interval.mean:.3f}"


def paragraph(*parts: str) -> str:
    """Return text in lines of 120 characters."""
    return textwrap.fill("".join(parts), 120, break_long_words=False, break_on_hyphens=False)


def slug(case: Case) -> str:
    """Return a case's name as part of a file name."""
    return case.name.replace(" ", "-")
