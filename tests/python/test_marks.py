"""Colours and markers of disciplines: one each, and distinct for protan and deutan viewers too."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.figure import Figure

from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.marks import COLORS, DASHES, DISCIPLINES, GREY, PALETTE, SHAPES, mark_of, marks
from aqmlab.reporting import charts, plots
from aqmlab.reporting.mpl_style import MARKERS
from aqmlab.scenario.registry import disciplines

USUAL = [
    ["drop-tail", "red", "gentle-red", "mred", "exred", "codel", "pie"],
    ["drop-tail", "red", "codel", "fq-codel", "cake", "pie"],
    ["red", "mred", "exred", "pc-red", "ddred", "rio", "adaptive-rio", "blue"],
    ["red", "mred", "nlred", "codel", "pie", "pi", "blue"],
]
"""Disciplines that often share a chart."""
# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VIEWS = {
    "normal": np.eye(3),
    "protan": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deutan": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
}
LEAST = {"normal": 13.0, "protan": 9.0, "deutan": 9.0}
"""Least distances (CIEDE2000) of two colours of the palette; about 2 is the least that is noticed side by side."""
LEAST_USUAL = {"normal": 9.0, "protan": 5.0, "deutan": 4.5}
"""Least distances of disciplines that often share a chart."""
LEAST_COLORS = {"normal": 8.0, "protan": 4.5, "deutan": 4.5}
"""Least distances of any two colours, shades among them."""
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(color):
    parts = np.array([int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b* of linear RGB."""
    x = TO_XYZ @ rgb / WHITE
    f = np.where(x > (6 / 29) ** 3, np.cbrt(x), x / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def ciede2000(one, two):
    """Distance of two colours in L*a*b* (Sharma, Wu and Dalal 2005)."""
    (l1, a1, b1), (l2, a2, b2) = one, two
    c7 = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    g = 0.5 * (1 - np.sqrt(c7 / (c7 + 25**7)))
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = np.hypot(a1, b1), np.hypot(a2, b2)
    h1, h2 = np.degrees(np.arctan2(b1, a1)) % 360, np.degrees(np.arctan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    light, c, h = (l1 + l2) / 2, (c1 + c2) / 2, (h1 + turn / 2) % 360
    cosines = [np.cos(np.radians(k * h + at)) for k, at in ((1, -30), (2, 0), (3, 6), (4, -63))]
    t = 1 - 0.17 * cosines[0] + 0.24 * cosines[1] + 0.32 * cosines[2] - 0.20 * cosines[3]
    s_l = 1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2)
    s_c, s_h = 1 + 0.045 * c, 1 + 0.015 * c * t
    r = -2 * np.sqrt(c**7 / (c**7 + 25**7)) * np.sin(np.radians(60 * np.exp(-(((h - 275) / 25) ** 2))))
    dl, dc, dh = (l2 - l1) / s_l, (c2 - c1) / s_c, hue / s_h
    return float(np.sqrt(dl**2 + dc**2 + dh**2 + r * dc * dh))


@pytest.mark.parametrize(
    ("one", "two", "distance"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (61.0, -5.0, 29.0), 22.8977),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((22.7233, 20.0904, -46.6940), (23.0331, 14.9730, -42.5619), 2.0373),
    ],
)
def test_the_distance_is_that_of_the_published_pairs(one, two, distance):
    """Sharma, Wu and Dalal 2005, table 1."""
    assert ciede2000(one, two) == pytest.approx(distance, abs=1e-4)


def seen(color, view):
    return lab(np.clip(VIEWS[view] @ linear(color), 0, 1))


def test_every_discipline_has_a_mark_of_its_own():
    assert set(DISCIPLINES) == {one.name for one in disciplines() if not one.foreign}
    assert {marker for _, _, marker in DISCIPLINES.values()} <= set(SHAPES) == set(MARKERS)
    assert {dash for _, dash, _ in DISCIPLINES.values()} <= set(DASHES)


def test_each_pair_differs_in_colour_or_in_both_dash_and_marker():
    for one, two in combinations(DISCIPLINES, 2):
        first, second = mark_of(one), mark_of(two)
        if first.color == second.color:
            assert first.dash != second.dash, (one, two)
            assert first.marker != second.marker, (one, two)


@pytest.mark.parametrize("view", VIEWS)
def test_disciplines_of_a_usual_chart_differ_visibly(view):
    for together in USUAL:
        for one, two in combinations(together, 2):
            first, second = mark_of(one), mark_of(two)
            distance = ciede2000(seen(first.color, view), seen(second.color, view))
            assert distance >= LEAST_USUAL[view], (one, two)
            assert first.marker != second.marker, (one, two)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("colors", "least"), [(PALETTE, LEAST), (COLORS, LEAST_COLORS)], ids=["palette", "all"])
def test_colours_differ_for_protan_and_deutan_viewers(view, colors, least):
    looks = [seen(color, view) for color in colors]
    assert min(ciede2000(one, two) for one, two in combinations(looks, 2)) >= least[view]


@pytest.mark.parametrize("color", COLORS)
def test_colours_are_seen_on_white_and_on_the_dark_page(color):
    """WCAG 2.2, section 1.4.11: a contrast of 3 for graphical objects."""
    light = {name: float(np.array([0.2126, 0.7152, 0.0722]) @ linear(name)) + 0.05 for name in (color, "#171b21")}
    assert 1.05 / light[color] >= 3
    assert light[color] / light["#171b21"] >= 3


def line(name, color=0, mode="line"):
    return Series(name, [0, 1], [0, 1], color=color, mode=mode)


def test_a_discipline_has_its_mark_wherever_it_stands():
    first, second = (
        marks([line("red"), line("codel")]),
        marks([line("codel"), line("mred", 1), line("RED, printed", 2)]),
    )
    assert first[0] == second[2]
    assert first[1] == second[0]


def test_a_series_of_another_name_keeps_away_from_the_colours_of_disciplines():
    red, tight, front = marks([line("red"), line("red-tight", 0), line("front", GREY)])
    assert red.color != tight.color
    assert front.color == PALETTE[GREY]


def test_several_series_of_one_discipline_alone_have_other_colours():
    one, two = marks([line("red: queue", 0), line("red: average", 1)])
    assert one.color != two.color
    printed, measured = marks([line("red, printed", mode="dashed"), line("red")])
    assert printed == measured


def test_a_long_line_has_few_markers():
    x = np.linspace(0, 1, 500)
    chart = Chart("c", "t", "alt", "x", "y", [Series("red", x, x), Series("codel", x, x)])
    drawn = go.Figure(charts.figure(chart)).data
    assert [trace.marker.symbol for trace in drawn] == ["circle", "triangle-up"]
    assert all(trace.marker.maxdisplayed < 20 and "markers" in trace.mode for trace in drawn)
    ax = Figure().add_subplot()
    plots.draw(ax, chart)
    assert all(len(one.get_markevery()) <= plots.SPARSE for one in ax.get_lines())
    assert ax.get_lines()[0].get_markevery() != ax.get_lines()[1].get_markevery()


def test_two_words_keep_the_colour_of_the_discipline():
    names = ["codel, bbr", "codel, cubic", "red, bbr", "red, cubic"]
    found = marks([line(name, mode="points") for name in names])
    green, blue = mark_of("codel").color, mark_of("red").color
    assert [(mark.color, mark.marker) for mark in found] == [
        (green, "circle"), (green, "square"), (blue, "circle"), (blue, "square"),
    ]  # fmt: skip
    found = marks([line(name) for name in names])
    assert [mark.color for mark in found] == [green, green, blue, blue]
    assert [mark.dash for mark in found] == ["solid", "dash", "solid", "dash"]
    assert [mark.marker for mark in found] == ["triangle-up", "triangle-up", "circle", "circle"]


def test_a_series_whose_name_is_another_has_the_mark_of_its_discipline():
    assert marks([Series("my-scenario", [0], [1], discipline="mred")]) == [mark_of("mred")]
    alike = marks([Series(name, [0], [1], color=i, discipline="mred") for i, name in enumerate(("a", "b"))])
    assert alike[0].color != alike[1].color


def test_a_dash_with_another_meaning_leaves_out_that_of_the_discipline():
    assert marks([line("gentle-red")])[0].dash == "dash"
    assert [mark.dash for mark in marks([line("gentle-red"), line("gentle-red, printed", mode="dashed")])] == [
        "solid", "solid",
    ]  # fmt: skip


def test_series_without_a_colour_of_their_own_differ():
    found = marks([line("a"), line("b"), line("c")])
    assert len({(mark.color, mark.dash, mark.marker) for mark in found}) == len({mark.color for mark in found}) == 3
