"""netem of a Linux kernel compared in distribution with the channel that `aqmlab import` makes of the same line of tc.

`python validation/compare_netem.py` sends the packets through the kernels in the emulated machine (some six minutes of
one core each) into ``tests/data/vm/netem.json``; `report` simulates the channels and compares. Where the emulator and
the image are there, `report` makes the kernel's runs again and compares the bytes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.errors import InputError
from aqmlab.interop.several_kernels.page import short
from aqmlab.live.vm import kernels
from aqmlab.live.vm.build import Image, find
from aqmlab.live.vm.machine import version
from aqmlab.live.vm.packages import said
from aqmlab.statistics import holm
from netem_measures import Comparison, Summary, compared, summary_of
from netem_runs import LENGTH, SPACING_S, Arrivals, channel_arrivals, channel_scenario, imported, kernel_arrivals

TITLE = "netem of Linux compared with the channel of a link"
TABLE = Path(__file__).resolve().parents[1] / "tests" / "data" / "vm" / "netem.json"
RUNS = 300
"""Simulated runs of each setting."""
LEVEL = 0.05
DELAY_S = 0.02
CALIBRATION = "netem delay 20ms"
"""Line of tc by which the machine's own time per packet is measured."""


@dataclass(frozen=True)
class Case:
    """A discipline in words of tc, and how many packets are sent through it."""

    words: str
    count: int = 30_000


CASES = (
    Case("netem delay 20ms loss 5%", 100_000),
    Case("netem delay 20ms loss 5% 25%", 200_000),
    Case("netem delay 20ms loss 30% 25%"),
    Case("netem delay 20ms loss gemodel 1% 10% 70% 0.1%", 100_000),
    Case("netem delay 20ms 5ms"),
    Case("netem delay 20ms 5ms distribution normal"),
    Case("netem delay 20ms 5ms distribution pareto"),
    Case("netem delay 20ms 5ms distribution paretonormal"),
    Case("netem delay 20ms 5ms 25%"),
    Case("netem delay 20.5ms reorder 25% 50% gap 3"),
    Case("netem delay 20ms 5ms reorder 25% 50%"),
    Case("netem delay 20.5ms duplicate 3%"),
    Case("netem delay 20.5ms duplicate 30% 25%"),
    Case("netem delay 20.5ms loss 10% 25% duplicate 30% 25%"),
    Case("netem delay 20ms 5ms rate 2mbit"),
    Case("netem delay 20ms 5ms reorder 25% 50% rate 2mbit"),
    Case("netem delay 20.5ms 5ms distribution normal loss 2% duplicate 2% reorder 10% gap 4"),
)
"""With a constant delay of 20 ms a packet that skips it would arrive at the same time as another."""
SKIPS_THE_RATE = "netem delay 20ms 5ms reorder 25% 50% rate 2mbit"
"""Case whose undelayed packets arrive one transmission time later here; only longer delays are compared."""
CONTROLS = (
    ("netem delay 20ms loss 5% 25%", "loss", '"5%"', "independent losses"),
    (
        "netem delay 20ms 5ms 25%",
        "jitter",
        '{ deviation = "5ms", correlation = "25%" }',
        "jitter correlated as in netem's manual page",
    ),
    ("netem delay 20ms 5ms rate 2mbit", "jitter", '{ deviation = "5ms" }', "jitter with overtaking"),
    (
        "netem delay 20.5ms duplicate 30% 25%",
        "duplicate",
        '{ probability = "30%", correlation = "25%" }',
        "correlated copies",
    ),
)
"""Line, key and value of a channel that differs from the imported one, and its title: the tests have to find it."""
READINGS = f"""## Linux's readings of its words

* **Correlated jitter.** The kernel takes the correlated number modulo twice the jitter in ns, or modulo the 4096
  entries of the distribution's table. Its delays are therefore nearly independent, and follow the distribution as
  without a correlation. `aqmlab import` leaves the correlation out and prints a note. `correlation` in a scenario's
  `jitter` is that of netem's manual page.
* **Correlated copies.** `tc` sends correlations to the kernel only where `delay` or `loss` has one. In other lines the
  correlation of `duplicate` has no effect. `aqmlab import` leaves it out and prints a note.
* **Jitter with a rate.** Delayed packets keep their order, and each is sent at least its transmission time after the
  one before it: `order = "kept"`.
* **Reordering with a rate.** Packets that skip the delay pass those that are delayed. In netem they skip the rate too;
  in the channel they have passed the link's server, so that they arrive one transmission time later (0.456 ms at
  2 Mbit/s). This is a difference: the KS distance in these rows is that
  of these packets. The test of delays compares shares above it, as the last column states.
* **Equal times.** If a packet skips the delay at the moment at which the delay of another ends, the kernel and the
  simulator send the two in a different order. With packets every {1e3 * SPACING_S:g} ms and a delay of 20 ms every
  skipped delay meets another packet; the cases with `reorder` have 20.5 ms for this reason."""


def data() -> list[dict[str, Any]]:
    """Read the kernels' runs that were made: an entry for each kernel."""
    return json.loads(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else []


def overhead_of(found: Arrivals) -> float:
    """Return the machine's own time per packet in s: the median delay through a constant delay, without it."""
    return float(np.median(found.delays_s)) - DELAY_S


def entry_of(image: Image) -> dict[str, Any]:
    """Send the packets of all cases through a kernel."""
    by_count: dict[int, list[str]] = {}
    for case in (Case(CALIBRATION), *CASES):
        by_count.setdefault(case.count, []).append(case.words)
    found = {
        words: arrivals
        for count, several in by_count.items()
        for words, arrivals in zip(several, kernel_arrivals(several, image, count=count), strict=True)
    }
    overhead_s = overhead_of(found[CALIBRATION])
    cases = {
        case.words: {"sha256": found[case.words].digest, **Summary.of(found[case.words], overhead_s).data()}
        for case in CASES
    }
    return {
        "kernel": image.release,
        "image": image.manifest["sha256"]["kernel"],
        "tc": said(["tc", "-V"]).strip(),
        "emulator": version(),
        "overhead_s": overhead_s,
        "cases": cases,
    }


def summary_in(entry: Mapping[str, Any], words: str) -> Summary:
    """Return the summary of a case in the data."""
    return summary_of({key: value for key, value in entry["cases"][words].items() if key != "sha256"})


def simulated(case: Case, overrides: Mapping[str, str] = {}) -> list[Summary]:
    """Simulate the channel of a case with all seeds."""
    scenario = channel_scenario(case.words, count=case.count, overrides=overrides)
    return [Summary.of(channel_arrivals(scenario, seed)) for seed in range(1, RUNS + 1)]


def cell(words: str) -> str:
    """Return the words of a discipline as a cell of a table."""
    return f"`{words.removeprefix('netem ')}`"


def table(entries: Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
    """Compare all measures; shown if no difference is significant after Holm's correction."""
    rows: list[tuple[str, str, Comparison]] = []
    for case in CASES:
        runs = simulated(case)
        for entry in entries:
            release = short(entry["kernel"])
            rows += [(case.words, release, one) for one in compared(summary_in(entry, case.words), runs)]
    adjusted = holm([one.p for _, _, one in rows])
    lines = [
        "| netem | Linux | measure | kernel | channel | kernel minus channel | p | p, Holm | agrees |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for (words, release, one), p in zip(rows, adjusted, strict=True):
        cells = (one.measure, one.kernel, one.simulator, one.difference, p_text(one.p), p_text(p))
        lines.append(f"| {cell(words)} | {release} | {' | '.join(cells)} | {verdict(words, one, p)} |")
    agrees = all(p > LEVEL for p in adjusted)
    least = min(one.p for _, _, one in rows)
    head = (
        f"{len(rows)} comparisons; {sum(p <= LEVEL for p in adjusted)} differ after Holm's correction. The smallest p "
        f"value without correction is {p_text(least)}."
    )
    return f"{head}\n\n" + "\n".join(lines), agrees


def verdict(words: str, one: Comparison, p: float) -> str:
    """Return whether a measure agrees, and where only a part of it is tested."""
    if p <= LEVEL:
        return "**no**"
    return "above 0.5 ms" if words == SKIPS_THE_RATE and one.measure.startswith("delays") else "yes"


def controls(entry: Mapping[str, Any]) -> tuple[str, bool]:
    """Compare a kernel with other channels; shown if each differs."""
    lines = ["| netem | other channel | measure | kernel | channel | p, Holm |", "|---|---|---|---|---|---|"]
    found = True
    for words, key, value, title in CONTROLS:
        case = next(case for case in CASES if case.words == words)
        runs = simulated(case, {f"dumbbell.bottleneck.{key}": value})
        rows = compared(summary_in(entry, words), runs)
        p, one = min(zip(holm([one.p for one in rows]), rows, strict=True), key=lambda pair: pair[0])
        found = found and p <= LEVEL
        cells = (title, one.measure, one.kernel, one.simulator, p_text(p))
        lines.append(f"| {cell(words)} | {' | '.join(cells)} |")
    return "\n".join(lines), found


def p_text(p: float) -> str:
    """Write a p value.

    >>> p_text(0.0271), p_text(1e-30)
    ('0.027', '< 0.0001')
    """
    return "< 0.0001" if p < 1e-4 else f"{p:.2g}"


def again(entries: Sequence[Mapping[str, Any]]) -> tuple[str, bool]:
    """Repeat the runs of the first kernel if its image exists; return the outcome, and whether nothing differs."""
    entry = entries[0]
    try:
        image, emulator = find(), version()
    except InputError as error:
        return f"not made again: {error}", True
    if (image.manifest["sha256"]["kernel"], emulator) != (entry["image"], entry["emulator"]):
        return f"not made again: the image has Linux {image.release} and the emulator is QEMU {emulator}", True
    made = entry_of(image)["cases"]
    equal = sum(made[words]["sha256"] == case["sha256"] for words, case in entry["cases"].items())
    number = short(entry["kernel"])
    return f"made again with Linux {number}: {equal} of {len(made)} equal to the byte", equal == len(made)


def report() -> tuple[str, bool]:
    """Write the page: its text, and whether everything is shown."""
    entries = data()
    anew, same = again(entries)
    lines, agrees = table(entries)
    others, found = controls(entries[0])
    known = [
        f"| {entry['kernel']} | {entry['tc'].removeprefix('tc utility, ')} | {1e6 * entry['overhead_s']:.1f} us |"
        for entry in entries
    ]
    systems = "\n".join(["| kernel | tc | overhead |", "|---|---|---|", *known])
    notes = "\n".join(f"* {cell(case.words)}: {', '.join(notes)}" for case in CASES if (notes := own_notes(case)))
    counts = sorted({case.count for case in CASES})
    text = f"""Numbered UDP packets of {LENGTH} bytes, one every {1e3 * SPACING_S:g} ms, pass netem in Debian kernels in
an emulator in virtual time: {counts[0]:,} to {counts[-1]:,} packets for each setting. The simulator's channel is the
one that `aqmlab import` makes of the same line of tc, in {RUNS} runs with other seeds. The kernels' runs are committed
(`tests/data/vm/netem.json`; {anew}).

Each comparison asks whether the kernel's run could be one more of the simulated runs. One number is compared by
Student's t, distributions by Hotelling's T-squared: of the shares of delays up to seven quantiles, and of the shares
of loss runs up to six lengths. Only runs are taken to be independent, not packets. Differences have the 95 % interval
of a single run's difference. "KS" is the largest distance of two distribution functions on a grid of 0.1 ms, beside
the distance that 95 % of the simulated runs stay below. Reordered packets are those of RFC 4737; the autocorrelation is
that at lag 1. A measure that is the same number in all runs has no row. "Agrees" says that no difference is significant
at 5 % after Holm's correction over all rows. It does not prove equality: the intervals say how large a difference
could be.

{systems}

The overhead is the median time from sending a packet to the time stamp of its arrival, beyond a constant delay. It is
subtracted from the kernel's delays.

{lines}

## Controls

The same tests find the difference to other channels. For each, the measure with the smallest p value, with the kernel
{short(entries[0]["kernel"])}:

{others}

{READINGS}

## Notes of the import

{notes}"""
    return text, agrees and found and same


def own_notes(case: Case) -> list[str]:
    """Return an import's notes on netem's words, without the notes on rate and queue."""
    notes = [note.removeprefix("line 1: ") for note in imported(case.words).notes]
    return [note for note in notes if "is assumed" not in note]


def main(arguments: Sequence[str]) -> int:
    """Make the kernels' runs into the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernel", nargs="*", default=[], help="further kernels, e.g. 6.12; the first is the image's")
    chosen = parser.parse_args(arguments)
    further = kernels.images(chosen.kernel) if chosen.kernel else []
    entries = []
    for image in (find(), *further):
        entries.append(entry_of(image))
        TABLE.write_text(json.dumps(entries, indent=None, separators=(",", ":")).replace('"netem ', '\n"netem ') + "\n")
        print(f"{image.release}: {len(CASES)} cases", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
