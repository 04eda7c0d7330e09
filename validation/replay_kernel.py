"""Linux's own CoDel in the emulated machine: every decision and state, replayed by the core.

`python validation/replay_kernel.py` makes the runs (about 10 minutes of two cores; kernels and headers are fetched with
apt) into ``tests/data/vm/kernel-decisions.csv``; `report` counts them. The tap for Linux 7.3 compiles on Debian trixie
only: with ``--modules FOLDER`` a compiled one is read from ``FOLDER/RELEASE.ko``.
"""

from __future__ import annotations

import argparse
import hashlib
import struct
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from aqmlab.interop.kernel.export import plan_and_link
from aqmlab.interop.kernel.replay import ReplayedLog, replay_log
from aqmlab.interop.kernel.tap import tapped_queue
from aqmlab.live.plan import live_plan
from aqmlab.live.tc import module
from aqmlab.live.tc.tap import Tap, tap_program
from aqmlab.live.vm import backend
from aqmlab.live.vm.build import Image, find
from aqmlab.live.vm.kernels import age, images
from aqmlab.scenario.file import Scenario
from csv_rows import read_rows, write_rows
from replay_modules import CUBIC, SCENARIO, UDP
from replays import Replays, Row, compiled_tap, counts_and_equality, make_runs, outcome, total

TITLE = "Linux's own CoDel, replayed by the core"
TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "kernel-decisions.csv"
KERNELS = "7.3"
"""Prefixes of further kernel releases, in addition to the release of the current image."""
DECISIONS = 100_000
"""Least decisions in each kernel."""
FLOW = '[[flow]]\nname = "{}"\nstart = "0s"\n'
ONE, OTHER = FLOW.format("one"), FLOW.format("other")
TRAFFIC = {
    "TCP": ONE + CUBIC.format("false") + OTHER + CUBIC.format("false"),
    "TCP with ECN": ONE + CUBIC.format("true") + OTHER + CUBIC.format("true"),
    "UDP, 80 % load": ONE + UDP.format(1000, 16),
    "UDP, 110 % load": ONE + UDP.format(700, 12) + OTHER + UDP.format(1000, 10),
    "UDP, 200 % load": ONE + UDP.format(700, 20) + OTHER + UDP.format(1000, 20),
    "TCP and UDP with ECN": ONE + UDP.format(500, 6) + OTHER + CUBIC.format("true"),
}
SETTINGS = {
    "default": "",
    "target 1 ms, interval 20 ms": 'target = "1ms"\ninterval = "20ms"\n',
    "target 20 ms, interval 200 ms": 'target = "20ms"\ninterval = "200ms"\n',
    "limit 30": 'limit = "30p"\n',
    "target 0.1 ms, interval 1 ms": 'target = "0.1ms"\ninterval = "1ms"\n',
}
CASES = (
    ("default", "TCP with ECN", 4),
    ("default", "TCP", 4),
    ("default", "UDP, 200 % load", 4),
    ("target 0.1 ms, interval 1 ms", "TCP with ECN", 4),
    ("default", "TCP and UDP with ECN", 4),
    ("target 1 ms, interval 20 ms", "TCP with ECN", 4),
    ("target 0.1 ms, interval 1 ms", "UDP, 110 % load", 4),
    ("default", "UDP, 110 % load", 4),
    ("limit 30", "TCP", 4),
    ("target 20 ms, interval 200 ms", "TCP", 4),
    ("default", "UDP, 80 % load", 3),
)
"""Settings, traffic and length in s of each run; the queue marks where the traffic has ECN."""
TICK_S = 1.024e-6
ARRIVAL, DEPARTURE, EMPTY, RESET = 16, 17, 18, 19
RECORD = np.dtype(
    {
        "names": ["time_ns", "span_ns", "tick", "bytes", "first", "second", "kind"],
        "formats": ["<u8", "<u4", "<u4", "<u4", "<u4", "<u4", "u1"],
        "offsets": [0, 8, 12, 24, 32, 36, 56],
        "itemsize": 64,
    }
)
"""The fields of a tap's record that are read here; ``tap.h`` has all fields."""
FIELDS = (
    *("settings", "traffic", "kernel", "image", "decisions", "marks", "drops", "empty", "longest_call_ns", "crossing"),
    *("sha256", "fault", "difference"),
)


@dataclass(frozen=True)
class Fault:
    """A fault put in on purpose: a run, a setting of the core, and the place and change of its value in a reset."""

    case: tuple[str, str]
    overrides: dict[str, str]
    offset: int
    added: int


FAULTS = {
    "interval one tick longer": Fault(
        ("default", "TCP with ECN"), {"queue.bottleneck.interval": f"{(97_657 + 0.5) * TICK_S:.10f}s"}, 36, 1
    ),
    "target 20 ticks longer": Fault(
        ("target 1 ms, interval 20 ms", "TCP with ECN"),
        {"queue.bottleneck.target": f"{(996 + 0.5) * TICK_S:.10f}s"},
        32,
        20,
    ),
    "largest packet one byte less": Fault(
        ("target 0.1 ms, interval 1 ms", "TCP with ECN"), {"queue.bottleneck.max_packet": "1513B"}, 44, -1
    ),
}
"""Faults of the core. The log's reset is changed too, so that only decisions and states can show the fault."""


def scenario(settings: str, traffic: str, seconds: int) -> Scenario:
    """Return the scenario of a run."""
    queue = 'aqm = "codel"\ndialect = "linux"\n' + SETTINGS[settings] + ("ecn = true\n" if "ECN" in traffic else "")
    return Scenario.from_text(SCENARIO.format(seconds=seconds, queue=queue, flows=TRAFFIC[traffic]))


def log_of(case: Scenario, image: Image, program: bytes, seed: int = 1) -> bytes:
    """Run a scenario with Linux's CoDel below the tap, and return the log."""
    tap = Tap(tapped_queue(*plan_and_link(case)), program)
    return module.log_of(backend.run(live_plan(case, seed=seed), image=image, module=tap))


def replayed(case: Scenario, log: bytes) -> ReplayedLog:
    """Replay a log in the core."""
    return replay_log(tapped_queue(*plan_and_link(case)), log)


def with_fault(log: bytes, fault: Fault) -> bytes:
    """Return a log whose resets state the faulty settings."""
    changed = bytearray(log)
    for at in range(0, len(log), RECORD.itemsize):
        if log[at + 56] == RESET:
            (value,) = struct.unpack_from("<I", log, at + fault.offset)
            struct.pack_into("<I", changed, at + fault.offset, value + fault.added)
    return bytes(changed)


def faulty(case: Scenario, log: bytes, fault: Fault) -> ReplayedLog:
    """Replay a log in a core with a fault."""
    changed = Scenario.from_text(case.text, overrides={**fault.overrides})
    return replayed(changed, with_fault(log, fault))


def rows_of(settings: str, traffic: str, seconds: int, image: Image, program: bytes) -> list[Row]:
    """Make a run and replay it, also with the faults of `FAULTS`."""
    case = scenario(settings, traffic, seconds)
    log = log_of(case, image, program)
    calls = np.frombuffer(log, RECORD)
    calls = calls[calls["kind"] != RESET]
    asked = calls[calls["kind"] != EMPTY]
    row = {
        "settings": settings,
        "traffic": traffic,
        "kernel": image.release,
        "image": image.manifest["sha256"]["kernel"],
        "empty": str(np.count_nonzero(calls["kind"] == EMPTY)),
        "longest_call_ns": str(calls["span_ns"].max()),
        "crossing": str(np.count_nonzero(asked["time_ns"] >> 10 != (asked["time_ns"] + asked["span_ns"]) >> 10)),
        "sha256": hashlib.sha256(log).hexdigest(),
        "fault": "",
    }
    rows = [row | outcome(replayed(case, log))]
    for name, fault in FAULTS.items():
        if fault.case == (settings, traffic):
            rows.append(row | {"fault": name} | outcome(faulty(case, log, fault)))
    return rows


def rows() -> list[Row]:
    """Read the runs that were made."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether every run is equal and every fault is found."""
    found = Replays.of(rows())
    runs, faults, differing, missed = found.runs, found.faults, found.differing, found.missed
    kernels = found.kernels
    totals = [total([row for row in runs if row["kernel"] == kernel], "decisions") for kernel, _ in kernels]
    crossing, empty = total(runs, "crossing"), total(runs, "empty")
    lines = ["| settings | traffic | Linux | decisions | marks | drops | equal |", "|---|---|---|---|---|---|---|"]
    for row in runs:
        lines.append(f"| {row['settings']} | {row['traffic']} | {row['kernel']} | {counts_and_equality(row)} |")
    parts = [
        PAGE,
        f"**{len(runs) - len(differing)} of {len(runs)} runs are equal in every decision and state: "
        f"{total(runs, 'decisions'):,} decisions, {total(runs, 'marks'):,} marks, {total(runs, 'drops'):,} "
        f"drops.** {found.faults_found}",
        "\n".join(lines),
        TIMES.format(
            crossing=crossing, empty=empty, longest=max((int(row["longest_call_ns"]) for row in runs), default=0)
        ),
        DIFFERENCES,
        "\n".join([
            "## Faults put in on purpose\n", FAULTS_TEXT, "| fault | Linux | first difference |", "|---|---|---|",
            *(f"| {row['fault']} | {row['kernel']} | {row['difference'] or '**none**'} |" for row in faults),
        ]),
        "\n".join([
            "## Kernels\n", "| kernel | decisions | SHA-256 of the kernel |", "|---|---|---|",
            *(f"| {k} | {total:,} | `{i}` |" for (k, i), total in zip(kernels, totals, strict=True)),
        ]),
    ]  # fmt: skip
    parts += [f"* {row['settings']}, {row['traffic']}, {row['kernel']}: {row['difference']}" for row in differing]
    enough = len(totals) > 0 and min(totals) >= DECISIONS
    return "\n\n".join(parts), enough and not differing and not missed


PAGE = """A tap (`sch_aqmlab_tap.c`, a kernel module) is a qdisc with one class, whose child is the kernel's unchanged
`sch_codel`. It stands below a token bucket of 20 Mbit/s in the [emulated machine](../live-vm.md). It logs each enqueue
and dequeue: packet, length, ECN field, return code and backlog. After each call it also logs CoDel's state:
`first_above_time`, `drop_next`, `count`, `lastcount`, `rec_inv_sqrt` and `dropping`.

The core repeats the calls in the dialect `linux` at the same ticks. After each call it compares the packet that
departs (and so the packets that CoDel dropped before it), its ECN field, drops at the arrival, backlog in packets and
bytes, and all six variables of the state. At the start it compares target and interval in ticks, limit, largest packet
and ECN with the kernel's. A difference ends the replay; it is shown with both states before and after the call.

A decision is a packet's arrival or departure. Queues mark where the traffic has ECN; UDP does not have it."""
TIMES = """## Times

CoDel reads the clock itself, in ticks of 1024 ns. The tap does not infer this time: CoDel keeps the tick of an arrival
in the packet, and the tick of a departure is that of the packet's arrival plus CoDel's `ldelay`. The tap also reads the
clock before and after the call, and the replay requires the tick to lie between these readings. In {crossing:,} of the
calls they are in different ticks, so that the clock alone would not decide the tick; the longest call took {longest:,}
ns of the emulator's virtual time. Calls that find an empty queue ({empty:,}) and arrivals that are dropped use the
time before the call: CoDel's decision does not depend on it."""
DIFFERENCES = """## Differences by design

* **Drops per call.** Linux 7.3 drops at most 256 packets in one call of `codel_dequeue` and then schedules the next
  drop from now; Linux 6.1 and the core have no such bound.
* **Least distance of drops.** In Linux 7.3 drops are at least one tick apart. In Linux 6.1 and the core
  `interval/sqrt(count)` may be 0 ticks.
* **Wrapping times.** Linux has ticks of 32 bits, which wrap after 4398 s, the core of 64 bits. A `first_above_time` of
  exactly 0 means "not set" in Linux.
* **CE threshold.** The replay requires the same `ce_threshold` on both sides. It is off in these runs; a recorded
  run of Linux 6.1 with 2 ms is replayed by `tests/python/test_kernel_tap.py`.

No run here reaches one of them."""


FAULTS_TEXT = """The core has the faulty setting, and the log's record of the kernel's settings is changed to it: only
decisions and states can show the fault. How small a change of a setting is found depends on the delays and backlogs
of the run: with a target 10 ticks longer the same log of Linux 6.1 replays without a difference, because no delay that
decides anything lies between the two targets. The settings themselves are compared to the tick at the start.
"""


def main(arguments: Sequence[str]) -> int:
    """Make the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--kernels", default=KERNELS, help="further kernels; runs in others stay")
    parser.add_argument("--traffic", nargs="+", choices=TRAFFIC, default=list(TRAFFIC), help="which; others stay")
    parser.add_argument("--modules", type=Path, help="folder with compiled taps, RELEASE.ko")
    chosen = parser.parse_args(arguments)
    kernels = [find(), *(images(chosen.kernels) if chosen.kernels else ())]
    programs = [compiled_tap(image, chosen.modules, tap_program) for image in kernels]
    again = {image.release for image in kernels}
    found = [row for row in rows() if row["kernel"] not in again or row["traffic"] not in chosen.traffic]
    tasks = [
        partial(rows_of, *case, image, program)
        for case in CASES
        if case[1] in chosen.traffic
        for image, program in zip(kernels, programs, strict=True)
    ]
    make_runs(tasks, found, write, chosen.workers)
    return 0


def write(found: list[Row]) -> None:
    """Write the runs in the order of cases and kernels."""
    order = [case[:2] for case in CASES]
    found.sort(key=lambda row: (row["fault"], order.index((row["settings"], row["traffic"])), age(row["kernel"])))
    write_rows(TABLE, FIELDS, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
