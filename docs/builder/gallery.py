"""The gallery: figures, each with the lines that made it just now."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from aqmlab.figures.chart import Chart
from aqmlab.runs.progress import Talk, talking
from builder.page import Page
from builder.scene import picture

ENTRIES = Path(__file__).with_name("gallery.toml")
FOLDER = "gallery"
INTRODUCTION = """\
# Gallery

Each figure of this page was made by the lines below it when the page was built, one after the other. These lines come
first:

{begin}

`aqmlab.axes` has the same functions for an axis of matplotlib: `axes.ellipses(ax, found)`. In a notebook a chart, a
result, a comparison and a sweep show themselves. [Figures](figures.md) says how to save one in the width of a paper's
column.
"""


@cache
def page() -> Page:
    """Run all lines and make the page with its figures."""
    gallery = tomllib.loads(ENTRIES.read_text(encoding="utf-8"))
    parts = [INTRODUCTION.format(begin=_code(gallery["begin"]))]
    files = {}
    for number, (entry, chart) in enumerate(charts(gallery), start=1):
        place = f"{FOLDER}/{number:02}-{chart.key}.svg"
        files[place] = picture(chart)
        parts += [f"## {entry['title']}", f"![{chart.alt}]({place})", _code(entry["lines"])]
    return Page("gallery.md", "Gallery", "\n\n".join(parts), files)


def charts(gallery: dict[str, Any]) -> Iterator[tuple[dict[str, str], Chart]]:
    """Run the lines of the gallery in a folder of their own, and yield each entry with its figure."""
    names: dict[str, Any] = {}
    with _elsewhere(), talking(Talk.QUIET):
        exec(gallery["begin"], names)
        for entry in gallery["figure"]:
            exec(entry["lines"], names)
            yield entry, names.pop("chart")


@contextlib.contextmanager
def _elsewhere() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _code(lines: str) -> str:
    return f"```python\n{lines.strip()}\n```"
