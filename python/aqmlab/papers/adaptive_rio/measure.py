"""Measurements of each run, in one table: a row per case, discipline, abscissa, reading and seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab.papers.common import Setup, recorded
from aqmlab.papers.common.recorded import Series, row_of, table_of, throughput
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

OF_LINKS = ("link", "arrivals", "drops", "mean_queue", "mean_delay_s", "sd_average")
OF_FLOWS = ("group", "sent_bytes", *FLOW_BYTES.values(), "drops", "timeouts")
"""Columns that are read of these tables."""


def read_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run."""
    link = row_of(folder, "links", OF_LINKS, link=LINK)
    duration_s = setup.plan.duration_s - setup.plan.warmup_s
    capacity_bps = setup.plan.link(LINK).rate_bps
    numbers = {
        "loss": ratio(link["drops"], link["arrivals"]),
        "mean_queue": link["mean_queue"],
        "mean_delay_ms": link["mean_delay_s"] * 1e3,
    }
    flows = table_of(folder, "flows", OF_FLOWS)
    case = setup.key["case"]
    if case in OF_EXPERIMENT_1:
        found = recorded.gauges(folder, link=LINK)
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
            own = (series["t_s"] > begin) & (series["t_s"] <= end)
            for kind in (ASSURED, BEST_EFFORT, "total"):
                numbers[f"{kind.replace('-', '_')}_{index}_{basis}"] = float(series[kind][own].mean())
    return numbers


def by_code_point(folder: Path) -> dict[str, float]:
    """Loss of in- and out-of-profile packets at the bottleneck, and the share that is in profile."""
    numbers = {}
    for name, dscp in (("in", AF11), ("out", BE)):
        own = row_of(folder, "code_points", link=LINK, dscp=dscp)
        for key in ("arrivals", "drops"):
            numbers[f"{key}_{name}"] = float(own.get(key, 0))
        numbers[f"loss_{name}"] = ratio(numbers[f"drops_{name}"], numbers[f"arrivals_{name}"])
    return numbers


def reference_point(found: Series, *, capacity_bps: float) -> dict[str, float]:
    """Return the behaviour of Adaptive-RIO in the active periods, by `gauges`; NaN in a discipline that does not adapt.

    Means of C' over C and of max_th in packets, and the share of the time in which the rate is above C' + epsilon.
    """
    if "max_th_out" not in found:
        return dict.fromkeys(("c_share", "max_th", "over_share"), np.nan)
    active = np.zeros(len(found["t_s"]), dtype=bool)
    for index in ACTIVE:
        begin, end = PERIODS_S[index]
        active |= (found["t_s"] > begin) & (found["t_s"] <= end)
    threshold_bps = found["c_threshold_bps"][active]
    return {
        "c_share": float(threshold_bps.mean()) / capacity_bps,
        "max_th": float(found["max_th_out"][active].mean()),
        "over_share": float((found["rate_bps"][active] > (1 + EPSILON) * threshold_bps).mean()),
    }


def highest_rate(found: Series, *, capacity_bps: float) -> dict[str, float]:
    """Return the highest rate of all arrivals over C, and the average of all packets then, by `gauges`.

    NaN in a discipline that does not estimate the rate. The first window of the estimate is left out.
    """
    if "rate_bps" not in found:
        return {"peak_rate": np.nan, "peak_queue": np.nan}
    later = found["t_s"] > TSW_WINDOW_S
    rate_bps, average = found["rate_bps"][later], found["average_1"][later]
    peak = int(rate_bps.argmax())
    return {"peak_rate": float(rate_bps[peak]) / capacity_bps, "peak_queue": float(average[peak])}


def updates(found: Series) -> float:
    """Return the changes of max_th in a minute of the active periods; the samples must be an update interval apart."""
    counts, minutes = 0, 0.0
    for index in ACTIVE:
        begin, end = PERIODS_S[index]
        own = (found["t_s"] > begin) & (found["t_s"] <= end)
        counts += int((np.diff(found["max_th_out"][own]) != 0).sum())
        minutes += (end - begin) / 60
    return counts / minutes
