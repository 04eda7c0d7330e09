"""Measurements of each run, in one table: a row per case, discipline, abscissa, reading and seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aqmlab.papers.common import Setup
from aqmlab.papers.common.figures import table_of, throughput
from aqmlab.results.quantities import ratio

LINK = "core"
ASSURED, BEST_EFFORT = "assured", "best-effort"
CIR_MBPS = 4.0
"""The committed rate, and the rate of the on-off source while it is on."""
ABOVE_MBPS = 6.0
"""Rate of an assured source that sends more than its committed 4 Mb/s."""
MORE_FLOWS = "more flows"
"""The first experiment beside more best-effort flows than its four."""
ABOVE = "above the committed rate"
"""The second experiment with that source."""
FIRST = ("experiment1", MORE_FLOWS)
"""Cases of the first experiment."""
BUFFERED = "other buffers"
"""The first experiment with other buffers and dialects."""
DEAD_ZONE = "dead zone"
"""The first experiment with a sample of the thresholds at each update."""
LITTLE = "small assured traffic"
"""The second experiment with an assured source that is always on and sends less than its committed rate."""
OF_EXPERIMENT_1 = (*FIRST, BUFFERED, DEAD_ZONE)
"""All cases with runs of the first experiment."""
SECOND = {"experiment2": CIR_MBPS, ABOVE: ABOVE_MBPS}
"""Cases of the second experiment, and the rate of the assured source."""
PERIODS_S = ((0, 100), (100, 200), (200, 300), (300, 400))
"""Periods of the first experiment; the assured flow is active in the second and the fourth."""
PERIODS = tuple(f"{begin}-{end} s" for begin, end in PERIODS_S)
"""Their names."""
ACTIVE = (1, 3)
EPSILON = 0.025
"""Dead zone around C', as a share of it (Table 1)."""
TSW_WINDOW_S = 5.0
"""Window of the estimate of the rate (Table 1)."""
AF11, BE = 10, 0
"""Code points of in- and out-of-profile packets."""
BASES = {"arrived": "arrived_bytes", "delivered": "delivered_bytes"}
"""Throughput as bytes arriving at the receiver, and as bytes delivered in order: columns of the samples of flows."""
FLOW_BYTES = {"arrived": "arrived_bytes", "delivered": "goodput_bytes"}
"""The same two in the table of flows."""


def read_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run."""
    link = row(table_of(folder, "links"), link=LINK)
    duration_s = setup.plan.duration_s - setup.plan.warmup_s
    capacity_bps = setup.plan.link(LINK).rate_bps
    numbers = {
        "loss": ratio(link["drops"], link["arrivals"]),
        "mean_queue": link["mean_queue"],
        "mean_delay_ms": link["mean_delay_s"] * 1e3,
    }
    flows = table_of(folder, "flows")
    case = setup.key["case"]
    if case in OF_EXPERIMENT_1:
        found = gauges(folder)
        numbers |= periods(folder) | reference_point(found, capacity_bps=capacity_bps)
        numbers |= {"updates": updates(found)} if case == DEAD_ZONE else {}
        numbers |= highest_rate(found, capacity_bps=capacity_bps)
        numbers["drops_assured"] = float(flows.loc[flows["group"] == ASSURED, "drops"].sum())
    elif case in (*SECOND, LITTLE):
        rate_mbps = SECOND.get(str(case), float(setup.key["x"]) / 1e3)
        numbers |= second_experiment(flows, duration_s=duration_s, capacity_bps=capacity_bps, rate_mbps=rate_mbps)
    else:
        for basis, column in FLOW_BYTES.items():
            numbers[f"utilization_{basis}"] = float(flows[column].sum()) * 8 / duration_s / capacity_bps
        numbers["sd_average"] = link["sd_average"]
        numbers["timeouts"] = float(flows["timeouts"].sum()) / len(flows) / (duration_s / 60)
    return numbers | (by_code_point(folder) if case in (*OF_EXPERIMENT_1, *SECOND) else {})


def second_experiment(
    flows: pd.DataFrame, *, duration_s: float, capacity_bps: float, rate_mbps: float = CIR_MBPS
) -> dict[str, float]:
    """Best-effort utilization, and assured throughput while on.

    The source sends at 4 Mb/s (or `rate_mbps`) while it is on, so its throughput then is the share that arrives,
    times this rate.

    >>> flows = pd.DataFrame({"group": ["assured", "best-effort"], "sent_bytes": [1000, 0],
    ...                       "arrived_bytes": [990, 5000], "goodput_bytes": [990, 4000]})
    >>> second_experiment(flows, duration_s=1.0, capacity_bps=80000)
    {'u_be_arrived': 0.5, 'on_arrived': 3.96, 'u_be_delivered': 0.4, 'on_delivered': 3.96}
    """
    assured, others = flows[flows["group"] == ASSURED], flows[flows["group"] == BEST_EFFORT]
    numbers = {}
    for basis, column in FLOW_BYTES.items():
        numbers[f"u_be_{basis}"] = float(others[column].sum()) * 8 / duration_s / capacity_bps
        numbers[f"on_{basis}"] = rate_mbps * ratio(float(assured[column].sum()), float(assured["sent_bytes"].sum()))
    return numbers


def periods(folder: Path) -> dict[str, float]:
    """Throughput of the first experiment in Mb/s: assured, best effort and total in each of the four periods."""
    numbers = {}
    for basis, column in BASES.items():
        series = throughput(folder, column)
        for index, (begin, end) in enumerate(PERIODS_S):
            own = series[(series["t_s"] > begin) & (series["t_s"] <= end)].mean()
            for kind in (ASSURED, BEST_EFFORT, "total"):
                numbers[f"{kind.replace('-', '_')}_{index}_{basis}"] = float(own[kind])
    return numbers


def by_code_point(folder: Path) -> dict[str, float]:
    """Loss of in- and out-of-profile packets at the bottleneck, and the share that is in profile."""
    rows = table_of(folder, "code_points")
    numbers = {}
    for name, dscp in (("in", AF11), ("out", BE)):
        own = row(rows, link=LINK, dscp=dscp)
        for key in ("arrivals", "drops"):
            numbers[f"{key}_{name}"] = float(own.get(key, 0))
        numbers[f"loss_{name}"] = ratio(numbers[f"drops_{name}"], numbers[f"arrivals_{name}"])
    return numbers


def reference_point(found: pd.DataFrame, *, capacity_bps: float) -> dict[str, float]:
    """Return the behaviour of Adaptive-RIO in the active periods, by `gauges`; NaN in a discipline that does not adapt.

    Means of C' over C and of max_th in packets, and the share of the time in which the rate is above C' + epsilon.
    """
    active = np.zeros(len(found), dtype=bool)
    for index in ACTIVE:
        begin, end = PERIODS_S[index]
        active |= ((found["t_s"] > begin) & (found["t_s"] <= end)).to_numpy()
    own = found[active]
    if "max_th_out" not in own:
        return dict.fromkeys(("c_share", "max_th", "over_share"), np.nan)
    return {
        "c_share": float(own["c_threshold_bps"].mean()) / capacity_bps,
        "max_th": float(own["max_th_out"].mean()),
        "over_share": float((own["rate_bps"] > (1 + EPSILON) * own["c_threshold_bps"]).mean()),
    }


def highest_rate(found: pd.DataFrame, *, capacity_bps: float) -> dict[str, float]:
    """Return the highest rate of all arrivals over C, and the average of all packets then, by `gauges`.

    NaN in a discipline that does not estimate the rate. The first window of the estimate is left out.
    """
    if "rate_bps" not in found:
        return {"peak_rate": np.nan, "peak_queue": np.nan}
    later = found[found["t_s"] > TSW_WINDOW_S]
    peak = int(later["rate_bps"].argmax())
    return {
        "peak_rate": float(later["rate_bps"].iloc[peak]) / capacity_bps,
        "peak_queue": float(later["average_1"].iloc[peak]),
    }


def updates(found: pd.DataFrame) -> float:
    """Return the changes of max_th in a minute of the active periods; the samples must be an update interval apart."""
    counts, minutes = 0, 0.0
    for index in ACTIVE:
        begin, end = PERIODS_S[index]
        own = found[(found["t_s"] > begin) & (found["t_s"] <= end)]
        counts += int((np.diff(own["max_th_out"]) != 0).sum())
        minutes += (end - begin) / 60
    return counts / minutes


def gauges(folder: Path) -> pd.DataFrame:
    """Return the discipline's gauges over time: a column per gauge, a row per time."""
    rows = table_of(folder, "discipline_samples")
    return rows[rows["link"] == LINK].pivot_table(index="t_s", columns="name", values="value").reset_index()


def row(rows: pd.DataFrame, **where: str | int) -> dict[str, Any]:
    """Return the first row with these values, or an empty dict without a match."""
    fits = np.ones(len(rows), dtype=bool)
    for column, value in where.items():
        fits &= (rows[column] == value).to_numpy()
    found = rows[fits].to_dict("records")
    return {str(key): value for key, value in found[0].items()} if found else {}
