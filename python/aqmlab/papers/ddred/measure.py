"""Measurements of each run, in one table: a row per case, latency, discipline, reading and seed.

L is the number of data packets lost, d the number of routers that such a packet has entered (0 in the queue of its own
workstation), S the sum of d over them (eq. 2), T the sum of the transfer times (eq. 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.papers.common import Setup
from aqmlab.papers.common.recorded import columns_of, series, table_of
from aqmlab.papers.ddred import paths
from aqmlab.papers.ddred.plan import FIGURE_LATENCY
from aqmlab.results import folders
from aqmlab.results.quantities import ratio

BIN_S = 0.5
"""Length of the bins in which the rates of the two flows are compared, in s."""
LEAD_FROM_S = 1.0
"""The lead is looked at from here on, when slow start is over."""
EVEN_S = 0.5
"""A transfer whose time changes by no more than this, in s, is neither better nor worse (reading D-13)."""

TIMES = ("first_sent_s", "last_received_s", "finish_s")
"""Columns of the table of flows that a transfer's time needs."""


def measure_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run."""
    if setup.key["case"] == "pair":
        lead = setup.key["latency"] == FIGURE_LATENCY and "flow_samples" in (setup.tables or ())
        found = shares_of(folder, seconds=setup.plan.duration_s, lead=lead)
        return found | {"burst": paths.burst_length(folder)} | paths.victims_of(folder) | paths.recovery_of(folder)
    return network_of(folder) | paths.shares_of(setup, folder) | paths.lossy_routers(folder)


def network_of(folder: Path) -> dict[str, float]:
    """L, S, S/L, T, the losses by the other ways of counting, and the number of transfers that are not done."""
    distance, data, every = losses_of(folder)
    times = transfer_times(table_of(folder, "flows", TIMES))
    lost, weighted = float(data.sum()), float((distance * data).sum())
    return {
        "L": lost,
        "S": weighted,
        "d": ratio(weighted, lost),
        "T": float(times.sum()),
        "L_routers": float(data[distance > 0].sum()),
        "L_all": float(every[distance > 0].sum()),
        "S_all": float((distance * every).sum()),
        "unfinished": float(np.isnan(times).sum()),
    }


def counted(runs: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Return the runs with losses counted in another way: ``{"L": "L_all"}`` takes that column for L."""
    found = runs.assign(**{name: runs[column] for name, column in columns.items()})
    return found.assign(d=found["S"] / found["L"])


def losses_of(folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances from 0 on, data packets lost at each in all queues together, and packets of any kind."""
    table = folders.read_table(folder, "drop_distances")
    if table is None:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    found = table.to_pandas().groupby("distance")[["data_drops", "drops"]].sum()
    distance, data, every = (x.to_numpy(dtype=float) for x in (found.index, found["data_drops"], found["drops"]))
    return distance, data, every


def transfer_times(flows: pd.DataFrame) -> np.ndarray:
    """Last data packet received less first one sent, in s; NaN for a transfer that is not done."""
    times = (flows["last_received_s"] - flows["first_sent_s"]).to_numpy(dtype=float)
    done = flows["finish_s"].notna().to_numpy()
    return np.where(done, times, np.nan)


def shares_of(folder: Path, *, seconds: float, lead: bool) -> dict[str, float]:
    """Throughput of the two flows in KB/s (1000 B, headers counted), and how they share."""
    rows = columns_of(folder, "flows", ["flow", "arrived_bytes"])
    arrived = dict(zip(rows["flow"].to_pylist(), rows["arrived_bytes"].to_pylist(), strict=True))
    far, near = (arrived[flow] / seconds / 1000 for flow in ("PCs1", "PCs2"))
    values = {"PCs1": far, "PCs2": near, "fairness": min(far, near) / max(far, near)}
    return values | (lead_of(folder) if lead else {})


def lead_of(folder: Path) -> dict[str, float]:
    """How the lead changes: share of the bins in which the flow leads that leads less often, and number of changes."""
    time, rate = rates_of(folder, BIN_S)
    ahead = (rate["PCs1"] > rate["PCs2"])[time >= LEAD_FROM_S]
    share = float(np.mean(ahead))
    return {"second_lead": min(share, 1 - share), "changes": float(np.count_nonzero(np.diff(ahead)))}


def rates_of(folder: Path, bin_s: float) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Beginnings of bins in s, and throughput of each flow in each in KB/s; the last, partial bin is left out."""
    flows = series(columns_of(folder, "flow_samples", ["t_s", "flow", "arrived_bytes"]), "flow", "arrived_bytes")
    time = np.append(0.0, flows.pop("t_s"))
    edges = np.arange(int(time[-1] / bin_s + 1e-9) + 1) * bin_s
    counts = {name: np.interp(edges, time, np.append(0.0, own)) for name, own in flows.items()}
    return edges[:-1], {name: np.diff(own) / bin_s / 1000 for name, own in counts.items()}


def sums_of(gained: np.ndarray) -> dict[str, float]:
    """Count the transfers that are better, worse and even, and sum the seconds; ``all_`` counts even ones too.

    >>> sums_of(np.array([3.0, 0.2, -0.1, -0.3, -1.0]))["better"], sums_of(np.array([3.0, 0.2]))["all_better"]
    (1, 2)
    """
    better, worse = gained[gained > EVEN_S], gained[gained < -EVEN_S]
    return {
        "better": len(better),
        "worse": len(worse),
        "even": len(gained) - len(better) - len(worse),
        "gained": float(better.sum()),
        "lost": float(-worse.sum()),
        "all_better": int(np.count_nonzero(gained > 0)),
        "all_worse": int(np.count_nonzero(gained < 0)),
    }


def gains_of(red: Path, ddred: Path) -> np.ndarray:
    """Transfer time under RED less that under DDRED, of every transfer of one run, in s."""
    before, after = table_of(red, "flows"), table_of(ddred, "flows")
    drawn = ["flow", "from", "to", "size_packets", "start_s"]
    if not before[drawn].equals(after[drawn]):
        raise ValueError(f"{red} and {ddred} do not have the same transfers")
    found: np.ndarray = transfer_times(before) - transfer_times(after)
    return found


def crossing(runs: pd.DataFrame, *, discipline: str = "DDRED") -> float:
    """Return the latency in ms where the mean log ratio of the two flows passes 0 downwards; NaN if nowhere."""
    rows = runs[(runs["case"] == "pair") & (runs["discipline"] == discipline)]
    means = rows.assign(ratio=np.log(rows["PCs1"] / rows["PCs2"])).groupby("latency")["ratio"].mean()
    x, y = np.log(means.index.to_numpy(dtype=float)), means.to_numpy(dtype=float)
    for i in range(len(x) - 1):
        if y[i] > 0 >= y[i + 1]:
            return float(np.exp(x[i] + (x[i + 1] - x[i]) * y[i] / (y[i] - y[i + 1])))
    return float("nan")
