"""CAKE: its words, the core's settings, and the traffic."""

from __future__ import annotations

from replayed import ANOTHER, Case, Discipline, Fault, tcp, udp

HEADER = "overhead = 14\n"
"""Linux counts Ethernet's header where ``overhead`` is not given."""
ACKS = tcp("plain", 2) + tcp("marked", 4, ecn=True)
TRANSLATED = tcp("one") + tcp("many", 8) + udp("small", 300, 4)
CASES = {
    "besteffort": Case(
        words="cake bandwidth 15mbit besteffort",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"',
        flows=tcp("marked", 2, ecn=True) + tcp("plain", 2) + udp("small", 200, 5),
    ),
    "diffserv3": Case(
        words="cake bandwidth 15mbit diffserv3",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "diffserv3"',
        flows=tcp("best", 2, ecn=True) + tcp("bulk", 1, "CS1") + udp("voice", 200, 5, 1, "EF")
        + udp("le", 1000, 5, 1, 1),
    ),
    "diffserv4": Case(
        words="cake bandwidth 15mbit diffserv4",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "diffserv4"',
        flows=tcp("best", 2) + tcp("bulk", 1, "CS1") + udp("voice", 200, 6, 1, "EF")
        + tcp("video", 1, "AF41", ecn=True),
    ),
    "diffserv8": Case(
        words="cake unlimited diffserv8",
        queue=HEADER + 'diffserv = "diffserv8"',
        flows=tcp("best", 2) + tcp("le", 1, 1) + udp("ef", 200, 6, 1, "EF") + tcp("af21", 1, "AF21", ecn=True)
        + udp("cs6", 500, 4, 1, "CS6") + udp("cs2", 300, 3, 1, "CS2"),
    ),
    "precedence": Case(
        words="cake bandwidth 15mbit precedence",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "precedence"',
        flows=tcp("best", 2) + tcp("cs1", 1, "CS1") + udp("cs5", 200, 6, 1, "CS5") + tcp("cs3", 1, "CS3", ecn=True)
        + udp("cs7", 400, 2, 1, "CS7"),
    ),
    "hosts with 1 and 32 flows": Case(
        words="cake bandwidth 15mbit besteffort triple-isolate",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "triple-isolate"',
        flows=tcp("one") + tcp("many", 32) + udp("small", 200, 5),
    ),
    "sources with 1 and 16 flows": Case(
        words="cake bandwidth 15mbit besteffort dual-srchost",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "dual-srchost"',
        flows=udp("one", 300, 10) + udp("many", 400, 1, 16),
    ),
    "nat": Case(
        words="cake bandwidth 15mbit besteffort nat dual-dsthost",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "dual-dsthost"\nnat = true',
        flows=tcp("one") + tcp("many", 8) + udp("small", 300, 4),
    ),
    "nat, translated addresses": Case(
        words="cake bandwidth 15mbit besteffort nat dual-srchost",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "dual-srchost"\nnat = true',
        flows=TRANSLATED, translates=True,
    ),
    "nonat, translated addresses": Case(
        words="cake bandwidth 15mbit besteffort nonat dual-srchost",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"\nisolation = "dual-srchost"',
        flows=TRANSLATED, translates=True,
    ),
    "ack-filter": Case(
        words="cake bandwidth 5mbit besteffort ack-filter",
        queue=HEADER + 'rate = "5Mbps"\ndiffserv = "besteffort"\nack_filter = "on"',
        flows=ACKS, link="50Mbps", filters=True,
    ),
    "ack-filter-aggressive": Case(
        words="cake bandwidth 5mbit besteffort ack-filter-aggressive",
        queue=HEADER + 'rate = "5Mbps"\ndiffserv = "besteffort"\nack_filter = "aggressive"',
        flows=ACKS, link="50Mbps", filters=True,
    ),
    "atm, overhead 44": Case(
        words="cake bandwidth 12mbit besteffort overhead 44 atm",
        queue='rate = "12Mbps"\ndiffserv = "besteffort"\noverhead = 44\nlinklayer = "atm"',
        flows=tcp("marked", 2, ecn=True) + tcp("plain", 2) + udp("small", 200, 3),
    ),
    "split-gso": Case(
        words="cake bandwidth 15mbit besteffort split-gso",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "besteffort"',
        flows=tcp("plain", 2) + tcp("marked", 2, ecn=True) + udp("small", 200, 3), joins=True,
    ),
    "memlimit 64 KiB": Case(
        words="cake bandwidth 12mbit besteffort memlimit 64kb",
        queue=HEADER + 'rate = "12Mbps"\ndiffserv = "besteffort"\nmemlimit = "65536B"',
        flows=udp("small", 300, 10, 2) + tcp("plain", 4) + udp("long", 1000, 4),
    ),
    "ingress": Case(
        words="cake bandwidth 12mbit besteffort ingress flows",
        queue=HEADER + 'rate = "12Mbps"\ndiffserv = "besteffort"\ningress = true\nisolation = "flows"',
        flows=udp("small", 300, 8, 2) + tcp("plain", 4) + tcp("marked", 2, ecn=True),
    ),
    "unlimited": Case(
        words="cake unlimited besteffort",
        queue=HEADER + 'diffserv = "besteffort"',
        flows=udp("small", 300, 8) + tcp("plain", 4) + tcp("marked", 2, ecn=True),
    ),
    "autorate-ingress": Case(
        words="cake bandwidth 8mbit besteffort autorate-ingress",
        queue=HEADER + 'rate = "8Mbps"\ndiffserv = "besteffort"\nautorate_ingress = true',
        flows=udp("small", 300, 5) + tcp("plain", 4),
    ),
    "wash, hosts": Case(
        words="cake bandwidth 15mbit diffserv4 wash hosts",
        queue=HEADER + 'rate = "15Mbps"\ndiffserv = "diffserv4"\nwash = true\nisolation = "hosts"',
        flows=tcp("best", 2) + tcp("bulk", 1, "CS1") + udp("voice", 200, 6, 1, "EF")
        + tcp("video", 1, "AF41", ecn=True),
    ),
}  # fmt: skip
FAULTS = {
    "a byte more of overhead": Fault("besteffort", {"queue.bottleneck.overhead": "15"}),
    "rtt 101 ms": Fault("besteffort", {"queue.bottleneck.rtt": '"101ms"'}),
    "equal shares of flows": Fault("hosts with 1 and 32 flows", {"queue.bottleneck.isolation": '"flows"'}),
    "equal shares of flows behind the router": Fault(
        "nat, translated addresses", {"queue.bottleneck.isolation": '"flows"'}
    ),
    "diffserv3 for diffserv4": Fault("diffserv4", {"queue.bottleneck.diffserv": '"diffserv3"'}),
    "without the ACK filter": Fault("ack-filter", {"queue.bottleneck.ack_filter": '"off"'}),
    "64 bytes of memory less": Fault("memlimit 64 KiB", {"queue.bottleneck.memlimit": '"65472B"'}),
    "ingress as egress": Fault("ingress", {"queue.bottleneck.ingress": "false"}),
    "the dialect of another kernel": Fault("besteffort", {"queue.bottleneck.dialect": ANOTHER}),
}
TEXT = """Differences between kernels, which the core has as [`dialect`](../cake.md):

* **Roots.** The table of `1/sqrt(count)` in Linux 6.1 differs from the table of later kernels at counts 2, 3 and 6.
* **BLUE.** In Linux 7.3 BLUE draws no number for a packet that the control law drops.
* **autorate-ingress.** In Linux 6.1 and 6.12 every window of arrivals changes the rate, because these kernels do not
  record the time of a change; Linux 7.3 waits 250 ms.

Peculiarities of all kernels, which the core follows:

* `1/sqrt(count)` is 0 before a queue's first signal, so its first interval is empty.
* The interval has 32 bits in the control law: of a longer one only the remainder modulo 4.29 s counts
  (`rtt interplanetary`, tins of a few kbit/s).
* The heap of the longest queues moves a queue down by one level at a time. After several drops the queue on top need
  not be the longest.

The kernel's hashes are taken from the log. Firewall marks and filters of tc are not replayed. With `nat` cake looks in
the table of connections, which is empty in the run `nat`. In the runs with translated addresses tc (`act_ct`) gives TCP
the router's address before the queue: with `nat` the log has two hashes of TCP senders, with `nonat` one, that of the
router. The ACK filter stands on the way back of a link of 100 Mbit/s, with a shaper of 5 Mbit/s. A setting without an
effect on the traffic is not found as a fault: where each source has one destination, `dual-srchost` decides as
`triple-isolate`."""
CAKE = Discipline("cake", ("sch_cake",), CASES, FAULTS, TEXT, by_kernel=True)
