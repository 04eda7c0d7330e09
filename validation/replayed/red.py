"""RED: its settings, the traffic, and faults put in on purpose."""

from __future__ import annotations

from replayed import Case, Discipline, Fault, tcp, udp

BYTES = 'dialect = "linux"\nmode = "bytes"\nmean_packet = "1000B"\n'
USUAL = BYTES + 'min_th = "15000B"\nmax_th = "45000B"\nmax_p = 0.1\nw_q = 0.0078125\nlimit = "150000B"\n'
LOW = BYTES + 'min_th = "3000B"\nmax_th = "9000B"\nmax_p = 0.5\nw_q = 0.25\nlimit = "40000B"\n'
MIXED = tcp("marked", 3, ecn=True) + tcp("plain", 3)
NEAR_CAPACITY = udp("one", 400, 3, 4) + udp("other", 900, 6, 2)
"""UDP that leaves the link idle now and then."""
CASES = {
    "TCP": Case(queue=USUAL, flows=tcp("plain", 6), seconds=6),
    "TCP with ECN": Case(queue=USUAL + "ecn = true\n", flows=tcp("marked", 6, ecn=True), seconds=6),
    "harddrop": Case(queue=USUAL + "ecn = true\nmark_forced = false\n", flows=MIXED + udp("load", 700, 12), seconds=5),
    "nodrop": Case(queue=USUAL + "ecn = true\nnodrop = true\n", flows=MIXED + udp("load", 700, 6), seconds=5),
    "adaptive": Case(
        queue=USUAL + 'ecn = true\nadaptation = "adaptive-red"\n', flows=MIXED + udp("load", 500, 4), seconds=8
    ),
    "full buffer": Case(
        queue=USUAL.replace("150000B", "46000B").replace("0.0078125", "0.0009765625"),
        flows=udp("one", 300, 15) + udp("other", 1100, 15) + tcp("plain", 2),
        seconds=3,
    ),
    "idle times": Case(queue=LOW, flows=NEAR_CAPACITY, seconds=5),
    "idle times, TCP with ECN": Case(queue=LOW + "ecn = true\n", flows=tcp("marked", 1, ecn=True), seconds=6),
}
FAULTS = {
    "min 10 bytes more": Fault("TCP", {"queue.bottleneck.min_th": '"15010B"'}),
    "max_p 0.1001": Fault("TCP with ECN", {"queue.bottleneck.max_p": "0.1001"}),
    "the next weight": Fault("full buffer", {"queue.bottleneck.w_q": "0.00048828125"}),
    "no harddrop": Fault("harddrop", {"queue.bottleneck.mark_forced": "true"}),
    "no nodrop": Fault("nodrop", {"queue.bottleneck.nodrop": "false"}),
    "table of idle times for 60000 B": Fault("idle times, TCP with ECN", {"queue.bottleneck.mean_packet": '"60000B"'}),
    "floating point": Fault("full buffer", {"queue.bottleneck.arithmetic": '"exact"'}),
}
TEXT = """The core has RED's integers in the [dialect](../concepts/dialects.md#linux) `linux`: it derives Wlog, max_P
and the table of idle times as tc does. The three kernels decide alike.

Peculiarities, which the core follows:

* tc makes the table of idle times in ticks of 64 ns, and the kernel reads it in microseconds. tc also shifts by a
  natural logarithm. So an average falls 22.5 times as slowly in an idle time as (1 - W)^(idle/s).
* `probability 1` does not fit into 32 bits: tc sends 0, and the kernel takes 2^-Plog for each byte instead, the power
  of two next below 1 / (max - min).
* A packet that was marked can be dropped by a full buffer. A packet that is dropped early is not counted as one that
  found the buffer full.
* `adaptive` has no effect. Since iproute2 5.6 tc sends its flag in an attribute of its own, but the kernel starts the
  timer of the adaptation only where the flag stands in the old place. The log has no call of the timer. Where the timer
  runs, the core adapts as `red_adaptative_algo`; its first step rounds max_P / (max - min) to the nearest number, while
  the settings round it down."""
RED = Discipline("red", ("sch_red",), CASES, FAULTS, TEXT)
