"""FQ-CoDel: its words, the core's settings, and the traffic."""

from __future__ import annotations

from replayed import ANOTHER, Case, Discipline, Fault, tcp, udp

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
}
FAULTS = {
    "quantum one byte more": Fault("16 flows, quantum 300; TCP and UDP", {"queue.bottleneck.quantum": '"301B"'}),
    "17 flows": Fault("16 flows, quantum 300; TCP and UDP", {"queue.bottleneck.queues": "17"}),
    "drop_batch 9": Fault("limit 200, drop_batch 8; overload", {"queue.bottleneck.drop_batch": "9"}),
    "768 bytes of memory more": Fault("memory_limit 150000; overload", {"queue.bottleneck.memory_limit": '"150768B"'}),
    "interval one tick longer": Fault(
        "default; TCP with and without ECN, UDP", {"queue.bottleneck.interval": '"0.100001s"'}
    ),
    "the dialect of another kernel": Fault("16 flows, quantum 300; TCP and UDP", {"queue.bottleneck.dialect": ANOTHER}),
}
TEXT = ""
FQ_CODEL = Discipline("fq-codel", ("sch_fq_codel",), CASES, FAULTS, TEXT, by_kernel=True)
