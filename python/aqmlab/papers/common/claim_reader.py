"""Read and check ``claims.toml``; `claim_file` describes the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from aqmlab.errors import InputError
from aqmlab.papers.common.checks import known, listed, one_of, required
from aqmlab.papers.common.claim_file import (
    ANY,
    COMPARISONS,
    CORRECTIONS,
    FINDING,
    FORMS,
    SEED,
    STATISTICS,
    STEPS,
    Claim,
    ClaimFile,
    Column,
    FindingText,
    Mechanism,
    Note,
    Number,
    Objection,
    Other,
    Quantity,
    Range,
    Test,
    Value,
    Where,
)

_COLUMN_KEYS = ("title", "values")
_QUANTITY_KEYS = ("title", "unit", "column", "formula", "printed")
_TEST_KEYS = (
    "form", "quantity", "of", "compare", "than", "factor", "margin", "within", "along", "steps", "each", "mean_over",
    "at", "except", "against", "statistic", "mechanism", "name", "why",
)  # fmt: skip
_CLAIM_KEYS = ("id", "title", "says", "own", "correction", "test", "note", "objection")
_INHERITED = tuple(key for key in _TEST_KEYS if key != "form")
_FINDING_KEYS = ("idea", "says", "shows", "number", "test")
_NUMBER_KEYS = ("quantity", "of", "than", "relative", "each", "mean_over", "at", "except")
_OBJECTION_KEYS = ("says", "answer", "unanswered", "fails", "against", "under", "number")
_NOTE_KEYS = ("says", "fails", "against", "under", "number")
_SAID = ("holds", "fails", "undecided")


def read_claims(data: Mapping[str, Any], *, file: str) -> ClaimFile:
    """Check the data of a ``claims.toml`` and return it.

    Raises
    ------
    InputError
        One line with the file, the claim's id, the key and the allowed values.
    """
    known(data, ("column", "quantity", "claim", FINDING), file, "key")
    columns = {}
    for name, entry in data.get("column", {}).items():
        known(entry, _COLUMN_KEYS, f"{file}: column {name}", "key")
        values = entry.get("values")
        words = values if values is None or isinstance(values, Mapping) else {value: str(value) for value in values}
        columns[name] = Column(entry.get("title", ""), words)
    quantities = {
        name: _quantity(name, entry, f"{file}: quantity {name}") for name, entry in data.get("quantity", {}).items()
    }
    reader = _Reader(columns, quantities)
    claims = tuple(reader.claim(entry, file) for entry in data.get("claim", ()))
    finding = reader.finding(data[FINDING], f"{file}: {FINDING}") if FINDING in data else None
    return ClaimFile(columns, quantities, claims, finding)


def _quantity(name: str, entry: Mapping[str, Any], place: str) -> Quantity:
    known(entry, _QUANTITY_KEYS, place, "key")
    printed = entry.get("printed", "")
    if isinstance(printed, str):
        printed = {"quantity": printed} if printed else {}
    if entry.get("formula") and entry.get("column"):
        raise InputError(f"{place}: either column or formula, not both")
    return Quantity(
        entry.get("title", name),
        entry.get("unit", ""),
        entry.get("column", "" if entry.get("formula") else name),
        entry.get("formula", ""),
        printed,
    )


@dataclass(frozen=True)
class _Reader:
    """Reads claims, given the columns and quantities that their file declares."""

    columns: Mapping[str, Column]
    quantities: Mapping[str, Quantity]

    def claim(self, entry: Mapping[str, Any], file: str) -> Claim:
        place = f"{file}: claim {entry.get('id', '?')}"
        known(entry, (*_CLAIM_KEYS, *_INHERITED), place, "key")
        required(entry, ("id", "title", "says", "test"), place)
        common = {key: value for key, value in entry.items() if key in _INHERITED}
        tests = tuple(
            self.test({**common, **test}, f"{place}: test {number}") for number, test in enumerate(entry["test"], 1)
        )
        for form in FORMS:
            if all(test.form != form for test in tests):
                raise InputError(f'{place}: no test with form = "{form}"; each claim needs one of each form')
        correction = entry.get("correction", CORRECTIONS[0])
        one_of(correction, CORRECTIONS, place, "correction")
        notes = [self.note(one, f"{place}: note {n}") for n, one in enumerate(entry.get("note", ()), 1)]
        notes += [self.objection(one, f"{place}: objection {n}") for n, one in enumerate(entry.get("objection", ()), 1)]
        own = entry.get("own", False)
        return Claim(entry["id"], entry["title"], entry["says"], tests, own, correction, tuple(notes))

    def test(self, entry: Mapping[str, Any], place: str) -> Test:
        known(entry, _TEST_KEYS, place, "key")
        required(entry, ("form", "quantity", "of", "compare"), place)
        for key, allowed in (
            ("form", FORMS), ("compare", COMPARISONS), ("statistic", STATISTICS), ("steps", STEPS),
        ):  # fmt: skip
            if key in entry:
                one_of(entry[key], allowed, place, key)
        quantities = tuple(listed(entry["quantity"]))
        for name in quantities:
            one_of(name, tuple(self.quantities), place, "quantity")
        for key in ("each", "mean_over", "along"):
            for name in listed(entry.get(key, ())):
                columns = (*self.columns, SEED) if key == "each" else tuple(self.columns)
                one_of(name, columns, place, f"{key}: column")
        test = Test(
            form=entry["form"],
            quantities=quantities,
            of=self.where(entry["of"], f"{place}: of"),
            compare=entry["compare"],
            than=self.other(entry.get("than"), f"{place}: than"),
            factor=tuple(float(value) for value in listed(entry.get("factor", ()))),
            margin=float(entry.get("margin", 0.0)),
            within=float(entry.get("within", 0.0)),
            along=entry.get("along", ""),
            steps=entry.get("steps", STEPS[0]),
            each=tuple(listed(entry.get("each", ()))),
            mean_over=tuple(listed(entry.get("mean_over", ()))),
            at=self.where(entry.get("at", {}), f"{place}: at"),
            without=self.where(entry.get("except", {}), f"{place}: except"),
            baselines=self.baselines(entry.get("against", ""), f"{place}: against"),
            statistic=entry.get("statistic", STATISTICS[0]),
            mechanism=self.mechanism(entry.get("mechanism"), f"{place}: mechanism"),
            name=entry.get("name", ""),
            why=entry.get("why", ""),
        )
        _consistent(test, place)
        return test

    def finding(self, entry: Mapping[str, Any], place: str) -> FindingText:
        known(entry, _FINDING_KEYS, place, "key")
        required(entry, ("idea", "says", "shows", "number", "test"), place)
        known(entry["says"], _SAID, f"{place}: says", "verdict")
        required(entry["says"], _SAID, f"{place}: says")
        numbers = self.numbers(entry["number"], entry["shows"], f"{place}: shows", _NUMBER_KEYS)
        tests = tuple(
            self.test({"form": FORMS[0], **test}, f"{place}: test {index}")
            for index, test in enumerate(entry["test"], 1)
        )
        return FindingText(entry["idea"], entry["says"], entry["shows"], numbers, tests)

    def note(self, entry: Mapping[str, Any], place: str) -> Note:
        known(entry, _NOTE_KEYS, place, "key")
        required(entry, ("says",), place)
        return Note(entry["says"], **self.conditions(entry, entry["says"], f"{place}: says", fails=""))

    def objection(self, entry: Mapping[str, Any], place: str) -> Objection:
        known(entry, _OBJECTION_KEYS, place, "key")
        required(entry, ("says",), place)
        if ("answer" in entry) == ("unanswered" in entry):
            raise InputError(f"{place}: either answer or unanswered")
        answer = entry.get("answer", "")
        conditions = self.conditions(entry, answer, f"{place}: answer", fails=ANY)
        return Objection(entry["says"], **conditions, answer=answer, unanswered=entry.get("unanswered", ""))

    def conditions(self, entry: Mapping[str, Any], text: str, place: str, *, fails: str) -> dict[str, Any]:
        """Read when a note is shown, and the numbers in its text."""
        if "fails" in entry:
            one_of(entry["fails"], (ANY, *FORMS), place.rpartition(": ")[0], "fails")
        keys = (*_NUMBER_KEYS, "reading", "against")
        return {
            "fails": entry.get("fails", fails),
            "against": tuple(listed(entry.get("against", ()))),
            "under": tuple(listed(entry.get("under", ()))),
            "numbers": self.numbers(entry.get("number", {}), text, place, keys, words=FORMS),
        }

    def numbers(
        self,
        entries: Mapping[str, Mapping[str, Any]],
        text: str,
        place: str,
        keys: Sequence[str],
        *,
        words: Sequence[str] = (),
    ) -> dict[str, Number]:
        """Read the numbers of a text, which may use no others; `words` are further ones in it."""
        found = {}
        for name, entry in entries.items():
            at = f"{place.rpartition(': ')[0]}: number {name}"
            known(entry, keys, at, "key")
            own = {key: value for key, value in entry.items() if key in _TEST_KEYS and key != "against"}
            test = self.test({"form": FORMS[0], "compare": "above", "than": 0, **own}, at)
            found[name] = Number(
                test, entry.get("relative", False), entry.get("reading", ""), entry.get("against", False)
            )
        for _, used, _, _ in Formatter().parse(text):
            if used is not None:
                one_of(used.partition(".")[0], (*found, *words), place, "number")
        return found

    def where(self, entry: Mapping[str, Any], place: str) -> Where:
        found: dict[str, tuple[Value, ...] | Range] = {}
        for name, value in entry.items():
            one_of(name, tuple(self.columns), place, "column")
            if isinstance(value, Mapping):
                known(value, ("from", "to"), f"{place}: {name}", "key")
                found[name] = Range(value.get("from", float("-inf")), value.get("to", float("inf")))
                continue
            values = tuple(listed(value))
            declared = self.columns[name].values
            for one in values if declared is not None else ():
                one_of(one, tuple(declared or ()), place, name)
            found[name] = values
        return found

    def other(self, entry: Any, place: str) -> float | tuple[float, ...] | Other | None:  # noqa: ANN401 - TOML
        if isinstance(entry, Mapping):
            quantity = entry.get("quantity", "")
            if quantity:
                one_of(quantity, tuple(self.quantities), place, "quantity")
            return Other(self.where({k: v for k, v in entry.items() if k != "quantity"}, place), quantity)
        if isinstance(entry, list):
            return tuple(float(value) for value in entry)
        return None if entry is None else float(entry)

    def baselines(self, entry: Any, place: str) -> tuple[tuple[str, Where], ...]:  # noqa: ANN401 - TOML
        if isinstance(entry, str):
            return ((entry, {}),)
        if len(entry) != 1:
            raise InputError(f"{place}: one column with its values, or text")
        ((name, values),) = entry.items()
        self.where(entry, place)
        return tuple((str(value), {name: (value,)}) for value in listed(values))

    def mechanism(self, entry: Mapping[str, Any] | None, place: str) -> Mechanism | None:
        if entry is None:
            return None
        known(entry, ("quantity", "above", "below", "of", "total"), place, "key")
        required(entry, ("quantity",), place)
        one_of(entry["quantity"], tuple(self.quantities), place, "quantity")
        if ("above" in entry) == ("below" in entry):
            raise InputError(f"{place}: either above or below")
        of = self.where(entry["of"], f"{place}: of") if "of" in entry else None
        return Mechanism(entry["quantity"], entry.get("above"), entry.get("below"), of, entry.get("total", False))


def _consistent(test: Test, place: str) -> None:
    """Check keys that depend on each other."""
    against_runs = isinstance(test.than, Other) or any(where for _, where in test.baselines)
    needed = {
        "grows": test.along != "",
        "falls": test.along != "",
        "equal": test.within > 0 and test.than is not None,
        "between": len(test.factor) == 2 if against_runs else isinstance(test.than, tuple) and len(test.than) == 2,
        "above": against_runs or isinstance(test.than, float),
        "below": against_runs or isinstance(test.than, float),
    }
    words = {
        "grows": "along",
        "falls": "along",
        "equal": "than and within",
        "between": "than with two numbers, or than with runs and factor with two numbers",
        "above": "than",
        "below": "than",
    }
    if not needed[test.compare]:
        raise InputError(f'{place}: compare = "{test.compare}" needs {words[test.compare]}')
    if SEED in test.each and test.statistic != "exact":
        raise InputError(f'{place}: each = "seed" needs statistic = "exact"')
    if test.within and test.compare != "equal":
        raise InputError(f'{place}: within belongs to compare = "equal"')
    if test.margin and test.compare not in ("above", "below"):
        raise InputError(f'{place}: margin belongs to compare = "above" or "below"')
