"""A page on paper: no blank page, nothing cut, light also where the screen is dark."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting import Page
from measure_lab import browser_path

sync_api = pytest.importorskip("playwright.sync_api")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.browser,
    pytest.mark.skipif(browser_path() is None, reason="no Chromium here"),
]
PAPER_PX = 718
"""Width of A4 without its margins of 12 mm, in CSS pixels, rounded up."""
PATIENCE_MS = 180_000.0
CUT = """width => Array.from(document.querySelectorAll("table, .chart, .chart svg, pre, svg"))
  .filter(part => part.getClientRects().length && part.getBoundingClientRect().right > width + 1)
  .map(part => part.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """A page with a table that is wider than paper, one that is longer, small charts and large ones."""
    page = Page("A page", "Its lead.")
    page.section("First")
    page.table(
        pd.DataFrame({f"quantity number {i}": np.linspace(0, i, 90) for i in range(14)}), caption="Long and wide"
    )
    page.section("Second")
    x = np.linspace(0, 1, 20)
    charts = [Chart(f"c{i}", "Chart", "alt of the chart", "x, s", "y", [Series("red", x, x)]) for i in range(6)]
    page.multiples([(chart, "") for chart in charts[:4]])
    for chart in charts[4:]:
        page.chart(chart)
    page.section("Folded", folded=True)
    page.text("inside")
    return page.write(tmp_path_factory.mktemp("print"), pictures=False).as_uri()


@pytest.fixture(scope="module")
def opened(address):
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": PAPER_PX, "height": 1000}, color_scheme="dark")
        page.set_default_timeout(PATIENCE_MS)
        page.goto(address)
        page.wait_for_selector("html[data-charts]", state="attached")
        yield page
        browser.close()


def pages_of(pdf):
    """Length of the content of each page of a PDF as Chromium writes it, in compressed bytes."""
    text = pdf.decode("latin-1")
    found = []
    for body in re.findall(r"<<\s*/Type /Page\b(?!s).*?endobj", text, flags=re.DOTALL):
        number = re.search(r"/Contents (\d+) 0 R", body)[1]
        length = re.search(rf"(?:^|\n){number} 0 obj\s*<<.*?/Length (\d+)", text, flags=re.DOTALL)[1]
        found.append(int(length))
    return found


def test_no_page_is_blank(opened):
    lengths = pages_of(opened.pdf(prefer_css_page_size=True, print_background=True))
    assert 3 <= len(lengths) <= 9
    assert min(lengths) > 300, lengths


def test_nothing_is_cut_and_paper_is_light(opened):
    opened.emulate_media(media="print")
    opened.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert opened.evaluate(CUT, PAPER_PX) == []
    assert opened.evaluate("document.documentElement.dataset.theme") == "light"
    opened.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert opened.evaluate("document.documentElement.dataset.theme") is None


def test_wide_tables_stay_within_the_page(opened):
    opened.emulate_media(media="screen")
    opened.set_viewport_size({"width": 1280, "height": 900})
    tables = "Array.from(document.querySelectorAll('.scroll'))"
    assert opened.evaluate(f"{tables}.filter(one => one.scrollWidth > one.clientWidth + 1).length") == 0
