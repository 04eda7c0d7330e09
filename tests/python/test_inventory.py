"""The inventories of the papers: complete, true of the code and of the claims, and in our own words."""

from __future__ import annotations

import csv
import io
import os
import re
from itertools import pairwise
from pathlib import Path

import pytest

from aqmlab.papers.registry import PAPERS
from aqmlab.papers.reproduction import paper_of
from builder import inventory
from builder.inventory import KINDS, Entry, entries
from builder.worlds import WORLDS, worlds_of

ROOT = Path(__file__).resolve().parents[2]
FIGURES = {"pc-red": 5, "mred": 7, "ddred": 13, "exred": 8, "adaptive-rio": 7}
"""Figures that each paper prints."""
IN_THE_TEXT = {"text", "parameters"}
"""Words for the table of printed numbers from the paper's text."""
TEXTS = "AQMLAB_PAPER_TEXTS"
"""Variable of the environment with a folder of the papers' texts, `KEY.txt` each, which are not part of the project."""
COPIED = 8
"""Most words in a row that a description and its paper may share."""
QUOTED = 15
"""Most words of a quote."""

papers = pytest.mark.parametrize("key", PAPERS)


def named(entry: Entry) -> str:
    return f"{entry.section}, {entry.place}: {entry.text}"


def file_of(key: str, path: str) -> Path:
    return ROOT / (path if "/" in path else f"python/{PAPERS[key].replace('.', '/')}/{path}")


def has_word(path: Path, word: str) -> bool:
    return path.is_file() and bool(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", path.read_text(encoding="utf-8")))


def words_of(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def copied(text: str, paper: str, most: int = COPIED) -> list[str]:
    """Return the runs of more than `most` words that a text shares with a paper."""
    words, whole = words_of(text), f" {' '.join(words_of(paper))} "
    runs = (" ".join(words[at : at + most + 1]) for at in range(len(words) - most))
    return [run for run in runs if f" {run} " in whole]


@papers
def test_every_entry_has_a_kind_a_place_and_a_claim_or_a_reason(key):
    found = entries(key)
    assert [named(one) for one in found if one.kind not in KINDS or not (one.section and one.place and one.text)] == []
    assert [named(one) for one in found if not (one.claims or one.reason)] == []
    assert [named(one) for one, after in pairwise(found) if one == after] == []


@papers
def test_the_code_of_every_entry_exists(key):
    places = dict.fromkeys(place for one in entries(key) for place in one.places)
    assert [f"{path}::{word}" for path, word in places if not (word and has_word(file_of(key, path), word))] == []


@papers
def test_claims_and_inventory_name_each_other(key):
    claims = {claim.id for claim in paper_of(key).claims}
    named_ones = {claim for one in entries(key) for claim in one.claims.split()}
    unknown, forgotten = sorted(named_ones - claims), sorted(claims - named_ones)
    assert not unknown, f"{key}/inventory.csv: no such claims: {', '.join(unknown)}"
    assert not forgotten, f"{key}/inventory.csv: no entry names the claims {', '.join(forgotten)}"


@papers
def test_every_printed_table_figure_and_parameter_has_an_entry(key):
    found = entries(key)
    files = paper_of(key).files
    printed = {cell.table for cell in files.cells()} - IN_THE_TEXT
    tables = {one.place for one in found if one.kind == "table"}
    assert [number for number in printed if f"Table {number}" not in tables] == []
    figures = {re.sub(r"^Fig\.", "Figure", one.place) for one in found if one.kind == "figure"}
    assert [n for n in range(1, FIGURES[key] + 1) if f"Figure {n}" not in figures] == []
    words = {word for one in found for path, word in one.places if path == "published.csv"}
    others = [{cell.quantity, str(cell.key.get("case"))} for cell in files.cells() if cell.table in IN_THE_TEXT]
    assert [number for number in others if not number & words] == []


@papers
def test_quotes_are_short(key):
    assert [one.quote for one in entries(key) if len(one.quote.split()) > QUOTED] == []


@papers
def test_descriptions_are_in_our_own_words(key):
    folder = os.environ.get(TEXTS)
    if folder is None:
        # The authors hold the rights in the texts; a developer with the papers checks the words of new rows.
        pytest.skip(f"the papers are not part of the project; {TEXTS} can name a folder with their texts")
    [text] = [path for path in Path(folder).glob("*.txt") if path.stem.replace("-", "") == key.replace("-", "")]
    paper = text.read_text(encoding="utf-8")
    assert [run for one in entries(key) for run in copied(f"{one.text} {one.reason}", paper)] == []
    assert [
        one.quote for one in entries(key) if one.quote and not copied(one.quote, paper, len(words_of(one.quote)) - 1)
    ] == []


def test_copied_words_are_found():
    paper = "When the queue is full, every packet that arrives is dropped at once."
    runs = ["the queue is full every packet that arrives is", "queue is full every packet that arrives is dropped"]
    assert copied("If the queue is full, every packet that arrives is dropped", paper) == runs
    assert copied("the queue is full, every packet that arrives", paper) == []


def test_worlds_follow_from_the_queue():
    assert worlds_of('aqm = "exred"') == tuple(WORLDS)
    assert worlds_of('victim = "choke"') == ("analysed", "simulated", "live", "in a browser")
    assert worlds_of('aqm = "codel"') == ("simulated", "live", "in a browser")
    assert worlds_of('aqm = "drop-tail"') == tuple(WORLDS)
    [equation] = [one for one in entries("exred") if one.place == "(2)"]
    assert equation.worlds == ("analysed",)


def test_pages_have_every_entry_and_the_sums():
    made = {page.uri: page for page in inventory.pages()}
    assert set(made) == {"papers/inventories.md", *(f"papers/inventory-{key}.md" for key in PAPERS)}
    for key in PAPERS:
        page, found = made[f"papers/inventory-{key}.md"], entries(key)
        counts = inventory.summary(found)
        assert f"| {' | '.join(counts)} |" in page.text
        assert f"| {' | '.join(counts)} |" in made["papers/inventories.md"].text
        rows = list(csv.DictReader(io.StringIO(page.files[f"papers/inventory-{key}.csv"].decode())))
        assert [row["text"] for row in rows] == [one.text for one in found]
        assert all(set(row["worlds"].split("; ")) <= set(WORLDS) for row in rows if row["queue"])
        assert int(counts[0]) == sum(map(int, counts[1:7])) == int(counts[7]) + int(counts[8])
