"""A live link with loss and jitter one way, and the rate of a trace the other way: datagrams in two namespaces."""

import socket
import struct
import time
from contextlib import ExitStack

import numpy as np

from aqmlab.live import namespaces
from aqmlab.live.certificate import Certificate
from aqmlab.live.checks import can_be_realtime
from aqmlab.live.link_process import READY_WITHIN_S, LinkProcess
from aqmlab.live.namespaces import Route
from aqmlab.live.state import namespace_path, run_state
from live_machine import left_behind, needs_namespaces

A, B, PORT = "10.77.1.1", "10.77.1.2", 5201
DURATION_S = 3.0
SO_TIMESTAMPNS = 35
"""Option of socket(7) that Python does not name: when the kernel received a packet."""
MEAN_BPS = 2e6
"""Of the trace: 4 Mb/s for a quarter of a second, nothing for a quarter, 2 Mb/s for half a second."""
NETWORK = """\
format = 1
[run]
duration = "10s"
[[link]]
name = "there"
from = "a"
to = "b"
rate = "100Mbps"
delay = "20ms"
loss = 0.1
jitter = "5ms"
duplicate = 0.05
duplex = false
[[link]]
name = "back"
from = "b"
to = "a"
rate = { trace = "0:4000000 250000000:0 500000000:2000000 1000000000:2000000" }
delay = "1ms"
queue = "short"
duplex = false
[queue.short]
aqm = "drop-tail"
limit = "20p"
[[flow]]
name = "udp"
transport = "udp"
rate = "1Mbps"
from = "a"
to = "b"
"""


def configuration(a, b):
    return {
        "scenario": NETWORK,
        "link": "there",
        "reverse_link": "back",
        "a": {"netns": str(a), "device": "aqm-a"},
        "b": {"netns": str(b), "device": "aqm-b"},
        "warmup_s": 0,
        "groups": [{"name": "udp", "prefix_a": [A], "prefix_b": [B]}],
        "snapshot_interval_s": 0.5,
        "realtime": {"fifo": can_be_realtime()},
    }


def datagrams(opened, netns, own, peer):
    made = namespaces.within(netns, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
    connection = opened.enter_context(made)
    connection.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    connection.bind((own, PORT))
    connection.connect((peer, PORT))
    connection.setblocking(False)
    return connection


def received(connection):
    """Return when the kernel received each waiting packet, and when it was sent, in s; the length of each."""
    found = []
    while True:
        try:
            data, said, _, _ = connection.recvmsg(2048, 256)
        except BlockingIOError:
            return found
        seconds, ns = struct.unpack("qq", said[0][2][:16])
        found.append((seconds + ns / 1e9, struct.unpack_from("d", data)[0], len(data) + 28))


def exchange(link, there, back):
    """Send 400 short packets a second one way, and 500 of 1000 bytes the other way; return those that arrive."""
    sent, arrived, begin = [0, 0], ([], []), time.monotonic()
    while (now := time.monotonic() - begin) < DURATION_S + 0.2:
        for way, (sender, per_s, size) in enumerate(((there, 400, 100), (back, 500, 972))):
            while sent[way] < per_s * min(now, DURATION_S):
                sender.send(struct.pack("d", time.time()).ljust(size, b"\0"))
                sent[way] += 1
        for receiver, into in zip((back, there), arrived, strict=True):
            into += received(receiver)
        link.next_line(0.0005)
    return sent, arrived


@needs_namespaces
def test_loss_jitter_copies_and_a_trace_on_the_wire(tmp_path):
    with run_state() as state, ExitStack() as opened:
        a, b = (namespace_path(name) for name in state.namespaces)
        for path in (a, b):
            namespaces.create(path.name)
        link = LinkProcess(configuration(a, b), tmp_path)
        opened.callback(link.close)
        state.add(link.pid)
        link.wait_ready()
        namespaces.set_up(a, "aqm-a", addresses=[f"{A}/32"], routes=[Route(f"{B}/32", A)])
        namespaces.set_up(b, "aqm-b", addresses=[f"{B}/32"], routes=[Route(f"{A}/32", B)])
        there, back = datagrams(opened, a, A, B), datagrams(opened, b, B, A)
        link.tell("start")
        assert link.next_line(READY_WITHIN_S) is not None
        sent, (at_b, at_a) = exchange(link, there, back)
        link.tell("stop")
        outcome = link.wait_outcome()
    channel = {key: column[0] for key, column in outcome["tables"]["channels"].items()}
    assert channel["link"] == "there"
    assert len(at_b) == sent[0] - channel["losses"] + channel["copies"]
    # Lost, and not copied; copied, and neither is lost. Five standard deviations.
    assert abs(channel["losses"] / sent[0] - 0.1 * 0.95) < 0.043
    assert abs(channel["copies"] / sent[0] - 0.05 * 0.9**2) < 0.03
    # Of packets every 2.5 ms, delayed by 15 to 25 ms, 29.9 % arrive before an earlier one. Five standard deviations.
    assert abs(channel["overtaking"] / sent[0] - 0.299) < 0.056
    delays_ms = 1e3 * np.array([arrival - start for arrival, start, _ in at_b])
    # From 15 to 25 ms, uniform, and what other programs add.
    assert delays_ms.min() >= 15
    for share, expected in ((0.25, 17.5), (0.5, 20.0), (0.75, 22.5)):
        assert expected - 0.7 < np.quantile(delays_ms, share) < expected + 2
    # From the first arrival on, for whole periods of the trace.
    first = at_a[0][0]
    whole = sum(size for arrival, _, size in at_a if arrival <= first + DURATION_S - 1) * 8
    assert abs(whole / (MEAN_BPS * (DURATION_S - 1)) - 1) < 0.04
    reverse = outcome["certificate"]["reverse_rate"]
    assert reverse["varies"]
    assert abs(reverse["achieved_bps"] / reverse["configured_bps"] - 1) < 0.02
    certificate = Certificate.of(outcome["certificate"], troubles=[], unshaped=True)
    assert not [breach for breach in certificate.breaches if "not accounted for" in breach]
    assert f"{channel['losses']} lost, {channel['copies']} copied" in certificate.line()
    assert not left_behind()
