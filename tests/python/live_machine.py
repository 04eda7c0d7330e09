"""Helpers of the tests of live runs: whether this machine can do them, a fake link, and checks for leftovers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aqmlab.live.checks import tun_trouble
from aqmlab.live.rootless import is_privileged
from aqmlab.live.state import NAMESPACES, run_directory

FAKE = (sys.executable, str(Path(__file__).with_name("fake_link.py")))

SCENARIO = """\
format = 1
name = "small"

[run]
duration = "2s"
warmup = "500ms"
seeds = 1

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "5ms", queue = "bottleneck" }
left = { rate = "1Gbps", delay = "1ms" }
right = { rate = "1Gbps", delay = "1ms" }

[queue.bottleneck]
aqm = "red"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.002

[[flow]]
name = "tcp"
count = 2
transport = "newreno"
packet_size = "1000B"
start = { uniform = ["0s", "100ms"] }

[probe]
queue_interval = "50ms"
cwnd_interval = "100ms"
flow_interval = "100ms"
"""


def why_not():
    """Why this machine forbids live runs, or an empty text."""
    if not is_privileged():
        return "making network namespaces needs root here"
    return "; ".join(trouble.text for trouble in tun_trouble())


# A live run needs rights and programs that not every machine has; the reason names the missing ones.
POSSIBLE = pytest.mark.skipif(bool(why_not()), reason=f"live runs are not possible here: {why_not()}")


def needs_namespaces(test):
    """Mark a live test; skip it, with the reason, on a machine that forbids namespaces or TUN."""
    return pytest.mark.live(POSSIBLE(test))


def left_behind(pid=None):
    """Namespaces, run folders and processes of runs that this process (or another) made."""
    pid = os.getpid() if pid is None else pid
    names = [entry.name for entry in NAMESPACES.glob(f"aql-{pid}-*")] if NAMESPACES.is_dir() else []
    folders = [entry.name for entry in run_directory().glob(f"{pid}-*")]
    listed = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    processes = [line for line in listed.splitlines() if f"/{pid}-" in line and "/aqmlab/" in line]
    return names + folders + processes
