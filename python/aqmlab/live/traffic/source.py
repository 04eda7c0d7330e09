"""The sending side: connections that send as long as the scenario's application has something to send."""

from __future__ import annotations

import selectors
import socket
from dataclasses import asdict, dataclass, field
from typing import Any

from aqmlab.live.traffic.clock import Agenda
from aqmlab.live.traffic.order import FlowOrder, Order
from aqmlab.live.traffic.route_option import UNKNOWN, carry
from aqmlab.live.traffic.tcp_info import TcpInfo

CHUNK = bytes(65536)
UNSENT_SEGMENTS = 4
"""Segments that a flow whose data end may have handed over and not sent: all that is sent too much after its end."""
RTT_INTERVAL_S = 0.1
"""How often round-trip times are looked at, for their mean."""
TCP_NOTSENT_LOWAT = 25
IDLE_S = 0.5
LONGEST_CONNECT_S = 5.0
"""A flow that had so long to connect and is not connected has failed."""


@dataclass
class Sending:
    """One connection of a source."""

    order: FlowOrder
    connection: socket.socket | None = None
    active: bool = False
    watched: bool = False
    left: int | None = None
    finished: bool = False
    connected_s: float | None = None
    first_sent_s: float | None = None
    at_warmup: TcpInfo | None = None
    at_end: TcpInfo | None = None
    rtt_sum: float = 0.0
    rtt_samples: int = 0
    error: str = ""

    def report(self) -> dict[str, Any]:
        """Say what became of it."""
        return {
            "name": self.order.name,
            "connected_s": self.connected_s,
            "first_sent_s": self.first_sent_s,
            "at_warmup": None if self.at_warmup is None else asdict(self.at_warmup),
            "at_end": None if self.at_end is None else asdict(self.at_end),
            "mean_rtt_s": self.rtt_sum / self.rtt_samples if self.rtt_samples else None,
            "error": self.error,
        }


@dataclass
class Source:
    """All connections that a side sends over."""

    order: Order
    agenda: Agenda
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    sendings: list[Sending] = field(init=False)
    samples: dict[str, list[Any]] = field(init=False)

    def __post_init__(self) -> None:
        self.sendings = [Sending(flow, left=flow.size_bytes) for flow in self.order.flows]
        self.samples = {name: [] for name in ("t_s", "flow", "cwnd", "ssthresh", "srtt_s")}
        end = self.order.duration_s
        for sending in self.sendings:
            for begin, stop in sending.order.periods_s:
                self.agenda.at(begin, lambda one=sending: self._begin(one))  # type: ignore[misc]
                if stop is not None and stop < end:
                    self.agenda.at(stop, lambda one=sending: self._pause(one))  # type: ignore[misc]
        self.agenda.at(self.order.warmup_s, self._warm_up_ends)
        self.agenda.every(RTT_INTERVAL_S, end, self._look_at_rtts)
        if self.order.cwnd_interval_s is not None:
            self.agenda.every(self.order.cwnd_interval_s, end, self._sample)

    def run(self) -> dict[str, Any]:
        """Send until the end of the run, and say what became of all connections."""
        while self.agenda.now < self.order.duration_s:
            self.agenda.do_what_is_due()
            left = self.order.duration_s - self.agenda.now
            for key, _ in self.selector.select(self.agenda.wait_s(max(min(IDLE_S, left), 0.0))):
                self._handle(key.data)
        for sending in self.sendings:
            self._look(sending, "at_end")
            begun_s = self.order.duration_s - sending.order.periods_s[0][0]
            if sending.connected_s is None and not sending.error and begun_s > LONGEST_CONNECT_S:
                sending.error = "never connected"
        return {"flows": [sending.report() for sending in self.sendings], "cwnd_samples": self.samples}

    def _begin(self, sending: Sending) -> None:
        """There is something to send from now on: connect first, the first time."""
        sending.active = True
        if sending.finished or sending.error:
            return
        if sending.connection is None:
            try:
                sending.connection = connect(sending.order)
            except OSError as error:
                sending.error = f"cannot connect ({error.strerror})"
                return
        self._watch(sending)

    def _pause(self, sending: Sending) -> None:
        """There is nothing to send from now on."""
        sending.active = False
        self._watch(sending)

    def _watch(self, sending: Sending) -> None:
        """Wait until there is room to send, or until the peer is done."""
        connection = sending.connection
        if connection is None:
            return
        wanted = selectors.EVENT_READ
        if sending.connected_s is None or (sending.active and not sending.finished):
            wanted |= selectors.EVENT_WRITE
        if sending.watched:
            self.selector.modify(connection, wanted, sending)
        else:
            self.selector.register(connection, wanted, sending)
            sending.watched = True

    def _handle(self, sending: Sending) -> None:
        connection = sending.connection
        if connection is None:
            return
        try:
            if sending.connected_s is None:
                failed = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if failed:
                    raise OSError(failed, "connection refused or timed out")
                sending.connected_s = self.agenda.now
                if sending.order.ttl_fields is not None:
                    ttl_initial, ttl_final, _ = sending.order.ttl_fields
                    carry(connection, ttl_initial, ttl_final)
                self._watch(sending)
            if sending.finished:
                if not connection.recv(1):
                    self._look(sending, "at_end")
                    self._drop(sending)
            elif sending.active:
                self._send(sending, connection)
        except BlockingIOError:
            return
        except OSError as error:
            # When the run is over the other side hangs up, perhaps a moment before this one looks at the clock.
            if self.agenda.now < self.order.duration_s:
                sending.error = error.strerror or str(error)
            self._look(sending, "at_end")
            self._drop(sending)

    def _send(self, sending: Sending, connection: socket.socket) -> None:
        """Hand the kernel what it has room for; after the last byte, say that there will be no more."""
        most = len(CHUNK) if not sending.order.ends else UNSENT_SEGMENTS * sending.order.segment_bytes
        if sending.left is not None:
            most = min(most, sending.left)
        sent = connection.send(memoryview(CHUNK)[:most])
        if sending.first_sent_s is None:
            sending.first_sent_s = self.agenda.now
        if sending.left is not None:
            sending.left -= sent
            if sending.left == 0:
                sending.finished = True
                connection.shutdown(socket.SHUT_WR)
                self._watch(sending)

    def _drop(self, sending: Sending) -> None:
        if sending.connection is not None:
            self.selector.unregister(sending.connection)
            sending.connection.close()
            sending.connection = None

    def _look(self, sending: Sending, place: str) -> None:
        if sending.connection is not None:
            setattr(sending, place, TcpInfo.of(sending.connection))

    def _warm_up_ends(self) -> None:
        for sending in self.sendings:
            self._look(sending, "at_warmup")

    def _look_at_rtts(self) -> None:
        if self.agenda.now < self.order.warmup_s:
            return
        for sending in self.sendings:
            if sending.connection is not None and sending.first_sent_s is not None:
                sending.rtt_sum += TcpInfo.of(sending.connection).srtt_s
                sending.rtt_samples += 1

    def _sample(self) -> None:
        now = self.agenda.now
        for sending in self.sendings:
            if sending.connection is not None and sending.connected_s is not None:
                info = TcpInfo.of(sending.connection)
                row = (now, sending.order.name, float(info.cwnd), info.ssthresh, info.srtt_s)
                for column, value in zip(self.samples.values(), row, strict=True):
                    column.append(value)


def connect(order: FlowOrder) -> socket.socket:
    """Begin to connect; the connection is there when it can be written to."""
    six = ":" in order.local
    connection = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        if order.congestion_control is not None:
            name = order.congestion_control.encode()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name)
        if order.dscp:
            level, option = (socket.IPPROTO_IPV6, socket.IPV6_TCLASS) if six else (socket.IPPROTO_IP, socket.IP_TOS)
            connection.setsockopt(level, option, order.dscp << 2)
        if order.ends:
            connection.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_SEGMENTS * order.segment_bytes)
        if order.ttl_fields is not None:
            carry(connection, order.ttl_fields[0], UNKNOWN)
        connection.bind((order.local, 0))
        failed = connection.connect_ex((order.peer, order.port))
        if failed not in (0, 115):  # EINPROGRESS
            raise OSError(failed, "refused")
    except OSError:
        connection.close()
        raise
    return connection
