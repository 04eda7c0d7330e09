"""Section 5: one sender of each kind, alone or beside a long flow of NewReno with SACK."""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab.rfc7928.case import Case, Effort, on_dumbbell
from aqmlab.rfc7928.network import CAPACITY_BPS, seconds
from aqmlab.rfc7928.settings import Settings
from aqmlab.rfc7928.traffic import Group, tcp, udp
from aqmlab.scenario.toml_text import Value

STEADY_S = 40.0
"""By then a single flow has been through several of its sawteeth, so that its goodput is stable."""
SHORT_PACKETS = 50
"""Packets of a short flow: more than 10 and fewer than 100 (section 5.1.2)."""
EVERY_S = 5.0
"""Short flows come one after the other, this far apart."""
ABOVE, BETWEEN = 1.2, 0.75
"""Rates of the unresponsive flow over the capacity: above 1 alone (5.3a), in (1/2, 1] beside TCP (5.3b)."""
LEDBAT: Mapping[str, Value] = {"ledbat_target": "5ms", "ledbat_gain": 10}
"""The RFC's target and gain (section 5.4)."""


def cases(effort: Effort, settings: Settings) -> list[Case]:
    """List the scenarios of section 5."""
    return [
        _alone("5.1.1", "", "one long NewReno flow, IW 3", [tcp("long", "NewReno")], effort, settings),
        *(_beside_short(window, effort, settings) for window in (3, 10)),
        _alone("5.2", "", "one long CUBIC flow", [tcp("long", "CUBIC", control="cubic")], effort, settings),
        _alone(
            "5.3",
            "above",
            f"UDP at {ABOVE:g} times the capacity",
            [udp("udp", "UDP", rate_bps=ABOVE * CAPACITY_BPS)],
            effort,
            settings,
        ),
        _alone(
            "5.3",
            "between",
            f"UDP at {BETWEEN:g} times the capacity beside one NewReno flow",
            [tcp("long", "NewReno"), udp("udp", "UDP", rate_bps=BETWEEN * CAPACITY_BPS)],
            effort,
            settings,
        ),
        _alone(
            "5.4",
            "",
            "one NewReno and one LEDBAT flow (target 5 ms, gain 10)",
            [tcp("long", "NewReno"), tcp("background", "LEDBAT", control="ledbat", options=LEDBAT)],
            effort,
            settings,
            needs="LEDBAT",
        ),
    ]


def _alone(
    section: str, key: str, title: str, groups: list[Group], effort: Effort, settings: Settings, needs: str = ""
) -> Case:
    return on_dumbbell(
        section, key, title, settings, groups, seeds=effort.seeds, measured_s=effort.measured_s, needs=needs
    )


def _beside_short(window: int, effort: Effort, settings: Settings) -> Case:
    """A long flow, and from its steady state on short ones, one at a time."""
    starts = [seconds(STEADY_S + index * EVERY_S) for index in range(int(effort.measured_s / EVERY_S))]
    short = tcp(
        "short",
        "short NewReno",
        count=len(starts),
        initial_window=window,
        size=f"{SHORT_PACKETS}p",
        start=starts,
    )
    return on_dumbbell(
        "5.1.2",
        f"IW{window}",
        f"a long NewReno flow, then short ones of {SHORT_PACKETS} packets with IW {window}",
        settings,
        [tcp("long", "long NewReno"), short],
        seeds=effort.seeds,
        begin_s=STEADY_S,
        measured_s=effort.measured_s,
    )
