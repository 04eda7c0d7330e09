"""The paper: its runs, their numbers, its claims and its page. Reproduce it with: aqmlab reproduce FOLDER --quick."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from aqmlab.papers import common
from aqmlab.papers.common import (
    BASE,
    READINGS,
    SEEDS,
    Claims,
    Column,
    Paper,
    PaperFiles,
    Quantity,
    Reading,
    Runs,
    Section,
    Setup,
    Study,
    Tests,
    literal,
    quantities_of,
    strict,
)
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles.beside(__file__)
DISCIPLINES = {"RED": "red", "gentle RED": "gentle-red"}
"""The compared disciplines, and the names of their queues."""
FLOWS = (10, 20)


# Runs


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run."""

    seeds: int = 20
    reading_seeds: int = 5
    QUICK: ClassVar = {"seeds": 4, "reading_seeds": 3}


def setups(effort: Effort) -> list[Setup]:
    """List the scenarios: all points under the chosen readings and under every other reading."""
    others = [(reading, effort.reading_seeds) for reading in FILES.readings(quick=effort.quick)]
    return [
        setup(n, discipline, seeds=seeds, reading=reading)
        for reading, seeds in [(None, effort.seeds), *others]
        for n in FLOWS
        for discipline in DISCIPLINES
    ]


def setup(n: int, discipline: str, *, seeds: int, reading: Reading | None) -> Setup:
    """Make one scenario."""
    overrides: dict[str, Value] = {"flow.tcp.count": n, "queue.bottleneck.aqm": DISCIPLINES[discipline]}
    return Setup(
        key={"n": n, "discipline": discipline},
        plan=FILES.scenario("dumbbell", {**overrides, **(reading.overrides if reading else {})}),
        seeds=seeds,
        reading=reading.label if reading else BASE,
        tables=("links",),
    )


def measure(setup: Setup, folder: Path) -> dict[str, float]:
    """Read the numbers of one run: all quantities of ``aqmlab list quantities`` that its tables have, at one link."""
    return quantities_of(folder, "bottleneck")


# Claims

CLAIMS = Claims(
    columns={"n": Column("n", FLOWS), "discipline": Column(values=tuple(DISCIPLINES))},
    quantities={"loss": Quantity("loss", printed="loss"), "mean_queue": Quantity("mean queue", "packets")},
)


@CLAIMS.claim("A", "Gentle RED loses fewer packets", quote="The authors' sentence, and where it stands.")
def loss(runs: Runs) -> Tests:
    """Compare loss: the mean over the numbers of flows for the sentence, each number of flows for the strict form."""
    less = runs.gain("loss", "gentle RED", over="RED")
    yield literal(less.mean_over("n") < 0)
    yield strict(less.each("n") < 0)


@loss.objection("The flavour of TCP is not printed.")
def _(runs: Runs) -> str:
    less = runs.gain("loss", "gentle RED", over="RED").mean_over("n")
    return f"Loss less RED's: {less}, and {less.under('TCP flavour: SACK')} with SACK."


@CLAIMS.finding(
    "The paper's idea in one sentence.",
    holds="Gentle RED loses fewer packets than RED.",
    fails="Gentle RED loses more packets than RED.",
    undecided="Whether gentle RED loses fewer packets than RED is undecided in these runs.",
)
def finding(runs: Runs) -> Tests:
    """Compare loss."""
    yield literal(runs.gain("loss", "gentle RED", over="RED").mean_over("n") < 0)


@finding.text
def _(runs: Runs) -> str:
    red = runs.of("loss", "RED").each("n")
    return f"Loss of RED with {red.cells} flows: {red} (printed: {red.on_paper})."


# Page


def page(study: Study) -> Iterator[Section]:
    """Make the paper's own sections."""
    of = {name: study.runs.of("loss", name) for name in DISCIPLINES}
    table = study.table("table-1", of, rows=["n"], beside=True, heading="Table 1: loss", caption="Drops / arrivals.")
    figure = study.chart("figure-1", "Figure 1: loss", of, x="n", x_label="flows n", y_label="loss")
    queue = study.table(
        "queue",
        {"mean queue, packets": "mean_queue", "seeds": SEEDS},
        rows=["n", "discipline"],
        caption="Mean queue, not printed in the paper.",
    )
    yield Section("Table 1 and Figure 1", [table, figure, queue])
    yield Section(READINGS, [study.reading_verdicts()])


PAPER = Paper(
    FILES,
    name=FILES.key,
    citation="Authors, “Title”",
    claims=CLAIMS,
    effort=Effort,
    setups=setups,
    measure=measure,
    page=page,
    quick_note="This is the quick version, with few seeds.",
    example=f"aqmlab run {FILES.scenario_name('dumbbell')} --set queue.bottleneck.aqm=gentle-red --seeds {{seeds}}",
    scenarios=("dumbbell",),
)
