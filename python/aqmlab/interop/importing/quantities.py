"""Quantities in a scenario's words, so that they are read back as they are."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from aqmlab.scenario.toml_text import Value

PACKETS = ("limit", "min_th", "max_th")
BYTES = ("mean_packet", "max_packet", "quantum", "memlimit", "memory_limit")
TIMES = (
    *("target", "interval", "t_update", "max_burst", "adapt_interval", "rehash", "warmup", "perturb"),
    *("l4s_min_th", "l4s_range", "rtt", "ce_threshold"),
)
COUNTS = (
    *("queues", "drop_batch", "buckets", "levels", "bins", "bin_size", "max_bin", "penalty_burst", "l4s_min_packets"),
    *("overhead", "mpu"),
)


def as_label(name: str) -> str:
    """Return a name of another program as one that a scenario may have.

    >>> as_label("class voice.1")
    'class-voice-1'
    """
    return re.sub(r"[^A-Za-z0-9_-]", "-", name)


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


def in_words(key: str, value: Any) -> Value:  # noqa: ANN401 - an effective parameter, as the core has them
    """Write an effective parameter of a queue as in a scenario file.

    >>> in_words("min_th", 5.0), in_words("limit", "64000B"), in_words("adapt_interval", 0.5), in_words("w_q", 0.002)
    ('5p', '64000B', '500ms', 0.002)
    """
    if isinstance(value, str | bool):
        return value
    if key == "rate":
        return rate(value)
    if key in PACKETS:
        return packets(value)
    if key in BYTES:
        return size(value)
    return time(value) if key in TIMES else int(value) if key in COUNTS else float(value)


def plain(value: float) -> str:
    """Write a number without an exponent, with at most 12 digits.

    >>> plain(10.0), plain(0.1 + 0.2), plain(1e-7)
    ('10', '0.3', '0.0000001')
    """
    text = format(Decimal(f"{value:.12g}"), "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
