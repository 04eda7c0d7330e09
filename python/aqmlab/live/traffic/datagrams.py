"""UDP flows of a live run: the packets of the simulator's sources, at the same times and of the same lengths."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from aqmlab.errors import InputError, counted
from aqmlab.live.groups import A, B, ends, other, sender_side
from aqmlab.live.plan import LARGEST_PACKET, FlowGroup, LivePlan
from aqmlab.live.run_context import Raw
from aqmlab.live.traffic.workers import Worker, WorkerFlows, port

MODULE = "aqmlab.live.udp"


class DatagramFlows(WorkerFlows):
    """All UDP flows of a run."""

    def _start(self) -> Iterator[Worker]:
        for (role, side), order in udp_orders(self._stage.plan).items():
            yield Worker(role, order, self._stage, side, module=MODULE)

    def finish(self, raw: Raw) -> None:
        """Collect what was sent, and what came."""
        found: dict[str, dict[str, dict[str, Any]]] = {"source": {}, "sink": {}}
        for worker in self._workers:
            for flow in worker.report()["flows"]:
                found[worker.role][flow["name"]] = flow
        scenario = self._stage.plan.scenario
        measured_s = scenario.duration_s - scenario.warmup_s
        for name, source in found["source"].items():
            raw.datagrams[name] = row(source, found["sink"][name], measured_s)
            if source["refused"]:
                raw.troubles.append(f"flow {name}: the kernel rejected {counted(source['refused'], 'datagram')}")


def udp_orders(plan: LivePlan) -> dict[tuple[str, str], dict[str, Any]]:
    """Return what each process is to do, by its role and its side; those with nothing to do are left out."""
    found = {}
    for side in (A, B):
        own = [group for group in plan.groups if group.is_udp and group.exec is None and sender_side(group) == side]
        flows = [flow for group in own for flow in _flows(plan, group)]
        if flows:
            order = {
                "seed": plan.seed,
                "duration_s": plan.scenario.duration_s,
                "warmup_s": plan.scenario.warmup_s,
                "mtu": LARGEST_PACKET,
                "flows": flows,
            }
            found["source", side] = order
            found["sink", other(side)] = order
    return found


def row(source: dict[str, Any], sink: dict[str, Any], measured_s: float) -> dict[str, Any]:
    """Return the row of a flow as the simulator has it: for UDP, all that arrives counts as goodput."""
    sent, came = source["measured"], sink["measured"]
    return {
        "sent": sent["packets"],
        "sent_bytes": sent["bytes"],
        "received": came["packets"],
        "goodput_bytes": came["bytes"],
        "goodput_bps": came["bytes"] * 8 / measured_s,
        "arrived": came["packets"],
        "arrived_bytes": came["bytes"],
        "first_sent_s": _time(source["first_sent_s"]),
        "last_received_s": _time(sink["last_received_s"]),
    }


def _flows(plan: LivePlan, group: FlowGroup) -> list[dict[str, Any]]:
    own, side = ends(group.number, plan.family), sender_side(group)
    if group.parameters["pattern"] == "arrivals":
        raise InputError(f'flow "{group.name}": arrivals are not sent live')
    return [
        {
            "name": name,
            "local": own.at(side),
            "peer": own.at(other(side)),
            "port": port(index),
            "periods_s": [[start, group.stop_s], *([begin, stop] for begin, stop in group.again_s)],
            "rate_bps": round(group.parameters["rate_bps"]),
            "packet": group.parameters["packet_size"],
            "pattern": group.parameters["pattern"],
            "dscp": group.dscp,
            "ttl_initial": group.ttl if plan.carries_ttl else None,
        }
        for index, (name, start) in enumerate(zip(group.flows, group.starts_s, strict=True))
    ]


def _time(value: float | None) -> float:
    return math.nan if value is None else float(value)
