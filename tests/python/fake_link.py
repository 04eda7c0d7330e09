"""A link process that speaks the protocol and knows nothing of queue disciplines: one FIFO with a rate.

With namespaces in its configuration it carries packets between two TUNs; without, it only reports a made-up
run. Tests of the orchestration use it in place of the real link process, which needs more privileges.
"""

import fcntl
import json
import os
import select
import struct
import sys
import time
from collections import deque
from pathlib import Path

TUNSETIFF, IFF_TUN, IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
LIMIT = 100


def open_tun(netns, device):
    from pyroute2 import netns as spaces

    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    spaces.setns(netns)
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH22x", device.encode(), IFF_TUN | IFF_NO_PI))
    spaces.setns(home)
    os.close(home)
    return descriptor


class Fake:
    def __init__(self, config):
        self.config = config
        self.rate = float(os.environ.get("FAKE_LINK_RATE", "1e7"))
        self.tuns = [open_tun(config[s]["netns"], config[s]["device"]) for s in "ab"] if config["a"]["netns"] else []
        group = config["groups"][0]
        self.delay = (group["delay_before_ns"] + group["delay_after_ns"]) / 1e9
        self.back = group["delay_back_ns"] / 1e9
        self.queue, self.flying, self.returning = deque(), deque(), deque()
        self.free, self.arrivals, self.departures, self.drops, self.entered, self.out = 0.0, 0, 0, 0, 0, 0
        self.bytes = 0

    def step(self, now):
        for tun, side in zip(self.tuns, "ab", strict=False):
            while True:
                try:
                    packet = os.read(tun, 2048)
                except BlockingIOError:
                    break
                self.entered += 1
                if side == "b":
                    self.returning.append((now + self.back, packet))
                elif len(self.queue) < LIMIT:
                    self.arrivals += 1
                    self.free = max(self.free, now) + len(packet) * 8 / self.rate
                    self.queue.append((self.free, packet))
                else:
                    self.arrivals += 1
                    self.drops += 1
        while self.queue and self.queue[0][0] <= now:
            due, packet = self.queue.popleft()
            self.departures += 1
            self.bytes += len(packet)
            self.flying.append((due + self.delay, packet))
        for line, tun in ((self.flying, 1), (self.returning, 0)):
            while line and line[0][0] <= now:
                os.write(self.tuns[tun], line.popleft()[1])
                self.out += 1

    def snapshot(self, t):
        counters = {
            "arrivals": self.arrivals, "arrived_bytes": 0, "departures": self.departures, "departed_bytes": self.bytes,
            "drops_early": 0, "drops_forced": 0, "drops_overflow": self.drops, "marks_early": 0, "marks_forced": 0,
            "lost": 0,
        }  # fmt: skip
        forward = {
            "name": "forward", "link": self.config["link"], "aqm": "drop-tail", "rate_bps": self.rate,
            "backlog": {"packets": len(self.queue), "bytes": 0}, "average": None, "p_b": None, "gauges": {},
            "counters": counters, "quantities": {}, "delay_mean_s": None, "classes": [], "flows": [],
        }  # fmt: skip
        plane = {
            "malformed": {}, "tun_dropped": {"a": 0, "b": 0},
            "lateness_us": {"n": self.departures, "p50": 5.0, "p99": 20.0, "p999": 40.0, "max": 90.0},
            "stalls": 0, "idle_share": 0.9, "in": self.entered, "out": self.out, "held": len(self.queue),
        }  # fmt: skip
        return {"t": t, "directions": [forward], "plane": plane}

    def outcome(self, t):
        queued = len(self.queue) + len(self.flying) + len(self.returning)
        certificate = {
            "lateness_us": {"n": self.departures, "p50": 5.0, "p99": 20.0, "p999": 40.0, "max": 90.0}, "stalls": 0,
            "tun_dropped": {"a": 0, "b": 0},
            "rate": {"configured_bps": self.rate, "achieved_bps": self.rate, "busy_s": t},
            "queue_not_empty_share": 0.9, "cpu_steal_share": 0.0, "scheduler": "other", "offload": {"a": [], "b": []},
            "in": self.entered, "out": self.out, "dropped": self.drops, "malformed": 0, "queued": queued,
        }  # fmt: skip
        link = {
            "link": [self.config["link"]], "aqm": ["drop-tail"], "arrivals": [self.arrivals],
            "arrived_bytes": [self.bytes],
            "departures": [self.departures], "departed_bytes": [self.bytes], "drops_early": [0], "drops_forced": [0],
            "drops_overflow": [self.drops], "drops": [self.drops], "marks_early": [0], "marks": [0],
            "mean_queue": [50.0], "mean_queue_bytes": [75000.0], "mean_average": [None], "sd_average": [None],
            "max_queue": [LIMIT], "mean_delay_s": [0.06], "utilization": [1.0],
            "throughput_bps": [self.bytes * 8 / max(t, 1e-9)], "packets_at_end": [len(self.queue)],
        }  # fmt: skip
        return {"last": self.snapshot(t), "tables": {"links": link}, "certificate": certificate}


def main():
    config = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    what = os.environ.get("FAKE_LINK", "")
    if what in ("2", "3"):
        print("aqmlab-link: queue.bottleneck.limit: is not what it should be", file=sys.stderr)
        return int(what)
    fake = Fake(config)
    print(json.dumps({"ready": {"devices": ["aqm-a", "aqm-b"], "scheduler": "other"}}), flush=True)
    began, shown = None, 0.0
    interval = config["snapshot_interval_s"]
    while True:
        now = time.monotonic()
        readable, _, _ = select.select([0, *fake.tuns], [], [], 0.0005)
        if 0 in readable:
            said = os.read(0, 65536).decode().split() or ["stop"]
            if "start" in said:
                began = shown = time.monotonic()
            if "stop" in said:
                break
        if what == "dies" and began is not None:
            print("aqmlab-link: it broke", file=sys.stderr)
            return 1
        fake.step(now)
        if began is not None and interval and now - shown >= interval:
            shown = now
            print(json.dumps(fake.snapshot(now - began)), flush=True)
        if began is not None and config["duration_s"] is not None and now - began >= config["duration_s"]:
            break
    print(json.dumps({"outcome": fake.outcome(time.monotonic() - (began or time.monotonic()))}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
