"""The receiving side: takes what comes, and says how much of it came when."""

from __future__ import annotations

import selectors
import socket
from dataclasses import asdict, dataclass, field
from typing import Any

from aqmlab.live.traffic.clock import Agenda
from aqmlab.live.traffic.order import FlowOrder, Order
from aqmlab.live.traffic.route_option import carry
from aqmlab.live.traffic.source import IDLE_S
from aqmlab.live.traffic.tcp_info import TcpInfo

BUFFER = bytearray(262_144)


@dataclass
class Receiving:
    """One connection of a sink."""

    order: FlowOrder
    listener: socket.socket
    connection: socket.socket | None = None
    received: int = 0
    received_at_warmup: int = 0
    last_received_s: float | None = None
    finish_s: float | None = None
    at_warmup: TcpInfo | None = None
    at_end: TcpInfo | None = None

    def report(self) -> dict[str, Any]:
        """Say what came."""
        return {
            "name": self.order.name,
            "received_bytes": self.received,
            "received_at_warmup_bytes": self.received_at_warmup,
            "last_received_s": self.last_received_s,
            "finish_s": self.finish_s,
            "at_warmup": None if self.at_warmup is None else asdict(self.at_warmup),
            "at_end": None if self.at_end is None else asdict(self.at_end),
        }


@dataclass
class Sink:
    """All connections that a side receives over; its listeners are there before the run begins."""

    order: Order
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    receivings: list[Receiving] = field(init=False)
    samples: dict[str, list[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.receivings = [Receiving(flow, listen(flow.peer, flow.port)) for flow in self.order.flows]
        self.samples = {name: [] for name in ("t_s", "flow", "arrived_bytes", "delivered_bytes")}
        for receiving in self.receivings:
            self.selector.register(receiving.listener, selectors.EVENT_READ, receiving)

    def run(self, agenda: Agenda) -> dict[str, Any]:
        """Receive until the end of the run, and say what came."""
        end = self.order.duration_s
        agenda.at(self.order.warmup_s, self._warm_up_ends)
        if self.order.flow_interval_s is not None:
            agenda.every(self.order.flow_interval_s, end, lambda: self._sample(agenda))
        while agenda.now < end:
            agenda.do_what_is_due()
            for key, _ in self.selector.select(agenda.wait_s(max(min(IDLE_S, end - agenda.now), 0.0))):
                if key.fileobj is key.data.listener:
                    self._accept(key.data)
                else:
                    self._receive(key.data, agenda)
        for receiving in self.receivings:
            if receiving.connection is not None:
                receiving.at_end = TcpInfo.of(receiving.connection)
        return {"flows": [receiving.report() for receiving in self.receivings], "flow_samples": self.samples}

    def _accept(self, receiving: Receiving) -> None:
        connection, _ = receiving.listener.accept()
        self.selector.unregister(receiving.listener)
        receiving.listener.close()
        connection.setblocking(False)
        if receiving.order.ttl_fields is not None:
            ttl_initial, _, ttl_final = receiving.order.ttl_fields
            carry(connection, ttl_initial, ttl_final)
        receiving.connection = connection
        self.selector.register(connection, selectors.EVENT_READ, receiving)

    def _receive(self, receiving: Receiving, agenda: Agenda) -> None:
        connection = receiving.connection
        if connection is None:
            return
        try:
            got = connection.recv_into(BUFFER)
        except BlockingIOError:
            return
        except OSError:
            got = 0
        if got:
            receiving.received += got
            receiving.last_received_s = agenda.now
            return
        # When the run is over the sender hangs up, which is no end of its data.
        if receiving.received and agenda.now < self.order.duration_s:
            receiving.finish_s = receiving.last_received_s
        receiving.at_end = TcpInfo.of(connection)
        self.selector.unregister(connection)
        connection.close()
        receiving.connection = None

    def _warm_up_ends(self) -> None:
        for receiving in self.receivings:
            receiving.received_at_warmup = receiving.received
            if receiving.connection is not None:
                receiving.at_warmup = TcpInfo.of(receiving.connection)

    def _sample(self, agenda: Agenda) -> None:
        now = agenda.now
        for receiving in self.receivings:
            segments = 0 if receiving.connection is None else TcpInfo.of(receiving.connection).received
            row = (now, receiving.order.name, segments * receiving.order.segment_bytes, receiving.received)
            for column, value in zip(self.samples.values(), row, strict=True):
                column.append(value)


def listen(address: str, port: int) -> socket.socket:
    """Listen for one connection."""
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen(1)
    listener.setblocking(False)
    return listener
