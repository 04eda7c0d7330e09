"""Equations (2) to (4) beside the drops of the three kinds of packets, from runs of which every drop was kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from aqmlab.papers.common import Setup, intervals_table, measured
from aqmlab.papers.common.recorded import Series, columns_of, gauges, selected
from aqmlab.papers.pc_red.measure import KINDS, LIMIT, bursts_of
from aqmlab.papers.pc_red.plan import CASES, CHANNEL_CASES, CHANNELS_SINCE_S, NEW_S
from aqmlab.papers.pc_red.replay import EVENTS, Replay, Rules, crossing, replay
from aqmlab.statistics import Interval
from aqmlab.theory.control.pc_red import channels, paid_by_protected

WAYS = {
    "eq3": "(3), C_p+ = 0",
    "eq4": "(2) and (4)",
    "packets": "(2) and (4), packets for flows",
    "picks": "picks in the queue as it was",
    "drops": "measured",
}
"""The compared ways to get a share, with their titles; all are shares of the drops."""


def measure_drops(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run of which every drop was kept."""
    events = columns_of(folder, "events", EVENTS)
    drops = selected(events, kind="d")
    own = bursts_of(drops, setup.plan.warmup_s) | crossings_of(setup, drops)
    return own | (channels_of(setup, events, gauges(folder)) if setup.key["case"] in CHANNEL_CASES else {})


def crossings_of(setup: Setup, drops: pa.Table) -> dict[str, float]:
    """Read when a_d of a flow that is new at `NEW_S` first passes L, by its start: L/2, or 0; the log's end if never.

    Up to then no packet of the flow is protected, so that the drops of a run without protection are its drops.
    """
    if setup.key["case"] != "unprotected":
        return {}
    rules = replace(Rules.of(setup.plan), limit=LIMIT)
    starts = {"new_half": LIMIT / 2, "new_zero": 0.0}
    return {
        name: min(crossing(drops, rules, start=start, since=NEW_S), setup.plan.duration_s) - NEW_S
        for name, start in starts.items()
    }


def channels_of(setup: Setup, events: pa.Table, listed: Series) -> dict[str, float]:
    """Read the drops of one run after its list has settled; nothing of a run without a list."""
    if not listed:
        return {}
    found = replay(events, Rules.of(setup.plan), at=listed["t_s"])
    return shares_of(found, since=CHANNELS_SINCE_S) | {"replay_gap": gap(found.gauges, listed)}


def shares_of(found: Replay, *, since: float) -> dict[str, float]:
    """Return the shares of drops by every way, the means over the drops from `since` on."""
    late = found.t_s >= since
    queue, listed, queued = found.queue[late].astype(float), found.listed[late], found.queued[late].astype(float)
    # A queue of protected packets only has no other victim: (4) has no value there.
    open_queue = queued[:, 0] < queue
    shares = {
        "eq3": channels(*listed.T),
        "eq4": channels(*listed.T, queue=queue),
        "packets": channels(*queued[open_queue].T, queue=queue[open_queue]),
    }
    numbers: dict[str, float] = {}
    for way, share in shares.items():
        for kind, own in zip(KINDS, (share.plus, share.minus, share.non), strict=True):
            numbers[f"{way}_{kind}"] = float(np.mean(own))
    picks = found.behind[late] / queue[:, None]
    for place, kind in enumerate(KINDS):
        numbers[f"picks_{kind}"] = float(np.mean(picks[:, place]))
        numbers[f"drops_{kind}"] = float(np.mean(found.kind[late] == place))
    return numbers | {
        "list_plus": float(np.mean(listed[:, 0])),
        "list_minus": float(np.mean(listed[:, 1])),
        "queue_at_drop": float(np.mean(queue)),
        "queued_plus": float(np.mean(queued[:, 0] / queue)),
        "tail": float(np.mean(found.tail[late])),
        "one_by_one": float(np.mean(paid_by_protected(queued[:, 0] / queue, queue))),
    }


def gap(own: Series, simulated: Series) -> float:
    """Return the largest difference between the list kept again and the simulator's, of all numbers and times."""
    return max(float(np.nanmax(np.abs(values - simulated[name]))) for name, values in own.items())


def shares_table(runs: pd.DataFrame) -> pd.DataFrame:
    """Return predicted beside measured: a row per case and kind."""
    rows: list[Mapping[str, str | float | Interval]] = []
    for case in CHANNEL_CASES:
        for kind, title in KINDS.items():
            row: dict[str, str | float | Interval] = {"case": CASES[case].title, "drops of packets with": title}
            row |= {name: measured(runs, f"{way}_{kind}", case=case) for way, name in WAYS.items()}
            rows.append(row | {"seeds": measured(runs, f"drops_{kind}", case=case).n})
    return intervals_table(rows)
