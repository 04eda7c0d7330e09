"""Known faults of Linux's disciplines: copies of the source with the fault put back, found by the replay.

`python validation/replay_faults.py` compiles each discipline of `replayed.known` twice from the source of an image's
kernel, as it is and with the fault, runs both below the tap, and replays the logs. Rows are in
``tests/data/vm/kernel-faults.csv``; `report` writes them.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from aqmlab.interop.kernel.tap import with_logged_imports
from aqmlab.live.vm.build import Image, find
from aqmlab.live.vm.kernels import age, images
from aqmlab.live.vm.sources import compiled_source
from aqmlab.live.vm.tap import Tap
from csv_rows import read_rows, write_rows
from replay_kernel import DISCIPLINES, log_of, replayed
from replayed.known import KNOWN
from replays import Row, compiled, kept, make_runs, outcome, tap_for

TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "kernel-faults.csv"
KERNELS = "6.12"
"""Prefixes of further kernel releases, in addition to the release of the current image."""
CALL = np.dtype(
    {
        "names": ["time_ns", "waiting", "kind", "outcome"],
        "formats": ["<u8", "<u4", "u1", "u1"],
        "offsets": [0, 48, 56, 57],
        "itemsize": 64,
    }
)
"""Fields of a record of the tap (``tap.h``)."""
ARRIVAL, DEPARTURE, DROPPED = 32, 33, 1
AS_IT_IS, WITH_FAULT = "as it is", "with the fault"
FIELDS = ("known", "kernel", "image", "source", "decisions", "marks", "drops", "difference")


def file_of(name: str) -> str:
    """Return the name of a fault's module in a folder of compiled ones.

    >>> file_of("DualPI2, drops at a peek")
    'dualpi2-drops-at-a-peek'
    """
    return re.sub("[^a-z0-9]+", "-", name.lower())


def program_with(name: str, image: Image, source: str, folder: Path | None) -> bytes:
    """Compile a discipline as it is or with a fault, or read it from a folder of compiled modules."""
    known = KNOWN[name]
    file, edits = (file_of(name), known.edits) if source == WITH_FAULT else (known.module, ())
    return compiled(folder, f"{image.release}-{file}", lambda: compiled_source(known.path, image, edits))


def row_of(
    name: str, image: Image, source: str, tap: bytes, keep: Path | None, folder: Path | None = None
) -> list[Row]:
    """Compile a discipline, make its run, and replay it."""
    known = KNOWN[name]
    program = program_with(name, image, source, folder)
    children = {known.module: with_logged_imports(program, known.module)}
    one = replace(DISCIPLINES[known.discipline], cases={name: known.case}, faults={})
    log = kept(keep, f"{image.release} {name}, {source}", lambda: log_of(one, name, image, Tap(tap, children)))
    row = {"known": name, "kernel": image.release, "image": image.manifest["sha256"]["kernel"], "source": source}
    if known.limit is not None:
        return [row | above_limit(log, known.limit)]
    return [row | outcome(replayed(one, name, image.release, log))]


def above_limit(log: bytes, limit: int) -> Row:
    """Return the counts of a log, and the first arrival that was dropped while more packets waited than a limit."""
    records = np.frombuffer(log, CALL)
    arrivals = records["kind"] == ARRIVAL
    dropped = arrivals & (records["outcome"] == DROPPED)
    decisions = np.count_nonzero(arrivals | (records["kind"] == DEPARTURE))
    found = {"decisions": str(decisions), "marks": "", "drops": str(np.count_nonzero(dropped))}
    beyond = np.flatnonzero(dropped & (records["waiting"] > limit))
    if not len(beyond):
        return found | {"difference": ""}
    first = int(beyond[0])
    waiting, time_s = records["waiting"][first], records["time_ns"][first] * 1e-9
    text = f"record {first} ({time_s:.9f} s): dropped at {waiting} packets, limit {limit}; {len(beyond)} such drops"
    return found | {"difference": text}


def rows() -> list[Row]:
    """Read the runs that were made."""
    return read_rows(TABLE)


def report() -> tuple[str, bool]:
    """Write the section: its text, and whether each fault is found and each discipline without it is equal."""
    found = rows()
    lines = ["| fault | Linux | source as it is | with the fault: first difference |", "|---|---|---|---|"]
    is_shown = {row["known"] for row in found} == set(KNOWN)
    for name, kernel in dict.fromkeys((row["known"], row["kernel"]) for row in found):
        outcomes = {row["source"]: row for row in found if (row["known"], row["kernel"]) == (name, kernel)}
        plain, faulty = outcomes.get(AS_IT_IS, {}), outcomes.get(WITH_FAULT, {})
        outcome_of = "equal" if KNOWN[name].limit is None else "property holds"
        equal = plain.get("difference") or f"{outcome_of} ({int(plain.get('decisions') or 0):,} decisions)"
        lines.append(f"| {name} | {kernel} | {equal} | {faulty.get('difference') or '**none**'} |")
        is_shown &= plain.get("difference") == "" and bool(faulty.get("difference"))
    texts = [f"* **{name}.** {known.text}" for name, known in KNOWN.items()]
    return "\n\n".join([TEXT, "\n".join(texts), "\n".join(lines)]), is_shown and {row["known"] for row in found} == set(
        KNOWN
    )


TEXT = """## Known faults of kernels

Debian's kernel has the corrections of these faults. The faults were put back into copies of the same kernel's source,
which were compiled and run in the same way; the source as it is was compiled and run too."""


def main(arguments: Sequence[str]) -> int:
    """Make the runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2, help="runs at a time")
    parser.add_argument("--kernels", default=KERNELS, help="further kernels; runs in others stay")
    parser.add_argument("--known", nargs="+", choices=KNOWN, default=list(KNOWN), help="which; others stay")
    parser.add_argument("--only", action="store_true", help="the kernels of --kernels alone, without the current image")
    parser.add_argument("--modules", type=Path, help="folder with compiled taps and modules, RELEASE-NAME.ko")
    parser.add_argument("--keep", type=Path, help="folder for logs; existing logs are reused")
    chosen = parser.parse_args(arguments)
    kernels = [*(() if chosen.only else (find(),)), *(images(chosen.kernels) if chosen.kernels else ())]
    taps = {image.release: tap_for(image, chosen.modules, ()).program for image in kernels}
    found = [row for row in rows() if row["kernel"] not in taps or row["known"] not in chosen.known]
    tasks = [
        partial(row_of, name, image, source, taps[image.release], chosen.keep, chosen.modules)
        for name in chosen.known
        for image in kernels
        if DISCIPLINES[KNOWN[name].discipline].is_in(image.release)
        for source in (AS_IT_IS, WITH_FAULT)
    ]
    make_runs(tasks, found, write, chosen.workers)
    return 0


def write(found: list[Row]) -> None:
    """Write the runs in the order of faults and kernels."""
    order = list(KNOWN)
    found.sort(key=lambda row: (order.index(row["known"]), age(row["kernel"]), row["source"]))
    write_rows(TABLE, FIELDS, found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
