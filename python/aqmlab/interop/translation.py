"""Tables that translate our parameters into the words of another program, and back.

Each program has one table per queue discipline, which export, import, cross-check and tuner share:

| column | where |
|---|---|
| our key, their word | `Row.key`, `Row.word` |
| write, read | `Row.format`: `Format.write`, `Format.read` |
| rounding | `Format.absolute`, `Format.relative`: the largest error of a value that is written and read |
| fixed value | `Fixed`: a parameter for which the program has one value |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.formatting import flag, number


@dataclass(frozen=True)
class Format:
    """How a value is written and read.

    Attributes
    ----------
    write
        Our value to text.
    read
        Text to our value; None if the text does not determine it. A `ValueError` describes an error in the text.
    absolute, relative
        Largest error of a number that is written and read: ``absolute + relative * abs(value)``.
    """

    write: Callable[[Any], str]
    read: Callable[[str], Any]
    absolute: float = 0.0
    relative: float = 0.0

    def keeps(self, value: Any, found: Any) -> bool:  # noqa: ANN401 - values of any parameter
        """Return whether `found` is the written `value` up to the rounding."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return bool(value == found)
        return abs(float(found) - value) <= self.absolute + self.relative * abs(value)


@dataclass(frozen=True)
class Row:
    """A parameter that a program has.

    Attributes
    ----------
    key, word
        Our name and theirs. Two rows of a key write one parameter into two words.
    format
        How its value is written and read.
    """

    key: str
    word: str
    format: Format


@dataclass(frozen=True)
class Fixed:
    """A parameter for which a program has one value.

    Attributes
    ----------
    key
        Our name.
    value
        The value that the program always has; None if none of ours is the same.
    meaning
        The program's behaviour, as the end of the sentence "ns-3 ...".
    difference
        Name of the difference where ours has another value; default: ``parameter KEY``.
    others
        Further values of ours that mean the same.
    """

    key: str
    value: object
    meaning: str
    difference: str = ""
    others: tuple[object, ...] = ()


@dataclass(frozen=True)
class Table:
    """A queue discipline of a program.

    Attributes
    ----------
    kind
        Its name there.
    rows, fixed
        Our parameters.
    always
        Words with the same value in every text.
    notes
        Names of further differences, and the program's behaviour.
    usual
        Values of parameters whose word is left out.
    """

    kind: str
    rows: tuple[Row, ...]
    fixed: tuple[Fixed, ...] = ()
    always: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    usual: Mapping[str, Any] = field(default_factory=dict)

    def write(self, own: Mapping[str, Any]) -> dict[str, str]:
        """Return words and values of our parameters; a parameter that is None has no word."""
        rows = (row for row in self.rows if own.get(row.key) is not None)
        return {**self.always, **{row.word: row.format.write(own[row.key]) for row in rows}}

    def read(self, words: Mapping[str, str]) -> dict[str, Any]:
        """Return our parameters of words and values; words of other tables are ignored.

        >>> Table("red", (Row("max_p", "linterm_", INVERSE),)).read({"linterm_": "20", "wait_": "true"})
        {'max_p': 0.05}
        """
        found: dict[str, Any] = {}
        for row in self.rows:
            if row.word in words and (value := row.format.read(words[row.word])) is not None:
                found[row.key] = value
        return found

    def matches(self, words: Mapping[str, str]) -> bool:
        """Return whether words have all truth values that this table always has."""
        return all(is_true(words.get(word, "")) == is_true(value) for word, value in self.always.items())

    def departures(self, own: Mapping[str, Any]) -> Iterator[tuple[Fixed, Any]]:
        """Yield the parameters whose value is not the one that the program always has, with our value."""
        for fixed in self.fixed:
            value = own.get(fixed.key)
            if value is not None and value != fixed.value and value not in fixed.others:
                yield fixed, value

    def differences(self, own: Mapping[str, Any], name: str, program: str) -> Iterator[Semantic]:
        """Yield the parameters that a program lacks or fixes, and its further differences.

        `name` is the queue's, `program` the one of a sentence.
        """
        for fixed, value in self.departures(own):
            text = f"{name}: the scenario has {fixed.key} = {shown(value)}, {program} {fixed.meaning}."
            yield Semantic(fixed.difference or f"parameter {fixed.key}", text, Kind.DIFFERS)
        known = {row.key for row in self.rows} | {fixed.key for fixed in self.fixed}
        for key, value in own.items():
            if key not in known and value is not None:
                text = f"{name}: the scenario has {key} = {shown(value)}, {program} cannot express it."
                yield Semantic(f"parameter {key}", text, Kind.DIFFERS)
        for what, meaning in self.notes.items():
            yield Semantic(what, f"{name}: {program} {meaning}", Kind.DIFFERS)

    def rules(self, own: Mapping[str, Any], program: str) -> dict[str, list[str]]:
        """Return the clauses about fixed parameters by the name of their difference."""
        found: dict[str, list[str]] = {}
        for fixed, value in self.departures(own):
            clause = f"{fixed.key} = {quoted(value)}, {program} {fixed.meaning} ({quoted(fixed.value)})"
            found.setdefault(fixed.difference, []).append(clause)
        return found


def shown(value: object) -> str:
    """Write a value for a sentence.

    >>> shown(True), shown(0.5), shown("tail")
    ('true', '0.5', 'tail')
    """
    return flag(value) if isinstance(value, bool) else number(value) if isinstance(value, int | float) else str(value)


def quoted(value: object) -> str:
    """Write a value as in a scenario file.

    >>> quoted(False), quoted("tail"), quoted(0.1)
    ('false', '"tail"', '0.1')
    """
    return flag(value) if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)


def is_true(text: str) -> bool:
    """Read a truth value of Tcl or ns-3.

    >>> is_true("true"), is_true("0"), is_true("on"), is_true("1"), is_true("1.0")
    (True, False, True, True, True)
    """
    try:
        return float(text) != 0
    except ValueError:
        return text.strip().lower() in ("true", "yes", "on")


def one_of(yes: str, no: str | None = None) -> Format:
    """Return the format of a word that is true for one of our values; false is read as `no`.

    >>> one_of("gentle", "linear").write("mred"), one_of("gentle", "linear").read("false")
    ('false', 'linear')
    """
    return Format(lambda value: flag(value == yes), lambda text: yes if is_true(text) else no)


def whole(value: float | str) -> str:
    """Write a whole number, perhaps of a size in bytes.

    >>> whole(2.6), whole("1500B")
    ('3', '1500')
    """
    return str(round(float(value.removesuffix("B") if isinstance(value, str) else value)))


def inverse(value: float) -> str:
    """Write 1/value.

    >>> inverse(0.05)
    '20'
    """
    return number(1 / max(float(value), 1e-300))


FLAG = Format(flag, is_true)
NUMBER = Format(number, float)
WHOLE = Format(whole, float, absolute=0.5)
AT_LEAST_ONE = Format(lambda value: str(max(1, round(float(value)))), float, absolute=0.5)
INVERSE = Format(inverse, lambda text: 1 / float(text), relative=1e-15)
