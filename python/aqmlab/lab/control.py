"""Quantities that the page can change: one slider, list or switch for each."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from aqmlab.lab.request_error import UNUSABLE, RequestError

Setting = float | str | bool


@dataclass(frozen=True)
class Control:
    """A quantity of the scenario that can be changed.

    Attributes
    ----------
    key
        Its key on the page.
    label, group, doc
        Its name, the part of the page it stands in, and what it is.
    kind
        A number on a slider, one of several words, or on and off.
    value
        Its value in the scenario.
    targets
        Dotted keys of the scenario that it sets.
    low, high
        Ends of the slider; `least` and `most` are the ends of what can be typed in.
    log
        Whether the slider is logarithmic.
    step
        Least step of the value, 0 for any.
    unit
        The text that the page shows behind the number.
    suffix, slope, offset
        The scenario gets ``offset + slope * value`` with this behind it.
    choices
        The words.
    below
        Key of the number that has to stay above this one, or "".
    """

    key: str
    label: str
    group: str
    kind: Literal["number", "choice", "switch"]
    value: Setting
    targets: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 1.0
    least: float = 0.0
    most: float = 1e9
    log: bool = False
    step: float = 0.0
    unit: str = ""
    suffix: str = ""
    slope: float = 1.0
    offset: float = 0.0
    choices: tuple[str, ...] = ()
    below: str = ""
    doc: str = ""

    def checked(self, value: object) -> Setting:
        """Return a value that came from the page if it can be one of this control.

        >>> flows = Control("n", "Flows", "", "number", 10, least=1, most=500, step=1)
        >>> flows.checked(20)
        20.0
        >>> flows.checked(1e6)
        Traceback (most recent call last):
        ...
        aqmlab.lab.request_error.RequestError: 422 n: is out of range (allowed: 1 to 500)
        """
        if self.kind == "switch":
            if isinstance(value, bool):
                return value
            raise RequestError(UNUSABLE, f"{self.key}: is not true or false")
        if self.kind == "choice":
            if isinstance(value, str) and value in self.choices:
                return value
            raise RequestError(UNUSABLE, f"{self.key}: is none of {', '.join(self.choices)}")
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise RequestError(UNUSABLE, f"{self.key}: is not a number")
        if not self.least <= value <= self.most:
            allowed = f"{self.least:g} to {self.most:g}"
            raise RequestError(UNUSABLE, f"{self.key}: is out of range (allowed: {allowed})")
        if self.step == 1 and value != int(value):
            raise RequestError(UNUSABLE, f"{self.key}: {float(value):g} is not a whole number")
        return float(value)

    def overrides(self, value: Setting) -> Iterator[tuple[str, str]]:
        """Say the value as overrides of the scenario; nothing if it has this value anyway.

        >>> list(Control("r", "Rate", "", "number", 10.0, ("dumbbell.bottleneck.rate",), suffix="Mbps").overrides(20))
        [('dumbbell.bottleneck.rate', '20Mbps')]
        """
        if value == self.value:
            return
        for target in self.targets:
            yield target, self._text(value)

    def _text(self, value: Setting) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return value
        return f"{self.offset + self.slope * value:.10g}{self.suffix}"

    def data(self) -> dict[str, Any]:
        """Return the data that the page needs to show it."""
        shown = ("key", "label", "group", "kind", "value", "unit", "doc", "below", "log", "step", "choices")
        ends = ("low", "high", "least", "most") if self.kind == "number" else ()
        return {name: getattr(self, name) for name in (*shown, *ends)}


def rounded(value: float, digits: int = 4) -> float:
    """Round to significant digits.

    >>> rounded(0.00079968, 3), rounded(49.9999999)
    (0.0008, 50.0)
    """
    return 0.0 if value == 0 else round(value, digits - 1 - math.floor(math.log10(abs(value))))
