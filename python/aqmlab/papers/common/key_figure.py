"""The key figure of a paper, for the first screen of its page: as printed, and beside it as measured."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
from markupsafe import Markup

from aqmlab.errors import InputError, unknown
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers.common.contents import Figure, Section
from aqmlab.reporting import plots
from aqmlab.reporting.fragments import KeyFigure

SIZE_IN = {1: (9.2, 2.6), 2: (4.7, 2.7)}
"""Size of a picture, by their number."""
FREE = 0.06
"""Free share of the vertical scale above and below."""


@dataclass(frozen=True)
class Key:
    """Which figure is the key figure.

    Attributes
    ----------
    name
        The name of a chart of the page.
    paper
        The words in the names of its series that are the paper's own; "" if it prints none.
    beside, ours
        Titles of the printed and of the measured series.
    """

    name: str
    paper: str = ", printed"
    beside: str = "As printed"
    ours: str = "As measured here"


def key_figure(key: Key | None, sections: Iterable[Section], gaps: pd.DataFrame | None) -> KeyFigure | None:
    """Return the key figure; without one all printed numbers against the measured ones, None if there are none.

    Parameters
    ----------
    key, sections
        Which chart, and the sections that have it.
    gaps
        The gaps to printed numbers; None without any.
    """
    if key is None:
        return None if gaps is None or gaps.empty else _printed_and_measured(gaps)
    blocks = [block for section in sections for block in section.blocks]
    found = [block.chart for block in blocks if isinstance(block, Figure) and isinstance(block.chart, Chart)]
    charts = {one.key: one for one in found}
    if key.name not in charts:
        raise InputError(f"PAPER: key: {unknown('chart of the page', key.name, list(charts))}")
    chart = charts[key.name]
    chart = replace(chart, y_range=chart.y_range or _range(chart.series))
    on_paper = [one for one in chart.series if key.paper and key.paper in one.name]
    named = {id(one) for one in on_paper}
    ours = [one for one in chart.series if id(one) not in named and (one.mode == "line" or not on_paper)]
    sides = [(key.ours, ours)]
    if on_paper:
        plain = [replace(one, name=one.name.replace(key.paper, "").strip(", "), mode="line") for one in on_paper]
        sides = [(key.beside, plain), *sides]
    size = SIZE_IN[len(sides)]
    pictures = [(words, _picture(chart, series, size), f"{words}: {chart.title}.") for words, series in sides]
    return KeyFigure(chart.title, pictures, "")


def _picture(chart: Chart, series: Sequence[Series], size_in: tuple[float, float]) -> Markup:
    own = replace(chart, series=list(series), title="", caption="")
    return plots.inline_svg(partial(plots.SCREEN.paint, chart=own), size_in)


def _range(series: Sequence[Series]) -> tuple[float, float]:
    """Return the vertical scale that all series need."""
    values = [
        np.asarray(part, dtype=float) for one in series for part in (one.y, one.low, one.high) if part is not None
    ]
    every = np.concatenate(values)
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    free = FREE * ((high - low) or 1.0)
    return low - free, high + free


def _printed_and_measured(gaps: pd.DataFrame) -> KeyFigure | None:
    """Draw all printed numbers above 0 against the measured ones; None if there are fewer than two."""
    pairs = [(_first_number(str(row.printed)), _first_number(str(row.measured))) for row in gaps.itertuples()]
    positive = [pair for pair in pairs if math.isfinite(sum(pair)) and min(pair) > 0]
    if len(positive) < 2:
        return None
    printed, measured = np.array(positive).T
    ends = np.array([min(printed.min(), measured.min()), max(printed.max(), measured.max())])
    chart = Chart(
        "key-figure",
        "",
        f"{len(printed)} printed numbers against the measured ones, most near the line of equal numbers.",
        "printed",
        "measured",
        [
            Series("equal", ends, ends, mode="dashed", color=7),
            Series("a number of the paper", printed, measured, mode="points"),
        ],
        x_log=True,
        y_log=True,
    )  # fmt: skip
    return KeyFigure(
        "All printed numbers against the measured ones",
        [("", _picture(chart, chart.series, SIZE_IN[1]), chart.alt)],
        "",
    )


def _first_number(text: str) -> float:
    """Return the first number in a text; NaN without one.

    >>> _first_number("3125 s"), _first_number("< 9.5e1"), _first_number("-0.5 ± 0.1"), _first_number("")
    (3125.0, 95.0, -0.5, nan)
    """
    found = re.search(r"[-+]?\d+\.?\d*(e[-+]?\d+)?", text)
    return float(found[0]) if found else math.nan
