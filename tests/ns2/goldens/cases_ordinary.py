"""The candidates with ordinary numbers: rates, sizes and delays as anyone would choose them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from goldens.model import BOTTLENECK, Case, Cbr, Flow, Link, Tcp, with_seeds

MS = Decimal("0.001")
DELACK = Decimal("0.1")
VARIANTS = ("tahoe", "reno", "newreno", "sack")


def dumbbell(sides: Sequence[tuple[str, str]], *, rate: int, delay: str, limit: int, access: int) -> tuple[Link, ...]:
    """s0, s1, ... - r1 - r2 - d0, d1, ...; `sides`: left and right access delays in ms, `delay` in ms."""
    d = Decimal(delay) * MS
    links = [Link("r1", "r2", rate, d, limit, BOTTLENECK), Link("r2", "r1", rate, d)]
    for i, (left, right) in enumerate(sides):
        links += _pair(f"s{i}", "r1", access, left)
        links += _pair("r2", f"d{i}", access, right)
    return tuple(links)


def two_hops(
    sides: Sequence[tuple[str, str]], through: int, *, first: int, second: int, limit: int
) -> tuple[Link, ...]:
    """r1 - r2 - r3: the first `through` flows enter at r1, the others at r2; the second hop is recorded."""
    links = [
        Link("r2", "r3", second, Decimal("11.3") * MS, limit, BOTTLENECK),
        Link("r3", "r2", second, Decimal("11.3") * MS),
        Link("r1", "r2", first, Decimal("6.7") * MS, limit),
        Link("r2", "r1", first, Decimal("6.7") * MS),
    ]
    for i, (left, right) in enumerate(sides):
        links += _pair(f"s{i}", "r1" if i < through else "r2", 50_000_000, left)
        links += _pair("r3", f"d{i}", 50_000_000, right)
    return tuple(links)


def _pair(a: str, b: str, rate: int, delay: str) -> list[Link]:
    d = Decimal(delay) * MS
    return [Link(a, b, rate, d), Link(b, a, rate, d)]


def tcp(index: int, variant: str, start: str = "0", **changes: Any) -> Tcp:
    """A flow from s<index> to d<index> with ns-2's defaults."""
    base = Tcp(f"s{index}", f"d{index}", variant, Decimal(start))
    return replace(base, **changes)


def cbr(index: int, start: str, stop: str, rate: int, packet: int = 1000) -> Cbr:
    """A UDP flow from s<index> to d<index>."""
    return Cbr(f"s{index}", f"d{index}", Decimal(start), Decimal(stop), rate, packet)


def _case(name: str, description: str, links: tuple[Link, ...], *flows: Flow) -> Case:
    return Case("ordinary", name, description, links, with_seeds(flows, f"ordinary/{name}"))


FOUR = [("3.1", "2.3"), ("7.7", "5.9"), ("12.9", "1.7"), ("20.3", "8.1")]
UNEVEN = [("3.137", "2.391"), ("7.713", "5.951"), ("12.907", "1.723"), ("20.311", "8.117")]
"""Delays whose sums with transmission times seldom fall on the same instant."""
NEAR = [("0.137", "0.391"), ("0.713", "0.951"), ("1.907", "0.723"), ("2.311", "1.117")]
"""Short delays: the bottleneck is hardly ever idle, and only a start from idleness puts arrivals on service ends."""


def candidates() -> list[Case]:
    """All candidates with ordinary numbers."""
    return [*_single(), *_several(), *_overload(), *_two_hops(), *_special(), *_uneven(), *_near()]


def _single() -> list[Case]:
    return [
        _case(
            f"{variant}-1",
            f"{variant} alone on {rate / 1e6:g} Mb/s",
            dumbbell(FOUR[:1], rate=rate, delay=delay, limit=limit, access=100_000_000),
            tcp(0, variant, "0.1", window=window),
        )
        for variant, rate, delay, limit, window in (
            ("tahoe", 1_500_000, "12.3", 12, 40),
            ("reno", 2_000_000, "23.4", 15, 50),
            ("newreno", 10_000_000, "12.3", 20, 100),
            ("sack", 5_000_000, "31.7", 18, 80),
        )
    ]


def _several() -> list[Case]:
    starts = ("0", "0.237", "0.811", "1.493")
    many = [
        _case(
            f"{variant}-{n}",
            f"{n} {variant} flows",
            dumbbell(FOUR[:n], rate=rate, delay="12.3", limit=limit, access=20_000_000),
            *(tcp(i, variant, starts[i], window=60, limited_transmit=limited) for i in range(n)),
        )
        for variant, n, rate, limit, limited in (
            ("tahoe", 4, 3_000_000, 10, True),
            ("reno", 3, 3_000_000, 9, False),
            ("newreno", 4, 10_000_000, 25, True),
            ("sack", 3, 4_000_000, 8, False),
        )
    ]
    delayed = [
        _case(
            f"{variant}-{n}-delack",
            f"{n} {variant} flows, delayed ACK",
            dumbbell(FOUR[:n], rate=rate, delay="8.9", limit=limit, access=20_000_000),
            *(tcp(i, variant, starts[i], window=60, delayed_ack=DELACK) for i in range(n)),
        )
        for variant, n, rate, limit in (
            ("tahoe", 2, 2_000_000, 10),
            ("reno", 4, 6_000_000, 12),
            ("newreno", 3, 10_000_000, 15),
            ("sack", 4, 5_000_000, 10),
        )
    ]
    return many + delayed


def _overload() -> list[Case]:
    return [
        _case(
            f"{variant}-2-udp",
            f"Two {variant} flows, and UDP at {factor} times the bottleneck's rate for seven seconds",
            dumbbell(FOUR[:3], rate=2_000_000, delay="15.1", limit=12, access=20_000_000),
            tcp(0, variant, window=40),
            tcp(1, variant, "0.513", window=40, delayed_ack=DELACK),
            cbr(2, "3.0173", "10.2", int(2_000_000 * Decimal(factor)), 1000),
        )
        for variant, factor in zip(VARIANTS, ("1.05", "1.1", "1.25", "1.5"), strict=True)
    ]


def _two_hops() -> list[Case]:
    return [
        _case(
            f"{variant}-hops",
            f"Two hops, two {variant} flows over both and cross traffic over the second",
            two_hops(FOUR[:3], 2, first=4_000_000, second=3_000_000, limit=limit),
            tcp(0, variant, window=50),
            tcp(1, variant, "0.317", window=50),
            tcp(2, "newreno", "0.919", window=20, delayed_ack=DELACK),
        )
        for variant, limit in zip(VARIANTS, (14, 11, 16, 10), strict=True)
    ]


def _special() -> list[Case]:
    return [
        _case(
            "mixed-4",
            "One flow of each variant",
            dumbbell(FOUR, rate=5_000_000, delay="12.3", limit=14, access=20_000_000),
            *(tcp(i, v, f"0.{3 * i}17", window=60) for i, v in enumerate(VARIANTS)),
        ),
        _case(
            "finite-4",
            "Transfers of 700 and 1500 packets beside two greedy flows",
            dumbbell(FOUR, rate=4_000_000, delay="18.7", limit=12, access=20_000_000),
            tcp(0, "newreno", window=60),
            tcp(1, "sack", "0.411", size=700),
            tcp(2, "reno", "1.297", size=1500, syn=False),
            tcp(3, "sack", "0.733", window=60, delayed_ack=DELACK),
        ),
        _case(
            "sizes-3",
            "Packets of 552, 1040 and 1500 B, initial windows 1, 3 and 4, at most four packets per ACK",
            dumbbell(FOUR[:3], rate=3_000_000, delay="9.3", limit=12, access=20_000_000),
            tcp(0, "newreno", payload=512, initial_window=1, max_burst=4, window=60),
            tcp(1, "reno", "0.271", initial_window=3, window=60),
            tcp(2, "tahoe", "0.643", payload=1460, initial_window=4, syn=False, window=60),
        ),
        _case(
            "thin-2",
            "A modem line: two flows on 64 kb/s with a buffer of six packets",
            dumbbell(FOUR[:2], rate=64_000, delay="40.1", limit=6, access=1_000_000),
            tcp(0, "reno", window=20, payload=256),
            tcp(1, "newreno", "1.513", window=20, payload=256, delayed_ack=DELACK),
        ),
    ]


def _uneven() -> list[Case]:
    """More cases of the kinds that are mostly rejected above, over uneven delays and rates, with several buffers."""
    return [*_uneven_crowds(), *_uneven_hops(), *_uneven_mixtures()]


STARTS = ("0.013", "0.2371", "0.8119", "1.4933")


def _uneven_crowds() -> list[Case]:
    return [
        _case(
            f"{variant}-{n}-uneven-{limit}",
            f"{n} {variant} flows over uneven delays" + (", delayed ACK" if delayed else ""),
            dumbbell(UNEVEN[:n], rate=rate, delay="12.373", limit=limit, access=20_000_000),
            *(tcp(i, variant, STARTS[i], window=60, delayed_ack=delayed, limited_transmit=limited) for i in range(n)),
        )
        for variant, n, rate, limit, delayed, limited in (
            ("newreno", 4, 9_700_000, 25, None, True),
            ("sack", 3, 3_900_000, 8, None, False),
            ("newreno", 3, 9_700_000, 15, DELACK, True),
            ("newreno", 2, 4_700_000, 17, DELACK, False),
            ("newreno", 4, 3_700_000, 11, None, True),
            ("reno", 4, 3_300_000, 9, DELACK, True),
            ("sack", 4, 3_700_000, 10, DELACK, True),
            ("sack", 2, 2_300_000, 9, DELACK, True),
        )
    ]


def _uneven_hops() -> list[Case]:
    return [
        _case(
            f"{variant}-hops-uneven-{limit}",
            f"Two hops, two {variant} flows over both and cross traffic over the second, uneven numbers",
            two_hops(UNEVEN[:3], 2, first=3_700_000, second=2_900_000, limit=limit),
            tcp(0, variant, "0.013", window=50),
            tcp(1, variant, "0.3171", window=50),
            tcp(2, "newreno", "0.9193", window=20, delayed_ack=DELACK),
        )
        for variant, limit in (
            ("tahoe", 14),
            ("reno", 11),
            ("reno", 9),
            ("reno", 13),
            ("sack", 10),
            ("sack", 13),
            ("newreno", 16),
        )
    ]


def _uneven_mixtures() -> list[Case]:
    mixed = [
        _case(
            f"mixed-4-uneven-{limit}",
            "One flow of each variant over uneven delays",
            dumbbell(UNEVEN, rate=4_900_000, delay="12.373", limit=limit, access=20_000_000),
            *(tcp(i, v, STARTS[i], window=60) for i, v in enumerate(VARIANTS)),
        )
        for limit in (9, 11, 14, 16)
    ]
    finite = [
        _case(
            f"finite-4-uneven-{limit}",
            "Transfers of 700 and 1500 packets beside two greedy flows, uneven delays",
            dumbbell(UNEVEN, rate=3_700_000, delay="18.739", limit=limit, access=20_000_000),
            tcp(0, "newreno", "0.013", window=60),
            tcp(1, "sack", "0.4117", size=700),
            tcp(2, "reno", "1.2971", size=1500, syn=False),
            tcp(3, "sack", "0.7331", window=60, delayed_ack=DELACK),
        )
        for limit in (10, 13)
    ]
    sizes = [
        _case(
            f"sizes-3-uneven-{limit}",
            "Packets of 552, 1040 and 1500 B, initial windows 1, 3 and 4, at most four packets per ACK, uneven delays",
            dumbbell(UNEVEN[:3], rate=2_900_000, delay="9.371", limit=limit, access=20_000_000),
            tcp(0, "newreno", "0.013", payload=512, initial_window=1, max_burst=4, window=60),
            tcp(1, "reno", "0.2713", initial_window=3, window=60),
            tcp(2, "tahoe", "0.6431", payload=1460, initial_window=4, syn=False, window=60),
        )
        for limit in (12, 9)
    ]
    return [*mixed, *finite, *sizes]


def _near() -> list[Case]:
    """Mixtures over short paths."""
    net = dumbbell(NEAR, rate=1_900_000, delay="2.373", limit=17, access=20_000_000)
    return [
        _case(
            "mixed-4-near",
            "One flow of each variant over short paths",
            net,
            *(tcp(i, v, STARTS[i], window=60) for i, v in enumerate(VARIANTS)),
        ),
        _case(
            "newreno-4-near",
            "Four NewReno flows over short paths, every other one with delayed ACK",
            net,
            *(tcp(i, "newreno", STARTS[i], window=60, delayed_ack=DELACK if i % 2 else None) for i in range(4)),
        ),
        _case(
            "finite-4-near",
            "Transfers of 300 and 700 packets beside two greedy flows over short paths",
            net,
            tcp(0, "newreno", "0.013", window=60),
            tcp(1, "sack", "0.4117", size=300),
            tcp(2, "reno", "1.2971", size=700, syn=False),
            tcp(3, "sack", "0.7331", window=60, delayed_ack=DELACK, limited_transmit=False),
        ),
        _case(
            "sizes-3-near",
            "Packets of 552, 1040 and 1500 B, initial windows 1, 3 and 4, at most four packets per ACK, short paths",
            dumbbell(NEAR[:3], rate=1_900_000, delay="2.371", limit=13, access=20_000_000),
            tcp(0, "newreno", "0.013", payload=512, initial_window=1, max_burst=4, window=60),
            tcp(1, "reno", "0.2713", initial_window=3, window=60),
            tcp(2, "tahoe", "0.6431", payload=1460, initial_window=4, syn=False, window=60),
        ),
    ]
