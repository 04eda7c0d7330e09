"""Packets that left a link, as a capture that tcpdump and Wireshark read.

The file is a pcap with nanoseconds (magic a1b23c4d) and bare IP packets (link type 101, RAW); of each packet the
headers are kept, its length is that in the simulation. A packet is stamped when its transmission starts, as a capture
on the interface does. The simulator's packets have no bytes, so the headers are made of what it knows:

* IPv4 (RFC 791): DSCP, ECN bits and time to live as they were on the link; addresses 10.0.0.0/8 plus the node's number
  from 1 on; the identification counts packets.
* TCP (RFC 9293): ports 1024 and 5001 upwards by the flow's number; sequence numbers in bytes, 0 for the one that opens
  the connection; SYN and ACK. Options, and with them SACK blocks and ECE, are not recorded and are absent.
* UDP (RFC 768): the same ports.

Check sums hold for a payload of zeros. A packet shorter than its headers is written as long as these.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from aqmlab.results.exporting.packets import Log, log_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from aqmlab.results.result import Result

MAGIC_NANOSECONDS = 0xA1B23C4D
LINK_TYPE_RAW = 101
LONGEST = 65535
FILE_HEADER = struct.pack("<IHHiIII", MAGIC_NANOSECONDS, 2, 4, 0, 0, LONGEST, LINK_TYPE_RAW)
NETWORK = 10 << 24
FIRST_PORT, SINK_PORT, PORTS = 1024, 5001, 60000
IP_BYTES, TCP_BYTES, UDP_BYTES = 20, 20, 8
TCP, UDP = 6, 17
SYN, ACK = 0x02, 0x10
DONT_FRAGMENT = 0x4000
_RECORD = np.dtype([("s", "<u4"), ("ns", "<u4"), ("kept", "<u4"), ("length", "<u4")])
_IP = np.dtype(
    {
        "names": ["version", "tos", "length", "id", "fragment", "ttl", "protocol", "sum", "source", "target"],
        "formats": ["u1", "u1", ">u2", ">u2", ">u2", "u1", "u1", ">u2", ">u4", ">u4"],
    }
)
_TCP = np.dtype(
    {
        "names": ["source", "target", "seq", "ack", "offset", "flags", "window", "sum", "urgent"],
        "formats": [">u2", ">u2", ">u4", ">u4", "u1", "u1", ">u2", ">u2", ">u2"],
    }
)
_UDP = np.dtype([("source", ">u2"), ("target", ">u2"), ("length", ">u2"), ("sum", ">u2")])


def pcap_bytes(result: Result, *, seed: int, link: str) -> bytes:
    """Return the capture of the packets that left a link in one run."""
    log = log_of(result, seed=seed, link=link)
    sent = log.events[log.events["kind"] == "-"].reset_index(drop=True)
    is_udp = (log.flows["transport"].to_numpy() == "udp")[sent["flow"].to_numpy()]
    headers = IP_BYTES + np.where(is_udp, UDP_BYTES, TCP_BYTES)
    length = np.clip(sent["bytes"].to_numpy(dtype=np.int64), headers, LONGEST)

    ip = _ip(log, sent, is_udp, length)
    rows = np.zeros((len(sent), _RECORD.itemsize + IP_BYTES + TCP_BYTES), dtype=np.uint8)
    rows[:, : _RECORD.itemsize] = _bytes(_record(sent, headers, length))
    rows[:, _RECORD.itemsize : _RECORD.itemsize + IP_BYTES] = _bytes(ip)
    transport = rows[:, _RECORD.itemsize + IP_BYTES :]
    transport[~is_udp] = _bytes(_tcp(log, sent, ip)[~is_udp])
    transport[is_udp, :UDP_BYTES] = _bytes(_udp(sent, ip)[is_udp])
    # Rows are as long as the longest header; what a shorter one does not fill is cut off.
    kept = np.arange(rows.shape[1]) < (_RECORD.itemsize + headers)[:, None]
    return FILE_HEADER + rows[kept].tobytes()


def _record(sent: pd.DataFrame, headers: np.ndarray, length: np.ndarray) -> np.ndarray:
    found = np.zeros(len(sent), dtype=_RECORD)
    nanoseconds = sent["t_ps"].to_numpy(dtype=np.int64) // 1000
    found["s"], found["ns"] = np.divmod(nanoseconds, 10**9)
    found["kept"], found["length"] = headers, length
    return found


def _ip(log: Log, sent: pd.DataFrame, is_udp: np.ndarray, length: np.ndarray) -> np.ndarray:
    source, target = log.ends(sent)
    found = np.zeros(len(sent), dtype=_IP)
    found["version"] = 0x45
    found["tos"] = sent["dscp"].to_numpy() << 2 | sent["ecn"].to_numpy()
    found["length"] = length
    found["id"] = np.arange(len(sent)) % 2**16
    found["fragment"] = DONT_FRAGMENT
    found["ttl"] = sent["ttl"].to_numpy()
    found["protocol"] = np.where(is_udp, UDP, TCP)
    found["source"], found["target"] = NETWORK + 1 + source, NETWORK + 1 + target
    found["sum"] = _check_sum(found)
    return found


def _tcp(log: Log, sent: pd.DataFrame, ip: np.ndarray) -> np.ndarray:
    """Make TCP headers.

    Sequence numbers are those of the simulation where they count bytes; where they count packets, they become the bytes
    that whole packets of the flow hold behind their headers.
    """
    parameters = [flow.parameters for flow in log.scenario.flows]
    in_bytes = np.array([own.get("profile") == "rfc" for own in parameters])
    whole = np.array([_whole(own) for own in parameters], dtype=np.int64)
    opens = np.array([bool(own.get("syn", False)) for own in parameters], dtype=np.int64)
    flow = sent["flow"].to_numpy()
    payload = np.maximum(whole[flow] - IP_BYTES - TCP_BYTES, 0)
    before = (sent["seq"].to_numpy(dtype=np.int64) - opens[flow]) * payload
    is_ack, is_syn = sent["packet"].eq("ack").to_numpy(), sent["packet"].eq("syn").to_numpy()
    found = np.zeros(len(sent), dtype=_TCP)
    found["source"], found["target"] = _ports(flow, is_ack)
    number = sent["seq"].to_numpy(dtype=np.int64)
    own, first = np.where(in_bytes[flow], number, 1 + before), np.where(in_bytes[flow], number, 1 + before + payload)
    found["seq"] = np.where(is_syn, 0, np.where(is_ack, 1, own)) % 2**32
    found["ack"] = np.where(is_syn, 0, np.where(is_ack, first, 1)) % 2**32
    found["offset"] = TCP_BYTES // 4 << 4
    found["flags"] = np.where(is_syn, SYN, ACK)
    found["window"] = 2**16 - 1
    found["sum"] = _check_sum(found, _pseudo_header(ip))
    return found


def _whole(own: Mapping[str, Any]) -> int:
    """Return the length of a full packet with these parameters; 0 where its lengths are drawn."""
    if own.get("profile") is None:
        return 0
    return int(own.get("mss") or own["packet_size"]) + int(own["header"])


def _udp(sent: pd.DataFrame, ip: np.ndarray) -> np.ndarray:
    found = np.zeros(len(sent), dtype=_UDP)
    found["source"], found["target"] = _ports(sent["flow"].to_numpy(), np.zeros(len(sent), dtype=bool))
    found["length"] = ip["length"] - IP_BYTES
    total = _check_sum(found, _pseudo_header(ip))
    found["sum"] = np.where(total == 0, 0xFFFF, total)
    return found


def _ports(flow: np.ndarray, is_ack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    source, target = FIRST_PORT + flow % PORTS, SINK_PORT + flow // PORTS
    return np.where(is_ack, target, source), np.where(is_ack, source, target)


def _pseudo_header(ip: np.ndarray) -> np.ndarray:
    """Return the sum of what a transport's check sum covers besides its own bytes (RFC 9293, section 3.1)."""
    ends = (ip[end].astype(np.int64) for end in ("source", "target"))
    words = sum((end >> 16) + (end & 0xFFFF) for end in ends)
    total: np.ndarray = words + ip["protocol"].astype(np.int64) + ip["length"].astype(np.int64) - IP_BYTES
    return total


def _check_sum(headers: np.ndarray, beside: np.ndarray | int = 0) -> np.ndarray:
    """Return the Internet check sum (RFC 1071) of headers in which it is still 0."""
    total = _bytes(headers).view(">u2").sum(axis=1, dtype=np.int64) + beside
    while (total >> 16).any():
        total = (total & 0xFFFF) + (total >> 16)
    found: np.ndarray = total ^ 0xFFFF
    return found


def _bytes(rows: np.ndarray) -> np.ndarray:
    """Return the bytes of a structured array, one row for each of its rows."""
    return np.ascontiguousarray(rows).view(np.uint8).reshape(len(rows), rows.dtype.itemsize)
