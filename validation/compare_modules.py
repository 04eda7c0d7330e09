"""The papers' disciplines inside a kernel, in user space below the same kernel, and in the simulator.

`python validation/compare_modules.py` makes the runs in the emulated machine that the table lacks (a minute of one core
each; the kernel and its headers are fetched with apt) into ``tests/data/vm/module-agreement.csv``; `report` compares
them with each other and with the simulator.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy import stats

from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import kernel_queue
from aqmlab.live.plan import LivePlan, live_plan
from aqmlab.live.tc import module
from aqmlab.live.tc.job import Options
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm import backend
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.kernels import images
from aqmlab.runs.runner import run as simulate
from aqmlab.scenario.file import Scenario, read_text
from csv_rows import read_rows, write_rows
from live_cases import CASES, Case

TITLE = "The papers' disciplines in the kernel, in user space and in the simulator"
TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "module-agreement.csv"
KERNEL = "6.1"
SEEDS = (1, 2, 3, 4, 5)
SIMULATED = 20
"""Runs of the simulator, which take no time."""
COMPARED = ("mred", "exred", "ddred", "pc-red", "adaptive-rio")
"""Keys of the cases of `live_cases`: the live scenarios of the five papers whose flows are TCP."""
USUAL = {"run.duration": "20s", "run.warmup": "5s"}
LENGTHS = {
    "pc-red": {"run.duration": "120s", "run.warmup": "30s"},
    "adaptive-rio": {"run.duration": "40s", "run.warmup": "5s", "flow.assured.active": '[["15s", "40s"]]'},
}
"""Shorter runs than in the file, since an emulated second at 10 Mb/s takes two seconds of a core."""
CODE_POINTS = {"pc-red": {"flow.high.dscp": "AF11"}, "adaptive-rio": {"flow.assured.dscp": "AF11"}}
"""By which a module tells priority, and what stands for the marker, which iperf3's packets do not meet."""
MODULE, LINK, SIMULATOR = "module", "user space", "simulator"
ETHERNET = 14
ARRIVAL, DEPARTURE = 0, 1
PAGE = """The live scenarios of the papers with the first discipline of each, Reno over IPv4, in three places:

* **module**: the module that `aqmlab export --to kernel` writes, below a token bucket in the emulated machine. Every
  decision of these runs is replayed in the core, bit by bit.
* **user space**: the project's own link, `aqmlab-link`, in the same emulated machine. The same kernel's TCP meets both.
* **simulator**: the same file with the simulator's form of that TCP (`profile = "rfc"`), {simulated} runs.

Runs are shorter than in the files: {lengths}. Seeds are {seeds}.

Four things are set so that all places count the same:

* A token bucket lets a packet go when its time of transmission is over, so the packet in service is still in the
  module's queue. User space and the simulator therefore have `in_service_counts = true`. The module has `false`:
  otherwise it would count one packet too many.
* tc counts every packet with the 14 bytes of Ethernet's header, `aqmlab-link` does so too, and the simulator's packets
  are longer by them. Goodput is that of IP packets everywhere.
* Goodput is counted by iperf3, in seconds from each flow's start. Of a second that is partly before the end of the
  warm-up, or behind the end of the run, its share is counted.
* No echoes are sent. The mean queue is the time that packets wait and are transmitted, summed over the packets that
  leave: of the module from its log, of user space from the link's own counts.

A module tells PC-RED's flows of high priority by their code point, AF11. Adaptive-RIO's file marks the assured flow by
a token bucket; here all its packets are AF11, since those of iperf3 meet no marker.

Differences are relative (loss: in percentage points), with the 95 % interval of the difference of the means (Welch).
Goodput must differ by at most {bound:.0%}, with its whole interval; the others have no bound."""
VICTIMS = """## DDRED's victims below a token bucket

Below a token bucket the packet in service is still in the queue, so the module's DDRED chooses its victim among one
packet more than user space and the simulator, which never drop the packet in service. With more packets to choose from
it spares the flow from afar more often. In the simulator `in_service_counts = false` lets one packet more wait at the
same average: then PCs1 has {share:.1f} ± {half:.1f} % of the goodput, and {loss:.2f} % of the packets are dropped
({runs} runs, 95 % interval of the mean)."""


@dataclass(frozen=True)
class Measure:
    """A compared quantity: column, title, unit, the digits of its mean, and whether its difference is relative."""

    name: str
    title: str
    scale: float
    digits: int
    relative: bool = True
    most: float = math.inf


GOODPUT = Measure("goodput_bps", "Goodput of all flows, Mb/s", 1e-6, 3, most=0.03)
MEASURES = (
    GOODPUT,
    Measure("mean_queue", "Mean queue with the packet in service, packets", 1, 2),
    Measure("loss", "Dropped packets, %", 100, 2, relative=False),
    Measure("share", "Share of the goodput that the first group of flows has, %", 100, 1, relative=False),
)
PAIRS = ((MODULE, LINK), (MODULE, SIMULATOR), (LINK, SIMULATOR))
FIELDS = ("case", "place", "seed", "kernel", "image", *(one.name for one in MEASURES), "decisions", "digest")
Row = dict[str, str]
Values = Mapping[tuple[str, str], Sequence[Row]]
"""Rows by case and place."""


def cases() -> list[Case]:
    """Return the cases."""
    found = {case.key: case for case in CASES}
    return [found[key] for key in COMPARED]


def scenario_of(case: Case, place: str) -> Scenario:
    """Return the scenario of a case in a place."""
    overrides = case.overrides(case.disciplines[0], "ipv4", "reno") | USUAL | LENGTHS.get(case.key, {})
    overrides[f"queue.{case.queue}.in_service_counts"] = "false" if place == MODULE else "true"
    if place == SIMULATOR:
        for group, (header, ack) in tcp_headers(case).items():
            overrides |= {f"flow.{group}.tcp.header": f"{header + ETHERNET}B"}
            overrides |= {f"flow.{group}.tcp.ack_size": f"{ack + ETHERNET}B"}
    overrides |= CODE_POINTS.get(case.key, {})
    return Scenario.from_text(without_markers(read_text(Path(case.file))), filename=str(case.file), overrides=overrides)


def without_markers(text: str) -> str:
    """Return a scenario's text without its markers.

    >>> without_markers("[run]\\n[marker.edge]\\ncir = 1\\n[flow]\\n")
    '[run]\\n[flow]\\n'
    """
    return re.sub(r"^\[marker\..*?(?=^\[)", "", text, flags=re.MULTILINE | re.DOTALL)


def tcp_headers(case: Case) -> dict[str, tuple[int, int]]:
    """Return the bytes of a segment's headers and of an acknowledgement, by group of flows."""
    flows = {flow.group: flow.parameters for flow in Scenario.load(case.file).flows}
    return {group: (int(flows[group]["header"]), int(flows[group]["ack_size"])) for group in case.tcp}


def missing(case: Case) -> str:
    """Return why a case cannot be run with a module; an empty text if it can."""
    try:
        plan = live_plan(scenario_of(case, MODULE), seed=1)
        kernel_queue(plan.scenario, link=plan.link)
        setting_of(plan, qdisc="pfifo")
    except InputError as error:
        return str(error)
    return ""


@cache
def image() -> Image:
    """Return the image of the emulated machine."""
    return images([KERNEL])[0]


def one(case: Case, place: str, seed: int, made: module.KernelModule | None, program: Path | None) -> Row:
    """Make a run in the emulated machine."""
    options = Options(ping_interval_s=0.0, in_userspace=place == LINK)
    plan = live_plan(scenario_of(case, place), seed=seed)
    run = backend.run(plan, options=options, image=image(), module=made, link_program=program)
    measured = of_module(run, made) if made is not None else of_link(run)
    measured |= of_flows(case, plan, run)
    about = {"case": case.key, "place": place, "seed": seed, "kernel": image().release}
    about |= {"image": image().manifest["sha256"]["kernel"], "decisions": "", "digest": run.digest}
    return {key: str(value) for key, value in (about | measured).items()}


def of_flows(case: Case, plan: LivePlan, run: PeerRun) -> dict[str, float]:
    """Return the goodput of a run, over all its time after the warm-up, and the share of its first group."""
    goodput: dict[str, float] = defaultdict(float)
    measured_s = run.setting.duration_s - run.setting.warmup_s
    for flow in run.tables["flows"].to_pylist():
        goodput[flow["group"]] += 8 * flow["goodput_bytes"] / measured_s
    whole = sum(goodput.values())
    return {"goodput_bps": whole, "share": goodput[case.tcp[0]] / whole}


def of_module(run: PeerRun, made: module.KernelModule) -> dict[str, float]:
    """Replay a run's log, and return its decisions, mean queue and loss after the warm-up."""
    log = module.log_of(run)
    found = module.replayed(made.queue, log)
    start_s = run.of_kind("start")[0]["data"] / 1e3
    records = np.frombuffer(log, module.RECORD)
    times_s = records["time_ns"] / 1e9 - start_s
    inside = (times_s >= run.setting.warmup_s) & (times_s < run.setting.duration_s)
    arrivals, departures = records["kind"] == ARRIVAL, records["kind"] == DEPARTURE
    came_s = np.zeros(records["packet"][arrivals].max() + 1)
    came_s[records["packet"][arrivals]] = times_s[arrivals]
    spent_s = times_s[departures & inside] - came_s[records["packet"][departures & inside]]
    dropped = arrivals & inside & (records["outcome"] == module.DROPPED)
    return {
        "decisions": found.decisions,
        "mean_queue": float(spent_s.sum()) / (run.setting.duration_s - run.setting.warmup_s),
        "loss": float(dropped.sum() / (arrivals & inside).sum()),
    }


def of_link(run: PeerRun) -> dict[str, float]:
    """Return the mean queue and the loss of a run in user space after the warm-up."""
    spent_s, before = 0.0, 0
    for record in run.of_kind("link"):
        snapshot = record["data"]
        if "t" not in snapshot:
            continue
        own = next(side for side in snapshot["directions"] if side["link"] == run.setting.plan.link)
        departures, before = own["counters"]["departures"] - before, own["counters"]["departures"]
        # Snapshots come once a second, each with the packets that left since the one before.
        if departures and run.setting.warmup_s + 0.5 < snapshot["t"] < run.setting.duration_s + 0.5:
            spent_s += own["delay_mean_s"] * departures
    counted = run.counted(run.setting.warmup_s)
    sent_s = (counted.departed_bytes + ETHERNET * counted.departures) * 8 / run.setting.rate_bps
    return {"mean_queue": (spent_s + sent_s) / counted.t_s, "loss": counted.drops / counted.arrivals}


def simulated(case: Case, scenario: Scenario) -> list[Row]:
    """Return the rows of a case in the simulator, by its scenario there."""
    flows = {flow.group: flow.parameters for flow in scenario.flows}
    result = simulate(scenario, seeds=SIMULATED)
    links = result.links[result.links["link"] == live_plan(scenario, seed=1).link].set_index("seed")
    rows = []
    for seed in result.seeds:
        own = result.flows[result.flows["seed"] == seed].groupby("group")["goodput_bps"].sum()
        segment = {group: int(flows[group]["mss"]) + int(flows[group]["header"]) for group in own.index}
        goodput = {group: own[group] * (segment[group] - ETHERNET) / segment[group] for group in own.index}
        link, whole = links.loc[seed], sum(goodput.values())
        measured = {"goodput_bps": whole, "share": goodput[case.tcp[0]] / whole}
        waited = link["mean_delay_s"] * link["departures"] / (scenario.duration_s - scenario.warmup_s)
        measured |= {"mean_queue": waited + link["utilization"], "loss": link["drops"] / link["arrivals"]}
        rows.append({name: str(value) for name, value in measured.items()})
    return rows


def rows() -> list[Row]:
    """Read the runs that were made."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether goodput is within its bound in every case that a module can have."""
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows():
        found[row["case"], row["place"]].append(row)
    lacking = {case.key: missing(case) for case in cases()}
    there = [case for case in cases() if not lacking[case.key]]
    found |= {(case.key, SIMULATOR): simulated(case, scenario_of(case, SIMULATOR)) for case in there}
    lengths = "; ".join(f"{case.key} {_length(case)}" for case in there)
    seeds = f"{SEEDS[0]} to {SEEDS[-1]}"
    parts = [PAGE.format(simulated=SIMULATED, lengths=lengths, seeds=seeds, bound=GOODPUT.most)]
    parts += [f"**Missing: {key}, which a module cannot have yet** ({why})." for key, why in lacking.items() if why]
    kernels = dict.fromkeys((row["kernel"], row["image"]) for row in rows())
    parts += [f"Kernel: {kernel}, SHA-256 `{sha256}`." for kernel, sha256 in kernels]
    lack = len(there) * 2 * len(SEEDS) - len(rows())
    parts += [f"**{lack} runs in the emulated machine are not made yet.**"] if lack else []
    decisions = sum(int(row["decisions"]) for row in rows() if row["decisions"])
    parts.append(f"{decisions:,} decisions of modules were replayed, all equal.")
    shown = True
    for measure in MEASURES:
        text, inside = section(measure, there, found)
        parts.append(text)
        shown = shown and inside
    return "\n\n".join([*parts, victims()]), shown


def victims() -> str:
    """Write what one packet more in the queue does to DDRED in the simulator."""
    case = next(case for case in cases() if case.key == "ddred")
    scenario = scenario_of(case, SIMULATOR).with_overrides({f"queue.{case.queue}.in_service_counts": "false"})
    found = simulated(case, scenario)
    share, loss = (np.array([float(row[name]) for row in found]) * 100 for name in ("share", "loss"))
    half = stats.t.ppf(0.975, len(share) - 1) * stats.sem(share)
    return VICTIMS.format(share=share.mean(), half=half, loss=loss.mean(), runs=len(share))


def section(measure: Measure, chosen: Sequence[Case], found: Values) -> tuple[str, bool]:
    """Write the table of a measure; shown if all differences are in bounds and there are enough runs."""
    places = (MODULE, LINK, SIMULATOR)
    heads = ["discipline", *(f"{place} (runs)" for place in places), *(f"{own} - {other}" for own, other in PAIRS)]
    bounded = measure.most < math.inf
    heads += ["inside"] if bounded else []
    lines = [f"## {measure.title}", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    shown = True
    for case in chosen:
        if measure.name == "share" and len(case.tcp) < 2:
            continue
        values = {place: [float(row[measure.name]) for row in found.get((case.key, place), ())] for place in places}
        enough = all(len(values[place]) >= len(SEEDS) for place in places)
        cells = [f"{fmean(own) * measure.scale:.{measure.digits}f} ({len(own)})" if own else "not run"
                 for own in values.values()]  # fmt: skip
        inside, comparable = enough, all(len(own) > 1 for own in values.values())
        for own, other in PAIRS if comparable else ():
            low, high = interval(values[own], values[other], measure)
            cells.append(f"{(low + high) / 2:+.2f} ± {(high - low) / 2:.2f}{' %' if measure.relative else ''}")
            inside = inside and max(-low, high) <= 100 * measure.most
        cells += [] if comparable else [""] * len(PAIRS)
        cells += [("yes" if inside else "**no**" if enough else "too few runs")] if bounded else []
        shown = shown and inside
        lines.append(f"| {case.disciplines[0]} | {' | '.join(cells)} |")
    return "\n".join(lines), shown


def interval(own: Sequence[float], other: Sequence[float], measure: Measure) -> tuple[float, float]:
    """Return the 95 % interval of the difference of two means (Welch), in % or in the measure's unit."""
    found = stats.ttest_ind(own, other, equal_var=False).confidence_interval(0.95)
    by = 100 / fmean(other) if measure.relative else measure.scale
    return float(found.low) * by, float(found.high) * by


def _length(case: Case) -> str:
    scenario = scenario_of(case, MODULE)
    return f"{scenario.duration_s:g} s without the first {scenario.warmup_s:g}"


def tasks(known: Sequence[Row], seeds: Sequence[int], program: Path | None) -> list[Callable[[], Row]]:
    """Return the runs that the table lacks, each to be called: one seed of every case before the next."""
    there = {(row["case"], row["place"], int(row["seed"])) for row in known}
    chosen = [case for case in cases() if not missing(case)]
    modules: dict[str, module.KernelModule] = {}
    for case in chosen:
        scenario = scenario_of(case, MODULE)
        link = live_plan(scenario, seed=1).link
        modules[case.key] = backend.compiled(kernel_queue(scenario, link=link), image())
    return [
        partial(one, case, place, seed, modules[case.key] if place == MODULE else None, program)
        for seed in seeds
        for case in chosen
        for place in (MODULE, LINK)
        if (case.key, place, seed) not in there
    ]


def keep(known: Sequence[Row]) -> None:
    """Write the table."""
    write_rows(
        TABLE, FIELDS, sorted(known, key=lambda row: (COMPARED.index(row["case"]), row["place"], int(row["seed"])))
    )


def main(arguments: Sequence[str]) -> int:
    """Make the runs that the table lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--link", type=Path, help="the program aqmlab-link")
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--seeds", type=int, nargs="*", default=list(SEEDS))
    chosen = parser.parse_args(arguments)
    for case in cases():
        if why := missing(case):
            print(f"{case.key} is missing: {why}", flush=True)
    known = rows()
    with ThreadPoolExecutor(chosen.workers) as pool:
        for done in as_completed([pool.submit(task) for task in tasks(known, chosen.seeds, chosen.link)]):
            known.append(done.result())
            keep(known)
            print({name: value for name, value in known[-1].items() if name not in ("image", "digest")}, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
