"""How fast the laboratory answers, measured in Chromium: sliders are moved by keys, and the page is watched.

The clock starts with the browser's own event of the slider and stops when the frame after the one in which the queue's
chart was drawn begins, so that the new chart has been painted by then. The page's own figures are not used.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from aqmlab.lab import open_lab

if TYPE_CHECKING:
    from playwright.sync_api import Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
LIMIT_MS = 200.0
WORDS = {True: "yes", False: "**no**"}
ARRIVE_MS = 30_000.0
SETTLED_MS = 1000.0
"""So long a page is looked at before its first slider is moved."""
WATCH = """() => {
  let began = 0;
  window.times = [];
  document.addEventListener("input", (event) => { began = event.timeStamp; }, true);
  const chart = document.querySelector("#chart-queue .plot");
  new MutationObserver(() => {
    if (!began) { return; }
    const from = began;
    began = 0;
    requestAnimationFrame(() => requestAnimationFrame(() => window.times.push(performance.now() - from)));
  }).observe(chart, { attributeFilter: ["data-drawn"] });
}"""
PLAN = ("queue.bottleneck.max_th", "queue.bottleneck.w_q", "rate", "flow.tcp.count", "rtt")
"""Sliders that are moved one after the other."""


@dataclass(frozen=True)
class Move:
    """One slider moved by one step."""

    key: str
    ms: float
    simulated_s: float
    chart_changed: bool


def browser_path() -> str | None:
    """Return the path of a Chromium, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def opened_page(url: str, *switches: str) -> Iterator[Page]:
    """Open a page in headless Chromium and wait until its first charts are drawn."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox", *switches])
        try:
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.goto(url)
            page.wait_for_selector("html[data-drawn]", state="attached", timeout=ARRIVE_MS)
            yield page
        finally:
            browser.close()


def slider(key: str) -> str:
    """Return the selector of a slider."""
    return f'[data-key="{key}"] input[type=range]'


def press(page: Page, key: str, stroke: str = "ArrowRight") -> None:
    """Move a slider by a key and wait until its answer is drawn."""
    drawn = int(page.evaluate("document.documentElement.dataset.drawn"))
    page.press(slider(key), stroke)
    page.wait_for_selector(f'html[data-drawn="{drawn + 1}"]', state="attached", timeout=ARRIVE_MS)


def lines(page: Page) -> str:
    """Return the queue's chart as it is drawn: its pixels."""
    return str(page.evaluate("document.querySelector('#chart-queue canvas').toDataURL()"))


def moves(page: Page, count: int = 20) -> list[Move]:
    """Move the sliders in turn and return what each move took."""
    page.wait_for_timeout(SETTLED_MS)
    page.evaluate(WATCH)
    found = []
    for number in range(count):
        key, before = PLAN[number % len(PLAN)], lines(page)
        press(page, key)
        while int(page.evaluate("window.times.length")) <= number:
            page.wait_for_timeout(5)
        ms = float(page.evaluate(f"window.times[{number}]"))
        simulated = float(page.evaluate("document.documentElement.dataset.simulated"))
        found.append(Move(key, ms, simulated, lines(page) != before))
    return found


def report() -> tuple[str, bool]:
    """Return the text of the page of `docs/validation`, and whether every move was drawn in time."""
    if browser_path() is None:
        return "Not measured: no Chromium was found.", False
    load = os.getloadavg()[0]
    with open_lab() as lab, opened_page(lab.url) as page:
        found = moves(page)
        version = page.context.browser.version if page.context.browser else ""
    times = [move.ms for move in found]
    shown = max(times) < LIMIT_MS and all(move.chart_changed for move in found)
    rows = "\n".join(
        f"| {number} | `{move.key}` | {move.ms:.0f} | {move.simulated_s:g} | {WORDS[move.chart_changed]} |"
        for number, move in enumerate(found, 1)
    )
    text = f"""The page that `aqmlab lab` opens (ten TCP flows at 10 Mbit/s, 30 s), in headless Chromium {version}, on
{os.cpu_count()} processor cores ({platform.machine()}) that the browser, the server with its simulation and all other
processes share; the load average before was {load:.1f}. A slider is moved by one step with an arrow key,
{len(found)} times, five sliders in turn, the first a second after the page is there. The time runs from the browser's
event of the slider until the frame after the one with the new chart of the queue begins; the page's own clock is not
used. Every move has to be drawn within {LIMIT_MS:.0f} ms, and has to change the chart.

**Median {median(times):.0f} ms, worst {max(times):.0f} ms.**

| move | slider | ms | seconds simulated | chart changed |
|---:|---|---:|---:|---|
{rows}

The requests that the server rejects, with their status, are in `tests/python/test_lab_server.py`."""
    return text, shown
