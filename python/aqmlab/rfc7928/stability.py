"""Section 8.2: levels of congestion, levels that change, capacity that changes. Time 0 is the end of the warm-up."""

from __future__ import annotations

from aqmlab.rfc7928 import network
from aqmlab.rfc7928.case import FORWARD, Case, Effort, Phase, on_dumbbell
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.traffic import Group, tcp

WARM_UP_S = 20.0
"""Time until all flows have reached congestion avoidance; the report says when they had."""
PHASE_S = 20.0
SHORT_PHASE_S = 0.1
FAST_BPS = 100e6
SHORT_PHASES = {True: 200, False: 600}
"""Phases of 100 ms: quick, full."""


def levels(capacity_bps: float = network.CAPACITY_BPS, buffer: int | None = None) -> dict[str, int]:
    """Return the number of flows of each level of congestion on a link with a buffer in packets.

    >>> levels()
    {'mild': 6, 'medium': 13, 'heavy': 19}
    """
    bdp = network.bdp_packets(capacity_bps, network.RTT_S)
    whole = bdp + (bdp if buffer is None else buffer)
    return {level: network.flows_at(level, whole) for level in network.LEVELS}


def cases(effort: Effort, settings: Settings) -> list[Case]:
    """List the scenarios of section 8.2."""
    return [
        *(congested(level, effort, settings) for level in network.LEVELS),
        _varying_congestion(effort, settings),
        _varying_capacity(effort, settings),
        _fast_varying_capacity(effort, settings),
    ]


def congested(level: str, effort: Effort, settings: Settings) -> Case:
    """Sections 8.2.2 to 8.2.4: so many long flows."""
    count = levels()[level]
    place = 2 + list(network.LEVELS).index(level)
    return on_dumbbell(
        f"8.2.{place}",
        "",
        f"{level} congestion, {count} flows",
        settings,
        [tcp("bulk", "bulk", count=count)],
        seeds=effort.seeds,
        begin_s=WARM_UP_S,
        measured_s=effort.measured_s,
        watch_windows=True,
    )


def _varying_congestion(effort: Effort, settings: Settings) -> Case:
    """Section 8.2.5: mild, medium, heavy, 20 s each, and so on."""
    count = levels()
    begins = [WARM_UP_S + 3 * PHASE_S * cycle for cycle in range(effort.cycles)]

    def spans(first: int, last: int) -> tuple[tuple[float, float], ...]:
        return tuple((begin + first * PHASE_S, begin + last * PHASE_S) for begin in begins)

    groups = [
        tcp("mild", "flows that stay", count=count["mild"]),
        tcp("medium", "further flows of phases II, III", count=count["medium"] - count["mild"], active=spans(1, 3)),
        tcp("heavy", "further flows of phase III", count=count["heavy"] - count["medium"], active=spans(2, 3)),
    ]
    names = [f"{level} ({count[level]} flows)" for level in network.LEVELS]
    return on_dumbbell(
        "8.2.5",
        "",
        "mild, medium and heavy congestion in turn, 20 s each",
        settings,
        groups,
        seeds=effort.seeds,
        begin_s=WARM_UP_S,
        measured_s=3 * PHASE_S * effort.cycles,
        phases=tuple(Phase(name, spans(index, index + 1)) for index, name in enumerate(names)),
        watch_windows=True,
    )


def _varying_capacity(effort: Effort, settings: Settings) -> Case:
    """Section 8.2.6, experiment 1: 100 and 10 Mb/s in turn, 20 s each."""
    return _two_rates("20s", effort, settings, phase_s=PHASE_S, count=2 * effort.cycles)


def _fast_varying_capacity(effort: Effort, settings: Settings) -> Case:
    """Section 8.2.6, experiment 2: the same every 100 ms."""
    return _two_rates("100ms", effort, settings, phase_s=SHORT_PHASE_S, count=SHORT_PHASES[effort.quick])


def _two_rates(key: str, effort: Effort, settings: Settings, *, phase_s: float, count: int) -> Case:
    """Mild congestion at the lower rate: S is its product and the buffer, which is the product at the higher rate."""
    buffer = network.bdp_packets(FAST_BPS, network.RTT_S)
    flows: list[Group] = [tcp("bulk", "bulk", count=levels(buffer=buffer)["mild"])]
    begins = [round(WARM_UP_S + index * phase_s, 9) for index in range(count)]
    spans = [(begin, round(begin + phase_s, 9)) for begin in begins]
    rates = [FAST_BPS if index % 2 == 0 else network.CAPACITY_BPS for index in range(count)]
    return on_dumbbell(
        "8.2.6",
        key,
        f"100 and 10 Mb/s in turn, {key} each, {levels(buffer=buffer)['mild']} flows",
        settings,
        flows,
        seeds=effort.seeds,
        begin_s=WARM_UP_S,
        measured_s=round(count * phase_s, 9),
        buffer=buffer,
        capacity_bps=FAST_BPS,
        phases=(
            Phase("100 Mb/s", tuple(spans[0::2]), FAST_BPS),
            Phase("10 Mb/s", tuple(spans[1::2]), network.CAPACITY_BPS),
        ),
        extra=network.changes(FORWARD, rates, start_s=WARM_UP_S, every_s=phase_s),
        watch_windows=True,
    )
