"""Tables of a live run, with the columns of the simulator's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from aqmlab.live.plan import FlowGroup, LivePlan

NOTHING: Mapping[str, Any] = {}


def to_arrow(columns: Mapping[str, Sequence[Any]], *, seed: int) -> pa.Table:
    """Make a table of lists, with the seed as its first column; nulls become NaN.

    >>> to_arrow({"link": ["a"], "drops": [3], "average": [None]}, seed=2).to_pylist()
    [{'seed': 2, 'link': 'a', 'drops': 3, 'average': nan}]
    """
    rows = len(next(iter(columns.values()))) if columns else 0
    arrays = {name: _array(values) for name, values in columns.items()}
    return pa.table({"seed": pa.array([seed] * rows, type=pa.int64()), **arrays})


def flows_table(
    plan: LivePlan,
    *,
    sources: Mapping[str, Mapping[str, Any]],
    sinks: Mapping[str, Mapping[str, Any]],
    drops: Mapping[str, int],
    others: Mapping[str, Mapping[str, Any]] = NOTHING,
) -> pa.Table:
    """Return the table of flows, a row for each.

    Parameters
    ----------
    plan
        The run.
    sources, sinks
        Reports of the two ends of TCP flows, by flow.
    drops
        Packets of each flow that the live link dropped.
    others
        Rows of the flows that something else sends, by flow: columns that are not there are empty.
    """
    columns: dict[str, list[Any]] = {}
    for group in plan.groups:
        for index, name in enumerate(group.flows):
            row = _empty(plan, group, index, name) | {"drops": int(drops.get(name, 0))}
            if name in sinks:
                row |= _tcp(plan, group, sources.get(name, {}), sinks[name])
            row |= others.get(name, {})
            for column, value in row.items():
                columns.setdefault(column, []).append(value)
    return to_arrow(columns, seed=plan.seed)


def flow_samples(plan: LivePlan, samples: Mapping[str, Sequence[Any]], scale: Mapping[str, float]) -> pa.Table:
    """Return the bytes of each flow against time, headers included as the simulator counts them."""
    scaled = dict(samples)
    for column in ("arrived_bytes", "delivered_bytes"):
        scaled[column] = [round(n * scale[name]) for n, name in zip(samples[column], samples["flow"], strict=True)]
    return to_arrow(scaled, seed=plan.seed)


def with_headers(group: FlowGroup, family: str) -> float:
    """Return the length of a byte of payload with its share of the headers of a full segment."""
    payload = group.payload_bytes(family)
    return (payload + group.header_bytes(family)) / payload


def _empty(plan: LivePlan, group: FlowGroup, index: int, name: str) -> dict[str, Any]:
    """Return the row of a flow of which nothing is known."""
    side = ("a", "b") if group.forward else ("b", "a")
    size = group.size_bytes[index]
    return {
        "flow": name,
        "group": group.group,
        "transport": group.transport,
        "from": f"{group.name}.{side[0]}",
        "to": f"{group.name}.{side[1]}",
        "size_packets": -1 if size is None else -(-size // group.payload_bytes(plan.family)),
        "size_bytes": -1 if size is None else size,
        "sent": 0,
        "sent_bytes": 0,
        "retransmissions": 0,
        "received": 0,
        "goodput_bytes": 0,
        "goodput_bps": 0.0,
        "payload_bps": math.nan,
        "acked": 0,
        "timeouts": 0,
        "fast_retransmits": 0,
        "drops": 0,
        "mean_rtt_s": math.nan,
        "arrived": 0,
        "arrived_bytes": 0,
        "start_s": group.starts_s[index],
        "finish_s": math.nan,
        "first_sent_s": math.nan,
        "last_received_s": math.nan,
        "ideal_s": math.nan,
    }


def _tcp(plan: LivePlan, group: FlowGroup, source: Mapping[str, Any], sink: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that the two ends know, from the end of the warm-up on."""
    payload, header = group.payload_bytes(plan.family), group.header_bytes(plan.family)

    def counted(report: Mapping[str, Any], key: str) -> int:
        last, first = report.get("at_end") or {}, report.get("at_warmup") or {}
        return int(last.get(key, 0)) - int(first.get(key, 0))

    delivered = sink["received_bytes"] - sink["received_at_warmup_bytes"]
    goodput = round(delivered * with_headers(group, plan.family))
    sent, arrived = counted(source, "sent"), counted(sink, "received")
    measured_s = plan.scenario.duration_s - plan.scenario.warmup_s
    return {
        "sent": sent,
        "sent_bytes": counted(source, "sent_bytes") + sent * header,
        "retransmissions": counted(source, "retransmitted"),
        "received": round(delivered / payload),
        "goodput_bytes": goodput,
        "goodput_bps": goodput * 8 / measured_s,
        "payload_bps": delivered * 8 / measured_s,
        "acked": round(counted(source, "acked_bytes") / payload),
        "timeouts": counted(source, "timeouts"),
        "mean_rtt_s": _number(source.get("mean_rtt_s")),
        "arrived": arrived,
        "arrived_bytes": arrived * (payload + header),
        "finish_s": _number(sink.get("finish_s")),
        "first_sent_s": _number(source.get("first_sent_s")),
        "last_received_s": _number(sink.get("last_received_s")),
    }


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _array(values: Sequence[Any]) -> pa.Array:
    if any(isinstance(value, str) for value in values):
        return pa.array(values, type=pa.string())
    if any(isinstance(value, bool) for value in values):
        return pa.array(values, type=pa.bool_())
    if values and all(isinstance(value, int) for value in values):
        return pa.array(values, type=pa.int64())
    return pa.array([math.nan if value is None else float(value) for value in values], type=pa.float64())
