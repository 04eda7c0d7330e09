"""Every kind of figure of `aqmlab report --figure`, drawn without a warning and with words that can be read.

Words: none below 7 points, none over another, none beyond the figure; fonts in PDF are TrueType.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from shutil import which

import pytest
from matplotlib.figure import Figure

import aqmlab
from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting import charts, labels, plots
from aqmlab.reporting.build import charts_of
from figure_text import faults

pytestmark = pytest.mark.filterwarnings("error")
SHORT = {"run.duration": "1s", "run.warmup": "0.2s", "probe.cwnd_interval": "100ms"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A run, a comparison, and sweeps: 2 by 30 values, 2 by 3, and disciplines at 3 by 2 conditions."""
    from conftest import DUMBBELL

    home = tmp_path_factory.mktemp("figures")
    (home / "small.toml").write_text(DUMBBELL)
    small = str(home / "small.toml")
    grid = {"flow.tcp.count": [1, 2], "queue.bottleneck.limit": [f"{n}p" for n in range(20, 50)]}
    aqmlab.sweep(small, grid=grid, seeds=1, overrides=SHORT, out=home / "sweep", progress=False)
    few = {"flow.tcp.count": [1, 2, 4], "queue.bottleneck.limit": ["20p", "40p"]}
    aqmlab.sweep(small, grid=few, seeds=1, overrides=SHORT, out=home / "few", progress=False)
    panels = {"queue.bottleneck.aqm": ["red", "gentle-red", "mred"], **few}
    aqmlab.sweep(small, grid=panels, seeds=2, overrides=SHORT, out=home / "panels", progress=False)
    run = aqmlab.run(small, seeds=2, overrides=SHORT, out=home / "run", progress=False).folder
    for limit in ("20p", "40p", "80p"):
        own = SHORT | {"queue.bottleneck.limit": limit}
        aqmlab.run(small, seeds=2, overrides=own, out=home / "scenarios", progress=False)
    several = ["red", "codel", "pie", "gentle-red"]
    many = aqmlab.compare(small, aqm=several, seeds=3, overrides=SHORT, out=home / "c", progress=False)
    return {
        "sweep": home / "sweep",
        "few": home / "few",
        "panels": home / "panels",
        "run": run,
        "comparison": many.folder,
        "scenarios": home / "scenarios",
    }


def kind_of(key):
    """Return the kind of a figure: its key without the quantity."""
    found = re.search(r"trade-off|-over-|-map|^compare|^spread|^over|^map", key)
    return found[0] if found else key


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sweep", "few", "panels", "run", "comparison", "scenarios"])
def test_every_figure_of(results, kind):
    kinds, found = set(), []
    for chart in charts_of(results[kind]):
        drawn = kind_of(chart.key)
        if drawn in kinds:
            continue  # the same kind of another quantity
        kinds.add(drawn)
        for size in ("column", None):
            found += [f"{chart.key}, {size or 'screen'}: {one}" for one in faults(chart, size)]
    assert not found, "\n".join(found)
    assert len(kinds) > (3 if kind in ("run", "comparison") else 0)


def test_faults_of_words_are_found(monkeypatch):
    """The check itself finds each of the three faults."""
    whole = plots.figure_of

    def spoilt(chart, look):
        figure = whole(chart, look)
        figure.text(0.5, 0.5, "small", fontsize=5)
        figure.text(0.5, 0.5, "over it")
        figure.text(0.99, 0.9, "beyond the edge")
        return figure

    chart = Chart("c", "Title", "alt", "x", "y", [Series("a", [0, 1], [0, 1])])
    assert faults(chart, "column") == []
    monkeypatch.setattr(plots, "figure_of", spoilt)
    assert faults(chart, "column") == [
        "'small' has 5.00 pt", "'beyond the edge' leaves the figure", "'small' and 'over it' overlap",
    ]  # fmt: skip


def test_fonts_in_pdf_are_true_type(tmp_path):
    chart = Chart(
        "c",
        "Title",
        "alt",
        "delay, ms",
        "share \N{GREEK SMALL LETTER MU}",
        [Series("red", [1, 100], [0, 1])],
        x_log=True,
    )
    written = plots.save_as(chart, tmp_path / "c.pdf", size="column").read_bytes()
    assert b"/Type3" not in written
    assert b"/CIDFontType2" in written or b"/TrueType" in written
    if which("pdffonts"):
        listed = subprocess.run(["pdffonts", tmp_path / "c.pdf"], capture_output=True, text=True, check=True).stdout
        assert "Type 3" not in listed


def test_thresholds_differ_without_colour():
    levels = [(height, f"level {height}") for height in (1, 2, 3)]
    chart = Chart("c", "T", "alt", "x", "y", [Series("a", [0, 1], [0, 4])], levels=levels, x_levels=[(0.5, "v")])
    ax = Figure().add_subplot()
    plots.draw(ax, chart)
    dashes = [str(line.get_linestyle()) + str(line._unscaled_dash_pattern) for line in ax.get_lines()[1:]]
    assert len(set(dashes)) == len(dashes) == 4
    assert len({str(shape["line"]["dash"]) for shape in charts.figure(chart)["layout"]["shapes"]}) == 4


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.8, 60, [1, 2, 5, 10, 20, 50]),
        (14.7, 14.9, [14.7, 14.8, 14.9]),
        (1, 1e6, [1, 10, 100, 1000, 10000, 100000, 1e6]),
    ],
)
def test_logarithmic_axes_have_ticks_at_1_2_and_5(low, high, expected):
    ax = Figure(figsize=(7, 4)).add_subplot()
    plots.draw(
        ax, Chart("c", "T", "alt", "x", "y", [Series("a", [low, high], [0, 1])], x_log=True, x_range=(low, high))
    )
    ticks = list(ax.xaxis.get_majorticklocs())
    assert ticks == pytest.approx(expected)
    assert all("$" not in label for label in ax.xaxis.get_major_formatter().format_ticks(ticks))


@pytest.mark.slow
@pytest.mark.parametrize("size", [None, "column", "wide"])
def test_a_legend_counts_what_it_has_no_place_for(size, tmp_path):
    series = [Series(f"setting number {n}", [0, 1], [0, n]) for n in range(80)]
    chart = Chart("many", "Title", "80 lines", "x", "y", series)
    plots.save_as(chart, tmp_path / "many.svg", size=size)
    ax = Figure().add_subplot()
    plots.look(size).paint(ax, chart)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(words) <= labels.MOST_ENTRIES
    assert words[-1] == f"and {80 - len(words) + 1} more"


def test_a_figure_of_a_column_grows_with_its_legend():
    series = [Series(f"discipline {n}, 20 flows, round trip 50 ms", [0, 1], [0, n]) for n in range(9)]
    heights = []
    for shown in (series[:2], series):
        figure = Figure(figsize=plots.look("column").size_in)
        plots.look("column").paint(figure.add_subplot(), Chart("nine", "Title", "lines", "x", "y", shown))
        heights.append(figure.get_size_inches()[1])
    assert heights[1] > heights[0]
    shown = [text.get_text().replace("\n", " ") for text in figure.axes[0].get_legend().get_texts()]
    assert shown == [one.name for one in series]


@pytest.mark.slow
def test_the_command_prints_no_warning(results, tmp_path):
    words = ["report", str(results["sweep"]), "--figure", "sweep-small-trade-off", "--out", str(tmp_path / "a.png")]
    program = [sys.executable, "-W", "error", "-m", "aqmlab", *words]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_a_warning_of_a_library_is_one_line():
    program = "from aqmlab.errors import show_warnings_in_one_line as s; s(); import warnings; warnings.warn('a\\nb')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ, check=True)
    assert done.stderr == "aqmlab: warning: a\\nb\n"
