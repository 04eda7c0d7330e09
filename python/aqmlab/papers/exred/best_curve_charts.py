"""Which curve is best, as figures: the map over load and price, power, and loss and runs at equal delay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from aqmlab.figures.chart import Chart, Heat, Mode, Series
from aqmlab.figures.marks import discipline_in
from aqmlab.theory.queueing.best_curve import FEW, OFTEN, Outcome, Winner, at, tied_sets

COLORS = {"drop-tail": 2, "RED": 0, "gentle RED": 5, "MRED": 3, "ExRED": 1, "NLRED": 4}
FEW_PRICES = 20
"""With so many prices there is room for a point at each."""
LOAD = "offered load λ/μ"
DELAY = "mean time in system, service times"


def best_chart(winners: Sequence[Winner], *, key: str, title: str) -> Chart:
    """Draw the map: how many curves are tied, and a point where one leads alone.

    Parameters
    ----------
    winners
        A full grid of loads and prices, as `aqmlab.theory.queueing.best_curve.best_map` returns it.
    key, title
        File name and heading.
    """
    loads, prices = sorted({one.load for one in winners}), sorted({one.price for one in winners})
    found = {(one.load, one.price): one for one in winners}
    tied = np.array([[float(len(found[load, price].tied)) for load in loads] for price in prices])
    # Not every place is marked, so that points do not hide each other.
    every = 1 if len(prices) <= FEW_PRICES else 2
    marked = [one for one in winners if prices.index(one.price) % every == 0]
    sparse = [one for one in marked if prices.index(one.price) % (2 * every) == 0 and loads.index(one.load) % 2 == 0]
    names = [name for name in COLORS if any(one.alone and one.best == name for one in marked)]
    series = [
        replace(
            _points(f"{name} alone", [one for one in marked if one.tied == (name,)], COLORS[name]),
            discipline=discipline_in(name) or "",
        )
        for name in names
    ]
    pairs = [names for names, share in tied_sets(winners).items() if len(names) <= FEW and share >= OFTEN]
    for tie, color in zip(pairs, (6, 7), strict=False):
        series.append(_points(f"{' = '.join(tie)}", [one for one in sparse if one.tied == tie], color))
    return Chart(
        key=key,
        title=title,
        alt="Who is best at a load and a price of delay: " + "; ".join(_extent(winners, name) for name in names)
        + "; elsewhere two or more curves are tied.",
        x_label=LOAD,
        y_label="price θ of delay, share of μ",
        series=series,
        y_log=True,
        heat=Heat(loads, prices, tied, "curves tied for the best"),
        caption="Colour: how many of the six curves are the best or within 0.1 % of μ of it (1: one leads alone). "
        "Points say which one leads alone, and which two or three are tied over wide parts. Utility is throughput/μ "
        "less θ x mean time in system in service times; at the bottom throughput is all that counts, at the top "
        "delay.",
    )  # fmt: skip


def power_chart(alone: Sequence[Outcome], averaged: Sequence[Outcome], *, key: str, title: str) -> Chart:
    """Draw Kleinrock's power against the load, without and with averaging."""
    series = []
    for name, color in COLORS.items():
        own, other = at(alone, name), at(averaged, name)
        label = name if name == "drop-tail" else f"{name}, w = 1"
        series.append(Series(label, list(own), [one.power for one in own.values()], color=color))
        if other and name != "drop-tail":
            y = [one.power for one in other.values()]
            series.append(Series(f"{name}, w = 0.02", list(other), y, mode="dotted", color=color))
    return Chart(
        key=key,
        title=title,
        alt="Power, throughput over delay, against the load: nearly the same for all curves up to load 0.7; above, "
        "drop-tail's falls most and RED's and NLRED's stay highest.",
        x_label=LOAD,
        y_label="power, (throughput/μ) / (time in system x μ)",
        series=series,
        y_log=True,
        caption="Kleinrock's power: throughput as a share of μ over the mean time in system in service times. Solid: "
        "w = 1; dotted: w = 0.02.",
    )


Lines = Mapping[str, Sequence[tuple[float, float]]]
"""Points (delay, quantity) by shape."""


def equal_delay_chart(
    first: Lines, second: Lines, *, key: str, title: str, y_label: str, caption: str,
    names: tuple[str, str] = ("scaled", "own parameters"), levels: Sequence[tuple[float, str]] = (),
) -> Chart:  # fmt: skip
    """Draw a quantity against the mean delay of each shape in two cases, which `names` names."""
    series = []
    for name, color in COLORS.items():
        for points, what, mode in ((first, names[0], "line"), (second, names[1], "dotted")):
            if points.get(name):
                x, y = zip(*points[name], strict=True)
                series.append(Series(f"{name}, {what}", x, y, mode=cast(Mode, mode), color=color))
    return Chart(
        key=key,
        title=title,
        alt=f"{y_label} against the mean time in system for {', '.join(name for name in COLORS if first.get(name))}.",
        x_label=DELAY,
        y_label=y_label,
        series=series,
        caption=caption,
        levels=list(levels),
    )


def _points(name: str, winners: Sequence[Winner], color: int) -> Series:
    x, y = [one.load for one in winners], [one.price for one in winners]
    return Series(name, x, y, mode="points", color=color)


def _extent(winners: Sequence[Winner], name: str) -> str:
    own = [one for one in winners if one.alone and one.best == name]
    loads, prices = [one.load for one in own], [one.price for one in own]
    return f"{name} alone at loads {min(loads):g} to {max(loads):g} and prices {min(prices):.1g} to {max(prices):.1g}"
