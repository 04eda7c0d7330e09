"""Quantities in a scenario's words, so that they are read back as they are."""

from __future__ import annotations

import re

UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def time(value: float) -> str:
    """Write a time in s.

    >>> time(0.01), time(1.5), time(0.0), time(1.25e-05)
    ('10ms', '1.5s', '0s', '12.5us')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if value == 0 or abs(value) * factor >= 1:
            return f"{plain(value * factor)}{unit}"
    return f"{plain(value * 1e9)}ns"


def rate(value: float) -> str:
    """Write a rate in bit/s.

    >>> rate(1e7), rate(1.5e6), rate(300.5)
    ('10Mbps', '1.5Mbps', '300.5bps')
    """
    for unit, factor in (("Gbps", 1e9), ("Mbps", 1e6), ("kbps", 1e3)):
        if value >= factor:
            return f"{plain(value / factor)}{unit}"
    return f"{plain(value)}bps"


def packets(value: float) -> str:
    """Write a number of packets.

    >>> packets(30.0), packets(7.5)
    ('30p', '7.5p')
    """
    return f"{plain(value)}p"


def size(value: float) -> str:
    """Write a number of bytes.

    >>> size(1000)
    '1000B'
    """
    return f"{plain(value)}B"


def seconds(text: str) -> float:
    """Read a time of ns-2 in s; a number by itself is one.

    >>> seconds("10ms"), seconds("0.2"), seconds("5e-3s")
    (0.01, 0.2, 0.005)
    """
    found = re.fullmatch(r"\s*([-+0-9.eE]+?)\s*(s|ms|us|ns|)\s*", text)
    if not found:
        raise ValueError(f'"{text}" is no time')
    return float(found[1]) * UNITS[found[2]]


def plain(value: float) -> str:
    """Write a number without an exponent, with at most 12 digits.

    >>> plain(10.0), plain(0.1 + 0.2), plain(1e-7)
    ('10', '0.3', '0.0000001')
    """
    text = f"{float(f'{value:.12g}'):.15f}".rstrip("0").rstrip(".")
    return text or "0"
