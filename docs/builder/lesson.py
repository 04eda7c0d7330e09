"""The lesson: short pages, each with figures that run in the browser, and a question whose numbers are measured."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import aqmlab
from aqmlab.lab.page import BUILT_IN, PRESETS
from aqmlab.results.quantities import quantity
from aqmlab.runs.comparison_settings import exchange
from aqmlab.scenario.file import Scenario
from builder.page import Page

FOLDER = "lesson"
SOURCE = Path(__file__).with_suffix(".toml")
HEIGHTS = {"packets": 340, "queue": 380, "probability": 420}
"""Pixels that a chart takes in the column of a page."""
CHART, REST = 355, 200
INTRODUCTION = """\
# A lesson in seven pages

Each page has a question, and below it a figure that runs in your browser. Turn the knobs in its sentence until you
know the answer; then compare. Nothing has to be installed, and nothing is sent anywhere. The
numbers of the answers are those of seed 1, measured when these pages were built."""


def pages() -> list[Page]:
    """Make the lesson's first page and its pages."""
    found = tomllib.loads(SOURCE.read_text(encoding="utf-8"))["page"]
    contents = [f"{number}. [{one['title']}]({one['name']}.md)" for number, one in enumerate(found, 1)]
    first = Page(f"{FOLDER}/index.md", "A lesson", f"{INTRODUCTION}\n\n" + "\n".join(contents))
    return [first, *(_page(number, one) for number, one in enumerate(found, 1))]


def _page(number: int, one: Mapping[str, Any]) -> Page:
    parts = [f"# {number}. {one['title']}", one["text"].strip()]
    about = one["figures"][one.get("about", 0)]
    answer = re.sub(r"\{([^{}]+)\}", lambda found: _number(found[1], about), one["answer"].strip())
    for figure in one["figures"]:
        if "heading" in figure:
            parts += [f"## {figure['heading']}", figure["text"]]
        if figure is about:
            parts.append(f"**{one['question']}**")
        parts.append(_frame(figure, one["title"]))
        if figure is about:
            parts.append(f'<details markdown="1"><summary>Answer</summary>\n\n{answer}\n\n</details>')
    return Page(f"{FOLDER}/{one['name']}.md", one["title"], "\n\n".join(parts))


def laboratory(settings: Mapping[str, object], **parts: str) -> str:
    """Return the address of the laboratory with a setting, from a page one folder below the site's first.

    Parameters
    ----------
    settings
        Key and value of controls.
    parts
        Further parts of the address: ``ask``, ``numbers``, ``show``, ``preset``.

    >>> laboratory({"aqm": "codel"}, show="queue")
    '../try.html#set=%7B%22aqm%22%3A+%22codel%22%7D&show=queue'
    """
    held = {"set": json.dumps(settings)} if settings else {}
    return f"../try.html#{urlencode({**held, **parts})}"


def _frame(figure: Mapping[str, Any], title: str) -> str:
    """Return a figure: the laboratory with controls in a sentence, two numbers and one chart."""
    preset = {"preset": figure["preset"]} if "preset" in figure else {}
    show = figure["show"]
    parts = {"show": ",".join(show), "ask": figure["ask"], "numbers": ",".join(figure["numbers"])}
    address = laboratory(figure.get("set", {}), **parts, **preset)
    height = REST + sum(HEIGHTS.get(part, CHART) for part in show)
    name = escape(figure.get("heading", title), quote=True)
    whole = laboratory(figure.get("set", {}), **preset)
    return (
        f'<iframe class="laboratory" src="{escape(address)}" title="{name}, live" loading="lazy" '
        f'style="height: {height}px"></iframe>\n\n[The same in the whole laboratory]({whole})'
    )


def _number(words: str, figure: Mapping[str, Any]) -> str:
    """Measure a number of an answer: ``KEY; KEY=VALUE, ...``, as the laboratory shows it with these overrides."""
    key, _, changes = words.partition(";")
    settings = {key: value for key, value in figure.get("set", {}).items() if key != "beside"}
    settings |= dict(pair.strip().split("=") for pair in changes.split(",") if pair.strip())
    aqm = settings.pop("aqm", None)
    plan = Scenario.load(PRESETS[figure["preset"]] if "preset" in figure else BUILT_IN, overrides=settings)
    if aqm is not None:
        plan = exchange(plan, [plan.link("bottleneck").queue], aqm, {"aqm": aqm}, [])
    values = aqmlab.run(plan, seeds=1, workers=1, progress=False).metrics(link="bottleneck")
    return f"{values[key].iloc[0]:.{quantity(key).digits}f}"
