"""The processes that send and receive by sockets: two for each side at most, one of them a source, one a sink."""

from __future__ import annotations

import json
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from aqmlab.live.groups import A, B, ends, other, sender_side
from aqmlab.live.link_process import LiveError
from aqmlab.live.plan import FlowGroup, LivePlan
from aqmlab.live.process_output import Heard
from aqmlab.live.processes import end, hurry, python_module
from aqmlab.live.run_context import Raw, Stage
from aqmlab.live.traffic.order import FlowOrder, Order
from aqmlab.live.traffic.route_option import BYTES

MODULE = "aqmlab.live.traffic"
FIRST_PORT = 5201
READY_WITHIN_S = 30.0
ENDS_WITHIN_S = 10.0
ENDING_S = 1.0
"""Longest time in s between the end of a process's output and its own."""


class Worker:
    """One source or sink: of TCP by `aqmlab.live.traffic`, of UDP by `aqmlab.live.udp`; they are spoken to alike."""

    def __init__(self, role: str, order: Mapping[str, Any], stage: Stage, side: str, *, module: str = MODULE) -> None:
        self.role = role
        self.process = stage.start([*python_module(module), role], side, stdin=subprocess.PIPE)
        hurry(self.process.pid)
        self._heard = Heard(self.process)
        try:
            self._say(json.dumps(order))
        except LiveError:
            # It has ended before it read its order, and no caller has it to end it.
            end(self.process)
            raise

    def wait_ready(self) -> None:
        """Wait until connections can come."""
        line = self._heard.line(READY_WITHIN_S)
        if line is None and self.process.poll() is None:
            # It may be about to end: its output is closed before itself.
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(ENDING_S)
        if line is None and self.process.poll() is None:
            raise LiveError(f"traffic {self.role}: was not ready within {READY_WITHIN_S:g} s")
        if line is None or line.strip() != "ready":
            raise self._failure()

    def begin(self, start_at: float) -> None:
        """Say when the run begins, by the monotonic clock."""
        self._say(f"start {start_at!r}")

    def check(self) -> None:
        """Raise what went wrong if it ended with an error."""
        if self.process.poll():
            raise self._failure()

    def report(self) -> dict[str, Any]:
        """Wait for its end, and return what it says."""
        try:
            self.process.wait(ENDS_WITHIN_S)
        except subprocess.TimeoutExpired:
            raise LiveError(f"the {self.role} of the traffic does not end") from None
        said = self._heard.rest(ENDS_WITHIN_S)
        if self.process.returncode or not said:
            raise self._failure()
        found: dict[str, Any] = json.loads(said[-1])
        return found

    def _say(self, line: str) -> None:
        stream = self.process.stdin
        try:
            if stream is not None:
                stream.write(f"{line}\n".encode())
                stream.flush()
        except BrokenPipeError:
            raise self._failure() from None

    def _failure(self) -> LiveError:
        return LiveError(f"traffic {self.role}: {self._heard.last_complaint(ENDING_S) or 'ended early'}")


class WorkerFlows(ABC):
    """Flows of a run that processes at both sides carry; a subclass defines the flows and reads the reports."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._workers: list[Worker] = []

    @abstractmethod
    def _start(self) -> Iterator[Worker]:
        """Start the processes."""

    def prepare(self) -> None:
        """Start the processes, and wait until all sockets are there."""
        # Each is known as soon as it runs, so that it is ended if the next one cannot be started.
        for worker in self._start():
            self._workers.append(worker)
        for worker in self._workers:
            worker.wait_ready()

    def begin(self, start_at: float) -> None:
        """Tell all when the run begins."""
        for worker in self._workers:
            worker.begin(start_at)

    def due(self, now: float) -> None:
        """See whether all still run."""
        for worker in self._workers:
            worker.check()

    def close(self) -> None:
        """End all."""
        for worker in self._workers:
            end(worker.process)


class SocketFlows(WorkerFlows):
    """All TCP flows of a run."""

    def _start(self) -> Iterator[Worker]:
        for (role, side), order in orders(self._stage.plan).items():
            yield Worker(role, order.to_json(), self._stage, side)

    def finish(self, raw: Raw) -> None:
        """Collect their reports."""
        for worker in self._workers:
            report = worker.report()
            raw.add_reports(worker.role, report.pop("flows"))
            for table, columns in report.items():
                known = raw.samples.setdefault(table, {name: [] for name in columns})
                for name, values in columns.items():
                    known[name] += values


def orders(plan: LivePlan) -> dict[tuple[str, str], Order]:
    """Return what each process is to do, by its role and its side; those with nothing to do are left out."""
    found = {}
    for side in (A, B):
        flows = tuple(flow for group in plan.groups if sender_side(group) == side for flow in flow_orders(plan, group))
        if flows:
            order = _order(plan, flows)
            found["source", side] = order
            found["sink", other(side)] = order
    return found


def flow_orders(plan: LivePlan, group: FlowGroup) -> list[FlowOrder]:
    """Return the connections of a group of TCP flows; none for UDP, and for one that a command stands in for."""
    if group.is_udp or group.exec is not None:
        return []
    own, side = ends(group.number, plan.family), sender_side(group)
    fields = ttl_fields(group) if plan.carries_ttl else None
    return [
        FlowOrder(
            name=name,
            local=own.at(side),
            peer=own.at(other(side)),
            port=port(index),
            periods_s=((start, group.stop_s), *group.again_s),
            size_bytes=size,
            congestion_control=group.congestion_control,
            dscp=group.dscp,
            segment_bytes=group.payload_bytes(plan.family) - (0 if fields is None else BYTES[plan.family]),
            ttl_fields=fields,
        )
        for index, (name, start, size) in enumerate(zip(group.flows, group.starts_s, group.size_bytes, strict=True))
    ]


def ttl_fields(group: FlowGroup) -> tuple[int, int, int]:
    """Return TTL_i, and the times to live with which data and replies reach their ends (TTL_f)."""
    return group.ttl, group.ttl - group.there.routers, group.ttl - group.back.routers


def port(index: int) -> int:
    """Return the port at which the receiver of a group's flow listens."""
    return FIRST_PORT + index


def _order(plan: LivePlan, flows: tuple[FlowOrder, ...]) -> Order:
    probe: Mapping[str, Any] = plan.scenario.probe
    return Order(
        flows=flows,
        duration_s=plan.scenario.duration_s,
        warmup_s=plan.scenario.warmup_s,
        cwnd_interval_s=probe.get("cwnd_interval_s"),
        flow_interval_s=probe.get("flow_interval_s"),
    )
