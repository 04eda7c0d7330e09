"""Metrics of users of the network: completion and start-up of transfers, web pages, video, calls."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from aqmlab.rfc7928 import metrics
from aqmlab.rfc7928.packets import Packets


def measured(
    tables: Mapping[str, pa.Table], packets: Mapping[str, Packets], what: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Return for each group of flows what its application saw; only of groups that have such a thing."""
    found: dict[str, dict[str, Any]] = {}
    for name, group in what["groups"].items():
        pages, video = _pages(tables, name), _video(tables, name)
        transfers = {} if pages or video else _transfers(tables, packets, name, group)
        values = {**transfers, **pages, **video, **_call(tables, name, what["begin_s"])}
        if values:
            found[name] = values
    return {"applications": found}


def _transfers(
    tables: Mapping[str, pa.Table], packets: Mapping[str, Packets], name: str, group: Mapping[str, Any]
) -> dict[str, Any]:
    """Flow completion and start-up times (sections 2.1, 2.2) of transfers of finite size."""
    columns = ["group", "size_packets", "start_s", "finish_s"]
    rows = tables["flows"].select(columns).to_pylist()
    mine = [index for index, row in enumerate(rows) if row["group"] == name and row["size_packets"] >= 0]
    if not mine:
        return {}
    starts = np.array([rows[index]["start_s"] for index in mine])
    ends = np.array([_or_nan(rows[index]["finish_s"]) for index in mine])
    done = ~np.isnan(ends)
    found: dict[str, Any] = {"fct_s": (ends - starts)[done].tolist(), "begun": len(mine)}
    link = group["route"][0]
    if link in packets:
        from aqmlab.rfc7928.network import left_delay

        lead = np.full(len(mine), left_delay(group["rtt_s"]))
        own = packets[link].of(np.array(mine))
        found["startup_s"] = metrics.startup_times(own, np.array(mine), starts, lead_s=lead)
    return found


def _pages(tables: Mapping[str, pa.Table], name: str) -> dict[str, Any]:
    """Time to load a page with all of its objects (section 2.1)."""
    rows = _of_group(tables, "pages", name)
    if not rows:
        return {}
    loads = [row["load_s"] for row in rows if not math.isnan(_or_nan(row["load_s"]))]
    return {"load_s": loads, "pages": len(rows)}


def _video(tables: Mapping[str, pa.Table], name: str) -> dict[str, Any]:
    """Bit rate of the segments and the time that playing stood still."""
    rows = _of_group(tables, "segments", name)
    done = [row for row in rows if not math.isnan(_or_nan(row["finish_s"]))]
    if not done:
        return {}
    return {
        "bitrate_mbps": float(np.mean([row["bitrate_bps"] for row in done])) / 1e6,
        "stalled_s": float(sum(row["stall_s"] for row in done if not math.isnan(_or_nan(row["stall_s"])))),
    }


def _call(tables: Mapping[str, pa.Table], name: str, begin_s: float) -> dict[str, Any]:
    """Score of a call in either direction by the E-model, of the packets sent from a time on."""
    if "call_packets" not in tables or not tables["call_packets"].num_rows:
        return {}
    from aqmlab.results.voip import FIXED, UNDER_WAY_S, score

    columns = tables["call_packets"].to_pydict()
    flow = np.array(columns["flow"])
    sent, number, late = (np.array(columns[key]) for key in ("sent_s", "packet", "delay_s"))
    found: dict[str, Any] = {}
    for direction in ("there", "back"):
        judged = (sent >= begin_s) & (sent <= sent.max() - UNDER_WAY_S) & ~np.isnan(late)
        mine = (flow == f"{name}.{direction}") & judged
        if not mine.any():
            continue
        first, last = int(number[mine].min()), int(number[mine].max())
        heard = score(number[mine] - first, late[mine], last - first + 1, playout=FIXED)
        found |= {
            f"mos_{direction}": heard.mos,
            f"unplayed_{direction}": heard.loss,
            f"mouth_to_ear_{direction}_ms": heard.mouth_to_ear_s * 1e3,
        }
    return found


def _of_group(tables: Mapping[str, pa.Table], table: str, name: str) -> list[dict[str, Any]]:
    if table not in tables or not tables[table].num_rows:
        return []
    return [row for row in tables[table].to_pylist() if row["group"] == name]


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else float(value)
