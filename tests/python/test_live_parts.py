"""Parts of live runs that need no namespaces: the link's protocol, certificates, traffic over the loopback device."""

import json
import socket
import struct
import subprocess
import sys
import time

import pytest

from aqmlab.errors import InputError
from aqmlab.live.certificate import Certificate, lateness_limit_us
from aqmlab.live.groups import addresses, ends
from aqmlab.live.link_process import LinkProcess, LiveError
from aqmlab.live.processes import Identity
from aqmlab.live.state import RunState, clean, run_directory
from aqmlab.live.traffic.clock import Agenda
from aqmlab.live.traffic.iperf3 import sink_report, source_report
from aqmlab.live.traffic.order import FlowOrder, Order
from aqmlab.live.traffic.source import Source
from aqmlab.live.traffic.tcp_info import TcpInfo
from live_machine import FAKE

pytestmark = pytest.mark.slow

IMAGINED = {
    "a": {"netns": None}, "b": {"netns": None}, "link": "bottleneck", "snapshot_interval_s": 0.05, "duration_s": 2.0,
    "groups": [{"delay_before_ns": 0, "delay_after_ns": 0, "delay_back_ns": 0}],
}  # fmt: skip

GOOD = {
    "lateness_us": {"n": 50_000, "p50": 4.0, "p99": 21.0, "p999": 80.0, "max": 400.0},
    "stalls": 0,
    "late_start_us": 30.0,
    "tun_dropped": {"a": 0, "b": 0},
    "rate": {"configured_bps": 1e7, "achieved_bps": 9.99e6, "busy_s": 50.0},
    "queue_not_empty_share": 0.97,
    "cpu_steal_share": 0.001,
    "scheduler": "fifo",
    "kept_awake": {"without_delay": True, "processors": 2},
    "offload": {"a": ["gso", "gro"], "b": ["gso", "gro"]},
    "in": 1000,
    "out": 980,
    "dropped": 15,
    "malformed": {"short": 2},
    "queued": 3,
}


@pytest.fixture
def link(tmp_path):
    opened = []

    def start(**changes):
        opened.append(LinkProcess(IMAGINED | changes, tmp_path, command=FAKE))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


class TestLinkProcess:
    def test_a_run(self, link):
        one = link()
        assert one.wait_ready()["devices"] == ["aqm-a", "aqm-b"]
        one.tell("start")
        snapshot = json.loads(one.next_line(5.0))
        assert snapshot["directions"][0]["link"] == "bottleneck"
        assert one.wait_outcome()["certificate"]["in"] == 0

    def test_it_ends_on_a_stop_command(self, link):
        one = link(duration_s=None)
        one.wait_ready()
        one.tell("start")
        one.tell("stop")
        assert "tables" in one.wait_outcome()

    @pytest.mark.parametrize(("code", "error"), [("2", InputError), ("3", LiveError)])
    def test_an_error_of_the_link_process_is_raised(self, link, monkeypatch, code, error):
        monkeypatch.setenv("FAKE_LINK", code)
        with pytest.raises(error, match=r"^queue.bottleneck.limit: is not what it should be$"):
            link().wait_ready()

    def test_a_link_process_that_fails_after_its_start(self, link, monkeypatch):
        monkeypatch.setenv("FAKE_LINK", "dies")
        one = link()
        one.wait_ready()
        one.tell("start")
        with pytest.raises(LiveError, match=r"^it broke$"):
            one.wait_outcome()

    def test_it_ends_with_its_starter(self, tmp_path):
        program = (
            "import sys, pathlib; from aqmlab.live.link_process import LinkProcess;"
            f"folder = pathlib.Path({str(tmp_path)!r});"
            f"one = LinkProcess({IMAGINED | {'duration_s': None}!r}, folder, command={FAKE!r});"
            "one.wait_ready(); print(one.pid, flush=True); sys.stdin.read()"
        )
        starter = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        found = Identity.of(int(starter.stdout.readline()))
        starter.kill()
        starter.communicate()
        until = time.monotonic() + 60
        while found.alive and time.monotonic() < until:
            time.sleep(0.02)
        assert not found.alive


class TestCertificate:
    def test_a_good_run_is_valid(self):
        found = Certificate.of(GOOD, troubles=[])
        assert found.valid
        assert not found.notes
        assert found.data()["limits"]["lateness_p99_us"] == 300

    @pytest.mark.parametrize(
        ("changed", "says"),
        [
            ({"lateness_us": GOOD["lateness_us"] | {"p99": 301.0}}, "more than 301 us late"),
            ({"late_start_us": 520e3}, "the link began 520 ms after the flows (limit 10 ms)"),
            ({"stalls": 6}, "6 of 50,000 packets left more than 10 ms late"),
            ({"rate": GOOD["rate"] | {"achieved_bps": 9.94e6}}, "-0.60% of its rate"),
            ({"tun_dropped": {"a": 1, "b": 0}}, "1 packet was lost in the TUN devices"),
            ({"queue_not_empty_share": 0.1}, "10% of the time only"),
            ({"cpu_steal_share": 0.06}, "6.0% of the processor's time"),
            ({"offload": {"a": ["tso"], "b": []}}, "split or join packets (tso)"),
            ({"out": 979}, "1 packet is not accounted for"),
        ],
    )
    def test_each_limit(self, changed, says):
        found = Certificate.of(GOOD | changed, troubles=[])
        assert len(found.breaches) == 1
        assert says in found.breaches[0]
        assert "INVALID" in found.line()

    def test_troubles_make_it_invalid_and_no_priority_does_not(self):
        assert Certificate.of(GOOD, troubles=["flow tcp.0: never connected"]).breaches == [
            "flow tcp.0: never connected"
        ]
        found = Certificate.of(GOOD | {"scheduler": "other"}, troubles=[])
        assert found.valid
        assert "SCHED_FIFO" in found.notes[0]

    def test_flows_that_are_known_no_more_are_a_note(self):
        found = Certificate.of(GOOD | {"flows_replaced": 3}, troubles=[])
        assert found.valid
        assert found.notes == ["3 flows gave place to others, and all are counted together as other flows"]

    def test_processors_that_were_let_sleep_are_a_note(self):
        for kept in ({"without_delay": True, "processors": 0}, None):
            found = Certificate.of(GOOD | {"kept_awake": kept}, troubles=[])
            assert found.valid
            assert ["--keep-awake" in note for note in found.notes] == [True]

    def test_an_unshaped_link_has_no_rate_to_keep(self):
        changed = GOOD | {"rate": GOOD["rate"] | {"achieved_bps": 1.0}, "queue_not_empty_share": 0.0}
        assert Certificate.of(changed, troubles=[], unshaped=True).valid

    def test_lost_packets_and_copies_are_accounted_for(self):
        assert Certificate.of(GOOD | {"out": 960, "lost": 25, "copied": 5}, troubles=[]).valid

    def test_a_varying_rate_is_judged_by_the_rates_of_its_services(self):
        rate = GOOD["rate"] | {"varies": True, "configured_bps": 4.2e6, "achieved_bps": 4.2e6 * 1.001}
        found = Certificate.of(GOOD | {"rate": rate}, troubles=[])
        assert found.valid
        assert "+0.10 % of the varying rate" in found.line()

    def test_slow_links_bear_more_lateness(self):
        assert lateness_limit_us(1e9) == 50
        assert lateness_limit_us(0) == 2000


class TestState:
    def test_leftovers_of_a_dead_run_are_removed(self):
        state = RunState("999999-1", Identity(999_999, 1), ["aql-999999-1-a"])
        state.save()
        assert "999999-1" in clean()
        assert not state.folder.exists()

    def test_a_run_that_lives_is_left_alone(self):
        state = RunState.new()
        state.save()
        try:
            assert state.id not in clean()
            assert state.folder.exists()
        finally:
            state.remove()
        assert not state.folder.exists()

    def test_a_reused_process_id_is_not_taken_for_the_owner(self):
        own = RunState.new()
        other = RunState(f"{own.id}9", Identity(own.maker.pid, own.maker.started + 1), [])
        other.save()
        assert other.id in clean()

    def test_a_folder_of_a_run_killed_before_it_wrote(self):
        folder = run_directory() / "999999-2"
        folder.mkdir(exist_ok=True)
        clean()
        assert not folder.exists()


def test_addresses():
    assert addresses("b", [2]) == ["10.77.2.2/32", "fd77:0:0:2::2/128"]
    with pytest.raises(InputError, match=r"255 groups of flows \(allowed: up to 253"):
        ends(255, "ipv4")


def test_reports_of_the_kernel_on_a_connection():
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as sender:
        receiver, _ = server.accept()
        with receiver:
            sender.sendall(bytes(50_000))
            left = 50_000
            while left:
                left -= len(receiver.recv(left))
            sent, got = TcpInfo.of(sender), TcpInfo.of(receiver)
    assert got.received_bytes == 50_000
    assert sent.sent_bytes == 50_000
    assert sent.sent >= 1
    assert sent.cwnd >= 10
    assert 0 < sent.srtt_s < 0.1


class TestTrafficOverLoopback:
    """Both processes of a side, started at the same time."""

    DURATION_S = 1.2

    def order(self, **changes):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        flow = {
            "name": "f", "local": "127.0.0.1", "peer": "127.0.0.1", "port": port, "periods_s": ((0.1, None),),
            "size_bytes": None, "congestion_control": "reno", "dscp": 10, "segment_bytes": 1448,
        }  # fmt: skip
        return Order((FlowOrder(**(flow | changes)),), self.DURATION_S, 0.5, 0.1, 0.1)

    def run(self, order):
        processes = {
            role: subprocess.Popen(
                [sys.executable, "-m", "aqmlab.live.traffic", role],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for role in ("sink", "source")
        }
        for process in processes.values():
            process.stdin.write(json.dumps(order.to_json()) + "\n")
            process.stdin.flush()
            assert process.stdout.readline() == "ready\n"
        begin = time.monotonic() + 0.1
        found = {}
        for process in processes.values():
            process.stdin.write(f"start {begin!r}\n")
            process.stdin.flush()
        for role, process in processes.items():
            found[role] = json.loads(process.communicate(timeout=60)[0])
        return found["source"], found["sink"]

    def test_a_flow_without_end(self):
        source, sink = self.run(self.order())
        sent, got = source["flows"][0], sink["flows"][0]
        assert 0.1 <= sent["connected_s"] < self.DURATION_S
        assert not sent["error"]
        assert 0 < got["received_at_warmup_bytes"] < got["received_bytes"]
        assert got["finish_s"] is None
        assert sent["at_end"]["acked_bytes"] >= got["received_at_warmup_bytes"]
        assert sent["mean_rtt_s"] > 0
        assert len(source["cwnd_samples"]["t_s"]) >= 2
        assert sink["flow_samples"]["delivered_bytes"] == sorted(sink["flow_samples"]["delivered_bytes"])

    def test_a_transfer_ends_with_its_last_byte(self):
        source, sink = self.run(self.order(size_bytes=300_000))
        assert sink["flows"][0]["received_bytes"] == 300_000
        assert 0.1 < sink["flows"][0]["finish_s"] < self.DURATION_S
        assert source["flows"][0]["at_end"]["acked_bytes"] == pytest.approx(300_000, abs=2)

    def test_pauses(self):
        _, sink = self.run(self.order(periods_s=((0.1, 0.3), (0.9, None))))
        samples = dict(zip(sink["flow_samples"]["t_s"], sink["flow_samples"]["delivered_bytes"], strict=True))
        quiet = [n for t, n in samples.items() if 0.45 < t < 0.85]
        assert len(set(quiet)) == 1
        assert sink["flows"][0]["received_bytes"] > quiet[0] > 0

    @pytest.mark.parametrize(("since_s", "is_error"), [(0.5, True), (2.0, False)])
    def test_a_connection_that_is_reset_is_an_error_until_the_run_is_over(self, since_s, is_error):
        source = Source(self.order(), Agenda(time.monotonic() - since_s))
        with socket.create_server(("127.0.0.1", 0)) as server:
            own = socket.create_connection(server.getsockname())
            other, _ = server.accept()
            other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            other.close()
        sending = source.sendings[0]
        sending.connection, sending.connected_s, sending.active = own, 0.1, True
        source._watch(sending)
        source._handle(sending)
        assert bool(sending.error) is is_error
        assert sending.connection is None

    def test_no_process_listens(self):
        order = self.order()
        process = subprocess.Popen(
            [sys.executable, "-m", "aqmlab.live.traffic", "source"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        out, _ = process.communicate(f"{json.dumps(order.to_json())}\nstart {time.monotonic()!r}\n", timeout=60)
        flow = json.loads(out.splitlines()[1])["flows"][0]
        assert "refused" in flow["error"].lower()


class TestIperf3Reports:
    ORDER = FlowOrder("f", "10.77.1.1", "10.77.1.2", 5201, ((1.0, None),), None, "reno", 0, 1000)

    def interval(self, start, end, n, **more):
        return {"streams": [{"start": start, "end": end, "bytes": n, **more}]}

    def test_bytes_before_the_warmup_do_not_count(self):
        said = {"intervals": [self.interval(0, 1, 1000), self.interval(1, 2, 3000), self.interval(2, 3, 5000)]}
        found = sink_report(self.ORDER, said, warmup_s=2.5)
        assert found["received_bytes"] == 9000
        assert found["received_at_warmup_bytes"] == 2500
        assert found["last_received_s"] == 4

    def test_the_report_of_a_client(self):
        said = {"intervals": [self.interval(0, 1, 10_000, retransmits=2, rtt=20_000)], "error": "interrupt"}
        found = source_report(self.ORDER, said)
        assert found["at_end"]["retransmitted"] == 2
        assert found["at_end"]["sent"] == 12
        assert found["mean_rtt_s"] == 0.02
        assert not found["error"]

    def test_a_client_that_never_connected(self):
        said = {"intervals": [], "error": "unable to connect to server: Connection refused"}
        assert "Connection refused" in source_report(self.ORDER, said)["error"]
