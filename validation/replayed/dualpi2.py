"""DualPI2: the traffic, and faults put in on purpose. Debian's tc has no words for its settings: they are defaults."""

from __future__ import annotations

from replayed import ECT0, ECT1, Case, Discipline, Fault, tcp, udp

TRAFFIC = {
    "TCP and UDP of L4S": tcp("plain", 3) + tcp("marked", 3, ecn=True) + udp("low", 500, 4, 1, ECT1),
    "UDP in both queues, 110 % load": udp("low", 500, 6, 1, ECT1)
    + udp("one", 700, 10)
    + udp("marked", 1000, 6, 1, ECT0),
    "UDP of L4S, 120 % load": udp("low", 500, 12, 2, ECT1) + tcp("plain", 2),
}
"""At a link of 20 Mbit/s."""
CASES = {
    name: Case(queue="", flows=flows, seconds=6, link="20Mbps", words="dualpi2") for name, flows in TRAFFIC.items()
}
MIXED = "TCP and UDP of L4S"
FAULTS = {
    "step 10 us longer": Fault(MIXED, {"queue.bottleneck.l4s_min_th": '"1.01ms"'}),
    "step from one packet on": Fault(MIXED, {"queue.bottleneck.l4s_min_packets": "1"}),
    "beta 820/256": Fault(MIXED, {"queue.bottleneck.beta": f"{820 / 256}"}),
    "coupling 3": Fault(MIXED, {"queue.bottleneck.coupling": "3"}),
    "weight of C 11 %": Fault(MIXED, {"queue.bottleneck.classic_share": "0.11"}),
}
TEXT = """Linux has DualPI2 since 6.17; Debian's kernels 7.2 and 7.3 do not build it. Its module is compiled from the
source of each kernel's package, unchanged: the file is the same in both. It has the module's default settings. The
timer of high resolution is a call of the log. UDP flows carry ECT(1) into the low-latency queue.

Peculiarities, which the core follows:

* **Numbers at any probability.** A packet is hit where a random number of 32 bits is at most the probability: at a
  probability of 0 too, once in 2^32 draws.
* **Sums wrap around.** Where the delay rises by 313 ms or more between two steps (by default), the probability grows by
  1 or more, and the sum of 32 bits wraps around, often to a small value.
* **Overload** is where `k p'` is above 1, in both queues: from there on packets of the classic queue are dropped though
  they are ECN-capable, and packets of the low-latency queue too."""
DUALPI2 = Discipline("dualpi2", ("sch_dualpi2",), CASES, FAULTS, TEXT, least_kernel="6.17")
