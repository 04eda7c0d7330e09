"""Two live links in series: fields that DDRED and PC-RED write at the first router act at the second one.

    senders a --- first (aqmlab-link) --- m --- last (aqmlab-link) --- receivers b

Three network namespaces. The one in the middle is a router, the kernel's, and has senders of its own: their packets
cross the last link only.
"""

import csv
import json
import socket
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from aqmlab import live
from aqmlab.live import namespaces
from aqmlab.live.checks import can_be_realtime
from aqmlab.live.link_process import READY_WITHIN_S, LinkProcess
from aqmlab.live.namespaces import Route
from aqmlab.live.state import namespace_path, run_state
from aqmlab.live.traffic.route_option import carry
from live_machine import left_behind, needs_namespaces

DURATION_S = 2.0
PORT = 5201
IP_RECVTTL = 12
"""Option of ip(7) that Python does not name."""
FAR, NEAR, OTHER = 1, 2, 3
"""Groups: from a with priority, from the router in the middle, from a without priority."""
KERNEL = {"ipv4/ip_forward": "1", "ipv4/conf/all/rp_filter": "0", "ipv4/conf/default/rp_filter": "0"}

NETWORK = """\
format = 1
[run]
duration = "10s"
[[link]]
name = "first"
from = "r1"
to = "r2"
rate = "1Mbps"
delay = "2ms"
queue = "first"
[[link]]
name = "last"
from = "r2"
to = "d"
rate = "800kbps"
delay = "2ms"
queue = "last"
[[flow]]
name = "udp"
from = "r1"
to = "d"
transport = "udp"
rate = "1Mbps"
"""
PC_RED = (
    NETWORK
    + """\
[queue.first]
aqm = "pc-red"
loss_limit = "1B"
loss_weight = 0.9
w_q = 0.02
[queue.last]
aqm = "pc-red"
loss_limit = "1MB"
loss_weight = 0.9
w_q = 0.02
"""
)
DDRED = (
    NETWORK
    + """\
[queue.first]
aqm = "drop-tail"
limit = "50p"
[queue.last]
aqm = "ddred"
w_q = 0.02
"""
)


def source(group):
    return f"10.77.{group}.1"


def sink(group):
    return f"10.77.{group}.2"


@dataclass(frozen=True)
class Flow:
    """Datagrams of a group, as many a second; `bytes` of IP tell the groups apart."""

    group: int
    per_s: float
    bytes: int
    ttl: int = 64
    carries: bool = False


@dataclass
class Chain:
    """Three namespaces and two links; `routers` says how many routers each link stands for, by link and group."""

    scenario: str
    routers: dict[str, dict[int, int]]
    settings: dict = field(default_factory=dict)
    outcomes: dict = field(default_factory=dict)
    last: dict = field(default_factory=dict)
    arrived: Counter = field(default_factory=Counter)
    code_points: Counter = field(default_factory=Counter)

    def run(self, flows, folder):
        """Send for `DURATION_S`, and collect the observations of the links and the receivers."""
        with run_state() as state, ExitStack() as opened:
            middle = f"{state.namespaces[0]}m"
            state.namespaces.append(middle)
            state.save()
            a, b, m = (namespace_path(name) for name in state.namespaces)
            for path in (a, b, m):
                namespaces.set_kernel(namespaces.create(path.name), KERNEL)
            sides = {"first": ((a, "aqm-a"), (m, "aqm-b")), "last": ((m, "aqm-c"), (b, "aqm-d"))}
            links = {}
            for name, ends in sides.items():
                (folder / name).mkdir()
                links[name] = LinkProcess(self.configuration(name, ends, folder), folder / name)
                opened.callback(links[name].close)
                state.add(links[name].pid)
                links[name].wait_ready()
            self.set_up(a, m, b)
            sockets = [self.sender(opened, a if flow.group != NEAR else m, flow) for flow in flows]
            receivers = [self.receiver(opened, b, flow) for flow in flows]
            for link in links.values():
                link.tell("start")
            for link in links.values():
                # Before its start a link passes packets on as they are.
                assert link.next_line(READY_WITHIN_S) is not None
            self.send(flows, sockets, links)
            for name, link in links.items():
                link.tell("stop")
                self.outcomes[name] = link.wait_outcome()
            for flow, receiver in zip(flows, receivers, strict=True):
                self.receive(flow, receiver)
        return self

    def configuration(self, name, ends, folder):
        (netns_a, device_a), (netns_b, device_b) = ends
        groups = [
            {
                "name": f"g{group}",
                "prefix_a": [source(group)],
                "prefix_b": [sink(group)],
                "hops_before": routers,
                "class": int(group == FAR),
            }
            for group, routers in self.routers[name].items()
        ]
        return {
            "scenario": self.scenario,
            "link": name,
            "a": {"netns": str(netns_a), "device": device_a},
            "b": {"netns": str(netns_b), "device": device_b},
            "warmup_s": 0,
            "groups": groups,
            "snapshot_interval_s": 0.1,
            "realtime": {"fifo": can_be_realtime()},
            "events": str(folder / f"{name}.csv"),
            **self.settings,
        }

    def set_up(self, a, m, b):
        groups = (FAR, NEAR, OTHER)
        to_sinks = {group: f"{sink(group)}/32" for group in groups}
        to_sources = {group: f"{source(group)}/32" for group in groups}
        at_a, at_m = [FAR, OTHER], [NEAR]
        namespaces.set_up(
            a, "aqm-a", addresses=[to_sources[g] for g in at_a], routes=[Route(to_sinks[g], source(g)) for g in at_a]
        )
        namespaces.set_up(m, "aqm-b", addresses=[], routes=[])
        namespaces.set_up(
            m,
            "aqm-c",
            addresses=[to_sources[g] for g in at_m],
            routes=[Route(to_sinks[g], source(NEAR)) for g in groups],
        )
        namespaces.set_up(b, "aqm-d", addresses=list(to_sinks.values()), routes=[])

    def sender(self, opened, netns, flow):
        opened_socket = namespaces.within(netns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        connection = opened.enter_context(opened_socket)
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, flow.ttl)
        if flow.carries:
            carry(connection, flow.ttl, 0)
        connection.bind((source(flow.group), 0))
        connection.connect((sink(flow.group), PORT))
        return connection

    def receiver(self, opened, netns, flow):
        opened_socket = namespaces.within(netns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
        connection = opened.enter_context(opened_socket)
        connection.setsockopt(socket.IPPROTO_IP, IP_RECVTTL, 1)
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        connection.bind((sink(flow.group), PORT))
        connection.setblocking(False)
        return connection

    def send(self, flows, sockets, links):
        begin = time.monotonic()
        due = [begin] * len(flows)
        while (now := time.monotonic()) < begin + DURATION_S:
            for i, flow in enumerate(flows):
                while due[i] <= now:
                    sockets[i].send(bytes(flow.bytes - 28 - (4 if flow.carries else 0)))
                    due[i] += 1 / flow.per_s
            for name, link in links.items():
                if (line := link.next_line(0.0005)) is not None:
                    self.last[name] = json.loads(line)

    def receive(self, flow, receiver):
        while True:
            try:
                _, said, _, _ = receiver.recvmsg(2048, 256)
            except BlockingIOError:
                return
            values = {kind: int.from_bytes(data[:4], "little") for _, kind, data in said}
            self.arrived[flow.group, values[socket.IP_TTL]] += 1
            self.code_points[flow.group, values[socket.IP_TOS] >> 2] += 1

    def gauge(self, link, name):
        return self.last[link]["directions"][0]["gauges"][name]


def times_to_live(path: Path, kind: str):
    """Count the events of a kind by length and time to live of their packets."""
    with path.open(newline="") as file:
        return Counter((int(row["bytes"]), int(row["ttl"])) for row in csv.DictReader(file) if row["kind"] == kind)


ROUTERS = {"first": {FAR: 1, OTHER: 1}, "last": {FAR: 0, OTHER: 0, NEAR: 1}}
"""The router of the last link is the kernel where it forwards packets; for those that it sends it is the link."""
LOADS = [Flow(FAR, 150, 500), Flow(OTHER, 250, 500)]
"""1.6 Mb/s for a link of 1 Mb/s, and then one of 0.8 Mb/s."""


@needs_namespaces
class TestChain:
    @pytest.mark.parametrize(("reading", "qosa_bit"), [("honoured", True), ("overwritten", True), ("honoured", False)])
    def test_the_second_router_sees_the_bit_of_the_first(self, tmp_path, reading, qosa_bit):
        scenario = PC_RED.replace('loss_limit = "1MB"', f'loss_limit = "1MB"\nqosa = "{reading}"')
        chain = Chain(scenario, ROUTERS, {"qosa_bit": qosa_bit}).run(LOADS, tmp_path)
        # The flow with priority is protected from its first loss on.
        protected, of_flow = chain.gauge("first", "arrivals_plus"), chain.gauge("first", "arrivals_minus")
        assert protected > of_flow > 0
        at_last = chain.gauge("last", "arrivals_plus")
        if reading == "honoured" and qosa_bit:
            assert at_last > 0.7 * protected
        else:
            assert at_last == 0
            assert chain.gauge("last", "arrivals_minus") > 0.7 * protected
        # A third router would see the field as the last router writes it.
        with_bit = sum(n for (_, dscp), n in chain.code_points.items() if dscp == 1)
        assert (with_bit > 0) is (reading == "honoured" and qosa_bit)
        assert {dscp for _, dscp in chain.code_points} <= {0, 1}
        assert not left_behind()

    def test_the_second_router_sees_how_far_packets_have_come(self, tmp_path):
        flows = [Flow(FAR, 150, 500), Flow(NEAR, 200, 400)]
        chain = Chain(DDRED, ROUTERS).run(flows, tmp_path)
        # Two routers before the last queue, or one: d_r = 64 - 62 = 2 and 64 - 63 = 1.
        assert set(times_to_live(tmp_path / "last.csv", "+")) == {(500, 62), (400, 63)}
        assert set(times_to_live(tmp_path / "first.csv", "+")) == {(500, 63)}
        assert {(FAR, 62), (NEAR, 63)} == set(chain.arrived)
        # Of 1.24 Mb/s for 0.8 Mb/s, nearly all that is dropped has come one hop.
        drops = times_to_live(tmp_path / "last.csv", "d")
        assert drops[400, 63] > 20 * max(drops[500, 62], 1)
        assert chain.outcomes["last"]["certificate"]["unaccounted"] == 0
        assert not left_behind()

    @pytest.mark.parametrize("rule", ["option", "inferred"])
    def test_the_initial_time_to_live_is_read_from_packets(self, tmp_path, rule):
        # Hosts near by begin with 100: without the option they seem to have begun with 128, 29 hops away.
        flows = [Flow(FAR, 150, 504, carries=True), Flow(NEAR, 200, 404, ttl=100, carries=True)]
        chain = Chain(DDRED, ROUTERS, {"distance": {"rule": rule}}).run(flows, tmp_path)
        assert {(FAR, 62), (NEAR, 99)} == set(chain.arrived)
        drops = times_to_live(tmp_path / "last.csv", "d")
        near, far = drops[404, 99], drops[504, 62]
        assert near > 20 * max(far, 1) if rule == "option" else far > 20 * max(near, 1)

    def test_a_packet_ends_where_its_time_to_live_does(self, tmp_path):
        flows = [Flow(FAR, 50, 500, ttl=1), Flow(OTHER, 50, 400, ttl=2), Flow(NEAR, 50, 300, ttl=2)]
        chain = Chain(DDRED, ROUTERS).run(flows, tmp_path)
        # The first router lowers 1 to 0, the kernel in the middle those that began with 2; two hops are left near by.
        assert set(chain.arrived) == {(NEAR, 1)}
        assert chain.outcomes["first"]["certificate"]["malformed"] > 50
        assert not times_to_live(tmp_path / "last.csv", "+").keys() - {(300, 1)}


CARRIED = """\
format = 1
name = "carried"
[run]
duration = "1500ms"
warmup = "100ms"
[dumbbell]
bottleneck = { rate = "5Mbps", delay = "5ms", queue = "bottleneck" }
left = { rate = "1Gbps", delay = "1ms" }
right = { rate = "1Gbps", delay = "1ms" }
[queue.bottleneck]
aqm = "ddred"
distance = "fraction"
[[flow]]
name = "tcp"
transport = "tcp"
ttl = 100
start = "100ms"
tcp = { profile = "rfc", mss = "1000B" }
[[flow]]
name = "udp"
transport = "udp"
rate = "500kbps"
packet_size = "500B"
[live]
distance = "option"
"""


def captured(path: Path):
    """Return the packets of a capture of IP packets."""
    data, packets, at = path.read_bytes(), [], 24
    while at < len(data):
        length = int.from_bytes(data[at + 8 : at + 12], "little")
        packets.append(data[at + 16 : at + 16 + length])
        at += 16 + length
    return packets


def fields(packet: bytes):
    """Return time to live, length, and TTL_i with TTL_f where a packet carries them."""
    if packet[0] >> 4 == 4:
        carried = tuple(packet[22:24]) if packet[0] & 15 == 6 and packet[20:22] == b"\x9e\x04" else None
        return packet[8], int.from_bytes(packet[2:4]), carried
    carried = tuple(packet[44:46]) if packet[6] == 0 and packet[42:44] == b"\x1e\x02" else None
    return packet[7], 40 + int.from_bytes(packet[4:6]), carried


@needs_namespaces
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_senders_of_a_live_run_write_the_fields_of_ddred(tmp_path, family):
    scenario = tmp_path / "carried.toml"
    scenario.write_text(CARRIED)
    live.run(scenario, family=family, record=tmp_path / "all.pcap", out=tmp_path / "out", progress=False)
    seen = Counter(fields(packet) for path in tmp_path.glob("all*.pcap") for packet in captured(path))
    # Two routers on the way: 100 becomes 98. SYN does not know that yet, and UDP never does.
    assert seen[100, 1052, (100, 98)] > 100
    assert seen[64, 500, (64, 0)] > 50
    of_kind = {carried for ttl, _, carried in seen if ttl == 100}
    assert of_kind >= {(100, 0), (100, 98)}
    # In the option's place a listener's first packets have nothing: it is their connection that carries it.
    assert of_kind <= {(100, 0), (100, 98), None}
    acks = sum(n for (ttl, length, carried), n in seen.items() if ttl == 100 and length < 100 and carried == (100, 98))
    assert acks > 50
    assert not left_behind()
