"""Linux's report on a TCP connection: ``struct tcp_info`` of ``linux/tcp.h``."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

LAYOUT = struct.Struct("<8B24I4Q6I4Q2I2Q6I2H")
"""As Linux 6.7 and later have it; older kernels give a part of it, the rest is 0."""
NEVER = 0x7FFFFFFF
"""Slow-start threshold of a connection that has none yet."""


@dataclass(frozen=True)
class TcpInfo:
    """The part of it that runs are about.

    Attributes
    ----------
    srtt_s
        Smoothed round-trip time in s.
    cwnd, ssthresh
        Congestion window and slow-start threshold in segments; the latter may be NaN.
    retransmitted, sent, received
        Data segments retransmitted, sent in all, and received.
    sent_bytes, acked_bytes, received_bytes
        Payload sent (with retransmissions), acknowledged, and received in order.
    timeouts
        Retransmission time-outs.
    """

    srtt_s: float
    cwnd: int
    ssthresh: float
    retransmitted: int
    sent: int
    received: int
    sent_bytes: int
    acked_bytes: int
    received_bytes: int
    timeouts: int

    @classmethod
    def of(cls, connection: socket.socket) -> TcpInfo:
        """Ask the kernel."""
        return cls.from_bytes(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, LAYOUT.size))

    @classmethod
    def from_bytes(cls, data: bytes) -> TcpInfo:
        """Read the structure.

        >>> TcpInfo.from_bytes(b"").cwnd
        0
        """
        fields = LAYOUT.unpack(data[: LAYOUT.size].ljust(LAYOUT.size, b"\0"))
        words, more = fields[8:32], fields[32:]
        return cls(
            srtt_s=words[15] / 1e6,
            cwnd=words[18],
            ssthresh=float("nan") if words[17] >= NEVER else float(words[17]),
            retransmitted=words[23],
            sent=more[9],
            received=more[8],
            sent_bytes=more[16],
            acked_bytes=more[2],
            received_bytes=more[3],
            timeouts=more[24],
        )
