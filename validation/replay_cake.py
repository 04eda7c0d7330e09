"""Linux's own CAKE in the emulated machine: every decision, replayed by the core.

`python validation/replay_cake.py` makes the runs (about 40 minutes of two cores; kernels and headers are fetched with
apt) into ``tests/data/vm/cake-decisions.csv``; `report` counts them. For Linux 7.3 see `replay_kernel`.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from aqmlab.interop.kernel import cake
from aqmlab.interop.kernel.export import plan_and_link
from aqmlab.interop.kernel.replay import ReplayedLog, replay_log
from aqmlab.live.plan import live_plan
from aqmlab.live.tc import module
from aqmlab.live.tc.job import LOGGED, Options, script
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm import archive
from aqmlab.live.vm.build import Image, find
from aqmlab.live.vm.kernels import age, images
from aqmlab.live.vm.machine import boot
from aqmlab.scenario.file import Scenario
from csv_rows import read_rows, write_rows
from replays import Replays, Row, compiled_tap, counts_and_equality, make_runs, outcome, total

TITLE = "Linux's own CAKE, replayed by the core"
TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "cake-decisions.csv"
KERNELS = "6.12,7.3"
"""Prefixes of further kernel releases, in addition to the release of the current image."""
DECISIONS = 500_000
"""Least decisions of all runs."""
SCENARIO = """format = 1
name = "cake"
[run]
duration = "{seconds}s"
[dumbbell]
bottleneck = {{ rate = "{link}", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "1Gbps", delay = "0ms" }}
right = {{ rate = "1Gbps", delay = "0ms" }}
[queue.bottleneck]
aqm = "cake"
{queue}
{flows}"""
HEADER = "overhead = 14\n"
"""Linux counts Ethernet's header where ``overhead`` is not given."""
WAY_THERE = "netem delay 10ms rate 100mbit limit 300"
"""The way of data whose acknowledgements are filtered."""
RECORDS = LOGGED * 4
"""Records of the log between two looks at the queue: cake has up to four for each call."""


def tcp(name: str, count: int = 1, dscp: str | int = "BE", *, ecn: bool = False) -> str:
    """Write a group of TCP flows."""
    kind = f'transport = "tcp"\ntcp = {{ congestion_control = "cubic", ecn = {str(ecn).lower()} }}\n'
    return _flow(name, count, dscp) + kind


def udp(name: str, length: int, mbps: float, count: int = 1, dscp: str | int = "BE") -> str:
    """Write a group of UDP flows; the rate is that of each."""
    return _flow(name, count, dscp) + f'transport = "udp"\npacket_size = "{length}B"\nrate = "{mbps}Mbps"\n'


def _flow(name: str, count: int, dscp: str | int) -> str:
    point = dscp if isinstance(dscp, int) else f'"{dscp}"'
    return f'[[flow]]\nname = "{name}"\nstart = "0s"\ncount = {count}\ndscp = {point}\n'


@dataclass(frozen=True)
class Case:
    """A scenario.

    Attributes
    ----------
    words
        Of tc.
    queue
        The same in the words of a scenario.
    flows
        The traffic.
    seconds, link
        Length of the run, and rate of the token bucket above the tap.
    joined
        Senders hand on packets that the kernel splits later.
    filters
        The tap stands on the way back, and logs TCP's headers.
    """

    words: str
    queue: str
    flows: str
    seconds: int = 3
    link: str = "25Mbps"
    joined: bool = False
    filters: bool = False


ACKS = tcp("plain", 2) + tcp("marked", 4, ecn=True)
CASES = {
    "besteffort": Case(
        "bandwidth 15mbit besteffort",
        HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"',
        tcp("marked", 2, ecn=True) + tcp("plain", 2) + udp("small", 200, 5),
    ),
    "diffserv3": Case(
        "bandwidth 15mbit diffserv3",
        HEADER + 'rate = "15Mbps"\ndiffserv = "diffserv3"',
        tcp("best", 2, ecn=True) + tcp("bulk", 1, "CS1") + udp("voice", 200, 5, 1, "EF") + udp("le", 1000, 5, 1, 1),
    ),
    "diffserv4": Case(
        "bandwidth 15mbit diffserv4",
        HEADER + 'rate = "15Mbps"\ndiffserv = "diffserv4"',
        tcp("best", 2) + tcp("bulk", 1, "CS1") + udp("voice", 200, 6, 1, "EF") + tcp("video", 1, "AF41", ecn=True),
    ),
    "diffserv8": Case(
        "unlimited diffserv8",
        HEADER + 'diffserv = "diffserv8"',
        tcp("best", 2) + tcp("le", 1, 1) + udp("ef", 200, 6, 1, "EF") + tcp("af21", 1, "AF21", ecn=True)
        + udp("cs6", 500, 4, 1, "CS6") + udp("cs2", 300, 3, 1, "CS2"),
    ),
    "precedence": Case(
        "bandwidth 15mbit precedence",
        HEADER + 'rate = "15Mbps"\ndiffserv = "precedence"',
        tcp("best", 2) + tcp("cs1", 1, "CS1") + udp("cs5", 200, 6, 1, "CS5") + tcp("cs3", 1, "CS3", ecn=True)
        + udp("cs7", 400, 2, 1, "CS7"),
    ),
    "hosts with 1 and 32 flows": Case(
        "bandwidth 15mbit besteffort triple-isolate",
        HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "triple-isolate"',
        tcp("one") + tcp("many", 32) + udp("small", 200, 5),
    ),
    "sources with 1 and 16 flows": Case(
        "bandwidth 15mbit besteffort dual-srchost",
        HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "dual-srchost"',
        udp("one", 300, 10) + udp("many", 400, 1, 16),
    ),
    "nat": Case(
        "bandwidth 15mbit besteffort nat dual-dsthost",
        HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "dual-dsthost"\nnat = true',
        tcp("one") + tcp("many", 8) + udp("small", 300, 4),
    ),
    "ack-filter": Case(
        "bandwidth 5mbit besteffort ack-filter",
        HEADER + 'rate = "5Mbps"\ndiffserv = "besteffort"\nack_filter = "on"',
        ACKS, link="50Mbps", filters=True,
    ),
    "ack-filter-aggressive": Case(
        "bandwidth 5mbit besteffort ack-filter-aggressive",
        HEADER + 'rate = "5Mbps"\ndiffserv = "besteffort"\nack_filter = "aggressive"',
        ACKS, link="50Mbps", filters=True,
    ),
    "atm, overhead 44": Case(
        "bandwidth 12mbit besteffort overhead 44 atm",
        'rate = "12Mbps"\ndiffserv = "besteffort"\noverhead = 44\nlinklayer = "atm"',
        tcp("marked", 2, ecn=True) + tcp("plain", 2) + udp("small", 200, 3),
    ),
    "split-gso": Case(
        "bandwidth 15mbit besteffort split-gso",
        HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"',
        tcp("plain", 2) + tcp("marked", 2, ecn=True) + udp("small", 200, 3), joined=True,
    ),
    "memlimit 64 KiB": Case(
        "bandwidth 12mbit besteffort memlimit 64kb",
        HEADER + 'rate = "12Mbps"\ndiffserv = "besteffort"\nmemlimit = "65536B"',
        udp("small", 300, 10, 2) + tcp("plain", 4) + udp("long", 1000, 4),
    ),
    "ingress": Case(
        "bandwidth 12mbit besteffort ingress flows",
        HEADER + 'rate = "12Mbps"\ndiffserv = "besteffort"\ningress = true\nisolation = "flows"',
        udp("small", 300, 8, 2) + tcp("plain", 4) + tcp("marked", 2, ecn=True),
    ),
    "unlimited": Case(
        "unlimited besteffort",
        HEADER + 'diffserv = "besteffort"',
        udp("small", 300, 8) + tcp("plain", 4) + tcp("marked", 2, ecn=True),
    ),
    "autorate-ingress": Case(
        "bandwidth 8mbit besteffort autorate-ingress",
        HEADER + 'rate = "8Mbps"\ndiffserv = "besteffort"\nautorate_ingress = true',
        udp("small", 300, 5) + tcp("plain", 4),
    ),
    "wash, hosts": Case(
        "bandwidth 15mbit diffserv4 wash hosts",
        HEADER + 'rate = "15Mbps"\ndiffserv = "diffserv4"\nwash = true\nisolation = "hosts"',
        tcp("best", 2) + tcp("bulk", 1, "CS1") + udp("voice", 200, 6, 1, "EF") + tcp("video", 1, "AF41", ecn=True),
    ),
}  # fmt: skip
FAULTS = {
    "a byte more of overhead": ("besteffort", {"queue.bottleneck.overhead": "15"}),
    "rtt 101 ms": ("besteffort", {"queue.bottleneck.rtt": '"101ms"'}),
    "equal shares of flows": ("hosts with 1 and 32 flows", {"queue.bottleneck.isolation": '"flows"'}),
    "diffserv3 for diffserv4": ("diffserv4", {"queue.bottleneck.diffserv": '"diffserv3"'}),
    "without the ACK filter": ("ack-filter", {"queue.bottleneck.ack_filter": '"off"'}),
    "64 bytes of memory less": ("memlimit 64 KiB", {"queue.bottleneck.memlimit": '"65472B"'}),
    "ingress as egress": ("ingress", {"queue.bottleneck.ingress": "false"}),
    "the dialect of another kernel": ("besteffort", {"queue.bottleneck.dialect": "another"}),
}
"""Faults put in on purpose: a run, and a setting of the core that is not the kernel's."""
DEPARTURE, CALLS = 33, (32, 33)
RECORD = np.dtype({"names": ["count", "kind"], "formats": ["<u4", "u1"], "offsets": [12, 56], "itemsize": 64})
FIELDS = ("scenario", "kernel", "image", "decisions", "marks", "drops", "values", "sha256", "fault", "difference")


def dialect(release: str) -> str:
    """Return the core's dialect of a kernel.

    >>> dialect("6.12.95+deb12-cloud-amd64")
    'linux-6.12'
    """
    found = re.match(r"[0-9]+\.[0-9]+", release)
    return f"linux-{found[0] if found else release}"


def scenario(name: str) -> Scenario:
    """Return the scenario of a case."""
    case = CASES[name]
    return Scenario.from_text(SCENARIO.format(seconds=case.seconds, link=case.link, queue=case.queue, flows=case.flows))


@dataclass(frozen=True)
class Programs:
    """The tap and the kernel's own cake, which imports the tap's functions."""

    tap: bytes
    child: bytes


def programs_for(image: Image, folder: Path | None) -> Programs:
    """Compile the tap for an image's kernel, or take the compiled one, and change the imports of the image's cake."""
    tap = compiled_tap(image, folder, lambda build: module.program_of(cake.tap_files(), cake.MODULE, build))
    return Programs(tap, cake.with_logged_imports(_module_of(image, cake.CHILD)))


def _module_of(image: Image, name: str) -> bytes:
    """Read a module out of an image."""
    with tempfile.TemporaryDirectory(prefix="aqmlab-image-") as folder, image.initramfs.open("rb") as packed:
        path = f"modules/{name}.ko"
        subprocess.run(["cpio", "-id", "--quiet", path], stdin=packed, cwd=folder, check=True)
        return (Path(folder) / path).read_bytes()


def log_of(name: str, image: Image, programs: Programs, seed: int = 1) -> bytes:
    """Run a scenario with Linux's cake below the tap, and return the log."""
    case = CASES[name]
    setting = setting_of(live_plan(scenario(name), seed=seed), qdisc=cake.below_tap(case.words))
    options = Options(ping_interval_s=0, gso=case.joined, module=cake.MODULE)
    if case.joined:
        # The token bucket would split packets that are longer than its burst.
        options = replace(options, burst=100_000)
    text = _with_child(script(setting, options), case)
    files = {
        f"job/{cake.MODULE}.ko": archive.file(programs.tap),
        f"job/{cake.CHILD}.ko": archive.file(programs.child),
    }
    return module.log_of(PeerRun(setting, boot(image, text, seed=seed, files=files).lines, {}, 0))


def _with_child(text: str, case: Case) -> str:
    """Load the changed cake above the tap; let the tap stand on the way back of a link of 100 Mbit/s if it filters."""
    load = f'must insmod "$JOB/{cake.MODULE}.ko" log={LOGGED}'
    remove = f"  must rmmod {cake.MODULE}"
    assert load in text
    assert remove in text
    child = f'\nmust rmmod {cake.CHILD}\nmust insmod "$JOB/{cake.CHILD}.ko"'
    text = text.replace(load, load.replace(str(LOGGED), f"{RECORDS} headers={case.filters:d}") + child)
    text = text.replace(remove, f"  must rmmod {cake.CHILD}\n{remove}")
    if not case.filters:
        return text
    text = text.replace("tc qdisc add dev rb", "tc qdisc add dev RA").replace("qdisc del dev rb", "qdisc del dev ra")
    text = text.replace("qdisc show dev rb", "qdisc show dev ra")
    text = re.sub("tc qdisc add dev ra root .*", f"tc qdisc add dev rb root {WAY_THERE}", text)
    return text.replace("dev RA", "dev ra")


def replayed(case: Scenario, release: str, log: bytes, overrides: dict[str, str] | None = None) -> ReplayedLog:
    """Replay a log in the core."""
    own = dialect(release)
    changed = {"queue.bottleneck.dialect": own, **(overrides or {})}
    if changed["queue.bottleneck.dialect"] == "another":
        changed["queue.bottleneck.dialect"] = "linux-6.12" if own == "linux-6.1" else "linux-6.1"
    return replay_log(cake.cake_queue(*plan_and_link(Scenario.from_text(case.text, overrides=changed))), log)


def rows_of(name: str, image: Image, programs: Programs, keep: Path | None) -> list[Row]:
    """Make a run and replay it, also with the faults of `FAULTS`."""
    log = _kept(name, image, programs, keep)
    case, records = scenario(name), np.frombuffer(log, RECORD)
    row = {
        "scenario": name,
        "kernel": image.release,
        "image": image.manifest["sha256"]["kernel"],
        "values": str(records["count"][np.isin(records["kind"], (*CALLS, DEPARTURE + 1))].sum()),
        "sha256": hashlib.sha256(log).hexdigest(),
        "fault": "",
    }
    rows = [row | outcome(replayed(case, image.release, log))]
    for fault, (run, overrides) in FAULTS.items():
        if run == name:
            rows.append(row | {"fault": fault} | outcome(replayed(case, image.release, log, overrides)))
    return rows


def _kept(name: str, image: Image, programs: Programs, folder: Path | None) -> bytes:
    """Return the log of a run; it is kept in the folder, and read again on later calls."""
    kept = None if folder is None else folder / f"{image.release} {name}.log"
    if kept is not None and kept.is_file():
        return kept.read_bytes()
    log = log_of(name, image, programs)
    if kept is not None:
        kept.write_bytes(log)
    return log


def rows() -> list[Row]:
    """Read the runs that were made."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether every run is equal and every fault is found."""
    found = Replays.of(rows())
    runs, faults, differing, missed = found.runs, found.faults, found.differing, found.missed
    lines = ["| scenario | words of tc | Linux | decisions | marks | drops | equal |", "|---|---|---|---|---|---|---|"]
    for row in runs:
        words = CASES[row["scenario"]].words
        lines.append(f"| {row['scenario']} | `{words}` | {row['kernel']} | {counts_and_equality(row)} |")
    scenarios = Counter(row["scenario"] for row in runs)
    decisions = total(runs, "decisions")
    parts = [
        PAGE,
        f"**{len(runs) - len(differing)} of {len(runs)} runs of {len(scenarios)} scenarios are equal in every "
        f"decision: {decisions:,} decisions, {total(runs, 'marks'):,} marks, {total(runs, 'drops'):,} drops, "
        f"{total(runs, 'values'):,} times, random numbers and hashes.** {found.faults_found}",
        "\n".join(lines),
        GOODPUT,
        DIFFERENCES,
        "\n".join([
            "## Faults put in on purpose\n", FAULTS_TEXT, "| fault | scenario | Linux | first difference |",
            "|---|---|---|---|",
            *(
                f"| {row['fault']} | {row['scenario']} | {row['kernel']} | {row['difference'] or '**none**'} |"
                for row in faults
            ),
        ]),
        "\n".join([
            "## Kernels\n", "| kernel | SHA-256 of the kernel |", "|---|---|",
            *(f"| {k} | `{i}` |" for k, i in found.kernels),
        ]),
    ]  # fmt: skip
    parts += [f"* {row['scenario']}, {row['kernel']}: {row['difference']}" for row in differing]
    return "\n\n".join(parts), decisions >= DECISIONS and len(scenarios) >= 12 and not differing and not missed


PAGE = """A tap (`sch_aqmlab_cake.c`, a kernel module) is a qdisc with one class, whose child is the kernel's
`sch_cake`. It stands below a token bucket in the [emulated machine](../live-vm.md). It logs each enqueue and dequeue:
packet, length, code point, ECN field, memory, return code, backlog, and the packets and bytes that the parent counts.
It also logs each value that cake gets from the kernel: `ktime_get`, `get_random_u16`, `get_random_u32` and
`flow_hash_from_keys`.

Cake is the distribution's file `sch_cake.ko` with unchanged code. Its four imported names are changed to those of
functions of the tap, which call the kernel's functions and log the value. Probes (kretprobes) at the kernel's functions
lose about one value in a thousand, since a probe does not see a call in the interrupt of another probe.

The core repeats the calls at the logged times with the logged numbers and hashes, in the [dialect](../cake.md) of the
kernel. After each call it compares:

* the packet that departs (and so the packets that cake dropped before it), its length, its length in the shaper, its
  code point and ECN field;
* the backlog in packets and bytes, and that the parent counts the same;
* that the core used all values of the call, in their order: a flow that begins a round too early or too late draws a
  number too many or too few.

The first difference ends the replay. Sequence numbers identify the segments of a packet that cake splits.

A decision is a packet's arrival or departure. The ACK filter stands on the way back of a link of 100 Mbit/s, with a
shaper of 5 Mbit/s."""
GOODPUT = """The same packets leave at the same times, so that the goodput of each flow and of each host is the same
to the byte."""
DIFFERENCES = """## Differences between kernels

The core has them as `dialect`:

* **Roots.** The table of `1/sqrt(count)` in Linux 6.1 differs from the table of later kernels at counts 2, 3 and 6.
* **BLUE.** In Linux 7.3 BLUE draws no number for a packet that the control law drops.
* **autorate-ingress.** In Linux 6.1 and 6.12 every window of arrivals changes the rate, because these kernels do not
  record the time of a change; Linux 7.3 waits 250 ms.

## Peculiarities of all kernels

The core follows them:

* `1/sqrt(count)` is 0 before a queue's first signal, so its first interval is empty.
* The interval has 32 bits in the control law: of a longer one only the remainder modulo 4.29 s counts
  (`rtt interplanetary`, tins of a few kbit/s).
* The heap of the longest queues moves a queue down by one level at a time. After several drops the queue on top need
  not be the longest.

## Outside of the replay

The kernel's hashes are taken from the log. Firewall marks and filters of tc are not replayed. With `nat` cake looks in
the table of connections, which is empty here: no address is translated."""
FAULTS_TEXT = """The core has a setting that is not the kernel's; the log is unchanged. A setting without an effect on
the traffic is not found: where each source has one destination, `dual-srchost` decides as `triple-isolate`.
"""


def main(arguments: Sequence[str]) -> int:
    """Make the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--kernels", default=KERNELS, help="further kernels; runs in others stay")
    parser.add_argument("--only", action="store_true", help="the kernels of --kernels alone, without the current image")
    parser.add_argument("--scenarios", nargs="+", choices=CASES, default=list(CASES), help="which; others stay")
    parser.add_argument("--modules", type=Path, help="folder with compiled taps, RELEASE.ko")
    parser.add_argument("--keep", type=Path, help="folder for logs; existing logs are reused")
    chosen = parser.parse_args(arguments)
    kernels = [*(() if chosen.only else (find(),)), *(images(chosen.kernels) if chosen.kernels else ())]
    programs = [programs_for(image, chosen.modules) for image in kernels]
    again = {image.release for image in kernels}
    found = [row for row in rows() if row["kernel"] not in again or row["scenario"] not in chosen.scenarios]
    tasks = [
        partial(rows_of, name, image, program, chosen.keep)
        for name in chosen.scenarios
        for image, program in zip(kernels, programs, strict=True)
    ]
    make_runs(tasks, found, write, chosen.workers)
    return 0


def write(found: list[Row]) -> None:
    """Write the runs in the order of scenarios and kernels."""
    order = list(CASES)
    found.sort(key=lambda row: (row["fault"], order.index(row["scenario"]), age(row["kernel"])))
    write_rows(TABLE, FIELDS, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
