"""RED in user space compared with Linux's own `tc red`, with the TCP of the same emulated kernel, in virtual time.

`python validation/compare_vm.py` makes the runs (minutes of one core each) into ``tests/data/vm/linux-red.csv``;
`report` compares these runs with each other and with the simulator.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy import stats

from aqmlab.live.plan import LivePlan, live_plan
from aqmlab.live.tc.job import Options
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.vm import backend
from aqmlab.runs.runner import run as simulate
from aqmlab.scenario.file import Scenario

TITLE = "RED in user space compared with Linux's tc red"
DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm"
TABLE = DATA / "linux-red.csv"
SEEDS = (1, 2, 3, 4, 5)
LONGER_UDP = {"flow.udp.packet_size": "1514B"}
PAGE = """A Debian kernel in an emulator in virtual time, the same guest for both bottlenecks: 10 Mbit/s, a round trip
of 20 ms, RED with min 15000, max 45000, limit 150000 bytes, probability 0.1, W = 1/16. Runs differ in the seed of the
kernel's random numbers. Differences are user space over tc, with the 95 % interval of the difference of the means
(Welch). Loss of UDP leaves out the first 2 s. The simulator runs the same files, with 14 bytes more in every packet,
as tc counts; its own delays are means over all packets, not over echoes, and are left out."""
WORDS = {True: "yes", False: "**no**"}


@dataclass(frozen=True)
class Case:
    """A load, and how it is varied."""

    name: str
    title: str
    file: str
    overrides: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Bound:
    """A measure and how far the two may differ: as a share of tc's, or as a plain difference."""

    measure: str
    title: str
    most: float
    relative: bool = True
    scale: float = 1.0
    unit: str = ""


COMPARED = (
    Case("udp-1.05", "UDP at 1.05 times the rate", "red-udp.toml"),
    Case("udp-1.10", "UDP at 1.10 times the rate", "red-udp.toml", {"flow.udp.rate": "10.898283Mbps"}),
    Case("tcp", "five CUBIC flows", "red-tcp.toml"),
)
BURST = {
    "dumbbell.bottleneck.delay": "22ms",
    "flow.tcp.count": "10",
    "flow.tcp.tcp.congestion_control": "reno",
    "queue.bottleneck.min_th": "5000B",
    "queue.bottleneck.max_th": "15000B",
    "queue.bottleneck.w_q": "0.001953125",
}
LOCKED = Case("locked", 'at_idle = "none"', "red-tcp.toml", {**BURST, "queue.bottleneck.at_idle": "none"})
FREED = Case("freed", 'at_idle = "table"', "red-tcp.toml", {**BURST, "queue.bottleneck.at_idle": "table"})
CASES = (*COMPARED, LOCKED, FREED)
BURST_PAGE = """## RED below a token bucket has no idle rule

Ten Reno flows that start at once, a round trip of 44 ms, min 5000, max 15000 bytes, W = 1/512: the first burst lifts
the average above max. The token bucket asks whether a packet waits (`peek`), and the kernel's RED notes that its queue
is empty when it is asked for one, so its average falls by arrivals alone. In user space `at_idle` says which it is to
be. The table has the seconds of a run of 30 s in which packets came and none left, one number per seed."""
LOSS = Bound("loss", "loss", 0.001, relative=False, scale=100, unit="%")
WAIT = Bound("wait_s", "queue delay of echoes", 0.02, scale=1e3, unit="ms")
GOODPUT = Bound("goodput_bps", "goodput", 0.01, scale=1e-6, unit="Mbit/s")
DROPS = Bound("drops", "drops, whole run", 0.05)
SETTLED = Bound("drops_after", "drops after the first 5 s", 0.05)
BOUNDS = {"udp-1.05": (LOSS, WAIT, GOODPUT), "udp-1.10": (LOSS, WAIT, GOODPUT), "tcp": (GOODPUT, WAIT, DROPS, SETTLED)}
BOTTLENECKS = {"tc": Options(), "user space": Options(in_userspace=True)}
FIELDS = ("case", "bottleneck", "seed", "loss", "wait_s", "goodput_bps", "drops", "drops_after", "locked_s", "digest")


def plan_of(case: Case, seed: int) -> LivePlan:
    """Return the plan of a case."""
    return live_plan(Scenario.load(DATA / case.file, overrides=case.overrides), seed=seed)


def row_of(case: Case, bottleneck: str, run: PeerRun) -> dict[str, Any]:
    """Read the measures off a run."""
    flows = run.tables["flows"].to_pylist()
    after, whole = run.counted(run.setting.warmup_s), run.counted()
    return {
        "case": case.name,
        "bottleneck": bottleneck,
        "seed": run.setting.plan.seed,
        "loss": after.drops / after.arrivals,
        "wait_s": run.sparse_flow_wait_s(),
        "goodput_bps": sum(flow["goodput_bps"] for flow in flows),
        "drops": whole.drops,
        "drops_after": after.drops,
        "locked_s": locked_s(run),
        "digest": run.digest,
    }


def locked_s(run: PeerRun) -> int:
    """Count the seconds of a run in which packets came and none left."""
    steps = [later.since(earlier) for earlier, later in pairwise(run.counts)]
    return sum(step.drops > 0 and step.departures == 0 for step in steps)


def one(case: Case, bottleneck: str, seed: int, program: Path | None) -> dict[str, Any]:
    """Make a run."""
    options = BOTTLENECKS[bottleneck]
    return row_of(case, bottleneck, backend.run(plan_of(case, seed), options=options, link_program=program))


def rows() -> list[dict[str, str]]:
    """Read the runs that were made."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def compared(own: Sequence[float], reference: Sequence[float], bound: Bound) -> tuple[float, float, bool]:
    """Return the difference of two means, half the width of its 95 % interval (Welch), and whether it is in bounds."""
    by = fmean(reference) if bound.relative else 1.0
    difference = (fmean(own) - fmean(reference)) / by
    half = math.nan
    if min(len(own), len(reference)) > 1:
        test = stats.ttest_ind(own, reference, equal_var=False).confidence_interval(0.95)
        half = (test.high - test.low) / 2 / abs(by)
    return difference, half, abs(difference) <= bound.most


def simulated(case: Case) -> dict[str, float]:
    """Return the measures of the same runs in the simulator, whose packets get Ethernet's header too."""
    longer = {"tcp": {"flow.tcp.tcp.header": "66B", "flow.tcp.tcp.ack_size": "66B"}}.get(case.name, LONGER_UDP)
    rate = float(case.overrides.get("flow.udp.rate", "10.402906Mbps").removesuffix("Mbps")) * 1514 / 1500
    longer = longer if case.name == "tcp" else {**longer, "flow.udp.rate": f"{rate}Mbps"}
    whole = simulate(DATA / case.file, overrides={**longer, "run.warmup": "0s"}, seeds=len(SEEDS))
    after = simulate(DATA / case.file, overrides=longer, seeds=len(SEEDS))
    own, settled = (run.links[run.links["link"] == "bottleneck"] for run in (whole, after))
    return {
        "drops": float(own["drops"].mean()),
        "drops_after": float(settled["drops"].mean()),
        "loss": float((settled["drops"] / settled["arrivals"]).mean()),
    }


def table(found: Sequence[Mapping[str, str]]) -> tuple[str, bool]:
    """Compare all measures; shown if there are enough runs and every difference is within its bound."""
    groups: dict[tuple[str, str], list[Mapping[str, str]]] = defaultdict(list)
    for row in found:
        groups[row["case"], row["bottleneck"]].append(row)
    lines = [
        "| load | measure | tc (runs) | user space (runs) | difference | bound | inside | simulator |",
        "|---|---|---|---|---|---|---|---|",
    ]
    shown = True
    for case in COMPARED:
        beside = simulated(case)
        for bound in BOUNDS[case.name]:
            values = [[float(row[bound.measure]) for row in groups[case.name, which]] for which in BOTTLENECKS]
            enough = min(map(len, values)) >= len(SEEDS)
            judged, inside = judgement(*values, bound=bound)
            shown = shown and enough and inside
            means = " | ".join(f"{said(fmean(own), bound)} ({len(own)})" if own else "not run" for own in values)
            other = said(beside[bound.measure], bound) if bound.measure in beside else ""
            lines.append(f"| {case.title} | {bound.title} | {means} | {judged} | {other} |")
    return "\n".join(lines), shown


def locks(found: Sequence[Mapping[str, str]]) -> tuple[str, bool]:
    """Compare the times without a departure; shown if the kernel has them, and ours only without an idle rule."""
    groups = {
        ("locked", "tc"): "tc",
        ("locked", "user space"): f"user space, `{LOCKED.title}`",
        ("freed", "user space"): f"user space, `{FREED.title}`",
    }
    lines = ["| bottleneck | seconds without a departure | goodput |", "|---|---|---|"]
    seconds: dict[tuple[str, str], list[int]] = {}
    for key, title in groups.items():
        own = [row for row in found if (row["case"], row["bottleneck"]) == key]
        seconds[key] = [int(row["locked_s"]) for row in own]
        rate = said(fmean(float(row["goodput_bps"]) for row in own), GOODPUT) if own else ""
        lines.append(f"| {title} | {', '.join(map(str, seconds[key])) or 'not run'} | {rate} |")
    kernel, without, ruled = seconds.values()
    enough = all(len(own) >= len(SEEDS) for own in seconds.values())
    return "\n".join(lines), enough and min(*kernel, *without) > max(ruled)


def judgement(tc: Sequence[float], ours: Sequence[float], *, bound: Bound) -> tuple[str, bool]:
    """Return difference, bound and verdict as cells of a table, and the verdict."""
    most = f"{bound.most:.0%}" if bound.relative else f"{100 * bound.most:.1g} points"
    if not (tc and ours):
        return f" | {most} | ", False
    difference, half, inside = compared(ours, tc, bound)
    width = "" if math.isnan(half) else f" ± {half:.1%}"
    return f"{difference:+.2%}{width} | {most} | {WORDS[inside]}", inside


def said(value: float, bound: Bound) -> str:
    """Write a value with its unit."""
    return f"{value * bound.scale:.4g} {bound.unit}".strip()


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether everything is shown."""
    lines, shown = table(rows())
    burst, also_shown = locks(rows())
    return f"{PAGE}\n\n{lines}\n\n{BURST_PAGE}\n\n{burst}", shown and also_shown


def main(arguments: Sequence[str]) -> int:
    """Make runs into the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--link", type=Path, help="the program aqmlab-link")
    parser.add_argument("--case", choices=[case.name for case in CASES])
    parser.add_argument("--bottleneck", choices=list(BOTTLENECKS))
    parser.add_argument("--seeds", type=int, nargs="*", default=list(SEEDS))
    chosen = parser.parse_args(arguments)
    known = rows()
    for case in CASES:
        for bottleneck in BOTTLENECKS:
            if chosen.case not in (None, case.name) or chosen.bottleneck not in (None, bottleneck):
                continue
            if (case, bottleneck) == (FREED, "tc"):
                # The kernel's RED has one idle rule; its runs are those of `LOCKED`.
                continue
            for seed in chosen.seeds:
                made = {key: str(value) for key, value in one(case, bottleneck, seed, chosen.link).items()}
                known = [row for row in known if any(row[key] != made[key] for key in ("case", "bottleneck", "seed"))]
                known.append(made)
                keep(known)
                print(made, flush=True)
    return 0


def keep(known: Sequence[Mapping[str, str]]) -> None:
    """Write the table."""
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(known, key=lambda row: (row["case"], row["bottleneck"], int(row["seed"]))))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
