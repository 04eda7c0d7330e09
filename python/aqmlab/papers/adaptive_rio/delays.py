"""Queueing delay of packets in and out of profile, which no table of a run has: read off every event of a run.

The queue is first in, first out and drops arriving packets only, so the packets it took leave it in their order; what
is in profile follows from the events at the edge by the token bucket (section 2 of the paper).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from aqmlab.papers.adaptive_rio.measure import ASSURED, LINK, PERIODS_S
from aqmlab.papers.common import PaperFiles
from aqmlab.papers.common.recorded import selected
from aqmlab.results.parquet import to_arrow
from aqmlab.scenario.toml_text import Value

EDGE = "edge"
CIR_BPS = 4_000_000
BUCKET_BYTES = 25_000
"""The committed rate, and 50 ms of it."""
PS_PER_S = 10**12


def class_delays(overrides: Mapping[str, Value], seed: int) -> dict[str, float]:
    """Mean and 99 % queueing delay in ms of each class, while the assured flow is idle and active; first experiment."""
    settings = {**overrides, "probe.links": [EDGE, LINK], "probe.events": True}
    plan = PaperFiles("adaptive-rio").scenario("experiment1", settings)
    output = plan.core.run(seed)
    events = to_arrow(output["tables"]["events"], seed=seed, encoded=True)
    assured = [flow.group for flow in plan.flows].index(ASSURED)
    at_edge = selected(events, link=EDGE, kind="+", flow=assured)
    green = in_profile(at_edge["t_ps"].to_numpy(), at_edge["bytes"].to_numpy())
    return summary(*waits(selected(events, link=LINK), assured=assured, green=green))


def in_profile(time_ps: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Which packets a token bucket finds in profile; it starts full and gives to whole packets only.

    >>> in_profile(np.array([0, 0, 10**9]), np.array([24_000, 1040, 1040])).tolist()
    [True, False, True]
    """
    found = np.zeros(len(time_ps), dtype=bool)
    token = 8 * PS_PER_S  # a byte in bit/s x ps, so that no rounding decides
    bucket, last = BUCKET_BYTES * token, 0
    for index, (now, length) in enumerate(zip(time_ps.tolist(), size.tolist(), strict=True)):
        bucket = min(BUCKET_BYTES * token, bucket + CIR_BPS * (now - last))
        last = now
        if bucket >= length * token:
            bucket -= length * token
            found[index] = True
    return found


def waits(events: pa.Table, *, assured: int, green: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return arrival (s), waiting time (s) and whether it is in profile of every packet that has left the queue.

    The n-th packet of the assured flow at this queue is the n-th at the edge.
    """
    offered, dropped, begun = (pc.equal(events["kind"], sign).to_numpy() for sign in ("+", "d", "-"))
    time = events["t_ps"].to_numpy() / PS_PER_S
    of_assured = offered & (events["flow"].to_numpy() == assured)
    colour = np.zeros(len(time), dtype=bool)
    colour[of_assured] = green[: int(of_assured.sum())]
    taken = offered & ~np.append(dropped[1:], False)
    left = time[begun]
    arrived = time[taken][: len(left)]
    return arrived, left - arrived, colour[taken][: len(left)]


def summary(arrived: np.ndarray, wait: np.ndarray, green: np.ndarray) -> dict[str, float]:
    """Mean and 99 % quantile in ms, by class and state of the assured flow."""
    numbers = {}
    for state, which in (("idle", (0, 2)), ("active", (1, 3))):
        when = np.zeros(len(arrived), dtype=bool)
        for index in which:
            begin, end = PERIODS_S[index]
            when |= (arrived >= begin) & (arrived < end)
        for name, own in (("in", green), ("out", ~green)):
            chosen = wait[when & own] * 1e3
            enough = len(chosen) >= 1000
            numbers[f"mean_{name}_{state}"] = float(chosen.mean()) if enough else float("nan")
            numbers[f"p99_{name}_{state}"] = float(np.quantile(chosen, 0.99)) if enough else float("nan")
    return numbers
