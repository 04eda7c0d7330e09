"""Reports begin with the answer: title and finding, delay against goodput, a compact table; then the evidence."""

from __future__ import annotations

import re

import pandas as pd
import pytest

import aqmlab
from aqmlab import figures
from aqmlab.reporting import Page
from aqmlab.reporting.build import charts_of
from aqmlab.reporting.reports import page_for
from aqmlab.reporting.sweep import of_sweep, points_table, sweep_finding
from aqmlab.rfc7928 import heat
from conftest import DUMBBELL

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("answers") / "small.toml"
    path.write_text(DUMBBELL.replace("duration = ", 'warmup = "1s"\nduration = '))
    return path


@pytest.fixture(scope="module")
def run(small):
    return aqmlab.run(small, seeds=3, out=small.parent / "run", workers=1, progress=False)


@pytest.fixture(scope="module")
def comparison(small):
    names = ["drop-tail", "red", "codel"]
    return aqmlab.compare(small, aqm=names, seeds=3, out=small.parent / "compare", workers=1, progress=False)


def swept(small, **grid):
    keys = {f"queue.bottleneck.{key}": values for key, values in grid.items()}
    name = "-".join(grid).replace("_", "")
    return aqmlab.sweep(small, grid=keys, seeds=2, name=name, out=small.parent / name, workers=1, progress=False)


def order(text, *words):
    """The words in the order in which they stand in a page, below its navigation."""
    text = text[text.index("<main") :]
    assert all(word in text for word in words)
    return sorted(words, key=text.index)


def test_a_run_without_packets_after_the_warm_up_says_so(tmp_path):
    lines = [
        'format = 1\nname = "udp"\n[run]\nduration = "3s"\nwarmup = "1s"\n[dumbbell]',
        'bottleneck = { rate = "10Mbps", delay = "10ms", queue = "bottleneck" }',
        'left = { rate = "100Mbps", delay = "5ms" }\nright = { rate = "100Mbps", delay = "5ms" }',
        '[queue.bottleneck]\naqm = "red"\n[[flow]]\nname = "u"\ntransport = "udp"\nrate = "1Mbps"\nstop = "0.5s"',
    ]
    (tmp_path / "udp.toml").write_text("\n".join(lines))
    silent = aqmlab.run(tmp_path / "udp.toml", out=tmp_path / "run", progress=False)
    text = page_for(silent.folder, pictures=False).html()
    assert "<p class=lead>No packet left link <code>bottleneck</code> after the warm-up." in text


def test_a_run_begins_with_its_finding(run):
    text = page_for(run.folder, pictures=False).html()
    assert "<p class=lead>At link <code>bottleneck</code> packets wait" in text
    assert re.search(r"<h1>red at a 2 Mb/s link with 3 flows: small</h1>", text)
    wait = run.summary().set_index("metric").loc["mean_delay_ms", "mean"]
    assert re.search(rf"packets wait {int(wait)}\.\d+ ± \d", text)
    parts = [
        "Delay against goodput",
        "<caption><span>Link",
        "Statistics of every metric",
        ">Evidence<",
        ">Provenance<",
    ]
    assert order(text, *parts) == parts
    assert text.count(">Provenance</h2>") == 1


def test_commands_have_the_plug_ins_that_they_need(run, monkeypatch):
    own = run.folder.parent / "my red.py"
    own.write_text("")
    monkeypatch.setenv("AQMLAB_PLUGINS", f"{own}:colorsys")
    text = page_for(run.folder, pictures=False).html()
    assert "Command: <code>aqmlab --plugin &#39;../my red.py&#39; --plugin colorsys run scenario.toml " in text
    assert "colorsys report . --figure " in text


def test_a_comparison_begins_with_its_answer(comparison):
    text = page_for(comparison.folder, pictures=False).html()
    assert "<h1>drop-tail, red and codel compared: small</h1>" in text
    assert comparison.answer()[:40] in text
    parts = [
        "Delay against goodput",
        "<caption><span>Means at link",
        ">Evidence<",
        "Differences against drop-tail",
        ">Provenance<",
    ]
    assert order(text, *parts) == parts
    assert text.count(">Provenance</h2>") == 1
    table = text.index("hedges_g")
    assert text.rindex("<details", 0, table) > text.rindex("</details>", 0, table), "statistics are folded"
    multiples = text[text.index("<div class=multiples>") :].partition("</div>\n")[0]
    assert 'class="chart small"' in multiples


def test_warmup_and_thresholds_are_in_the_charts_of_a_run(run, comparison):
    queue = figures.queue_against_time(run)
    assert queue.shades == [(0.0, 1.0, "warm-up")]
    assert [label for _, label in queue.levels] == ["min_th", "max_th"]
    delay = figures.delay_distribution(comparison.results["codel"])
    assert delay.x_levels == [(5.0, "target")]


def test_the_axis_of_a_distribution_lies_where_the_data_are(comparison):
    chart = figures.delay_distribution(comparison)
    low, high = chart.x_range
    assert high / low <= 1e3
    for series in chart.series:
        inside = (series.x >= low) & (series.x <= high)
        assert series.y[inside].max() >= 0.999


def test_a_sweep_of_one_number_is_lines_with_bands(small):
    study = swept(small, max_p="0.05,0.1,0.2", aqm="red,mred")
    first, *others = of_sweep(study)
    assert first.title == "Delay against goodput over all points"
    points = study.points()
    for chart in others:
        assert [series.name for series in chart.series] == ["red", "mred"]
        assert all(series.band and list(series.x) == [0.05, 0.1, 0.2] for series in chart.series)
    loss = next(chart for chart in others if "-loss-" in chart.key)
    red = points[points["queue.bottleneck.aqm"] == "red"]
    assert loss.y_label == "Loss, %"
    assert list(loss.series[0].y) == list(100 * red["loss"])
    assert list(loss.series[0].high) == list(100 * red["loss_high"])
    text = points_table(study, points)["Loss, %"]
    assert float(text.iloc[0].split()[0]) == pytest.approx(100 * points["loss"].iloc[0], rel=0.1)
    best = points.loc[points["mean_delay_ms"].idxmin()]
    assert f"max_p = {best['queue.bottleneck.max_p']:g}, {best['queue.bottleneck.aqm']}" in sweep_finding(study)


def test_a_sweep_of_two_numbers_is_maps(small, shell):
    study = swept(small, max_p="0.05,0.1", min_th="3p,5p,8p")
    maps = [chart for chart in of_sweep(study) if chart.heat is not None]
    loss = next(chart for chart in maps if "-loss-" in chart.key)
    assert loss.heat.values.shape == (3, 2)
    assert loss.heat.label == "Loss, %"
    assert loss.heat.span[1] == pytest.approx(100 * study.points()["loss"].max())
    assert (loss.x_label, loss.y_label) == ("max_p", "min_th, packets")
    answer = shell("report", str(study.folder), "--figure", loss.key, "--out", "map.svg")
    assert (answer.code, answer.out) == (0, "Figure: map.svg\n")
    text = page_for(study.folder, pictures=False).html()
    assert "<h1>max_p and min_th varied" in text
    assert [chart.key for chart in charts_of(study.folder)] == [chart.key for chart in of_sweep(study)]


def test_points_that_differ_in_words_alone_are_named_in_the_trade_off(small):
    study = swept(small, dialect="linux,floyd93", aqm="red,mred,nlred,exred,gentle-red")
    first = next(of_sweep(study))
    assert (len(first.series), first.series[0].name, first.series[0].mode) == (10, "red, linux", "points")


def test_a_sweep_of_words_is_dots(small):
    study = swept(small, aqm="red,mred")
    dots = [chart for chart in of_sweep(study) if chart.flat]
    assert dots
    assert [series.name for series in dots[0].series] == ["red", "mred"]


def test_the_map_of_rfc7928_says_which_way_and_how_far():
    rows = [
        ("8.2.3", "medium", "red", -80.0, "less", -1.0, "undecided"),
        ("8.2.3", "medium", "pie", 10.0, "more", 3.0, "more"),
    ]
    columns = ["section", "scenario", "discipline", "delay, %", "delay is", "goodput, %", "goodput is"]
    against = pd.DataFrame(rows, columns=columns)
    delay = heat.heat_table(against, "delay", ["red", "pie", "codel"])
    assert delay.rows == [("8.2.3 medium", [("-80.0 %", -1.0), ("+10.0 %", pytest.approx(10 / 75)), None])]
    goodput = heat.heat_table(against, "goodput", ["red", "pie"])
    assert goodput.rows[0][1] == [("-1.0 % ?", 0.0), ("+3.0 %", pytest.approx(-0.2))]
    assert heat.words(against, ["red", "pie", "codel"]) == (
        "Against drop-tail in up to 1 scenarios, less delay: red in 1, pie in 0; less goodput: red in 0, pie in 0; "
        "more goodput: red in 0, pie in 1."
    )
    page = Page("t", "l")
    page.heat_table(delay, caption="c")
    text = page.html()
    assert "<td class=better-3>-80.0 %</td>" in text
    assert "<td class=worse-1>+10.0 %</td>" in text


def test_a_folded_section_shows_its_title_alone():
    page = Page("t", "l")
    page.section("Chapter", folded=True)
    page.text("inside")
    assert re.search(r"<details class=chapter><summary><h2[^>]*>Chapter</h2></summary>\s*<p>inside</p>", page.html())
