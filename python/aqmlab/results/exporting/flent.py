"""Data files of flent (format version 4, that of flent 2), as if its test ``tcp_nup`` had been run over the link.

The test's series and what they are of:

``TCP upload::1``, ...
    Bits delivered by a TCP flow over the link, headers included, in every step (`probe.flow_interval`).
``TCP upload avg``, ``sum``, ``fairness``
    Mean, sum and Jain's index of those.
``Ping (ms) ICMP``
    Round trip that a ping over the link would see: twice the propagation on the way of the first of these flows, and
    the time that the bytes waiting take (`probe.queue_interval`).
``qdisc_stats_NODE``
    What ``tc -s qdisc`` would show of the queue: backlog and delay, for the plots of these names.

Raw values of a flow also bear ``tcp_cwnd`` (packets) and ``tcp_rtt`` (ms) where `probe.cwnd_interval` recorded them.
The date is the start of 1970, for a simulation has none.
"""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.errors import InputError
from aqmlab.results.exporting.packets import PS, rate_and_delay
from aqmlab.results.quantities import jain
from aqmlab.scenario.file import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result
    from aqmlab.scenario.parts import Flow, Link

VERSION = 4
EPOCH = "1970-01-01T00:00:00.000000Z"
PING = "Ping (ms) ICMP"
UPLOAD = "TCP upload"
Column = list[float | None]


def flent_bytes(result: Result, *, seed: int, link: str) -> bytes:
    """Return the data file of one run, compressed."""
    text = json.dumps(flent_data(result, seed=seed, link=link), indent=1, sort_keys=True, allow_nan=False)
    return gzip.compress(text.encode(), mtime=0)


def flent_data(result: Result, *, seed: int, link: str) -> dict[str, Any]:
    """Return the content of the data file of one run."""
    plan = Scenario.from_text(result.scenario_text, filename="scenario.toml")
    place = plan.link(link)
    flows = [flow for flow in plan.flows if flow.is_tcp and link in flow.path]
    if not flows:
        raise InputError(f"{result.name}: flent's file is about TCP flows of known ends, and none crosses {link}")
    delivered = _delivered(result, seed, flows)
    at = delivered.index.to_numpy(dtype=float)
    step = float(at[1] - at[0])
    rates = np.diff(delivered.to_numpy(dtype=float), axis=0) * 8e-6 / step
    queue = _of_run(result, "queue_samples", seed)
    queue = queue[queue["link"] == link]

    names = [f"{UPLOAD}::{i + 1}" for i in range(len(flows))]
    series: dict[str, Column] = {name: _column(rates[:, i]) for i, name in enumerate(names)}
    series[f"{UPLOAD} sum"] = _column(rates.sum(axis=1))
    series[f"{UPLOAD} avg"] = _column(rates.mean(axis=1))
    series[f"{UPLOAD} fairness"] = _column(np.array([jain(row) for row in rates]))
    raw = {
        name: _raw_flow(result, seed, flow, at[1:], own) for name, flow, own in zip(names, flows, rates.T, strict=True)
    }
    if not queue.empty:
        waits, pings = _waits_and_pings(plan, place, flows[0], queue)
        latest = np.searchsorted(queue["t_s"].to_numpy(), at[1:], side="right") - 1
        series[PING] = _column(pings[latest.clip(0)])
        raw[PING] = [{"t": t, "val": v} for t, v in zip(queue["t_s"].tolist(), pings.tolist(), strict=True)]
        raw[f"qdisc_stats_{place.from_}"] = _raw_queue(queue, waits)
    return {
        "version": VERSION,
        "x_values": at[1:].tolist(),
        "results": series,
        "raw_values": raw,
        "metadata": _metadata(result, plan, place, seed, step, series),
    }


def _metadata(
    result: Result, plan: Scenario, link: Link, seed: int, step: float, series: dict[str, Column]
) -> dict[str, Any]:
    units = {name: "ms" if name == PING else "Idx" if "fairness" in name else "Mbits/s" for name in series}
    run = f"aqmlab {result.summaries[0]['version']}: scenario {result.name}, hash {result.hash}, seed {seed}"
    return {
        "NAME": "tcp_nup",
        "TITLE": f"{result.name}, {link.aqm}, seed {seed}",
        "NOTE": f"Simulated by {run}, link {link.name}",
        "DATA_FILENAME": f"tcp_nup-{result.name}-{seed}.flent.gz",
        "TIME": EPOCH,
        "T0": EPOCH,
        "LENGTH": plan.duration_s,
        "TOTAL_LENGTH": plan.duration_s,
        "STEP_SIZE": step,
        "HOST": link.to,
        "HOSTS": [link.to],
        "LOCAL_HOST": link.from_,
        "IP_VERSION": 4,
        "FLENT_VERSION": "2.0.0",
        "TEST_PARAMETERS": {
            "upload_streams": str(sum(name.startswith(f"{UPLOAD}::") for name in series)),
            "qdisc_stats_hosts": link.from_,
            "qdisc_stats_interfaces": link.name,
        },
        "SERIES_META": {name: {"UNITS": unit} for name, unit in units.items()},
    }


def _of_run(result: Result, table: str, seed: int) -> pd.DataFrame:
    """Return the rows of one run of a table; none if it was not recorded."""
    rows = result.tables.get(table)
    empty = result.flows.iloc[:0].assign(link="", t_s=0.0)
    return empty if rows is None else rows[rows["seed"] == seed]


def _delivered(result: Result, seed: int, flows: list[Flow]) -> pd.DataFrame:
    """Return the bytes delivered since time 0: a row for each sample, a column for each flow."""
    names = [flow.name for flow in flows]
    samples = result.flow_samples
    samples = samples[(samples["seed"] == seed) & samples["flow"].isin(names)]
    found = samples.pivot_table(index="t_s", columns="flow", values="delivered_bytes").reindex(columns=names)
    if len(found) < 2:
        raise InputError(f"{result.name}: flent's file needs two samples of a flow; shorten probe.flow_interval")
    return found


def _raw_flow(result: Result, seed: int, flow: Flow, at: np.ndarray, rates: np.ndarray) -> list[dict[str, float]]:
    entries = [{"t": t, "val": v} for t, v in zip(at.tolist(), rates.tolist(), strict=True)]
    samples = _of_run(result, "cwnd_samples", seed)
    if "cwnd" in samples.columns:
        own = samples[samples["flow"] == flow.name]
        for t, cwnd, srtt in zip(own["t_s"].tolist(), own["cwnd"].tolist(), own["srtt_s"].tolist(), strict=True):
            entries.append({"t": t, "tcp_cwnd": cwnd} | ({"tcp_rtt": srtt * 1e3} if np.isfinite(srtt) else {}))
    return sorted(entries, key=lambda entry: entry["t"])


def _raw_queue(queue: pd.DataFrame, waits: np.ndarray) -> list[dict[str, float]]:
    columns = (queue[name].tolist() for name in ("t_s", "queue_packets", "queue_bytes"))
    return [
        {"t": t, "backlog_pkts": packets, "backlog_bytes": size, "delay": wait}
        for t, packets, size, wait in zip(*columns, waits.tolist(), strict=True)
    ]


def _waits_and_pings(plan: Scenario, link: Link, flow: Flow, queue: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return at each sample of the queue how long its bytes take, and with the propagation both ways, in ms."""
    rate, delay = rate_and_delay(plan, link, np.rint(queue["t_s"].to_numpy() * PS).astype(np.int64))
    delays = {one.name: one.delay_s for one in plan.links}
    elsewhere = sum(delays[name] for name in flow.path) - link.delay_s
    waits = queue["queue_bytes"].to_numpy(dtype=float) * 8e3 / rate
    return waits, waits + 2e3 * (elsewhere + delay)


def _column(values: np.ndarray) -> Column:
    return [float(value) if np.isfinite(value) else None for value in values]
