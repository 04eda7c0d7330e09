"""DualPI2: settings, traffic, and faults put in on purpose. A program sends the settings, since Debian's tc cannot."""

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
SETTINGS = """dialect = "linux"
limit = "150p"
target = "5ms"
t_update = "10ms"
alpha = 0.5
beta = 5.0
l4s_min_th = "0.5ms"
l4s_min_packets = 2
coupling = 3
classic_share = 0.25
"""
CASES |= {
    "other settings": Case(queue=SETTINGS, flows=TRAFFIC["TCP and UDP of L4S"], seconds=3, link="20Mbps"),
    "overflow, decided at the arrival": Case(
        queue='dialect = "linux"\nlimit = "100p"\noverload = "overflow"\ndecide = "arriving"\n',
        flows=TRAFFIC["UDP of L4S, 120 % load"],
        seconds=3,
        link="20Mbps",
    ),
}
MIXED = "TCP and UDP of L4S"
FAULTS = {
    "step 10 us longer": Fault(MIXED, {"queue.bottleneck.l4s_min_th": '"1.01ms"'}),
    "step from one packet on": Fault(MIXED, {"queue.bottleneck.l4s_min_packets": "1"}),
    "beta 820/256": Fault(MIXED, {"queue.bottleneck.beta": f"{820 / 256}"}),
    "coupling 3": Fault(MIXED, {"queue.bottleneck.coupling": "3"}),
    "alpha 129/256": Fault("other settings", {"queue.bottleneck.alpha": f"{129 / 256}"}),
    "target 5.1 ms": Fault("other settings", {"queue.bottleneck.target": '"5.1ms"'}),
    "drop in overload": Fault("overflow, decided at the arrival", {"queue.bottleneck.overload": '"drop"'}),
    "weight of C 11 %": Fault(MIXED, {"queue.bottleneck.classic_share": "0.11"}),
}
TEXT = """Linux has DualPI2 since 6.17; Debian's kernels 7.2 and 7.3 do not build it. Its module is compiled from the
source of each kernel's package, unchanged: the file is the same in both. The timer of high resolution is a call of the
log. UDP flows carry ECT(1) into the low-latency queue. Debian's tc has no words for DualPI2's settings: a small program
sends them as attributes of netlink (`qdisc_options.c`).

Peculiarities, which the core follows:

* **Numbers at any probability.** A packet is hit where a random number of 32 bits is at most the probability: at a
  probability of 0 too, once in 2^32 draws.
* **Sums wrap around.** Where the delay rises by 313 ms or more between two steps (by default), the probability grows by
  1 or more, and the sum of 32 bits wraps around, often to a small value.
* **A drop at the arrival** by chance (`drop_enqueue`) returns success to the sender of the packet.
* **Overload** is where `k p'` is above 1, in both queues: from there on packets of the classic queue are dropped though
  they are ECN-capable, and packets of the low-latency queue too."""
DUALPI2 = Discipline("dualpi2", ("sch_dualpi2",), CASES, FAULTS, TEXT, least_kernel="6.17")
