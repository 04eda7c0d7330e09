"""Measurements of each run: the queue, the flows' throughput, a_d, and the drops of the three kinds of packets."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from aqmlab.papers.common import Setup, chosen
from aqmlab.papers.common.recorded import Series, columns_of, gauges, grid
from aqmlab.papers.pc_red.plan import BURSTS, SWING_CASES
from aqmlab.results import folders
from aqmlab.results.quantities import ratio

CLASSES = ("high", "non", "late")
"""The groups of flows: with priority, without, and asking for it late (see ``admission.toml``)."""
BIN_S = 20.0
"""Throughput is counted in bins of 20 s (reading "bins")."""
OTHER_BINS_S = (5.0, 10.0, 60.0)
"""Other lengths of the bins, for the readings of the measurement."""
OF_BINS = ("min", "max", "mid", "mean", "sd")
"""Numbers of a flow's throughput that are of bins."""
SHORT_S = 500.0
"""Another length of Experiment 1, whose length is not printed."""
LIMIT = 70.0
"""L of the simulations."""
MAX_TH = 35.0
"""max_th of the simulations, in packets."""
WINDOW_S = 100.0
"""Length of the pieces of a run whose spectra are averaged."""
SHORT_RISE_S = 10.0
"""Longest time that the average queue stays above its mean by one standard deviation in a short rise."""
BURST, BURST_GAP_S = 5, 0.1
"""Definition of a burst of drops: its least number of drops, and the largest gap between two of them in s."""
PER_S = 1e12
"""Picoseconds in a second."""
KINDS = {"plus": "a_d above L", "minus": "a_d up to L", "non": "no priority"}
"""The three kinds of packets of the paper's section 3: N_p+, N_p- and N_n."""


def measure_run(setup: Setup, folder: Path) -> dict[str, float]:
    """Read one run; what it did not record is left out."""
    since = setup.plan.warmup_s
    samples, found = folders.read_table(folder, "queue_samples", ["t_s", "average", "queue_packets"]), gauges(folder)
    queue = {} if samples is None else queue_of(samples, since, swinging=setup.key["case"] in SWING_CASES)
    losses = losses_of(found, since) | ({} if samples is None else short_rises_of(found, samples, since))
    return flows_of(folder, since) | queue | losses | utilization_of(folder)


def utilization_of(folder: Path) -> dict[str, float]:
    """Return the utilization of Network 1's link and of the second path; empty for other networks."""
    rows = columns_of(folder, "links", ["link", "utilization"]).to_pylist()
    names = {"bottleneck": "utilization", "second": "second_path"}
    return {names[row["link"]]: row["utilization"] for row in rows if row["link"] in names}


def queue_of(table: pa.Table, since: float, *, swinging: bool = False) -> dict[str, float]:
    """RED's average and the queue over time, in packets, and how it swings, by the samples of the queue."""
    settled = table.column("t_s").to_numpy() >= since
    average = table.column("average").to_numpy()[settled]
    queue = table.column("queue_packets").to_numpy()[settled]
    step = float(table.column("t_s")[1].as_py() - table.column("t_s")[0].as_py())
    found = swings(queue.astype(float), step) if swinging else {}
    return found | {
        "average_mean": float(np.mean(average)),
        "average_sd": float(np.std(average)),
        "average_half_range": half_range(average),
        "queue_mean": float(np.mean(queue)),
        "queue_sd": float(np.std(queue)),
        "above_share": float(np.mean(average >= MAX_TH)),
    }


def spectrum(queue: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Hz, and the queue's power spectrum in packets^2/Hz (Welch's method, windows of 100 s).

    Without the mean, and without the highest frequency: there the link's own clock is seen, which sends 12 and 13
    packets by turns between two samples of 100 ms.
    """
    from scipy.signal import welch

    frequency, power = welch(queue, fs=1 / step, nperseg=min(round(WINDOW_S / step), len(queue)))
    return frequency[1:-1], power[1:-1]


def swings(queue: np.ndarray, step: float) -> dict[str, float]:
    """Return where the queue's swings lie: their strongest frequency, and the share of variance around it.

    A loop close to instability swings at one frequency: most of the variance lies within a factor of sqrt(2) of it.

    >>> time = np.arange(0.0, 1000.0, 0.5)
    >>> found = swings(30 + 5 * np.sin(2 * np.pi * 0.2 * time), 0.5)
    >>> round(found["swing_hz"], 3), round(found["swing_share"], 2)
    (0.2, 1.0)
    """
    frequency, power = spectrum(queue, step)
    peak = float(frequency[int(np.argmax(power))])
    around = (frequency >= peak / math.sqrt(2)) & (frequency <= peak * math.sqrt(2))
    return {"swing_hz": peak, "swing_share": ratio(float(power[around].sum()), float(power.sum()))}


def flows_of(folder: Path, since: float) -> dict[str, float]:
    """Throughput of the observed flow of each class (the first one), and of the class, in KB/s (1000 B)."""
    names, time, delivered, arrived = flow_samples(folder)
    numbers: dict[str, float] = {}
    for group in CLASSES:
        own = [i for i, name in enumerate(names) if name.split(".")[0] == group]
        if not own:
            continue
        first = own[0]
        numbers |= spread(rates(since, time, delivered[:, first]), group)
        numbers[f"{group}_class"] = float(np.mean(rates(since, time, delivered[:, own])))
        numbers[f"{group}_first"] = float(np.mean(delivered[time <= since][-1][own])) / since / 1000
        numbers[f"{group}_arrived_mid"] = mid_range(rates(since, time, arrived[:, first]))
        for width in OTHER_BINS_S:
            if time[1] - time[0] <= width <= time[-1] - since:
                others = spread(rates(since, time, delivered[:, first], width=width), group)
                numbers |= {f"{name}_{width:g}s": number for name, number in others.items()}
        if since + BIN_S <= SHORT_S:
            numbers[f"{group}_mid_short"] = mid_range(rates(since, time, delivered[:, first], until=SHORT_S))
    return numbers


def spread(rate: np.ndarray, group: str) -> dict[str, float]:
    """Both averages of a flow's throughput, and what they are made of.

    >>> spread(np.array([1.0, 2.0, 6.0]), "high")["high_mid"], spread(np.array([1.0, 2.0, 6.0]), "high")["high_mean"]
    (3.5, 3.0)
    """
    return {
        f"{group}_min": float(np.min(rate)),
        f"{group}_max": float(np.max(rate)),
        f"{group}_mid": mid_range(rate),
        f"{group}_mean": float(np.mean(rate)),
        f"{group}_sd": float(np.std(rate)),
    }


def rates(
    since: float, time: np.ndarray, count: np.ndarray, *, width: float = BIN_S, until: float = math.inf
) -> np.ndarray:
    """KB/s in consecutive bins from `since` on, from bytes counted since the start.

    >>> rates(100.0, np.arange(0.0, 165.0, 5.0), 1000.0 * np.arange(0.0, 165.0, 5.0))
    array([1., 1., 1.])
    """
    kept = (time >= since) & (time <= until)
    step = round(width / (time[1] - time[0]))
    return np.asarray(np.diff(count[kept][::step], axis=0) / width / 1000)


def with_bins(runs: pd.DataFrame, width: float) -> pd.DataFrame:
    """Return runs whose throughputs are of bins of another width in s, one of `OTHER_BINS_S`."""
    found = runs.copy()
    for name in (f"{group}_{number}" for group in CLASSES for number in OF_BINS):
        if f"{name}_{width:g}s" in runs:
            found[name] = runs[f"{name}_{width:g}s"]
    return found


def losses_of(own: Series, since: float) -> dict[str, float]:
    """a_d and the drops of the three kinds of packets, as PC-RED itself keeps them; empty under others."""
    if "a_d_first_high" not in own:
        return {}
    time = own["t_s"]
    numbers: dict[str, float] = {}
    for group in CLASSES[:2]:
        numbers |= rate_of_loss(since, time, own[f"a_d_first_{group}"], group)
        numbers[f"{group}_a_d_class"] = float(np.mean(own[f"a_d_{group}"][time >= since]))
    crossed = own["a_d_first_high"] > LIMIT
    numbers["crossing_s"] = float(time[crossed][0]) if crossed.any() else math.nan
    numbers["below_share"] = float(np.mean(~crossed))
    after = own["a_d_first_high"][int(np.argmax(crossed)) :] if crossed.any() else np.array([math.nan])
    numbers["high_a_d_crossed"] = float(np.mean(after))
    numbers["high_a_d_crossed_sd"] = float(np.std(after))
    begin = int(np.searchsorted(time, since))
    for kind in KINDS:
        counts = (own[f"{name}_{kind}"] for name in ("drops", "arrivals"))
        numbers[f"p_{kind}"] = ratio(*(float(count[-1] - count[begin]) for count in counts))
    counts = (own[f"{name}_plus"] + own[f"{name}_minus"] for name in ("drops", "arrivals"))
    numbers["p_high"] = ratio(*(float(count[-1] - count[begin]) for count in counts))
    plus, minus = (float(np.sum(own[f"n_p_{sign}"][begin:])) for sign in ("plus", "minus"))
    numbers["share_plus"] = ratio(plus, plus + minus)
    numbers["r_p"] = float(own["r_p"][-1])
    numbers["refused"] = float(own["refused"][-1])
    return numbers


def short_rises_of(own: Series, table: pa.Table, since: float) -> dict[str, float]:
    """Read the change of a_d of the observed flow over short rises of the average queue; empty under RED."""
    if "a_d_first_high" not in own:
        return {}
    time, average = (table.column(name).to_numpy() for name in ("t_s", "average"))
    settled = time >= since
    changes = short_rises(time[settled], average[settled], own["t_s"], own["a_d_first_high"])
    changes = changes[changes > 0]  # a_d rises by losses alone
    if not len(changes):
        return {}
    return {"short_rise": float(np.mean(changes)), "largest_short_rise": float(np.max(changes))}


def short_rises(time: np.ndarray, average: np.ndarray, a_d_time: np.ndarray, a_d: np.ndarray) -> np.ndarray:
    """Return the changes of a_d over short rises of the average queue, from the sample before each to that after it.

    In a rise the average is above its mean by one standard deviation, for `SHORT_RISE_S` at most.

    >>> average = np.array([0.0, 0, 0, 9, 9, 0, 0, 0, 0, 0])
    >>> short_rises(np.arange(10.0), average, np.arange(10.0), 70 + np.arange(10.0))
    array([3.])
    """
    high = np.concatenate([[False], average > np.mean(average) + np.std(average), [False]])
    starts, ends = (np.flatnonzero(np.diff(high.astype(int)) == sign) for sign in (1, -1))
    whole = (starts > 0) & (ends < len(average))
    starts, ends = starts[whole], ends[whole]
    short = time[ends] - time[starts] <= SHORT_RISE_S
    before = np.searchsorted(a_d_time, time[starts[short] - 1], side="right") - 1
    after = np.minimum(np.searchsorted(a_d_time, time[ends[short]]), len(a_d) - 1)
    return np.asarray(a_d[after] - a_d[before])


def rate_of_loss(since: float, time: np.ndarray, a_d: np.ndarray, group: str) -> dict[str, float]:
    """a_d of one flow from `since` on, and in the second half of the run, when its start is forgotten."""
    settled, late = a_d[time >= since], a_d[time >= time[-1] / 2]
    return {
        f"{group}_a_d": float(np.mean(settled)),
        f"{group}_a_d_sd": float(np.std(settled)),
        f"{group}_a_d_half_range": half_range(settled),
        f"{group}_a_d_late": float(np.mean(late)),
        f"{group}_a_d_late_sd": float(np.std(late)),
    }


def flow_samples(folder: Path) -> tuple[list[str], np.ndarray, np.ndarray, np.ndarray]:
    """Flows, times in s, and bytes delivered in order and arrived at all so far: a row per time, a column per flow."""
    table = columns_of(folder, "flow_samples", ["t_s", "flow", "delivered_bytes", "arrived_bytes"])
    names, time, order = grid(table, "flow")
    delivered, arrived = (table[f"{name}_bytes"].to_numpy()[order] for name in ("delivered", "arrived"))
    return names, time, delivered.astype(float), arrived.astype(float)


def bursts_of(table: pa.Table, since: float) -> dict[str, float]:
    """Drops and different flows hit in a burst: at least `BURST` drops with no gap above `BURST_GAP_S`."""
    drops = table.select(["t_ps", "flow"]).to_pandas()
    drops = drops[drops["t_ps"] >= since * PER_S]
    number = (drops["t_ps"].diff() > BURST_GAP_S * PER_S).cumsum()
    found = drops.groupby(number)["flow"].agg(["size", "nunique"])
    large = found[found["size"] >= BURST]
    return {"burst_drops": float(large["size"].mean()), "burst_flows": float(large["nunique"].mean())}


def with_bursts(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of the chosen reading, with what others of the same case and seed found of every drop."""
    base, found = chosen(runs), chosen(runs, reading=BURSTS).dropna(axis=1, how="all")
    columns = [column for column in found if base[column].isna().all()]
    return base.drop(columns=columns).merge(found[["case", "seed", *columns]], on=["case", "seed"], how="left")


def mid_range(values: np.ndarray) -> float:
    """(min + max) / 2, the paper's average."""
    return float(np.min(values) + np.max(values)) / 2


def half_range(values: np.ndarray) -> float:
    """(max - min) / 2."""
    return float(np.max(values) - np.min(values)) / 2
