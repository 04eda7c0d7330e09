"""Which curve is best at which load: what none of the papers shows, with this paper's parameters for all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.figures.chart import Chart
from aqmlab.papers.common import Kind, answers_of, quantity_interval, values
from aqmlab.papers.common.open_loop import Averaged, solved_numbers
from aqmlab.papers.exred.best_curve_charts import best_chart, equal_delay_chart, power_chart
from aqmlab.papers.exred.plan import (
    CAPACITY,
    CONFIRMED,
    CURVE,
    DELAYS,
    LOOP,
    SERVICE_RATE,
    TAIL,
    Effort,
    frontiers,
    scaled_solutions,
)
from aqmlab.statistics import Interval
from aqmlab.theory.queueing.best_curve import (
    SHAPES,
    TIE,
    Outcome,
    best_map,
    by_load,
    outcome,
    outcomes_of,
    switches,
    winner,
)
from aqmlab.theory.queueing.frontier import SLIGHT, excess_loss, scaled

MAP_LOADS = tuple(round(0.5 + 0.05 * i, 2) for i in range(31))
"""Loads of the map without averaging, which takes no time."""
OFFERS = (0.9, 1.0, 1.2)
"""Loads at which the paper's parameters are compared with the least loss."""
Lines = dict[str, list[tuple[float, float]]]


def without_average() -> list[Outcome]:
    """Solve all curves with w = 1."""
    return outcomes_of([LOOP.curve(name) for name in SHAPES], MAP_LOADS, capacity=CAPACITY)


def with_average(averaged: Averaged) -> list[Outcome]:
    """Return what all curves make of the loads with w = 0.02."""
    loads = [load for load in averaged.loads if load >= MAP_LOADS[0]]
    return [outcome_of(averaged, name, load) for name in SHAPES for load in loads]


def outcome_of(averaged: Averaged, name: str, load: float) -> Outcome:
    """Return the outcome of a curve at a load; drops that are too rare for the chain count as 0."""
    throughput, wait = averaged(name, load, "throughput"), averaged(name, load, "wait_ms")
    if throughput is None or wait is None:
        raise KeyError(name, load)
    rest = averaged(name, load, "p_drop") or 0.0, averaged(name, load, "mean_run") or 1.0
    return Outcome(name, load, throughput / SERVICE_RATE, 1 + wait / 1e3 * SERVICE_RATE, *rest)


def settings_table(effort: Effort, root: Path) -> pd.DataFrame:
    """Return the best parameters of each shape near each mean delay: of the least loss, and of the shortest runs."""
    rows = []
    answers = answers_of(root)
    for point in frontiers(effort):
        key = {"load": float(point.key["load"]), "shape": str(point.key["shape"])}
        for goal, settings in point.read(root, answers)[0].items():
            rows += [{**key, "goal": goal.replace("_", " "), **best} for best in settings]
    return pd.DataFrame(rows)


def confirmed(runs: pd.DataFrame, averaged: Averaged) -> pd.DataFrame:
    """Return places of the map (w = 0.02) with the lead of the best over the next, by the chain and simulated."""
    rows = []
    for load, price in CONFIRMED:
        outcomes = [outcome_of(averaged, name, load) for name in SHAPES]
        best = winner(outcomes, price)
        ranked = sorted(outcomes, key=lambda one: -one.utility(price))
        lead = _utility(runs, ranked[0].name, load, price) - _utility(runs, ranked[1].name, load, price)
        found = quantity_interval(lead, "utility", Kind.DIFFERENCE)
        row = {"load": load, "price": price, "best": ranked[0].name, "next": ranked[1].name}
        row |= {"tied": "" if best.alone else ", ".join(best.tied), "lead, chain": best.lead}
        row |= {"lead, simulated": found.mean, "lead, simulated low": found.low}
        row |= {"lead, simulated high": found.high, "seeds": found.n}
        rows.append(row | {"simulation says": _says(found, alone=best.alone)})
    return pd.DataFrame(rows)


def _says(lead: Interval, *, alone: bool) -> str:
    if alone:
        return "leads" if lead.low > 0 else "does not lead" if lead.high < 0 else "too few arrivals to say"
    if lead.low > -TIE and lead.high < TIE:
        return "tied"
    return "not tied" if lead.low > TIE or lead.high < -TIE else "too few arrivals to say"


def _utility(runs: pd.DataFrame, name: str, load: float, price: float) -> np.ndarray:
    """Return X - theta T of every seed."""
    of: dict[str, str | float] = {"model": "simulated", "longer_than": 0, "scheme": name, "load": load}
    x = values(runs, "throughput", **of) / SERVICE_RATE
    t = 1 + values(runs, "wait_ms", **of) / 1e3 * SERVICE_RATE
    found: np.ndarray = x - price * t
    return found


def own_parameters_table() -> pd.DataFrame:
    """Return what each curve, with the paper's parameters, loses above the least at its delay, and its E(N)."""
    rows = []
    for load in OFFERS:
        for name in SHAPES:
            if name == TAIL:
                continue
            one = outcome(LOOP.curve(name), load=load, capacity=CAPACITY)
            excess = excess_loss(one, capacity=CAPACITY)
            row: dict[str, str | float] = {"load": load, "curve": name, "delay": one.delay, "loss": one.p_drop}
            row |= {"least loss": one.p_drop - excess, "excess": excess, "E(N)": one.mean_run}
            rows.append(row | {"E(N), drop-tail": 1 + load})
    return pd.DataFrame(rows)


def switch_table(outcomes: list[Outcome]) -> pd.DataFrame:
    """Return, by load, from which price on which curve is the best."""
    rows = []
    for load, own in by_load(outcomes).items():
        words = [f"{name} from {price:.2g}" if price else f"{name} from 0" for price, name in switches(own)]
        rows.append({"load": load, "best, from a price of": "; ".join(words)})
    return pd.DataFrame(rows)


def charts(averaged: Averaged, table: pd.DataFrame) -> list[Chart]:
    """Return the map for both weights, power, and loss and runs at equal delay."""
    alone, other = without_average(), with_average(averaged)
    found = [
        best_chart(best_map(alone), key="best-curve", title="Best curve by load and price of delay, w = 1"),
        best_chart(best_map(other), key="best-curve-averaged", title="Best curve by load and price, w = 0.02"),
        power_chart(alone, other, key="best-curve-power", title="Power of all curves"),
    ]
    for load in sorted(table["load"].unique()):
        losses, runs = _scaled_lines(load)
        found.append(
            equal_delay_chart(
                losses,
                _own_lines(table, load, "least loss", "excess"),
                key=f"best-curve-loss-{load}",
                title=f"Loss at equal delay, load {load}",
                y_label="loss above the least possible",
                caption="Share of arrivals dropped, less the least that any discipline can have at this mean delay, "
                "which is that of drop-tail with a shorter buffer. Solid: the paper's k_l and k_h multiplied by 0.2 to "
                "2.5, max_p = 0.1; dotted: the settings of k_l, k_h and max_p that lose least. w = 1.",
            )
        )
        found.append(
            equal_delay_chart(
                runs,
                _own_lines(table, load, "shortest runs", "mean_run"),
                key=f"best-curve-runs-{load}",
                title=f"Drops in a row at equal delay, load {load}",
                y_label="E(N)",
                levels=[(1 + load, "drop-tail")],
                caption="Mean number of drops in a row: what a curve has to offer against drop-tail with a shorter "
                f"buffer. Solid as above; dotted: the settings of the shortest runs that lose at most {SLIGHT:.1%} of "
                "the arrivals above the least possible; where a shape has none near a delay, its mark is missing.",
            )
        )
    return found


def averaging_charts(effort: Effort, root: Path) -> list[Chart]:
    """Return what averaging costs at equal delay: each shape with scaled thresholds, w = 1 and w = 0.02."""
    found = []
    for load in effort.frontier_loads:
        losses: Lines = {}
        for point in scaled_solutions(effort):
            if point.key["load"] == load:
                numbers = solved_numbers(point, root)
                delay = 1 + numbers["wait_ms"] / 1e3 * SERVICE_RATE
                one = Outcome(str(point.key["scheme"]), load, 0.0, delay, numbers["p_drop"], 1.0)
                losses.setdefault(one.name, []).append((delay, excess_loss(one, capacity=CAPACITY)))
        found.append(
            equal_delay_chart(
                _scaled_lines(load)[0],
                losses,
                names=("w = 1", "w = 0.02"),
                key=f"best-curve-averaging-{load}",
                title=f"What averaging costs at equal delay, load {load}",
                y_label="loss above the least possible",
                caption="Share of arrivals dropped, less the least that any discipline can have at this mean delay. "
                "Both with the paper's k_l and k_h multiplied, max_p = 0.1. Solid: w = 1; dotted: w = 0.02.",
            )
        )
    return found


def _own_lines(table: pd.DataFrame, load: float, goal: str, quantity: str) -> Lines:
    rows = table[(table["load"] == load) & (table["goal"] == goal)].sort_values("delay")
    return {str(shape): list(zip(own["delay"], own[quantity], strict=True)) for shape, own in rows.groupby("shape")}


def _scaled_lines(load: float) -> tuple[Lines, Lines]:
    losses: Lines = {}
    runs: Lines = {}
    for shape in SHAPES:
        if shape == TAIL:
            continue
        for setting in scaled(shape, **CURVE):
            one = outcome(setting.curve(limit=CAPACITY), load=load, capacity=CAPACITY)
            if one.delay <= DELAYS[-1]:
                losses.setdefault(shape, []).append((one.delay, excess_loss(one, capacity=CAPACITY)))
                runs.setdefault(shape, []).append((one.delay, one.mean_run))
    return losses, runs
