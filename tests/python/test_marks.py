"""Colours and markers of disciplines: one each, and distinct for protan and deutan viewers too."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.marks import DISCIPLINES, GREY, PALETTE, marks
from aqmlab.reporting import charts
from aqmlab.reporting.plots import MARKERS
from aqmlab.scenario.registry import disciplines

COMMON = [
    "drop-tail",
    "red",
    "mred",
    "exred",
    "pc-red",
    "ddred",
    "rio",
    "adaptive-rio",
    "codel",
    "fq-codel",
    "pie",
    "blue",
]
"""Disciplines that are compared most, and one of the last family."""
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
"""Least distances (CIEDE2000) of two colours; about 2 is the least that is noticed side by side."""
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


def test_every_discipline_has_a_mark_of_its_own():
    assert set(DISCIPLINES) == {one.name for one in disciplines() if not one.foreign}
    assert len(set(DISCIPLINES.values())) == len(DISCIPLINES)
    assert {marker for _, marker in DISCIPLINES.values()} <= set(MARKERS)


def test_disciplines_that_are_compared_most_differ_in_colour_and_marker():
    found = [DISCIPLINES[name] for name in COMMON]
    assert len({color for color, _ in found}) == len(COMMON) == len(PALETTE)
    assert len({marker for _, marker in found}) == len(COMMON)


@pytest.mark.parametrize("view", VIEWS)
def test_colours_differ_for_protan_and_deutan_viewers(view):
    seen = [lab(np.clip(VIEWS[view] @ linear(color), 0, 1)) for color in PALETTE]
    assert min(ciede2000(one, two) for one, two in combinations(seen, 2)) >= LEAST[view]


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


def test_series_that_only_colour_tells_apart_keep_their_own():
    one, two = marks([line("red: queue", 0), line("red: average", 1)])
    assert one.color != two.color
    printed, measured = marks([line("red, printed", mode="dashed"), line("red")])
    assert printed == measured


def test_a_legend_has_the_markers_of_long_lines():
    x = np.linspace(0, 1, 500)
    chart = Chart("c", "t", "alt", "x", "y", [Series("red", x, x), Series("codel", x, x)])
    assert [trace.marker.symbol for trace in charts.figure(chart).data] == ["circle", "triangle-up"]
    assert all(trace.marker.maxdisplayed < 20 and "markers" in trace.mode for trace in charts.figure(chart).data)


def test_points_of_two_words_have_the_marker_of_the_discipline_and_the_colour_of_the_other_word():
    names = ["codel, bbr", "codel, cubic", "red, bbr", "red, cubic"]
    found = marks([line(name, mode="points") for name in names])
    assert [(mark.color, mark.marker) for mark in found] == [
        (PALETTE[0], "triangle-up"), (PALETTE[1], "triangle-up"), (PALETTE[0], "circle"), (PALETTE[1], "circle"),
    ]  # fmt: skip
    assert {mark.marker for mark in marks([line(name) for name in names])} == {"circle"}
