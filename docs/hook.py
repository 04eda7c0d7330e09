"""Hooks of mkdocs: add the pages that are made, fill the navigation, name the languages of code blocks."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page as MkDocsPage

from builder import (
    command_reference,
    discipline_pages,
    front_queue,
    gallery,
    inventory,
    lab_page,
    lesson,
    paper_pages,
    python_reference,
    quantity_reference,
    scenario_reference,
    table_reference,
    words_reference,
)
from builder.access import accessible
from builder.code_blocks import with_languages
from builder.page import Page
from builder.policy import with_policy

DOCS = Path(__file__).parent
WEIGHTS = {
    "": 8.0,
    "questions": 16.0,
    "start": 12.0,
    "vectors": 1.0,
    "combinations": 0.1,
    "releasing": 0.1,
    "packaging": 0.1,
    "concepts/": 2.0,
    "lesson/": 2.0,
    "disciplines/": 1.0,
    "papers/": 1.0,
    "reference/": 1.0,
    "reference/python/": 0.3,
    "validation/": 0.1,
    "decisions/": 0.1,
    "analysis/": 0.1,
}
"""Weights in the search by the longest beginning of a page's name. Pages of this folder are the how-tos."""
REST = "rest"
"""Stands in the navigation for the pages of this folder that it does not name."""


@cache
def made() -> dict[str, list[Page]]:
    """Return the pages that are made; the key is what stands for them in the navigation."""
    return {
        "made/disciplines": discipline_pages.pages(),
        "made/papers": [*paper_pages.pages(), *inventory.pages()],
        "made/scenario": scenario_reference.pages(),
        "made/tables": table_reference.pages(),
        "made/quantities": quantity_reference.pages(),
        "made/words": words_reference.pages(),
        "made/transports": [discipline_pages.transport_page()],
        "made/commands": command_reference.pages(),
        "made/python": python_reference.pages(),
        "made/gallery": [gallery.page()],
        "made/lesson": lesson.pages(),
    }


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put pages in the place of the words that stand for them in the navigation."""
    config.nav = filled(config.nav or [])
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and their figures. A page that is read in a checkout in place of one gives way."""
    contents: dict[str, str | bytes] = {lab_page.URI: lab_page.text(), front_queue.URI: front_queue.script()}
    for page in (page for pages in made().values() for page in pages):
        contents |= {page.uri: page.text, **page.files}
    for uri, content in contents.items():
        if instead := files.get_file_from_path(uri):
            files.remove(instead)
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, *, page: MkDocsPage, **_: Any) -> str:  # noqa: ANN401
    """Give indented code its language, and the page its weight in the search."""
    page.meta.setdefault("search", {"boost": weight(page.file.src_uri)})
    return with_languages(markdown)


def weight(uri: str) -> float:
    """Return the weight of a page in the search.

    >>> weight("sweeps.md"), weight("validation/sweeps.md")
    (8.0, 0.1)
    """
    return max(((len(start), value) for start, value in WEIGHTS.items() if uri.startswith(start)))[1]


def on_post_page(output: str, **_: Any) -> str:  # noqa: ANN401
    """Correct the theme's page, and give it a content security policy."""
    return with_policy(accessible(output))


def on_post_template(output: str, *, template_name: str, **_: Any) -> str:  # noqa: ANN401
    """Give the page for missing pages a content security policy."""
    return with_policy(accessible(output)) if template_name.endswith(".html") else output


def filled(navigation: list[Any]) -> list[Any]:
    """Return the navigation with all of its pages.

    ``Name: made/...`` becomes pages that are made, ``Name: folder/`` all pages of a folder, its README first, and
    ``rest`` the pages of this folder that are not named.
    """
    known = set(names(navigation))
    rest = sorted(page.name for page in DOCS.glob("*.md") if page.name not in known)
    done: list[Any] = _filled(navigation, rest)
    return done


def names(entry: Any) -> list[str]:  # noqa: ANN401 - as YAML gives it
    """Return all pages that a navigation names.

    >>> names([{"A": ["a.md", {"B": "b.md"}]}, "c.md"])
    ['a.md', 'b.md', 'c.md']
    """
    parts = entry.values() if isinstance(entry, dict) else entry if isinstance(entry, list) else []
    return [entry] if isinstance(entry, str) else [name for part in parts for name in names(part)]


def _filled(entry: Any, rest: list[str]) -> Any:  # noqa: ANN401
    if isinstance(entry, list):
        return [one for part in entry for one in (rest if part == REST else [_filled(part, rest)])]
    if not isinstance(entry, dict):
        return entry
    [(title, value)] = entry.items()
    if isinstance(value, list):
        return {title: _filled(value, rest)}
    if value in made():
        pages = [{page.title: page.uri} for page in made()[value]]
        return {title: pages[0][made()[value][0].title] if len(pages) == 1 else pages}
    return {title: folder(value) if value.endswith("/") else value}


def folder(name: str) -> list[str]:
    """Return the pages of a folder: its README, then in the order in which that links to them, then the rest."""
    readme = DOCS / name / "README.md"
    linked = re.findall(r"\]\(([\w-]+\.md)\)", readme.read_text(encoding="utf-8"))
    there = sorted(path.name for path in (DOCS / name).glob("*.md") if path != readme)
    order = dict.fromkeys([*(one for one in linked if one in there), *there])
    return [f"{name}README.md", *(f"{name}{one}" for one in order)]
