"""Disciplines as BPF programs in the emulated machine: every decision with real TCP and UDP, replayed by the core.

`python validation/replay_bpf.py` makes the runs (a minute of one core each) into ``tests/data/vm/bpf.csv``; `report`
counts them. It needs clang, libbpf, and the kernel that `python tests/python/bpf_machine.py` fetches.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from multiprocessing.pool import ThreadPool
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.kernel.export_bpf import bpf_queue
from aqmlab.interop.kernel.replay import replay_log
from csv_rows import read_rows, write_rows
from replay_modules import DECISIONS, scenario

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "python"))

import bpf_machine  # noqa: E402

TITLE = "Disciplines as BPF programs inside the kernel, replayed by the core"
TABLE = ROOT / "tests" / "data" / "vm" / "bpf.csv"
BPF = ("red", "red in bytes", "gentle-red", "mred", "exred", "nlred", "adaptive-red")
"""Queues of `replay_modules` that a BPF program can have."""
LENGTHS = {"TCP": "24s", "UDP": "10s", "TCP and UDP": "16s"}
"""Traffics of `replay_modules` without ECN, and the length of each run."""
FIELDS = ("queue", "traffic", "kernel", "image", "decisions", "drops", "sha256", "difference")
Row = dict[str, str]


def row_of(queue: str, traffic: str) -> Row:
    """Make a run and replay it."""
    image = bpf_machine.image()
    assert image is not None
    plan = bpf_queue(scenario(queue, traffic), overrides={"run.duration": LENGTHS[traffic]})
    with tempfile.TemporaryDirectory() as name:
        done = bpf_machine.build(plan, Path(name))
        if done.returncode:
            raise InputError(done.stderr)
        log, _ = bpf_machine.run(plan, Path(name))
    row = {"queue": queue, "traffic": traffic, "kernel": image.release, "image": image.manifest["sha256"]["kernel"]}
    row |= {"sha256": hashlib.sha256(log).hexdigest()}
    found = replay_log(plan, log)
    row |= {"decisions": str(found.decisions), "drops": str(found.drops)}
    return row | {"difference": "" if found.difference is None else str(found.difference)}


def rows() -> list[Row]:
    """Read the runs that were made."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether every run was made and is equal, with enough decisions of each queue."""
    found = rows()
    equal = [row for row in found if not row["difference"]]
    lines = ["| queue | decisions | drops | runs | equal bit by bit |", "|---|---|---|---|---|"]
    enough, all_decisions = True, 0
    for queue in BPF:
        own = [row for row in found if row["queue"] == queue]
        decisions, drops = (sum(int(row[name]) for row in own) for name in ("decisions", "drops"))
        enough &= decisions >= DECISIONS
        all_decisions += decisions
        same = sum(not row["difference"] for row in own)
        lines.append(f"| {queue} | {decisions:,} | {drops:,} | {len(own)} | {same} |")
    kernels = dict.fromkeys((row["kernel"], row["image"]) for row in found)
    parts = [
        "A BPF program is generated from each queue, compiled, loaded into the kernel of the emulated machine and "
        "attached at the root of the router's interface, where it paces itself at 20 Mbit/s. Its log goes through a "
        "BPF ring buffer. The core replays it with the log's random numbers: averages, p_b, verdicts and order of "
        f"departure. Each queue meets {', '.join(LENGTHS)}. A BPF program cannot mark packets, so there is no ECN.",
        f"**{len(equal)} of {len(found)} runs are equal bit by bit**, with {all_decisions:,} decisions.",
        "\n".join(lines),
        "\n".join(["| kernel | SHA-256 of the kernel |", "|---|---|", *(f"| {k} | `{i}` |" for k, i in kernels)]),
    ]
    parts += [f"* {row['queue']}, {row['traffic']}: {row['difference']}" for row in found if row["difference"]]
    return "\n\n".join(parts), enough and len(equal) == len(found) == len(BPF) * len(LENGTHS)


def main(arguments: Sequence[str]) -> int:
    """Make the runs that the table lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    chosen = parser.parse_args(arguments)
    why = bpf_machine.why_not_booted()
    if why:
        raise InputError(why)
    found = rows()
    made = {(row["queue"], row["traffic"]) for row in found}
    order = [(queue, traffic) for queue in BPF for traffic in LENGTHS]
    with ThreadPool(chosen.workers) as pool:
        missing = [partial(row_of, *run) for run in order if run not in made]
        for row in pool.imap_unordered(lambda task: task(), missing):
            print({name: value for name, value in row.items() if name not in ("image", "sha256")}, flush=True)
            found.append(row)
            found.sort(key=lambda one: order.index((one["queue"], one["traffic"])))
            write_rows(TABLE, FIELDS, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
