"""FQ-CoDel: its words, the core's settings, and the traffic."""

from __future__ import annotations

from replayed import ANOTHER, Case, Discipline, Fault, tcp, udp
from replayed.codel import MANY_DROPS, MANY_SMALL, SLOW_LINK

LINK = "20Mbps"
MANY = tcp("plain", 6) + tcp("marked", 6, ecn=True) + udp("small", 200, 6) + udp("sparse", 300, 0.3, 4)
OVERLOAD = udp("small", 200, 14) + udp("long", 1200, 12) + tcp("plain", 4) + udp("sparse", 300, 0.3, 4)
CASES = {
    "default; TCP with and without ECN, UDP": Case(words="fq_codel", queue="", flows=MANY, seconds=5, link=LINK),
    "noecn; TCP with ECN, UDP": Case(
        words="fq_codel noecn",
        queue="ecn = false",
        flows=tcp("marked", 6, ecn=True) + tcp("plain", 2) + udp("small", 150, 8),
        seconds=5,
        link=LINK,
    ),
    "16 flows, quantum 300; TCP and UDP": Case(
        words="fq_codel flows 16 quantum 300",
        queue='queues = 16\nquantum = "300B"',
        flows=MANY,
        seconds=5,
        link=LINK,
    ),
    "limit 200, drop_batch 8; overload": Case(
        words="fq_codel limit 200 drop_batch 8",
        queue='limit = "200p"\ndrop_batch = 8',
        flows=OVERLOAD,
        seconds=4,
        link=LINK,
    ),
    "memory_limit 150000; overload": Case(
        words="fq_codel memory_limit 150000",
        queue='memory_limit = "150000B"',
        flows=OVERLOAD,
        seconds=4,
        link=LINK,
    ),
    "target 1 ms, interval 20 ms, CE threshold 2 ms; TCP with and without ECN": Case(
        words="fq_codel target 1ms interval 20ms ce_threshold 2ms",
        queue='target = "1ms"\ninterval = "20ms"\nce_threshold = "2ms"',
        flows=MANY,
        seconds=5,
        link=LINK,
    ),
    "target 0.1 ms, interval 5 ms, noecn; sparse flows": Case(
        words="fq_codel target 100us interval 5ms noecn",
        queue='target = "100us"\ninterval = "5ms"\necn = false',
        flows=tcp("plain", 4) + udp("small", 200, 10) + udp("sparse", 300, 0.1, 16),
        seconds=4,
        link=LINK,
    ),
    MANY_DROPS: Case(
        words="fq_codel target 5us interval 50us noecn",
        queue='target = "5us"\ninterval = "50us"\necn = false',
        flows=MANY_SMALL,
        seconds=2,
        link=SLOW_LINK,
    ),
}
FAULTS = {
    "quantum one byte more": Fault("16 flows, quantum 300; TCP and UDP", {"queue.bottleneck.quantum": '"301B"'}),
    "17 flows": Fault("16 flows, quantum 300; TCP and UDP", {"queue.bottleneck.queues": "17"}),
    "drop_batch 9": Fault("limit 200, drop_batch 8; overload", {"queue.bottleneck.drop_batch": "9"}),
    "768 bytes of memory more": Fault("memory_limit 150000; overload", {"queue.bottleneck.memory_limit": '"150768B"'}),
    "interval one tick longer": Fault(
        "default; TCP with and without ECN, UDP", {"queue.bottleneck.interval": '"0.100001s"'}
    ),
    "the dialect of another kernel": Fault(
        "target 0.1 ms, interval 5 ms, noecn; sparse flows", {"queue.bottleneck.dialect": ANOTHER}
    ),
}
TEXT = """The discipline is part of Debian's kernels. The module is compiled from the unchanged file
`net/sched/sch_fq_codel.c` of the same version's source package, and takes the name of the built-in discipline while it
is loaded. The kernel's hash and its memory of each packet (`truesize`) are in the log: they choose the queue and fill
`memory_limit`. CoDel reads the clock once for each queue that it serves in a call; all readings are in the log.

The return code of an arrival is compared too: `NET_XMIT_CN` means that a full buffer dropped packets of the arrival's
own queue.

Differences between kernels, which the core has as `dialect`:

* **Empty queues.** When CoDel finds a queue empty, Linux 6.12.95 keeps the end of the interval above the target. The
  next packet of the queue may then be dropped at once. Linux 6.1.192, 6.12.117 and 7.3 clear it. In `sch_codel` this
  has no effect, because the last packet that leaves clears it.
* **Drops per call.** Linux 7.3 drops at most 256 packets in one call of CoDel, at least one tick apart.

Differences by design: ticks of 64 bits, as in CoDel; packets have the queue of their hash, without filters of tc."""
OTHERS = {"linux-6.1": "linux-6.12", "linux-6.12": "linux-6.1", "linux-7.3": "linux-6.12"}
FQ_CODEL = Discipline("fq-codel", ("sch_fq_codel",), CASES, FAULTS, TEXT, by_kernel=True, others=OTHERS)
