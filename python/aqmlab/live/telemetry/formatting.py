"""Numbers of a snapshot as words for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aqmlab.live.telemetry.snapshot import Direction, Lateness, Plane
from aqmlab.scenario.parts import rate_text

BARS = "▁▂▃▄▅▆▇█"
ASCII_BARS = "_.:-=+*#"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number with so many digits, or "-" for None.

    >>> number(0.01234), number(None), number(1234.5)
    ('0.0123', '-', '1234')
    """
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def rate(bits_per_s: float | None) -> str:
    """Write a rate.

    >>> rate(9.65e6), rate(500e3), rate(None)
    ('9.65 Mb/s', '500 kb/s', '-')
    """
    return "-" if bits_per_s is None else rate_text(bits_per_s, 4)


def milliseconds(seconds: float | None) -> str:
    """Write a time in ms.

    >>> milliseconds(0.01234), milliseconds(None)
    ('12.3 ms', '-')
    """
    return "-" if seconds is None else f"{number(seconds * 1e3)} ms"


def sparkline(values: Sequence[float], bars: str = BARS) -> str:
    """Draw values as bars, the highest as high as possible, 0 as the lowest.

    >>> sparkline([0, 1, 2, 4, 8])
    '▁▁▂▄█'
    >>> sparkline([0, 0])
    '▁▁'
    """
    most = max(values, default=0)
    steps = len(bars) - 1
    return "".join(bars[int(value / most * steps) if most > 0 else 0] for value in values)


def state(direction: Direction) -> list[tuple[str, str]]:
    """Return the state of the queue: its length, the gauges of the discipline, and the mean delay.

    RED shows average, p_b, p_a and count, any other discipline its first four gauges by their own names.
    """
    gauge = direction.gauges.get
    gauges = [
        ("average", "-" if direction.average is None else f"{number(direction.average)} p"),
        ("p_b", number(direction.p_b)),
        ("p_a", number(gauge("p_a"))),
        ("count", number(gauge("count"), 6)),
    ]
    if direction.average is None and direction.gauges:
        # A gauge may have the name of a number that every queue shows.
        own = [(f"{direction.aqm}.{name}", number(value)) for name, value in direction.gauges.items()]
        gauges = own[:4]
    return [
        ("queue", f"{direction.backlog_packets} p ({direction.backlog_bytes} B)"),
        *gauges,
        ("delay", milliseconds(direction.delay_mean_s)),
    ]


def drops(direction: Direction) -> str:
    """Say what was dropped, marked and lost, and why."""
    c = direction.counters
    return (
        f"dropped {c.drops} (early {c.drops_early}, forced {c.drops_forced}, overflow {c.drops_overflow}), "
        f"marked {c.marks} (early {c.marks_early}, forced {c.marks_forced}), lost {c.lost}"
    )


def lateness(late: Lateness) -> str:
    """Say how late packets left."""
    quantiles = (("p50", late.p50), ("p99", late.p99), ("p99.9", late.p999), ("max", late.max))
    return "late " + ", ".join(f"{name} {number(value)} us" for name, value in quantiles if value is not None)


def plane(status: Plane) -> list[str]:
    """Say how well the link keeps time, and what it lost outside the discipline."""
    idle = "-" if status.idle_share is None else f"{status.idle_share:.0%}"
    parts = [lateness(status.lateness) if status.lateness.n else "late -", f"stalls {status.stalls}", f"idle {idle}"]
    parts.append(f"in {status.packets_in}, out {status.packets_out}, held {status.held}")
    parts += [f"TUN dropped {_by(status.tun_dropped)}"] if any(status.tun_dropped.values()) else []
    parts += [f"malformed {_by(status.malformed)}"] if any(status.malformed.values()) else []
    return parts


def _by(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count)
