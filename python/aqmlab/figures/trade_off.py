"""Goodput against delay: RFC 7928's ellipses, and the front of disciplines that no other beats in both."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.errors import InputError
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import Runs, discipline_at, link_in, named
from aqmlab.results.quantities import interval_of

if TYPE_CHECKING:
    from aqmlab.results.result import Result

AROUND = 121
"""Points of an ellipse; more than 60 are drawn without markers."""
KEYS = ("mean_delay_ms", "goodput_mbps")
X_LABEL = "mean queueing delay, ms"
Y_LABEL = "TCP goodput, Mb/s"


def ellipses(runs: Runs, *, link: str | None = None) -> Chart:
    """Delay against goodput: a point a run, and for each discipline an ellipse and its median.

    The ellipse is the contour at one standard deviation of the two-dimensional Gaussian that is most likely to give
    the points; its tilt shows how delay and goodput vary together. The ring is the median (RFC 7928, section 2.7).
    An ellipse needs three runs that do not lie on one line.
    """
    place = link_in(runs, link)
    found = named(runs)
    own = {name: discipline_at(result, place) for name, result in found.items()}
    return ellipses_of({name: _delay_and_goodput(result, place) for name, result in found.items()}, disciplines=own)


def ellipses_of(
    points: Mapping[str, tuple[np.ndarray, np.ndarray]],
    *,
    key: str = "ellipses",
    title: str = "Delay against goodput",
    x_label: str = X_LABEL,
    y_label: str = Y_LABEL,
    disciplines: Mapping[str, str] = MappingProxyType({}),
) -> Chart:
    """Draw the same of any points: the delay and the goodput of every run, by name.

    `disciplines` are those of names that are none themselves.

    >>> chart = ellipses_of({"red": (np.array([1.0, 2.0, 4.0]), np.array([8.0, 9.0, 8.5]))})
    >>> [(series.mode, len(series.x)) for series in chart.series]
    [('points', 3), ('line', 121), ('ring', 1)]
    """
    series, words = [], []
    for index, (name, (delay, goodput)) in enumerate(points.items()):
        own = disciplines.get(name, "")
        series.append(Series(name, delay, goodput, mode="points", color=index, discipline=own))
        outline = gaussian_contour(delay, goodput)
        if outline is not None:
            series.append(Series(name, *outline, color=index, listed=False, discipline=own))
        middle = (float(np.median(delay)), float(np.median(goodput)))
        series.append(Series(name, [middle[0]], [middle[1]], mode="ring", color=index, listed=False, discipline=own))
        words.append(f"{name} {middle[0]:.4g} ms and {middle[1]:.4g} Mb/s")
    return Chart(
        key=key,
        title=title,
        alt=f"Goodput against queueing delay, a point a run with an ellipse each; medians: {'; '.join(words)}.",
        x_label=x_label,
        y_label=y_label,
        series=series,
        caption="Better is up and to the left. Ellipses: one standard deviation of the runs. "
        f"Medians (rings): {'; '.join(words)}.",
    )


def gaussian_contour(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the contour at one standard deviation of the most likely Gaussian, or None if the points span no plane.

    >>> x, y = gaussian_contour(np.array([-1.0, 1.0, -1.0, 1.0]), np.array([-2.0, -2.0, 2.0, 2.0]))
    >>> x.max().round(6).item(), y.max().round(6).item(), gaussian_contour(np.arange(3), np.arange(3))
    (1.0, 2.0, None)
    """
    if len(x) < 3:
        return None
    covariance = np.cov(x, y, ddof=0)
    if np.linalg.matrix_rank(covariance, hermitian=True) < 2:
        return None
    angle = np.linspace(0, 2 * np.pi, AROUND)
    circle = np.vstack([np.cos(angle), np.sin(angle)])
    around = np.linalg.cholesky(covariance) @ circle
    return float(np.mean(x)) + around[0], float(np.mean(y)) + around[1]


def pareto_front(runs: Runs, *, link: str | None = None) -> Chart:
    """Mean goodput against mean delay, and the front: where no other has both less delay and more goodput."""
    place = link_in(runs, link)
    series, points = [], []
    for index, (name, result) in enumerate(named(runs).items()):
        delay, goodput = (interval_of(*one)[0] for one in zip(KEYS, _delay_and_goodput(result, place), strict=True))
        points.append((delay.mean, goodput.mean, name))
        series.append(
            Series(
                name,
                [delay.mean],
                [goodput.mean],
                [goodput.low],
                [goodput.high],
                mode="points",
                color=index,
                discipline=discipline_at(result, place),
            )
        )
    front = efficient([(x, y) for x, y, _ in points])
    line = Series("front", [points[i][0] for i in front], [points[i][1] for i in front], mode="steps", color=5)
    names = ", ".join(points[i][2] for i in front)
    return Chart(
        key="pareto",
        title="Goodput against delay: the front",
        alt=f"Mean goodput against mean queueing delay; on the front, from least delay to most goodput: {names}.",
        x_label=X_LABEL,
        y_label=Y_LABEL,
        series=[line, *series],
        caption=f"On the front: {names}. Every other has no less delay and no more goodput than one of these.",
    )


def efficient(points: list[tuple[float, float]]) -> list[int]:
    """Return the places of the points that none beats in both, least x (delay) first; y (goodput) is to be large.

    >>> efficient([(1.0, 5.0), (2.0, 4.0), (3.0, 6.0), (3.0, 5.5)])
    [0, 2]
    """
    found: list[int] = []
    for index in sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1])):
        if not found or points[index][1] > points[found[-1]][1]:
            found.append(index)
    return found


def _delay_and_goodput(result: Result, link: str) -> tuple[np.ndarray, np.ndarray]:
    table = result.metrics(link=link)
    if "goodput_mbps" not in table.columns:
        raise InputError(f"{result.name}: has no TCP flow, so no goodput")
    delay, goodput = (table[key].to_numpy(dtype=float) for key in KEYS)
    return delay, goodput
