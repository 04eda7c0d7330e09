"""A report is small: charts compressed and thinned, folded parts drawn when opened, all charts on paper."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from importlib import resources

import numpy as np
import pytest

from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting import Page, payload
from aqmlab.reporting.charts import figure
from browser import answer_of

MEGABYTE = 1e6
LIBRARY = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
"""SHA-256 of the chart library as npm has it."""


def a_chart(key, points=200):
    x = np.linspace(0, 60, points)
    lines = [
        Series(name, x, 20 + np.sin(x) + np.random.default_rng(i).normal(size=points)) for i, name in enumerate("ab")
    ]
    return Chart(key, f"Chart {key}", "two lines", "time, s", "queue, packets", lines)


@pytest.fixture(scope="module")
def page():
    """A page with one chart that is seen and 18 in a folded part."""
    found = Page("A page", "Its lead.")
    found.section("Seen")
    found.chart(a_chart("seen"))
    found.section("Folded", folded=True, holds="18 figures")
    for number in range(18):
        found.chart(a_chart(f"c{number}"))
    return found.html()


def stored(page, name):
    packed = re.search(rf'<script type="text/plain" id={name}>([^<]*)</script>', page)[1]
    return json.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_chart_library_is_that_of_npm():
    data = resources.files("aqmlab.reporting").joinpath(payload.LIBRARY).read_bytes()
    assert hashlib.sha256(data).hexdigest() == LIBRARY
    assert b"Licensed under the MIT license" in data[:300]


def test_fewer_than_20_charts_take_less_than_a_megabyte_and_no_chart_takes_a_library(page):
    assert len(page.encode()) < MEGABYTE
    plain = Page("A page", "Its lead.")
    plain.text("No chart.")
    assert len(plain.html().encode()) < 0.05 * MEGABYTE


def test_numbers_have_six_digits_and_long_lines_the_points_of_a_screen(page):
    (trace, _) = stored(page, "charts")["chart-0"]["data"]
    assert all(float(f"{value:.6g}") == value for value in trace["y"])
    chart = a_chart("long", points=50_000)
    thin, whole = payload.compact(figure(chart))["data"][0], np.asarray(chart.series[0].y)
    assert len(thin["y"]) <= 2 * payload.COLUMNS + 2
    assert [min(thin["y"]), max(thin["y"])] == pytest.approx([whole.min(), whole.max()], rel=1e-5)
    assert [thin["x"][0], thin["x"][-1]] == [0, 60]


def test_words_gaps_and_bars_are_kept():
    bars = Chart("b", "Bars", "bars", "run", "y", [Series("red", ["1", "2"], [1.0, np.nan], mode="bar")])
    (trace,) = payload.compact(figure(bars))["data"]
    assert (trace["x"], trace["y"]) == (["1", "2"], [1, None])


@pytest.mark.slow
@pytest.mark.browser
def test_folded_charts_are_drawn_when_opened_and_for_paper(page, tmp_path):
    script = """
        const drawn = () => document.querySelectorAll(".chart svg.main-svg").length > 0 &&
          Array.from(document.querySelectorAll(".chart")).filter(one => one.querySelector("svg.main-svg")).length;
        const chapter = document.querySelector("details.chapter"), seen = [drawn()];
        chapter.open = true;
        setTimeout(function () {
          seen.push(drawn());
          const part = document.querySelector("figure > details");
          part.open = true;
          setTimeout(function () {
            seen.push(part.querySelectorAll("tbody tr").length);
            chapter.open = false;
            window.dispatchEvent(new Event("beforeprint"));
            const drawing = document.querySelector("#chart-5 svg").getBBox();
            seen.push(chapter.open && document.documentElement.dataset.charts, drawing.width);
            window.dispatchEvent(new Event("afterprint"));
            seen.push(chapter.open);
            tell(seen);
          }, 500);
        }, 1500);
    """
    before, opened, rows, on_paper, width, after = answer_of(page, script, tmp_path)
    assert (before, opened) == (1, 19)
    assert rows == 400
    assert (on_paper, after) == ("drawn", False)
    assert width > 100
