"""The exact-time candidates: every time is a multiple of 2^-12 s, "one unit" below.

A packet of 1024 B lasts 32, 16 and 2 units at 2^20, 2^21 and 2^24 bit/s, an ACK of 64 B one unit at 2^21
bit/s. A SACK block adds 8 B to an ACK, one unit at 2^18 bit/s. For a flow alone the delays make its loop,
from one start of transmission at the bottleneck to the arrival there of the packet the ACK released, a whole
number of transmissions: then packets arrive at the very instant at which the bottleneck ends another's
transmission. Which of the two was scheduled first depends on the left access link: its delay and transmission
are above ("early") or below ("late") the bottleneck's transmission time, never equal to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from goldens.model import BOTTLENECK, GRID, Case, Cbr, Flow, Link, Tcp, with_seeds

R18, R19, R20, R21, R24 = 2**18, 2**19, 2**20, 2**21, 2**24


def units(k: int) -> Decimal:
    """`k` units of 2^-12 s, in seconds."""
    return k * GRID


@dataclass(frozen=True)
class Side:
    """One flow's hosts: delays of its left and right access link in units."""

    left: int
    right: int


def dumbbell(
    sides: Sequence[Side],
    *,
    limit: int,
    rate: int = R21,
    delay: int = 40,
    back_delay: int = 40,
    access: int = R24,
    back: int = R21,
) -> tuple[Link, ...]:
    """s0, s1, ... - r1 - r2 - d0, d1, ...; ACKs return at `back` bit/s on all three hops."""
    links = [
        Link("r1", "r2", rate, units(delay), limit, BOTTLENECK),
        Link("r2", "r1", back, units(back_delay)),
    ]
    for i, side in enumerate(sides):
        links += [
            Link(f"s{i}", "r1", access, units(side.left)),
            Link("r1", f"s{i}", back, units(side.left)),
            Link("r2", f"d{i}", access, units(side.right)),
            Link(f"d{i}", "r2", back, units(side.right)),
        ]
    return tuple(links)


def two_hops(sides: Sequence[Side], through: int, *, first: int, second: int, limit: int) -> tuple[Link, ...]:
    """r1 - r2 - r3: the first `through` flows enter at r1, the others at r2; both hops may lose packets.

    `first`, `second`: bit/s of the hops. The second is the bottleneck whose events are recorded.
    """
    links = [
        Link("r2", "r3", second, units(40), limit, BOTTLENECK),
        Link("r3", "r2", R18, units(40)),
        Link("r1", "r2", first, units(25), limit),
        Link("r2", "r1", R18, units(25)),
    ]
    for i, side in enumerate(sides):
        entry = "r1" if i < through else "r2"
        links += [
            Link(f"s{i}", entry, R24, units(side.left)),
            Link(entry, f"s{i}", R18, units(side.left)),
            Link("r3", f"d{i}", R24, units(side.right)),
            Link(f"d{i}", "r3", R18, units(side.right)),
        ]
    return tuple(links)


def tcp(index: int, variant: str, start: int = 0, **changes: Any) -> Tcp:
    """A flow from s<index> to d<index>; 512 + 512 B, so that headerless first packets are exact, too."""
    base = Tcp(
        f"s{index}",
        f"d{index}",
        variant,
        units(start),
        window=40,
        payload=512,
        header=512,
        ack_size=64,
        syn=False,
        min_rto=Decimal("0.25"),
        max_rto=Decimal(64),
        initial_rto=Decimal(2),
        tick=Decimal(1) / 128,
    )
    return replace(base, **changes)


def cbr(index: int, start: int, seconds: int, rate: int, packet: int) -> Cbr:
    """A UDP flow from s<index> to d<index>; it stops half a unit late, when no packet is due."""
    begin = units(start)
    return Cbr(f"s{index}", f"d{index}", begin, begin + seconds + GRID / 2, rate, packet)


def _case(name: str, description: str, links: tuple[Link, ...], *flows: Flow) -> Case:
    return Case("exact", name, description, links, with_seeds(flows, f"exact/{name}"))


DELACK = Decimal(1) / 8


def candidates() -> list[Case]:
    """All exact-time candidates."""
    return [*_single(), *_several(), *_overload(), *_two_hops(), *_special()]


def _single() -> list[Case]:
    """One flow that overruns the buffer; arrivals meet service ends that were scheduled later or earlier."""
    early, late = [Side(20, 24)], [Side(7, 13)]
    return [
        _case("tahoe-1", "Tahoe alone, early", dumbbell(early, limit=12, back_delay=41), tcp(0, "tahoe")),
        _case("tahoe-1-late", "Tahoe alone, late", dumbbell(late, limit=12, back_delay=41), tcp(0, "tahoe")),
        _case("reno-1", "Reno alone, early", dumbbell(early, limit=10, back_delay=41), tcp(0, "reno")),
        _case(
            "reno-1-late",
            "Reno alone, late, delayed ACK, no limited transmit",
            dumbbell(late, limit=6, back_delay=41),
            tcp(0, "reno", delayed_ack=DELACK, limited_transmit=False),
        ),
        _case("newreno-1", "NewReno alone, early", dumbbell(early, limit=12, back_delay=41), tcp(0, "newreno")),
        _case(
            "newreno-1-late",
            "NewReno alone, late, 960 + 64 B, SYN, a slower bottleneck",
            dumbbell([Side(12, 26)], limit=9, rate=R20, access=R21, back_delay=41),
            tcp(0, "newreno", payload=960, header=64, syn=True, window=48),
        ),
        _case("sack-1", "SACK alone, early", dumbbell([Side(20, 22)], limit=12, back=R18), tcp(0, "sack")),
        _case("sack-1-late", "SACK alone, late", dumbbell([Side(7, 11)], limit=9, back=R18), tcp(0, "sack")),
    ]


def _several() -> list[Case]:
    """Two to four flows of one variant, different paths and starts."""
    three = [Side(10, 12), Side(21, 23), Side(33, 37)]
    four = [*three, Side(48, 51)]
    starts = (0, 411, 823, 1637)
    return [
        _case(
            "tahoe-3",
            "Three Tahoe flows, delayed ACK",
            dumbbell(three, limit=8),
            *(tcp(i, "tahoe", starts[i], delayed_ack=DELACK) for i in range(3)),
        ),
        _case(
            "reno-4",
            "Four Reno flows in a small buffer",
            dumbbell(four, limit=7),
            *(tcp(i, "reno", starts[i], window=24) for i in range(4)),
        ),
        _case(
            "newreno-2",
            "Two NewReno flows, no limited transmit",
            dumbbell(three[:2], limit=10),
            *(tcp(i, "newreno", starts[i], limited_transmit=False) for i in range(2)),
        ),
        _case(
            "newreno-4-delack",
            "Four NewReno flows, delayed ACK, SYN, small buffer",
            dumbbell(four, limit=6),
            *(tcp(i, "newreno", starts[i], delayed_ack=DELACK, syn=True) for i in range(4)),
        ),
        _case(
            "sack-2-delack",
            "Two SACK flows, delayed ACK",
            dumbbell(three[:2], limit=9, back=R18),
            *(tcp(i, "sack", starts[i], delayed_ack=DELACK) for i in range(2)),
        ),
        _case(
            "sack-4",
            "Four SACK flows, no limited transmit, small buffer",
            dumbbell(four, limit=6, back=R18),
            *(tcp(i, "sack", starts[i], limited_transmit=False, window=24) for i in range(4)),
        ),
        _case(
            "mixed-4",
            "One flow of each variant",
            dumbbell(four, limit=8, back=R18),
            *(tcp(i, v, starts[i]) for i, v in enumerate(("tahoe", "reno", "newreno", "sack"))),
        ),
    ]


def _overload() -> list[Case]:
    """A UDP flow above the bottleneck's rate for seconds: time-outs back off again and again."""
    three = [Side(10, 12), Side(21, 23), Side(33, 37)]
    return [
        _case(
            f"{variant}-2-udp",
            f"Two {variant} flows, and UDP at the bottleneck's rate for some seconds",
            dumbbell(three, limit=8, back=R18 if variant == "sack" else R21),
            tcp(0, variant),
            tcp(1, variant, 517, delayed_ack=DELACK),
            cbr(2, 8192 + 37, 7, rate, packet),
        )
        for variant, rate, packet in (
            ("tahoe", R21, 1024),
            ("reno", R21, 1024),
            ("newreno", 2 * R21, 1536),
            ("sack", R21, 1024),
        )
    ]


def _two_hops() -> list[Case]:
    """Two routers' links in a row, cross traffic on the second."""
    sides = [Side(10, 12), Side(21, 23), Side(34, 37), Side(15, 41)]
    return [
        _case(
            f"{variant}-hops",
            f"Two hops, two {variant} flows over both and cross traffic over the second",
            two_hops(sides[:3], 2, first=2 * R21, second=R21, limit=limit),
            tcp(0, variant, window=window),
            tcp(1, variant, 613, window=window),
            tcp(2, "newreno", 1931, window=16, delayed_ack=DELACK),
        )
        for variant, limit, window in (
            ("tahoe", 10, 40),
            ("reno", 7, 32),
            ("newreno", 8, 64),
            ("sack", 9, 48),
        )
    ]


def _special() -> list[Case]:
    """Finite transfers, other packet sizes, other windows."""
    three = [Side(10, 12), Side(21, 23), Side(33, 37)]
    four = [*three, Side(48, 51)]
    return [
        _case(
            "finite-4",
            "Transfers of 400 and 900 packets beside two greedy flows",
            dumbbell(four, limit=8, back=R18),
            tcp(0, "newreno"),
            tcp(1, "sack", 1229, size=400),
            tcp(2, "reno", 4391, size=900, syn=True),
            tcp(3, "sack", 2417, syn=True, delayed_ack=DELACK),
        ),
        *(
            _case(
                name,
                "Packets of 1024, 1536 and 2048 B, initial windows 1, 3 and 4, at most four packets per ACK",
                dumbbell(sides, limit=9),
                tcp(0, "newreno", initial_window=1, max_burst=4),
                tcp(1, "reno", 307, payload=1024, initial_window=3),
                tcp(2, "tahoe", 911, payload=1536, initial_window=4, syn=True),
            )
            for name, sides in (("sizes-3", three), ("sizes-3-b", [three[0], Side(22, 23), three[2]]))
        ),
        _case(
            "window-3",
            "Windows of 12, 20 and 300 packets over a long path",
            dumbbell(three, limit=24, delay=160),
            tcp(0, "newreno", window=12),
            tcp(1, "reno", 1301, window=20, delayed_ack=DELACK),
            tcp(2, "newreno", 2777, window=300),
        ),
    ]
