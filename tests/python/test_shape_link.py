"""`aqmlab shape` with the link itself: the rate of the file is kept, and a new file costs no packet."""

from __future__ import annotations

import json
import os
import signal
import socket
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

# An extra of the package brings it.
pytest.importorskip("pyroute2", reason="needs pyroute2, of the extra live")
from router import ADDRESS, POSSIBLE, Router, router, wait_until

pytestmark = [pytest.mark.live, POSSIBLE]

FILE = """\
format = 1

[[link]]
name = "uplink"
from = "inside"
to = "outside"
rate = "4Mbps"
delay = "5ms"
queue = "q"
duplex = false

[queue.q]
aqm = "drop-tail"
limit = "1000p"
"""
PAYLOAD = 972
"""Bytes of a datagram that is 1000 long with the headers of IPv4 and UDP."""
PORT = 5000
SO_RCVBUFFORCE = 33
"""Room at a socket beyond what users may have (socket(7)), so that a late reader loses nothing."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "uplink.toml"
    path.write_text(FILE)
    return path


@pytest.fixture
def net() -> Iterator[Router]:
    with router() as made:
        yield made


class Stream:
    """Numbered datagrams from A to B."""

    def __init__(self, net: Router) -> None:
        self.net = net
        self.came: list[tuple[float, int]] = []
        self._far = net.socket("b", 4, PORT)
        self._far.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def send(self, first: int, count: int, *, rate_bps: float) -> None:
        """Send so many with these numbers, evenly."""
        every_s = (PAYLOAD + 28) * 8 / rate_bps
        with self.net.socket("a", 4) as near:
            begin = time.monotonic()
            for number in range(first, first + count):
                time.sleep(max(begin + (number - first) * every_s - time.monotonic(), 0))
                near.sendto(number.to_bytes(4, "big").ljust(PAYLOAD), (ADDRESS[4]["b"], PORT))

    def end(self) -> list[int]:
        """Wait until nothing comes any more, and return the numbers that came."""
        self._reader.join()
        self._far.close()
        return [number for _, number in self.came]

    def rate_bps(self, first: int, last: int) -> float:
        """Rate at which those with numbers from `first` to `last` came: the median over stretches of 50.

        A pause of the machine falls into few of them.
        """
        times = [at for at, number in self.came if first <= number <= last]
        took = statistics.median(late - early for early, late in zip(times, times[50:], strict=False))
        return 50 * (PAYLOAD + 28) * 8 / took

    def _read(self) -> None:
        while True:
            try:
                data = self._far.recv(2000)
            except TimeoutError:
                return
            self.came.append((time.monotonic(), int.from_bytes(data[:4], "big")))


def test_rate_is_kept(net: Router, file: Path) -> None:
    running = net.shape(file, real=True, **{"in": "in0", "out": "out0"})
    running.wait_for("shaping in0 to out0: drop-tail, 4 Mb/s, 5 ms")
    stream = Stream(net)
    stream.send(0, 900, rate_bps=8e6)
    assert stream.end() == list(range(900))
    # The receiver's clock is read by a Python thread on a machine that does other things too.
    assert stream.rate_bps(50, 899) == pytest.approx(4e6, rel=0.02)
    code, out = running.stop()
    assert code == 0
    assert " 0 dropped, 0 marked, 0 reloads" in out


def test_new_file_costs_no_packet(net: Router, file: Path, tmp_path: Path) -> None:
    before = net.state()
    lines = tmp_path / "live.jsonl"
    running = net.shape(file, real=True, **{"in": "in0", "out": "out0", "stats": f"jsonl={lines}"})
    running.wait_for("shaping")
    stream = Stream(net)
    sender = threading.Thread(target=stream.send, args=(0, 1000), kwargs={"rate_bps": 5e6})
    sender.start()
    changes = [("4Mbps", "6Mbps"), ('"drop-tail"', '"red"\nmin_th = "500p"\nmax_th = "900p"'), ("6Mbps", "2Mbps")]
    text = FILE
    for count, (old, new) in enumerate(changes, 1):
        wait_until(lambda n=count: len(stream.came) > 150 * n, "nothing comes")  # type: ignore[misc]
        text = text.replace(old, new)
        file.write_text(text)
        running.process.send_signal(signal.SIGHUP)
        wait_until(lambda n=count: running.err.count("read again") == n, "no reload")  # type: ignore[misc]
    sender.join()
    assert stream.end() == list(range(1000))
    assert stream.rate_bps(800, 999) == pytest.approx(2e6, rel=0.02)
    code, out = running.stop()
    assert (code, out.strip().endswith(" 3 reloads")) == (0, True)
    told = [json.loads(line)["directions"][0] for line in lines.read_text().splitlines()]
    assert [told[0]["rate_bps"], told[-1]["rate_bps"]] == [4e6, 2e6]
    assert [told[0]["aqm"], told[-1]["aqm"]] == ["drop-tail", "red"]
    assert told[-1]["counters"]["arrivals"] == told[-1]["counters"]["departures"] == 1000
    assert net.state() == before


def test_queued_packets_are_sent_at_the_end(net: Router, file: Path) -> None:
    running = net.shape(file, real=True, **{"in": "in0", "out": "out0"})
    running.wait_for("shaping")
    stream = Stream(net)
    stream.send(0, 300, rate_bps=8e6)
    code, _ = running.stop()
    assert code == 0
    assert sorted(stream.end()) == list(range(300))


def test_nothing_is_left_of_a_link_that_is_killed(net: Router, file: Path) -> None:
    before = net.state()
    running = net.shape(file, real=True, **{"in": "in0", "out": "out0"})
    running.wait_for("shaping")
    children = Path(f"/proc/{running.process.pid}/task/{running.process.pid}/children").read_text().split()
    assert len(children) == 1
    os.kill(int(children[0]), signal.SIGKILL)
    code, _ = running.end()
    assert code == 1
    assert "link process" in running.err
    assert net.state() == before
