"""Runs, their numbers and the page of the CoDel article, whose claims are in ``claims.py``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import ClassVar

import numpy as np

from aqmlab.papers import common
from aqmlab.papers.codel.claims import CLAIMS, DISCIPLINES, RATES, RTTS, TARGETS
from aqmlab.papers.common import READINGS, Paper, PaperFiles, Section, Setup, Study, table_of
from aqmlab.results.quantities import jain
from aqmlab.scenario.toml_text import Value

FILES = PaperFiles("codel")
CHANGES = [(0.0, 100.0), *((float(c["at"][:-1]), float(c["rate"][:-4])) for c in FILES.toml("dynamic.toml")["change"])]
"""Times in s and rates in Mb/s of the dynamic link."""
AUTOMATIC: dict[str, Value] = {"curve": "gentle", "min_th": "auto", "max_th": "auto", "w_q": "auto", "mode": "bytes"}
QUEUES: dict[str, dict[str, Value]] = {
    "CoDel": {"aqm": "codel"},
    "RED": {"aqm": "red", "dialect": "ns2-2.35", "mean_packet": "500B", **AUTOMATIC},
    "drop-tail": {"aqm": "drop-tail"},
}
Point = tuple[str, dict[str, str | float], dict[str, Value]]  # file, columns and overrides of a scenario
WAYS = ("512 kb/s down", "512 kb/s up", "1.5 Mb/s down", "1.5 Mb/s up")
OTHER: dict[str, str | float] = {"rate": 0, "rtt": 0, "load": "", "target": 0, "buffer": 0, "way": ""}


@dataclass(frozen=True)
class Effort(common.Effort):
    """How much to run."""

    seeds: int = 20
    reading_seeds: int = 5
    rtts: tuple[int, ...] = RTTS
    QUICK: ClassVar = {"seeds": 3, "reading_seeds": 3, "rtts": (30, 200, 500)}


def setups(effort: Effort) -> list[Setup]:
    """List the scenarios: all under the chosen readings, some parts and disciplines under every other reading."""
    found = [Setup(key, FILES.scenario(file, change), effort.seeds) for file, key, change in points(effort)]
    for reading in FILES.readings(quick=effort.quick):
        of = {"disciplines": DISCIPLINES, "tail_bdp": 1.0, **reading.options}
        for file, key, change in points(effort, tail_bdp=of["tail_bdp"]):
            if key["part"] in of["parts"] and key["discipline"] in of["disciplines"]:
                plan = FILES.scenario(file, change | reading.overrides)
                found.append(Setup(key, plan, effort.reading_seeds, reading.label))
    return found


def points(effort: Effort, *, tail_bdp: float = 1.0) -> Iterator[Point]:
    """Yield the points; `tail_bdp` is drop-tail's buffer at the consumer edge."""
    for rate, rtt, load, d in product(RATES, effort.rtts, ("one", "ten", "web"), DISCIPLINES):
        yield static({"part": "static", "discipline": d}, QUEUES[d], rate, rtt, load)
    for rate, rtt, load, target in product(RATES[1::2], (30, 100), ("one", "ten"), TARGETS):
        key: dict[str, str | float] = {"part": "target", "discipline": "CoDel", "target": target}
        yield static(key, {"aqm": "codel", "target": f"{target}ms"}, rate, rtt, load)
    for packets, d in product((830, 10), DISCIPLINES):
        queue = QUEUES[d] | {"limit": f"{1500 * packets}B" if d == "RED" else f"{packets}p"}
        yield "dynamic", OTHER | {"part": "dynamic", "discipline": d, "buffer": packets}, {"queue.bottleneck": queue}
    for way, (d, bdp) in product(WAYS, (("CoDel", 8.0), ("drop-tail", tail_bdp))):
        mbps = 1.5 if way.startswith("1.5") else 0.512
        queue = QUEUES[d] | {"limit": f"{bdp * mbps * 1e5 / 8:.0f}B"}
        both: dict[str, Value] = {f"dumbbell.{one}.rate": f"{mbps}Mbps" for one in ("down", "up")}
        both |= {"queue": {"down": queue, "up": queue}}
        yield "edge", OTHER | {"part": "edge", "discipline": d, "way": way}, both


def static(key: dict[str, str | float], queue: dict[str, Value], rate: float, rtt: int, load: str) -> Point:
    """Return a point with a constant rate; the buffer is 8 BDP, or 100 packets if that is more."""
    return "static", OTHER | key | {"rate": rate, "rtt": rtt, "load": load}, {
        "dumbbell.bottleneck.rate": f"{rate}Mbps", "dumbbell.bottleneck.delay": f"{rtt / 2 - 2}ms",
        "queue.bottleneck": queue | {"limit": f"{max(1e3 * rate * rtt, 150_000):.0f}B"},
        "flow.ftp.count": 1 if load == "one" else 10,
        "flow.web.start": {"load": 0.2, "link": "bottleneck"} if load == "web" else "60s",
    }  # fmt: skip


def measure(setup: Setup, folder: Path) -> dict[str, float]:
    """Read the numbers of one run."""
    part, way = setup.key["part"], str(setup.key["way"]).rpartition(" ")[2]
    found, flows = common.quantities_of(folder, way or "bottleneck"), table_of(folder, "flows")
    flows = flows[flows["from"].str.startswith("right" if way == "up" else "left") & (flows["sent"] > 0)]
    sources = flows.groupby(flows["flow"].where(flows["group"] == "ftp", flows["group"]))[["drops", "sent"]].sum()
    found |= {"mbytes": found["throughput_mbps"] * 300 / 8, "fairness": jain(list(sources["drops"] / sources["sent"]))}
    return found | over_time(folder) if part == "dynamic" else found


def over_time(folder: Path) -> dict[str, float]:
    """Return quantiles over time of the wait behind the dynamic link's queue, and times after falls of its rate."""
    rows, drops = table_of(folder, "queue_samples"), table_of(folder, "losses")["t_s"].to_numpy()
    times, wait = rows["t_s"].to_numpy(), waits_ms(rows["t_s"].to_numpy(), rows["queue_bytes"].to_numpy())
    falls = [at for (_, before), (at, after) in pairwise(CHANGES) if after < before]
    return {f"wait_{q}": float(np.percentile(wait, q)) for q in (50, 75, 95, 100)} | {
        "first_drop_ms": float(np.mean([1e3 * (drops[drops > at].min() - at) for at in falls])),
        "recovery_s": float(np.mean([times[(times > at) & (wait <= 5)].min() - at for at in falls])),
    }


def waits_ms(times_s: np.ndarray, waiting_bytes: np.ndarray) -> np.ndarray:
    """Return the time that waiting bytes need at the link's rate; at a change at that before it.

    >>> waits_ms(np.array([50.0, 50.1, 120.0]), np.array([125000, 125000, 125000])).tolist()
    [10.0, 100.0, 1000.0]
    """
    at, rates = np.array(CHANGES).T
    return np.asarray(8e-3 * waiting_bytes / rates[np.maximum(np.searchsorted(at, times_s) - 1, 0)])


def page(study: Study) -> Iterator[Section]:
    """Make the paper's own sections."""
    of, titles = study.runs.of, {q: one.label for q, one in CLAIMS.words.quantities.items()}
    lines = {d: of("queue_packets", d, buffer=830) for d in DISCIPLINES}
    rows, where, shown = ["rate", "rtt", "load"], {"part": "static"}, ("delay_median_ms", "utilization", "fairness")
    columns = {title: q for q, title in titles.items() if q.startswith("wait") or q in ("mbytes", "recovery_s")}
    tables = [study.table(q, {d: of(q, d) for d in DISCIPLINES}, rows=rows, of=where, caption=titles[q]) for q in shown]
    yield Section("Constant rates", tables)
    yield Section("Dynamic link", [
        study.over_time("figure-7", "Figure 7: queue of the dynamic link", lines, samples="queue_samples", y_log=True,
                        link="bottleneck", of={"part": "dynamic"}, x_label="time, s", y_label="packets"),
        study.table("dynamic", columns, rows=["buffer", "discipline"], of={"part": "dynamic"}),
    ])  # fmt: skip
    edge = {titles[q]: of(q) for q in ("loss", "delay_median_ms", "mbytes", "fairness")}
    yield Section("Edge", [study.table("edge", edge, rows=["way", "discipline"], of={"part": "edge"}, beside=True)])
    yield Section(READINGS, [study.reading_verdicts()])


PAPER = Paper(
    FILES,
    name="CoDel",
    citation="Nichols and Jacobson, “Controlling Queue Delay”, ACM Queue 10(5), 2012 (text of CACM 55(7), no figures)",
    claims=CLAIMS,
    effort=Effort,
    setups=setups,
    measure=measure,
    page=page,
    example="aqmlab run paper:codel/dynamic.toml --set queue.bottleneck.aqm=drop-tail --seeds {seeds}",
    scenarios=("static", "dynamic", "edge"),
    fill=True,
)
