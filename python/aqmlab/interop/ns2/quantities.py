"""Quantities of ns-2."""

from __future__ import annotations

import re

UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def seconds(text: str) -> float:
    """Read a time in s; a number by itself is one.

    >>> seconds("10ms"), seconds("0.2"), seconds("5e-3s")
    (0.01, 0.2, 0.005)
    """
    found = re.fullmatch(r"\s*([-+0-9.eE]+?)\s*(s|ms|us|ns|)\s*", text)
    if not found:
        raise ValueError(f'"{text}" is no time')
    return float(found[1]) * UNITS[found[2]]
