"""Result of an analysis: theory and simulation of one link, the gaps between them, and the reasons."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from aqmlab import _core
from aqmlab.figures.chart import Chart
from aqmlab.figures.theory import charts_of
from aqmlab.results.displays import OneLine
from aqmlab.results.result import Result
from aqmlab.theory.scenario.agreement import Measured, of_result
from aqmlab.theory.scenario.assumption import Assumption
from aqmlab.theory.scenario.model import LinkModel
from aqmlab.theory.scenario.theory import Theory


@dataclass(frozen=True, repr=False)
class Analysis(OneLine):
    """Theory over simulation, for one link of a scenario.

    Attributes
    ----------
    name, hash
        Of the scenario.
    link
        The link.
    reason
        Why no model is for this traffic; "" if there is one.
    theory
        The models, operating point, course, loop, chain.
    result
        The runs; None without simulation.
    gaps
        One row for each quantity and model: analysed, simulated with its interval, the gap in percent
        (`aqmlab.theory.scenario.agreement.gaps`).
    classes
        Each class of flows: window, round trip and rate, analysed and simulated.
    loop
        Margins of the linearized loop.
    swings
        How the queue moves: of linear theory, of the fluid and of the simulation.
    assumptions
        The assumptions of the models, and whether this scenario violates them.
    folder, report
        Where the runs and the page are, if they are on disk.
    seconds
        How long theory, simulation and page took; in no file, since it is no result.
    """

    name: str
    hash: str
    link: str
    reason: str
    theory: Theory
    result: Result | None
    gaps: pd.DataFrame
    classes: pd.DataFrame
    loop: pd.DataFrame
    swings: pd.DataFrame
    assumptions: list[Assumption]
    folder: Path | None = None
    report: Path | None = None
    seconds: dict[str, float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def model(self) -> LinkModel:
        """The link as the models see it."""
        return self.theory.model

    @property
    def seeds(self) -> list[int]:
        """The seeds that were simulated."""
        return [] if self.result is None else self.result.seeds

    @property
    def violated(self) -> list[Assumption]:
        """The assumptions that this scenario violates."""
        return [one for one in self.assumptions if one.violated]

    @property
    def no_shares(self) -> str:
        """Why there is no theory of shares by class, in one line; "" if there is one, or if all are treated alike."""
        return self.theory.shares.reason

    @property
    def measured(self) -> list[Measured]:
        """The measurements, in columns: the simulation, if there is one."""
        return [] if self.result is None else [of_result(self.model, self.result)]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables by name; those without a row are left out."""
        assumptions = pd.DataFrame([vars(one) for one in self.assumptions], columns=["text", "violated", "how"])
        found = {"gaps": self.gaps, "classes": self.classes, "loop": self.loop, "swings": self.swings}
        found["by_seed"] = pd.DataFrame(self.theory.by_seed)
        return {name: table for name, table in {**found, "assumptions": assumptions}.items() if len(table)}

    @property
    def charts(self) -> list[Chart]:
        """All figures."""
        return charts_of(self.theory, self.measured, self.result)

    def data(self) -> dict[str, Any]:
        """Return everything as plain data; the same for the same scenario, seeds and version."""
        model = self.model
        return {
            "version": _core.version(),
            "scenario": {"name": self.name, "hash": self.hash},
            "link": self.link,
            "discipline": model.curve.name,
            "kind": model.kind,
            "reason": self.reason,
            "no_shares": self.no_shares,
            "seeds": self.seeds,
            "capacity_packets_s": model.capacity,
            "packet_bytes": model.packet_bytes,
            "tables": {name: table.to_dict("records") for name, table in self.tables.items()},
        }
