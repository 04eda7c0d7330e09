"""Commands of tc that a kernel accepts, and some that it rejects.

Source: the kernel's own tests, linux/tools/testing/selftests/tc-testing/tc-tests/qdiscs/*.json (red, choke, codel,
fq_codel, pie, fq_pie, sfb, sfq, dualpi2, cake, ets, prio, pfifo_fast, fifo, tbf, htb, netem, drr, gred): what follows
``tc qdisc add dev DEV handle 1: root``.
"""

from __future__ import annotations

RED = "limit 1M avpkt 1500 min 100K max 300K"
CHOKE = "limit 1000 bandwidth 10000"

ASSUMED = (
    *("is not given", "is given", "has no limit", "has no queue", "has no class", "is a limit of"),
    "no code point reaches band",
)
"""Parts of notes on assumptions and defaults; they name no word of the line."""

WHOLE = [
    f"red {RED}",
    f"red adaptive {RED}",
    f"red ecn {RED}",
    f"red ecn adaptive {RED}",
    f"red ecn harddrop {RED}",
    f"red ecn nodrop {RED}",
    f"red ecn harddrop nodrop {RED}",
    f"choke {CHOKE}",
    f"choke {CHOKE} min 100",
    f"choke {CHOKE} max 900",
    f"choke {CHOKE} ecn",
    f"choke {CHOKE} burst 100",
    "codel",
    "codel limit 1500",
    "codel interval 20ms",
    "codel ecn",
    "codel limit 5000",
    "codel ce_threshold 20ms",
    "fq_codel",
    "fq_codel limit 1000",
    "fq_codel target 2000",
    "fq_codel quantum 9000",
    "fq_codel noecn",
    "fq_codel drop_batch 100",
    "fq_codel memory_limit 100000",
    "fq_codel ce_threshold 1024000",
    "fq_codel ce_threshold 1ms ce_threshold_selector 0x1/0x3",
    "fq_codel ce_threshold 1ms ce_threshold_selector 0/0",
    "fq_codel limit 1000 flows 256 drop_batch 100",
    "pie limit 10",
    "pie limit 1",
    "fq_pie flows 65536",
    "sfb",
    "sfb rehash 60",
    "sfb db 10",
    "sfb max 100",
    "sfb limit 100",
    "sfb target 100",
    "sfb increment 0.1",
    "sfb decrement 0.1",
    "sfb penalty_rate 4000",
    "sfb penalty_burst 64",
    "sfq",
    "sfq limit 8",
    "sfq perturb 10",
    "sfq quantum 9000",
    "sfq divisor 512",
    "sfq headdrop",
    "cake",
    "cake bandwidth 1000",
    "cake autorate-ingress",
    "cake rtt 200",
    "cake besteffort",
    "cake diffserv8",
    "cake diffserv4",
    "cake flowblind",
    "cake dsthost nat",
    "cake hosts wash",
    "cake dual-srchost ack-filter",
    "cake dual-dsthost ack-filter-aggressive",
    "cake memlimit 10000 ptm",
    "cake overhead 128 mpu 256",
    "cake conservative ingress",
    "dualpi2",
    "dualpi2 memlimit 20000000",
    "dualpi2 typical_rtt 20ms max_rtt 200ms",
    "dualpi2 max_rtt 300ms",
    "dualpi2 min_qlen_step 1",
    "dualpi2 coupling_factor 1",
    "dualpi2 overflow",
    "dualpi2 drop_enqueue",
    "pfifo",
    "bfifo",
    "bfifo limit 3000b",
    "pfifo limit 3000",
    "pfifo limit 30",
    "netem delay 100ms",
    "netem rate 20000",
    "netem limit 200",
    "netem",
    "netem delay 100ms 10ms distribution normal duplicate 1%",
    "netem delay 100ms 10ms distribution pareto loss 1%",
    "netem loss gemodel 1%",
    "netem delay 100ms 10ms reorder 2% gap 100",
    "tbf limit 1000 burst 1500 rate 10000",
    "tbf limit 1000 burst 1500 rate 20000 linklayer ethernet",
    "tbf burst 1500 rate 20000 latency 100ms",
    "htb",
    "htb default 10",
    "htb r2q 5",
    "htb direct_qlen 1024",
]
"""Lines whose every word the program has."""

TOO_STRICT = ["codel target 100ms", "fq_codel interval 5000"]
"""Lines that Linux accepts and CoDel here rejects: the target is not less than the interval."""

NAMED = {
    "fq_codel ce_threshold 1ms ce_threshold_selector 0x8/0xfc": (
        "fq_codel ce_threshold_selector 0x8/0xfc (allowed: 0x1/0x3; all ECN-capable packets are assumed)"
    ),
    "sfq flows 20": "sfq flows 20",
    "sfq depth 64": "sfq depth 64",
    "sfq redflowlimit 100000 min 8000 max 60000 probability 0.20 ecn headdrop": (
        "sfq redflowlimit 100000, min 8000, max 60000, probability 0.20, ecn"
    ),
    "cake flowblind no-split-gso": "cake no-split-gso (packets are never joined here)",
    "cake fwmark 8 atm": "cake fwmark 8 (marks of a firewall do not select tins here)",
    "dualpi2 any_ect": "dualpi2 any_ect",
    "dualpi2 no_split_gso": "dualpi2 no_split_gso",
    "dualpi2 step_thresh 3p": "dualpi2 step_thresh 3p (the threshold is a time; 1 ms is assumed)",
    "dualpi2 classic_protection 0": "dualpi2 classic_protection 0 (allowed: 1 to 99; 10 is assumed)",
    "tbf limit 1000 burst 1500 rate 20000 mtu 2048": "tbf mtu 2048",
    "tbf limit 1000 burst 1500 rate 20000 mtu 1510 peakrate 30000": "tbf mtu 1510, peakrate 30000",
    "tbf limit 1000 burst 1500 rate 20000 overhead 300": "tbf overhead 300",
    "tbf limit 1000 burst 1500 rate 20000 linklayer atm": "tbf linklayer atm",
    "netem delay 100ms 10ms distribution normal corrupt 1%": "netem corrupt 1%",
    "netem delay 100ms 10ms distribution paretonormal loss state 1": "netem loss state 1",
    "netem slot 10 200 packets 2000 bytes 9000": "netem slot 10 200 packets 2000 bytes 9000",
    "netem slot distribution pareto 1ms 0.1ms": "netem slot distribution pareto 1ms 0.1ms",
}
"""Lines with words that the program lacks, and the note that names them."""

CLASSES = {
    "rate 20kbit burst 1000": "",
    "rate 20Kbit mpu 64": "htb mpu 64",
    "rate 20Kbit prio 1": "",
    "rate 30Kbit ceil 20Kbit": "",
    "rate 20Kbit cburst 2000": "htb cburst 2000",
    "rate 20Kbit mtu 2048": "",
    "rate 20Kbit quantum 2048": "",
}
"""Text after ``tc class add dev DEV parent 1: classid 1:1 htb`` below ``htb``, and the note that names words."""

ABSENT = {
    "drr": "drr",
    "gred setup vqs 10 default 1": "gred",
    "gred setup vqs 10 default 1 grio": "gred",
    "gred setup vqs 10 default 1 limit 1000": "gred",
    "gred setup vqs 10 default 2 ecn": "gred",
    "gred setup vqs 10 default 2 harddrop": "gred",
}
"""Lines of disciplines that are not read: their classes have no queue until further lines give them one."""

SCHEDULERS = [
    "pfifo_fast",
    "ets bands 2",
    "ets quanta 1000 900 800 700",
    "ets strict 3",
    "ets bands 4 quanta 1000 900 800 700",
    "ets bands 3 strict 3",
    "ets strict 3 quanta 1500 750",
    "ets strict 0 quanta 1500 750",
    "ets bands 5 strict 3 quanta 1500 750",
    "ets bands 2 quanta 1000",
    "ets bands 3 strict 1",
    "ets bands 3 strict 1 quanta 1000",
    "ets bands 16",
    "ets quanta 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "ets strict 8 quanta 1 2 3 4 5 6 7 8",
    "ets bands 5 priomap 0 0 1 0 1 2 0 1 2 3 0 1 2 3 4 0",
    "ets quanta 1000 2000 3000 4000 5000 priomap 0 0 1 0 1 2 0 1 2 3 0 1 2 3 4 0",
    "ets strict 5 priomap 0 0 1 0 1 2 0 1 2 3 0 1 2 3 4 0",
    "ets strict 2 quanta 1000 2000 3000 priomap 0 0 1 0 1 2 0 1 2 3 0 1 2 3 4 0",
    "ets quanta 4000 3000 2000",
    "ets bands 4 strict 1 quanta 1000 500 priomap 0 1 2 3",
    "ets bands 4 priomap 0 0 0 0",
    "ets bands 4",
    "ets quanta 4294967294 1 1",
    "prio",
    "prio bands 4 priomap 1 1 2 2 3 3 0 0 1 2 3 0 0 0 0 0",
    "prio bands 8 priomap 1 1 2 2 3 3 4 4 5 5 6 6 7 7 0 0",
]
"""Lines of disciplines with bands."""

PRINTED = {
    "choke limit 1000 bandwidth 10000": "choke 1: root refcnt 2 limit 1000p min 83p max 250p ewma 6 probability 0.02 "
    "Scell_log 30",
    "codel": "codel 1: root refcnt 2 limit 1000p target 5ms interval 100ms",
    "codel ecn": "codel 1: root refcnt 2 limit 1000p target 5ms interval 100ms ecn",
    "fq_codel target 2000": (
        "fq_codel 1: root refcnt 2 limit 10240p flows 1024 quantum 1514 target 2ms interval 100ms memory_limit 32Mb "
        "ecn drop_batch 64"
    ),
    "fq_codel noecn": (
        "fq_codel 1: root refcnt 2 limit 10240p flows 1024 quantum 1514 target 5ms interval 100ms memory_limit 32Mb "
        "noecn drop_batch 64"
    ),
    "pie limit 1": "pie 1: root refcnt 2 limit 1p target 15ms tupdate 15ms alpha 2 beta 20 ",
    "sfb rehash 60": "sfb 1: root refcnt 2 rehash 60ms db 60s limit 1000p max 25p target 20p increment 0.00050 "
    "decrement 0.00005 penalty_rate 10pps penalty_burst 20p",
    "sfq perturb 10": "sfq 1: root refcnt 2 limit 127p quantum 1514b depth 127 divisor 1024 perturb 10sec ",
    "sfq quantum 9000": "sfq 1: root refcnt 2 limit 127p quantum 9000b depth 127 divisor 1024",
    "sfq headdrop": "sfq 1: root refcnt 2 limit 127p quantum 1514b depth 127 headdrop divisor 1024",
    "pfifo limit 3000": "pfifo 1: root refcnt 2 limit 3000p",
    "bfifo limit 3000b": "bfifo 1: root refcnt 2 limit 3000b",
    "prio": "prio 1: root refcnt 2 bands 3 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1",
    "ets strict 3 quanta 1500 750": (
        "ets 1: root refcnt 2 bands 5 strict 3 quanta 1500 750 priomap 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 4 "
    ),
    "tbf limit 1000 burst 1500 rate 10000": "tbf 1: root refcnt 2 rate 10Kbit burst 1500b limit 1000b ",
}
"""Lines, and what ``tc qdisc show`` prints of them (``-d`` for choke)."""

REJECTED = [
    f"red nodrop {RED}",
    "ets bands 17",
    "ets strict 17",
    "ets quanta 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
    "ets strict 9 quanta 1 2 3 4 5 6 7 8",
    "ets bands 2 quanta 1000 2000 3000",
    "ets bands 2 strict 3",
    "ets bands 4 strict 2 quanta 1000 2000 3000",
    "ets bands 5 priomap 0 0 1 0 1 2 0 1 2 3 0 1 2 3 4 0 1 2",
    "ets bands 2 priomap 0 1 2",
    "ets quanta 1000 500 priomap 0 1 2",
    "ets strict 2 priomap 0 1 2",
    "ets strict 1 quanta 1000 500 priomap 0 1 2 3",
    "ets bands 0",
    "ets",
    "ets quanta 1000 0 800 700",
    "ets quanta 0",
    "ets quanta",
    "prio foorbar",
    "prio bands 4 priomap 1 1 2 2 3 3 0 0 1 2 3 0 0 0 0 0 1 1",
    "prio bands 4 priomap 1 1 2 2 7 5 0 0 1 2 3 0 0 0 0 0",
    "prio bands 1 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0",
    "prio bands 1024 priomap 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "bfifo foorbar",
    "pfifo foorbar",
    "bfifo limit foo-bar",
]
"""Lines that tc or the kernel rejects."""

CHANGED = {
    ("add choke limit 1000 bandwidth 10000", "replace choke limit 1000 bandwidth 10000 min 100"): {"min_th": 100},
    ("add codel target 20ms", "change codel limit 100"): {"limit": 100, "target": 0.02},
    ("add fq_codel limit 1000 flows 256 drop_batch 100", "replace fq_codel noecn"): {
        "limit": 1000,
        "queues": 256,
        "ecn": False,
    },
    ("add fq_codel limit 1000 flows 256 drop_batch 100", "change fq_codel limit 2000"): {"limit": 2000, "queues": 256},
    ("add pie limit 10", "change pie limit 1"): {"limit": 1},
    ("add pfifo limit 10", "replace pfifo limit 30"): {"limit": 30},
    ("add sfb penalty_burst 64", "change sfb rehash 100"): {"penalty_burst": 20, "rehash": 0.1},
}
"""Two lines for the same handle, and parameters of the queue after both."""
