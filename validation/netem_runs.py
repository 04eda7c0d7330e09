"""Numbered packets through netem of a kernel in the emulated machine, and through the channel of a link.

The channel is the one that `aqmlab import` makes of the same line of tc.
Packets are small and sent at a fixed spacing: in the machine by `netem/numbered.c` over the loopback device, whose root
discipline is netem; in the simulator by a UDP flow over the link that `aqmlab import` makes of the line of tc.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.errors import InputError
from aqmlab.interop.importing.reading import Imported, import_scenario
from aqmlab.live.tc.job import ETHERNET
from aqmlab.live.tc.outcome import unpacked
from aqmlab.live.vm import archive
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.machine import boot
from aqmlab.results.parquet import values
from aqmlab.scenario.file import Scenario

SOURCE = Path(__file__).resolve().parent / "netem" / "numbered.c"
SPACING_S = 1e-3
LENGTH = 100
"""Bytes of a packet with its IP header."""
FAST = "10Gbps"
"""Rate of the simulator's link where netem has none: a packet takes 0.1 us."""
FOLDERS = ("/usr/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/lib")
"""Folders that may have iproute2's folder ``tc`` with the tables of distributions."""
HEAD = """\
export TC_LIB_DIR=/job/tc TC=/usr/sbin/tc
fail() { echo "{\\"kind\\":\\"error\\",\\"what\\":\\"$*\\"}" >&3; exit 1; }
must() { "$@" > /tmp/said 2>&1 || fail "$(echo "$@: $(head -n 1 /tmp/said)" | tr -d '"\\\\')"; }
must $IP link set lo up
"""
CASE = """\
must $TC qdisc add dev lo root {words}
/job/numbered {count} {spacing_us} {length} > /tmp/arrivals 2> /tmp/said || fail "numbered: $(head -n 1 /tmp/said)"
must $TC qdisc del dev lo root
gzip -c /tmp/arrivals | base64 -w 4000 | sed 's/.*/{{"kind":"{key}","data":"&"}}/' >&3
"""
FLOW = {
    "flow.tcp.transport": "udp",
    "flow.tcp.count": "1",
    "flow.tcp.start": "0s",
    "flow.tcp.packet_size": f"{LENGTH + ETHERNET}B",
    "flow.tcp.rate": f"{8 * (LENGTH + ETHERNET) / SPACING_S:.0f}bps",
    "dumbbell.left.rate": FAST,
    "dumbbell.right.rate": FAST,
    "run.warmup": "0s",
    "probe.links": "['bottleneck', 'right.tcp']",
    "probe.packets": "true",
    "probe.delay_histogram": "false",
}
"""The example flow of an imported scenario as numbered packets; tc counts their Ethernet header too."""


@dataclass(frozen=True)
class Arrivals:
    """The arrivals of numbered packets, in their order.

    Attributes
    ----------
    sent
        Number of packets that were sent.
    numbers
        The number of each packet that arrived, from 0; twice if a copy arrived too.
    delays_s
        Its delay in s.
    """

    sent: int
    numbers: np.ndarray[Any, np.dtype[np.int64]]
    delays_s: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def digest(self) -> str:
        """SHA-256 of the arrivals."""
        return hashlib.sha256(self.numbers.tobytes() + self.delays_s.tobytes()).hexdigest()


def compiled() -> bytes:
    """Compile the program that sends and receives, for a guest without libraries."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "numbered"
        command = [
            "gcc",
            "-std=gnu11",
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-static",
            str(SOURCE),
            "-o",
            str(program),
        ]
        subprocess.run(command, check=True)
        return program.read_bytes()


def distributions() -> dict[str, archive.Entry]:
    """Return iproute2's tables of distributions as files of the guest."""
    for folder in FOLDERS:
        found = sorted((Path(folder) / "tc").glob("*.dist"))
        if found:
            return {f"job/tc/{path.name}": archive.file(path.read_bytes()) for path in found}
    raise InputError(f"no tables of distributions in {', '.join(f'{folder}/tc' for folder in FOLDERS)} (iproute2)")


def kernel_arrivals(words: Sequence[str], image: Image, *, count: int, seed: int = 1) -> list[Arrivals]:
    """Send packets through netem in the emulated machine.

    Parameters
    ----------
    words
        Words of tc for each discipline, e.g. ``netem loss 5%``. One guest runs all of them, one after the other.
    image
        The kernel and its file system.
    count
        Number of packets for each.
    seed
        Decides the kernel's random numbers.
    """
    spacing_us = round(SPACING_S * 1e6)
    cases = [
        CASE.format(words=own, count=count, spacing_us=spacing_us, length=LENGTH, key=f"arrivals-{at}")
        for at, own in enumerate(words)
    ]
    files = {"job/numbered": archive.file(compiled(), executable=True), **distributions()}
    told = boot(image, HEAD + "".join(cases), seed=seed, files=files)
    records: list[Mapping[str, str]] = [json.loads(line) for line in told.lines]
    found = []
    for at in range(len(words)):
        text = unpacked(record["data"] for record in records if record["kind"] == f"arrivals-{at}")
        values = np.array(text.split(), dtype=np.int64).reshape(-1, 2)
        found.append(Arrivals(count, values[:, 0].copy(), (values[:, 1] * 1e-9).astype(np.float64)))
    return found


def imported(words: str) -> Imported:
    """Return what `aqmlab import` makes of a discipline in words of tc."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "netem.sh"
        path.write_text(f"tc qdisc add dev eth0 root {words}\n", encoding="utf-8")
        return import_scenario(path)


def channel_scenario(words: str, *, count: int, overrides: Mapping[str, str] = {}) -> Scenario:
    """Return the imported scenario of a discipline in words of tc, with numbered packets as its flow."""
    length_s = count * SPACING_S
    own = {**FLOW, "flow.tcp.stop": f"{length_s - SPACING_S / 2:.6f}s", "run.duration": f"{length_s + 2:.3f}s"}
    if " rate " not in words:
        own["dumbbell.bottleneck.rate"] = FAST
    return Scenario.from_text(imported(words).text, filename="netem.toml", overrides={**own, **overrides})


def channel_arrivals(scenario: Scenario, seed: int) -> Arrivals:
    """Simulate a scenario of `channel_scenario`; delays are from one queue to the next, with the transmission."""
    table = scenario.core.run(seed)["tables"]["packets"]
    at_first = values(table["link"]) == "bottleneck"
    offered_s, numbers = (values(table[name]) for name in ("offered_s", "seq"))
    sent_s = np.zeros(int(at_first.sum()))
    sent_s[numbers[at_first]] = offered_s[at_first]
    arrived = numbers[~at_first]
    return Arrivals(len(sent_s), arrived, offered_s[~at_first] - sent_s[arrived])
