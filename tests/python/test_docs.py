"""The documentation: its commands exist, its examples run, no page is forgotten, pages that are made are complete."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
import yaml

import aqmlab
import hook
from aqmlab.lab.page import BUILT_IN, PRESETS
from aqmlab.papers.reproduction import papers
from aqmlab.scenario.registry import disciplines, schema
from browser_core import page_answers
from builder import discipline_pages, front_queue, gallery, lab_page, lesson, links, paper_pages, scene, shell_words
from builder.code_blocks import MARK, blocks
from builder.command_reference import commands
from builder.examples import ROOT, has_examples, run
from builder.page import Page
from builder.python_reference import packages
from builder.scenario_reference import pages as scenario_pages

pytestmark = pytest.mark.slow

DOCS = ROOT / "docs"
IN_PLACE = "The page is made by `make docs`"
"""Text of a page in a checkout that stands in place of a page that is made."""
ALL_PAGES = sorted(DOCS.rglob("*.md"))
PAGES = [page for page in ALL_PAGES if IN_PLACE not in page.read_text(encoding="utf-8")]
WRITTEN = [ROOT / "README.md", *PAGES]
MADE = (
    "disciplines",
    "papers",
    "scenario",
    "tables",
    "quantities",
    "words",
    "transports",
    "commands",
    "python",
    "gallery",
    "lesson",
)
EXAMPLES = [page for page in PAGES if has_examples(page)]
CURVES = "chart = figures.drop_curves({'red': {'aqm': 'red', 'min_th': '5p', 'max_th': '15p'}}, top=30)"


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", WRITTEN, ids=named)
def test_commands_in_pages_exist(page: Path) -> None:
    assert shell_words.problems(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", EXAMPLES, ids=named)
def test_marked_examples_run(page: Path, tmp_path: Path) -> None:
    inside = tmp_path / "bin"
    inside.mkdir()
    command = inside / "aqmlab"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m aqmlab "$@"\n')
    command.chmod(0o755)
    package = str(Path(aqmlab.__file__).parents[1])
    environment = os.environ | {"PATH": f"{inside}:{os.environ['PATH']}", "PYTHONPATH": package, "COLUMNS": "140"}
    folder = tmp_path / "here"
    folder.mkdir()
    assert run(page, folder, environment) == []


def test_the_first_five_minutes_are_run() -> None:
    assert DOCS / "start.md" in EXAMPLES
    marks = [line for page in WRITTEN for line in page.read_text(encoding="utf-8").splitlines() if MARK.fullmatch(line)]
    found = [block for page in WRITTEN for block in blocks(page.read_text(encoding="utf-8")) if block.mark]
    assert len(marks) == len(found), "a mark is not before a block of code"


def test_every_page_is_in_the_navigation(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page outside `nav` of mkdocs.yml would be on the site without a link to it."""
    monkeypatch.setattr(hook, "made", lambda: {f"made/{name}": [Page("x.md", "x", "")] for name in MADE})
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    found = [name for name in hook.names(hook.filled(config["nav"])) if name != "x.md"]
    assert sorted(found) == sorted(str(page.relative_to(DOCS)) for page in PAGES)
    assert set(hook.names(config["nav"])) >= {f"made/{name}" for name in MADE}


@cache
def made_pages() -> set[str]:
    made = {one.uri for one in [*scenario_pages(), *paper_pages.pages(), discipline_pages.transport_page()]}
    made |= {
        "disciplines/index.md",
        "reference/commands.md",
        "reference/quantities.md",
        "reference/tables.md",
        "reference/words.md",
        "reference/python/index.md",
        lab_page.URI,
        "lesson/index.md",
    }
    lessons = tomllib.loads(lesson.SOURCE.read_text(encoding="utf-8"))["page"]
    made |= {f"lesson/{one['name']}.md" for one in lessons}
    return made | {f"disciplines/{one.name}.md" for one in disciplines() if not one.foreign}


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ALL_PAGES], ids=named)
def test_links_lead_somewhere_in_a_checkout(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_what_stands_in_place_of_a_page_that_is_made_gives_way() -> None:
    instead = {str(page.relative_to(DOCS)) for page in ALL_PAGES if page not in PAGES}
    assert instead | {lab_page.URI} <= made_pages()
    assert "The page is made by" in (DOCS / lab_page.URI).read_text(encoding="utf-8")


def test_a_discipline_page_has_all_keys_of_the_registry() -> None:
    mred = next(one for one in disciplines() if one.name == "mred")
    page = discipline_pages._page(mred, discipline_pages._shown(mred))
    assert set(page.files) == {"disciplines/mred-curve.svg", "disciplines/mred-queue.svg"}
    assert all(content.startswith(b"<?xml") and b"currentColor" not in content for content in page.files.values())
    assert all(f"| `{parameter.key}` |" in page.text for parameter in mred.own_parameters)
    assert mred.paper in page.text.replace("\\", "")
    scene.show.cache_clear()
    assert discipline_pages._page(mred, discipline_pages._shown(mred)) == page, "a page is not the same every time"


def test_a_discipline_that_needs_settings_still_has_a_page() -> None:
    page = discipline_pages._page(disciplines()[1], "weights is missing")
    assert "weights is missing" in page.text
    assert page.files == {}


def test_all_tables_papers_and_packages_have_pages() -> None:
    tables = {page.uri for page in scenario_pages()}
    whole = {"run", "flow", "queue", "probe", "dumbbell"} & set(schema()["properties"])
    assert {f"reference/scenario/{name}.md" for name in whole} <= tables
    made = {page.uri: page.text for page in paper_pages.pages()}
    assert set(made) == {"papers/index.md", *(f"papers/{key}.md" for key in papers())}
    assert all("**Verdict" in text for uri, text in made.items() if uri != "papers/index.md")
    assert {"aqmlab.figures", "aqmlab.statistics", "aqmlab.theory"} <= set(packages())
    assert {"run", "results ls"} <= {words for words, _ in commands()}


def test_the_gallery_has_its_figures_with_their_lines() -> None:
    """The lines run when the site is built; here they are only complete."""
    found = tomllib.loads(gallery.ENTRIES.read_text(encoding="utf-8"))
    assert len({entry["title"] for entry in found["figure"]}) == 27
    assert all("chart = " in entry["lines"] for entry in found["figure"])
    compile("\n".join([found["begin"], *(entry["lines"] for entry in found["figure"])]), "gallery", "exec")
    first = {"begin": "from aqmlab import figures", "figure": [{"title": "Curves", "lines": CURVES}]}
    [(entry, chart)] = gallery.charts(first)
    assert (entry["title"], chart.key) == ("Curves", "drop-curve")


def test_links_of_a_built_site_are_checked(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="x"></p><a href="b.html">1</a><a href="#x">2</a><a href="#y">3</a>')
    (tmp_path / "c.html").write_text(
        '<script src="https://example.org/x.js"></script><a href="https://example.org">1</a>'
    )
    (tmp_path / "d.html").write_text('<a href="a.html#x">1</a><a href="../out.html">2</a>')
    assert links.check(tmp_path) == [
        "a.html: b.html: is not there",
        "a.html: #y: has no anchor y",
        "c.html: https://example.org/x.js: is loaded from elsewhere",
        "d.html: ../out.html: leads out of the site",
    ]


def test_every_figure_of_the_lesson_names_what_the_laboratory_has(tmp_path):
    for page in tomllib.loads(lesson.SOURCE.read_text())["page"]:
        for figure in page["figures"]:
            file = PRESETS[figure["preset"]] if "preset" in figure else BUILT_IN
            [answer] = page_answers(file, [{**figure.get("set", {}), "seconds": 2}])
            asked = set(re.findall(r"\{(.*?)\}", figure["ask"]))
            assert asked, page["name"]
            assert asked <= {control["key"] for control in answer["panel"]}, page["name"]
            assert len(figure["numbers"]) == 2, page["name"]
            assert set(figure["numbers"]) <= {row["key"] for row in answer["numbers"]}, page["name"]
            assert len(figure["show"]) == 1, page["name"]
            assert set(figure["show"]) <= {"packets", *(chart["key"] for chart in answer["charts"])}, page["name"]


def test_the_queue_of_the_first_page_is_of_runs_and_small():
    script = front_queue.script()
    assert len(script) < 200_000
    lanes = front_queue.recorded()["lanes"]
    assert [lane["name"] for lane in lanes] == ["drop-tail", "red"]
    assert all({"+", "-"} <= set(lane["events"]["kind"]) for lane in lanes)
