"""Drawings: every host is counted, nothing overlaps, the same bytes every time."""

from __future__ import annotations

import itertools
import math

import numpy as np
import plotly.graph_objects as go
import pytest
from matplotlib.figure import Figure

import aqmlab
from aqmlab.figures.chart import Chart, Heat, Series
from aqmlab.reporting import charts, plots
from aqmlab.reporting.layout import arrange
from aqmlab.reporting.topology import _labels, describe

CHAIN = """\
format = 1
[run]
duration = "1s"
[chain]
routers = 4
link = { rate = "10Mbps", delay = "2ms", queue = "core", reverse_queue = "core" }
host = { rate = "100Mbps", delay = "1ms" }
[queue.core]
aqm = "red"
[[flow]]
name = "long"
count = 3
transport = "newreno"
from = "r1"
to = "r4"
[[flow]]
name = "cross"
transport = "newreno"
from = "r2"
to = "r3"
"""

RING = (
    """\
format = 1
[run]
duration = "1s"
"""
    + "".join(f'[[link]]\nfrom = "n{i}"\nto = "n{(i + 1) % 6}"\nrate = "10Mbps"\ndelay = "1ms"\n' for i in range(6))
    + '[[flow]]\nname = "tcp"\ntransport = "newreno"\nfrom = "n0"\nto = "n3"\n'
)


ASYMMETRIC = """\
format = 1
[run]
duration = "1s"
[[link]]
from = "home"
to = "net"
rate = "10Mbps"
delay = "5ms"
duplex = false
[[link]]
from = "net"
to = "home"
rate = "50Mbps"
delay = "4ms"
queue = "down"
duplex = false
[[link]]
from = "pc"
to = "home"
rate = "1Gbps"
delay = "1ms"
[[link]]
from = "server"
to = "net"
rate = "1Gbps"
delay = "1ms"
[queue.down]
aqm = "red"
[[flow]]
name = "tcp"
transport = "newreno"
from = "server"
to = "pc"
"""


def test_each_direction_has_its_own_label_where_they_differ():
    labels, _ = _labels(arrange(aqmlab.Scenario.from_text(ASYMMETRIC)))
    found = {tuple(sorted(ends)): lines for ends, lines in labels.items()}
    ways = {"home → net: 10 Mb/s, 5 ms, drop-tail", "net → home: 50 Mb/s, 4 ms, red"}
    assert set(found["home", "net"]) == ways
    assert all(lines[0] == "1 Gb/s, 1 ms" for ends, lines in found.items() if ends != ("home", "net"))


@pytest.mark.parametrize("which", ["dumbbell", "chain", "ring"])
def test_every_node_is_shown_once_and_apart(which, dumbbell):
    text = {"dumbbell": dumbbell, "chain": CHAIN, "ring": RING}[which]
    plan = aqmlab.Scenario.from_text(text, filename=f"{which}.toml")
    drawing = arrange(plan)
    assert sum(spot.count for spot in drawing.spots.values()) == len(plan.nodes)
    for a, b in itertools.combinations(drawing.spots.values(), 2):
        assert math.dist((a.x, a.y), (b.x, b.y)) > 0.1, (a.label, b.label)
    for wire in drawing.wires:
        assert {wire.a, wire.b} <= set(drawing.spots)


def test_senders_left_receivers_right(dumbbell):
    spots = arrange(aqmlab.Scenario.from_text(dumbbell)).spots
    assert spots["left.tcp.0"].x < spots["r1"].x < spots["r2"].x < spots["right.tcp.0"].x
    assert spots["left.tcp.0"].label == "left.tcp × 3"


def test_words_for_those_who_cannot_see_it(dumbbell):
    text = describe(aqmlab.Scenario.from_text(dumbbell))
    assert "2 routers (r1, r2), 6 hosts, 3 flows" in text
    assert "bottleneck: red, 2 Mb/s" in text


@pytest.mark.slow
def test_the_same_bytes_every_time(small, tmp_path):
    for folder in ("a", "b"):
        aqmlab.draw(small, out=tmp_path / folder, png=True)
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert names == ["small-drop-curve.png", "small-drop-curve.svg", "small-topology.png", "small-topology.svg"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def heat_map(**axes):
    x, y = np.geomspace(1, 1000, 30), np.linspace(0.1, 0.5, 20)
    z = np.log10(x)[None, :] * y[:, None]
    z[:3, :4], z[-1, -1] = math.nan, math.inf
    heat = Heat(x, y, z, "gain margin, dB", levels=(1.2, 0.3, 99.0))
    line = Series("limit", [1, 1000], [0.2, 0.4])
    return Chart("map", "Map", "a plane", "flows", "delay, s", [line], heat=heat, x_log=True, **axes)


def test_a_heat_map_lies_below_the_series_and_leaves_nan_blank():
    ax = Figure().add_subplot()
    plots.draw(ax, heat_map())
    cells, *above = sorted([*ax.collections, *ax.lines], key=lambda drawn: drawn.get_zorder())
    z = cells.get_array()
    assert z.shape == (20, 30)
    assert z.mask.sum() == 3 * 4 + 1
    assert len(above) == 2
    assert above[-1] is ax.lines[0]
    low, high = cells.get_clim()
    assert (low, high) == (z.min(), z.max())
    # The first cell is as far to the left of its centre as to the right, as the logarithmic axis shows it.
    edges = np.log10(cells.get_coordinates()[0, :, 0])
    assert edges[:2].mean() == pytest.approx(0)
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == "gain margin, dB"
    assert sorted(text.get_text() for text in ax.texts) == ["0.3", "1.2"]


def test_a_heat_map_on_the_screen_has_the_same_values():
    drawn = go.Figure(charts.figure(heat_map())).data
    assert [trace.type for trace in drawn] == ["heatmap", "contour", "contour", "scatter", "scatter"]
    assert drawn[-1].name == "limit"
    assert [trace.contours.start for trace in drawn[1:3]] == [0.3, 1.2]
    assert np.isnan(drawn[0].z).sum() == 3 * 4 + 1
    assert len(drawn[0].x) == 31


def test_the_colours_of_a_heat_map_get_brighter_and_its_lines_are_seen_on_them():
    import matplotlib as mpl

    def luminance(rgb):
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    shown = [luminance(mpl.colormaps["cividis"](v)[:3]) for v in np.linspace(0, 1, 101)]
    assert all(a < b for a, b in itertools.pairwise(shown))
    heat = Heat([0, 1], [0, 1], [[0, 0], [1, 1]], "v", levels=list(np.linspace(0.01, 0.99, 99)))
    for level, color in heat.lines:
        under = shown[round(level * 100)]
        contrast = 1.05 / (under + 0.05) if color == "#ffffff" else (under + 0.05) / 0.05
        assert contrast >= 3, level


def test_a_heat_map_of_nothing_is_blank_and_no_warning():
    chart = Chart("c", "C", "nothing", "x", "y", [], heat=Heat([1, 2], [1, 2], [[math.nan] * 2] * 2, "v", levels=[1]))
    plots.draw(Figure().add_subplot(), chart)
    assert go.Figure(charts.figure(chart)).data[0].type == "heatmap"


@pytest.mark.parametrize(
    ("x", "y", "z", "text"),
    [
        ([1], [1, 2], [[1], [2]], "x of a heat map must be two or more values that rise"),
        ([1, 2], [2, 1], [[1, 2], [1, 2]], "y of a heat map must be two or more values that rise"),
        ([1, 2, 3], [1, 2], [[1, 2]] * 3, r"z of a heat map has the shape \(3, 2\)"),
    ],
)
def test_a_heat_map_that_cannot_be_drawn_is_rejected(x, y, z, text):
    with pytest.raises(ValueError, match=text):
        Heat(x, y, z, "v")


@pytest.mark.slow
def test_a_heat_map_has_the_same_bytes_every_time(tmp_path):
    for folder in ("a", "b"):
        plots.save(heat_map(), tmp_path / folder)
    for name in ("map.png", "map.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert len((tmp_path / "a" / "map.svg").read_bytes()) < 60_000
    assert str(charts.figure(heat_map())) == str(charts.figure(heat_map()))


def test_the_numbers_of_a_heat_map_are_thinned_in_both_directions():
    from aqmlab.reporting.fragments import chart_numbers

    table = chart_numbers(heat_map(), most=100)
    assert list(table.columns) == ["series", "flows", "delay, s", "gain margin, dB"]
    cells = table[table["series"] == "colours"]
    assert 50 < len(cells) <= 100
    assert cells["flows"].nunique() > 5
    assert cells["delay, s"].nunique() > 5
    assert cells["gain margin, dB"].isna().sum() >= 1


def panels():
    lines = [Series(name, [0, 1, 2], [0, height, 1], color=i) for i, (name, height) in enumerate((("a", 2), ("b", 5)))]
    return Chart("p", "Panels", "two lines", "t, s", "queue", lines, shades=[(0.5, 1, "burst")], panels=True)


def test_panels_share_their_axes():
    ax = Figure().add_subplot()
    plots.draw(ax, panels())
    first, second = ax.child_axes
    assert (first.get_xlim(), first.get_ylim()) == (second.get_xlim(), second.get_ylim())
    assert [one.get_title(loc="left") for one in ax.child_axes] == ["a", "b"]
    assert [one.get_xlabel() for one in ax.child_axes] == ["", "t, s"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["burst"]
    assert first.get_legend() is second.get_legend() is None


def test_panels_on_the_screen_share_their_axes():
    drawn = go.Figure(charts.figure(panels()))
    assert [trace.yaxis for trace in drawn.data] == ["y", "y2"]
    assert (drawn.layout.yaxis.matches, drawn.layout.xaxis.matches) == ("y2", "x2")
    assert [a.text for a in drawn.layout.annotations].count("burst") == 1
    assert drawn.layout.showlegend is False
