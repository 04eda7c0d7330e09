"""What applications saw in a run: load times of web pages, stalls and bit rates of videos, scores of calls.

All are of the whole run, its warm-up included: an application that began early would lose its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from aqmlab.results.voip import scores

Columns = Mapping[str, Any]
"""A table of a run: column name to values; a pandas table too."""
Values = dict[str, float]


def driven_groups(tables: Mapping[str, Columns]) -> set[str]:
    """Return the groups of flows that fetch web pages or videos, from the tables of a run."""
    return {str(name) for key in ("pages", "segments") for name in np.unique(_column(tables, key, "group"))}


def application_metrics(tables: Mapping[str, Columns]) -> Values:
    """Quantities of all applications of one run, and of each group of flows where several have the same.

    Parameters
    ----------
    tables
        ``pages``, ``segments``, ``call_packets`` and ``flows``, each as column name to values; any may be absent.
    """
    return {
        **_grouped(tables, "pages", _column(tables, "pages", "group"), _pages),
        **_grouped(tables, "segments", _column(tables, "segments", "group"), _video),
        **_grouped(tables, "call_packets", _callers(tables), _calls),
    }


def _grouped(
    tables: Mapping[str, Columns], table: str, groups: np.ndarray, measure: Callable[[Columns], Values]
) -> Values:
    """Measure the rows of a table all together, and those of each group if there are several."""
    if not len(groups):
        return {}
    columns = {key: np.asarray(tables[table][key]) for key in tables[table]}
    found = measure(columns)
    names = list(dict.fromkeys(groups.tolist()))
    for name in names if len(names) > 1 else ():
        own = measure({key: values[groups == name] for key, values in columns.items()})
        found |= {f"{key}.{name}": value for key, value in own.items()}
    return found


def _pages(pages: Columns) -> Values:
    load = pages["load_s"].astype(float)
    done = ~np.isnan(load)
    unfinished = {"pages_unfinished": 1.0 - float(done.mean())}
    return {"page_load_s": float(load[done].mean()), **unfinished} if done.any() else unfinished


def _video(segments: Columns) -> Values:
    """A segment plays for its bits over its bit rate; a video stands still before a segment, not before its first."""
    done = ~np.isnan(segments["finish_s"].astype(float))
    if not done.any():
        return {}
    rate = segments["bitrate_bps"][done].astype(float)
    played = float((segments["bytes"][done] * 8 / rate).sum())
    stalled = float(np.nansum(segments["stall_s"][done].astype(float)))
    return {"stalled": stalled / (stalled + played), "video_mbps": float(rate.mean()) / 1e6}


def _calls(packets: Columns) -> Values:
    """A call is two flows, ``NAME.there`` and ``NAME.back``; the people who talk feel the worse of them."""
    worse: dict[str, float] = {}
    found = scores(packets)
    for flow, one in found.items():
        call = flow.rpartition(".")[0]
        worse[call] = min(one.mos, worse.get(call, one.mos))
    return {
        "mos": float(np.mean([one.mos for one in found.values()])),
        "mos_worse": float(np.mean(list(worse.values()))),
    }


def _callers(tables: Mapping[str, Columns]) -> np.ndarray:
    """Return the group of the flow of each packet of a call."""
    flows = _column(tables, "call_packets", "flow")
    if not len(flows):
        return flows
    group_of = dict(zip(tables["flows"]["flow"], tables["flows"]["group"], strict=True))
    return np.array([group_of[flow] for flow in flows.tolist()])


def _column(tables: Mapping[str, Columns], table: str, key: str) -> np.ndarray:
    found = tables.get(table)
    return np.asarray(found[key]) if found is not None and key in found else np.array([], dtype=str)
