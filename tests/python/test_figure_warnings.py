"""Figures of sweeps, runs and comparisons are drawn without a warning of matplotlib, however many series they have."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from matplotlib.figure import Figure

import aqmlab
from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting import labels, plots
from aqmlab.reporting.build import charts_of

pytestmark = pytest.mark.filterwarnings("error")
SHORT = {"run.duration": "1s", "run.warmup": "0.2s", "probe.cwnd_interval": "100ms"}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A run, a comparison, and a sweep over 2 by 30 values."""
    from conftest import DUMBBELL

    home = tmp_path_factory.mktemp("figures")
    (home / "small.toml").write_text(DUMBBELL)
    small = str(home / "small.toml")
    grid = {"flow.tcp.count": [1, 2], "queue.bottleneck.limit": [f"{n}p" for n in range(20, 50)]}
    aqmlab.sweep(small, grid=grid, seeds=1, overrides=SHORT, out=home / "sweep", progress=False)
    run = aqmlab.run(small, seeds=2, overrides=SHORT, out=home / "run", progress=False).folder
    many = aqmlab.compare(small, aqm=["red", "codel", "pie"], seeds=2, overrides=SHORT, out=home / "c", progress=False)
    return {"sweep": home / "sweep", "run": run, "comparison": many.folder}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sweep", "run", "comparison"])
def test_every_figure_of(results, kind, tmp_path):
    drawn = 0
    for chart in charts_of(results[kind]):
        for size in (None, "column"):
            plots.save_as(chart, tmp_path / "figure.png", size=size)
        drawn += 1
    assert drawn > 3


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
