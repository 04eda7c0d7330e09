"""CoDel: its settings, the traffic, and faults in settings that the start of the log has too."""

from __future__ import annotations

import struct
from collections.abc import Callable

from replayed import ANOTHER, Case, Discipline, Fault, settings_and_traffic, tcp, udp

TICK_S = 1.024e-6
TRAFFIC = {
    "TCP": tcp("one", 3) + tcp("other", 3),
    "TCP with ECN": tcp("one", 3, ecn=True) + tcp("other", 3, ecn=True),
    "UDP, 80 % load": udp("one", 1000, 16),
    "UDP, 110 % load": udp("one", 700, 12) + udp("other", 1000, 10),
    "UDP, 200 % load": udp("one", 700, 20) + udp("other", 1000, 20),
    "TCP and UDP with ECN": udp("one", 500, 6) + tcp("other", 3, ecn=True),
}
SETTINGS = {
    "default": "",
    "target 1 ms, interval 20 ms": 'target = "1ms"\ninterval = "20ms"\n',
    "target 20 ms, interval 200 ms": 'target = "20ms"\ninterval = "200ms"\n',
    "limit 30": 'limit = "30p"\n',
    "target 0.1 ms, interval 1 ms": 'target = "0.1ms"\ninterval = "1ms"\n',
    "CE threshold 2 ms": 'ce_threshold = "2ms"\n',
}
RUNS = (
    ("default", "TCP with ECN", 4),
    ("default", "TCP", 4),
    ("default", "UDP, 200 % load", 4),
    ("target 0.1 ms, interval 1 ms", "TCP with ECN", 4),
    ("default", "TCP and UDP with ECN", 4),
    ("target 1 ms, interval 20 ms", "TCP with ECN", 4),
    ("target 0.1 ms, interval 1 ms", "UDP, 110 % load", 4),
    ("default", "UDP, 110 % load", 4),
    ("limit 30", "TCP", 4),
    ("target 20 ms, interval 200 ms", "TCP", 4),
    ("default", "UDP, 80 % load", 3),
    ("CE threshold 2 ms", "TCP with ECN", 4),
)
"""Settings, traffic and length in s; the queue marks where the traffic has ECN."""
MANY_DROPS = "target 5 us, interval 50 us; many drops per call"
MANY_SMALL, SLOW_LINK = udp("small", 100, 16) + udp("long", 1400, 2), "500kbps"
"""Traffic and link of `MANY_DROPS`: more than 256 packets arrive while a long one leaves."""
CASES = settings_and_traffic(RUNS, SETTINGS, TRAFFIC) | {
    MANY_DROPS: Case(
        queue='target = "5us"\ninterval = "50us"\n',
        flows=MANY_SMALL,
        seconds=2,
        link=SLOW_LINK,
    )
}
STATE, RESET, KIND, LENGTH, WORDS = 39, 35, 56, 64, 24
"""Kinds of a tap's records, place of the kind, length of a record, and place of a state's words (``tap.h``)."""
TARGET, INTERVAL, MAX_PACKET = 0, 1, 3
"""Words of CoDel's settings."""


def settings_of(word: int, added: int) -> Callable[[bytes], bytes]:
    """Return the change of a log that adds to a word of CoDel's settings, which stand before a reset."""

    def change(log: bytes) -> bytes:
        changed = bytearray(log)
        for at in range(0, len(log) - LENGTH, LENGTH):
            if log[at + KIND] == STATE and log[at + LENGTH + KIND] == RESET:
                (value,) = struct.unpack_from("<I", log, at + WORDS + 4 * word)
                struct.pack_into("<I", changed, at + WORDS + 4 * word, value + added)
        return bytes(changed)

    return change


FAULTS = {
    "interval one tick longer": Fault(
        "default; TCP with ECN",
        {"queue.bottleneck.interval": f"{(97_657 + 0.5) * TICK_S:.10f}s"},
        settings_of(INTERVAL, 1),
    ),
    "target 20 ticks longer": Fault(
        "target 0.1 ms, interval 1 ms; UDP, 110 % load",
        {"queue.bottleneck.target": f"{(97 + 20 + 0.5) * TICK_S:.10f}s"},
        settings_of(TARGET, 20),
    ),
    "largest packet one byte less": Fault(
        "target 0.1 ms, interval 1 ms; TCP with ECN",
        {"queue.bottleneck.max_packet": "1513B"},
        settings_of(MAX_PACKET, -1),
    ),
    "the dialect of another kernel": Fault(MANY_DROPS, {"queue.bottleneck.dialect": ANOTHER}),
}
"""Where the fault is a setting, that of the log is changed too: only decisions and states can show the fault."""
TEXT = """The tap also logs CoDel's settings at the start (target and interval in ticks of 1024 ns, limit, largest
packet, ECN, CE threshold) and its state after each call: `first_above_time`, `drop_next`, `count`, `lastcount`,
`rec_inv_sqrt` and `dropping`. All are compared; a difference is shown with the states before and after the call.

Difference between kernels, which the core has as `dialect`: Linux 7.3 drops at most 256 packets in one call of
`codel_dequeue` and then schedules the next drop from now; its drops are at least one tick apart. In the run with many
drops per call Linux 6.1 and 6.12 drop all packets that are due.

Difference by design: Linux has ticks of 32 bits, which wrap after 4398 s, the core of 64 bits. A `first_above_time` of
exactly 0 means "not set" in Linux."""
OTHERS = {"linux-6.1": "linux-7.3", "linux-6.12": "linux-7.3", "linux-7.3": "linux-6.1"}
CODEL = Discipline("codel", ("sch_codel",), CASES, FAULTS, TEXT, by_kernel=True, others=OTHERS)
