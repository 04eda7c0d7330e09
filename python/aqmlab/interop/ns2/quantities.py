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
        raise ValueError(f'"{text}" is not a time')
    return float(found[1]) * UNITS[found[2]]


def bits(text: str) -> float:
    """Read a rate in bit/s: b are bits, B bytes.

    >>> bits("1.5Mb"), bits("64KB"), bits("448e3")
    (1500000.0, 512000.0, 448000.0)
    """
    found = re.fullmatch(r"\s*([-+0-9.]+(?:[eE][-+]?\d+)?)\s*([kKmMgG]?)(bps|b|B|bit|)(?:/s)?\s*", text)
    if not found:
        raise ValueError(f'"{text}" is not a rate')
    factor = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}[found[2].lower()]
    return float(found[1]) * factor * (8 if found[3] == "B" else 1)
