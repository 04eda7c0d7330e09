"""Claims of papers that are not functions yet, from ``claims.toml``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.papers.common.claim_functions import Claim, Claims, Finding, Note
from aqmlab.papers.common.expressions import Mechanism, Numbers, Runs, Test
from aqmlab.papers.common.quantities import Kind
from aqmlab.papers.common.vocabulary import Column, Quantity, Range, Where


@dataclass(frozen=True)
class _Words:
    text: str
    at: str
    printed: str

    def __str__(self) -> str:
        return self.text


def read_claims(data: Mapping[str, Any]) -> Claims:
    """Return the claims of a ``claims.toml``."""
    columns = {name: Column(one.get("title", ""), one.get("values")) for name, one in data["column"].items()}
    quantities = {
        name: Quantity(
            one.get("title", name),
            one.get("unit", ""),
            one.get("column", ""),
            one.get("formula", ""),
            one.get("printed", ""),
        )
        for name, one in data["quantity"].items()
    }
    claims = Claims(columns, quantities)
    for entry in data["claim"]:
        common = {key: value for key, value in entry.items() if key not in ("id", "title", "says", "own", "test")}
        tests = [{**common, **test} for test in entry["test"]]
        labels = list(dict.fromkeys(label for test in tests for label in _baselines(test.get("against", ""))))
        against = () if labels == [""] else tuple(labels)
        claim = Claim(
            entry["id"], entry["title"], entry["says"], _tests(tests, against), against, entry.get("own", False)
        )
        baselines = {label: where for test in tests for label, where in _baselines(test.get("against", "")).items()}
        for note in [*entry.get("note", ()), *entry.get("objection", ())]:
            claim.notes.append(_note(note, baselines))
        claims.all.append(claim)
    if "finding" in data:
        found = data["finding"]
        claims.found = Finding(found["idea"], found["says"], _tests(found["test"], ()), _filled(found, "shows", {}))
    return claims


def _note(note: Mapping[str, Any], baselines: Mapping[str, Where]) -> Note[...]:
    objection = "answer" in note
    text = _filled(note, "answer" if objection else "says", baselines)
    against, under = (tuple(_listed(note.get(key, ()))) for key in ("against", "under"))
    fails = note.get("fails", "any" if objection else "")
    return Note(text, note["says"] if objection else "", fails, against, under)


def _filled(note: Mapping[str, Any], key: str, baselines: Mapping[str, Where]) -> Any:  # noqa: ANN401
    def text(runs: Runs, baseline: str = "") -> str:
        words = {}
        for name, entry in note.get("number", {}).items():
            numbers = replace(_numbers(entry, runs), reading=entry.get("reading", ""))
            if entry.get("against"):
                numbers = replace(numbers, than=baselines[baseline])
            if entry.get("relative"):
                numbers = replace(numbers, kind=Kind.PERCENT)
            words[name] = _Words(str(numbers), numbers.cells, numbers.on_paper)
        return str(note[key]).format(**words, literal=runs.literal, strict=runs.strict)

    return text


def _tests(tests: list[dict[str, Any]], against: tuple[str, ...]) -> Any:  # noqa: ANN401
    def function(runs: Runs, baseline: str = "") -> Iterator[Test]:
        for entry in tests:
            baselines = _baselines(entry.get("against", ""))
            for quantity in _listed(entry["quantity"]) if not against or baseline in baselines else ():
                yield _test({**entry, "quantity": quantity}, runs, baselines.get(baseline, {}))

    return function


def _test(entry: Mapping[str, Any], runs: Runs, baseline: Where) -> Test:
    than = entry.get("than")
    numbers = _numbers(entry, runs)
    if baseline:
        numbers = replace(numbers, than={**(numbers.than or {}), **baseline})
    mechanism = entry.get("mechanism")
    return Test(
        numbers,
        entry["compare"],
        bound=() if than is None or isinstance(than, dict) else tuple(float(one) for one in _listed(than)),
        factor=tuple(float(one) for one in _listed(entry.get("factor", ()))),
        margin=entry.get("margin", 0.0),
        within=entry.get("within", 0.0),
        along=entry.get("along", ""),
        steps=entry.get("steps", "each"),
        by_chance=entry.get("statistic") != "exact",
        mechanism=_mechanism(mechanism, runs) if mechanism else None,
        form=entry.get("form", "literal"),
        name=entry.get("name", ""),
        why=entry.get("why", ""),
    )


def _mechanism(entry: Mapping[str, Any], runs: Runs) -> Mechanism:
    numbers = Numbers(quantity=entry["quantity"], of=where(entry.get("of", {})), runs=runs)
    compare = "above" if "above" in entry else "below"
    return Mechanism(Test(numbers, compare, bound=(entry[compare],)), entry.get("total", False))  # type: ignore[arg-type]


def _numbers(entry: Mapping[str, Any], runs: Runs) -> Numbers:
    than = entry.get("than")
    other = dict(than) if isinstance(than, dict) else None
    return Numbers(
        quantity=entry["quantity"],
        of=where(entry.get("of", {})),
        other=str(other.pop("quantity", "")) if other is not None else "",
        than=None if other is None else where(other),
        limits=where(entry.get("at", {})),
        without=where(entry.get("except", {})),
        per=tuple(entry.get("each", ())),
        over=tuple(entry.get("mean_over", ())),
        runs=runs,
    )


def _baselines(entry: Any) -> dict[str, Where]:  # noqa: ANN401
    if isinstance(entry, str):
        return {entry: {}}
    ((name, values),) = entry.items()
    return {str(value): {name: (value,)} for value in _listed(values)}


def where(entry: Mapping[str, Any]) -> Where:
    """Return columns with the values that they may have."""
    return {
        name: Range(value["from"], value["to"]) if isinstance(value, dict) else tuple(_listed(value))
        for name, value in entry.items()
    }


def _listed(entry: Any) -> list[Any]:  # noqa: ANN401
    return list(entry) if isinstance(entry, list | tuple) else [entry]
