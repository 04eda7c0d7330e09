"""The report's section on the paper's model: Figures 2 and 3, the channels, the loop, and what it explains."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from aqmlab.reporting.page import Page
from aqmlab.reproduction.papers.common import Setup, intervals_table, intervals_text, values
from aqmlab.reproduction.papers.pc_red import channels, diagrams, figures, loops
from aqmlab.reproduction.papers.pc_red.plan import BURST_S, CASES, CHANNEL_CASES, CHANNELS_SINCE_S, SWING_CASES
from aqmlab.statistics import Interval, interval
from aqmlab.theory.control.loop import Loop

SWINGS = {
    "s.d. of the queue": "queue_sd",
    "s.d. of the average": "average_sd",
    "strongest at, Hz": "swing_hz",
    "share of the variance around it": "swing_share",
}
GENTLE = "gentle RED's curve"
"""Name of the reading without a step at max_th."""


def tables(base: pd.DataFrame, runs: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the section's tables by name.

    Parameters
    ----------
    base
        The runs of the chosen reading, with what was found of drops.
    runs
        All runs, for those with gentle RED's curve, if there are any.
    """
    return {
        "model-channels": channels.shares_table(base),
        "model-state": channels.state_table(base),
        "model-conditions": loops.conditions_table(),
        "model-margins": loops.margins_table(),
        "model-operating-points": loops.operating_points(),
        "model-swings": pd.concat([_swings(base), _gentle_swings(runs)], ignore_index=True).fillna(""),
    }


def add(
    page: Page, base: pd.DataFrame, found: Mapping[str, pd.DataFrame], plans: list[Setup], root: Path, *, command: str
) -> None:
    """Add the section."""
    page.section("The model")
    page.flowchart(
        diagrams.figure_2(),
        caption="▪ marks the three channels that PC-RED puts in the place of RED's one. In equations (2) to (4) they "
        "add up to 1. The gains are those of Hollot et al. and of the paper's equations.",
    )
    _closed_form(page, command)
    _channels(page, base, found)
    _loop(page, found, command)
    _seen(page, base, found, plans, root, command)


def _closed_form(page: Page, command: str) -> None:
    page.chart(figures.figure_3(), command=command)
    page.chart(figures.figure_3_surface(), command=command)
    page.chart(figures.figure_3_crossing(), command=command)


def _channels(page: Page, base: pd.DataFrame, found: Mapping[str, pd.DataFrame]) -> None:
    page.heading("Equations (2) to (4) beside the drops", listed=True)
    worst = float(base["replay_gap"].max())
    predicted, packets, picks, measured = (
        interval(values(base, f"{way}_plus", case="30 %")).mean for way in ("eq4", "packets", "picks", "drops")
    )
    page.text(
        "Which share of the drops falls to each kind of flow? The priority list was kept again, outside the "
        f"simulator, from the log of every arrival, departure and drop of {BURST_S:g} s, with a_d by equation (7); at "
        "every sample its counts are the simulator's, and a_d differs by "
        f"{worst:.1g} bytes at most. Equations (2) to (4) are then taken at every drop after {CHANNELS_SINCE_S:g} s, "
        "with N_p+, N_p- and q of that moment, beside the drops that there were. These runs have more seeds than a "
        "first version had, whose intervals were wider than the effect."
    )
    page.table(intervals_text(found["model-channels"]), caption="Shares of all drops, with 95 % intervals.", digits=3)
    page.text(
        f"With r_p = 30 %, equations (2) and (4) give N_p+ a share of {predicted:.3f} of the drops; it has "
        f"{measured:.3f}, {measured / predicted:.0f} times as much. Two things are left out of the equations. "
        "Protected flows send more than others, so that their share of the queue is above N_p+/N; with the queue's "
        f"packets in the place of flows, the equations give {packets:.3f}. And a protected packet is the victim not "
        "only if the pick falls on the last packet: any pick in a row of protected packets at the tail ends at the "
        "last one. The row is long, since packets of a flow arrive in bursts. Counting picks in the queue as it was"
        f" at each drop gives {picks:.3f}."
    )
    page.table(
        intervals_text(found["model-state"]), caption="What the equations rest on: means over the same drops.", digits=3
    )


def _loop(page: Page, found: Mapping[str, pd.DataFrame], command: str) -> None:
    page.heading("The stability study of section 4.A", listed=True)
    page.text(
        "The paper takes the critical state, in which all high-priority flows are above their limit, and derives the "
        "loop L(jw) and the conditions (5) and (6). Findings on the algebra: the printed gain L_red (RC)^3 / (4 r_p^2 "
        "N^3 q) lacks the gain r_p N of the queue's block; the lag of TCP is written with N_p+ in the place of N, as "
        "if the protected flows had the whole capacity, while N flows share it; the phase at w_g is written without "
        "the lags of TCP and queue. Since the left side of (6) falls with r_p and its right side grows, (6) is a lower "
        "bound on r_p: only (5) bounds it from above, and (5) only says that TCP's lag is slower than the queue's. "
        "For abs(L(j w_g)) below 1, sqrt(w_g^2/K^2 + 1) in the place of w_g/K suffices, as in Hollot et al."
    )
    page.table(
        found["model-conditions"],
        caption=f"Conditions (5) and (6) on Network 1 with q = {loops.QUEUE:g}. (6) with r_p N has the gain derived "
        "here; the last but two columns say from which r_p on it holds. Phases in degrees.",
        digits=4,
    )
    page.table(found["model-margins"], caption="The loop as printed, as derived, and that of plain RED.", digits=4)
    for chart in loops.bode_charts():
        page.chart(chart, command=command)
    page.chart(loops.nyquist_chart(), command=command)
    page.text(
        "With R = 0.1 s, that is without the time spent in the queue, 30 % is just below the bound of (5), 31.25 %: "
        "this must be the paper's critical state. With the queue of Table I the bound is above 1, and no share of "
        "high-priority flows can reach it. In every case abs(L) is below 1 at every frequency: the closed loop is "
        "stable by small gain, and the more so the more high-priority flows there are. The model therefore does not "
        "explain what Table IV shows with 30 %. Python-control has the margins, with the exact delay; that the closed "
        "loops are stable was found by Nyquist's count of turns round -1."
    )
    page.table(
        found["model-operating-points"],
        caption="Where the model is linearized. A loss probability of 5 is no probability; p above p_max is not on the "
        "part of the curve whose slope is L_red.",
        digits=4,
    )


def _seen(
    page: Page, base: pd.DataFrame, found: Mapping[str, pd.DataFrame], plans: list[Setup], root: Path, command: str
) -> None:
    page.heading("Stability as seen in the queue", listed=True)
    page.chart(figures.queue_spectra(plans, root), command=command)
    page.table(
        intervals_text(found["model-swings"]),
        caption="The queue after the first 100 s, in packets; the last column is the share of its variance within a "
        "factor of sqrt(2) of the strongest frequency.",
        digits=3,
    )
    few, many = (interval(values(base, "queue_sd", case=case)).mean for case in ("10 %", "30 %"))
    around = [interval(values(base, "swing_share", case=case)).mean for case in ("10 %", "30 %")]
    hertz = [interval(values(base, "swing_hz", case=case)).mean for case in ("10 %", "30 %")]
    red = interval(values(base, "swing_hz", case="RED")).mean
    loaded, plain = (loops.loop(rtt, 1.0, "hollot") for rtt in list(loops.round_trips().values())[1:])
    fluid = loops.fluid_swing()
    gentle = loops.gentle_loop(loops.round_trips()[loops.SIMULATED])
    one, other = (interval(values(base, "average_sd", case=case)).mean for case in ("10 %", "30 %"))
    page.text(
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


def _gentle_swings(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the same with gentle RED's curve, if that reading was run."""
    own = runs[runs["reading"].str.endswith(GENTLE)]
    rows: list[Mapping[str, str | float | Interval]] = []
    for case in SWING_CASES:
        if case in set(own["case"]):
            found = {title: interval(values(own, key, case=case)) for title, key in SWINGS.items()}
            rows.append({"case": f"{CASES[case].title}, {GENTLE}", **found})
    return intervals_table(rows)


def _swings(base: pd.DataFrame) -> pd.DataFrame:
    rows: list[Mapping[str, str | float | Interval]] = []
    margins = loops.margins_table()
    for case in SWING_CASES:
        row: dict[str, str | float | Interval] = {"case": CASES[case].title}
        row |= {title: interval(values(base, key, case=case)) for title, key in SWINGS.items()}
        rows.append(row | {"gain margin by the model, dB": _model_db(margins, case)})
    return intervals_table(rows)


def _model_db(margins: pd.DataFrame, case: str) -> float:
    """Return the loop's gain margin with the loaded round trip, as derived here; plain RED's for RED."""
    loaded = margins[margins["R"].str.contains(" packets")]
    if case == "RED":
        return float(loaded[loaded["loop"].str.startswith("plain")]["dB"].iloc[0])
    share = dict(zip(CHANNEL_CASES, loops.SHARES, strict=True))[case]
    own = loaded[(loaded["loop"] == "with r_p N") & (loaded["r_p"] == share)]
    return float(own["dB"].iloc[0])
