"""The domain of a model: every parameter is checked once, and what is outside gets one clear line."""

from __future__ import annotations

import math
from typing import NoReturn

from aqmlab.errors import InputError


class DomainError(InputError):
    """A parameter lies outside the domain of a model."""


def refuse(name: str, value: object, allowed: str) -> NoReturn:
    """Refuse a value.

    >>> refuse("load", -1, "a finite number above 0")
    Traceback (most recent call last):
    ...
    aqmlab.theory.domain.DomainError: load: -1 is not possible (allowed: a finite number above 0)
    """
    raise DomainError(f"{name}: {value:g} is not possible (allowed: {allowed})" if isinstance(value, float) else
                      f"{name}: {value} is not possible (allowed: {allowed})")  # fmt: skip


def positive(name: str, value: float, unit: str = "") -> float:
    """Return a finite number above 0.

    >>> positive("load", 1)
    1.0
    """
    if not (math.isfinite(value) and value > 0):
        refuse(name, value, f"a finite number above 0{unit and ' '}{unit}")
    return float(value)


def not_negative(name: str, value: float, unit: str = "") -> float:
    """Return a finite number of 0 or more."""
    if not (math.isfinite(value) and value >= 0):
        refuse(name, value, f"a finite number, 0 or more{unit and ' '}{unit}")
    return float(value)


def weight(name: str, value: float) -> float:
    """Return the weight of an average, above 0 and at most 1."""
    if not 0 < value <= 1:
        refuse(name, value, "above 0, at most 1")
    return float(value)


def whole(name: str, value: float, *, least: int, unit: str = "") -> int:
    """Return a whole number, at least so large.

    >>> whole("K", 0, least=1, unit="packets")
    Traceback (most recent call last):
    ...
    aqmlab.theory.domain.DomainError: K: 0 is not possible (allowed: a whole number of packets, 1 or more)
    """
    if not (math.isfinite(value) and value == int(value) and value >= least):
        refuse(name, value, f"a whole number{unit and ' of '}{unit}, {least} or more")
    return int(value)
