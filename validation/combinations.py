"""Runs every combination of RED's parts on one network, and writes docs/combinations.md: `make validate` calls it.

One scenario file, docs/combinations.toml; a combination is nothing but overrides of it. The page has the
checker's message for each combination that it rejects.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab import _core
from aqmlab.errors import ScenarioError
from aqmlab.reporting.fragments import bounded
from aqmlab.results.output import Output
from aqmlab.results.result import Result
from aqmlab.runs.jobs import jobs_for
from aqmlab.runs.scheduler import execute
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import parts
from aqmlab.scenario.toml_text import Value
from aqmlab.statistics import interval

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = "docs/combinations.toml"
PAGE = ROOT / "docs" / "combinations.md"

CURVES = tuple(part.name for part in parts()["curve"].values() if not part.needs)
"""All but those that are whatever their parameters are, such as "points"."""
VICTIMS = tuple(parts()["victim"])
ADAPTATIONS = tuple(parts()["adaptation"])
RIO: Value = [
    {"name": "in", "dscp": ["AF11"], "min_th": "40p", "max_th": "70p", "max_p": 0.02},
    {"name": "out", "default": True, "min_th": "10p", "max_th": "30p", "max_p": 0.1},
]
CLASSES: dict[str, dict[str, Value]] = {"one": {}, "rio": {"queue.bottleneck.class": RIO}}
SETTINGS: dict[str, dict[str, Value]] = {
    "adaptive-rio": {"queue.bottleneck.max_l": "15p", "queue.bottleneck.max_u": "60p"},
}
"""Further settings of an adaptation."""
PARTS = ("curve", "victim", "classes", "adaptation")
MEASURES = {
    "throughput": "throughput, Mb/s",
    "queue": "mean queue, packets",
    "loss": "loss, %",
    "jain": "Jain's index",
    "assured": "an assured flow, Mb/s",
    "far": "a far flow / a near flow",
}


@dataclass(frozen=True)
class Combination:
    """One choice of the four parts."""

    curve: str
    victim: str
    classes: str
    adaptation: str

    @property
    def overrides(self) -> dict[str, Value]:
        """Overrides that make this combination of the scenario file."""
        return {
            "queue.bottleneck.curve": self.curve,
            "queue.bottleneck.victim": self.victim,
            "queue.bottleneck.adaptation": self.adaptation,
            **CLASSES[self.classes],
            **SETTINGS.get(self.adaptation, {}),
        }

    @property
    def words(self) -> tuple[str, str, str, str]:
        """The four parts, in the order of `PARTS`."""
        return (self.curve, self.victim, self.classes, self.adaptation)


def everything() -> list[Combination]:
    """All combinations."""
    return [Combination(*words) for words in itertools.product(CURVES, VICTIMS, CLASSES, ADAPTATIONS)]


def checked(combinations: list[Combination]) -> tuple[dict[Combination, Scenario], dict[Combination, str]]:
    """Return the combinations that the checker accepts, as scenarios, and those that it rejects, with its messages."""
    text = (ROOT / SCENARIO).read_text(encoding="utf-8")
    taken, refused = {}, {}
    for combination in combinations:
        try:
            taken[combination] = Scenario.from_text(text, filename=SCENARIO, overrides=combination.overrides)
        except ScenarioError as error:
            refused[combination] = "; ".join(problem.message for problem in error.problems)
    return taken, refused


def run(scenarios: dict[Combination, Scenario], *, workers: int | None = None) -> pd.DataFrame:
    """Run all of them on the file's seeds: a row per combination and seed."""
    groups = {combination: jobs_for(plan, plan.seeds, folder=None) for combination, plan in scenarios.items()}
    outputs = execute([job for jobs in groups.values() for job in jobs], workers=workers, title="combinations")
    rows, rest = [], iter(outputs)
    for combination, jobs in groups.items():
        words = dict(zip(PARTS, combination.words, strict=True))
        rows += [words | measures(output) for output in itertools.islice(rest, len(jobs))]
    return pd.DataFrame(rows)


def measures(output: Output) -> dict[str, float]:
    """Return the measures of one run, see `MEASURES`."""
    result = Result.from_outputs([output])
    found = result.metrics(link="bottleneck").iloc[0]
    goodput = result.flows.groupby("group")["goodput_bps"].mean() / 1e6
    return {
        "seed": result.seeds[0],
        "throughput": float(found["throughput_mbps"]),
        "queue": float(found["mean_queue"]),
        "loss": 100 * float(found["loss"]),
        "jain": float(found["jain"]),
        "assured": float(goodput["assured"]),
        "far": float(goodput["far"] / goodput["near"]),
    }


def page(runs: pd.DataFrame, refused: dict[Combination, str]) -> str:
    """The page."""
    seeds = runs["seed"].nunique()
    count = len(runs.groupby(list(PARTS)))
    return f"""# Parts combine

Written by `validation/combinations.py` (`make validate` calls it) with version {_core.version()}: {count} combinations
of curve, victim, classes and adaptation, none of which needs code of its own. They are overrides of one file,
[combinations.toml](combinations.toml), for example

    aqmlab run {SCENARIO} --set queue.bottleneck.curve=mred --set queue.bottleneck.victim=ddred

Ten NewReno flows share 10 Mb/s: four near ones, four far ones whose packets have come one hop farther (what DDRED's
victim looks at), and two assured ones near by, with high priority (PC-RED's victim) and 1 Mb/s each in profile (RIO's
classes), idle for 20 s (what Adaptive-RIO waits for). CHOKe's victims are of the flows that fill the queue. {seeds}
seeds, 60 s each after 10 s; means with 95 % Student intervals. Loss is of all packets that arrive at the bottleneck.
Jain's index and the last two columns are of goodput.

## What each part does on the average

Each line: the mean over all combinations that have this part, with the interval over the seeds.

{effects(runs)}

## All combinations

{combinations_table(runs)}

## Rejected

The reasons are the checker's messages.

{refusals(refused)}
"""


def effects(runs: pd.DataFrame) -> str:
    """Means of each value of each part over all combinations with it."""
    lines = _header(["part", "is", "combinations"])
    for part in PARTS:
        for name, rows in runs.groupby(part, sort=False):
            by_seed = rows.groupby("seed")[list(MEASURES)].mean()
            count = len(rows) // len(by_seed)
            lines.append(_line([part, str(name), str(count)], by_seed))
    return "\n".join(lines)


def combinations_table(runs: pd.DataFrame) -> str:
    """One line per combination."""
    lines = _header(list(PARTS))
    for words, rows in runs.groupby(list(PARTS), sort=False):
        lines.append(_line([str(word) for word in words], rows))
    return "\n".join(lines)


def refusals(refused: dict[Combination, str]) -> str:
    """Return one line per reason for which the checker rejects combinations."""
    if not refused:
        return "None."
    by_reason: dict[str, list[Combination]] = {}
    for combination, reason in refused.items():
        by_reason.setdefault(reason, []).append(combination)
    return "\n".join(f"* {_common(own)} ({len(own)} combinations): {reason}" for reason, own in by_reason.items())


def _common(combinations: list[Combination]) -> str:
    """Return the parts that all combinations share, in words."""
    columns = zip(PARTS, zip(*(one.words for one in combinations), strict=True), strict=True)
    return ", ".join(f"{part} {words[0]}" for part, words in columns if len(set(words)) == 1)


def _header(columns: list[str]) -> list[str]:
    names = [*columns, *MEASURES.values()]
    return [f"| {' | '.join(names)} |", "|" + "---|" * len(columns) + "---:|" * len(MEASURES)]


def _line(words: list[str], rows: pd.DataFrame) -> str:
    cells = []
    for key in MEASURES:
        found = interval(np.asarray(rows[key], dtype=float))
        cells.append(bounded(found.mean, found.low, found.high))
    return f"| {' | '.join([*words, *cells])} |"


def main() -> int:
    """Runs everything and writes the page; the exit code."""
    taken, refused = checked(everything())
    PAGE.write_text(page(run(taken), refused), encoding="utf-8")
    print(f"Combinations: {len(taken)} run, {len(refused)} rejected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
