"""Instructions of a discipline's enqueue and dequeue in the kernel, beside Linux's own red.

`python validation/measure_modules.py` boots the emulated machine, whose clock counts instructions, once for each queue
into ``tests/data/vm/module-costs.csv``; `report` compares them.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from aqmlab.interop.kernel.export import kernel_queue
from aqmlab.interop.tc.queues import qdisc_of
from aqmlab.live.tc import module
from aqmlab.live.vm import archive, backend
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.headers import headers
from aqmlab.live.vm.kernels import images
from aqmlab.live.vm.machine import boot
from aqmlab.scenario.file import Scenario
from csv_rows import read_rows, write_rows

TITLE = "Instructions of disciplines inside the kernel"
DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm"
TABLE = DATA / "module-costs.csv"
SOURCES = Path(__file__).parent / "kernel_cost"
KERNELS = "6.1,6.12"
TICKS = 2
"""Of the time stamp counter in an instruction: 2 ns (``-icount shift=1``) at 1 GHz."""
MOST = 1.5
"""Most that a RED queue with a table may cost, as a multiple of ``sch_red``."""
Table = dict[str, str | float]
THRESHOLDS: Table = {"limit": "150000B", "min_th": "15000B", "max_th": "45000B", "max_p": 0.1, "w_q": 0.0078125}
RED: Table = {"aqm": "red", "dialect": "linux", "mode": "bytes", "mean_packet": "1000B", **THRESHOLDS}
PACKETS: Table = {"limit": "100p", "min_th": "10p", "max_th": "30p", "max_p": 0.1, "w_q": 0.0078125}
OWN = "red of Linux"
QUEUES: Mapping[str, tuple[Table, int]] = {
    OWN: (RED, 20),
    "red, Linux's rules, in bytes": (RED, 20),
    "red": ({"aqm": "red", **PACKETS}, 20),
    "gentle-red": ({"aqm": "gentle-red", **PACKETS}, 20),
    "mred": ({"aqm": "mred", **PACKETS}, 20),
    "exred": ({"aqm": "exred", **PACKETS}, 20),
    "nlred": ({"aqm": "nlred", **PACKETS}, 20),
    "adaptive-red": ({"aqm": "adaptive-red", **{k: v for k, v in PACKETS.items() if k != "max_p"}}, 20),
    "rio": ({"aqm": "rio", "limit": "100p", "w_q": 0.0078125}, 20),
    "wred": ({"aqm": "wred", "limit": "100p", "w_q": 0.0078125}, 20),
    "adaptive-rio": ({"aqm": "adaptive-rio", "limit": "100p", "w_q": 0.0078125}, 20),
    "pc-red, 20 packets waiting": ({"aqm": "pc-red", "limit": "100p", "w_q": 0.0078125}, 20),
    "pc-red, 80 packets waiting": ({"aqm": "pc-red", "limit": "100p", "w_q": 0.0078125}, 80),
    "ddred, 20 packets waiting": ({"aqm": "ddred", "limit": "100p", "w_q": 0.0078125}, 20),
    "ddred, 80 packets waiting": ({"aqm": "ddred", "limit": "100p", "w_q": 0.0078125}, 80),
    "ddred-tail, a full queue of 20": ({"aqm": "ddred-tail", "limit": "20p", "last_n": 5}, 20),
}
"""Each with the packets that wait before an arrival."""
TABLES = ("red, Linux's rules, in bytes", "red", "gentle-red", "mred", "exred", "nlred")
"""RED with a table."""
COUNTS = ("accepted", "accepted_ticks", "dropped", "dropped_ticks", "dequeued", "dequeued_ticks", "empty_ticks")
HEAD = ("queue", "accepted", "dropped or marked", "dequeue", "accepted and dequeue, of Linux's")
FIELDS = ("kernel", "image", "queue", "waiting", *COUNTS)
JOB = """fail() {{ echo "{{\\"kind\\":\\"error\\",\\"what\\":\\"$*\\"}}" >&3; exit 1; }}
must() {{ "$@" 2> /tmp/said || fail "$* ($(head -n 1 /tmp/said | tr -d '"'))"; }}
must $IP link add va type veth peer name vb
must $IP link set va up
must $IP link set vb up
{load}
must /usr/sbin/tc qdisc add dev va root {words}
must insmod /job/aqmlab_cost.ko dev=va waiting={waiting}
cd /sys/module/aqmlab_cost/parameters
for name in {names}; do echo "{{\\"kind\\":\\"count\\",\\"name\\":\\"$name\\",\\"data\\":$(cat $name)}}" >&3; done
must /usr/sbin/tc qdisc del dev va root
"""


def measured(queue: str, image: Image) -> dict[str, str]:
    """Boot once and measure one queue."""
    table, waiting = QUEUES[queue]
    plan = Scenario.load(DATA / "red-tcp.toml", overrides={"queue.bottleneck": table})
    files = {"job/aqmlab_cost.ko": archive.file(_cost(image))}
    if queue == OWN:
        load, words = "", qdisc_of(plan, plan.link("bottleneck")).text
    else:
        made = backend.compiled(kernel_queue(plan, link="bottleneck"), image)
        files[f"job/{made.queue.module}.ko"] = archive.file(made.program)
        load, words = f"must insmod /job/{made.queue.module}.ko", made.queue.kind
    job = JOB.format(load=load, words=words, waiting=waiting, names=" ".join(COUNTS))
    told = [json.loads(line) for line in boot(image, job, seed=1, files=files).lines]
    row = {"kernel": image.release, "image": image.manifest["sha256"]["kernel"], "queue": queue}
    return {**row, "waiting": str(waiting), **{one["name"]: str(one["data"]) for one in told if one["kind"] == "count"}}


def _cost(image: Image) -> bytes:
    """Compile the module that measures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(shutil.copytree(SOURCES, Path(name) / "cost"))
        module.make(folder, headers(image.release))
        return (folder / "aqmlab_cost.ko").read_bytes()


def instructions(row: Mapping[str, str]) -> tuple[float, float, float]:
    """Return instructions of an arrival that is accepted, one that drops, and a departure; NaN for none."""
    empty = int(row["empty_ticks"])

    def mean(what: str) -> float:
        n = int(row[what])
        return (int(row[f"{what}_ticks"]) / n - empty) / TICKS if n else float("nan")

    return mean("accepted"), mean("dropped"), mean("dequeued")


def rows() -> list[dict[str, str]]:
    """Read what was measured."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether RED with a table costs at most `MOST` times what Linux's does."""
    parts = [
        "20,000 packets of 1500 bytes are offered to a queue, each while the same number waits. The time stamp counter "
        "is read around each call of `enqueue` and `dequeue`; the emulator's clock counts instructions, so they are "
        "exact. What caches and branches cost on a real processor it does not know. The modules write no log. "
        "`red of Linux` is `sch_red` with the same thresholds. DDRED and PC-RED keep an index of the waiting "
        "packets: a drop costs about the same in a longer queue, and each arrival and departure updates the index. "
        "PC-RED has the kernel dissect a packet's headers for the hash of its flow, which is most of its cost."
    ]
    shown = True
    found = rows()
    for kernel in dict.fromkeys(row["kernel"] for row in found):
        own = {row["queue"]: instructions(row) for row in found if row["kernel"] == kernel}
        base = own[OWN][0] + own[OWN][2]
        lines = [
            "| queue | accepted | dropped or marked | dequeue | accepted and dequeue, of Linux's |",
            "|---|---|---|---|---|",
        ]
        for queue, cost in own.items():
            share = (cost[0] + cost[2]) / base
            shown &= queue not in TABLES or share <= MOST
            words = " | ".join("-" if one != one else f"{one:.0f}" for one in cost)
            lines.append(f"| {queue} | {words} | {share:.2f} |")
        parts += [f"## Linux {kernel}", "\n".join(lines)]
    return "\n\n".join(parts), bool(found) and shown


def main(arguments: Sequence[str]) -> int:
    """Measure all queues in all kernels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queues", nargs="+", choices=QUEUES, default=list(QUEUES), help="which; others stay")
    chosen = parser.parse_args(arguments)
    found = [row for row in rows() if row["queue"] not in chosen.queues]
    for image in images(KERNELS):
        for queue in chosen.queues:
            found.append(measured(queue, image))
            print(found[-1]["kernel"], queue, instructions(found[-1]), flush=True)
    order = list(QUEUES)
    found.sort(key=lambda row: (row["kernel"], order.index(row["queue"])))
    write_rows(TABLE, FIELDS, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
