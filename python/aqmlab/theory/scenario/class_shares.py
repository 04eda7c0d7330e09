"""Theory of each class of flows at a link whose discipline does not treat all packets alike.

`aqmlab.theory.scenario.shares` chooses the theory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from aqmlab.results.quantities import Quantity
from aqmlab.statistics import Interval
from aqmlab.theory.domain import DomainError
from aqmlab.theory.scenario.agreement import Analysed, Measured
from aqmlab.theory.scenario.assumption import Assumption

if TYPE_CHECKING:
    from aqmlab.results.result import Result


@dataclass(frozen=True)
class ClassShares:
    """Shares of drops and throughput by class.

    Attributes
    ----------
    about
        The theory, as a heading; "" where no class differs from another.
    reason
        Why there is no theory of the classes; "" if there is one, or if all are alike.
    quantities
        The compared quantities.
    columns
        The results of each model.
    measure
        Reads the same quantities off runs.
    assumptions
        The assumptions of the theory.
    """

    about: str = ""
    reason: str = ""
    quantities: tuple[Quantity, ...] = ()
    columns: tuple[Analysed, ...] = ()
    measure: Callable[[Result], Mapping[str, Interval]] | None = field(default=None, compare=False)
    assumptions: tuple[Assumption, ...] = ()

    def measured(self, result: Result) -> list[Measured]:
        """Return what runs say, in one column; none where they did not record it."""
        found = {} if self.measure is None else self.measure(result)
        return [Measured("simulated", found)] if found else []


def columns_of(
    models: Iterable[tuple[str, Callable[[], dict[str, float]]]], what: str
) -> tuple[tuple[Analysed, ...], str]:
    """Return the results of each model by its name, and the reason if no model has a solution.

    `what` names the theory in the reason.
    """
    columns, notes = [], []
    for name, work in models:
        try:
            columns.append(Analysed(name, work()))
        except DomainError as error:
            notes.append(f"{name}: {error}")
    return tuple(columns), "" if columns else f"no theory of {what}: {'; '.join(notes)}"


def gauges_of(result: Result, link: str, *, since: float) -> pd.DataFrame:
    """Return the gauges of a link after the warm-up: a row for each seed and moment, a column for each gauge."""
    if "discipline_samples" not in result.tables:
        return pd.DataFrame()
    rows = result.discipline_samples
    rows = rows[(rows["link"] == link) & (rows["t_s"] >= since)]
    return rows.pivot_table(index=["seed", "t_s"], columns="name", values="value")


def per_flow_mbps(result: Result, names: tuple[str, ...]) -> np.ndarray:
    """Return the mean goodput of these flows in Mb/s, a number for each seed."""
    own = result.flows[result.flows["flow"].isin(names)]
    found: np.ndarray = own.groupby("seed")["goodput_bps"].mean().to_numpy() / 1e6
    return found
