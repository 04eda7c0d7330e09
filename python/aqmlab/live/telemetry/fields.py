"""Reading JSON objects with one clear line for whatever is missing or of another kind."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from aqmlab.errors import Error

T = TypeVar("T")


class SnapshotError(Error):
    """A line of statistics that does not say what it has to."""


@dataclass(frozen=True, slots=True)
class Fields:
    """A JSON object at a place; unknown keys are ignored.

    >>> Fields({"t": 1.5}, "snapshot").number("t")
    1.5
    >>> Fields({}, "snapshot.backlog").count("packets")
    Traceback (most recent call last):
    aqmlab.live.telemetry.fields.SnapshotError: snapshot.backlog.packets: is missing (allowed: a whole number from 0)
    """

    data: Mapping[str, Any]
    place: str

    def number(self, key: str) -> float:
        """Return a number."""
        value = self._get(key, "a number")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._other(key, value, "a number")
        return float(value)

    def number_or_none(self, key: str) -> float | None:
        """Return a number, or None where the object says null or nothing."""
        return None if self.data.get(key) is None else self.number(key)

    def count(self, key: str) -> int:
        """Return a count."""
        allowed = "a whole number from 0"
        value = self._get(key, allowed)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise self._other(key, value, allowed)
        return value

    def text(self, key: str) -> str:
        """Return a text."""
        value = self._get(key, "a text")
        if not isinstance(value, str):
            raise self._other(key, value, "a text")
        return value

    def part(self, key: str) -> Fields:
        """Return an object within this one."""
        value = self._get(key, "an object")
        if not isinstance(value, dict):
            raise self._other(key, value, "an object")
        return Fields(value, f"{self.place}.{key}")

    def parts(self, key: str, *, required: bool = True) -> list[Fields]:
        """Return a list of objects."""
        if not required and self.data.get(key) is None:
            return []
        values = self._get(key, "a list of objects")
        if not isinstance(values, list):
            raise self._other(key, values, "a list of objects")
        places = [f"{self.place}.{key}[{index}]" for index in range(len(values))]
        for place, value in zip(places, values, strict=True):
            if not isinstance(value, dict):
                raise SnapshotError(f"{place}: {value!r} is not allowed (allowed: an object)")
        return [Fields(value, place) for place, value in zip(places, values, strict=True)]

    def numbers(self, key: str) -> dict[str, float]:
        """Return an object of numbers; nulls are left out."""
        part = self.part(key)
        return {name: part.number(name) for name, value in part.data.items() if value is not None}

    def counts(self, key: str) -> dict[str, int]:
        """Return an object of counts."""
        part = self.part(key)
        return {name: part.count(name) for name in part.data}

    def made(self, kind: type[T], **given: object) -> T:
        """Make a dataclass out of the keys that its fields are named after; each is read as its annotation says."""
        keys = (one for one in dataclasses.fields(kind) if one.name not in given)  # type: ignore[arg-type]
        return kind(**{one.name: READERS[str(one.type)](self, one.name) for one in keys}, **given)

    def _get(self, key: str, allowed: str) -> Any:  # noqa: ANN401 - any JSON
        if key not in self.data:
            raise SnapshotError(f"{self.place}.{key}: is missing (allowed: {allowed})")
        return self.data[key]

    def _other(self, key: str, value: object, allowed: str) -> SnapshotError:
        return SnapshotError(f"{self.place}.{key}: {value!r} is not allowed (allowed: {allowed})")


READERS: dict[str, Callable[[Fields, str], object]] = {
    "str": Fields.text,
    "int": Fields.count,
    "float": Fields.number,
    "float | None": Fields.number_or_none,
    "Mapping[str, int]": Fields.counts,
    "Mapping[str, float]": Fields.numbers,
}
"""How a field is read, by its annotation."""
