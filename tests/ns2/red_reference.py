#!/usr/bin/env python3
"""Runs ns-2 2.35 on the MRED paper's network with RED: the reference for equality in distribution.

    red_reference.py [--seeds N] [--workers N]    writes red_distribution.csv.xz and distribution/*.toml
    red_reference.py --check [N]                  runs the first N seeds (default 2) of every configuration,
                                                  compares with the committed table; exit code 1 on difference

Classic and gentle RED, 5 to 50 NewReno flows, with and without two UDP flows; one row per run. Needs `ns`.
"""

from __future__ import annotations

import argparse
import csv
import io
import lzma
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "red_dumbbell.tcl"
DATA = Path(__file__).resolve().parent.parent / "data" / "ns2"
TABLE = DATA / "red_distribution.csv.xz"
SCENARIOS = DATA / "distribution"

CURVES = ("classic", "gentle")
FLOWS = (5, 10, 20, 30, 40, 50)
SECONDS = 50
COLUMNS = (
    "curve",
    "udp",
    "flows",
    "seed",
    "arrivals",
    "drops",
    "departed_bytes",
    "enqueue_events",
    "throughput_bps",
    "loss",
    "loss_all_enqueues",
    "mean_queue",
)


@dataclass(frozen=True)
class Configuration:
    """Differences between scenarios: RED's curve, the two UDP flows, the number of TCP flows."""

    curve: str
    udp: bool
    flows: int


def configurations() -> list[Configuration]:
    """All configurations, in the order of the table."""
    return [Configuration(curve, udp, n) for curve, udp, n in product(CURVES, (False, True), FLOWS)]


def run(configuration: Configuration, seed: int) -> dict[str, str]:
    """One run of ns-2 as a row of the table."""
    c = configuration
    command = ["ns", str(SCRIPT), str(c.flows), str(int(c.curve == "gentle")), str(int(c.udp)), str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    arrivals, drops, departed, queue, enqueued = done.stdout.split()
    values = (
        c.curve,
        int(c.udp),
        c.flows,
        seed,
        arrivals,
        drops,
        departed,
        enqueued,
        f"{int(departed) * 8 / SECONDS:.9g}",
        f"{int(drops) / int(arrivals):.9g}",
        f"{int(drops) / int(enqueued):.9g}",
        queue,
    )
    return dict(zip(COLUMNS, map(str, values), strict=True))


def run_all(seeds: Iterable[int], workers: int) -> list[dict[str, str]]:
    """Every configuration with every seed, in the order of the table; `workers` runs at once."""
    wanted = [(c, seed) for c in configurations() for seed in seeds]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda job: run(*job), wanted))


def read() -> list[dict[str, str]]:
    """The committed table."""
    return list(csv.DictReader(io.StringIO(lzma.decompress(TABLE.read_bytes()).decode())))


def write(table: Sequence[dict[str, str]]) -> None:
    """Writes the table and the scenario files it belongs to."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_bytes(lzma.compress(text.getvalue().encode(), preset=9 | lzma.PRESET_EXTREME))
    SCENARIOS.mkdir(exist_ok=True)
    for curve, udp in product(CURVES, (False, True)):
        (SCENARIOS / scenario_name(curve, udp)).write_text(scenario(curve, udp))


def scenario_name(curve: str, udp: bool) -> str:
    """The scenario file of a configuration; the number of TCP flows is its override `flow.tcp.count`."""
    return f"{curve}{'-udp' if udp else ''}.toml"


def scenario(curve: str, udp: bool) -> str:
    """The same network in this project's format, with five TCP flows."""
    title = f"MRED's network, {curve} RED" + (", two UDP flows" if udp else "")
    return _NETWORK.format(title=title, aqm={"classic": "red", "gentle": "gentle-red"}[curve]) + (_UDP if udp else "")


_NETWORK = """\
format = 1
name = "red-distribution"
description = "{title}; set flow.tcp.count to the number of TCP flows"

[run]
duration = "50s"
seeds = 100

[dumbbell]
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = "bottleneck", reverse_queue = "reverse" }}
left = {{ rate = "20Mbps", delay = "10ms", queue = "access" }}
right = {{ rate = "20Mbps", delay = "15ms", queue = "access" }}

[queue.bottleneck]
aqm = "{aqm}"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.002
mean_packet = "1000B"
mode = "packets"
dialect = "ns2-2.35"
spacing = "ns2-wait"

[queue.reverse]
aqm = "{aqm}"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.002
mean_packet = "1000B"
mode = "packets"
dialect = "ns2-2.35"
spacing = "ns2-wait"

[queue.access]
aqm = "drop-tail"
limit = "50p"
dialect = "ns2-2.35"

[[flow]]
name = "tcp"
count = 5
transport = "newreno"
start = {{ uniform = ["0s", "10ms"] }}
packet_size = "1000B"
tcp = {{ profile = "ns2-2.35", window = "10000p", header = "40B", ack_size = "40B", delayed_ack = "100ms" }}

[probe]
links = ["bottleneck"]
"""

_UDP = """
[[flow]]
name = "udp-10"
transport = "udp"
start = "3s"
stop = "10s"
rate = "10Mbps"
packet_size = "1000B"

[[flow]]
name = "udp-1"
transport = "udp"
start = "6s"
stop = "40s"
rate = "1Mbps"
packet_size = "1000B"
"""


def check(seeds: int, workers: int) -> str | None:
    """Runs the first `seeds` seeds again; the first difference from the committed table, or None."""
    committed = {tuple(row[key] for key in COLUMNS[:4]): row for row in read()}
    for row in run_all(range(1, seeds + 1), workers):
        want = committed.get(tuple(row[key] for key in COLUMNS[:4]))
        if want != row:
            return f"expected {want}, found {row}"
    for curve, udp in product(CURVES, (False, True)):
        name = scenario_name(curve, udp)
        if (SCENARIOS / name).read_text() != scenario(curve, udp):
            return f"distribution/{name}: other text"
    return None


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="seeds per configuration")
    parser.add_argument("--workers", type=int, default=1, help="runs at once")
    parser.add_argument("--check", type=int, nargs="?", const=2, metavar="N", help="compare N seeds, write nothing")
    options = parser.parse_args(arguments)
    try:
        if options.check is None:
            write(run_all(range(1, options.seeds + 1), options.workers))
            return 0
        difference = check(options.check, options.workers)
    except FileNotFoundError as missing:
        print(f"{missing.filename}: not found (ns-2 is the Debian package ns2)", file=sys.stderr)
        return 2
    except subprocess.CalledProcessError as failed:
        print(f"ns-2 failed: {failed.stderr.strip()}", file=sys.stderr)
        return 2
    if difference is not None:
        print(f"the committed distribution differs from ns-2: {difference}", file=sys.stderr)
        return 1
    print("the committed distribution is what ns-2 gives")
    return 0


if __name__ == "__main__":
    sys.exit(main())
