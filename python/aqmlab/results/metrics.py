"""What is read off a run: one number per quantity, link and seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.errors import InputError, unknown
from aqmlab.results.applications import application_metrics, driven_groups
from aqmlab.statistics.compared import Compared, compare_means
from aqmlab.statistics.estimate import Method, mean_interval
from aqmlab.statistics.intervals import LEVEL, Bounds, Interval, Values

if TYPE_CHECKING:
    import pandas as pd

Rows = Sequence[Mapping[str, Any]]
TABLES = ("links", "flows", "delay_histogram", "pages", "segments", "call_packets")
"""Tables of a run that metrics are read off."""
HISTOGRAM = ("low_s", "high_s", "count")


NOT_NEGATIVE: Bounds = (0.0, math.inf)
SHARE: Bounds = (0.0, 1.0)


@dataclass(frozen=True)
class Metric:
    """A quantity.

    Attributes
    ----------
    key, title, unit
        Its key in tables and on the command line, its name for people, its unit.
    digits
        Decimal places to show.
    doc
        Its definition.
    bounds
        Least and greatest value that it can have; intervals are clipped to them.
    notable
        Least difference that users notice, in its unit; 0 where that is not known.
    head
        The title in two lines of at most nine characters, for a narrow table; default: the title's words.
    group_head
        The first line of that of one group, whose name is the second; default: the head, and "of".
    is_percent
        Whether people read the share in %.
    is_compared
        Whether `compare` shows it of every run; those of applications are shown where there are any.
    of_link
        Computes it from a row of the table ``links``; None if it comes from other tables.
    """

    key: str
    title: str
    unit: str
    digits: int
    doc: str
    bounds: Bounds = NOT_NEGATIVE
    notable: float = 0.0
    head: tuple[str, str] = ("", "")
    group_head: str = ""
    is_percent: bool = False
    is_compared: bool = False
    of_link: Callable[[Mapping[str, Any]], float] | None = field(default=None, compare=False, repr=False)

    def head_lines(self, group: str = "") -> tuple[str, str]:
        """Return the head in two lines, of the flows of a group if one is given.

        >>> metric("mean_queue").head_lines(), metric("jain").head_lines("web"), metric("mean_rtt_ms").head_lines()
        (('mean', 'queue'), ('Jain of', 'web'), ('Mean', 'RTT'))
        """
        first, second = self.head if any(self.head) else _halves(self.title)
        if not group:
            return first, second
        return self.group_head or f"{first} {second} of".strip(), group

    @property
    def scale(self) -> float:
        """Factor from the number to what people read: 100 for a share in %."""
        return 100.0 if self.is_percent else 1.0

    @property
    def shown_unit(self) -> str:
        """The unit of what people read; "" for a pure number."""
        return "%" if self.is_percent else "" if self.unit == "1" else self.unit

    @property
    def shown_digits(self) -> int:
        """Decimal places of what people read."""
        return self.digits - 2 if self.is_percent else self.digits

    @property
    def label(self) -> str:
        """Name and unit, for an axis."""
        return self.title if self.unit == "1" else f"{self.title}, {self.unit}"


def _halves(title: str) -> tuple[str, str]:
    words = title.split()
    half = (len(words) + 1) // 2
    return " ".join(words[:half]), " ".join(words[half:])


MOS: Bounds = (1.0, 4.5)
"""Least and greatest score of the E-model (ITU-T G.107, annex B)."""
NOTABLE_MOS = 0.1
"""Scores are compared in tenths (ITU-T P.800.1)."""
NOTABLE_LOAD_S = 0.1
"""What users perceive as immediate (Nielsen 1993)."""
IN_ORDER = (
    "bytes of packets delivered in order after the warm-up, headers included; those that had crossed the link before "
    "its end, and were on the way or waited for a packet before them, count: it may exceed the link's rate"
)
METRICS = (
    Metric(
        "throughput_mbps",
        "Throughput",
        "Mb/s",
        3,
        "bits that left the link, all packets, per second",
        head=("through-", "put"),
        is_compared=True,
        of_link=lambda link: link["throughput_bps"] / 1e6,
    ),
    Metric(
        "utilization",
        "Utilization",
        "1",
        4,
        "share of the time in which the link was sending",
        SHARE,
        of_link=lambda link: link["utilization"],
    ),
    Metric(
        "loss",
        "Loss",
        "1",
        5,
        "packets dropped / packets offered to the link's queue",
        SHARE,
        head=("", "loss"),
        is_percent=True,
        is_compared=True,
        of_link=lambda link: ratio(link["drops"], link["arrivals"]),
    ),
    Metric(
        "marks",
        "Marks",
        "1",
        5,
        "packets marked (ECN) / packets offered to the link's queue",
        SHARE,
        of_link=lambda link: ratio(link["marks"], link["arrivals"]),
    ),
    Metric(
        "mean_queue",
        "Mean queue",
        "packets",
        2,
        "time average of the packets waiting, without the one in service",
        head=("mean", "queue"),
        is_compared=True,
        of_link=lambda link: link["mean_queue"],
    ),
    Metric(
        "mean_average",
        "RED's average",
        "packets at arrivals",
        2,
        "mean of RED's average as each arrival found it, without idle time; none for other disciplines",
        of_link=lambda link: link["mean_average"],
    ),
    Metric(
        "sd_average",
        "S.d. of RED's average",
        "packets at arrivals",
        2,
        "standard deviation of RED's average as each arrival found it",
        of_link=lambda link: link["sd_average"],
    ),
    Metric(
        "mean_delay_ms",
        "Mean queueing delay",
        "ms",
        2,
        "time waiting, without the packet's own transmission",
        head=("mean", "delay"),
        is_compared=True,
        of_link=lambda link: link["mean_delay_s"] * 1e3,
    ),
    Metric("delay_p95_ms", "95 % queueing delay", "ms", 2, "from the delay histogram", head=("95 %", "delay")),
    Metric(
        "delay_p99_ms",
        "99 % queueing delay",
        "ms",
        2,
        "from the delay histogram",
        head=("99 %", "delay"),
        is_compared=True,
    ),
    Metric(
        "goodput_mbps",
        "TCP goodput",
        "Mb/s",
        3,
        f"{IN_ORDER}, all TCP flows",
        head=("TCP", "goodput"),
        group_head="goodput of",
        is_compared=True,
    ),
    Metric(
        "jain",
        "Jain's index",
        "1",
        4,
        "fairness of the goodput of endless TCP flows, all of one transport",
        SHARE,
        head=("Jain's", "index"),
        group_head="Jain of",
        is_compared=True,
    ),
    Metric("mean_rtt_ms", "Mean RTT", "ms", 2, "mean of the TCP flows' mean round-trip samples"),
    Metric("retransmitted", "Retransmitted", "1", 5, "retransmissions / packets sent, all TCP flows", SHARE),
    Metric(
        "timeouts",
        "Time-outs",
        "1",
        1,
        "retransmission time-outs, all TCP flows",
        head=("time-", "outs"),
        is_compared=True,
    ),
    Metric(
        "mos",
        "MOS of calls",
        "1",
        2,
        "mean opinion score, mean over both directions of all calls (E-model)",
        MOS,
        NOTABLE_MOS,
        head=("calls'", "MOS"),
    ),
    Metric(
        "mos_worse",
        "MOS of calls, worse way",
        "1",
        2,
        "mean over all calls of their worse direction's MOS",
        MOS,
        NOTABLE_MOS,
        head=("MOS of", "worse way"),
    ),
    Metric(
        "page_load_s",
        "Page load time",
        "s",
        2,
        "mean over the web pages that were loaded to their last byte",
        notable=NOTABLE_LOAD_S,
        head=("page", "load"),
    ),
    Metric(
        "pages_unfinished",
        "Pages not loaded",
        "1",
        3,
        "web pages not complete at the end / pages",
        SHARE,
        head=("pages not", "loaded"),
        is_percent=True,
    ),
    Metric(
        "stalled",
        "Video stalled",
        "1",
        4,
        "time that videos stood still / that and the time they played",
        SHARE,
        head=("video", "stalled"),
        is_percent=True,
    ),
    Metric(
        "video_mbps",
        "Video bit rate",
        "Mb/s",
        3,
        "mean over the segments of videos that arrived",
        head=("video", "bit rate"),
    ),
)
BY_KEY = {metric.key: metric for metric in METRICS}
APPLICATIONS = ("mos", "mos_worse", "page_load_s", "pages_unfinished", "stalled", "video_mbps")
"""What applications see, of the whole run, its warm-up included; for each group too where several have it."""
BY_GROUP = ("goodput_mbps", "jain", *APPLICATIONS)
"""Quantities that may be of one group of flows, with the key ``KEY.GROUP``."""


def metric(key: str) -> Metric:
    """Return the description of a quantity by its key; ``goodput_mbps.web`` is that of the flows of group ``web``.

    >>> metric("goodput_mbps.web").label
    'Goodput of web, Mb/s'
    """
    whole, _, group = key.partition(".")
    if key in BY_KEY:
        return BY_KEY[key]
    if whole not in BY_GROUP or not group:
        raise InputError(unknown("metric", key, list(BY_KEY)))
    what = BY_KEY[whole]
    title, doc = ("Goodput", GROUP_GOODPUT) if whole == "goodput_mbps" else (what.title, what.doc)
    return replace(what, key=key, title=f"{title} of {group}", doc=f"{doc}; group {group}")


def metric_interval(key: str, values: Values, *, level: float = LEVEL) -> tuple[Interval, Method]:
    """Return the mean of a quantity over runs with its interval, within what the quantity can be.

    >>> metric_interval("utilization", [0.99, 1.0, 0.95])[0].high
    1.0
    """
    return mean_interval(values, level=level, bounds=metric(key).bounds)


def metric_difference(key: str, a: Values, b: Values, *, level: float = LEVEL) -> Compared:
    """Compare the means of a quantity over runs that share their seeds (`aqmlab.statistics.compare_means`)."""
    return compare_means(a, b, level=level, bounds=metric(key).bounds)


GROUP_GOODPUT = f"{IN_ORDER} (UDP: received), all flows of the group"


def is_metric(key: str) -> bool:
    """Whether a key is that of a quantity, of a group or not."""
    whole, _, group = key.partition(".")
    return key in BY_KEY or (whole in BY_GROUP and bool(group))


def in_order(keys: Iterable[str]) -> list[str]:
    """Return the keys of quantities in the order of `METRICS`, those of groups behind all others; others are left out.

    >>> in_order(["goodput_mbps.web", "jain", "seed", "loss", "goodput_mbps.bulk"])
    ['loss', 'jain', 'goodput_mbps.web', 'goodput_mbps.bulk']
    """
    there = [key for key in dict.fromkeys(keys) if is_metric(key)]
    order = list(BY_KEY)
    return sorted(there, key=lambda key: order.index(key) if key in BY_KEY else len(order) + _rank(key))


def _rank(key: str) -> int:
    return BY_GROUP.index(key.partition(".")[0])


def link_metrics(row: Mapping[str, Any]) -> dict[str, float]:
    """Quantities of one link in one run, from its row of the table ``links``.

    >>> row = {"arrivals": 100, "drops": 2, "marks": 0, "throughput_bps": 9.5e6, "utilization": 0.95,
    ...        "mean_queue": 12.0, "mean_average": 11.0, "sd_average": 2.0, "mean_delay_s": 0.01}
    >>> found = link_metrics(row)
    >>> found["loss"], found["throughput_mbps"], found["mean_delay_ms"]
    (0.02, 9.5, 10.0)
    """
    return {metric.key: metric.of_link(row) for metric in METRICS if metric.of_link is not None}


def flow_metrics(flows: Mapping[str, Any] | pd.DataFrame, *, applications: Collection[str] = ()) -> dict[str, float]:
    """Quantities of the flows of one run, from the columns of the table ``flows``.

    Jain's index compares flows that want the same: TCP flows without end (`size_packets` below 0) that no application
    drives, at least two. It is absent if they are of several transports, which an index of each group tells apart.

    Parameters
    ----------
    flows
        The columns; ``group`` and ``size_packets`` may be absent.
    applications
        Groups whose flows an application drives (web pages, video).
    """
    tcp = np.asarray(flows["transport"]) != "udp"
    groups = np.asarray(flows["group"]) if "group" in flows else np.full(len(tcp), "")
    names = list(dict.fromkeys(groups.tolist()))
    goodput = np.asarray(flows["goodput_bps"]).astype(float)
    found: dict[str, float] = {}
    if tcp.any():
        found |= _tcp_metrics(flows, tcp)
    if len(names) > 1:
        found |= {f"goodput_mbps.{name}": sum(goodput[groups == name].tolist()) / 1e6 for name in names}
    greedy = tcp & ~np.isin(groups, list(applications))
    if "size_packets" in flows:
        greedy &= np.asarray(flows["size_packets"]) < 0
    several = dict.fromkeys(groups[greedy].tolist())
    if greedy.sum() > 1 and len(set(np.asarray(flows["transport"])[greedy].tolist())) == 1:
        found["jain"] = jain(goodput[greedy])
    for name in several if len(several) > 1 else ():
        own = greedy & (groups == name)
        if own.sum() > 1:
            found[f"jain.{name}"] = jain(goodput[own])
    return found


def _tcp_metrics(flows: Mapping[str, Any] | pd.DataFrame, tcp: np.ndarray) -> dict[str, float]:
    """Quantities of all TCP flows together, those where `tcp` is true."""

    def column(name: str) -> np.ndarray:
        found: np.ndarray = np.asarray(flows[name])[tcp]
        return found

    goodput, rtt = column("goodput_bps").astype(float), column("mean_rtt_s").astype(float)
    return {
        # One after the other, so that the last digit does not depend on how a library groups them.
        "goodput_mbps": sum(goodput.tolist()) / 1e6,
        "mean_rtt_ms": float(np.nanmean(rtt)) * 1e3 if not np.isnan(rtt).all() else math.nan,
        "retransmitted": ratio(float(column("retransmissions").sum()), float(column("sent").sum())),
        "timeouts": float(column("timeouts").sum()),
    }


def delay_metrics(rows: Rows) -> dict[str, float]:
    """Quantiles of the queueing delay of one link in one run, from its rows of ``delay_histogram``."""
    return _delay_metrics(*([row[key] for row in rows] for key in HISTOGRAM))


def _delay_metrics(*histogram: Sequence[float] | np.ndarray) -> dict[str, float]:
    low, high, counts = (np.asarray(column, dtype=float) for column in histogram)
    if not len(counts):
        return {}
    return {
        "delay_p95_ms": quantile_of(low, high, counts, 0.95) * 1e3,
        "delay_p99_ms": quantile_of(low, high, counts, 0.99) * 1e3,
    }


def run_metrics(tables: Mapping[str, Any], link: str | None = None) -> dict[str, float]:
    """All quantities of one run, from the columns of its tables.

    Parameters
    ----------
    tables
        `TABLES`, each as column name to values; all but ``links`` may be absent.
    link
        The link in question; default: `bottleneck_of` the run.
    """
    links = tables["links"]
    names = list(links["link"])
    name = bottleneck_of(names, list(links["aqm"])) if link is None else link
    if name not in names:
        raise InputError(unknown("link", name, names))
    at = names.index(name)
    found = link_metrics({key: np.asarray(links[key])[at] for key in links})
    flows = tables.get("flows")
    if flows is not None and len(flows["transport"]):
        found |= flow_metrics(flows, applications=driven_groups(tables))
    found |= application_metrics(tables)
    delays = tables.get("delay_histogram")
    if delays is not None:
        own = np.asarray(delays["link"]) == name
        found |= _delay_metrics(*(np.asarray(delays[key])[own] for key in HISTOGRAM))
    return {key: float(found[key]) for key in in_order(found)}


MAIN_LINKS = ("bottleneck", "down")
"""Names of links that results are about, whatever their disciplines."""


def bottleneck_of(links: Sequence[str], disciplines: Sequence[str]) -> str:
    """Return the link that results are about: ``bottleneck``, ``down``, or the first whose queue is not drop-tail.

    >>> bottleneck_of(["a", "b"], ["drop-tail", "red"]), bottleneck_of(["up", "down"], ["red", "drop-tail"])
    ('b', 'down')
    """
    for name in MAIN_LINKS:
        if name in links:
            return name
    managed = (link for link, aqm in zip(links, disciplines, strict=True) if aqm != "drop-tail")
    return next(managed, links[0])


def quantile(rows: Rows, share: float) -> float:
    """Quantile of a histogram with the columns ``low_s``, ``high_s``, ``count``, linear within a bin, in s.

    >>> quantile([{"low_s": 0.0, "high_s": 1.0, "count": 3}, {"low_s": 1.0, "high_s": 2.0, "count": 1}], 0.5)
    0.6666666666666666
    """
    low, high, counts = (np.array([row[key] for row in rows], dtype=float) for key in HISTOGRAM)
    return quantile_of(low, high, counts, share)


def quantile_of(low: np.ndarray, high: np.ndarray, counts: np.ndarray, share: float) -> float:
    """Return a quantile of a histogram as `quantile` does, from its columns."""
    total = counts.sum()
    if total == 0:
        return math.nan
    before = np.concatenate([[0.0], np.cumsum(counts)])
    index = min(int(np.searchsorted(before[1:], share * total)), len(counts) - 1)
    within = (share * total - before[index]) / counts[index] if counts[index] else 0.0
    if not math.isfinite(high[index]):
        return float(low[index])
    return float(low[index] + within * (high[index] - low[index]))


def ratio(part: float, whole: float) -> float:
    """Return part / whole, NaN if the whole is 0."""
    return part / whole if whole else math.nan


def jain(values: Sequence[float] | np.ndarray) -> float:
    """Jain's fairness index: 1 if all are equal, 1/n if one has everything (Jain, Chiu and Hawe 1984).

    >>> jain([1.0, 1.0]), jain([2.0, 0.0])
    (1.0, 0.5)
    """
    x = np.asarray(values, dtype=float)
    squares = float(np.sum(x * x))
    return float(np.sum(x)) ** 2 / (len(x) * squares) if squares > 0 else math.nan
