"""Which runs the reproduction needs: the reading that was chosen in full, every other reading and form beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.reproduction.papers import common
from aqmlab.reproduction.papers.common import BASE, PaperFiles, Reading, Setup
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("ddred")
CASES = {"bus": "bus", "flower": "flower", "pair": "two flows"}
DISCIPLINES = {"RED": "gentle-red", "DDRED": "ddred"}
LATENCIES = (1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 150, 200)
"""Latencies of the link PCs1-R1 in Figure 13, in ms."""
TABLE_LATENCIES = (1, 20, 50, 100)
"""Those of Table I."""
FIGURE_LATENCY = 20
"""That of Figure 12."""
PAPER_RUNS = 11
"""The paper's runs Sr_1 to Sr_11; ours are the seeds 1 to 11."""
FIGURE_RUN = 6
"""Sr_6, the run of Figures 4 and 11."""
GROUPS = {"bus": ("ftp",), "flower": ("ftp",), "pair": ("PCs1", "PCs2")}
"""The groups of flows of each scenario."""


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run.

    Attributes
    ----------
    seeds, reading_seeds, quick
        As in `aqmlab.reproduction.papers.common.Effort`; `seeds` is for the bus and the two flows.
    flower_seeds, flower_reading_seeds
        The same for the flower, whose runs take long; 0 leaves it out.
    sweep_seeds
        Seeds of every reading in the search for Table I's DDRED row.
    """

    seeds: int = 50
    reading_seeds: int = 11
    flower_seeds: int = PAPER_RUNS
    flower_reading_seeds: int = 3
    sweep_seeds: int = 12

    @classmethod
    def of(cls, *, quick: bool, seeds: int | None = None) -> Effort:
        """Return the quick effort (under 80 s on two cores) or the full one."""
        if quick:
            count = seeds or PAPER_RUNS
            return cls(
                seeds=count,
                reading_seeds=min(count, 2),
                quick=True,
                flower_seeds=min(count, 2),
                flower_reading_seeds=0,
                sweep_seeds=min(count, 3),
            )
        count = seeds or cls.seeds
        return cls(
            seeds=count,
            reading_seeds=min(count, cls.reading_seeds),
            flower_seeds=min(count, cls.flower_seeds),
            flower_reading_seeds=min(count, cls.flower_reading_seeds),
            sweep_seeds=min(count, cls.sweep_seeds),
        )


@dataclass(frozen=True)
class Variant:
    """What is laid over the paper's scenarios: another reading, or a form that the paper describes but did not run.

    Attributes
    ----------
    question, name
        What it answers, and how.
    quick
        Whether the quick version tries it too.
    options
        ``set``: overrides of every scenario; ``flow``: keys of every flow; ``bus``, ``flower``, ``pair``: overrides
        of one scenario; ``RED``, ``DDRED``: overrides under one discipline; ``cases``: the scenarios it concerns;
        ``count``: no runs of its own, but other columns of the table of runs as L and S.
    """

    question: str
    name: str
    quick: bool
    options: Mapping[str, Any]

    @classmethod
    def of(cls, reading: Reading) -> Variant:
        """Make one of a reading of ``readings.toml`` or ``forms.toml``."""
        return cls(reading.question, reading.name, reading.quick, {"set": reading.overrides, **reading.options})

    @property
    def label(self) -> str:
        """Its name in the table of runs."""
        return f"{self.question}: {self.name}"

    @property
    def cases(self) -> tuple[str, ...]:
        """The scenarios it concerns."""
        return tuple(self.options.get("cases", CASES))

    @property
    def count(self) -> dict[str, str]:
        """Other columns of the table of runs as L and S; empty if it has runs of its own."""
        return dict(self.options.get("count", {}))

    def overrides(self, case: str, discipline: str) -> dict[str, Value]:
        """Return what it lays over one scenario under one discipline."""
        found: dict[str, Value] = dict(self.options.get("set", {}))
        for group in GROUPS[case]:
            found |= {f"flow.{group}.{key}": value for key, value in self.options.get("flow", {}).items()}
        for key in (case, discipline):
            found |= self.options.get(key, {})
        return found


def variants(effort: Effort) -> list[Variant]:
    """List the other readings, in the order of ``readings.toml``."""
    return [Variant.of(reading) for reading in FILES.readings(quick=effort.quick)]


def forms(effort: Effort) -> list[Variant]:
    """List the forms that the paper describes but did not run, in the order of ``forms.toml``."""
    found = [
        Variant(entry["title"], one["name"], one.get("quick", False), {k: v for k, v in one.items() if k != "name"})
        for entry in FILES.toml("forms.toml")["form"]
        for one in entry["kind"]
    ]
    return [form for form in found if form.quick or not effort.quick]


def setups(effort: Effort) -> list[Setup]:
    """List every scenario that is needed, but for those of the search for Table I."""
    found = of_variant(None, seeds=effort.seeds, flower_seeds=effort.flower_seeds)
    for variant in variants(effort) + forms(effort):
        if variant.count:
            continue
        found += of_variant(variant, seeds=effort.reading_seeds, flower_seeds=effort.flower_reading_seeds)
    return found


def of_variant(variant: Variant | None, *, seeds: int, flower_seeds: int) -> list[Setup]:
    """List the scenarios of the chosen reading (None) or of another one."""
    found = []
    for case in CASES if variant is None else variant.cases:
        count = flower_seeds if case == "flower" else seeds
        if count == 0:
            continue
        for latency in LATENCIES if case == "pair" else (0,):
            found += [setup(case, d, seeds=count, latency=latency, variant=variant) for d in DISCIPLINES]
    return found


def setup(case: str, discipline: str, *, seeds: int, latency: int = 0, variant: Variant | None = None) -> Setup:
    """Make one scenario; `latency` is that of the link PCs1-R1 in ms, 0 where there is none."""
    overrides: dict[str, Value] = {"queue.router.aqm": DISCIPLINES[discipline]}
    tables = ["flows", "drop_distances"]
    if case == "pair":
        overrides["link.PCs1-R1.delay"] = f"{latency}ms"
        if latency == FIGURE_LATENCY:
            overrides["probe.flow_interval"] = "100ms"
            tables.append("flow_samples")
    if variant is not None:
        overrides |= variant.overrides(case, discipline)
    return Setup(
        key={"case": case, "latency": latency, "discipline": discipline},
        plan=FILES.scenario(case, overrides),
        seeds=seeds,
        reading=BASE if variant is None else variant.label,
        tables=tuple(tables),
    )
