"""Cumulative distributions: queueing delay, and the time that transfers take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.errors import InputError
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import MAX_POINTS, Runs, data_range, discipline_at, link_in, named, of_seeds, slug, target_ms

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result


def delay_distribution(runs: Runs, *, link: str | None = None) -> Chart:
    """Cumulative distribution of the queueing delay, all seeds together. Needs ``probe.delay_histogram``.

    One result whose discipline has several queues (DualPI2: L and C) has a curve for each of them too.
    """
    place = link_in(runs, link)
    results = named(runs)
    series, words, found = [], [], list(results.values())
    tables = {name: _at(result.delay_histogram, place) for name, result in results.items()}
    if len(found) == 1 and "queue_delay_histogram" in found[0].tables:
        queues = _at(found[0].tables["queue_delay_histogram"], place).groupby("queue")
        tables |= {f"queue {queue}": rows for queue, rows in queues if queues.ngroups > 1}
    for index, (name, table) in enumerate(tables.items()):
        rows = table.groupby("high_s", as_index=False)["count"].sum()
        ends, counts = rows["high_s"].to_numpy(dtype=float), rows["count"].to_numpy(dtype=float)
        if not counts.sum():
            raise InputError(f"{name}: no packet's delay was recorded at link {place}; name it in probe.links")
        share = np.cumsum(counts) / counts.sum()
        kept = np.isfinite(ends) & (ends > 0)
        own = discipline_at(results[name], place) if name in results else ""
        series.append(Series(name, ends[kept] * 1e3, share[kept], color=index, discipline=own))
        half = ends[int(np.searchsorted(share, 0.5))]
        words.append(f"{name}: half of them at most {half * 1e3:.3g} ms")
    return Chart(
        key=f"delay-{slug(place)}",
        title=f"Queueing delay at {place}",
        alt=f"Share of packets that waited at most a given time at link {place}. {'; '.join(words)}.",
        x_label="queueing delay, ms",
        y_label="share of packets",
        series=series,
        x_log=True,
        x_range=data_range([(np.asarray(one.x), np.asarray(one.y)) for one in series]),
        y_range=(0, 1.02),
        x_levels=target_ms(found[0], place) if len(found) == 1 else [],
    )


def _at(table: pd.DataFrame, link: str) -> pd.DataFrame:
    return table[table["link"] == link]


def completion_distribution(runs: Runs, *, group: str | None = None) -> Chart:
    """Cumulative distribution of the flow completion time (FCT; RFC 7928, section 2.1), all seeds together.

    It is of the transfers of finite size: the time from their start to the delivery of their last packet. The share is
    of all that began, so a curve that ends below 1 shows transfers that the end of the run cut off.

    Parameters
    ----------
    runs
        One result, or one for each discipline.
    group
        Only the flows of this ``[[flow]]`` table.
    """
    series, words = [], []
    for index, (name, result) in enumerate(named(runs).items()):
        times, begun = _completion_times(result, group)
        share = np.arange(1, len(times) + 1) / max(begun, 1)
        kept = np.unique(np.linspace(0, max(len(times) - 1, 0), MAX_POINTS).astype(int))[: len(times)]
        series.append(
            Series(
                name,
                times[kept],
                share[kept],
                mode="steps",
                color=index,
                discipline=discipline_at(result, result.bottleneck),
            )
        )
        middle = f", half of them within {np.median(times):.3g} s" if len(times) else ""
        words.append(f"{name}: {len(times)} of {begun} done{middle}")
    return Chart(
        key="fct",
        title="Flow completion time",
        alt=f"Share of transfers that were done within a given time. {'; '.join(words)}.",
        x_label="flow completion time, s",
        y_label="share of transfers begun",
        series=series,
        x_log=True,
        x_range=data_range([(np.asarray(one.x), np.asarray(one.y)) for one in series]),
        y_range=(0, 1.02),
        caption=f"{'; '.join(words)}; {of_seeds(next(iter(named(runs).values())))}.",
    )


def has_transfers(result: Result) -> bool:
    """Whether a run has transfers of finite size of which one was done."""
    return bool((result.flows["size_packets"].ge(0) & result.flows["finish_s"].notna()).any())


def _completion_times(result: Result, group: str | None) -> tuple[np.ndarray, int]:
    """Return the sorted completion times in s, and how many transfers began."""
    flows = result.flows
    if group is not None:
        if group not in set(flows["group"]):
            raise InputError(f'{result.name}: no group of flows "{group}"')
        flows = flows[flows["group"] == group]
    finite = flows[flows["size_packets"].ge(0) & flows["first_sent_s"].notna()]
    if finite.empty:
        raise InputError(f"{result.name}: no flow has a size, so none is completed; give flows a size")
    times = (finite["finish_s"] - finite["start_s"]).dropna().to_numpy(dtype=float)
    return np.sort(times), len(finite)
