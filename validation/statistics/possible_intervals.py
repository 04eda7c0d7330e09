"""No impossible interval: every interval of `run`, `compare` and the papers lies within the bounds of its quantity.

Looks at all examples, at random scenarios (`tests/python/random_scenarios.py`) with two disciplines each, and at the
tables of reproduced papers. An interval is possible if it is finite, holds its mean, lies within the bounds of its
quantity (differences: within those of two values), and is at most `WIDEST` times as wide as Student's. Runs that are
all equal have none, and no verdict but "equal" or "not tested".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings

from aqmlab import compare
from aqmlab.errors import Error
from aqmlab.results.quantities import quantity
from aqmlab.results.result import Result
from aqmlab.runs.comparison import Comparison
from aqmlab.runs.comparison_tables import EQUAL, NOT_TESTED
from aqmlab.scenario.file import Scenario
from aqmlab.statistics import interval
from random_scenarios import Drawn, scenarios

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
RANDOM = 200
"""Random comparisons."""
SEEDS = (3, 4, 5, 6, 8, 10)
"""Numbers of runs, in turn."""
PAIRS = (("drop-tail", "red"), ("red", "codel"), ("gentle-red", "pie"), ("drop-tail", "fq-codel"))
"""Disciplines, in turn."""
LONGEST_S = 4.0
"""Examples are cut to so many seconds of simulated time."""
WIDEST = 2.7
"""Greatest width of a mean's interval, relative to Student's."""
SLACK = 1e-9
"""Tolerance for rounding, relative to the size of the numbers."""


@dataclass
class Looked:
    """Statistics of the intervals that were checked.

    Attributes
    ----------
    intervals, constant
        Numbers of intervals of means and of differences, and of quantities that were equal in all runs.
    methods
        How often which method made an interval.
    clipped
        Intervals of means that end at a bound of their quantity, where Student's would go beyond it.
    impossible
        Errors found, one line per interval.
    """

    intervals: Counter[str] = field(default_factory=Counter)
    constant: int = 0
    methods: Counter[str] = field(default_factory=Counter)
    clipped: int = 0
    impossible: list[str] = field(default_factory=list)

    def look(self, found: Comparison, name: str) -> None:
        """Look at a comparison."""
        values = {label: result.metrics(link=found.link) for label, result in found.results.items()}
        for row in found.means.to_dict("records"):
            x = values[row["aqm"]][row["metric"]].to_numpy()
            self._mean(row, x, f"{name}, {row['aqm']}, {row['metric']}")
        for row in found.differences.to_dict("records"):
            self._difference(row, f"{name}, {row['aqm']} - {row['against']}, {row['metric']}")
        self._texts(found, name)

    def look_at_run(self, found: Result, name: str) -> None:
        """Look at the summary of a run."""
        values = found.metrics()
        for row in found.summary().to_dict("records"):
            self._mean(row, values[row["metric"]].to_numpy(), f"{name}, {row['metric']}")

    def _mean(self, row: Mapping[Any, Any], values: Any, name: str) -> None:
        low, high = quantity(row["metric"]).bounds
        plain = interval(values)
        if math.isnan(row["low"]):
            self.constant += 1
            self._expect(plain.n < 2 or plain.constant, name, "no interval of runs that vary")
            return
        self.intervals["means"] += 1
        self.methods[row["method"]] += 1
        self.clipped += plain.low < low or plain.high > high
        slack = SLACK * max(1.0, abs(row["mean"]))
        own = f"{row['mean']:.6g} ({row['low']:.6g} to {row['high']:.6g})"
        self._expect(
            low <= row["low"] + slack and row["high"] <= high + slack, name, f"{own} beyond {low:g} to {high:g}"
        )
        self._expect(row["low"] <= row["mean"] <= row["high"], name, f"{own} without its mean")
        wide = (row["high"] - row["low"]) / (plain.high - plain.low)
        self._expect(wide <= WIDEST, name, f"{own} is {wide:.1f} times as wide as Student's")

    def _difference(self, row: Mapping[Any, Any], name: str) -> None:
        if math.isnan(row["low"]):
            self.constant += 1
            self._expect(row["n"] < 2 or row["verdict"] in (EQUAL, NOT_TESTED), name, f"verdict {row['verdict']}")
            return
        self.intervals["differences"] += 1
        low, high = quantity(row["metric"]).bounds
        own = f"{row['difference']:.6g} ({row['low']:.6g} to {row['high']:.6g})"
        self._expect(low - high <= row["low"] and row["high"] <= high - low, name, f"{own} beyond the bounds")
        self._expect(row["low"] <= row["difference"] <= row["high"], name, f"{own} without its mean")

    def _texts(self, found: Comparison, name: str) -> None:
        """Check the printed texts: a mean keeps two digits, as far as its quantity has them."""
        for (label, key), cell in found.matrix().cells.items():
            text = cell.texts[0]
            shown = len(text.lstrip("-").replace(".", "").lstrip("0"))
            places = len(text.partition(".")[2])
            self._expect(shown >= 2 or places == cell.digits, f"{name}, {label}, {key}", text)
        for text in (found.csv(), found.latex()):
            self._expect("inf" not in text.replace("infinite", ""), name, "an infinite number is printed")

    def _expect(self, holds: bool, name: str, words: str) -> None:
        if not holds:
            self.impossible.append(f"{name}: {words}")


def _compared(plan: Scenario, number: int) -> Comparison | None:
    """Compare two disciplines in the first managed queue of a scenario; None if it does not take them."""
    try:
        return compare(
            plan,
            aqm=PAIRS[number % len(PAIRS)],
            queue=next((link.queue for link in plan.links if link.aqm != "drop-tail"), plan.links[0].queue),
            seeds=SEEDS[number % len(SEEDS)],
            workers=1,
            progress=False,
        )
    except Error:
        return None


def examples() -> Iterator[tuple[str, Comparison]]:
    """Compare two disciplines in each example, in few seconds of simulated time."""
    for number, file in enumerate(EXAMPLES):
        plan = Scenario.load(file)
        duration = min(plan.duration_s, LONGEST_S)
        with suppress(Error):  # something happens later than that
            plan = plan.with_overrides({"run.duration": f"{duration:g}s", "run.warmup": f"{duration / 4:g}s"})
        found = _compared(plan, number)
        if found is not None:
            yield file.name, found


def random_comparisons(most: int = RANDOM) -> Iterator[tuple[str, Comparison]]:
    """Compare two disciplines in so many random scenarios."""
    texts: list[str] = []

    @settings(
        max_examples=2 * most, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(scenarios())
    def draw(drawn: Drawn) -> None:
        if drawn.text not in texts:
            texts.append(drawn.text)

    draw()
    made = 0
    for number, text in enumerate(texts):
        try:
            plan = Scenario.from_text(text)
        except Error:
            continue
        found = _compared(plan, number)
        if found is not None:
            made += 1
            yield f"random scenario {number}", found
        if made == most:
            return


def report() -> tuple[str, bool]:
    """Return the section of the page, and whether all intervals are possible."""
    looked, numbers = Looked(), Counter[str]()
    for kind, comparisons in (("examples", examples()), ("random comparisons", random_comparisons())):
        for name, found in comparisons:
            numbers[kind] += 1
            looked.look(found, name)
            for label, result in found.results.items():
                looked.look_at_run(result, f"{name}, {label}")
    return "\n".join(_lines(looked, numbers)), not looked.impossible


def _lines(looked: Looked, numbers: Counter[str]) -> Iterator[str]:
    counts = ", ".join(f"{count} {kind}" for kind, count in numbers.items())
    intervals = ", ".join(f"{count:,} of {what}" for what, count in looked.intervals.items())
    methods = ", ".join(f"{name} {count:,}" for name, count in looked.methods.most_common())
    yield f"""## Impossible intervals

{counts}, of {min(SEEDS)} to {max(SEEDS)} runs each. Intervals: {intervals}; {looked.constant:,} quantities were equal
in all runs and have none. Methods of the means: {methods}. {looked.clipped:,} intervals of means end at a bound of
their quantity, which Student's would cross.

An interval is impossible if it does not hold its mean, reaches beyond what the quantity (or a difference of two of its
values) can be, is infinite, or is more than {WIDEST:g} times as wide as Student's. A verdict on runs that are all equal
is counted too, and a mean that is printed with fewer than two digits. **Impossible: {len(looked.impossible)}.**"""
    if looked.impossible:
        yield ""
    yield from (f"- {line}" for line in looked.impossible)
