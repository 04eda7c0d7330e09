"""The figures of `best-curve.md`."""

from __future__ import annotations

from collections.abc import Callable

from aqmlab.figures.chart import Chart
from aqmlab.papers.exred.best_curve_charts import best_chart, equal_delay_chart, power_chart
from aqmlab.theory.queueing.best_curve import best_map, candidates, outcome, outcomes_of
from aqmlab.theory.queueing.frontier import excess_loss, scaled

CAPACITY = 100
LOADS = tuple(round(0.5 + 0.05 * i, 2) for i in range(31))
PRICES = tuple(10 ** (-5 + 0.25 * i) for i in range(17))
AVERAGED_LOADS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0)
SHAPES = ("RED", "gentle RED", "MRED", "ExRED", "NLRED")


def best_curve() -> Chart:
    """Draw the best curve by load and price, without averaging."""
    found = outcomes_of(candidates(), LOADS, capacity=CAPACITY)
    return best_chart(
        best_map(found, prices=PRICES), key="best-curve", title="Best curve by load and price of delay, w = 1"
    )


def best_curve_averaged() -> Chart:
    """Draw the best curve by load and price, with the average."""
    found = outcomes_of(candidates(), AVERAGED_LOADS, capacity=CAPACITY, w_q=0.02)
    title = "Best curve by load and price of delay, w = 0.02"
    return best_chart(best_map(found, prices=PRICES), key="best-curve-averaged", title=title)


def best_curve_power() -> Chart:
    """Power against the load."""
    alone, averaged = (
        outcomes_of(candidates(), loads, capacity=CAPACITY, w_q=w)
        for loads, w in ((LOADS, 1.0), (AVERAGED_LOADS, 0.02))
    )
    return power_chart(alone, averaged, key="best-curve-power", title="Power of all curves")


def best_curve_loss() -> Chart:
    """Loss at equal delay, without and with the average."""
    lines: list[dict[str, list[tuple[float, float]]]] = []
    for w in (1.0, 0.02):
        found: dict[str, list[tuple[float, float]]] = {}
        for shape in SHAPES:
            for setting in scaled(shape, min_th=10, max_th=30, max_p=0.1, limit=CAPACITY):
                one = outcome(setting.curve(limit=CAPACITY), load=1.0, capacity=CAPACITY, w_q=w)
                found.setdefault(shape, []).append((one.delay, excess_loss(one, capacity=CAPACITY)))
        lines.append(found)
    return equal_delay_chart(
        *lines,
        names=("w = 1", "w = 0.02"),
        key="best-curve-loss",
        title="Loss at equal delay, load 1",
        y_label="loss above the least possible",
        caption="Thresholds 10 and 30 multiplied by 0.2 to 2.5, max_p = 0.1. Solid: w = 1; dotted: w = 0.02.",
    )


FIGURES: dict[str, Callable[[], Chart]] = {
    "best-curve": best_curve,
    "best-curve-averaged": best_curve_averaged,
    "best-curve-power": best_curve_power,
    "best-curve-loss": best_curve_loss,
}
