"""The option in which a sender writes DDRED's fields: TTL_i, and TTL_f where it is known.

In IPv4 it is option 158 of the header, in IPv6 option 0x1e of a hop-by-hop header; both types are for experiments
(RFC 4727). ``wire::RouteOption`` of the link process reads it. The kernel shortens segments by the option's bytes, so
packets keep their length. Needs the capability CAP_NET_RAW.
"""

from __future__ import annotations

import socket

BYTES = {"ipv4": 4, "ipv6": 8}
"""Length of the option in a packet."""
IPV4_TYPE = 158
IPV6_TYPE = 0x1E
UNKNOWN = 0
"""TTL_f before a packet has reached the destination."""


def carry(connection: socket.socket, ttl_initial: int, ttl_final: int) -> None:
    """Write both fields into all later packets of a socket.

    Raises
    ------
    OSError
        If the kernel does not permit it.
    """
    if connection.family == socket.AF_INET6:
        # The kernel fills in the next header; two bytes of padding make eight.
        header = bytes((0, 0, IPV6_TYPE, 2, ttl_initial, ttl_final, 1, 0))
        connection.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_HOPOPTS, header)
    else:
        option = bytes((IPV4_TYPE, 4, ttl_initial, ttl_final))
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, option)
