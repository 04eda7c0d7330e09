"""The slow comparisons: with ns-2, with an open loop, of models with simulation, of the engines; of the statistics
themselves; the laboratory; and the live link.

Writes `docs/validation`. Exits with 1 when anything that should be shown is not. Needs the command `ns` (ns-2 2.35);
without it the committed references are compared, but not remade. The laboratory needs Chromium, live runs need root.
"""

from __future__ import annotations

import csv
import lzma
import math
import shutil
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from aqmlab import _core
from aqmlab.papers.registry import OTHER_PAPERS
from aqmlab.results.parquet import values

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("tests", "tests/ns2", "tests/python", "validation/models", "validation/statistics")
sys.path[:0] = [str(ROOT / place) for place in PLACES]

import characterize_disciplines  # noqa: E402
import check_memory  # noqa: E402
import compare_averaged  # noqa: E402
import compare_bbr  # noqa: E402
import compare_crosscheck  # noqa: E402
import compare_engines  # noqa: E402
import compare_fluid  # noqa: E402
import compare_frontiers  # noqa: E402
import compare_integers  # noqa: E402
import compare_kernel  # noqa: E402
import compare_kernels  # noqa: E402
import compare_live  # noqa: E402
import compare_modules  # noqa: E402
import compare_netem  # noqa: E402
import compare_papers  # noqa: E402
import compare_pi  # noqa: E402
import compare_published  # noqa: E402
import compare_shares  # noqa: E402
import compare_statistics  # noqa: E402
import compare_sweeps  # noqa: E402
import compare_tuning  # noqa: E402
import compare_vm  # noqa: E402
import crosscheck_exports  # noqa: E402
import crosscheck_ns3  # noqa: E402
import fair_fight  # noqa: E402
import free_curves  # noqa: E402
import joint_readings  # noqa: E402
import measure_lab  # noqa: E402
import measure_live  # noqa: E402
import measure_modules  # noqa: E402
import replay_bpf  # noqa: E402
import replay_faults  # noqa: E402
import replay_kernel  # noqa: E402
import replay_modules  # noqa: E402
import reproduce_claims  # noqa: E402
import who_passes  # noqa: E402
from equivalence import compare, markdown  # noqa: E402
from goldens import events as golden_events  # noqa: E402
from make_disciplines import main as make_disciplines  # noqa: E402
from make_goldens import main as make_goldens  # noqa: E402
from make_switches import main as make_switches  # noqa: E402
from switches.files import difference as switch_difference  # noqa: E402
from switches.files import read_index, read_tables  # noqa: E402

DATA = ROOT / "tests" / "data"
REPORT = ROOT / "docs" / "validation"
SEEDS = 200
"""Runs of each configuration in the comparison in distribution."""
ARRIVALS = 2_000_000
"""Arrivals of each open-loop run with averaging, after 5 % more that are not counted."""
CHAIN_ARRIVALS = 20_000_000
"""The same for the runs that are compared with the exact chain: chance must be well below 0.5 %."""
WORKERS = 2

Table = dict[str, Any]


@dataclass(frozen=True)
class Section:
    """A page of the report: its file name, its title, its text, and whether everything in it is shown."""

    name: str
    title: str
    text: str
    shown: bool


def event_rows(path: Path) -> list[golden_events.Row]:
    """The events of a scenario's bottleneck."""
    events = _core.Scenario(path.read_text(), str(path)).run(1)["tables"]["events"]
    columns = [values(events[name]).tolist() for name in ("t_ps", "kind", "flow", "seq", "bytes")]
    return [golden_events.Row(*row) for row in zip(*columns, strict=True)]


def remade(make: Callable[[list[str]], int]) -> tuple[str, bool]:
    """Make references again if there is ns-2; return the outcome, and whether nothing differs."""
    if not shutil.which("ns"):
        return "not remade: the command `ns` was not found", True
    is_same = make(["--check"]) == 0
    return "remade with ns-2 2.35: " + ("the same tables" if is_same else "**different tables**"), is_same


def events() -> Section:
    """Every event of a bottleneck against ns-2's."""
    lines = ["| family | case | events | equal |", "|---|---|---|---|"]
    shown = True
    for family, difference in (
        ("exact", golden_events.difference_in_order),
        ("ordinary", golden_events.difference_as_sets),
    ):
        for path in sorted((DATA / "ns2" / family).glob("*.toml")):
            golden = golden_events.read(path.with_suffix(".events.csv.xz"))
            found = difference(golden, event_rows(path))
            shown = shown and found is None
            lines.append(f"| {family} | {path.stem} | {len(golden)} | {found or 'yes'} |")
    anew, is_same = remade(make_goldens)
    text = f"""Every packet offered to, sent by and dropped at the bottleneck, against ns-2 2.35 (references {anew}).
Family `exact`: the same events in the same order. Family `ordinary`: the same events, times within a microsecond,
events of one microsecond compared as a set. What each case contains is in `tests/data/ns2/cases.json`.

""" + "\n".join(lines)
    return Section("events", "Events equal to ns-2's", text, shown and is_same)


def switches() -> Section:
    """Every decision of RED and WRED where one switch decides, against ns-2's."""
    lines = ["| family | case | arrivals | dropped | marked | equal |", "|---|---|---|---|---|---|"]
    shown = True
    folder = DATA / "ns2" / "switches"
    for entry, table in zip(read_index(folder), read_tables(folder), strict=True):
        found = switch_difference(entry, table, _core.replay)
        shown = shown and found is None
        counts = f"{entry['arrivals']} | {entry['dropped']} | {entry['marked']}"
        lines.append(f"| {entry['family']} | {entry['case']} | {counts} | {found or 'yes'} |")
    anew, is_same = remade(make_switches)
    text = f"""Arrivals, ends of transmission and random numbers of ns-2 2.35, replayed through the queue: each packet
is accepted, marked or dropped as in ns-2 (references {anew}). Each family has a setting where one switch of the
dialect decides, and 20 settings around it with drawn parameters and traffic (`tests/ns2/switches/cases.py`).

* `mark`: `mark_at_bound = false`; ns-2 marks where p_b is below `mark_p_`, and drops at it.
* `forced`: `forced_at = "end"`; without `use_mark_p_` ns-2 forces drops by the average, not by p_b.
* `wred`: `idle_when = "class-empty"`; the average of WRED in ns-2's DiffServ module is idle when none of the departing
  packet's class waits.

""" + "\n".join(lines)
    return Section("switches", "Single switches equal to ns-2's", text, shown and is_same)


def red_run(job: tuple[str, bool, int, int]) -> dict[str, Any]:
    """One run of MRED's network, measured as ns-2's were."""
    curve, udp, flows, seed = job
    path = DATA / "ns2" / "distribution" / f"{curve}{'-udp' if udp else ''}.toml"
    result = _core.Scenario(path.read_text(), str(path), [("flow.tcp.count", str(flows))]).run(seed)
    links = result["tables"]["links"]
    row = values(links["link"]).tolist().index("bottleneck")
    drops = values(links["drops"])[row]
    return {
        "curve": curve,
        "udp": int(udp),
        "flows": flows,
        "throughput_bps": values(links["departed_bytes"])[row] * 8 / result["summary"]["duration_s"],
        "loss": drops / values(links["arrivals"])[row],
        "loss_all_enqueues": drops / result["summary"]["enqueue_events"],
        "mean_queue": values(links["mean_queue"])[row],
    }


def distribution() -> Section:
    """RED on MRED's network: distributions equal to ns-2's within bounds."""
    jobs = [
        (curve, udp, flows, seed)
        for curve in ("classic", "gentle")
        for udp in (False, True)
        for flows in (5, 10, 20, 30, 40, 50)
        for seed in range(1, SEEDS + 1)
    ]
    with ProcessPoolExecutor(WORKERS) as pool:
        ours = list(pool.map(red_run, jobs, chunksize=25))
    with lzma.open(DATA / "ns2" / "red_distribution.csv.xz", "rt") as file:
        reference = list(csv.DictReader(file))
    comparisons = compare(ours, reference)
    text = f"""MRED's network under classic and gentle RED, with and without the two UDP flows, against ns-2 2.35.
Equality is shown where the 90 % interval of the difference of the means (Welch; two one-sided tests at 5 %) lies
wholly inside the bound. Our seeds are 1 to {SEEDS}.

{markdown(comparisons)}"""
    return Section("distribution", "Distributions equal to ns-2's", text, all(c.shown for c in comparisons))


def papers() -> Section:
    """The papers' plain-RED rows, compared with ns-2's."""
    return Section("papers", "The papers' rows of plain RED equal to ns-2's", *compare_papers.report())


def diffserv() -> Section:
    """ns-2's DiffServ module: tables remade, drop shares in distribution."""
    return Section("diffserv", "DiffServ: drop shares equal to ns-2's", *compare_shares.report(WORKERS))


def disciplines() -> Section:
    """Non-RED disciplines: decisions under listed arrivals remade, and PI in distribution."""
    text, shown = compare_pi.report(WORKERS)
    anew = "not remade: the command `ns` was not found"
    if shutil.which("ns"):
        made = make_disciplines(["--check"]) == 0
        shown = shown and made
        anew = "remade with ns-2 2.35: " + ("the same tables" if made else "**different tables**")
    text = f"""SFQ, DRR, AVQ and REM are compared with ns-2's packet for packet, under listed arrivals, in
every `make test` (`crates/aqm/tests/ns2_disciplines.rs`). The references are {anew}.

PI is compared in whole runs. {text}"""
    return Section("disciplines", "Non-RED disciplines equal to ns-2's", text, shown)


def queue_body(series: str, w_q: float) -> str:
    """The queue of the Markov model: 100 packets in system, no count, the packet in service counted."""
    if series == "taildrop":
        return 'aqm = "drop-tail"\nlimit = "99p"'
    return f"""
aqm = "{series.replace("_", "-")}"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = {w_q}
dialect = "floyd93"
spacing = "none"
in_service_counts = true
"""


def open_loop(job: tuple[str, float, float, int, int]) -> dict[str, Any]:
    """One open-loop run: Poisson arrivals, exponential service at 1000 packets a second."""
    series, w_q, load, arrivals, seed = job
    return dict(_core.open_loop(queue_body(series, w_q), 1000 * load, 1000.0, arrivals, arrivals // 20, seed))


def open_loops(
    series: Iterable[str], w_q: float, loads: Sequence[float], arrivals: int
) -> dict[tuple[str, float], list[dict[str, Any]]]:
    """Five seeds of each series at each load."""
    jobs = [(s, w_q, load, arrivals, seed) for s in series for load in loads for seed in range(1, 6)]
    grouped = defaultdict(list)
    with ProcessPoolExecutor(WORKERS) as pool:
        for (s, _, load, _, _), result in zip(jobs, pool.map(open_loop, jobs), strict=True):
            grouped[s, load].append(result)
    return grouped


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Mean and its standard error."""
    return fmean(values), stdev(values) / math.sqrt(len(values))


def averaged() -> Section:
    """Five curves with w = 0.02 against an independent simulation of the open loop."""
    names = {
        "P_drop": "p_drop",
        "throughput": "throughput",
        "E_Q_seen": "mean_number_seen",
        "D_wait": "mean_wait_s",
        "E_N_run": "mean_run",
    }
    reference = defaultdict(list)
    with (DATA / "oracle" / "exred_open_loop.csv").open() as file:
        for row in csv.DictReader(file):
            reference[row["algo"], float(row["load"])].append(row)
    series = sorted({s for s, _ in reference})
    ours = open_loops(series, 0.02, sorted({load for _, load in reference}), ARRIVALS)
    lines = [
        "| curve | load | measure | oracle | ours | difference | standard errors | inside |",
        "|---|---|---|---|---|---|---|---|",
    ]
    shown = True
    for key, golden in sorted(reference.items()):
        if fmean(r["drops"] for r in ours[key]) <= 5000:
            continue
        for theirs, mine in names.items():
            (a, a_error), (b, b_error) = (
                mean_and_error([float(r[theirs]) for r in golden]),
                mean_and_error([r[mine] for r in ours[key]]),
            )
            error = math.hypot(a_error, b_error)
            inside = abs(b - a) <= 3 * error and (error / a >= 0.003 or abs(b / a - 1) <= 0.01)
            shown = shown and inside
            lines.append(
                f"| {key[0]} | {key[1]} | {theirs} | {a:.6g} | {b:.6g} | {b / a - 1:+.3%} | {(b - a) / error:+.2f} "
                f"| {'yes' if inside else '**no**'} |"
            )
    text = f"""Poisson arrivals, exponential service, averages with w = 0.02, no count: five runs of
{ARRIVALS:,} arrivals on each side. Every point with more than 5,000 drops must lie within three combined standard
errors, and within 1 % where the combined standard error is below 0.3 %.

""" + "\n".join(lines)
    return Section("open-loop", "ExRED's queue and its relatives in the open loop", text, shown)


def chain() -> Section:
    """With w = 1 the queue is an exactly solved birth-death chain."""
    names = {"P_drop": "p_drop", "throughput": "throughput", "E_Q": "mean_number_seen", "D": "mean_wait_s"}
    exact = {}
    with (DATA / "oracle" / "chain.csv").open() as file:
        for row in csv.DictReader(file):
            exact[row["series"], float(row["x"]), row["metric"]] = float(row["value"])
    series = ("red", "gentle_red", "mred", "exred")
    ours = open_loops(series, 1.0, (0.9, 1.0, 1.2, 1.5, 2.0), CHAIN_ARRIVALS)
    lines = ["| curve | load | measure | chain | ours | difference | inside |", "|---|---|---|---|---|---|---|"]
    shown = True
    for (s, load), results in sorted(ours.items()):
        for theirs, mine in names.items():
            a, (b, error) = exact[s, load, theirs], mean_and_error([r[mine] for r in results])
            inside = abs(b / a - 1) <= 0.005
            shown = shown and inside
            lines.append(
                f"| {s} | {load} | {theirs} | {a:.6g} | {b:.6g} ± {error:.2g} | {b / a - 1:+.3%} "
                f"| {'yes' if inside else '**no**'} |"
            )
    text = f"""With a weight of 1 the average is the number in system, and the queue is a birth-death chain
(ExRED eq. 9, 12, 13) that is solved exactly. Means of five runs of {CHAIN_ARRIVALS:,} arrivals must lie within 0.5 %.

""" + "\n".join(lines)
    return Section("chain", "The exact chain", text, shown)


def averaged_chain() -> Section:
    """The chain of number in system and average against the open loop."""
    return Section("averaged-chain", "The chain with the average", *compare_averaged.report())


def fluid() -> Section:
    """The fluid model against packets."""
    return Section("fluid", "The fluid model against packets", *compare_fluid.report())


def bbr() -> Section:
    """BBRv1 among CUBIC flows against a published model."""
    return Section("bbr", "BBRv1 among CUBIC flows against Ware et al. 2019", *compare_bbr.report())


def published() -> Section:
    """Behaviour that papers outside the reproduced ones report."""
    return Section("published", compare_published.TITLE, *compare_published.report())


def engines() -> Section:
    """All engines on every scenario of every reproduction."""
    return Section("engines", compare_engines.TITLE, *compare_engines.compare_all(WORKERS))


def lab() -> Section:
    """The time from a slider's move to the chart, in a real browser."""
    return Section("lab", "The laboratory answers within 200 ms", *measure_lab.report())


def statistics() -> Section:
    """Coverage of the intervals, and gain of pairing."""
    return Section("statistics", compare_statistics.TITLE, *compare_statistics.report(WORKERS))


def sweeps() -> Section:
    """Sweeps: their overhead, and equal results after kills."""
    return Section("sweeps", compare_sweeps.TITLE, *compare_sweeps.report())


def tuning() -> Section:
    """Tuned settings against automatic and printed ones."""
    return Section("tuning", compare_tuning.TITLE, *compare_tuning.report())


def frontier() -> Section:
    """The frontier of the RED family, and other disciplines against it."""
    return Section("frontier", compare_frontiers.TITLE, *compare_frontiers.report())


def free_curve() -> Section:
    """The best free monotone curve against RED's."""
    return Section("free-curve", free_curves.TITLE, *free_curves.report())


def against_tuned() -> Section:
    """The papers' ideas against a tuned RED, from the committed records."""
    return Section("fair-fight", fair_fight.TITLE, *fair_fight.report())


def crosscheck() -> Section:
    """Scenarios exported to other simulators, and run there."""
    return Section("crosscheck", compare_crosscheck.TITLE, *compare_crosscheck.report())


def ns3() -> Section:
    """Scenarios in ns-3, and the cause of each disagreement."""
    return Section("crosscheck-ns3", crosscheck_ns3.TITLE, *crosscheck_ns3.report())


def exports() -> Section:
    """Every exported script, run once by its program."""
    return Section("crosscheck-exports", crosscheck_exports.TITLE, *crosscheck_exports.report())


def live() -> Section:
    """Live runs of the papers' disciplines compared with simulations of the same files."""
    return Section("live", compare_live.WORLDS.title, *compare_live.report(compare_live.WORLDS))


def live_cells() -> Section:
    """Live runs of the cells on which the papers' verdicts turn."""
    return Section("live-cells", compare_live.TURNING.title, *compare_live.report(compare_live.TURNING))


def integers() -> Section:
    """RED in integers against the exact one."""
    return Section("integers", compare_integers.TITLE, *compare_integers.report())


def kernel() -> Section:
    """The window of the kernel's Reno and CUBIC compared with the simulator's."""
    return Section("kernel", compare_kernel.TITLE, *compare_kernel.report())


def link() -> Section:
    """The link process by itself: rate, lateness, throughput, and ten minutes of it."""
    return Section("link", measure_live.TITLE, *measure_live.report(link="python"))


def linux_red() -> Section:
    """RED in user space compared with Linux's own, from the committed runs in the emulator."""
    return Section("linux-red", compare_vm.TITLE, *compare_vm.report())


def claims() -> Section:
    """The claims of the reproduced papers, with verdicts, in the full form (half an hour)."""
    return Section("claims", reproduce_claims.TITLE, *reproduce_claims.report(full=True))


def claims_of(paper: str) -> Section:
    """The claims of a paper on another discipline than RED, in the full form (1 to 5 min)."""
    report = reproduce_claims.report(full=True, paper=paper)
    return Section(f"claims-{paper}", reproduce_claims.title_of(paper), *report)


def joint() -> Section:
    """Readings of PC-RED and MRED searched jointly, and judged on rows held out."""
    return Section("joint-readings", joint_readings.TITLE, *joint_readings.report())


def kernels() -> Section:
    """Linux's own disciplines in several kernels, from the committed runs."""
    return Section("kernels", compare_kernels.TITLE, *compare_kernels.report())


def netem() -> Section:
    """netem of Linux against the channel of a link; the kernel's runs are repeated where its image exists."""
    return Section("netem", compare_netem.TITLE, *compare_netem.report())


def modules() -> Section:
    """Disciplines as kernel modules, from the committed runs."""
    return Section("modules", replay_modules.TITLE, *replay_modules.report())


def kernel_decisions() -> Section:
    """Linux's own disciplines and the core, call by call, from the committed runs; known faults of kernels."""
    text, is_shown = replay_kernel.report()
    faults, are_found = replay_faults.report()
    return Section("kernel-decisions", replay_kernel.TITLE, f"{text}\n\n{faults}", is_shown and are_found)


def module_agreement() -> Section:
    """The papers' disciplines in the kernel, in user space and in the simulator, from the committed runs."""
    return Section("module-agreement", compare_modules.TITLE, *compare_modules.report())


def module_costs() -> Section:
    """Instructions of disciplines inside the kernel, as they were measured."""
    return Section("module-costs", measure_modules.TITLE, *measure_modules.report())


def module_memory() -> Section:
    """Modules in a kernel that looks for faults, from the committed boots."""
    return Section("module-memory", check_memory.TITLE, *check_memory.report())


def bpf() -> Section:
    """Disciplines as BPF programs, from the committed runs."""
    return Section("bpf", replay_bpf.TITLE, *replay_bpf.report())


def peers() -> Section:
    """Implementations of others and the test vectors, from the last run of each."""
    return Section("who-passes", who_passes.TITLE, *who_passes.report())


def rfc7928() -> Section:
    """RFC 7928's suite over eight disciplines, and how long it takes."""
    return Section("rfc7928", characterize_disciplines.TITLE, *characterize_disciplines.report())


SECTIONS: dict[str, Callable[[], Section]] = {
    "events": events,
    "switches": switches,
    "distribution": distribution,
    "papers": papers,
    "claims": claims,
    **{f"claims-{paper}": partial(claims_of, paper) for paper in OTHER_PAPERS},
    "diffserv": diffserv,
    "disciplines": disciplines,
    "crosscheck": crosscheck,
    "crosscheck-ns3": ns3,
    "crosscheck-exports": exports,
    "who-passes": peers,
    "open-loop": averaged,
    "chain": chain,
    "averaged-chain": averaged_chain,
    "fluid": fluid,
    "bbr": bbr,
    "published": published,
    "engines": engines,
    "lab": lab,
    "statistics": statistics,
    "sweeps": sweeps,
    "tuning": tuning,
    "frontier": frontier,
    "free-curve": free_curve,
    "fair-fight": against_tuned,
    "joint-readings": joint,
    "rfc7928": rfc7928,
    "link": link,
    "linux-red": linux_red,
    "integers": integers,
    "kernels": kernels,
    "netem": netem,
    "modules": modules,
    "kernel-decisions": kernel_decisions,
    "module-agreement": module_agreement,
    "module-costs": module_costs,
    "module-memory": module_memory,
    "bpf": bpf,
    "kernel": kernel,
    "live": live,
    "live-cells": live_cells,
}
VERDICTS = {True: "Everything here is shown.", False: "**Not everything here is shown.**"}


def write(section: Section) -> None:
    """Write a section's page."""
    (REPORT / f"{section.name}.md").write_text(
        f"# {section.title}\n\n{VERDICTS[section.shown]}\n\n{section.text.strip()}\n"
    )


def index() -> str:
    """Rows of the index, from the pages that there are."""
    rows = []
    for name in SECTIONS:
        if not (REPORT / f"{name}.md").exists():
            continue
        lines = (REPORT / f"{name}.md").read_text().splitlines()
        shown = "shown" if VERDICTS[True] in lines else "**not shown**"
        rows.append(f"| [{lines[0].removeprefix('# ')}]({name}.md) | {shown} |")
    return "\n".join(rows)


def main(names: Sequence[str]) -> int:
    """Make these sections (default: all) and the index; return the exit code."""
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        print(f"validate: no section {', '.join(unknown)} (there are {', '.join(SECTIONS)})", file=sys.stderr)
        return 2
    REPORT.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in names or SECTIONS:
        section = SECTIONS[name]()
        failed = failed or not section.shown
        print(f"{section.title}: {'shown' if section.shown else 'NOT SHOWN'}", flush=True)
        write(section)
    (REPORT / "README.md").write_text(f"""# Validation

Written by `make validate` with version {_core.version()}; `python validation/validate.py NAME` repeats one
page. Every `make test` checks also: averages and drop law equal to ns-2's (`crates/aqm/tests/ns2.rs`), counts equal to
ns-3's (`crates/aqm/tests/ns3.rs`), drop curves equal to an independent oracle (`crates/aqm/tests/oracle.rs`), and the
same event tables as here.

| comparison | |
|---|---|
{index()}
""")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
