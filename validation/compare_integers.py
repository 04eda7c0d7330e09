"""RED in integers compared with the exact one: the largest difference of p_b, and simulated differences with intervals.

`report` is the page ``docs/validation/integers.md``.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import aqmlab
from aqmlab.interop.kernel.export import kernel_queue
from aqmlab.results.result import Result
from aqmlab.statistics.intervals import Interval
from aqmlab.statistics.pairs import paired

TITLE = "RED in integers compared with the exact one"
FILE = Path(__file__).resolve().parents[1] / "examples" / "dumbbell-red.toml"
LINK = "bottleneck"
OWN: dict[str, dict[str, str]] = {
    "red": {},
    "gentle-red": {},
    "mred": {},
    "exred": {},
    "nlred": {},
    "pc-red": {"flow.tcp.priority": "true"},
    "adaptive-rio": {"flow.tcp.dscp": "BE"},
}
"""The disciplines, and further settings of each."""
RUNS = 40
ERROR_WITHIN, DIFFERENCE_WITHIN = 1e-5, 0.02
"""Bounds of the error of p_b, and of the interval of a difference over the exact mean."""
TEXT = f"""The scenario `examples/dumbbell-red.toml` (ten NewReno flows, 10 Mb/s) with each discipline, {RUNS} runs of
each arithmetic with the same seeds. *Largest error* is that of p_b at the same average, over all averages; it is
computed from the table that a kernel module has, and is to be below {ERROR_WITHIN:g}. *Difference* is integer minus
exact, with the 95 % interval of the mean over pairs; the interval is to lie within {DIFFERENCE_WITHIN:.0%} of the exact
mean. The weight 0.002 of the file becomes 2^-9 = 0.00195, which is part of the difference.

| discipline | largest error of p_b | Mb/s | difference | mean queue, packets | difference | loss, % | difference |
|---|---:|---:|---:|---:|---:|---:|---:|
"""


@dataclass(frozen=True)
class Measured:
    """A measure of the exact runs, and the change of it by integers."""

    exact: float
    difference: Interval

    @property
    def shown(self) -> bool:
        """Whether the difference is within its bound."""
        return max(-self.difference.low, self.difference.high) <= DIFFERENCE_WITHIN * self.exact

    def __str__(self) -> str:
        one = self.difference
        return f"{self.exact:.4g} | {one.mean:+.4f} ({one.low:+.4f} to {one.high:+.4f})"


def measures(result: Result) -> list[NDArray[np.float64]]:
    """Return throughput in Mb/s, mean queue in packets and loss in percent of the bottleneck, one value a run."""
    links = result.links
    own = links[links["link"] == LINK].sort_values("seed")
    loss = 100 * own["drops"].to_numpy(dtype=float) / own["arrivals"].to_numpy(dtype=float)
    return [own["throughput_bps"].to_numpy(dtype=float) / 1e6, own["mean_queue"].to_numpy(dtype=float), loss]


def measured(aqm: str, folder: Path) -> list[Measured]:
    """Run a discipline in both arithmetics."""
    exact, integer = (
        measures(
            aqmlab.run(
                FILE,
                seeds=RUNS,
                workers=1,
                progress=False,
                out=folder / word,
                overrides={f"queue.{LINK}.aqm": aqm, f"queue.{LINK}.arithmetic": word} | OWN[aqm],
            )
        )
        for word in ("exact", "integer")
    )
    return [Measured(float(a.mean()), paired(b, a).interval) for a, b in zip(exact, integer, strict=True)]


def report() -> tuple[str, bool]:
    """Return the page, and whether everything is within its bounds."""
    lines, shown = [], True
    with tempfile.TemporaryDirectory() as folder:
        for aqm, own in OWN.items():
            error = kernel_queue(FILE, link=LINK, overrides={f"queue.{LINK}.aqm": aqm} | own).largest_error
            found = measured(aqm, Path(folder))
            lines.append(f"| `{aqm}` | {error:.2g} | {' | '.join(map(str, found))} |")
            shown = shown and error < ERROR_WITHIN and all(one.shown for one in found)
    return TEXT + "\n".join(lines) + "\n", shown
