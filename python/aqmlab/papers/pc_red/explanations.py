"""Texts of PC-RED's page made of the numbers: the channels, the swings of the queue, and the equations' omissions."""

from __future__ import annotations

import math

import pandas as pd

from aqmlab.papers.common import measured, pick
from aqmlab.papers.common.paper import Study
from aqmlab.papers.pc_red import loops
from aqmlab.papers.pc_red.plan import BURST_S, CHANNELS_SINCE_S
from aqmlab.results import folders
from aqmlab.theory.control.loop import Loop

GENTLE = "gentle RED's curve"
"""Name of the reading without a step at max_th."""


def words(study: Study) -> dict[str, str]:
    """Return the texts that ``page.toml`` names."""
    effort = study.effort.to_json()
    short = effort["mesh_duration_s"] < 3000
    return {
        "mesh_length": f" Here {effort['mesh_duration_s']:g} s were run." if short else "",
        "gentle": gentle(study),
        "channels": channels(study.base),
        "left_out": left_out(study.base),
        "swings": swings(study.base),
        "warned": warnings_of(study, "warn"),
        "refused": warnings_of(study, "refuse"),
    }


def gentle(study: Study) -> str:
    """Return the effect of a curve without a step as a sentence, "" if that reading was not run."""
    for (_, name), own in study.readings.items():
        if name == GENTLE:
            red, full = (measured(own, "average_sd", case=case).mean for case in ("RED", "PC-RED"))
            return (
                "Classic RED has a step at max_th, from where on every arrival costs a packet. With gentle RED's "
                f"curve, which has none, the s.d. of the average is {red:.2f} packets under RED and {full:.2f} under "
                "PC-RED."
            )
    return ""


def warnings_of(study: Study, case: str) -> str:
    """Return the counters of a run at its end."""
    (setup,) = pick(study.setups, case=case)
    summary = folders.read_summary(setup.run_folder(study.root, 1))["summary"]
    return "; ".join(str(line) for line in summary.get("warnings", []))


def channels(base: pd.DataFrame) -> str:
    """Say how equations (2) to (4) were set beside the drops."""
    worst = float(base["replay_gap"].max())
    return (
        "Which share of the drops falls to each kind of flow? The priority list was kept again, outside the "
        f"simulator, from the log of every arrival, departure and drop of {BURST_S:g} s, with a_d by equation (7); at "
        "every sample its counts are the simulator's, and a_d differs by "
        f"{worst:.1g} bytes at most. Equations (2) to (4) are then taken at every drop after {CHANNELS_SINCE_S:g} s, "
        "with N_p+, N_p- and q of that moment, beside the drops that there were. These runs have more seeds than a "
        "first version had, whose intervals were wider than the effect."
    )


def left_out(base: pd.DataFrame) -> str:
    """Return the effects that the equations leave out, in sentences."""
    predicted, packets, picks, dropped = (
        measured(base, f"{way}_plus", case="30 %").mean for way in ("eq4", "packets", "picks", "drops")
    )
    return (
        f"With r_p = 30 %, equations (2) and (4) give N_p+ a share of {predicted:.3f} of the drops; it has "
        f"{dropped:.3f}, {dropped / predicted:.0f} times as much. Two things are left out of the equations. "
        "Protected flows send more than others, so that their share of the queue is above N_p+/N; with the queue's "
        f"packets in the place of flows, the equations give {packets:.3f}. And a protected packet is the victim not "
        "only if the pick falls on the last packet: any pick in a row of protected packets at the tail ends at the "
        "last one. The row is long, since packets of a flow arrive in bursts. Counting picks in the queue as it was"
        f" at each drop gives {picks:.3f}."
    )


def swings(base: pd.DataFrame) -> str:
    """Return the swings of the queue and those of a relay, in sentences."""
    few, many = (measured(base, "queue_sd", case=case).mean for case in ("10 %", "30 %"))
    around = [measured(base, "swing_share", case=case).mean for case in ("10 %", "30 %")]
    hertz = [measured(base, "swing_hz", case=case).mean for case in ("10 %", "30 %")]
    red = measured(base, "swing_hz", case="RED").mean
    loaded, plain = (loops.loop(rtt, 1.0, "hollot") for rtt in list(loops.round_trips().values())[1:])
    fluid = loops.fluid_swing()
    gentle = loops.gentle_loop(loops.round_trips()[loops.SIMULATED])
    one, other = (measured(base, "average_sd", case=case).mean for case in ("10 %", "30 %"))
    return (
        f"From 10 % to 30 % the s.d. of the queue goes from {few:.2f} to {many:.2f} packets, that of the average from "
        f"{one:.2f} to {other:.2f}. The queue swings at one frequency, under plain RED already: with 10 % and 30 %, "
        f"{around[0]:.0%} and {around[1]:.0%} of its variance lie around {hertz[0]:.2f} and {hertz[1]:.2f} Hz. A loop "
        "whose gain is far below 1 has no such swing. But the queue stands at the step of classic RED's curve at "
        "max_th, from where on every arrival costs a packet, and a step has no slope to be taken for L_red: it acts as "
        "a relay, and a loop with a relay swings where its phase is -180 degrees. In the loop of plain RED that is at "
        f"{_crossover_hz(loaded):.2f} Hz (R with {loops.QUEUE:g} packets) and {_crossover_hz(plain):.2f} Hz (R as "
        f"simulated); measured under RED are {red:.2f} Hz. The fluid, integrated with the curve's step as it is (R as "
        f"simulated, no linearization), swings for ever at {fluid['swing_hz']:.2f} Hz, {fluid['swing_share']:.0%} of "
        f"its variance being there. Gentle RED's curve has a slope there, (1 - p_max)/max_th, "
        f"that is {gentle.dc_gain / plain.dc_gain:.1f} times L_red: with it the loop of plain RED (R as simulated) has "
        f"a gain margin of {gentle.margins().gain_margin_db:.1f} dB at {_crossover_hz(gentle):.2f} Hz, and would "
        "hardly damp a swing. The relay was thought of after the spectra had been seen; they support it, and do not "
        "prove it."
    )


def _crossover_hz(loop: Loop) -> float:
    """Return where the phase of a loop is -180 degrees, in Hz."""
    return (loop.margins().phase_crossover or math.nan) / (2 * math.pi)
