"""Write docs/l4s.md: Prague beside CUBIC under several disciplines, and the law of DualPI2's coupling.

``python validation/l4s.py`` simulates `examples/l4s.toml` with other settings (minutes of one core) and reads the runs
of ``tests/data/vm/dualpi2.csv``. ``python validation/l4s.py --vm LINK`` makes these runs in the emulated machine;
`LINK` is the program `aqmlab-link`. A comment of the page, ``made:`` and the name of a function here,
stands before that function's table.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

import aqmlab
from aqmlab.live.plan import live_plan
from aqmlab.live.tc.job import Options
from aqmlab.live.vm import backend
from aqmlab.results.delay_variation import delay_variation
from aqmlab.runs.comparison_settings import exchange
from aqmlab.scenario.file import Scenario
from aqmlab.statistics import mean_interval
from aqmlab.statistics.text import interval_text
from csv_rows import write_rows

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "python" / "aqmlab" / "examples" / "l4s.toml"
PAGE = ROOT / "docs" / "l4s.md"
TABLE = ROOT / "tests" / "data" / "vm" / "dualpi2.csv"
VM = TABLE.with_suffix(".toml")
SEEDS = 10
LONGER = {"congestion_control": "cubic", "ecn": True, "header": "66B", "ack_size": "66B"}

Settings = dict[str, Any]
STEP = {
    "limit": "600p",
    "min_th": "5p",
    "max_th": "6p",
    "w_q": 1.0,
    "spacing": "none",
    "mark_forced": True,
    "ecn": True,
}
DISCIPLINES: dict[str, Settings] = {
    "DualPI2": {"aqm": "dualpi2"},
    "FQ-CoDel, CE threshold of 1 ms for ECT(1)": {
        **{"aqm": "fq-codel", "ce_threshold": "1ms", "ce_threshold_selector": "ect1"}
    },
    "FQ-CoDel": {"aqm": "fq-codel"},
    "CAKE": {"aqm": "cake"},
    "RED with a step at 5 packets": {"aqm": "red", **STEP},
    "drop-tail": {"aqm": "drop-tail", "limit": "600p"},
}
EMPTY_PATH_S = 5e-3 + 1500 * 8 * (1 / 1e9 + 1 / 40e6 + 1 / 1e9)
"""One-way delay of a packet of 1500 bytes over the example's empty links."""
RATES_MBPS = (4, 12, 40, 120, 200)
ROUND_TRIPS_MS = (5, 10, 20, 50, 100)
ONE_EACH = {"flow.prague.count": 1, "flow.cubic.count": 1}
SPREAD = {"flow.prague.start": {"uniform": ["0s", "1s"]}, "flow.cubic.start": {"uniform": ["0s", "1s"]}}
WIFI = {"wifi": "144.4Mbps", "stations": 2, "contention": 0.5}


def queue_of(settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> Scenario:
    """Return the example with other settings of its queue."""
    own = dict(settings)
    return exchange(Scenario.load(EXAMPLE, overrides=overrides), ["bottleneck"], own["aqm"], own, [])


def runs_of(settings: Mapping[str, Any], overrides: Mapping[str, Any], seeds: int = SEEDS) -> aqmlab.Result:
    """Run the example with other settings of its queue."""
    return aqmlab.run(queue_of(settings, overrides), seeds=seeds, progress=False)


def shown(values: Sequence[float] | np.ndarray, scale: float = 1.0) -> str:
    """Write a mean over seeds with its 95 % interval."""
    found = np.asarray(values, dtype=float) * scale
    interval, _ = mean_interval(found, bounds=(0.0, np.inf))
    return interval_text(interval.mean, interval.low, interval.high, digits=3)


def rows(head: Sequence[str], body: Iterator[Sequence[str]]) -> str:
    """Write a table of Markdown."""
    lines = [head, ["---"] * len(head), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def waits(result: aqmlab.Result, group: str, share: float) -> np.ndarray:
    """Return for each seed a quantile of the time that a group's packets waited in s, the mean over its flows."""
    found = delay_variation(result, shares=[share])
    own = found[found["group"] == group]
    return own.groupby("seed")[f"delay_p{100 * share:g}_s"].mean().to_numpy() - EMPTY_PATH_S


def coexistence() -> str:
    """Compare disciplines: rates, delays of the packets of both kinds, marks."""

    def body() -> Iterator[Sequence[str]]:
        for title, settings in DISCIPLINES.items():
            result = runs_of(settings, {"probe.flow_delay": True})
            found = result.metrics(link="bottleneck")
            delays = [shown(waits(result, kind, share), 1e3) for kind in ("prague", "cubic") for share in (0.5, 0.99)]
            rates = [shown(found[f"goodput_mbps.{kind}"]) for kind in ("prague", "cubic")]
            yield [title, *rates, *delays, shown(found["utilization"], 100)]

    head = ["queue", "Prague, Mb/s", "CUBIC, Mb/s", "Prague 50 %, ms", "99 %", "CUBIC 50 %, ms", "99 %", "busy, %"]
    return rows(head, body())


def queues() -> str:
    """Show the delays of DualPI2's two queues for several loads."""

    def body() -> Iterator[Sequence[str]]:
        for prague, cubic in ((1, 1), (2, 2), (8, 2), (2, 8)):
            counts = {"flow.prague.count": prague, "flow.cubic.count": cubic}
            found = runs_of({"aqm": "dualpi2"}, counts).metrics(link="bottleneck")
            keys = [f"delay_{which}_ms.{queue}" for queue in "LC" for which in ("median", "p99")]
            each = found["goodput_mbps.prague"] / prague / (found["goodput_mbps.cubic"] / cubic)
            yield [f"{prague} and {cubic}", *(shown(found[key]) for key in keys), shown(each)]

    head = [
        "Prague and CUBIC flows",
        "L 50 %, ms",
        "L 99 %, ms",
        "C 50 %, ms",
        "C 99 %, ms",
        "Prague flow / CUBIC flow",
    ]
    return rows(head, body())


@dataclass(frozen=True)
class Law:
    """Measured shares of marked packets of both queues over a run, and those of the law for the same p'.

    Attributes
    ----------
    l_marks, c_marks
        Marked packets of all that left the queue.
    l_law, c_law
        Means over time of k p' and p'^2.
    """

    l_marks: float
    c_marks: float
    l_law: float
    c_law: float


LAW = ("l_marks", "l_law", "c_marks", "c_law")


def laws(coupling: float, seeds: int = SEEDS, *, ramp: bool = False) -> list[Law]:
    """Measure the law of the coupling, a run a seed.

    Without `ramp` the native AQM of queue L and the rule for short queues are off, so that all marks come from p'.
    """
    only = {} if ramp else {"l4s_min_th": "10s", "l4s_range": "0s", "max_packet": "0B"}
    result = runs_of(
        {"aqm": "dualpi2", "coupling": coupling, **only},
        {"probe.discipline_interval": "5ms", "run.duration": "60s"},
        seeds,
    )
    warmup = 10.0
    samples = result.discipline_samples
    samples = samples[(samples["name"] == "p_base") & (samples["t_s"] >= warmup)]
    histogram = result.tables["queue_delay_histogram"]
    left = histogram.groupby(["seed", "queue"])["count"].sum()
    reasons = result.drop_reasons.groupby(["seed", "reason"])["marks"].sum()
    links = result.links.set_index(["seed", "link"])["marks"]
    found = []
    for seed, own in samples.groupby("seed"):
        p = own["value"].to_numpy()
        l_marks = reasons[seed, "l4s"]
        c_marks = links[seed, "bottleneck"] - l_marks
        law = Law(
            l_marks / left[seed, "L"], c_marks / left[seed, "C"], float(np.mean(coupling * p)), float(np.mean(p**2))
        )
        found.append(law)
    return found


def coupling_law() -> str:
    """Compare measured marks with the law for several k."""

    def body() -> Iterator[Sequence[str]]:
        for coupling, ramp in ((1.0, False), (2.0, False), (4.0, False), (2.0, True)):
            found = laws(coupling, ramp=ramp)
            l_ratio = [one.l_marks / one.l_law for one in found]
            c_ratio = [one.c_marks / one.c_law for one in found]
            yield [
                f"k = {coupling:g}{', with the ramp' if ramp else ''}",
                *(
                    shown([getattr(one, name) for one in found], 100)
                    for name in ("l_marks", "l_law", "c_marks", "c_law")
                ),
                shown(l_ratio),
                shown(c_ratio),
            ]

    head = ["queue", "L marked, %", "k p', %", "C marked, %", "p'^2, %", "L / law", "C / law"]
    return rows(head, body())


def path(rate_mbps: float, rtt_ms: float) -> dict[str, Any]:
    """Return overrides for a rate and a round trip, with one flow of each kind."""
    end = f"{rtt_ms / 8}ms"
    return {
        "dumbbell.bottleneck": {"rate": f"{rate_mbps}Mbps", "delay": f"{rtt_ms / 4}ms", "queue": "bottleneck"},
        "dumbbell.left.delay": end,
        "dumbbell.right.delay": end,
        **ONE_EACH,
        **SPREAD,
    }


def balance(flows: int = 1) -> str:
    """Show the rate of Prague over that of CUBIC for rates and round trips, with the ratio that the law predicts."""
    longer = {"run.duration": "100s", "run.warmup": "50s", "flow.prague.count": flows, "flow.cubic.count": flows}

    def body() -> Iterator[Sequence[str]]:
        yield ["law", *(f"{predicted(rtt):.2f}" for rtt in ROUND_TRIPS_MS)]
        for rate in RATES_MBPS:
            cells = []
            for rtt in ROUND_TRIPS_MS:
                plan = {**path(rate, rtt), **longer}
                settings = {"aqm": "dualpi2", "limit": f"{max(100, round(rate * 25))}p"}
                found = runs_of(settings, plan, 5).metrics(link="bottleneck")
                cells.append(shown(found["goodput_mbps.prague"] / found["goodput_mbps.cubic"]))
            yield [f"{rate} Mb/s", *cells]

    return rows(["rate", *(f"{rtt} ms" for rtt in ROUND_TRIPS_MS)], body())


def swings() -> str:
    """Show how far p' swings with one and with four CUBIC flows, and its part in the ratio of rates."""
    longer = {"run.duration": "100s", "run.warmup": "50s", "probe.discipline_interval": "5ms"}

    def body() -> Iterator[Sequence[str]]:
        for rate, rtt, flows in ((40, 20, 1), (40, 20, 4), (200, 20, 1), (200, 20, 4)):
            counts = {"flow.prague.count": flows, "flow.cubic.count": flows}
            settings = {"aqm": "dualpi2", "limit": f"{rate * 25}p"}
            result = runs_of(settings, {**path(rate, rtt), **longer, **counts}, 5)
            samples = result.discipline_samples
            p = samples[(samples["name"] == "p_base") & (samples["t_s"] >= 50)].groupby("seed")["value"]
            factor = p.apply(lambda own: float(np.sqrt(np.mean(own**2)) / np.mean(own))).to_numpy()
            found = result.metrics(link="bottleneck")
            ratio = shown(found["goodput_mbps.prague"] / found["goodput_mbps.cubic"])
            expected = shown(predicted(rtt) * factor)
            yield [f"{rate} Mb/s, {rtt} ms", str(flows), shown(factor), expected, ratio]

    return rows(["path", "flows of each kind", "factor", "law times factor", "measured ratio"], body())


def balance_of_four() -> str:
    """Show the same for four flows of each kind."""
    return balance(4)


def predicted(rtt_ms: float) -> float:
    """Return the rate of Prague over that of a Reno-like flow by the law, for k = 2 and a target of 15 ms.

    >>> round(predicted(10.0), 3), round(predicted(100.0), 3)
    (0.82, 0.943)
    """
    return (rtt_ms + 15) / (1.22 * max(rtt_ms, 25))


def unequal() -> str:
    """Show shares of flows with unequal round trips: the short one is 10 ms."""
    pairs = {
        "Prague and Prague": ("prague", "prague"),
        "CUBIC and CUBIC": ("cubic", "cubic"),
        "Prague short, CUBIC long": ("prague", "cubic"),
        "CUBIC short, Prague long": ("cubic", "prague"),
    }
    tcp = {"prague": {"congestion_control": "prague"}, "cubic": {"congestion_control": "cubic", "ecn": True}}

    def body() -> Iterator[Sequence[str]]:
        for title, (short, long) in pairs.items():
            cells = []
            for rtt in (20, 50, 100):
                # The group called prague is the short flow here, the one called cubic the long.
                plan = {
                    **ONE_EACH,
                    **SPREAD,
                    "flow.prague.tcp": tcp[short],
                    "flow.cubic.tcp": tcp[long],
                    "flow.cubic.left": {"delay": f"{1 + (rtt - 10) / 2}ms"},
                    "run.duration": "80s",
                    "run.warmup": "30s",
                }
                found = runs_of({"aqm": "dualpi2"}, plan, 5).metrics(link="bottleneck")
                cells.append(shown(found["goodput_mbps.prague"] / found["goodput_mbps.cubic"]))
            yield [title, *cells]

    return rows(["flows", "10 and 20 ms", "10 and 50 ms", "10 and 100 ms"], body())


def bursts() -> str:
    """Show the rates of two flows whose senders are behind smooth links, and behind Wi-Fi with aggregates."""
    tcp = {"Prague": {"congestion_control": "prague"}, "CUBIC": {"congestion_control": "cubic", "ecn": True}}
    thresholds: dict[str, Settings] = {
        "0.8 to 1.2 ms": {},
        "5 ms": {"l4s_min_th": "5ms", "l4s_range": "0s"},
        "20 ms": {"l4s_min_th": "20ms", "l4s_range": "0s"},
    }

    def body() -> Iterator[Sequence[str]]:
        for title, options in tcp.items():
            for words, own in thresholds.items():
                if title == "CUBIC" and own:
                    continue
                cells = []
                for left in ({"rate": "1Gbps"}, {"rate": WIFI}):
                    flows = {f"flow.{name}.tcp": options for name in ("prague", "cubic")}
                    links = {f"flow.{name}.left": left for name in ("prague", "cubic")}
                    found = runs_of({"aqm": "dualpi2", **own}, {**ONE_EACH, **flows, **links}).metrics(
                        link="bottleneck"
                    )
                    cells += [shown(found["goodput_mbps"]), shown(found["delay_p99_ms"])]
                yield [title, words if title == "Prague" else "", *cells]

    head = ["senders", "marks of L from", "smooth: Mb/s", "99 % delay, ms", "behind Wi-Fi: Mb/s", "99 % delay, ms"]
    return rows(head, body())


@dataclass(frozen=True)
class Measure:
    """A measure of DualPI2 in two worlds: its title and the factor of its unit."""

    title: str
    scale: float = 1.0


MEASURES = {
    "goodput_bps": Measure("goodput, Mb/s", 1e-6),
    "wait_s": Measure("delay of queue C, ms", 1e3),
    "marked": Measure("marked, %", 100),
    "dropped": Measure("dropped, %", 100),
}
FIELDS = ("seed", *MEASURES, "digest")


def measured_live(link_program: Path, seed: int) -> dict[str, str]:
    """Run DualPI2 of the user-space link under the TCP of the emulated kernel, in virtual time."""
    plan = live_plan(Scenario.load(VM), seed=seed)
    run = backend.run(plan, options=Options(in_userspace=True), link_program=link_program)
    count = run.counted(run.setting.warmup_s)
    found = {
        "goodput_bps": sum(flow["goodput_bps"] for flow in run.tables["flows"].to_pylist()),
        "wait_s": run.sparse_flow_wait_s(),
        "marked": count.marks / count.departures,
        "dropped": count.drops / count.arrivals,
    }
    return {"seed": str(seed), **{key: repr(value) for key, value in found.items()}, "digest": run.digest}


def worlds() -> str:
    """Compare DualPI2 in user space under a kernel's TCP with the simulator, same parameters."""
    with TABLE.open(newline="") as file:
        live = list(csv.DictReader(file))
    # The bottleneck counts packets with Ethernet's header, the receivers of the kernel without.
    result = aqmlab.run(VM, overrides={"flow.tcp.tcp": LONGER}, seeds=len(live), progress=False)
    links = result.links[result.links["link"] == "bottleneck"]
    flows = result.flows.groupby("seed")["goodput_bps"].sum()
    own = {
        "goodput_bps": flows.to_numpy() * 1500 / 1514,
        "wait_s": links["mean_delay_s"].to_numpy(),
        "marked": (links["marks"] / links["departures"]).to_numpy(),
        "dropped": (links["drops"] / links["arrivals"]).to_numpy(),
    }

    def body() -> Iterator[Sequence[str]]:
        for key, measure in MEASURES.items():
            measured = np.array([float(row[key]) for row in live])
            gap = stats.ttest_ind(measured, own[key], equal_var=False).confidence_interval(0.95)
            middle = float(np.mean(measured) - np.mean(own[key]))
            words = interval_text(*(measure.scale * x for x in (middle, gap.low, gap.high)), signed=True)
            yield [measure.title, shown(measured, measure.scale), shown(own[key], measure.scale), words]

    return rows(["measure", "user space, TCP of Linux 6.1", "simulator", "gap"], body())


def scenario() -> str:
    """Return the example without its first comment, as a block of code."""
    return f"```toml\n{''.join(EXAMPLE.read_text(encoding='utf-8').partition('format = 1')[1:]).strip()}\n```"


def filled(text: str, made: Mapping[str, str]) -> str:
    """Put tables into the places that comments name.

    >>> filled("<!-- made: a -->\\n<!-- end -->\\n", {"a": "| 1 |"})
    '<!-- made: a -->\\n\\n| 1 |\\n\\n<!-- end -->\\n'
    """

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{made[found[2]]}\n\n<!-- end -->"

    return re.sub(r"(<!-- made: (\w+) -->)\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def main(arguments: Sequence[str]) -> int:
    """Write the page, or make the runs in the emulated machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vm", type=Path, help="make the runs of the emulated machine with this program aqmlab-link")
    chosen = parser.parse_args(arguments)
    if chosen.vm is not None:
        write_rows(TABLE, FIELDS, [measured_live(chosen.vm, seed) for seed in range(1, 6)])
        return 0
    tables = (coexistence, queues, coupling_law, balance, balance_of_four, swings, unequal, bursts, worlds)
    made = {found.__name__: found() for found in tables}
    made["scenario"] = scenario()
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), made), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
