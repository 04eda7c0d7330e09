"""Captures become scenarios: arrivals in the open loop, connections in the closed loop; hostile files are one line."""

from __future__ import annotations

import contextlib
import os
import random
import struct
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.importing import capture_file, capture_scenario
from programs import needs

A, B = "10.0.0.1", "10.0.0.2"
SYN, ACK = 2, 16


def address(text: str) -> bytes:
    return bytes(int(part) for part in text.split("."))


def ipv4(source: str, target: str, body: bytes, *, protocol: int, length: int | None = None, tos: int = 0) -> bytes:
    total = 20 + len(body) if length is None else length
    head = struct.pack(">BBHHHBBH", 0x45, tos, total, 1, 0, 64, protocol, 0)
    return head + address(source) + address(target) + body


def udp(source: str, target: str, size: int, port: int = 5000, *, tos: int = 0) -> bytes:
    """Return a packet of `size` bytes, of which only the headers are kept."""
    return ipv4(source, target, struct.pack(">HHHH", port, 9, size - 20, 0), protocol=17, length=size, tos=tos)


def tcp(source: str, target: str, ports: tuple[int, int], seq: int, ack: int, flags: int, payload: int) -> bytes:
    body = struct.pack(">HHIIBBHHH", *ports, seq % 2**32, ack % 2**32, 5 << 4, flags, 65535, 0, 0)
    return ipv4(source, target, body, protocol=6, length=40 + payload)


def pcap(
    packets: Sequence[tuple[float, bytes]], *, order: str = "<", magic: int = 0xA1B2C3D4, link: int = 101
) -> bytes:
    ticks = capture_file.PCAP[magic]
    found = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for when, data in packets:
        seconds, fraction = divmod(round(when * ticks), ticks)
        found += struct.pack(f"{order}IIII", seconds, fraction, len(data), len(data)) + data
    return found


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack(f"{order}I", 12 + len(body))
    return struct.pack(f"{order}I", kind) + length + body + length


def pcapng(packets: Sequence[tuple[float, bytes]], *, order: str = "<", link: int = 1, resolution: int = 9) -> bytes:
    found = block(0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    option = struct.pack(f"{order}HHBxxx", 9, 1, resolution) + struct.pack(f"{order}HH", 0, 0)
    found += block(1, struct.pack(f"{order}HHI", link, 0, 65535) + option, order)
    found += block(5, b"statistics ", order)
    for when, data in packets:
        ticks = round(when * 10**resolution)
        head = struct.pack(f"{order}IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(data), len(data))
        found += block(6, head + data, order)
    return found


def ethernet(data: bytes, source: int, target: int, *, vlan: bool = False) -> bytes:
    macs = bytes([2, 0, 0, 0, 0, target, 2, 0, 0, 0, 0, source])
    return macs + (b"\x81\x00\x00\x05" if vlan else b"") + b"\x08\x00" + data


ARRIVALS = [(100.0, 1500), (100.001, 40), (100.001, 1500), (100.25, 700)]
SENT = [(when, udp(A, B, size)) for when, size in ARRIVALS]
EXPECTED = "0 1500\n0.001 40\n0.001 1500\n0.25 700\n"


def imported(tmp_path: Path, data: bytes, *, form: str = "arrivals") -> aqmlab.interop.importing.Imported:
    path = tmp_path / "capture.pcap"
    path.write_bytes(data)
    return aqmlab.import_scenario(path, form=form)


@pytest.mark.parametrize(
    "data",
    [
        pcap(SENT),
        pcap(SENT, order=">"),
        pcap(SENT, magic=0xA1B23C4D),
        pcap([(when, ethernet(data, 1, 2)) for when, data in SENT], link=1),
        pcap([(when, ethernet(data, 1, 2, vlan=True)) for when, data in SENT], link=1),
        pcap([(when, b"\0\4" + bytes(12) + b"\x08\x00" + data) for when, data in SENT], link=113),
        pcap([(when, b"\x08\x00" + bytes(8) + b"\4" + bytes(9) + data) for when, data in SENT], link=276),
        pcap([(when, b"\2\0\0\0" + data) for when, data in SENT], link=0),
        pcapng([(when, ethernet(data, 1, 2)) for when, data in SENT]),
        pcapng(SENT, order=">", link=101, resolution=6),
    ],
    ids=["us", "big-endian", "ns", "ethernet", "vlan", "sll", "sll2", "loopback", "pcapng", "pcapng-big-endian"],
)
def test_arrivals_have_the_times_and_lengths_of_the_capture(tmp_path: Path, data: bytes) -> None:
    found = imported(tmp_path, data)
    assert found.kind == "capture"
    (flow,) = tomllib.loads(found.text)["flow"]
    assert (flow["transport"], flow["arrivals"]) == ("udp", EXPECTED)


def test_arrivals_reach_the_queue_as_they_were_captured(tmp_path: Path) -> None:
    packets = [(when / 1000, udp(A, B, 1000 + when, 5000 + when % 2)) for when in range(200)]
    found = imported(tmp_path, pcap(packets))
    scenario = found.scenario
    assert [flow.name for flow in scenario.flows] == ["udp-1", "udp-2"]
    assert scenario.flows[0].parameters["pattern"] == "arrivals"
    own = {"probe.events": "true", "probe.links": "['bottleneck']"}
    run = aqmlab.run(scenario.with_overrides(own), seeds=1, out=tmp_path / "results")
    arrived = run.events[run.events["kind"] == "+"]
    assert arrived["bytes"].tolist() == [1000 + when for when in range(200)]
    assert arrived["t_ps"].tolist() == [when * 10**9 for when in range(200)]


@pytest.mark.parametrize("aqm", ["drop-tail", "red", "codel", "fq-pie"])
def test_the_same_arrivals_meet_any_discipline(tmp_path: Path, aqm: str) -> None:
    packets = [(when / 10_000, udp(A, B, 1500)) for when in range(2000)]
    scenario = imported(tmp_path, pcap(packets)).scenario
    own = {"queue.bottleneck": {"aqm": aqm, "limit": "50p"}, "link.bottleneck.rate": "60Mbps"}
    link = aqmlab.run(scenario.with_overrides(own), seeds=1, out=tmp_path / "results").links.iloc[0]
    assert link["arrivals"] == 2000
    assert link["drops"] > 100


def handshake(start: float, ports: tuple[int, int], isn: int, *, rtt: float, size: int) -> list[tuple[float, bytes]]:
    """Return a connection seen in the middle of its path, whose server sends `size` bytes."""
    back = (ports[1], ports[0])
    found = [
        (start, tcp(A, B, ports, isn, 0, SYN, 0)),
        (start + rtt / 3, tcp(B, A, back, 7, isn + 1, SYN | ACK, 0)),
        (start + rtt, tcp(A, B, ports, isn + 1, 8, ACK, 0)),
        (start + rtt, tcp(A, B, ports, isn + 1, 8, ACK, 100)),
    ]
    sent = 0
    while sent < size:
        length = min(1448, size - sent)
        found.append((start + 2 * rtt + sent / 1e7, tcp(B, A, back, 8 + sent, isn + 101, ACK, length)))
        sent += length
    # A retransmission counts once.
    found.append((start + 3 * rtt + sent / 1e7, tcp(B, A, back, 8, isn + 101, ACK, 1448)))
    return found


def test_connections_have_their_sizes_starts_and_round_trip_times(tmp_path: Path) -> None:
    packets = handshake(50.0, (40000, 80), 2**32 - 50, rtt=0.06, size=200_000)
    packets += handshake(51.5, (40001, 80), 99, rtt=0.02, size=30_000)
    packets += [(51.0, udp(A, B, 200))]
    found = imported(tmp_path, pcap(sorted(packets, key=lambda one: one[0])), form="flows")
    flows = found.scenario.flows
    assert [flow.start_s[0] for flow in flows] == [0.0, 1.5]
    assert [tomllib.loads(found.text)["flow"][at]["size"] for at in (0, 1)] == ["200000B", "30000B"]
    for flow, rtt in zip(flows, (0.06, 0.02), strict=True):
        assert sum(2 * found.scenario.link(name).delay_s for name in flow.path) == pytest.approx(rtt)
        assert flow.parameters["mss"] == 1448
    assert any("left out: 1 packet not of TCP" in note for note in found.notes)


def test_only_one_direction_has_no_connections(tmp_path: Path) -> None:
    one = [pair for pair in handshake(0.0, (1, 2), 5, rtt=0.1, size=9000) if pair[1][12:16] == address(B)]
    with pytest.raises(InputError, match="no connection of TCP with data is seen in both directions"):
        imported(tmp_path, pcap(one), form="flows")
    assert imported(tmp_path, pcap(one)).scenario.flows


def test_the_direction_with_more_bytes_arrives(tmp_path: Path) -> None:
    packets = [(float(at), udp(*((A, B, 100) if at % 2 else (B, A, 1000)))) for at in range(10)]
    flow = tomllib.loads(imported(tmp_path, pcap(packets)).text)["flow"]
    assert [line.split()[1] for line in flow[0]["arrivals"].split("\n") if line] == ["1000"] * 5


def test_small_flows_of_many_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_scenario, "MOST_FLOWS", 3)
    packets = [(at / 100, udp(A, B, 100 + at, 1000 + at, tos=0xB8)) for at in range(20)]
    found = imported(tmp_path, pcap(packets))
    assert [flow.name for flow in found.scenario.flows] == ["udp-1", "udp-2", "udp-3", "others"]
    assert any("17 of 20 flows" in note for note in found.notes)
    assert {flow.dscp for flow in found.scenario.flows} == {46}


WHOLE = pcap(SENT)
NG = pcapng(SENT, link=101)
HOSTILE = {
    "header cut": (WHOLE[:20], "header of 24 bytes is cut off"),
    "record header cut": (WHOLE[:30], "packet 1 is cut off: the file ends within its header"),
    "record cut": (WHOLE[:50], "packet 1 is cut off: it claims 28 bytes, the file has 10"),
    "lying length": (WHOLE[:32] + b"\xff\xff\xff\x7f" + WHOLE[36:], "packet 1 claims 2147483647 bytes"),
    "lying time": (WHOLE[:28] + b"\xff\xff\xff\x7f" + WHOLE[32:], "packet 1 claims a fraction of a second"),
    "link type": (pcap(SENT, link=147), "link type 147 is not read"),
    "no packet": (pcap([]), "has no IP packet"),
    "no IP": (pcap([(0.0, bytes(60))], link=1), "has no IP packet"),
    "far apart": (pcap([(0.0, SENT[0][1]), (2.0e7, SENT[0][1])]), "allowed: up to 100 days"),
    "block cut": (NG[:-6], "is cut off, or its two lengths differ"),
    "block length": (NG[:4] + b"\x07\0\0\0" + NG[8:], "claims 7 bytes"),
    "block huge": (NG[:4] + b"\xfc\xff\xff\x7f" + NG[8:], "claims 2147483644 bytes"),
    "byte order": (NG[:8] + bytes(4) + NG[12:], "block 1 is not a section header"),
    "no interface": (
        block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)) + block(6, bytes(20)),
        "interface 0",
    ),
    "simple packet": (NG + block(3, bytes(8)), "has no time"),
    "kept too long": (
        NG + block(6, struct.pack("<IIIII", 0, 0, 0, 99, 99) + bytes(4)),
        "packet 5 claims 99 bytes, its block has 4",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("data", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_capture_is_one_clear_line(
    tmp_path: Path, data: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "capture.pcap"
    path.write_bytes(data)
    assert main(["import", str(path)]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
    assert "capture.pcap" in said


def test_too_many_packets_are_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_file, "MOST_PACKETS", 3)
    with pytest.raises(InputError, match="more than 3 packets"):
        imported(tmp_path, WHOLE)


@pytest.mark.parametrize("seed", range(30))
def test_headers_that_lie_are_no_internal_error(tmp_path: Path, seed: int) -> None:
    """Every byte of the headers is changed once somewhere; a packet is read, or left out."""
    random_ = random.Random(seed)
    data = bytearray(
        pcap([(when, ethernet(packet, 1, 2)) for when, packet in handshake(0, (1, 2), 3, rtt=1, size=3000)], link=1)
    )
    for _ in range(20):
        at = random_.randrange(40, len(data))
        data[at] = random_.randrange(256)
    for form in ("arrivals", "flows"):
        with contextlib.suppress(InputError):
            assert imported(tmp_path, bytes(data), form=form).scenario.flows


def test_an_export_of_a_run_comes_back(tmp_path: Path, dumbbell: str) -> None:
    """The capture that a run exports has the packets that left its bottleneck."""
    (tmp_path / "small.toml").write_text(dumbbell)
    run = aqmlab.run(tmp_path / "small.toml", seeds=1, out=tmp_path / "results", overrides={"probe.events": "true"})
    aqmlab.export(run.folder, to="pcap", out=tmp_path / "left.pcap", link="bottleneck")
    found = aqmlab.import_scenario(tmp_path / "left.pcap")
    left = run.events[(run.events["kind"] == "-") & (run.events["link"] == "bottleneck")]
    sent = sum(len(flow["arrivals"].split("\n")) - 1 for flow in tomllib.loads(found.text)["flow"])
    assert sent == len(left)


@pytest.mark.live
@needs("tcpdump", "unshare", "ip")
def test_a_capture_of_tcpdump_is_read(tmp_path: Path) -> None:
    """Twenty datagrams over the loopback device of a namespace, captured there."""
    path = tmp_path / "lo.pcap"
    script = f"""
    ip link set lo up
    tcpdump -q -Z root -i lo -w {path} -U udp 2> {tmp_path}/said & capturing=$!
    for i in 1 2 3 4 5 6 7 8 9 10; do grep -q listening {tmp_path}/said && break; sleep 0.3; done
    python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for k in range(20):
    s.sendto(bytes(100 + k), ('127.0.0.1', 9))
    time.sleep(0.005)
"
    sleep 0.5
    kill -INT $capturing
    wait $capturing
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *user, "--net", "sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not path.exists() or path.stat().st_size < 100:
        pytest.skip(f"tcpdump captures nothing here: {done.stderr[:200]}")
    flows = tomllib.loads(aqmlab.import_scenario(path).text)["flow"]
    sizes = [int(line.split()[1]) for flow in flows for line in flow["arrivals"].split("\n") if line]
    assert [one for one in sizes if one >= 128] == [128 + k for k in range(20)]
