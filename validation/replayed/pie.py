"""PIE: its settings, the traffic, and faults put in on purpose."""

from __future__ import annotations

from replayed import Discipline, Fault, settings_and_traffic, tcp, udp

TRAFFIC = {
    "TCP": tcp("one", 3) + tcp("other", 3),
    "TCP with ECN": tcp("one", 3, ecn=True) + tcp("other", 3, ecn=True),
    "UDP, 110 % load": udp("one", 700, 12) + udp("other", 1000, 10),
    "UDP, 200 % load": udp("one", 700, 20) + udp("other", 1000, 20),
    "TCP and small UDP": udp("one", 200, 6) + tcp("other", 6),
}
SETTINGS = {
    "default": "",
    "bytemode": "byte_mode = true\n",
    "dq_rate_estimator": 'delay = "departure-rate"\n',
}
RUNS = (
    ("default", "TCP", 6),
    ("default", "TCP with ECN", 6),
    ("default", "UDP, 110 % load", 6),
    ("default", "UDP, 200 % load", 6),
    ("bytemode", "TCP and small UDP", 6),
    ("dq_rate_estimator", "TCP with ECN", 6),
)
"""Settings, traffic and length in s; the queue marks where the traffic has ECN."""
CASES = settings_and_traffic(RUNS, SETTINGS, TRAFFIC)
FAULTS = {
    "target 10 us longer": Fault("default; TCP with ECN", {"queue.bottleneck.target": '"15.01ms"'}),
    "beta a sixteenth larger": Fault("default; TCP", {"queue.bottleneck.beta": "1.3125"}),
    "burst allowance 140 ms": Fault("default; UDP, 200 % load", {"queue.bottleneck.max_burst": '"140ms"'}),
    "marks up to 1 %": Fault("default; TCP with ECN", {"queue.bottleneck.mark_up_to": "0.01"}),
    "largest packet 1400 bytes": Fault("default; UDP, 110 % load", {"queue.bottleneck.mean_packet": '"1400B"'}),
    "delay by timestamps": Fault("dq_rate_estimator; TCP with ECN", {"queue.bottleneck.delay": '"timestamp"'}),
}
TEXT = """The timer of the controller (`tupdate`) is a call of the log: the core computes a step when the kernel did,
not on a grid. In a simulation with `dialect = "linux"` the timer runs by itself, first after 500 ms, then every
`t_update` in whole jiffies of 4 ms. The sources of Linux 6.1, 6.12 and 7.3 do not differ in decisions.

Peculiarities of all kernels, which the core follows:

* **Probabilities above 1.** A probability has 64 bits, and 1 is 2^56 - 1. A step stops it at 2^64, not at 1: while an
  overload lasts it rises by 0.02 or 0.04 in each step, and has to come down again afterwards.
* **Marks by the sum.** Where the sum of probabilities since the last drop reaches 8.5, a packet is hit without a random
  number. A mark leaves the sum, so that every ECN-capable packet after it is marked, until a packet is dropped or the
  queue gets its burst allowance back.
* **The delay of the present step** spares packets below half of the target, where RFC 8033 has that of the step before.
* **The first measurement** of `dq_rate_estimator` reads the clock again after the time of the departure. A packet that
  begins and ends a measurement (16,384 bytes or more, which only segments joined by the sender have) would have taken a
  negative time.

A host's random number has 53 of the 56 bits that the kernel compares; both are on the same side of a probability but
once in 2^53 draws."""
MODULES = ("sch_pie", "sch_fq_pie")
"""The second imports functions of the first, so that both are loaded."""
PIE = Discipline("pie", MODULES, CASES, FAULTS, TEXT)
