"""The section on the best curve: findings in words made of the numbers, figures and tables."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from aqmlab.papers.common import Figure, Study, Table, Text, intervals_text
from aqmlab.papers.common.contents import Block
from aqmlab.papers.common.open_loop import Averaged
from aqmlab.papers.exred import best
from aqmlab.papers.exred.chain import averaged as averaged_chain
from aqmlab.papers.exred.plan import CAPACITY
from aqmlab.theory.queueing.best_curve import TIE, best_map, describe
from aqmlab.theory.queueing.frontier import SLIGHT, excess_loss

SAID = (10.0, 15.0, 30.0)
"""Delays that are in the text and in the table of settings."""


def words(averaged: Averaged, table: pd.DataFrame) -> list[str]:
    """Return the findings, in sentences made of the numbers."""
    alone, other = best_map(best.without_average()), best_map(best.with_average(averaged))
    least = table[table["goal"] == "least loss"]
    worst = least.nlargest(1, "excess").to_dict("records")[0]
    near = least[least["load"] == 1.0].groupby("shape")["excess"].max()
    return [
        f"Same parameters, w = 1: {' '.join(describe(alone))}",
        f"Same parameters, w = 0.02, at the loads solved: {' '.join(describe(other))}",
        "Own parameters: no curve loses less than drop-tail with a shorter buffer does at the same mean delay (the "
        f"smallest difference of {len(least)} best settings is {least['excess'].min():.1e}); so at equal delay no "
        "curve carries more, whatever its shape and its average: the best policy for M/M/1 is a threshold on the "
        "queue itself. At load 1 the best settings of each shape lose at most "
        + ", ".join(f"{shape} {excess:.2%}" for shape, excess in near.items())
        + " of the arrivals more, at the worst of the delays asked for (RED and NLRED with a max_p near 0 are "
        f"drop-tail with a buffer of max_th); the largest difference is {worst['excess']:.2%} ({worst['shape']}, load "
        f"{worst['load']}, delay {worst['delay']:.1f}).",
        "What a curve has to offer against a shorter buffer is fewer drops in a row, for some more loss. With the "
        f"paper's parameters at load 1 (drop-tail: E(N) 2): {_offers()}. With settings of their own that lose at most "
        f"{SLIGHT:.1%} more, E(N) at load 1 is {_shortest(table)}.",
        f"Averaging adds to the loss, whatever the curve: {_averaging(averaged)}.",
        "All of this is an open loop: sources do not slow down, so it says nothing of what early drops do to TCP.",
    ]


def _offers() -> str:
    rows = best.own_parameters_table().query("load == 1.0").to_dict("records")
    return "; ".join(f"{row['curve']} {row['excess']:.2%} more loss, E(N) {row['E(N)']:.2f}" for row in rows)


def _averaging(averaged: Averaged) -> str:
    """Return the excess loss of the paper's parameters at load 1 and equal delay, without and with averaging."""
    words = []
    for row in best.own_parameters_table().query("load == 1.0").to_dict("records"):
        name = str(row["curve"])
        with_it = excess_loss(best.outcome_of(averaged, name, 1.0), capacity=CAPACITY)
        words.append(f"{name} {row['excess']:.2%} without, {with_it:.2%} with w = 0.02")
    return "with the paper's parameters at load 1 the loss above the least at the same delay is " + "; ".join(words)


def _shortest(table: pd.DataFrame) -> str:
    """Say how short the runs of drops of each shape can be at some delays."""
    rows = table[(table["goal"] == "shortest runs") & (table["load"] == 1.0)]
    words = []
    for delay in SAID:
        own = rows[rows["near"] == delay].sort_values("mean_run")
        found = ", ".join(f"{row['shape']} {row['mean_run']:.2f}" for row in own.to_dict("records"))
        words.append(f"near a delay of {delay:g}: {found}")
    return "; ".join(words)


def blocks(study: Study) -> Iterator[Block]:
    """Yield the contents of the section."""
    averaged = averaged_chain(study.effort, study.root)
    table = best.settings_table(study.effort, study.root)
    yield Text(
        "None of the papers asks this of all curves at once. Six of them (drop-tail, RED, gentle RED, MRED, ExRED, "
        "NLRED) get the same thresholds, max_p and K. Delay needs a price: utility is throughput/μ less price x mean "
        f"time in system; curves within {TIE:.1%} of μ of the best are tied. NLRED is that of Zhou, Yeung and Li."
    )
    yield from (Text(sentence) for sentence in words(averaged, table))
    for chart in [*best.charts(averaged, table), *best.averaging_charts(study.effort, study.root)]:
        yield Figure(chart)
    yield Table(
        "best-curve-switches",
        best.switch_table(best.with_average(averaged)),
        caption="Which curve is best from which price on, w = 0.02, ties not regarded: the corners of the hull of "
        "throughput over delay.",
    )
    confirmed = best.confirmed(study.base, averaged)
    yield Table(
        "best-curve-confirmed",
        confirmed,
        intervals_text(confirmed, signed=["lead, simulated"]),
        caption="Places of the map beside the event simulation with w = 0.02: the lead in utility of the best curve "
        "over the next, paired by seed, with 95 % interval.",
        digits=3,
    )
    yield Table(
        "best-curve-offers",
        best.own_parameters_table(),
        caption="The paper's parameters, w = 1: mean time in system in service times, loss, the least loss of any "
        "discipline at that delay, the excess over it, and drops in a row.",
        digits=4,
    )
    yield Table(
        "best-curve-settings",
        table,
        table[table["near"].isin(SAID)].drop(columns=["near"]),
        caption="Best settings of each shape near some mean delays (time in system in service times), w = 1: loss, its "
        "excess over the least loss of any discipline, drops in a row, parameters. Shortest runs: among settings that "
        f"lose at most {SLIGHT:.1%} more.",
        digits=3,
    )
