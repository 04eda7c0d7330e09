"""Linux's own disciplines in the emulated machine: every decision, replayed by the core.

`python validation/replay_kernel.py` makes the runs (about an hour of two cores; kernels and headers are fetched with
apt) into ``tests/data/vm/kernel-decisions.csv``; `report` counts them. The tap for Linux 7.3 compiles on Debian trixie
only: with ``--modules FOLDER`` a compiled one is read from ``FOLDER/RELEASE.ko``. DualPI2 was also run in Linux 7.2:
``--disciplines dualpi2 --kernels 7.2 --only``.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from aqmlab.interop.kernel.export import plan_and_link
from aqmlab.interop.kernel.replay import ReplayedLog, replay_log
from aqmlab.interop.kernel.tap import tapped_queue
from aqmlab.live.plan import live_plan
from aqmlab.live.tc.job import GATEWAYS
from aqmlab.live.vm.build import Image, find
from aqmlab.live.vm.kernels import age, images
from aqmlab.live.vm.tap import Tap, tapped_log
from aqmlab.scenario.file import Scenario
from csv_rows import read_rows, write_rows
from replayed import ANOTHER, Discipline, Later, linux, with_ecn_fields
from replayed.cake import CAKE
from replayed.choke import CHOKE
from replayed.codel import CODEL
from replayed.dualpi2 import DUALPI2
from replayed.fq_codel import FQ_CODEL
from replayed.fq_pie import FQ_PIE
from replayed.gred import GRED
from replayed.pie import PIE
from replayed.red import RED
from replayed.sfb import SFB
from replays import Replays, Row, counts_and_equality, kept, make_runs, outcome, tap_for, total, with_modules

TITLE = "Linux's own disciplines, replayed by the core"
TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "kernel-decisions.csv"
KERNELS = "6.12,7.3"
"""Prefixes of further kernel releases, in addition to the release of the current image."""
DISCIPLINES = {one.aqm: one for one in (RED, CHOKE, GRED, CODEL, FQ_CODEL, SFB, PIE, FQ_PIE, DUALPI2, CAKE)}
DECISIONS = 100_000
"""Least decisions of a discipline in a kernel."""
LEAST_KERNELS = 2
"""Least kernels in which all runs of a discipline were made."""
WAY_THERE = "netem delay 10ms rate 100mbit limit 300"
"""The way of data whose acknowledgements are filtered."""
TRANSLATING = ("crc32c_generic", "act_ct")
"""Modules that translate addresses; connections need a checksum in older kernels."""
ROUTER = "10.76.0.9"
"""Address that replaces the senders'."""
TRANSLATION = f"""must $R tc qdisc add dev rb clsact
must $R tc filter add dev rb egress protocol ip u32 match ip protocol 6 0xff action ct commit nat src addr {ROUTER} ok
must $R tc filter add dev rb ingress protocol ip u32 match ip dst {ROUTER}/32 action ct nat ok
"""
"""Words that let tc translate the source address of TCP on the way to the queue, and back."""
WAY_BACK = f"must $IP -n aql-d route add {ROUTER}/32 via {GATEWAYS[1]} dev db\n"
"""The receiver's way to the router's address."""
SHAPER, SENDERS = "must $R tc qdisc add dev rb root ", "$IP -n aql-s addr add "
"""Beginnings of the job's lines before which a translation is set up."""
RECORD = np.dtype({"names": ["count", "kind"], "formats": ["<u4", "u1"], "offsets": [12, 56], "itemsize": 64})
CALLS = (32, 33, 34, 38)
"""Kinds of records that are calls (``tap.h``)."""
FIELDS = (
    *("discipline", "case", "kernel", "image", "decisions", "marks", "drops", "values", "sha256", "fault"),
    "difference",
)


def log_of(discipline: Discipline, name: str, image: Image, tap: Tap, seed: int = 1) -> bytes:
    """Make a run with the kernel's discipline below the tap, and return the log."""
    case = discipline.cases[name]
    plan, change = live_plan(discipline.scenario(name), seed=seed), on_the_way_back if case.filters else with_ecn_fields
    change = translated if case.translates else change
    words = discipline.words(name)
    if case.later is not None:
        change = partial(with_change, later=case.later)
    switches = {"joins": case.joins, "headers": case.filters, "peeks": case.peeks, "splits": case.splits}
    return tapped_log(plan, words, tap, image, **switches, change=lambda text: paced(change(text), case.pacing_ms))


def on_the_way_back(text: str) -> str:
    """Let the tap of a job stand on the way back of a link of 100 Mbit/s."""
    text = text.replace("tc qdisc add dev rb", "tc qdisc add dev RA").replace("qdisc del dev rb", "qdisc del dev ra")
    text = text.replace("qdisc show dev rb", "qdisc show dev ra")
    text = re.sub("tc qdisc add dev ra root .*", f"tc qdisc add dev rb root {WAY_THERE}", text)
    return text.replace("dev RA", "dev ra")


def paced(text: str, ms: int) -> str:
    """Let UDP flows of a job send at an interval.

    >>> paced("iperf3 -u --pacing-timer 1000 -l 72", 100)
    'iperf3 -u --pacing-timer 100000 -l 72'
    """
    return text.replace("--pacing-timer 1000 ", f"--pacing-timer {1000 * ms} ")


def with_change(text: str, later: Later) -> str:
    """Let a job change the discipline's settings while the run goes on."""
    change = f"until_ms {later.ms}; must $R tc qdisc change dev rb parent 10:1 handle 20: {later.words}"
    return with_ecn_fields(text).replace("sample &\n", f"sample &\n({change}) &\n", 1)


def translated(text: str) -> str:
    """Let the router of a job translate addresses before the bottleneck's queue."""
    text = text.replace(SHAPER, TRANSLATION + SHAPER, 1)
    at = text.index(SENDERS)
    first = text.index("must $IP -n aql-d route add 10.77.", at)
    return with_ecn_fields(text[:first] + WAY_BACK + text[first:])


def replayed(
    discipline: Discipline, name: str, release: str, log: bytes, overrides: dict[str, str] | None = None
) -> ReplayedLog:
    """Replay the log of a run in the core, in the dialect of its kernel."""
    changed = discipline.dialect(release) | (overrides or {})
    if changed["queue.bottleneck.dialect"] == ANOTHER:
        changed["queue.bottleneck.dialect"] = discipline.others[linux(release)]
    scenario = Scenario.from_text(discipline.scenario(name).text, overrides=changed)
    return replay_log(tapped_queue(*plan_and_link(scenario)), log)


def rows_of(discipline: Discipline, name: str, image: Image, tap: Tap, keep: Path | None) -> list[Row]:
    """Make a run and replay it, also with the faults."""
    log = kept(keep, f"{image.release} {discipline.aqm} {name}", lambda: log_of(discipline, name, image, tap))
    records = np.frombuffer(log, RECORD)
    row = {
        "discipline": discipline.aqm,
        "case": name,
        "kernel": image.release,
        "image": image.manifest["sha256"]["kernel"],
        "values": str(records["count"][np.isin(records["kind"], CALLS)].sum()),
        "sha256": hashlib.sha256(log).hexdigest(),
        "fault": "",
    }
    rows = [row | outcome(replayed(discipline, name, image.release, log))]
    for text, fault in discipline.faults.items():
        if fault.case == name:
            found = replayed(discipline, name, image.release, fault.log(log), dict(fault.overrides))
            rows.append(row | {"fault": text} | outcome(found))
    return rows


def rows() -> list[Row]:
    """Read the runs that were made."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether every run is equal and every fault is found."""
    all_rows = rows()
    found = Replays.of(all_rows)
    runs = found.runs
    by_discipline = {name: Replays.of([row for row in all_rows if row["discipline"] == name]) for name in DISCIPLINES}
    enough = all(is_shown(DISCIPLINES[name], one.runs) for name, one in by_discipline.items())
    parts = [
        PAGE,
        f"**{len(runs) - len(found.differing)} of {len(runs)} runs are equal in every decision: "
        f"{total(runs, 'decisions'):,} decisions, {total(runs, 'marks'):,} marks, {total(runs, 'drops'):,} drops, "
        f"{total(runs, 'values'):,} times, random numbers and hashes.** {found.faults_found}",
        "## Discipline and kernel\n\n" + matrix(by_discipline, [kernel for kernel, _ in found.kernels]),
        *(section(DISCIPLINES[name], one) for name, one in by_discipline.items()),
        "\n".join([
            "## Kernels\n", "| kernel | SHA-256 of the kernel |", "|---|---|",
            *(f"| {k} | `{i}` |" for k, i in found.kernels),
        ]),
    ]  # fmt: skip
    return "\n\n".join(parts), enough and not found.differing and not found.missed


def is_shown(discipline: Discipline, runs: Sequence[Row]) -> bool:
    """Return whether all runs of a discipline were made in two kernels, with enough decisions in each."""
    kernels = [kernel for kernel in {linux(row["kernel"]) for row in runs} if _has_all(discipline, runs, kernel)]
    return len(kernels) >= LEAST_KERNELS


def _has_all(discipline: Discipline, runs: Sequence[Row], kernel: str) -> bool:
    own = [row for row in runs if linux(row["kernel"]) == kernel]
    return {row["case"] for row in own} >= set(discipline.cases) and total(own, "decisions") >= DECISIONS


def matrix(by_discipline: dict[str, Replays], kernels: Sequence[str]) -> str:
    """Write the table of disciplines and kernels: decisions that are equal, or runs that differ."""
    ordered = list(dict.fromkeys(linux(kernel) for kernel in sorted(kernels, key=age)))
    heads = " | ".join(name.replace("linux-", "Linux ") for name in ordered)
    lines = [f"| discipline | {heads} |", "|---|" + "---|" * len(ordered)]
    for name, one in by_discipline.items():
        cells = []
        for kernel in ordered:
            own = [row for row in one.runs if linux(row["kernel"]) == kernel]
            differing = [row for row in own if row["difference"]]
            missing = "not run" if DISCIPLINES[name].is_in(kernel) else "not in this kernel"
            equal = f"equal ({total(own, 'decisions'):,} decisions)" if own else missing
            cells.append(f"**{len(differing)} of {len(own)} runs differ**" if differing else equal)
        lines.append(f"| [{name}](#{name}) | {' | '.join(cells)} |")
    return "\n".join(lines)


def section(discipline: Discipline, found: Replays) -> str:
    """Write a discipline's section."""
    runs = ["| run | in tc's words | Linux | decisions | marks | drops | equal |", "|---|---|---|---|---|---|---|"]
    for row in found.runs:
        words = discipline.words(row["case"])
        runs.append(f"| {row['case']} | `{words}` | {row['kernel']} | {counts_and_equality(row)} |")
    faults = ["| fault | run | Linux | first difference |", "|---|---|---|---|"]
    for row in found.faults:
        faults.append(f"| {row['fault']} | {row['case']} | {row['kernel']} | {row['difference'] or '**none**'} |")
    differing = [f"* {row['case']}, {row['kernel']}: {row['difference']}" for row in found.differing]
    parts = [f"## {discipline.aqm}", discipline.text, "\n".join(runs), found.faults_found, "\n".join(faults)]
    return "\n\n".join([*parts, *differing])


PAGE = """A tap (`sch_aqmlab_tap.c`, a kernel module) is a qdisc with one class, whose child is the kernel's own
discipline. It stands below a token bucket in the [emulated machine](../live-vm.md). It logs each call of the child:
enqueue, dequeue and timer, with packet, length, code point, ECN field, memory, return code, backlog, and the packets
and bytes that the parent counts. It also logs each value that the child gets from the kernel: times, random numbers,
and hashes.

The child is the distribution's module with unchanged code. Its imported names are changed to those of functions of the
tap, which call the kernel's functions and log the value. Probes (kretprobes) at the kernel's functions lose about one
value in a thousand, since a probe does not see a call in the interrupt of another probe.

The core repeats the calls at the logged times with the logged numbers and hashes, in the dialect of Linux. After each
call it compares:

* the packet that departs (and so the packets that were dropped before it), its length, its code point and ECN field;
* drops at an arrival;
* the backlog in packets and bytes, and that the parent counts the same;
* that the core used all values of the call, in their order.

The first difference ends the replay. A decision is a packet's arrival or departure. The same packets leave at the same
times, so that the goodput of each flow and of each host is the same to the byte. In a fault put in on purpose the core
has a setting that is not the kernel's."""


def main(arguments: Sequence[str]) -> int:
    """Make the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--kernels", default=KERNELS, help="further kernels; runs in others stay")
    parser.add_argument("--only", action="store_true", help="the kernels of --kernels alone, without the current image")
    parser.add_argument("--disciplines", nargs="+", choices=DISCIPLINES, default=list(DISCIPLINES))
    parser.add_argument("--cases", nargs="+", help="names of runs; default: all of the disciplines")
    parser.add_argument("--modules", type=Path, help="folder with compiled taps, RELEASE.ko")
    parser.add_argument("--keep", type=Path, help="folder for logs; existing logs are reused")
    chosen = parser.parse_args(arguments)
    kernels = [*(() if chosen.only else (find(),)), *(images(chosen.kernels) if chosen.kernels else ())]
    tasks = []
    again = set()
    for name in chosen.disciplines:
        discipline = DISCIPLINES[name]
        cases = [case for case in discipline.cases if chosen.cases is None or case in chosen.cases]
        for image in (image for image in kernels if discipline.is_in(image.release)):
            tap = tap_for(image, chosen.modules, discipline.modules)
            for case in cases:
                own = with_modules(tap, image, TRANSLATING) if discipline.cases[case].translates else tap
                tasks.append(partial(rows_of, discipline, case, image, own, chosen.keep))
            again |= {(name, case, image.release) for case in cases}
    found = [row for row in rows() if (row["discipline"], row["case"], row["kernel"]) not in again]
    make_runs(tasks, found, write, chosen.workers)
    return 0


def write(found: list[Row]) -> None:
    """Write the runs in the order of disciplines, runs and kernels."""
    order = [(name, case) for name, one in DISCIPLINES.items() for case in one.cases]
    found.sort(key=lambda row: (row["fault"], order.index((row["discipline"], row["case"])), age(row["kernel"])))
    write_rows(TABLE, FIELDS, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
