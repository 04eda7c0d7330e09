"""The reducer of a case's runs: read every metric off the tables of a run, and return plain data.

A run logs every packet, which is much; the reducer keeps some kilobytes of JSON of it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from aqmlab.results import folders
from aqmlab.results.parquet import Columns, to_arrow
from aqmlab.results.quantities import jain, run_quantities, shown_in
from aqmlab.rfc7928 import applications, metrics
from aqmlab.rfc7928.packets import COLUMNS, Packets, packets_of

REVISION = 1
"""Goes up when metrics change, so that older answers are not taken for it."""
LINK_COLUMNS = ("drops_early", "drops_forced", "drops_overflow", "arrivals")


@dataclass(frozen=True)
class Metrics:
    """Reads every metric of a case off a run.

    Attributes
    ----------
    what
        The measurements to make: `aqmlab.rfc7928.case.Case.what`.
    """

    what: Mapping[str, Any] = field(repr=False)
    in_python: ClassVar[bool] = True
    cores: ClassVar[int] = 1

    @property
    def digest(self) -> str:
        """The hash of the measurements to make."""
        return hashlib.sha256(folders.to_json(self.what).encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        """The stable name for keys of runs."""
        return f"rfc7928 {REVISION} {self.digest}"

    def __call__(self, tables: dict[str, Columns], seed: int) -> dict[str, Any]:
        """Measure."""
        made = {name: to_arrow(_needed(name, tables.pop(name)), seed=seed, encoded=True) for name in list(tables)}
        return measure(made, self.what)


def _needed(table: str, columns: Columns) -> Columns:
    """Return the columns of a table that are measured: some of those of the packets, which are many, else all."""
    return {name: columns[name] for name in COLUMNS} if table == "packets" else columns


@dataclass(frozen=True)
class _Seen:
    """The records of a run, and the measurements to make from them."""

    tables: Mapping[str, pa.Table]
    packets: Mapping[str, Packets]
    what: Mapping[str, Any]

    @cached_property
    def delivered(self) -> metrics.Delivered:
        """Bytes of each flow that were delivered, by time."""
        return metrics.Delivered.of(self.tables["flow_samples"])

    @cached_property
    def _flows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.tables["flows"].select(["flow", "group", "from"]).to_pylist()
        return rows

    @cached_property
    def measured(self) -> Mapping[str, Packets]:
        """The packets that were offered to each link in the measured time."""
        return self.within([(self.what["begin_s"], self.what["end_s"])])

    def within(self, spans: Sequence[tuple[float, float]]) -> dict[str, Packets]:
        """Return the packets that were offered to each link within some stretches of time."""
        own = {name: self.packets[name] for name in self.what["rates_bps"] if name in self.packets}
        return {
            name: one.chosen(_inside(one.offered_s, spans), _inside(one.mark_s, spans)) for name, one in own.items()
        }

    def flows(self, group: str, *, forward: bool) -> tuple[np.ndarray, list[str]]:
        """Return numbers and names of a group's flows whose data go in a direction."""
        side = "left." if forward else "right."
        on_sides = any(row["from"].startswith(("left.", "right.")) for row in self._flows)
        mine = [
            (index, row["flow"])
            for index, row in enumerate(self._flows)
            if row["group"] == group and (not on_sides or row["from"].startswith(side))
        ]
        return np.array([index for index, _ in mine], dtype=np.int64), [name for _, name in mine]


def measure(tables: Mapping[str, pa.Table], what: Mapping[str, Any]) -> dict[str, Any]:
    """Return every metric of a run, as plain data.

    Parameters
    ----------
    tables
        The run's tables.
    what
        Measured time, links with their rates, groups of flows, phases: `aqmlab.rfc7928.case.Case.what`.

    Returns
    -------
    dict
        ``groups``, ``links``, ``synchronization``: over the whole measured time; ``phases``: the same by phase;
        ``delays``, ``goodputs``: distributions as counts by bin; ``course``: a value for each interval of the samples.
    """
    seen = _Seen(tables, packets_of(tables["packets"]), what)
    span = (what["begin_s"], what["end_s"])
    found: dict[str, Any] = _part(seen, seen.measured, [span], None)
    found["links"] = {name: values | _of_link(seen, name) for name, values in found["links"].items()}
    found["phases"] = {name: _part(seen, seen.within(spans), spans, rate) for name, spans, rate in what["phases"]}
    found["delays"], found["goodputs"] = _distributions(seen)
    found["course"] = _course(seen)
    found |= applications.measured(tables, seen.packets, what)
    if what["watch_windows"]:
        found["congestion_avoidance_s"] = _congestion_avoidance(seen)
    return found


def _part(
    seen: _Seen, cut: Mapping[str, Packets], spans: list[tuple[float, float]], rate_bps: float | None
) -> dict[str, Any]:
    """Measure some stretches of time by their packets; the first link has a given rate in them."""
    links = {
        name: (rate if rate_bps is None or i else rate_bps)
        for i, (name, rate) in enumerate(seen.what["rates_bps"].items())
    }
    return {
        "groups": {name: _of_group(seen, name, cut, links, spans) for name in seen.what["groups"]},
        "links": {name: _flow_through(seen.packets[name], cut[name], links[name], spans) for name in cut},
        **_synchronization(seen, cut),
    }


def _inside(times: np.ndarray, spans: Sequence[tuple[float, float]]) -> np.ndarray:
    """Say of each time whether it is in one of the stretches; nan is in none. Stretches do not touch each other."""
    edges = np.array([edge for span in spans for edge in span])
    found: np.ndarray = (np.searchsorted(edges, times, side="right") % 2 == 1) & ~np.isnan(times)
    return found


def _of_group(
    seen: _Seen, name: str, cut: Mapping[str, Packets], rates: Mapping[str, float], spans: list[tuple[float, float]]
) -> dict[str, Any]:
    group = seen.what["groups"][name]
    numbers, names = seen.flows(name, forward=group["forward"])
    route = [link for link in group["route"] if link in cut]
    parts = [cut[link].of(numbers) for link in route]
    one_way = group["rtt_s"] / 2 * 1e3
    found: dict[str, Any] = {"flows": len(names)}
    if not parts:
        return found
    found |= metrics.loss(parts[0])
    for further in parts[1:]:
        more = metrics.loss(further)
        found["lost"] += more["lost"]
        found["loss"] = found["lost"] / found["offered"] if found["offered"] else math.nan
    found |= metrics.delay(parts[0], one_way_ms=one_way, rate_bps=rates[route[0]])
    if len(parts) > 1:
        found["delay_ms"] = float(sum(np.nanmean(part.waited_s) * 1e3 for part in parts if len(part.flow)))
    found |= _goodput(seen, names, spans)
    back = [link for link in cut if link not in route]
    if back:
        answers = cut[back[0]].of(numbers, data=False)
        found |= {
            f"ack_{key}": value for key, value in metrics.loss(answers).items() if key in ("offered", "lost", "loss")
        }
    return found


def _goodput(seen: _Seen, names: list[str], spans: list[tuple[float, float]]) -> dict[str, Any]:
    """Goodput of a group, of each of its flows, and its fairness; nothing in phases shorter than the samples."""
    times = seen.delivered.times_s
    if len(times) < 2 or any(end - begin < times[1] - times[0] - 1e-9 for begin, end in spans):
        return {}
    total = np.zeros(len(names))
    for begin, end in spans:
        rates = seen.delivered.goodput(names, begin_s=begin, end_s=end)
        total += rates.mean(axis=0) * (end - begin) if len(rates) else 0.0
    each = total / sum(end - begin for begin, end in spans)
    return {"goodput_mbps": float(each.sum()), "each_mbps": each.round(6).tolist(), "jain": jain(each)}


def _flow_through(
    packets: Packets, offered: Packets, rate_bps: float, spans: list[tuple[float, float]]
) -> dict[str, float]:
    """Return throughput, utilization, delay, loss and marks of a link in some stretches of time."""
    carried = float(packets.bytes[_inside(packets.left_s, spans)].sum()) * 8 / sum(end - begin for begin, end in spans)
    waited = offered.waited_s[~np.isnan(offered.left_s)] * 1e3
    return {
        "throughput_mbps": carried / 1e6,
        "utilization": carried / rate_bps,
        "delay_ms": float(waited.mean()) if len(waited) else math.nan,
        "delay_p95_ms": float(np.quantile(waited, 0.95)) if len(waited) else math.nan,
        **{key: value for key, value in metrics.loss(offered).items() if key in ("loss", "marks")},
    }


def _of_link(seen: _Seen, name: str) -> dict[str, float]:
    """Queue-level metrics (section 4.2) that the link itself counted."""
    links = seen.tables["links"].to_pydict()
    found = run_quantities({"links": links}, name)
    own = {key: found[key] for key in shown_in("rfc7928") if key in found}
    row = links["link"].index(name)
    return own | {key: float(links[key][row]) for key in LINK_COLUMNS}


def _synchronization(seen: _Seen, cut: Mapping[str, Packets]) -> dict[str, float]:
    """Of the greedy TCP flows at the first link; nothing if there is but one."""
    link = next(iter(seen.what["rates_bps"]))
    here = {name for name, group in seen.what["groups"].items() if link in group["route"] and group["greedy"]}
    groups = seen.tables["flows"]["group"].to_pylist()
    mine = [index for index, group in enumerate(groups) if group in here]
    if len(mine) < 2 or link not in cut:
        return {}
    span = max(group["rtt_s"] for group in seen.what["groups"].values())
    return metrics.synchronization(cut[link].of(np.array(mine)), flows=len(mine), span_s=span)


def _distributions(seen: _Seen) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Queueing delay of every packet and goodput of every flow in every interval, by group."""
    delays, goodputs = {}, {}
    capacity = max(seen.what["rates_bps"].values()) / 1e6
    for name, group in seen.what["groups"].items():
        numbers, names = seen.flows(name, forward=group["forward"])
        link = group["route"][0]
        if link in seen.measured:
            own = seen.measured[link].of(numbers)
            delays[name] = metrics.histogram(own.waited_s * 1e3, metrics.DELAY_EDGES_MS)
        rates = seen.delivered.goodput(names, begin_s=seen.what["begin_s"])
        goodputs[name] = metrics.histogram(rates.ravel() / capacity, metrics.GOODPUT_EDGES)
    return delays, goodputs


def _course(seen: _Seen) -> dict[str, Any]:
    """Goodput of each group and queueing delay at each link in each interval of the samples."""
    begin, end = seen.what["begin_s"], seen.what["end_s"]
    times = seen.delivered.times_s
    edges = times[(times >= begin - 1e-9) & (times <= end + 1e-9)]
    found: dict[str, Any] = {"t_s": edges[1:].tolist(), "goodput_mbps": {}, "delay_ms": {}}
    for name, group in seen.what["groups"].items():
        _, names = seen.flows(name, forward=group["forward"])
        rates = seen.delivered.goodput(names, begin_s=begin)
        found["goodput_mbps"][name] = rates.sum(axis=1).round(4).tolist()
    for link, packets in seen.packets.items():
        waited = packets.waited_s * 1e3
        left = ~np.isnan(waited)
        place = np.digitize(packets.offered_s[left], edges) - 1
        inside = (place >= 0) & (place < len(edges) - 1)
        count = np.bincount(place[inside], minlength=len(edges) - 1)
        total = np.bincount(place[inside], weights=waited[left][inside], minlength=len(edges) - 1)
        mean = np.divide(total, count, out=np.zeros(len(total)), where=count > 0)
        found["delay_ms"][link] = mean.round(4).tolist()
    return found


def _congestion_avoidance(seen: _Seen) -> float:
    """When the TCP flows that began before the measured time had all reached congestion avoidance."""
    rows = seen.tables["flows"].select(["flow", "transport", "start_s"]).to_pylist()
    names = [row["flow"] for row in rows if row["transport"] != "udp" and row["start_s"] < seen.what["begin_s"]]
    return metrics.congestion_avoidance_s(seen.tables["cwnd_samples"], names)
