"""Papers whose page is not made by functions yet: from ``page.toml`` and ``claims.toml``."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from aqmlab.papers.common import tables as for_files
from aqmlab.papers.common.cells import Content, Count, Fit, P, Printed
from aqmlab.papers.common.claim_reader import read_claims
from aqmlab.papers.common.contents import READINGS, Block, Figure, Section, Table, Text
from aqmlab.papers.common.expressions import Numbers, Runs
from aqmlab.papers.common.figures import Line
from aqmlab.papers.common.files import PaperFiles
from aqmlab.papers.common.paper import VERDICTS, Paper, Study
from aqmlab.papers.common.quantities import Kind
from aqmlab.papers.common.runs import Setup
from aqmlab.papers.common.vocabulary import Value, values_of
from aqmlab.reporting.flowchart import FlowChart

Frames = Mapping[str, pd.DataFrame | None]


def _none(_: Study) -> Any:  # noqa: ANN401
    return {}


def toml_paper(
    files: PaperFiles,
    effort: Any,  # noqa: ANN401
    setups: Callable[[Any], list[Setup]],
    measure: Callable[[Setup, Path], Mapping[str, float]],
    *,
    sources: Callable[[Study], Frames] = _none,
    tables: Callable[[Study], Frames] = _none,
    shown: Callable[[Study], Frames] = _none,
    figures: Callable[[Study], Mapping[str, Any]] = _none,
    words: Callable[[Study], Mapping[str, str]] = _none,
    **options: Any,  # noqa: ANN401
) -> Paper:
    """Return a paper whose page and claims are TOML files."""
    data = files.toml("page.toml")
    stated = data.get("readings", {})

    def page(study: Study) -> Iterator[Section]:
        made = _Maker(study, data, tables(study), shown(study), figures(study), words(study), sources(study))
        for entry in data["section"]:
            yield Section(entry["title"], made.blocks(entry["show"]))
        shared = made.blocks(stated.get("show", ()))
        yield Section(READINGS, [*shared, *made.rest()])

    return Paper(
        files,
        name=data["name"],
        citation=data["citation"],
        claims=read_claims(files.toml("claims.toml")),
        effort=effort,
        setups=setups,
        measure=measure,
        page=page,
        lead=data["lead"],
        quick_note=data["quick_note"],
        seeds=data.get("seeds", ""),
        example=data["example"],
        scenarios=data["scenarios"],
        labels=data.get("labels", {}),
        colors=data.get("colors", {}),
        headlines=stated.get("headlines", {}),
        compared_on=stated.get("of", {}),
        compared=tuple(stated.get("claims", ())),
        fill=stated.get("fill", False),
        **options,
    )


def made(study: Study, name: str, readings: Any = None, runs: Any = None) -> Table:  # noqa: ANN401
    """Return a table of ``page.toml``."""
    entry: dict[str, Any] = dict(study.paper.files.toml("page.toml")["table"][name])
    rows, of, over = entry.pop("rows"), entry.pop("of", {}), entry.pop("over", {})
    columns = _contents(study, entry.pop("columns"), over)
    entry.pop("source", None)
    look = {**entry, "caption": _filled(study, entry.get("caption", ""), {})}
    if rows == "readings":
        return study.by_reading(name, columns, of=of, readings=readings, **look)
    return study.table(name, columns, rows=rows, of=of, runs=runs, **look)


def _contents(study: Study, entries: Mapping[str, Any], outer: Mapping[str, Any]) -> dict[str, Content]:
    found: dict[str, Content] = {}
    for first in _combinations(outer):
        for title, entry in entries.items():
            own: dict[str, Any] = {"quantity": entry} if isinstance(entry, str) else entry
            for second in _combinations(own.get("over", {})):
                values = {**first, **second}
                words = {key: study.paper.words_of.get(key, {}).get(value, value) for key, value in values.items()}
                found[title.format(**words)] = _content(own, values, study.runs)
    return found


def _content(own: Mapping[str, Any], values: Mapping[str, Value], runs: Runs) -> Content:
    of = {**own.get("of", {}), **values}
    if own["quantity"] == "seeds":
        return Count(of)
    several = [_numbers(own, of, str(name), runs) for name in values_of(own["quantity"])]
    if "fit" in own:
        return Fit(own["fit"], several, own.get("paper", {}))
    if own.get("printed"):
        return Printed(several[0], own.get("paper", {}))
    return P(several[0]) if own.get("p") else several[0]


def _numbers(own: Mapping[str, Any], of: Mapping[str, Any], name: str, runs: Runs) -> Numbers:
    numbers = runs.of(name, **of).mean_over(*own.get("mean_over", ()))
    if "than" in own:
        kind = Kind.RATIO if own.get("ratio") else Kind.PERCENT if own.get("relative") else Kind.DIFFERENCE
        numbers = replace(numbers.less(**own["than"]), kind=kind)
    return numbers


def _combinations(over: Mapping[str, Sequence[Value]]) -> list[dict[str, Value]]:
    return [dict(zip(over, values, strict=True)) for values in itertools.product(*over.values())]


def _filled(study: Study, text: str, words: Mapping[str, str]) -> str:
    effort = {
        name: ", ".join(map(str, value)) if isinstance(value, list) else value
        for name, value in study.effort.to_json().items()
    }
    return text.format(**effort, **words)


class _Maker:
    """Makes the blocks that ``page.toml`` names."""

    def __init__(
        self, study: Study, data: Mapping[str, Any], tables: Frames, shown: Frames, figures: Any,  # noqa: ANN401
        words: Any, sources: Any  # noqa: ANN401
    ) -> None:  # fmt: skip
        self.study, self.data, self.tables, self.own_shown = study, data, tables, shown
        self.figures, self.words, self.sources = figures, words, sources
        self.made: dict[str, Table] = {}

    def blocks(self, entries: Sequence[str]) -> list[Block]:
        found = []
        for entry in entries:
            kind, _, name = entry.partition(":")
            block = getattr(self, kind)(name)
            found += [] if block is None else [block]
        return found

    def rest(self) -> list[Block]:
        """Return the tables that are files alone."""
        stated = self.data.get("table", {})
        names = [*(name for name, one in stated.items() if one.get("columns")), *self.tables]
        others = [self.table(name) for name in dict.fromkeys(names) if name not in self.made]
        return [replace(one, kept_only=True) for one in others if one is not None]

    def text(self, name: str) -> Text:
        stated = self.data.get("text", {}).get(name, f"{{{name}}}")
        own: dict[str, Any] = {"says": stated} if isinstance(stated, str) else stated
        return Text(**{**own, "says": _filled(self.study, own["says"], self.words)})

    def table(self, name: str) -> Table | None:
        study, stated = self.study, dict(self.data.get("table", {}).get(name, {}))
        if name == VERDICTS:
            found: Table | None = study.reading_verdicts()
        elif name in self.tables or name in self.own_shown:
            numbers = self.tables.get(name)
            shown = self.own_shown.get(name)
            if numbers is None and shown is None:
                return None
            if shown is None and numbers is not None and stated.get("columns"):
                shown = for_files.for_reading(numbers, _contents(study, stated["columns"], stated.get("over", {})))
            found = Table(name, numbers, shown)
        else:
            source = stated.get("source", "")
            found = made(study, name, runs=self.sources[source] if source else None)
        if found is None:
            return None
        look = {key: stated[key] for key in ("heading", "listed", "digits") if key in stated}
        found = replace(found, caption=_filled(study, stated.get("caption", ""), self.words), **look)
        self.made[name] = found
        return found

    def figure(self, name: str) -> Block:
        study, stated = self.study, dict(self.data.get("figure", {}).get(name, {}))
        caption = _filled(study, stated.pop("caption", ""), self.words)
        command = _filled(study, stated.pop("command", ""), self.words)
        own, title, network = self.figures.get(name), stated.pop("title", ""), stated.pop("network", None)
        if isinstance(own, FlowChart):
            return Figure(own, caption=caption)
        if network is not None:
            return study.network(name, title, caption=caption, **network)
        if own is not None:
            look = {key: value for key, value in {**stated, "key": name, "title": title}.items() if value}
            return study.figure(own, caption=caption, command=command, **look)
        lines = {}
        for line, entry in stated.pop("lines").items():
            options = {} if isinstance(entry, str) else {k: entry[k] for k in entry if k in Line.__dataclass_fields__}
            for key, content in _contents(study, {line: entry}, {}).items():
                lines[key] = Line(content, **options)  # type: ignore[arg-type]
        source, of = stated.pop("source", ""), stated.pop("of", {})
        if "samples" in stated:
            seed = stated.pop("seeds", 1)
            return study.over_time(name, title, lines, of=of, seed=seed, caption=caption, command=command, **stated)
        runs = self.sources[source] if source else None
        return study.chart(name, title, lines, of=of, runs=runs, caption=caption, command=command, **stated)
