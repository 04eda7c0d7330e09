"""Make the references of ns-2's SFQ, DRR, REM and Vq (AVQ): what each does with listed arrivals, packet for packet.

``python make_disciplines.py`` writes ``tests/data/ns2/disciplines``; ``--check`` generates them again and compares.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parent / "data" / "ns2" / "disciplines"


HEADER = "event,time_ns,packet,flow,bytes,probability\n"
"""Events: a arrives, d dropped, s starts to be sent, p a sample of the probability."""


@dataclass(frozen=True)
class Case:
    """A queue and its traffic."""

    name: str
    kind: str
    options: dict[str, object]
    limit: int | None = None
    rate: int = 2_000_000
    flows: int = 5
    seconds: float = 3.0
    load: float = 1.2
    sample: float = 0.0


CASES = (
    Case("sfq", "SFQ", {"maxqueue_": 40, "buckets_": 16}),
    Case("sfq-small", "SFQ", {"maxqueue_": 20, "buckets_": 8}),
    Case("drr", "DRR", {"buckets_": 16, "blimit_": 25000, "quantum_": 250}),
    Case("drr-large-quantum", "DRR", {"buckets_": 16, "blimit_": 12000, "quantum_": 1500}),
    Case("avq-packets", "Vq", {"queue_in_bytes_": "false", "mean_pktsize_": 1000}, limit=20),
    Case("avq-bytes", "Vq", {"queue_in_bytes_": "true", "mean_pktsize_": 1000}, limit=20, load=1.05),
    # Nothing is ECN-capable, so nothing is marked and nothing dropped: the price alone is compared.
    Case("rem-packets", "REM", {"markpkts_": "true", "qib_": "false", "gamma_": 0.05}, limit=100_000, sample=0.01),
    Case("rem-bytes", "REM", {"markpkts_": "true", "qib_": "true", "gamma_": 0.05}, limit=100_000, sample=0.01),
)


def arrivals(case: Case) -> list[tuple[int, int, int]]:
    """Times in ns, flows and bytes: Poisson, flow 0 sends as much as the others together, load up and down."""
    traffic = random.Random(case.name)
    now, packets = 0.0, []
    while now < case.seconds - 0.5:
        load = case.load if now < 0.6 * case.seconds else 0.6
        now += traffic.expovariate(load * case.rate / 8 / 760)
        flow = 0 if traffic.random() < 0.5 else traffic.randrange(1, case.flows)
        size = traffic.choice((40, 500, 1000, 1500))
        packets.append((round(now * 1e9), flow, size))
    return packets


def bucket(case: Case, source: int, sink: int) -> int:
    """Which of its buckets a flow has in ns-2; the flow's number where there are none."""
    if case.kind == "SFQ":
        key, prime = source + sink, (2 << 19) - 1
        return (key + (key >> 8) + ~(key >> 4)) % prime % int(str(case.options["buckets_"]))
    if case.kind == "DRR":
        return ((source + (source >> 8) + ~(source >> 4)) % ((2 << 23) - 1) + 1) % int(str(case.options["buckets_"]))
    return source


def run(case: Case) -> str:
    """Return ns-2's decisions as a table."""
    packets = arrivals(case)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        settings = Path(folder) / "settings.tcl"
        options = " ".join(f"{key} {value}" for key, value in case.options.items())
        lines = [f"set kind {case.kind}", f"set rate {case.rate}", f"set flows {case.flows}"]
        lines += [f"set seconds {case.seconds}", f"set sample {case.sample}", f"set options {{{options}}}"]
        lines += [] if case.limit is None else [f"set limit {case.limit}"]
        settings.write_text("\n".join(lines) + "\n")
        listed = Path(folder) / "arrivals"
        listed.write_text("".join(f"{ns / 1e9:.9f} {flow} {size}\n" for ns, flow, size in packets))
        command = ["ns", str(HERE / "disciplines.tcl"), str(settings), str(listed), str(out)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or "Collisions" in done.stderr:
            sys.exit(f"{case.name}: ns-2 said: {done.stdout}{done.stderr}")
        hosts = [tuple(map(int, line.split())) for line in Path(f"{out}.hosts").read_text().splitlines()]
        trace = [line.split() for line in Path(f"{out}.trace").read_text().splitlines()]
        samples = [line.split() for line in Path(f"{out}.samples").read_text().splitlines()]
    buckets = [bucket(case, *ends) for ends in hosts]
    if case.kind in ("SFQ", "DRR") and len(set(buckets)) < len(buckets):
        sys.exit(f"{case.name}: flows collide: {buckets}")

    def arrived(number: int) -> str:
        ns, flow, size = packets[number]
        return f"a,{ns},{number},{buckets[flow]},{size},"

    rows = []
    if case.kind == "REM":
        rows = [arrived(number) for number in range(len(packets))]
        rows += [f"p,{round(float(at) * 1e9)},,,,{float(value):.12g}" for at, value in samples]
        rows.sort(key=lambda row: int(row.split(",")[1]))
        return HEADER + "\n".join(rows) + "\n"
    # Packets are numbered in the order in which they are made, and all are made by the list.
    for event, _, _, _, _, size, *_, uid in trace:
        if event == "+" and int(size) != packets[int(uid)][2]:
            sys.exit(f"{case.name}: packet {uid} has {size} bytes")
        if event == "+":
            rows.append(arrived(int(uid)))
        elif event in "d-":
            rows.append(f"{'d' if event == 'd' else 's'},,{uid},,,")
    return HEADER + "\n".join(rows) + "\n"


def main(arguments: list[str] | None = None) -> int:
    """Write the tables, or compare; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="generate them again and compare with the files")
    check = parser.parse_args(arguments).check
    DATA.mkdir(parents=True, exist_ok=True)
    different = 0
    for case in CASES:
        table, path = run(case), DATA / f"{case.name}.csv"
        if check:
            same = path.read_text() == table
            different += not same
            print(f"{case.name}: {'as before' if same else 'DIFFERENT'}")
        else:
            path.write_text(table)
            print(f"{case.name}: {table.count(chr(10)) - 1} rows, {table.count(chr(10) + 'd,')} drops")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
