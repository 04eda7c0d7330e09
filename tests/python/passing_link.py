"""A link process that speaks the protocol and passes packets on at once: for tests of the link's surroundings.

It has no queue discipline, rate or delay, and reports those of the configuration. With the text ``fake-rejects`` in
the scenario it rejects the scenario; with ``fake-ends`` it exits soon after the start.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import select
import struct
import sys
import time
from pathlib import Path
from typing import Any

TUNSETIFF = 0x400454CA
IFF_TUN, IFF_NO_PI = 0x1, 0x1000
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def open_tun(end: dict[str, Any]) -> int:
    own = os.open("/proc/self/ns/net", os.O_RDONLY)
    try:
        if end["netns"] is not None:
            there = os.open(end["netns"], os.O_RDONLY)
            if LIBC.setns(there, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
            os.close(there)
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", end["device"].encode(), IFF_TUN | IFF_NO_PI))
    finally:
        LIBC.setns(own, CLONE_NEWNET)
        os.close(own)
    return tun


class Link:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.passed = [0, 0]
        self.bytes = [0, 0]
        self.reloads = 0
        self.started = time.monotonic()

    def take(self, config: dict[str, Any]) -> None:
        if "fake-rejects" in config["scenario"]:
            print("aqmlab-link: scenario: is rejected", file=sys.stderr)
            sys.exit(2)
        self.config = config

    def snapshot(self) -> dict[str, Any]:
        directions = [
            {
                "name": name,
                "link": link,
                "aqm": "drop-tail",
                "rate_bps": 1e6 + self.reloads,
                "backlog": {"packets": 0, "bytes": 0},
                "average": None,
                "p_b": None,
                "gauges": {},
                "counters": {
                    **dict.fromkeys(
                        ("drops_early", "drops_forced", "drops_overflow", "marks_early", "marks_forced"), 0
                    ),
                    "lost": 0,
                    "arrivals": self.passed[side],
                    "arrived_bytes": self.bytes[side],
                    "departures": self.passed[side],
                    "departed_bytes": self.bytes[side],
                },
                "quantities": {},
                "delay_mean_s": None,
                "classes": [],
                "flows": [],
            }
            for side, (name, link) in enumerate(
                [("forward", self.config["link"]), ("reverse", self.config["reverse_link"])]
            )
            if link is not None
        ]
        late = {"n": 0, "p50": None, "p99": None, "p999": None, "max": None}
        plane = {"malformed": {}, "tun_dropped": {"a": 0, "b": 0}, "lateness_us": late, "stalls": 0, "idle_share": 1.0}
        plane |= {"in": sum(self.passed), "out": sum(self.passed), "held": 0}
        return {"t": time.monotonic() - self.started, "directions": directions, "plane": plane}


def say(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


def main() -> None:
    link = Link(json.loads(Path(sys.argv[1]).read_text()))
    link.take(link.config)
    tuns = [open_tun(link.config["a"]), open_tun(link.config["b"])]
    say({"ready": {"pid": os.getpid()}})
    due = None
    commands = b""
    while True:
        readable, _, _ = select.select([0, *tuns], [], [], 0.02)
        for tun in readable:
            if tun == 0:
                data = os.read(0, 1 << 16)
                commands += data
                *lines, commands = commands.split(b"\n")
                for line in lines:
                    word, _, rest = line.decode().partition(" ")
                    if word == "start":
                        link.started = due = time.monotonic()
                        if "fake-ends" in link.config["scenario"]:
                            sys.exit(1)
                    elif word == "reload":
                        link.take(json.loads(rest))
                        link.reloads += 1
                if not data or b"stop" in lines:
                    say({"outcome": {"last": link.snapshot(), "tables": {}, "certificate": {}}})
                    return
                continue
            side = tuns.index(tun)
            try:
                packet = os.read(tun, 65536)
                os.write(tuns[1 - side], packet)
            except OSError:
                continue
            link.passed[side] += 1
            link.bytes[side] += len(packet)
        interval = link.config["snapshot_interval_s"]
        if due is not None and interval is not None and time.monotonic() >= due:
            due += interval
            say(link.snapshot())


if __name__ == "__main__":
    main()
