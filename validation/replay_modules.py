"""Disciplines as kernel modules in the emulated machine: every decision with real TCP and UDP, replayed by the core.

`python validation/replay_modules.py` makes the runs (about 40 minutes of two cores; kernels and headers are fetched
with apt) into ``tests/data/vm/modules.csv``; `report` counts them.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest import mock

from aqmlab.errors import InputError
from aqmlab.interop.kernel import export
from aqmlab.live.plan import live_plan
from aqmlab.live.tc import module
from aqmlab.live.vm import backend
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.kernels import age, images
from aqmlab.scenario.file import Scenario
from csv_rows import read_rows, write_rows
from replayed import ECT1, with_ecn_fields
from replays import COUNTS, Replays, Row, make_runs, outcome, total

TITLE = "Disciplines inside the kernel, replayed by the core"
TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "modules.csv"
KERNELS = "6.1,6.12,7.3"
DECISIONS = 100_000
"""Least decisions of each queue over its runs."""
RED = 'aqm = "red"\nlimit = "100p"\nmin_th = "10p"\nmax_th = "30p"\nmax_p = 0.1\nw_q = 0.005\n'
QUEUES = {
    "red": RED,
    "red in bytes": RED + 'mode = "bytes"\nmean_packet = "1000B"\n',
    "gentle-red": RED.replace('"red"', '"gentle-red"'),
    "mred": RED.replace('"red"', '"mred"'),
    "exred": RED.replace('"red"', '"exred"'),
    "nlred": RED.replace('"red"', '"nlred"'),
    "adaptive-red": 'aqm = "adaptive-red"\nlimit = "100p"\nmin_th = "10p"\nmax_th = "30p"\nw_q = 0.005\n',
    "rio": 'aqm = "rio"\nlimit = "100p"\nw_q = 0.02\n',
    "wred": 'aqm = "wred"\nlimit = "100p"\nw_q = 0.02\n',
    "adaptive-rio": 'aqm = "adaptive-rio"\nlimit = "100p"\nw_q = 0.02\ntsw_window = "1s"\n',
    "pc-red": 'aqm = "pc-red"\nlimit = "60p"\nw_q = 0.02\nloss_limit = "100B"\nloss_interval = "100ms"\n',
    "ddred": 'aqm = "ddred"\nlimit = "60p"\nw_q = 0.02\n',
    "ddred-tail": 'aqm = "ddred-tail"\nlimit = "40p"\nlast_n = 5\n',
    "dualpi2": 'aqm = "dualpi2"\ndialect = "linux"\nlimit = "150p"\n',
}
NO_ECN = ("ddred-tail",)
FLOW = '[[flow]]\nname = "{}"\nstart = "0s"\ndscp = "{}"\nttl = {}\n'
CUBIC = 'count = 3\ntransport = "tcp"\ntcp = {{ congestion_control = "cubic", ecn = {} }}\n'
UDP = 'transport = "udp"\npacket_size = "{}B"\nrate = "{}Mbps"\n'
NEAR, FAR = FLOW.format("near", "AF11", 64), FLOW.format("far", "BE", 60)
TRAFFIC = {
    "TCP": (False, 14, NEAR + CUBIC.format("false") + FAR + CUBIC.format("false")),
    "TCP with ECN": (True, 14, NEAR + CUBIC.format("true") + FAR + CUBIC.format("true")),
    "UDP": (False, 7, NEAR + UDP.format(700, 12) + FAR + UDP.format(1000, 10)),
    "TCP and UDP": (False, 11, NEAR + CUBIC.format("false") + FAR + UDP.format(500, 6)),
    "TCP and UDP with ECN": (True, 11, NEAR + UDP.format(500, 6) + FAR + CUBIC.format("true")),
}
"""Whether the queue marks, the length in s, and the flows."""
SCENARIO = """format = 1
name = "module"
[run]
duration = "{seconds}s"
warmup = "1s"
[dumbbell]
bottleneck = {{ rate = "20Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "1Gbps", delay = "0ms" }}
right = {{ rate = "1Gbps", delay = "0ms" }}
[queue.bottleneck]
{queue}
{flows}"""
FAULTS = {
    "the average's shift": (
        "red",
        "decision.h",
        "- (scaled >> AQMLAB_W_LOG)",
        "- (scaled >> (AQMLAB_W_LOG + 1))",
    ),
    "p_b": ("mred", "decision.h", "((u64)(point[1] - point[0]) * z)", "((u64)(point[1] - point[0]) * (z >> 1))"),
    "the victim": ("ddred", "victim.h", "rank = ties;", "rank = 1;"),
    "beta": ("dualpi2", "dualpi2.h", "(delay - q->delay) * AQMLAB_BETA", "(delay - q->delay) * (AQMLAB_BETA + 1)"),
}
"""Faults put in on purpose: the queue, the file, the right words and the wrong ones."""
FIELDS = ("queue", "traffic", "kernel", "image", "decisions", "marks", "drops", "sha256", "fault", "difference")


def scenario(queue: str, traffic: str) -> Scenario:
    """Return the scenario of a queue with a traffic."""
    marks, seconds, flows = TRAFFIC[traffic]
    table = QUEUES[queue] + ("ecn = true\n" if marks and queue not in NO_ECN else "")
    if queue == "pc-red":
        flows = flows.replace('dscp = "AF11"', 'dscp = "AF11"\npriority = true')
    if queue == "dualpi2":
        flows = flows.replace('dscp = "AF11"', f"dscp = {ECT1}")
    return Scenario.from_text(SCENARIO.format(seconds=seconds, queue=table, flows=flows))


def rows_of(queue: str, traffic: str, image: Image, made: module.KernelModule, fault: str = "") -> list[Row]:
    """Make a run and replay it. Return its row."""
    plan = live_plan(scenario(queue, traffic), seed=1)
    log = module.log_of(backend.run(plan, image=image, module=made, change=with_ecn_fields))
    row = {"queue": queue, "traffic": traffic, "kernel": image.release, "image": image.manifest["sha256"]["kernel"]}
    row |= {"sha256": hashlib.sha256(log).hexdigest(), "fault": fault}
    try:
        found = module.replayed(made.queue, log)
    except InputError as error:
        return [row | {"difference": str(error)}]
    return [row | outcome(found)]


@contextmanager
def wrong(file: str, right: str, instead: str) -> Iterator[None]:
    """Write modules with a fault."""
    text_of = export.text_of

    def text(name: str) -> str:
        assert name != file or right in text_of(name), f"{file}: {right}"
        return text_of(name).replace(right, instead) if name == file else text_of(name)

    with mock.patch.object(export, "text_of", text):
        yield


def tasks(kernels: Sequence[Image], queues: Sequence[str]) -> list[Callable[[], list[Row]]]:
    """Return the runs of queues, each to be called; modules are compiled here, one after the other."""
    found: list[Callable[[], list[Row]]] = []
    for at, queue in enumerate(queues):
        for other, traffic in enumerate(TRAFFIC):
            image = kernels[(at + other) % len(kernels)]
            made = backend.compiled(export.kernel_queue(scenario(queue, traffic)), image)
            found.append(partial(rows_of, queue, traffic, image, made))
    for fault, (queue, file, *change) in FAULTS.items():
        if queue not in queues:
            continue
        with wrong(f"module/{file}", *change):
            made = backend.compiled(export.kernel_queue(scenario(queue, "TCP")), kernels[0])
        found.append(partial(rows_of, queue, "TCP", kernels[0], made, fault))
    return found


def rows() -> list[Row]:
    """Read the runs that were made."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether every run is equal and every fault is found."""
    found = Replays.of(rows())
    runs, faults, differing, missed = found.runs, found.faults, found.differing, found.missed
    lines = [
        "| queue | decisions | marks | drops | kernels | runs | equal bit by bit |",
        "|---|---|---|---|---|---|---|",
    ]
    enough = True
    for queue in QUEUES:
        own = [row for row in runs if row["queue"] == queue]
        count = [total(own, name) for name in COUNTS]
        enough &= count[0] >= DECISIONS
        equal = sum(not row["difference"] for row in own)
        versions = len({row["kernel"] for row in own})
        lines.append(f"| {queue} | {' | '.join(f'{n:,}' for n in count)} | {versions} | {len(own)} | {equal} |")
    kernels = found.kernels
    parts = [
        "A module is generated from each queue, compiled for the kernel of the emulated machine and loaded below a "
        "token bucket of 20 Mbit/s. The core replays its log of decisions with the log's random numbers: averages, "
        "p_b, verdicts, victims, marks and order of departure; of DualPI2, which also decides about packets that "
        "leave, p', delay and credit. At the end the queue is removed, with packets in it, and the module unloaded. "
        f"Each queue meets {', '.join(TRAFFIC)}, by turns in the kernels below.",
        f"**{len(runs) - len(differing)} of {len(runs)} runs are equal bit by bit.** {found.faults_found}",
        "\n".join(lines),
        "\n".join(["| kernel | SHA-256 of the kernel |", "|---|---|", *(f"| {k} | `{i}` |" for k, i in kernels)]),
        "\n".join([
            "| fault | queue | what the replay reports |", "|---|---|---|",
            *(f"| {row['fault']} | {row['queue']} | {row['difference'] or 'nothing'} |" for row in faults),
        ]),
    ]  # fmt: skip
    parts += [f"* {row['queue']}, {row['traffic']}, {row['kernel']}: {row['difference']}" for row in differing]
    return "\n\n".join(parts), bool(runs) and enough and not differing and not missed


def main(arguments: Sequence[str]) -> int:
    """Make the runs that the table lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--queues", nargs="+", choices=QUEUES, default=list(QUEUES), help="which; others stay")
    parser.add_argument("--kernels", default=KERNELS, help="beginnings of their releases; runs in others stay")
    chosen = parser.parse_args(arguments)
    kernels = images(chosen.kernels)
    again = {image.release for image in kernels}
    found = [row for row in rows() if row["queue"] not in chosen.queues or row["kernel"] not in again]
    make_runs(tasks(kernels, chosen.queues), found, write, chosen.workers)
    return 0


def write(found: list[Row]) -> None:
    """Write the runs in the order of queues and traffics."""
    order = list(QUEUES), list(TRAFFIC)
    found.sort(
        key=lambda row: (row["fault"], order[0].index(row["queue"]), order[1].index(row["traffic"]), age(row["kernel"]))
    )
    write_rows(TABLE, FIELDS, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
