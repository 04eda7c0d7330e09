"""Captures of tcpdump and Wireshark: the packets of IP of a pcap or pcapng file.

* pcap: draft-ietf-opsawg-pcap, in either byte order, in micro- or nanoseconds
* pcapng: draft-ietf-opsawg-pcapng: section headers, interfaces (``if_tsresol``, ``if_tsoffset``), enhanced and obsolete
  packets; other blocks are skipped, simple packets have no time
* link types: Ethernet with VLAN tags, raw IP, Linux cooked (SLL and SLL2), BSD loopback
* IPv4 and IPv6 with extension headers; ports, sequence numbers and flags of TCP and UDP

Fragments behind the first have no ports. A record that claims more than the file has is an error with its number.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from aqmlab.errors import InputError

PCAP = {0xA1B2C3D4: 1_000_000, 0xA1B23C4D: 1_000_000_000}
"""Ticks a second by the magic number."""
INTERFACE, OLD_PACKET, SIMPLE, ENHANCED = 1, 2, 3, 6
BYTE_ORDER = 0x1A2B3C4D
ETHERNET, RAW, SLL, SLL2 = 1, (12, 14, 101, 228, 229), 113, 276
LOOPBACK = (0, 108)
TAGS = (0x8100, 0x88A8, 0x9100)
IPV4, IPV6 = 0x0800, 0x86DD
TCP, UDP = 6, 17
EXTENSIONS = (0, 43, 60, 135)
"""IPv6 headers whose second byte is their length in 8 bytes: hop-by-hop, routing, destination, mobility."""
FRAGMENT = 44
SYN, ACK = 2, 16
LONGEST_RECORD = 1 << 18
LONGEST_BLOCK = 1 << 24
MOST_PACKETS = 1_000_000
MOST_INTERFACES = 1000
SUFFIXES = (b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1", b"\x0a\x0d\x0d\x0a")


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of IP.

    Attributes
    ----------
    time_ns
        When it was captured, in ns since 1970.
    source, target
        Addresses as bytes, with the ports in network order behind them.
    protocol
        Of IP: 6 is TCP, 17 is UDP.
    length
        Of the IP packet in bytes.
    dscp
        Code point.
    side
        The link layer's information on the direction: the sender's address, or whether the packet left this machine;
        b"" without any.
    seq, ack, flags, payload
        Of TCP: numbers, flags, and bytes behind its header.
    """

    time_ns: int
    source: bytes
    target: bytes
    protocol: int
    length: int
    dscp: int
    side: bytes
    seq: int = 0
    ack: int = 0
    flags: int = 0
    payload: int = 0


def is_capture(path: Path) -> bool:
    """Whether a file begins as a pcap or pcapng."""
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return file.read(4) in SUFFIXES
    except OSError:
        return False


@dataclass
class Capture:
    """Packets of a file in its order, and how many records are not IP packets."""

    packets: list[Packet]
    others: int


def read_capture(path: Path) -> Capture:
    """Read a capture.

    Raises
    ------
    InputError
        If the file is not a capture, is cut off, claims lengths that cannot be, or has more than `MOST_PACKETS`
        packets.
    """
    found = Capture([], 0)
    try:
        with path.open("rb") as file:
            for number, (time_ns, link, data) in enumerate(_records(file), start=1):
                if number > MOST_PACKETS:
                    raise ValueError(f"it has more than {MOST_PACKETS:,} packets (tcpdump -c, or editcap -r, cuts it)")
                packet = parse(time_ns, link, data)
                if packet is None:
                    found.others += 1
                else:
                    found.packets.append(packet)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    return found


def _records(file: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """Yield time in ns, link type and bytes of each record."""
    head = file.read(4)
    if head == SUFFIXES[-1]:
        yield from _blocks(file, head)
        return
    for order in "<>":
        if len(head) == 4 and (ticks := PCAP.get(struct.unpack(f"{order}I", head)[0])):
            yield from _pcap(file, order, ticks)
            return
    raise ValueError("is not a capture (pcap or pcapng)")


def _pcap(file: IO[bytes], order: str, ticks: int) -> Iterator[tuple[int, int, bytes]]:
    header = file.read(20)
    if len(header) < 20:
        raise ValueError("its header of 24 bytes is cut off")
    link = _known(struct.unpack(f"{order}I", header[16:])[0] & 0xFFFF)
    record = struct.Struct(f"{order}IIII")
    number = 0
    while head := file.read(16):
        number += 1
        if len(head) < 16:
            raise ValueError(f"packet {number} is cut off: the file ends within its header")
        seconds, fraction, kept, _ = record.unpack(head)
        if kept > LONGEST_RECORD:
            raise ValueError(f"packet {number} claims {kept} bytes (allowed: up to {LONGEST_RECORD})")
        if fraction >= ticks:
            raise ValueError(f"packet {number} claims a fraction of a second of {fraction} in {ticks}")
        yield seconds * 10**9 + fraction * (10**9 // ticks), link, _exactly(file, kept, number)


def _exactly(file: IO[bytes], length: int, number: int) -> bytes:
    data = file.read(length)
    if len(data) < length:
        raise ValueError(f"packet {number} is cut off: it claims {length} bytes, the file has {len(data)}")
    return data


def _known(link: int) -> int:
    if link not in (ETHERNET, *RAW, SLL, SLL2, *LOOPBACK):
        raise ValueError(f"link type {link} is not read (allowed: Ethernet, raw IP, Linux cooked, loopback)")
    return link


@dataclass
class _Interface:
    link: int
    ticks: int
    offset_ns: int


def _blocks(file: IO[bytes], head: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Yield the packets of pcapng blocks."""
    order, interfaces = "<", list[_Interface]()
    number = block = 0
    while len(head) == 4:
        block += 1
        rest = file.read(8 if head == SUFFIXES[-1] else 4)
        if head == SUFFIXES[-1]:
            orders = [one for one in "<>" if len(rest) == 8 and struct.unpack(f"{one}I", rest[4:])[0] == BYTE_ORDER]
            if not orders:
                raise ValueError(f"block {block} is not a section header of pcapng")
            order, interfaces = orders[0], []
        if len(rest) < 4:
            raise ValueError(f"block {block} is cut off")
        kind, total = struct.unpack(f"{order}I", head)[0], struct.unpack(f"{order}I", rest[:4])[0]
        if total < 12 or total % 4 or total > LONGEST_BLOCK:
            raise ValueError(f"block {block} claims {total} bytes (allowed: 12 to {LONGEST_BLOCK}, in fours)")
        body = rest[4:] + file.read(total - 4 - len(rest))
        if len(body) < total - 8 or body[-4:] != rest[:4]:
            raise ValueError(f"block {block} is cut off, or its two lengths differ")
        body = body[:-4]
        if kind == INTERFACE:
            if len(interfaces) == MOST_INTERFACES:
                raise ValueError(f"it has more than {MOST_INTERFACES} interfaces")
            interfaces.append(_interface(body, order, block))
        elif kind in (ENHANCED, OLD_PACKET, SIMPLE):
            number += 1
            yield _packet_of(kind, body, order, interfaces, number)
        head = file.read(4)
    if head:
        raise ValueError(f"block {block + 1} is cut off")


def _interface(body: bytes, order: str, block: int) -> _Interface:
    if len(body) < 8:
        raise ValueError(f"block {block} is too short for an interface")
    found = _Interface(struct.unpack(f"{order}H", body[:2])[0], 10**6, 0)
    at = 8
    while at + 4 <= len(body):
        code, length = struct.unpack(f"{order}HH", body[at : at + 4])
        value = body[at + 4 : at + 4 + length]
        if len(value) < length:
            raise ValueError(f"block {block} has an option that is longer than the block")
        if code == 9 and length == 1:
            exponent = value[0] & 0x7F
            if exponent > (63 if value[0] & 0x80 else 18):
                raise ValueError(f"block {block} claims a resolution of times of {value[0]}")
            found.ticks = 2**exponent if value[0] & 0x80 else 10**exponent
        elif code == 14 and length == 8:
            found.offset_ns = struct.unpack(f"{order}q", value)[0] * 10**9
        at += 4 + length + -length % 4
    return found


def _packet_of(kind: int, body: bytes, order: str, interfaces: list[_Interface], number: int) -> tuple[int, int, bytes]:
    if kind == SIMPLE:
        raise ValueError(f"packet {number} has no time (a simple packet block)")
    if len(body) < 20:
        raise ValueError(f"packet {number} is cut off")
    words = struct.unpack(f"{order}IIIII", body[:20])
    index = words[0] if kind == ENHANCED else struct.unpack(f"{order}H", body[:2])[0]
    if index >= len(interfaces):
        raise ValueError(f"packet {number} is of interface {index}, of which the file has no description")
    own, kept = interfaces[index], words[3]
    if kept > len(body) - 20:
        raise ValueError(f"packet {number} claims {kept} bytes, its block has {len(body) - 20}")
    time_ns = ((words[1] << 32) + words[2]) * 10**9 // own.ticks + own.offset_ns
    return time_ns, _known(own.link), body[20 : 20 + kept]


def parse(time_ns: int, link: int, data: bytes) -> Packet | None:
    """Read the headers of a packet; None if it is no IP, or its headers were not kept."""
    side, kind, at = _link_layer(link, data)
    if kind == IPV4:
        return _ipv4(time_ns, side, data[at:])
    return _ipv6(time_ns, side, data[at:]) if kind == IPV6 else None


def _link_layer(link: int, data: bytes) -> tuple[bytes, int, int]:
    """Return the link layer's information on the direction, the type of the payload, and its offset."""
    if link == ETHERNET:
        kind, at = int.from_bytes(data[12:14], "big"), 14
        while kind in TAGS and at + 4 <= len(data):
            kind, at = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
        return data[6:12], kind, at
    if link in (SLL, SLL2):
        where, at, outgoing = (14, 16, data[0:2]) if link == SLL else (0, 20, b"\0" + data[10:11])
        return (b"out" if outgoing == b"\0\4" else b"in"), int.from_bytes(data[where : where + 2], "big"), at
    at = 4 if link in LOOPBACK else 0
    version = data[at] >> 4 if len(data) > at else 0
    return b"", {4: IPV4, 6: IPV6}.get(version, 0), at


def _ipv4(time_ns: int, side: bytes, data: bytes) -> Packet | None:
    if len(data) < 20 or data[0] >> 4 != 4:
        return None
    header, total = 4 * (data[0] & 15), int.from_bytes(data[2:4], "big")
    # Segments that the device is to cut claim no length.
    total = total or len(data)
    if header < 20 or total < header:
        return None
    is_first = int.from_bytes(data[6:8], "big") & 0x1FFF == 0
    return _transport(
        time_ns, side, (data[12:16], data[16:20]), data[9], data[1], total, data[header:], header, is_first
    )


def _ipv6(time_ns: int, side: bytes, data: bytes) -> Packet | None:
    if len(data) < 40 or data[0] >> 4 != 6:
        return None
    total = 40 + int.from_bytes(data[4:6], "big")
    total = total if total > 40 else len(data)
    protocol, at, is_first = data[6], 40, True
    while protocol in (*EXTENSIONS, FRAGMENT) and at + 8 <= len(data):
        if protocol == FRAGMENT:
            is_first = is_first and int.from_bytes(data[at + 2 : at + 4], "big") >> 3 == 0
        protocol, at = data[at], at + (8 if protocol == FRAGMENT else 8 * (data[at + 1] + 1))
    traffic = (data[0] & 15) << 4 | data[1] >> 4
    return _transport(time_ns, side, (data[8:24], data[24:40]), protocol, traffic, total, data[at:], at, is_first)


def _transport(
    time_ns: int,
    side: bytes,
    ends: tuple[bytes, bytes],
    protocol: int,
    traffic: int,
    total: int,
    data: bytes,
    before: int,
    is_first: bool,
) -> Packet:
    source, target = ends
    dscp = traffic >> 2
    if not is_first or protocol not in (TCP, UDP) or len(data) < 4:
        return Packet(time_ns, source, target, protocol, total, dscp, side)
    source, target = source + data[:2], target + data[2:4]
    if protocol == UDP or len(data) < 14:
        return Packet(time_ns, source, target, protocol, total, dscp, side)
    seq, ack = struct.unpack(">II", data[4:12])
    payload = max(0, total - before - 4 * (data[12] >> 4))
    return Packet(time_ns, source, target, protocol, total, dscp, side, seq, ack, data[13], payload)
