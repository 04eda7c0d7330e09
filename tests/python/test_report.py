"""The report in a real browser: charts drawn, no error on the console, nothing fetched, readable in light and dark."""

from __future__ import annotations

import base64
import gzip
import html
import re
import shlex
from importlib import resources

import pandas as pd
import pytest
from markupsafe import Markup

import aqmlab
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.marks import PALETTE
from aqmlab.reporting import Page, build, figure
from aqmlab.reporting import run as run_report
from aqmlab.reporting.build import charts_of
from aqmlab.reporting.fragments import ClaimCell, ClaimLine, KeyFigure, MatrixClaim, PaperCard
from aqmlab.reporting.reports import page_for
from browser import browse
from conftest import Shell

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from conftest import DUMBBELL

    home = tmp_path_factory.mktemp("report")
    text = DUMBBELL + 'cwnd_interval = "100ms"\n'
    path = home / "small.toml"
    path.write_text(text)
    aqmlab.run(path, out=home / "results", workers=1, progress=False)
    aqmlab.compare(path, aqm=["red", "mred"], out=home / "results", workers=1, progress=False)
    aqmlab.report(home / "results", pictures=False)
    return home / "results"


def run_in(folder):
    """The folder of the single run."""
    return next(entry for entry in folder.iterdir() if (entry / "seed-0001").exists())


@pytest.mark.browser
def test_every_chart_is_drawn_and_the_console_is_silent(folder, tmp_path):
    document, console = browse(folder / "report.html", tmp_path)
    assert console == []
    assert 'data-charts="drawn"' in document
    charts = re.findall(r"<div class=\"?chart[^>]*id=\"?(chart-\d+)", document)
    assert len(charts) >= 10
    for key in charts:
        start = document.index(f'id="{key}"')
        assert 'class="main-svg"' in document[start : start + 4000], key
    assert document.count('<g class="trace') + document.count('class="trace ') >= len(charts)


@pytest.mark.browser
def test_a_broken_chart_would_be_noticed(folder, tmp_path):
    """The check above can fail: a page whose script is broken fails it."""
    broken = tmp_path / "broken.html"
    broken.write_text((folder / "report.html").read_text().replace("window.Plotly.react", "window.Plotly.raect"))
    document, console = browse(broken, tmp_path)
    assert console != []
    assert 'data-charts="drawn"' not in document


def test_nothing_is_fetched(folder):
    text = (folder / "report.html").read_text()
    own = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.findall(r'<(?:script|link|img|iframe)[^>]*(?:src|href)=(?!"?data:)', own)
    assert not re.findall(r"url\((?!#|\"?data:)", own)


def test_figures_lie_beside_as_png_and_svg(folder):
    run = run_in(folder)
    aqmlab.report(run)
    names = {path.name for path in (run / "figures").iterdir()}
    for stem in ("queue-bottleneck", "delay-bottleneck", "drop-curve", "cwnd", "topology-small", "drop-shares"):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert (run / "figures" / "cwnd.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_page_every_time(folder):
    first = (folder / "report.html").read_bytes()
    aqmlab.report(folder, pictures=False)
    assert (folder / "report.html").read_bytes() == first


def stored(page, name):
    """A text that a page stores compressed."""
    packed = re.search(rf'<script type="text/plain" id={name}>([^<]*)</script>', page)[1]
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_every_chart_has_words_and_numbers(folder):
    text = (folder / "report.html").read_text()
    labels = re.findall(r'<div class="chart[^"]*" id=chart-\d+ role=group [^>]*aria-label="([^"]+)"', text)
    assert len(labels) == len(re.findall(r'<div class="chart', text))
    assert all(len(label) > 15 for label in labels)
    assert len(re.findall(r"<summary>Numbers(?: and command)?</summary>", text)) == len(labels)


def test_text_is_escaped():
    page = Page("<b>", "a & b")
    page.section("S")
    page.text("1 < 2 and `x < y`")
    page.chart(Chart("c", "</script>", 'a "b"', "x", "y", [Series("</script><script>alert(1)</script>", [0], [1])]))
    text = page.html()
    assert "<title>&lt;b&gt;</title>" in text
    assert "1 &lt; 2 and <code>x &lt; y</code>" in text
    assert "alert(1)</script>" not in text


def test_every_block_is_escaped():
    words = "<i onload='x'>\" & `<i>`"
    page = Page(words, words)
    page.section(words)
    page.heading(words, anchor=words)
    page.links([(words, words)], title=words)
    page.claims([ClaimLine(words, words, words, words, words, words)])
    page.text(words, note=True)
    page.code(words, fold=words)
    page.trial(
        PaperCard(words, "", words, words, words, [], [], words), KeyFigure(words, [(words, Markup(), words)], words)
    )
    page.matrix([(words, [MatrixClaim(words, words, words, [(words, [ClaimCell(words, Markup(), words)])])])], [words])
    page.table(pd.DataFrame({words: [words]}), caption=words)
    page.chart(Chart("c", words, words, words, words, [Series(words, [0], [1])], caption=words), command=words)
    text = page.html()
    assert text.count("&lt;i onload=") > 25
    assert "<i" not in re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)


def luminance(color):
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def themes():
    style = resources.files("aqmlab.reporting").joinpath("style.css").read_text(encoding="utf-8")
    blocks = re.findall(r"\{\s*(?:color-scheme: [a-z ]+;)?\s*(--page:[^}]+)\}", style)
    return [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for block in blocks]


def test_contrast_in_light_and_dark():
    """WCAG 2.2 AA: text 4.5 to 1, lines of a chart 3 to 1."""
    found = themes()
    assert len(found) == 3
    for theme in found:
        for ink in ("ink", "soft", "accent"):
            assert contrast(theme[ink], theme["page"]) >= 4.5
            assert contrast(theme[ink], theme["card"]) >= 4.5
        for name in ("good", "bad", "open"):
            assert contrast(theme[name], theme[f"{name}-bg"]) >= 4.5
        for color in PALETTE:
            assert contrast(color, theme["card"]) >= 3
    assert found[1] == found[2], "the dark page by choice and by the system's wish"


def test_the_commands_of_a_page_work_in_its_folder(folder):
    for place in (folder, run_in(folder), folder / "small-compare-red-mred"):
        aqmlab.report(place, pictures=False)
        text = html.unescape((place / "report.html").read_text())
        commands = sorted(set(re.findall(r"<code>(aqmlab (?:run|compare) [^<]*?)(?: &&[^<]*)?</code>", text)))
        assert commands
        before = sorted(folder.rglob("seed-*"))
        for command in commands:
            assert Shell(place)(*shlex.split(command)[1:], "--json").code == 0
        assert sorted(folder.rglob("seed-*")) == before, "the same folders, in which everything was there"


def test_every_figure_has_a_command_that_draws_it_alone(folder, shell):
    text = (folder / "report.html").read_text()
    commands = re.findall(r"aqmlab report (\S+) --figure (\S+?)</code>", text)
    assert len(commands) == len(re.findall(r'<div class="chart', text))
    run = run_in(folder).name
    both = "small-compare-red-mred"
    assert {name for name, _ in commands} == {run, both}
    answer = shell("report", str(folder / run), "--figure", "delay-bottleneck", "--out", "one/delay.pdf")
    assert (answer.code, answer.out) == (0, "Figure: one/delay.pdf\n")
    written = (shell.folder / "one" / "delay.pdf").read_bytes()
    assert written.startswith(b"%PDF")
    # Journals accept TrueType, not Type 3.
    assert b"/CIDFontType2" in written
    assert b"/Type3" not in written
    keys = {name: [chart.key for chart in charts_of(folder / name)] for name in (run, both)}
    assert sorted(key for name in keys for key in keys[name]) == sorted(key for _, key in commands)


@pytest.mark.parametrize(("size", "width_mm", "height_mm"), [("column", 88, 62), ("wide", 180, 90)])
def test_figures_for_a_paper_have_its_width(folder, tmp_path, size, width_mm, height_mm):
    both = folder / "small-compare-red-mred"
    for key in ("compare-mean-queue", "averages", "ellipses"):
        (path,) = figure(both, key, out=tmp_path / f"{key}.pdf", size=size)
        box = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ([0-9.]+) \]", path.read_bytes())
        assert box is not None
        assert [float(points) / 72 * 25.4 for points in box.groups()] == pytest.approx([width_mm, height_mm], abs=0.01)
        (path,) = figure(both, key, out=tmp_path / f"{key}.svg", size=size)
        text = path.read_text()
        assert "Mean queue<" not in text, "a figure for a paper has no title"
        sizes = [float(found) for found in re.findall(r"font(?:-size)?: (?:[a-z0-9]+ )*([0-9.]+)px", text)]
        assert sizes
        assert max(sizes) <= 7.5


def test_sizes_are_for_figures_alone(folder, shell):
    both = str(folder / "small-compare-red-mred")
    answer = shell("report", both, "--figure", "averages", "--size", "wide", "--out", "a.pdf")
    assert (answer.code, answer.out) == (0, "Figure: a.pdf\n")
    answer = shell("report", both, "--figure", "averages", "--size", "wider")
    message = 'aqmlab: unknown size "wider" (allowed: column, wide; did you mean wide?)\n'
    assert (answer.code, answer.err) == (2, message)
    answer = shell("report", both, "--size", "wide")
    assert (answer.code, answer.err) == (2, "aqmlab: --size: is for one figure; give --figure KEY too\n")


def test_figures_that_are_not_there_are_reported(folder, shell):
    run = run_in(folder)
    with pytest.raises(aqmlab.InputError, match=r'unknown figure "delay" \(allowed: queue-bottleneck, '):
        figure(run, "delay")
    with pytest.raises(aqmlab.InputError, match=r"a\.doc: figures are written as \.png, \.svg, \.pdf"):
        figure(run, "cwnd", out="a.doc")
    answer = shell("report", str(run), "--out", "a.png")
    assert (answer.code, answer.err) == (2, "aqmlab: a.png: a page ends in .html (a figure: --figure KEY)\n")
    answer = shell("report", str(run), "--out", "pages/my.html")
    assert (answer.code, answer.out) == (0, "Report: pages/my.html\n")
    assert (shell.folder / "pages" / "my.html").is_file()


def test_figures_of_the_same_key_do_not_overwrite_each_other(tmp_path):
    page = Page("a", "b")
    for title in ("First", "Second"):
        page.chart(Chart("c", title, "a rising line", "x", "y", [Series("s", [0, 1], [0, 1])]))
    page.write(tmp_path)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"c.png", "c.svg", "c-2.png", "c-2.svg"}


def test_scenarios_that_differ_in_parameters(small, tmp_path):
    for w_q in (0.002, 0.01):
        for limit in ("20p", "50p"):
            changed = {"queue.bottleneck.w_q": w_q, "queue.bottleneck.limit": limit}
            aqmlab.run(small, seeds=2, overrides=changed, out=tmp_path / "two", workers=1, progress=False)
        changed = {"queue.bottleneck.w_q": w_q}
        aqmlab.run(small, seeds=2, overrides=changed, out=tmp_path / "one", workers=1, progress=False)
    one, two = ({chart.key: chart for chart in charts_of(tmp_path / name)} for name in ("one", "two"))
    assert two["map-loss"].heat.values.shape == (2, 2)
    assert list(one["over-loss"].series[0].x) == [0.002, 0.01]
    text = page_for(tmp_path / "two", pictures=False).html()
    assert "queue.bottleneck.limit, p" in stored(text, "numbers")
    assert text.count("--figure map-loss<") == 1


def test_a_page_of_many_scenarios_is_a_table_and_figures(small, tmp_path, monkeypatch):
    monkeypatch.setattr(build, "MANY_SCENARIOS", 2)
    for limit in (20, 30, 40):
        changed = {"queue.bottleneck.limit": f"{limit}p", "run.duration": "1s"}
        aqmlab.run(small, seeds=1, overrides=changed, out=tmp_path / "out", workers=1, progress=False)
    text = page_for(tmp_path / "out", pictures=False).html()
    assert text.count("<section ") == 1
    assert "Provenance" not in text
    assert "Means over the seeds at each scenario&#39;s link, 3 scenarios." in text
    assert "Each has a page of its own" in text
    assert text.count("<td>1</td>") >= 3


def test_very_many_flows_are_not_laid_out(dumbbell, tmp_path, monkeypatch):
    monkeypatch.setattr(run_report, "MANY_FLOWS", 2)
    path = tmp_path / "small.toml"
    path.write_text(dumbbell)
    result = aqmlab.run(path, seeds=1, out=tmp_path / "out", workers=1, progress=False)
    monkeypatch.setattr(run_report.Scenario, "from_text", None)
    text = page_for(result.folder, pictures=False).html()
    assert "The network of 3 flows is not drawn here" in text
    assert "Drop probability" in text


def test_long_tables_and_texts_are_cut_and_say_so():
    page = Page("a", "b")
    page.table(pd.DataFrame({"link": range(1000)}), caption="Links.")
    page.code("x" * 200_000)
    text = page.html()
    assert "Links. The first 300 of 1,000 rows." in text
    assert "... and 100,000 characters more, in the file beside." in text
