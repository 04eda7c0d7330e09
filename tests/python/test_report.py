"""The report in a real browser: charts drawn, no error on the console, nothing fetched, readable in light and dark."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib import resources

import pytest

import aqmlab
from aqmlab.chart import PALETTE, Chart, Series
from aqmlab.reporting import Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=20000")


def browse(page, folder):
    """Open a page; the document after its scripts ran, and what went to the console."""
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip("no Chromium here")
    done = subprocess.run(
        [
            program,
            *SWITCHES,
            "--enable-logging=stderr",
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return done.stdout, console


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from conftest import DUMBBELL

    home = tmp_path_factory.mktemp("report")
    text = DUMBBELL + 'cwnd_interval = "100ms"\n'
    path = home / "small.toml"
    path.write_text(text)
    aqmlab.run(path, out=home / "results", workers=1, progress=False)
    aqmlab.compare(path, aqm=["red", "mred"], out=home / "results", workers=1, progress=False)
    aqmlab.report(home / "results")
    return home / "results"


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
    """The check above can fail: a page whose script is broken is told from a sound one."""
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
    names = {path.name for path in (folder / "figures").iterdir()}
    for stem in ("queue-bottleneck", "delay-bottleneck", "drop-curve", "cwnd", "topology-small", "compare-loss"):
        assert {f"{stem}.png", f"{stem}.svg"} <= names
    assert (folder / "figures" / "cwnd.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_page_every_time(folder):
    first = (folder / "report.html").read_bytes()
    aqmlab.report(folder, pictures=False)
    assert (folder / "report.html").read_bytes() == first


def test_every_chart_has_words_and_numbers(folder):
    text = (folder / "report.html").read_text()
    labels = re.findall(r'<div class=chart id=chart-\d+ role=img [^>]*aria-label="([^"]+)"', text)
    assert len(labels) == len(re.findall(r"<div class=chart ", text))
    assert all(len(label) > 15 for label in labels)
    assert text.count("<summary>Numbers</summary>") == len(labels)


def test_text_is_escaped():
    page = Page("<b>", "a & b")
    page.section("S")
    page.text("1 < 2 and `x < y`")
    page.chart(Chart("c", "</script>", 'a "b"', "x", "y", [Series("</script><script>alert(1)</script>", [0], [1])]))
    text = page.html()
    assert "<title>&lt;b&gt;</title>" in text
    assert "1 &lt; 2 and <code>x &lt; y</code>" in text
    assert "alert(1)</script>" not in text


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
