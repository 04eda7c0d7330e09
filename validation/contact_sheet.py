"""Picture the first screen of every kind of page, for the contact sheet in the documentation.

Makes small results of each kind in a folder (present ones are not made again), opens each page in Chromium as a desktop
shows it, as a phone of 390 pixels shows it, dark, and on paper, and puts the pictures into one image.

    python validation/contact_sheet.py [--work DIR] [--out docs/validation/pages.webp]
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw, ImageFont
from playwright.sync_api import sync_playwright

import aqmlab
from aqmlab.lab import open_lab
from measure_lab import browser_path
from screens import LIVE

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DISCIPLINES = ["drop-tail", "red", "mred", "codel", "fq-codel", "pie"]
SCENARIO = "example:dumbbell-red"
PAPER = "mred"
GAP, HEAD, LABEL = 14, 26, 150
HEIGHT = 250
"""Height of each small picture, in pixels."""
QUALITY = 62
PATIENCE_MS = 300_000.0


@dataclass(frozen=True)
class Look:
    """One way to look at a page: its name, the window in CSS pixels, and what Chromium emulates."""

    name: str
    width: int
    height: int
    dark: bool = False
    paper: bool = False

    @property
    def shown(self) -> tuple[int, int]:
        """Size of the small picture."""
        return round(HEIGHT * self.width / self.height), HEIGHT


LOOKS = (
    Look("desktop, 1400 px", 1400, 900),
    Look("phone, 390 px", 390, 844),
    Look("dark", 1400, 900, dark=True),
    Look("paper, A4", 794, 1123, paper=True),
)


@contextmanager
def pages(work: Path) -> Iterator[dict[str, str]]:
    """Make the results that are not there, and yield the address of each page by its name."""
    quiet = {"workers": 2, "progress": False}
    run = aqmlab.run(SCENARIO, seeds=4, out=work / "run", **quiet)
    compared = aqmlab.compare(SCENARIO, aqm=DISCIPLINES, seeds=4, out=work / "compare", **quiet)
    swept = aqmlab.sweep(
        SCENARIO,
        grid={"queue.bottleneck.max_p": "0.02,0.05,0.1,0.2", "queue.bottleneck.aqm": "red,mred"},
        overrides={"run.duration": "10s", "run.warmup": "2s"},
        seeds=3,
        name="max-p",
        out=work / "sweep",
        workers=2,
    )
    asked = ["5.1", "8.2.3"]
    suite = aqmlab.characterize(
        aqm=["red", "codel", "pie"], sections=asked, quick=True, seeds=2, out=work / "rfc", pictures=False, **quiet
    )
    papers = aqmlab.reproduce_all(only=[PAPER], quick=True, seeds=2, out=work / "papers", **quiet)
    files = {
        "run": aqmlab.report(run.folder, pictures=False),
        "compare": aqmlab.report(compared.folder, pictures=False),
        "sweep": aqmlab.report(swept.folder, pictures=False),
        "rfc7928": suite.report,
        "reproduce all": papers.report,
        f"paper: {PAPER}": papers.papers[0].report,
    }
    tuned = ("tune", "--uplink", "20Mbps", "--for", "calls and downloads", "--aqm", "fq-codel,pie")
    page = work / "tune.html"
    files["tune"] = written(page, *tuned, "--out", work / "tune", "--report", page)
    if os.geteuid() == 0:
        page = work / "live-report" / "report.html"
        live = ("live", LIVE, "--runs", "2", "--with-simulation", "--out", work / "live", "--report", page.parent)
        files["live"] = written(page, *live)
    with open_lab() as lab:
        urls = {name: path.resolve().as_uri() for name, path in files.items()}
        yield {**urls, "laboratory": lab.url, "your uplink": f"{lab.url}#uplink=20,40"}


def written(page: Path, *words: str | Path) -> Path:
    """Return the page of a command; the command runs if its page is missing."""
    if not page.exists():
        subprocess.run([sys.executable, "-m", "aqmlab", *map(str, words)], check=True)
    return page


def first_screen(browser: Browser, url: str, look: Look) -> Image.Image:
    """Return the first screen of a page, once its charts are drawn."""
    scheme = "dark" if look.dark else "light"
    page = browser.new_page(viewport={"width": look.width, "height": look.height}, color_scheme=scheme)
    page.set_default_timeout(PATIENCE_MS)
    try:
        page.goto(url)
        page.wait_for_selector("html[data-charts], html[data-drawn], html[data-uplink]", state="attached")
        if look.paper:
            page.emulate_media(media="print", color_scheme="light")
            page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        page.wait_for_timeout(500)
        return Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    finally:
        page.close()


def sheet(rows: dict[str, list[Image.Image]]) -> Image.Image:
    """Put the pictures into one image: a row a page, a column a look."""
    widths = [look.shown[0] for look in LOOKS]
    size = (LABEL + sum(width + GAP for width in widths), HEAD + len(rows) * (HEIGHT + GAP))
    made = Image.new("RGB", size, "#c9ced6")
    pen, font = ImageDraw.Draw(made), ImageFont.load_default(15)
    left = LABEL
    for look, width in zip(LOOKS, widths, strict=True):
        pen.text((left, 5), look.name, fill="#10151b", font=font)
        left += width + GAP
    for row, (name, pictures) in enumerate(rows.items()):
        top, left = HEAD + row * (HEIGHT + GAP), LABEL
        pen.text((8, top + 4), name, fill="#10151b", font=font)
        for picture, look in zip(pictures, LOOKS, strict=True):
            made.paste(picture.resize(look.shown, Image.Resampling.LANCZOS), (left, top))
            left += look.shown[0] + GAP
    return made


def main() -> None:
    """Make the contact sheet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, help="Folder for the results; default: a temporary one.")
    parser.add_argument("--out", type=Path, default=Path("docs/validation/pages.webp"))
    parser.add_argument("--full", type=Path, help="Also write each first screen at its own size into this folder.")
    asked = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as temporary,
        pages(asked.work or Path(temporary)) as urls,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        rows = {}
        for name, url in urls.items():
            rows[name] = [first_screen(browser, url, look) for look in LOOKS]
            print(name, flush=True)
            for look, picture in zip(LOOKS, rows[name], strict=True):
                if asked.full is not None:
                    asked.full.mkdir(parents=True, exist_ok=True)
                    label = "-".join(f"{name} {look.name}".replace(":", "").replace(",", "").split())
                    picture.save(asked.full / f"{label}.png")
        browser.close()
    sheet(rows).save(asked.out, quality=QUALITY, method=6)
    print(f"{asked.out}: {asked.out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
