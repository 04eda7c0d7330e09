"""Results of a cross-check: our measurements, those of each other program, and where they agree."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.interop.crosscheck.agreement import LEVEL, Agreement, Line, mean_of
from aqmlab.interop.crosscheck.tool import Measured
from aqmlab.interop.differences import Semantic
from aqmlab.interop.model import Model
from aqmlab.results.displays import OneLine
from aqmlab.statistics import Interval


@dataclass(frozen=True)
class Side:
    """A program, and its results.

    Attributes
    ----------
    name, title, version
        Which program; no version if it is not installed.
    differences
        Features that it cannot express or implements differently.
    why_not
        Why it has no runs; "" if it has.
    folder, files
        Where its script is, and its files, the script first.
    measured
        Measurements by seed.
    lines
        The comparison with ours.
    """

    name: str
    title: str
    version: str | None
    differences: tuple[Semantic, ...]
    why_not: str
    folder: Path
    files: tuple[str, ...]
    measured: dict[int, Measured]
    lines: tuple[Line, ...]

    @property
    def agrees(self) -> bool:
        """Whether it ran, and nothing differs."""
        return bool(self.lines) and all(line.agreement is not Agreement.DIFFERS for line in self.lines)


@dataclass(frozen=True, repr=False)
class CrossCheck(OneLine):
    """Results of `cross_check`.

    Attributes
    ----------
    model
        The scenario.
    seeds
        Seeds of ours and of the others.
    margin
        Factor of all margins.
    measured
        Our measurements by seed.
    sides
        The other programs.
    folder
        Where everything is.
    """

    model: Model
    seeds: list[int]
    margin: float
    measured: dict[int, Measured]
    sides: tuple[Side, ...]
    folder: Path

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.model.name

    def ours(self, line: Line) -> Interval:
        """Return our mean of a line."""
        return mean_of(line.measure, [run[line.measure, line.place] for run in self.measured.values()])

    def side(self, name: str) -> Side:
        """Return what came of a program."""
        return next(side for side in self.sides if side.name == name)

    def data(self) -> dict[str, Any]:
        """Return everything for other programs."""
        return {
            "scenario": {"name": self.name, "hash": self.model.scenario.hash},
            "seeds": self.seeds,
            "deterministic": self.model.deterministic,
            "level": LEVEL,
            "margin": self.margin,
            "folder": str(self.folder),
            "tools": [_side_data(side) for side in self.sides],
        }


def _side_data(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "title": side.title,
        "version": side.version,
        "why_not": side.why_not,
        "script": str(side.folder / side.files[0]),
        "differences": [one.data for one in side.differences],
        "lines": [line.data() for line in side.lines],
    }
