"""A finished live run in the form that a store holds: tables, a summary, the certificate."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from aqmlab import _core
from aqmlab.live import tables
from aqmlab.live.certificate import Certificate
from aqmlab.live.groups import ends, other, sender_side
from aqmlab.live.options import Options
from aqmlab.live.plan import FlowGroup, LivePlan
from aqmlab.live.run_context import Raw
from aqmlab.live.traffic.workers import port
from aqmlab.results.output import Output
from aqmlab.results.result import LIVE
from aqmlab.scenario.file import Scenario

END = re.compile(r"\[?([0-9a-fA-F.:]+?)\]?:(\d+)(?= |$)")
"""Address and port of an end in the label of a flow."""


def finished(plan: LivePlan, raw: Raw, options: Options) -> tuple[Output, Certificate]:
    """Make tables, summary and certificate of what came out of a run."""
    certificate = Certificate.of(raw.outcome.get("certificate") or {}, troubles=raw.troubles, unshaped=options.unshaped)
    found = {
        name: tables.to_arrow(columns, seed=plan.seed)
        for name, columns in (raw.outcome.get("tables") or {}).items()
        if name != "flows" and any(columns.values())
    }
    found["flows"] = tables.flows_table(
        plan,
        sources=raw.sources,
        sinks=raw.sinks,
        drops=link_counts(plan, raw.outcome.get("last"), raw.at_warmup, "drops"),
        others={**_through_the_link(plan, raw), **raw.datagrams},
    )
    found |= _samples(plan, raw)
    return Output(summary=_summary(plan, certificate, options), tables=found), certificate


def live_name(name: str) -> str:
    """Return the name of a scenario's live runs beside its simulations.

    >>> live_name("mred")
    'mred (live)'
    """
    return f"{name} ({LIVE})"


def provenance(scenario: Scenario) -> dict[str, Any]:
    """Return the provenance of a live result."""
    return {
        "format": 1,
        "version": _core.version(),
        "world": LIVE,
        "scenario": {"name": live_name(scenario.name), "hash": scenario.hash},
        "readings": scenario.queues,
    }


def link_counts(
    plan: LivePlan, last: Mapping[str, Any] | None, first: Mapping[str, Any] | None, key: str
) -> dict[str, int]:
    """Return the live link's counts of each flow's data, from one snapshot (or the start) to another."""
    names = {
        (_direction(group), ends(group.number, plan.family).at(other(sender_side(group))), port(index)): name
        for group in plan.groups
        for index, name in enumerate(group.flows)
    }
    counts: dict[str, int] = {}
    for snapshot, sign in ((last, 1), (first, -1)):
        for direction in (snapshot or {}).get("directions", ()):
            for flow in direction.get("flows", ()):
                found = [(direction["name"], at, int(number)) for at, number in END.findall(flow.get("label", ""))]
                for name in (names[end] for end in found if end in names):
                    counts[name] = counts.get(name, 0) + sign * int(flow.get(key) or 0)
    return counts


def _direction(group: FlowGroup) -> str:
    """Return in which direction a group's data cross the link."""
    return "forward" if group.forward else "reverse"


def _through_the_link(plan: LivePlan, raw: Raw) -> dict[str, dict[str, Any]]:
    """Return rows of the flows that a command sends, from the link's counts, as no other end is ours."""
    last, first = raw.outcome.get("last"), raw.at_warmup
    carried = link_counts(plan, last, first, "departed_bytes")
    measured_s = plan.scenario.duration_s - plan.scenario.warmup_s
    return {
        name: {"arrived_bytes": carried.get(name, 0), **_goodput(group, carried.get(name, 0), measured_s)}
        for group in plan.groups
        if group.exec is not None
        for name in group.flows
    }


def _goodput(group: FlowGroup, carried: int, measured_s: float) -> dict[str, Any]:
    return {"goodput_bytes": carried, "goodput_bps": carried * 8 / measured_s}


def _samples(plan: LivePlan, raw: Raw) -> dict[str, pa.Table]:
    found = {}
    windows = raw.samples.get("cwnd_samples", {})
    if windows.get("t_s"):
        found["cwnd_samples"] = tables.to_arrow(windows, seed=plan.seed)
    arrived = raw.samples.get("flow_samples", {})
    if arrived.get("t_s"):
        tcp = [group for group in plan.groups if not group.is_udp]
        scale = {name: tables.with_headers(group, plan.family) for group in tcp for name in group.flows}
        found["flow_samples"] = tables.flow_samples(plan, arrived, scale)
    return found


def _summary(plan: LivePlan, certificate: Certificate, options: Options) -> dict[str, Any]:
    scenario = plan.scenario
    warnings = [] if certificate.valid else [f"seed {plan.seed}: {certificate.line()}"]
    return provenance(scenario) | {
        "seed": plan.seed,
        "summary": {
            "seed": plan.seed,
            "duration_s": scenario.duration_s,
            "warmup_s": scenario.warmup_s,
            "warnings": warnings,
        },
        LIVE: {
            "family": plan.family,
            "traffic": options.traffic,
            "valid": certificate.valid,
        },
    }
