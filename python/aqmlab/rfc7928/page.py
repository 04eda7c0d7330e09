"""The report: a map of disciplines by scenario; then, folded, requirements, tables and figures, and discussions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from aqmlab import _core
from aqmlab.reporting.page import Page
from aqmlab.rfc7928 import chapters, heat, network, tables
from aqmlab.rfc7928.case import SAMPLE_S, Effort
from aqmlab.rfc7928.collected import Collected
from aqmlab.rfc7928.fairness import LONGER
from aqmlab.rfc7928.metrics import K
from aqmlab.rfc7928.requirements import LEVELS, requirements, status
from aqmlab.rfc7928.stability import FAST_BPS

TITLE = "RFC 7928: characterization of active queue management"


@dataclass(frozen=True)
class Built:
    """The report, its tables as numbers, and the requirements with their outcomes."""

    page: Page
    tables: dict[str, pd.DataFrame]
    requirements: pd.DataFrame


def build(collected: Collected, effort: Effort, *, skipped: Mapping[str, str]) -> Built:
    """Put the report together.

    Parameters
    ----------
    collected
        The measurements.
    effort
        How much was run.
    skipped
        Scenarios that this version cannot run: name to reason.
    """
    names = ", ".join(collected.names)
    form = "quick form" if effort.quick else "full form"
    found = tables.long(collected) if collected.entries else {}
    found["against"] = tables.against_baseline(collected)
    says = "" if found["against"].empty else f"{heat.words(found['against'], collected.names)} "
    page = Page(TITLE, f"{says}{names}: {effort.seeds} runs of each scenario, {form}, intervals of 95 %.")
    required = _requirements(collected, skipped)
    _summary(page, collected, required, found["against"], skipped)
    _set_up(page, collected, effort)
    chapters.add(page, collected)
    _provenance(page, collected, effort)
    return Built(page, found, required)


def _requirements(collected: Collected, skipped: Mapping[str, str]) -> pd.DataFrame:
    """Return every requirement with whether it is answered, in the RFC's order."""
    missing = {name.split(" ")[0] for name in skipped}
    ran = _sections(collected.sections)
    out = _sections(sorted(missing))
    return pd.DataFrame(
        [
            {
                "section": one.section,
                "level": one.level,
                "asks for": one.asks,
                "answered by": one.answer,
                "status": status(one, ran=ran, missing=out),
            }
            for one in requirements()
        ]
    )


def _sections(names: Sequence[str]) -> list[str]:
    """Return sections as requirements name them."""
    return [part for name in names for part in {name, ".".join(name.split(".")[:2])}]


def _summary(
    page: Page, collected: Collected, required: pd.DataFrame, against: pd.DataFrame, skipped: Mapping[str, str]
) -> None:
    page.section("At a glance")
    if not against.empty:
        others = [name for name in collected.names if name in set(against["discipline"])]
        for quantity, title in (("delay", "Mean queueing delay"), ("goodput", "Goodput, all flows from A to B")):
            page.heading(f"{title} against drop-tail", listed=True)
            page.heat_table(
                heat.heat_table(against, quantity, others),
                caption=f"{title}: difference to drop-tail with a buffer of the bandwidth-delay product, in % of it, "
                "means over the runs. Blue: better, orange: worse, grey with ?: undecided (5 %, Holm's correction over "
                f"the {tables.tests_of(against)} tests of both tables).",
            )
    open_ = required[required["status"] != "answered"]
    page.text(
        f"All {len(required)} requirements of RFC 7928 are answered."
        if open_.empty
        else f"{len(required) - len(open_)} of {len(required)} requirements of RFC 7928 are answered. "
        f"Open: {', '.join(open_['section'] + ' (' + open_['level'] + ')')}."
    )
    if skipped:
        page.heading("Not runnable in this version")
        rows = [{"scenario": name, "what": reason} for name, reason in skipped.items()]
        page.table(pd.DataFrame(rows), caption="Scenarios that were left out.")
    page.section("Requirements", folded=True)
    page.text(
        "Each thing that the RFC asks for, in short, with its level: that of the RFC's summary (section 13) for "
        "scenarios, that of its text for all else."
    )
    for level in LEVELS:
        part = required[required["level"] == level]
        page.heading(f"Level: {level}", listed=True)
        page.table(part.drop(columns="level"), caption=f"Requirements of the RFC's level “{level}”.")


def _set_up(page: Page, collected: Collected, effort: Effort) -> None:
    page.section("Set-up", folded=True)
    page.table(
        pd.DataFrame(list(_choices(effort).items()), columns=["what", "how"]),
        caption="Choices that the RFC leaves open or wants disclosed.",
    )
    page.heading("Settings of each discipline", listed=True)
    page.text(
        "Thresholds and weight follow the link by the discipline's automatic settings where it has them, all else is "
        "its default; what was tuned by the caller is named."
    )
    page.table(_settings(collected), caption="Settings of the disciplines (4.3.1: tuned values are disclosed).")


def _choices(effort: Effort) -> dict[str, str]:
    """Say what was chosen where the RFC leaves a choice."""
    bdp = network.bdp_packets(network.CAPACITY_BPS, network.RTT_S)
    longest = network.bdp_packets(network.CAPACITY_BPS, network.LONGEST_RTT_S)
    fastest = network.bdp_packets(FAST_BPS, network.RTT_S)
    return {
        "topology (3.1)": "dumbbell: senders A, routers L and R, receivers B; in 10.2 routers L, M, R",
        "bottleneck": "10 Mb/s both ways; in 8.2.6 100 and 10 Mb/s; in 9.2 also 10 Mb/s from A to B and 2 Mb/s back",
        "round trip": "100 ms without queues; in 6.2 and 4.5 100 ms beside 5 to 560 ms",
        "packets": f"{network.PACKET_BYTES} B, headers included (goodput counts them); acknowledgements 52 B and more",
        "buffer (3.2)": "the bandwidth-delay product at the largest round trip of the scenario, the same for all "
        f"disciplines: {bdp} packets; {longest} in 6.2 and 4.5, {fastest} in 8.2.6, 42 at L and {bdp} at M in 10.2",
        "baseline (1.2)": "drop-tail with that buffer",
        "other direction": "drop-tail with as many packets, unless the discipline is in both",
        "TCP (3.3)": "by the RFCs as Linux 6 reads them (`aqmlab list tcp`): NewReno with SACK is `reno` (windows of "
        "RFC 5681, recovery of RFC 8985 and 6937), CUBIC is RFC 9438; initial window 3 unless said otherwise",
        "measured time": f"{effort.measured_s:g} s behind 20 s (5.1.2: behind 40 s); 6.2 and 4.5: "
        f"{LONGER * effort.measured_s:g} s behind 60 s; 8.2.5 and 8.2.6: {effort.cycles} rounds of the phases",
        "samples (2.7)": f"goodput every K x minRTT with K = {K}, that is {SAMPLE_S:g} s, everywhere (so K is larger "
        "for round trips below 100 ms); delay of every packet",
        "loss (2.3)": "packets dropped at the bottleneck over packets offered there; nothing is lost elsewhere",
        "loss event (2.4)": "losses (or marks) within one round trip from the first on; a flow counts once",
        "queueing delay": "time in the bottleneck's queue: the delay in excess of the minimum",
        "PDV (2.6)": "one-way delay of a packet less the smallest of its group in the run (RFC 5481)",
        "time 0 (8.2)": "20 s after the start of the flows; whether all had left slow start is in a table there",
        "runs": f"seeds 1 to {effort.seeds}; in 4.3.1 and 8.3 1 to {effort.few_seeds}; seeds change starts and drops",
    }


def _settings(collected: Collected) -> pd.DataFrame:
    plans = {
        entry.case.settings.name: entry.plan for entry in reversed(collected.entries) if not entry.case.settings.label
    }
    rows = []
    for one in collected.disciplines:
        link = plans[one.name].links[0] if one.name in plans else None
        if link is None:
            continue
        own = next(found for found in plans[one.name].links if found.queue == network.QUEUE)
        known = {parameter.key for parameter in one.discipline.own_parameters}
        values = {key: value for key, value in own.parameters.items() if key in known and value not in (None, [], "")}
        rows.append(
            {
                "discipline": one.name,
                "set by the suite": _words(one.queue(buffer=0), leave=("aqm", "limit")) or "nothing but the buffer",
                "tuned by the caller": _words(one.chosen) or "nothing",
                "effective": _words(values, leave=("limit",)),
            }
        )
    return pd.DataFrame(rows)


def _words(values: Mapping[str, object], *, leave: Sequence[str] = ()) -> str:
    return ", ".join(f"{key} = {_short(value)}" for key, value in values.items() if key not in leave)


def _short(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _provenance(page: Page, collected: Collected, effort: Effort) -> None:
    page.section("Provenance")
    own = [one.name for one in collected.disciplines if not one.is_baseline]
    command = f"aqmlab rfc7928 --aqm {','.join(own)}{' --quick' if effort.quick else ''} --seeds {effort.seeds}"
    tuned = " ".join(
        f"--set queue.{one.name}.{key}={value}" for one in collected.disciplines for key, value in one.chosen.items()
    )
    page.text(
        f"aqmlab {_core.version()}. The whole report: `{f'{command} {tuned}'.strip()}`. One scenario again, with every "
        "table, in the folder of the runs (`results/rfc7928` unless `--out` says another):"
    )
    page.code("aqmlab run scenarios/NAME/scenario.toml --seeds 1")
    if collected.entries:
        page.code(collected.entries[-1].plan.normalized, fold=f"For example: {collected.entries[-1].case.name}")
    lines = [f"{entry.plan.label}  {entry.case.name}  {entry.case.settings.title}" for entry in collected.entries]
    page.code("\n".join(lines), fold=f"Folders of the {len(lines)} scenarios")
