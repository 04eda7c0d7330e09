"""FQ-PIE: its settings, the traffic, and faults put in on purpose."""

from __future__ import annotations

from replayed import Discipline, Fault, settings_and_traffic, tcp, udp
from replayed.pie import MODULES

TRAFFIC = {
    "TCP": tcp("many", 12) + udp("small", 200, 2),
    "TCP with ECN": tcp("marked", 6, ecn=True) + tcp("plain", 4) + udp("small", 200, 2),
    "UDP, 200 % load": udp("one", 700, 20) + udp("other", 1000, 10, 2),
    "UDP and TCP": udp("one", 500, 12) + udp("many", 300, 0.5, 16) + tcp("plain", 3) + tcp("marked", 3, ecn=True),
}
SETTINGS = {
    "default": "",
    "flows 5000, quantum 300": 'queues = 5000\nquantum = "300B"\n',
    "flows 2, bytemode": "queues = 2\nbyte_mode = true\n",
}
RUNS = (
    ("default", "TCP with ECN", 6),
    ("default", "UDP, 200 % load", 6),
    ("flows 5000, quantum 300", "UDP and TCP", 6),
    ("flows 2, bytemode", "TCP", 6),
)
"""Settings, traffic and length in s; the queue marks where the traffic has ECN."""
CASES = settings_and_traffic(RUNS, SETTINGS, TRAFFIC)
FAULTS = {
    "quantum one byte more": Fault("default; TCP with ECN", {"queue.bottleneck.quantum": '"1515B"'}),
    "target 10 us longer": Fault("default; TCP with ECN", {"queue.bottleneck.target": '"15.01ms"'}),
    "marks up to 5 %": Fault("default; TCP with ECN", {"queue.bottleneck.mark_up_to": "0.05"}),
    "quantum one byte more, 5000 queues": Fault(
        "flows 5000, quantum 300; UDP and TCP", {"queue.bottleneck.quantum": '"301B"'}
    ),
}
TEXT = """FQ-PIE calls the functions of `sch_pie`, whose [peculiarities](#pie) it has. Its timer computes the steps of
2048 queues at a time, one jiffy after another, and begins again `tupdate` after the last; each expiry is a call of the
log. A packet's queue follows from the kernel's hash. The decisions of the kernels do not differ where `quantum` is 256
bytes or more; later versions raise a smaller one to 256.

`memory_limit` has no effect on packets in any kernel: a packet beyond it is counted (`overmemory`) and accepted. The
core has no such parameter for FQ-PIE."""
FQ_PIE = Discipline("fq-pie", MODULES, CASES, FAULTS, TEXT)
