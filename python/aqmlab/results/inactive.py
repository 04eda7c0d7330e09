"""Mechanisms of a scenario that had no effect in its runs, with the reason; loads and transfers that fell short.

Flows that do not cross the link are named too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aqmlab.errors import counted
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import DROP_TAIL, Link
from aqmlab.scenario.toml_text import read_toml

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result

BUSY = 0.9
"""Utilization from which on a link is a bottleneck."""
LOAD_TOLERANCE = 0.1
"""Largest relative difference of offered and intended load without a line."""
FEW_TRANSFERS = 100
"""Transfers of a run below which a 99th percentile is near the greatest value."""


def inactive(result: Result, *, link: str | None = None) -> list[str]:
    """Return a line for every mechanism that had no effect in any run, and for loads and transfers that fell short.

    Parameters
    ----------
    result
        Finished runs.
    link
        The link of the queue; default: the result's bottleneck.

    Returns
    -------
    list of str
        Sentences; none if all had an effect, or without the text of the scenario.
    """
    if not result.scenario_text:
        return []
    scenario = Scenario.from_text(result.scenario_text, filename=result.name)
    name = result.bottleneck if link is None else link
    found = result.links[result.links["link"] == name]
    own = scenario.link(name)
    return [
        *(f"Settings: {one.key}: {one.message}." for one in scenario.warnings),
        *_ecn(own, scenario, result.scenario_text, found),
        *_queue(own, found, result.links),
        *_elsewhere(own, scenario),
        *_loads(scenario, result),
        *_transfers(result.flows),
    ]


def _elsewhere(link: Link, scenario: Scenario) -> Iterator[str]:
    """Yield that quantities of flows count flows too that do not cross the link whose quantities stand beside them."""
    flows = [flow for flow in scenario.flows if flow.is_tcp and flow.path]
    others = [flow for flow in flows if link.name not in flow.path]
    if others:
        do = "does" if len(others) == 1 else "do"
        yield (
            f"Flows: goodput and Jain's index are of all {len(flows)} TCP flows; {len(others)} of them {do} not cross "
            f"{link.name}."
        )


def _loads(scenario: Scenario, result: Result) -> Iterator[str]:
    """Yield a line for each group whose transfers offered another load than intended."""
    for group in read_toml(result.scenario_text).get("flow", []):
        start = group.get("start")
        if not isinstance(start, dict) or "load" not in start or start.get("headers") or "name" not in group:
            continue
        link = scenario.link(start.get("link", result.bottleneck))
        flows = result.flows[(result.flows["group"] == group["name"]) & result.flows["start_s"].notna()]
        bits = 8 * float(flows["size_bytes"].sum()) / len(result.seeds)
        offered, intended = bits / (link.rate_bps * scenario.duration_s), float(start["load"])
        if abs(offered - intended) > LOAD_TOLERANCE * intended:
            yield (
                f"Load: the transfers of {group['name']} offered {offered:.2f} of {link.name} on average, and load "
                f"is {intended:g}: run longer or with more seeds."
            )


def _transfers(flows: pd.DataFrame) -> Iterator[str]:
    """Yield that a run has too few completed transfers for a 99th percentile."""
    sized = flows[flows["size_packets"] >= 0]
    completed = sized["finish_s"].notna().groupby(sized["seed"]).sum()
    if len(completed) and completed.mean() < FEW_TRANSFERS:
        yield (
            f"Transfers: fewer than {FEW_TRANSFERS} were completed in a run, so the 99 % quantiles of completion times "
            "and slowdowns are near the greatest values."
        )


def _ecn(link: Link, scenario: Scenario, text: str, found: pd.DataFrame) -> Iterator[str]:
    """Yield the reason why a queue marks nothing; ECN that is on by default needs none."""
    asked = read_toml(text).get("queue", {}).get(link.queue, {}).get("ecn") is True
    marking = link.parameters.get("ecn")
    dropped = found["drops_early"].sum() + found["drops_forced"].sum() > 0
    flows = [flow for flow in scenario.flows if link.name in flow.path or not flow.path]
    able = [flow for flow in flows if flow.parameters.get("ecn")]
    if link.aqm == DROP_TAIL and able:
        found_able = f"{len(able)} of {len(flows)} flows are ECN-capable"
        yield f"ECN: drop-tail at {link.name} marks nothing, although {found_able}."
    if found["marks"].sum() > 0 or not dropped or not (asked or marking is False):
        return
    if asked and not able:
        yield f"ECN: {link.name} marks nothing, since no flow through it is ECN-capable: its queue drops instead."
    elif able and marking is False:
        yield (
            f"ECN: {link.name} marks nothing, although {len(able)} of {len(flows)} flows are ECN-capable: "
            f"queue.{link.queue}.ecn is false."
        )


def _queue(link: Link, found: pd.DataFrame, links: pd.DataFrame) -> Iterator[str]:
    """Yield the reason why a queue drops and marks nothing."""
    if found.empty or found["drops"].sum() + found["marks"].sum() > 0:
        overflows = found["drops_overflow"].sum()
        acts = "min_th" in link.parameters or "target" in link.parameters
        if acts and 0 < overflows == found["drops"].sum() + found["marks"].sum():
            yield (
                f"Discipline: {link.aqm} at {link.name} neither dropped early nor marked: all drops "
                f"({overflows:.0f}) are overflows of the buffer, as with drop-tail."
            )
        return
    longest = int(found["max_queue"].max())
    waited = f"at most {counted(longest, 'packet')} waited"
    utilization = float(found["utilization"].mean())
    if utilization < BUSY:
        mean = links.groupby("link", sort=False)["utilization"].mean()
        busiest = str(mean.idxmax())
        other = f" The busiest link is {busiest} ({100 * mean[busiest]:.0f} %)." if busiest != link.name else ""
        yield (
            f"No congestion at {link.name} after the warm-up: utilization {100 * utilization:.0f} %, no drop and "
            f"no mark; {waited}.{other}"
        )
        return
    min_th, limit = link.parameters.get("min_th"), link.parameters.get("limit")
    in_packets = link.parameters.get("mode") != "bytes" and not link.classes
    if min_th is not None and in_packets and longest < min_th:
        yield f"Thresholds: the queue at {link.name} never reached min_th ({min_th:g} packets): {waited}."
    elif link.aqm == DROP_TAIL and isinstance(limit, int | float):
        yield f"Buffer: that of {link.name} ({limit:g} packets) never overflowed: {waited}."
    else:
        yield f"Queue: {link.name} dropped and marked nothing; {waited}."
