"""Measure the link process: how exact its rate is, how late it writes, how fast it forwards, whether packets get lost.

    sudo .venv/bin/python validation/measure_live.py [--seconds 10] [--soak-minutes 10] [--link PROGRAM]

Needs root (or a user namespace with /dev/net/tun), ``ip`` and ``iperf3``. All network namespaces are its own
(``aql-m-*``) and are removed at the end, also on failure. Each row of the table is on standard error as it comes; the
exit code is 1 if a limit was missed. The figures mean something only on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

TITLE = "The link by itself"
LINK = "target/release/aqmlab-link"
PAGE = """One link process between two namespaces, with the processors kept awake (SCHED_IDLE) and its thread in
SCHED_FIFO: RED before the link, loaded by iperf3. Lateness is how much later than planned packets were written.
Packets are unaccounted for if they came in and were neither sent nor dropped; malformed packets and those still in the
link are not counted. Memory is that of the process.
"""
SIDES = {"a": ("10.77.1.1", "10.77.1.2"), "b": ("10.77.1.2", "10.77.1.1")}
RATE_TOLERANCE = 0.005
LATENESS_P99_US = 50.0
LATENESS_P999_US = 2000.0
UNSHAPED_BPS = 1.5e9
# A page table here, a larger buffer there; a leak of a byte a packet would be more.
GROWTH_KIB = 1024


def run(*words: str, check: bool = True) -> str:
    """Run a command and give its output."""
    return subprocess.run(words, check=check, capture_output=True, text=True).stdout


def namespace(side: str) -> str:
    """Name of the namespace of a side."""
    return f"aql-m-{os.getpid()}-{side}"


@contextmanager
def namespaces() -> Iterator[None]:
    """Make both namespaces; remove them and the processes in them."""
    try:
        for side in SIDES:
            run("ip", "netns", "add", namespace(side))
            run("ip", "-n", namespace(side), "link", "set", "lo", "up")
        yield
    finally:
        for side in SIDES:
            for pid in run("ip", "netns", "pids", namespace(side), check=False).split():
                os.kill(int(pid), 9)
            run("ip", "netns", "del", namespace(side), check=False)


def scenario(rate_bps: float) -> str:
    """RED before a link of this rate, 20 ms there and back in all."""
    return f"""
        format = 1
        [run]
        duration = "10s"
        [dumbbell]
        bottleneck = {{ rate = "{rate_bps:.0f}bps", delay = "10ms", queue = "q" }}
        left = {{ rate = "10Gbps", delay = "0s" }}
        right = {{ rate = "10Gbps", delay = "0s" }}
        [queue.q]
        aqm = "red"
        limit = "300p"
        min_th = "20p"
        max_th = "60p"
        max_p = 0.1
        w_q = 0.002
        [[flow]]
        name = "f"
        transport = "udp"
        rate = "1Mbps"
    """


@dataclass
class Run:
    """A run of the link process under a load."""

    name: str
    rate_bps: float
    seconds: float
    load: list[str]
    unshaped: bool = False
    keep_awake: bool = True
    snapshot_interval_s: float | None = 0.1
    outcome: dict[str, Any] = field(default_factory=dict)
    iperf: dict[str, Any] = field(default_factory=dict)
    rss_kib: list[int] = field(default_factory=list)
    snapshots: int = 0

    @property
    def certificate(self) -> dict[str, Any]:
        """The link's own statistics."""
        return dict(self.outcome["certificate"])


def config(job: Run) -> dict[str, Any]:
    """Write the configuration of the link process."""
    group = {"name": "f", "prefix_a": ["10.77.1.1/32"], "prefix_b": ["10.77.1.2/32"], "delay_back_ns": 10_000_000}
    return {
        "scenario": scenario(job.rate_bps),
        "link": "bottleneck",
        "duration_s": job.seconds,
        "warmup_s": min(1.0, job.seconds / 4),
        "groups": [group],
        "snapshot_interval_s": job.snapshot_interval_s,
        "unshaped": job.unshaped,
        "realtime": {"keep_awake": job.keep_awake},
        **{side: {"netns": f"/run/netns/{namespace(side)}", "device": f"aqm-{side}"} for side in SIDES},
    }


def rss_kib(pid: int) -> int:
    """Resident memory of a process."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def measure(job: Run, link: list[str]) -> Run:
    """Do a run."""
    with (
        namespaces(),
        subprocess.Popen([*link, "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            drive(job, process, process.stdin, process.stdout)
        finally:
            if process.poll() is None:
                process.kill()
    return job


def drive(job: Run, process: subprocess.Popen[str], commands: IO[str], lines: IO[str]) -> None:
    """Set up the ends, load the link, listen to it until its end."""
    commands.write(json.dumps(config(job)) + "\n")
    commands.flush()
    if "ready" not in json.loads(lines.readline() or "{}"):
        raise SystemExit("the link process did not come up")
    for side, (own, other) in SIDES.items():
        run("ip", "-n", namespace(side), "addr", "add", f"{own}/32", "dev", f"aqm-{side}")
        run("ip", "-n", namespace(side), "route", "add", other, "dev", f"aqm-{side}", "congctl", "cubic")
    inside = {side: ["ip", "netns", "exec", namespace(side)] for side in SIDES}
    server = subprocess.Popen([*inside["b"], "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
    time.sleep(0.5)
    commands.write("start\n")
    commands.flush()
    length = f"{max(1.0, job.seconds - 1.5):.0f}"
    client = subprocess.Popen(
        [*inside["a"], "iperf3", "-c", SIDES["b"][0], "-t", length, "-J", *job.load],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    for line in lines:
        answer = json.loads(line)
        if "outcome" in answer:
            job.outcome = answer["outcome"]
            break
        job.snapshots += 1
        if answer["t"] > 0.2 * job.seconds:
            job.rss_kib.append(rss_kib(process.pid))
    for load in (client, server):
        try:
            load.wait(timeout=10)
        except subprocess.TimeoutExpired:
            load.kill()
    assert client.stdout is not None
    try:
        job.iperf = json.loads(client.stdout.read())
    except json.JSONDecodeError:
        job.iperf = {}


def goodput(job: Run) -> float:
    """Bits per second that iperf3's receiver got."""
    end = job.iperf.get("end", {})
    return float(end.get("sum_received", end.get("sum", {})).get("bits_per_second", 0.0))


@dataclass
class Check:
    """A measured value and its limit."""

    what: str
    found: str
    limit: str
    holds: bool

    def row(self) -> str:
        """As a row of a table."""
        return f"| {self.what} | {self.found} | {self.limit} | {'yes' if self.holds else '**no**'} |"


def checks(job: Run) -> Iterator[Check]:
    """Judge a run with a rate."""
    said = job.certificate
    late, rate = said["lateness_us"], said["rate"]
    achieved = rate["achieved_bps"] or 0.0
    off = achieved / rate["configured_bps"] - 1.0
    found = f"{achieved / 1e6:.4f} Mb/s ({off:+.3%}) over {rate['busy_s']:.1f} s"
    yield Check(f"{job.name}: rate while busy", found, f"within {RATE_TOLERANCE:.1%}", abs(off) <= RATE_TOLERANCE)
    found = f"{late['p50']:.1f} / {late['p99']:.1f} / {late['p999']:.1f} / {late['max']:.0f} us"
    limit = f"p99 {LATENESS_P99_US:.0f} us, p99.9 {LATENESS_P999_US:.0f} us"
    holds = late["p99"] <= LATENESS_P99_US and late["p999"] <= LATENESS_P999_US
    yield Check(f"{job.name}: lateness p50 / p99 / p99.9 / max ({said['scheduler']})", found, limit, holds)
    counted = {
        key: said[key] for key in ("in", "out", "dropped", "lost", "malformed", "no_buffer", "unwritten", "queued")
    }
    found = ", ".join(f"{key} {value}" for key, value in counted.items())
    tun = sum(said["tun_dropped"].values())
    holds = said["unaccounted"] == 0 and tun == 0
    yield Check(f"{job.name}: packets", f"{found}; TUN drops {tun}", "none unaccounted for, no TUN drops", holds)


def soak_check(job: Run) -> Check:
    """Judge whether memory stays flat."""
    first, last = job.rss_kib[0], max(job.rss_kib[-10:])
    found = f"{first} KiB after a fifth, {last} KiB at the end, {job.snapshots} snapshots"
    return Check(f"{job.name}: memory", found, f"grows by at most {GROWTH_KIB} KiB", last - first <= GROWTH_KIB)


def jobs(seconds: float, soak_minutes: float) -> Iterator[Run]:
    """List the measurements."""
    for mbps in (1, 10, 100):
        overload = ["-u", "-b", f"{1.1 * mbps:.2f}M", "-l", "1000"]
        yield Run(f"{mbps} Mb/s, UDP at 1.1 times", mbps * 1e6, seconds, overload)
        yield Run(f"{mbps} Mb/s, 5 x TCP cubic", mbps * 1e6, seconds, ["-C", "cubic", "-P", "5"])
    yield Run("unshaped, TCP cubic", 1e9, seconds, ["-C", "cubic"], unshaped=True)
    if soak_minutes > 0:
        load = ["-C", "cubic", "-P", "5"]
        yield Run("soak at 100 Mb/s", 100e6, 60 * soak_minutes, load, snapshot_interval_s=0.01)


def report(
    *, seconds: float = 10.0, soak_minutes: float = 10.0, only: str = "", link: str = LINK, keep_awake: bool = True
) -> tuple[str, bool]:
    """Measure everything and write the page: its text, and whether everything on it is shown."""
    lines, holds = [PAGE, "| what | found | limit | holds |", "|---|---|---|---|"], True
    for job in jobs(seconds, soak_minutes):
        if only not in job.name:
            continue
        job.keep_awake = keep_awake
        measure(job, [sys.executable, "-m", "aqmlab.live.link"] if link == "python" else [link])
        for check in judged(job):
            print(check.row(), file=sys.stderr, flush=True)
            lines.append(check.row())
            holds &= check.holds
    return "\n".join(lines), holds


def judged(job: Run) -> Iterator[Check]:
    """Judge a run by all that it is for."""
    if job.unshaped:
        bps = goodput(job)
        limit = f"at least {UNSHAPED_BPS / 1e9:.1f} Gb/s"
        yield Check(f"{job.name}: goodput", f"{bps / 1e9:.2f} Gb/s", limit, bps >= UNSHAPED_BPS)
        return
    yield from checks(job)
    if job.name.startswith("soak"):
        yield soak_check(job)


def main() -> int:
    """Make the chosen measurements."""
    parser = argparse.ArgumentParser(description="Measure the link process of live runs.")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of each run")
    parser.add_argument("--soak-minutes", type=float, default=0.0, help="length of the soak; 0: none")
    parser.add_argument("--link", default=LINK, help="the program; python: the module")
    parser.add_argument("--let-sleep", action="store_true", help="do not keep the processors awake")
    parser.add_argument("--only", default="", help="only runs whose name has this in it")
    asked = parser.parse_args()
    _, holds = report(
        seconds=asked.seconds,
        soak_minutes=asked.soak_minutes,
        only=asked.only,
        link=asked.link,
        keep_awake=not asked.let_sleep,
    )
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
