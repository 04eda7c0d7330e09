"""Linux's own disciplines in four kernels: every run twice, equal to the byte, and the changes between the kernels.

`python validation/compare_kernels.py` makes the runs (minutes of one core each; kernels are fetched with apt) into
``tests/data/vm/kernels.csv``; `report` compares them.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from aqmlab.interop.crosscheck.agreement import Agreement
from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.interop.several_kernels.checking import cross_check_kernels
from aqmlab.interop.several_kernels.outcome import KernelCheck, KernelRun
from aqmlab.interop.several_kernels.page import in_words, margins_of_kernels, measures
from aqmlab.live.vm.build import Image
from aqmlab.scenario.file import Scenario

TITLE = "Linux's own disciplines in several kernels"
DATA = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm"
TABLE = DATA / "kernels.csv"
FILE = DATA / "red-tcp.toml"
KERNELS = "6.1,6.12,6.18,7.3"
LENGTH = {"run.duration": "20s", "run.warmup": "5s"}
AGAIN = (1,)
"""Seeds whose runs are made twice."""
PAGE = """Five CUBIC flows over 10 Mbit/s, a round trip of 20 ms, 20 s of virtual time of which the first 5 are left
out: RED of the scenario, and codel, fq_codel, pie and cake with the defaults of each kernel (`aqmlab crosscheck
tests/data/vm/red-tcp.toml --kernels 6.1,6.12,6.18,7.3`). Kernels are Debian's; programs are the same in all.
Queue and delay in this table are those of pings, a sparse flow that fq_codel and cake serve first, and not of the whole
queue: the runs were made before tc's backlog was sampled."""
PLACES = {measure: "tcp" if measure is Measure.GOODPUT else "bottleneck" for measure in Measure}
FIELDS = ("kernel", "image", "qdisc", "seed", *map(str, Measure), "sha256", "sha256_again")


def row_of(found: KernelCheck, key: tuple[str, str, int], again: KernelCheck | None) -> dict[str, str]:
    """Return a run as a row of the table."""
    release, qdisc, seed = key
    run = found.runs[key]
    image = next(image for image in found.kernels if image.release == release)
    measured = {str(measure): repr(run.measured[measure, place]) for measure, place in PLACES.items()}
    repeated = "" if again is None or key not in again.runs else again.runs[key].digest
    known = {"kernel": release, "image": image.manifest["sha256"]["kernel"], "qdisc": qdisc, "seed": str(seed)}
    return {**known, **measured, "sha256": run.digest, "sha256_again": repeated}


def rows() -> list[dict[str, str]]:
    """Read the runs that were made."""
    if not TABLE.exists():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.DictReader(file))


def check_of(found: Sequence[dict[str, str]]) -> KernelCheck:
    """Return the check that the table holds, to be compared as the command compares it."""
    images = {row["kernel"]: row["image"] for row in found}
    kernels = [
        Image(Path(release), {"kernel": release, "sha256": {"kernel": image}}) for release, image in images.items()
    ]
    runs = {
        (row["kernel"], row["qdisc"], int(row["seed"])): KernelRun(
            {(measure, place): float(row[str(measure)]) for measure, place in PLACES.items()},
            row["sha256"],
            {},
            (),
        )
        for row in found
    }
    qdiscs = dict.fromkeys(row["qdisc"] for row in found)
    seeds = sorted({int(row["seed"]) for row in found})
    return KernelCheck(Scenario.load(FILE, overrides=LENGTH), seeds, 1.0, tuple(kernels), tuple(qdiscs), runs, "", ())


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether every repeated run is equal to the byte."""
    found = rows()
    repeated = [row for row in found if row["sha256_again"]]
    equal = [row for row in repeated if row["sha256"] == row["sha256_again"]]
    check = check_of(found)
    kernels = ["| kernel | SHA-256 of the kernel |", "|---|---|"]
    kernels += [f"| {image.release} | `{image.manifest['sha256']['kernel']}` |" for image in check.kernels]
    parts = [
        PAGE,
        "\n".join(kernels),
        f"**{len(equal)} of {len(repeated)} repeated runs are equal to the byte.**",
    ]
    differing = 0
    for qdisc in check.qdiscs:
        table = measures(check, qdisc)
        head = "| " + " | ".join(table.columns) + " |\n" + "|---" * len(table.columns) + "|"
        lines = [f"| {' | '.join(map(str, row))} |" for row in table.itertuples(index=False)]
        changes = [change for change in check.changes() if change.qdisc == qdisc]
        differing += sum(line.agreement is Agreement.DIFFERS for change in changes for line in change.lines)
        words = [f"* {in_words(change).replace('; the same settings', '')}" for change in changes]
        parts += [f"## {qdisc.partition(' ')[0]}", "\n".join([head, *lines]), "\n".join(words)]
    n = len(check.seeds)
    parts.insert(
        3, f"{n} run{'' if n == 1 else 's'} in each kernel; {differing} measures differ. {margins_of_kernels(1.0)}"
    )
    return "\n\n".join(parts), bool(repeated) and len(equal) == len(repeated)


def main(arguments: Sequence[str]) -> int:
    """Make the runs, those of `AGAIN` twice, into the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/kernels"), help="folder of the runs")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2, 3])
    chosen = parser.parse_args(arguments)
    plan = Scenario.load(FILE, overrides=LENGTH)
    found = cross_check_kernels(plan, kernels=KERNELS, seeds=chosen.seeds, out=chosen.out / "A")
    again = cross_check_kernels(plan, kernels=KERNELS, seeds=list(AGAIN), out=chosen.out / "B")
    with TABLE.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(row_of(found, key, again) for key in found.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
