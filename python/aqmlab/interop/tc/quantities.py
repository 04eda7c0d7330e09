"""Quantities of tc: how its arguments and its output are read and written."""

from __future__ import annotations

import re

DECIMAL = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
NUMBER = r"\+?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,2})?"
BINARY = {"": 1.0, "k": 1024.0, "m": 1024.0**2, "g": 1024.0**3}
SECONDS = {"": 1e-6, "s": 1.0, "sec": 1.0, "secs": 1.0, "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3}
SECONDS |= {"us": 1e-6, "usec": 1e-6, "usecs": 1e-6, "ns": 1e-9, "nsec": 1e-9, "nsecs": 1e-9}


def bits_of(text: str) -> float:
    """Read a rate in bit/s: ``bit`` are bits, ``bps`` bytes.

    >>> bits_of("10mbit"), bits_of("1250kbps"), bits_of("10000000")
    (10000000.0, 10000000.0, 10000000.0)
    """
    found = re.fullmatch(rf"({NUMBER})\s*(?:([kmgt]?)(i?)(bit|bps))?", text.strip().lower())
    if not found:
        raise ValueError(f'"{text}" is not a rate of tc (for example 10mbit)')
    factor = DECIMAL[found[2] or ""] if not found[3] else 1024.0 ** " kmgt".index(found[2])
    return float(found[1]) * factor * (8 if found[4] == "bps" else 1)


def bytes_of(text: str) -> float:
    """Read a size in bytes: tc's k is 1024.

    >>> bytes_of("60k"), bytes_of("400000b"), bytes_of("1mbit")
    (61440.0, 400000.0, 131072.0)
    """
    found = re.fullmatch(rf"({NUMBER})\s*([kmg]?)(b|bit|)", text.strip().lower())
    if not found:
        raise ValueError(f'"{text}" is not a size of tc (for example 30000, 60k)')
    return float(found[1]) * BINARY[found[2]] / (8 if found[3] == "bit" else 1)


def seconds_of(text: str) -> float:
    """Read a time in s; a number by itself is in microseconds.

    >>> seconds_of("20ms"), seconds_of("500")
    (0.02, 0.0005)
    """
    found = re.fullmatch(rf"({NUMBER})\s*([a-z]*)", text.strip().lower())
    if not found or found[2] not in SECONDS:
        raise ValueError(f'"{text}" is not a time of tc (for example 20ms)')
    return float(f"{float(found[1]) * SECONDS[found[2]]:.12g}")


def number_of(text: str) -> float:
    """Read a number, perhaps of packets.

    >>> number_of("200p"), number_of("0.02")
    (200.0, 0.02)
    """
    try:
        return float(text.removesuffix("p"))
    except ValueError:
        raise ValueError(f'"{text}" is not a number for tc (for example 100)') from None


def microseconds(value: float) -> str:
    """Write a time.

    >>> microseconds(0.005)
    '5000us'
    """
    return f"{round(float(value) * 1e6)}us"
