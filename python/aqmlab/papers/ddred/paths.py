"""Transfers by the length of their paths, bandwidths, routers that lose packets, and bursts of losses."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.papers.common import Setup
from aqmlab.papers.common.recorded import table_of
from aqmlab.results import folders
from aqmlab.scenario.file import Scenario

BURST_GAP_S = 0.05
"""Losses of one flow belong to one burst while no gap between two is larger, in s (reading D-15)."""
SETTLED_S = 1.0
"""Bursts are looked at from here on, when slow start is over."""


def routers_between(plan: Scenario) -> dict[tuple[str, str], int]:
    """Return the number of routers on the shortest path between each two workstations, whose names begin with h."""
    return _routers_between(frozenset((link.from_, link.to) for link in plan.links))


@cache
def _routers_between(links: frozenset[tuple[str, str]]) -> dict[tuple[str, str], int]:
    after: dict[str, set[str]] = {}
    for start, end in links:
        after.setdefault(start, set()).add(end)
    found: dict[tuple[str, str], int] = {}
    for host in (node for node in after if node.startswith("h")):
        known, edge = {host: -1}, {host}
        while edge:
            edge = {end for node in edge for end in after[node]} - known.keys()
            known |= dict.fromkeys(edge, max(known.values()) + 1)
        found |= {(host, end): n for end, n in known.items() if end.startswith("h") and end != host}
    return found


def transfers(setup: Setup, folder: Path) -> pd.DataFrame:
    """Return the transfers of one run with ``routers`` on their path, ``time`` in s (NaN if not done) and bytes."""
    flows = table_of(folder, "flows")
    between = routers_between(setup.plan)
    time = (flows["last_received_s"] - flows["first_sent_s"]).where(flows["finish_s"].notna())
    routers = [between[ends] for ends in zip(flows["from"], flows["to"], strict=True)]
    return flows.assign(routers=routers, time=time)


def times_by_length(setup: Setup, folder: Path) -> Mapping[int, float]:
    """Return the mean transfer time in s by the number of routers on the path."""
    means = transfers(setup, folder).groupby("routers")["time"].mean()
    return {int(str(routers)): float(time) for routers, time in means.items()}


def shares_of(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run of a network: times on the shortest and longest paths, bandwidths in KB/s, and Jain's index."""
    flows, lengths = transfers(setup, folder), set(routers_between(setup.plan).values())
    rate = flows["size_bytes"] / flows["time"] / 1000
    last = flows["last_received_s"].max() - flows["first_sent_s"].min()
    short, long = (flows.loc[flows["routers"] == end(lengths), "time"].mean() for end in (min, max))
    return {
        "time_short": float(short),
        "time_long": float(long),
        "kilobytes": float(flows["size_bytes"].sum() / 1000),
        "bandwidth": float(flows["size_bytes"].sum() / last / 1000),
        "flow_mean": float(rate.mean()),
        "flow_median": float(rate.median()),
        "jain": float(rate.sum() ** 2 / len(rate) / (rate**2).sum()),
    }


def lossy_routers(folder: Path) -> dict[str, float]:
    """Count the routers that lost data packets, and how many with equal losses would be as concentrated as these.

    The second number is (sum x)^2 / sum x^2 over the losses x of each router; both leave out workstations.
    """
    table = folders.read_table(folder, "drop_distances")
    if table is None:
        return {"lossy": 0.0, "lossy_equal": 0.0}
    drops = table.to_pandas()
    drops = drops[drops["link"].str.startswith("r")]
    lost = drops.groupby(drops["link"].str.partition("->")[0])["data_drops"].sum().to_numpy(dtype=float)
    squares = float((lost**2).sum())
    return {"lossy": float(np.count_nonzero(lost)), "lossy_equal": float(lost.sum() ** 2 / squares) if squares else 0.0}


def burst_length(folder: Path) -> float:
    """Return the mean number of losses in a burst of one flow at the observed queue; NaN without losses.

    >>> import tempfile, pyarrow as pa
    >>> time = [0.5, 2.0, 2.04, 2.08, 3.0, 2.01]
    >>> table = pa.table({"t_s": time, "flow": ["a"] * 5 + ["b"]})
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folders.write_seed(Path(name), {"seed": 1}, {"losses": table})
    ...     round(burst_length(Path(name)), 3)
    1.667
    """
    table = folders.read_table(folder, "losses")
    if table is None:
        return float("nan")
    losses = table.to_pandas()
    losses = losses[losses["t_s"] >= SETTLED_S].sort_values(["flow", "t_s"])
    begins = (losses["flow"] != losses["flow"].shift()) | (losses["t_s"].diff() > BURST_GAP_S)
    return len(losses) / int(begins.sum()) if len(losses) else float("nan")


def victims_of(folder: Path) -> dict[str, float]:
    """Read the flows that successive losses hit: shares that hit PCs2 and that hit the flow of the loss before.

    ``loss_lag`` is the correlation of the flow of a loss with that of the loss before, without value if all hit one.

    >>> import tempfile, pyarrow as pa
    >>> table = pa.table({"t_s": [0.5, 2.0, 3.0, 4.0, 5.0], "flow": ["a", "PCs2", "PCs2", "PCs1", "PCs2"]})
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folders.write_seed(Path(name), {"seed": 1}, {"losses": table})
    ...     {key: round(value, 3) for key, value in victims_of(Path(name)).items()}
    {'near_losses': 0.75, 'same_flow': 0.333, 'loss_lag': -0.5}
    """
    table = folders.read_table(folder, "losses")
    if table is None:
        return {}
    losses = table.to_pandas()
    near = (losses[losses["t_s"] >= SETTLED_S].sort_values("t_s")["flow"] == "PCs2").to_numpy(dtype=float)
    before, after = near[:-1], near[1:]
    if not len(after):
        return {}
    found = {"near_losses": float(near.mean()), "same_flow": float(np.mean(before == after))}
    if np.ptp(before) and np.ptp(after):
        found["loss_lag"] = float(np.corrcoef(before, after)[0, 1])
    return found


def recovery_of(folder: Path) -> dict[str, float]:
    """Read the mean time in s from a loss of a data packet at R2 to the arrival of its retransmission, by flow.

    Losses without a retransmission before the end are left out.
    """
    table = folders.read_table(folder, "packets")
    if table is None:
        return {}
    packets = table.to_pandas()
    packets = packets[packets["packet"] == "data"].sort_values("offered_s", kind="stable")
    packets["again_s"] = packets.groupby(["flow", "seq"])["offered_s"].shift(-1)
    lost = packets[packets["dropped_s"] >= SETTLED_S]
    means = (lost["again_s"] - lost["dropped_s"]).groupby(lost["flow"]).mean()
    return {f"recovery_{name}": float(means[flow]) for flow, name in enumerate(("far", "near")) if flow in means}
