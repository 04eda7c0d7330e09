"""Tables of the report: a row a discipline and group of flows, every mean with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from aqmlab.reporting.fragments import bounded, number
from aqmlab.reporting.intervals import intervals_table
from aqmlab.results.quantities import quantity, shown_in
from aqmlab.rfc7928 import network
from aqmlab.rfc7928.collected import Collected, Measured, mean_of
from aqmlab.rfc7928.stability import levels
from aqmlab.statistics import LEVEL, Compared, Interval, compare_means, holm
from aqmlab.statistics.text import interval_text

Row = dict[str, str | float | Interval]
Scenario = Mapping[str, Measured]

GROUP_COLUMNS = {
    "goodput_mbps": "goodput, Mb/s",
    "jain": "Jain's index",
    "delay_ms": "queueing delay, ms",
    "latency_ms": "one-way latency, ms",
    "latency_p95_ms": "its 95 %, ms",
    "pdv_p95_ms": "PDV 95 %, ms",
    "pdv_p99_ms": "PDV 99 %, ms",
    "loss": "loss",
    "gap_s": "time between losses, s",
    "marks": "marks",
    "ack_loss": "loss of acknowledgements",
}
LINK_COLUMNS = {
    "utilization": "utilization",
    "throughput_mbps": "throughput, Mb/s",
    "delay_ms": "queueing delay, ms",
    "delay_p95_ms": "its 95 %, ms",
    **{key: f"{quantity(key).in_sentence}, {quantity(key).shown_unit}".rstrip(", ") for key in shown_in("rfc7928")},
    "loss": "loss",
    "marks": "marks",
    "drops_early": "early drops",
    "drops_forced": "forced drops",
    "drops_overflow": "overflows",
}
ALL_FLOWS = "all from A to B"
EXACT = 1e-4
"""Half the width of an interval, relative to the mean, below which it is not shown."""


def groups(scenario: Scenario, *, phases: Sequence[str | None] = (None,)) -> list[Row]:
    """Every metric of each group of flows."""
    rows: list[Row] = []
    for phase in phases:
        for name, entry in scenario.items():
            for group in entry.case.groups:
                row: Row = {"discipline": name}
                row |= {} if phase is None else {"phase": phase}
                row |= {"flows": group.title}
                row |= {
                    title: entry.mean("groups", group.name, key, phase=phase) for key, title in GROUP_COLUMNS.items()
                }
                row["loss synchronization"] = entry.mean("synchronization", phase=phase)
                rows.append(row)
            if entry.cumulates:
                rows.append(_cumulated(name, entry, phase))
    return rows


def _cumulated(name: str, entry: Measured, phase: str | None) -> Row:
    """Goodput of all flows from A to B together (section 8.2), and the delay of all packets."""
    row: Row = {"discipline": name}
    row |= {} if phase is None else {"phase": phase}
    return row | {
        "flows": ALL_FLOWS,
        GROUP_COLUMNS["goodput_mbps"]: mean_of(entry.total_goodput(phase)),
        GROUP_COLUMNS["delay_ms"]: entry.mean("links", entry.first_link(), "delay_ms", phase=phase),
        GROUP_COLUMNS["loss"]: entry.mean("links", entry.first_link(), "loss", phase=phase),
    }


def links(scenario: Scenario, *, phases: Sequence[str | None] = (None,)) -> list[Row]:
    """Every queue-level metric of each observed link (section 4.2)."""
    rows: list[Row] = []
    for phase in phases:
        for name, entry in scenario.items():
            for link in entry.case.crossed():
                row: Row = {"discipline": name}
                row |= {} if phase is None else {"phase": phase}
                row |= {"link": link}
                row |= {title: entry.mean("links", link, key, phase=phase) for key, title in LINK_COLUMNS.items()}
                rows.append(row)
    return rows


def shown(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows for reading, without columns in which nothing is known or all is 0."""
    text = pd.DataFrame([{name: _cell(value) for name, value in row.items()} for row in rows])
    empty = [column for column in text.columns if all(_is_nothing(row.get(column)) for row in rows)]
    return text.drop(columns=empty)


def _cell(value: str | float | Interval) -> str | float:
    """Write a mean with half the width of its interval, without an interval that is but rounding."""
    if not isinstance(value, Interval):
        return value
    varies = value.half_width > EXACT * abs(value.mean)
    return bounded(value.mean, value.low, value.high) if varies else number(value.mean, digits=4)


def _is_nothing(value: str | float | Interval | None) -> bool:
    if isinstance(value, Interval):
        return math.isnan(value.mean)
    return value is None or (isinstance(value, float) and math.isnan(value))


def long(collected: Collected) -> dict[str, pd.DataFrame]:
    """Return everything as numbers, for files: a row for each scenario, discipline, phase and group or link."""
    found: dict[str, list[Row]] = {"groups": [], "links": []}
    for entry in collected.entries:
        case = entry.case
        label = case.settings.label
        where: Row = {"section": case.section, "scenario": case.key, "setting": label, "seeds": float(case.seeds)}
        phases = [None, *(phase.name for phase in case.phases)]
        for name, make in (("groups", groups), ("links", links)):
            for phase in phases:
                rows = make({case.settings.name: entry}, phases=[phase])
                found[name] += [where | {"phase": phase or "whole"} | row for row in rows]
    return {name: intervals_table(rows) for name, rows in found.items()}


def against_baseline(collected: Collected) -> pd.DataFrame:
    """Queueing delay and goodput of each discipline less those of drop-tail, scenario by scenario.

    "more" and "less" rest on p after Holm's correction over the whole table.
    """
    rows: list[Row] = []
    found: dict[tuple[int, str], Compared] = {}
    for scenario in _comparable(collected):
        base = next(iter(scenario.values()))
        for name, entry in scenario.items():
            if entry is base:
                continue
            for title, mine, theirs in (
                ("delay", _delay(entry), _delay(base)),
                ("goodput", entry.total_goodput(), base.total_goodput()),
            ):
                found[len(rows), title] = compare_means(mine, theirs)
            rows.append({"section": entry.case.section, "scenario": entry.case.title, "discipline": name})
    corrected = holm([one.difference.p for one in found.values()])
    for ((row, title), one), p in zip(found.items(), corrected, strict=True):
        share = 100 / one.base if one.base else math.nan
        ends = one.difference.interval
        rows[row] |= {f"{title}, %": share * ends.mean}
        rows[row] |= {f"{title}, % low": share * ends.low, f"{title}, % high": share * ends.high}
        rows[row] |= {f"{title}, p": p, f"{title} is": _direction(ends.mean, p)}
    return pd.DataFrame(rows)


def tests_of(against: pd.DataFrame) -> int:
    """Return the number of tests in the table of `against_baseline`."""
    return 0 if against.empty else int(against[["delay, p", "goodput, p"]].notna().sum().sum())


def counts_against(against: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts of the table of `against_baseline` over its scenarios, discipline by discipline.

    ``median, %`` is the median of the changes over the scenarios.
    """
    rows = []
    for name, own in against.groupby("discipline", sort=False) if len(against) else ():
        for title in ("delay", "goodput"):
            found = own[f"{title} is"].value_counts()
            counts = {word: int(found.get(word, 0)) for word in ("less", "more", "undecided")}
            rows.append({"discipline": name, "of": title, **counts, "median, %": own[f"{title}, %"].median()})
    columns = ["discipline", "of", "less", "more", "undecided", "median, %"]
    return pd.DataFrame(rows, columns=columns).round({"median, %": 1})


def against_text(against: pd.DataFrame) -> pd.DataFrame:
    """Return the table of `against_baseline` for reading: each change with its interval as text."""
    table = against[["section", "scenario", "discipline"]].copy() if len(against) else pd.DataFrame()
    for title in ("delay", "goodput") if len(against) else ():
        ends = zip(*(against[f"{title}, %{end}"] for end in ("", " low", " high")), strict=True)
        table[f"{title}, %"] = [interval_text(*one, signed=True, digits=2) if one[0] == one[0] else "-" for one in ends]
        table[f"{title} is"] = against[f"{title} is"]
    return table


def congestion_levels(collected: Collected) -> pd.DataFrame:
    """Return S, the number of flows of each level, the projected loss and drop-tail's loss (section 8.2.1)."""
    bdp = network.bdp_packets(network.CAPACITY_BPS, network.RTT_S)
    rows: list[Row] = []
    for level, count in levels().items():
        section = f"8.2.{2 + list(network.LEVELS).index(level)}"
        scenarios = collected.scenarios(section)
        row: Row = {
            "level": level,
            "S, packets": float(2 * bdp),
            "N": float(count),
            "projected loss": network.projected_loss(count, 2 * bdp),
        }
        if scenarios:
            for name, entry in scenarios[0].items():
                row[f"{name}: loss"] = entry.mean("links", entry.first_link(), "loss")
        rows.append(row)
    return shown(rows)


def time_zero(collected: Collected) -> pd.DataFrame:
    """When all flows had reached congestion avoidance, of all disciplines, beside the time 0 of section 8."""
    rows = []
    for scenario in collected.scenarios("8.2"):
        latest = {name: entry.values("congestion_avoidance_s") for name, entry in scenario.items()}
        case = next(iter(scenario.values())).case
        late = {name: int(np.sum(~(found <= case.begin_s))) for name, found in latest.items()}
        known = {name: float(np.nanmax(found)) for name, found in latest.items() if not np.isnan(found).all()}
        last = max(known, key=lambda name: known[name], default="")
        rows.append(
            {
                "scenario": case.name,
                "time 0, s after the start": case.begin_s,
                "all in congestion avoidance, s (latest run)": known.get(last, math.nan),
                "of": last,
                "runs in which that was later than time 0": ", ".join(f"{n}: {k}" for n, k in late.items() if k)
                or "none",
            }
        )
    return pd.DataFrame(rows)


def fairness(scenarios: Sequence[Scenario]) -> pd.DataFrame:
    """Section 6.3: goodput of each category, their ratio, and the drop rate of each."""
    rows: list[Row] = []
    for scenario in scenarios:
        for name, entry in scenario.items():
            one = entry.values("groups", "one", "goodput_mbps")
            two = entry.values("groups", "two", "goodput_mbps")
            row: Row = {"RTT of II, ms": entry.case.point or math.nan, "discipline": name}
            row |= {"goodput I, Mb/s": mean_of(one), "goodput II, Mb/s": mean_of(two)}
            row["II / I"] = mean_of(np.divide(two, one, out=np.full(len(one), np.nan), where=one > 0))
            row |= {
                f"{what} of {title}": entry.mean("groups", key, what)
                for what in ("loss", "marks")
                for key, title in (("one", "I"), ("two", "II"))
            }
            row["queueing delay, ms"] = entry.mean("links", entry.first_link(), "delay_ms")
            row["loss synchronization"] = entry.mean("synchronization")
            rows.append(row)
    return shown(rows)


def transfers(scenario: Scenario) -> pd.DataFrame:
    """Return completion and start-up times of transfers and pages, and the quality of video and calls."""
    rows: list[Row] = []
    for name, entry in scenario.items():
        for group in entry.case.groups:
            row = _application(entry, group.name)
            if row:
                rows.append({"discipline": name, "flows": group.title, **row})
    return shown(rows) if rows else pd.DataFrame()


def _application(entry: Measured, group: str) -> Row:
    """Means over the transfers of a run, with the interval over the runs."""
    row: Row = {}
    for key, title in (
        ("fct_s", "completion time, s"),
        ("startup_s", "start-up time, s"),
        ("load_s", "page load time, s"),
    ):
        per_run = [answer["applications"].get(group, {}).get(key) for answer in entry.answers]
        means = [float(np.mean(found)) for found in per_run if found]
        if means:
            row[title] = mean_of(means)
            row[f"{title}: 95 %"] = float(np.quantile(entry.lists("applications", group, key), 0.95))
    for key, begun, title in (("fct_s", "begun", "transfers done"), ("load_s", "pages", "pages done")):
        done, all_ = len(entry.lists("applications", group, key)), np.nansum(entry.values("applications", group, begun))
        if all_:
            row[title] = f"{done} of {all_:.0f}"
    for key, title in OTHER_APPLICATIONS.items():
        found = entry.mean("applications", group, key)
        if not math.isnan(found.mean):
            row[title] = found
    return row


OTHER_APPLICATIONS = {
    "bitrate_mbps": "video, Mb/s",
    "stalled_s": "video stalled, s a run",
    "mos_there": "MOS A to B",
    "mos_back": "MOS B to A",
    "unplayed_there": "not played A to B",
    "unplayed_back": "not played B to A",
    "mouth_to_ear_there_ms": "mouth to ear A to B, ms",
}


def _comparable(collected: Collected) -> list[dict[str, Measured]]:
    """Return the scenarios that drop-tail ran too, with the same settings everywhere."""
    found = []
    for section in collected.sections:
        for scenario in collected.scenarios(section):
            base = next(iter(scenario.values()))
            exact = base.case.section == section and base.case.settings.is_baseline
            if exact and len(scenario) > 1:
                found.append(scenario)
    return found


def _delay(entry: Measured) -> np.ndarray:
    return entry.values("links", entry.first_link(), "delay_ms")


def _direction(mean: float, p: float) -> str:
    if not p < 1 - LEVEL:
        return "undecided"
    return "more" if mean > 0 else "less"
