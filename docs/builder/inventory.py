"""The inventory of each paper: every step, equation, parameter, table, figure and sentence, with its claims."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from itertools import groupby

from aqmlab.papers.registry import PAPERS
from aqmlab.papers.reproduction import paper_of
from builder.page import Page, cell, code, plain, table
from builder.worlds import ANALYSED, WORLDS, worlds_of

FOLDER = "papers"
FILE = "inventory.csv"
"""The inventory in a paper's folder."""
KINDS = ("step", "equation", "parameter", "table", "figure", "sentence")
THEORY = "python/aqmlab/theory/"
"""The folder of all models."""
OPEN = "open:"
"""Begin of the reason for an entry that could be judged."""
SUMMARY = ("entries", *(f"{kind}s" for kind in KINDS), "with a claim", "with a reason alone", "open")
"""Columns of a paper's summary."""
OVERVIEW = """\
# Inventories

Each paper read line by line, abstract and conclusions included: every step of its algorithm, equation, parameter,
table, figure and sentence has an entry. The entry says where it is in this project, in which worlds it runs, and which
claim judges it, or why none does. Descriptions are in our words.

The worlds are those that take the entry's queue when this site is built: theory (*analysed*), the simulator
(*simulated*), [live runs](../live.md) (*live*), a [module](../kernel.md) or Linux's own drop-tail (*in Linux*), and
[the laboratory](../lab.md) (*in a browser*); *all* is all five. An equation of a model has theory alone. Other
entries without a queue, about traffic, networks and results, have no world.

A reason that begins with *open* marks something that could be judged and is not, or only in part."""


@dataclass(frozen=True)
class Entry:
    """One line of a paper.

    Attributes
    ----------
    section, place
        Where it is in the paper.
    kind
        One of `KINDS`.
    text, quote
        A description in our words, and a few of the paper's.
    queue
        Keys of a queue, as `worlds_of` takes them; empty if it is about no queue.
    code
        Where it is in the project: ``path::word`` each; a path without a folder is in the paper's folder.
    claims
        Identifiers of the claims that judge it.
    reason
        Why no claim judges it, or a part of it.
    """

    section: str
    place: str
    kind: str
    text: str
    quote: str
    queue: str
    code: str
    claims: str
    reason: str

    @property
    def is_open(self) -> bool:
        """Whether it, or a part of it, could be judged and is not."""
        return self.reason.startswith(OPEN)

    @property
    def places(self) -> list[tuple[str, str]]:
        """Path and word of each place in the project."""
        pairs = (one.partition("::") for one in self.code.split())
        return [(path, word) for path, _, word in pairs]

    @property
    def worlds(self) -> tuple[str, ...]:
        """The worlds in which its queue runs; theory alone for an equation of a model."""
        if self.queue:
            return worlds_of(self.queue)
        return (ANALYSED,) if any(path.startswith(THEORY) for path, _ in self.places) else ()


COLUMNS = tuple(field.name for field in fields(Entry))
"""Columns of the file."""


@cache
def entries(key: str) -> tuple[Entry, ...]:
    """Return the inventory of a paper, in the paper's order; the functions of its claims are among its code."""
    paper = paper_of(key)
    functions = {claim.id: _function(claim.function) for claim in paper.claims}

    def code_of(row: Mapping[str, str]) -> str:
        own = (functions[claim] for claim in row["claims"].split() if claim in functions)
        return " ".join(dict.fromkeys([*row["code"].split(), *own]))

    return tuple(Entry(**{**row, "code": code_of(row)}) for row in paper.files.rows(FILE))


def _function(function: Callable[..., object]) -> str:
    """Return the place of a claim's function; if a function of the file makes it, of that one."""
    return f"{function.__module__.rpartition('.')[2]}.py::{function.__qualname__.partition('.')[0]}"


def pages() -> list[Page]:
    """Make the overview and a page for each paper."""
    return [Page(f"{FOLDER}/inventories.md", "Inventories", _overview()), *map(_page, PAPERS)]


def summary(found: Sequence[Entry]) -> list[str]:
    """Return the counts of `SUMMARY`."""
    kinds = Counter(one.kind for one in found)
    claimed = sum(bool(one.claims) for one in found)
    still_open = sum(one.is_open for one in found)
    return [str(n) for n in (len(found), *map(kinds.__getitem__, KINDS), claimed, len(found) - claimed, still_open)]


def as_csv(found: Sequence[Entry]) -> str:
    """Return entries as CSV, with their worlds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*COLUMNS, "worlds"])
    writer.writerows([*map(one.__getattribute__, COLUMNS), "; ".join(one.worlds)] for one in found)
    return text.getvalue()


def _overview() -> str:
    names = {key: f"[{plain(paper_of(key).name)}]({_name(key)}.md)" for key in PAPERS}
    left = [
        [names[key], f"{plain(one.section)}: {_place(one)}", _what(one), _judged(one, key)]
        for key in PAPERS
        for one in entries(key)
        if one.is_open
    ]
    return "\n\n".join(
        [
            OVERVIEW,
            table(["paper", *SUMMARY], [[names[key], *summary(entries(key))] for key in PAPERS]),
            "## Open",
            table(["paper", "where", "what", "judged by"], left),
        ]
    )


def _page(key: str) -> Page:
    paper, found, uri = paper_of(key), entries(key), f"{FOLDER}/{_name(key)}"
    parts = [
        f"# Inventory: {plain(paper.name)}",
        plain(paper.citation),
        f"[All inventories](inventories.md), [claims of this paper]({key}.md), [as CSV]({_name(key)}.csv).",
        table(SUMMARY, [summary(found)]),
        f"Files without a folder are in `python/{PAPERS[key].replace('.', '/')}`.",
    ]
    for section, own in groupby(found, lambda one: one.section):
        rows = [[_place(e), e.kind, _what(e), _judged(e, key), _worlds(e), _code(e)] for e in own]
        parts += [f"## {plain(section)}", table(["where", "kind", "what", "judged by", "worlds", "code"], rows)]
    return Page(f"{uri}.md", f"Inventory: {paper.name}", "\n\n".join(parts), {f"{uri}.csv": as_csv(found).encode()})


def _name(key: str) -> str:
    return f"inventory-{key}"


def _place(entry: Entry) -> str:
    return plain(cell(entry.place))


def _what(entry: Entry) -> str:
    quote = f" (“{entry.quote}”)" if entry.quote else ""
    return plain(cell(entry.text + quote))


def _code(entry: Entry) -> str:
    return "<br>".join(f"{code(word)} in {code(path)}" for path, word in entry.places)


def _worlds(entry: Entry) -> str:
    return "all" if len(entry.worlds) == len(WORLDS) else ", ".join(entry.worlds)


def _judged(entry: Entry, key: str) -> str:
    claims = ", ".join(f"[{one}]({key}.md#{one})" for one in entry.claims.split())
    return "; ".join(part for part in (claims, plain(cell(entry.reason))) if part)
