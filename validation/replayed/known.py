"""Faults of Linux's disciplines in the last two years: copies of the kernel's source with the fault put back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aqmlab.live.vm.sources import QDISCS, Edit
from replayed import ECT1, Case, Later, tcp, udp, until
from replayed.red import BYTES


@dataclass(frozen=True)
class KnownFault:
    """A fault that later kernels do not have.

    Attributes
    ----------
    discipline
        Its name in a scenario.
    module
        Its module, a file of the kernel's source.
    edits
        Changes of the source that put the fault back.
    case
        The run that shows it.
    text
        The fault in words.
    limit
        Packets of a changed limit: the log is checked for drops while more packets wait, and is not replayed; None: the
        log is replayed.
    """

    discipline: str
    module: str
    edits: tuple[Edit, ...]
    case: Case
    text: str
    limit: int | None = None

    @property
    def path(self) -> str:
        """Path of the file in the kernel's source."""
        return f"{QDISCS}/{self.module}.c"


SHORT = 'target = "0.1ms"\ninterval = "1ms"\n'
JOINED = tcp("one", 3) + tcp("other", 3)
LIMIT = 10
DROPPED = tcp("one", 1) + tcp("other", 2)
SOURCES, TRIPLE = "cake unlimited besteffort dual-srchost", "cake triple-isolate"
BOTH_HOSTS = 'overhead = 14\ndiffserv = "besteffort"\nisolation = "triple-isolate"\n'
AS_BOTH = (
    "The core has no changes. It has `triple-isolate` from the start: `dual-srchost` decides alike, since each source "
    "has one destination. The copy's table of shares is extended to all counts of 16 bits, since the kernel with the "
    "fault reads memory behind the table's end."
)
LONG_TABLE = (
    Edit("quantum_div[CAKE_QUEUES + 1]", "quantum_div[1 << 16]"),
    Edit("for (i = 1; i <= CAKE_QUEUES; i++)\n\t\tquantum_div", "for (i = 1; i < 1 << 16; i++)\n\t\tquantum_div"),
    Edit("65535 / i;", "65535 / min(i, CAKE_QUEUES);"),
)
"""Extends CAKE's table of shares to all counts of 16 bits; more than 1,024 flows have the share of 1,024."""
KNOWN: Mapping[str, KnownFault] = {
    "CoDel, drops at a peek": KnownFault(
        "codel",
        "sch_codel",
        (Edit("codel_peek,", "qdisc_peek_dequeued,"),),
        Case(queue=SHORT, flows=JOINED, link="20Mbps", joins=True, peeks=True),
        "A peek drops packets, and lowers the counts of the parents before the packet to return counts again as "
        "waiting: the kernel notifies the parent of an empty queue.",
    ),
    "FQ-CoDel, drops at a peek": KnownFault(
        "fq-codel",
        "sch_fq_codel",
        (Edit("fq_codel_peek,", "qdisc_peek_dequeued,"),),
        Case(queue=SHORT, flows=JOINED, link="20Mbps", joins=True, peeks=True),
        "The same.",
    ),
    "RED, dequeue after a peek": KnownFault(
        "red",
        "sch_red",
        (Edit("qdisc_dequeue_peeked(child)", "child->dequeue(child)"),),
        Case(
            queue=BYTES + 'min_th = "15000B"\nmax_th = "45000B"\nmax_p = 0.1\nw_q = 0.0078125\nlimit = "10000000B"\n',
            flows=udp("one", 700, 14) + udp("other", 1000, 12),
            words="red limit 10000000 min 15000 max 45000 avpkt 1000 burst 48 probability 0.1 bandwidth 25000kbit\n"
            "netem limit 1000",
            peeks=True,
        ),
        "The packet at which the parent peeked stays in RED's own discipline, and the next one leaves in its place.",
    ),
    "DualPI2, drops at a peek": KnownFault(
        "dualpi2",
        "sch_dualpi2",
        (Edit("dualpi2_peek,", "qdisc_peek_dequeued,"),),
        Case(
            queue="",
            flows=DROPPED,
            link="20Mbps",
            words="dualpi2 no_split_gso",
            joins=True,
            peeks=True,
            splits=False,
        ),
        "The same; packets that senders joined stay whole (`no_split_gso`), since more than two full packets must wait "
        "for a drop.",
    ),
    "DualPI2, count of split packets": KnownFault(
        "dualpi2",
        "sch_dualpi2",
        (Edit("qdisc_tree_reduce_backlog(sch, 1 - cnt,", "qdisc_tree_reduce_backlog(sch, -cnt,"),),
        Case(queue="", flows=JOINED, link="20Mbps", words="dualpi2", joins=True),
        "Where a packet is split into segments, the parents count one packet too many.",
    ),
    "DualPI2, change of the limit": KnownFault(
        "dualpi2",
        "sch_dualpi2",
        (Edit("if (qdisc_qlen(sch) > qdisc_qlen(q->l_queue)) {", "if (true) {"),),
        Case(
            queue="",
            flows=udp("low", 500, 15, 2, ECT1),
            link="20Mbps",
            words="dualpi2 overflow",
            later=Later(1000, f"dualpi2 limit {LIMIT}"),
        ),
        f"A change of the limit to {LIMIT} packets takes packets out of the classic queue only, so that more "
        "stay in the low-latency queue. The core has no changes. The property is checked that no arrival is dropped "
        "while more packets than the limit wait.",
        limit=LIMIT,
    ),
    "CAKE, count after a drop": KnownFault(
        "cake",
        "sch_cake",
        (Edit("prev_qlen - 1", "prev_qlen"), Edit("prev_backlog - len", "prev_backlog")),
        Case(
            words="cake bandwidth 12mbit besteffort memlimit 64kb",
            queue='overhead = 14\nrate = "12Mbps"\ndiffserv = "besteffort"\nmemlimit = "65536B"\n',
            flows=udp("small", 300, 10, 2) + tcp("plain", 4) + udp("long", 1000, 4),
        ),
        "Where the arriving packet's own flow loses a packet, the parents count one packet too few.",
    ),
    "CAKE, count of a host's flows after a collision": KnownFault(
        "cake",
        "sch_cake",
        (
            *(
                Edit(
                    f"cake_dec_{host}_bulk_flow_count(q, &q->flows[outer_hash + k], flow_mode);",
                    f"q->hosts[q->flows[outer_hash + k].{host}].{host}_bulk_flow_count--;",
                )
                for host in ("srchost", "dsthost")
            ),
            *LONG_TABLE,
        ),
        Case(
            queue=BOTH_HOSTS + 'rtt = "1s"\n',
            flows=until("1s", *(udp(name, 400, 0.085, 120) for name in ("one", "two", "three", "four"))),
            words=f"{SOURCES} rtt 1s",
            seconds=5,
            later=Later(3600, TRIPLE),
            pacing_ms=100,
        ),
        "Corrected in 2024 (546ea84d07e3). A flow that finds all eight queues of its set busy shares one of them. The "
        "counts of bulk flows of the queue's former source and destination are then lowered, also where the isolation "
        "counts sources only: the count of destination 0 falls below 0. The run has 480 flows; the isolation is "
        "changed to `triple-isolate` while they wait. " + AS_BOTH,
    ),
    "CAKE, count of a host's flows after a change": KnownFault(
        "cake",
        "sch_cake",
        (
            *(
                Edit(f" &&\n\t\t   q->hosts[flow->{host}].{host}_bulk_flow_count{bound}))", "))")
                for host in ("srchost", "dsthost")
                for bound in ("", " < CAKE_QUEUES")
            ),
            *LONG_TABLE,
        ),
        Case(
            queue=BOTH_HOSTS,
            flows=until("1s", udp("many", 400, 5, 8)),
            words=SOURCES,
            seconds=2,
            later=Later(1600, TRIPLE),
        ),
        "Corrected in 2025 (737d4d91d35b). A bulk flow from before a change to `triple-isolate` is not counted for its "
        "destination. When it runs empty, the count of the destination is lowered nevertheless, and falls below 0. "
        + AS_BOTH,
    ),
}
"""Known faults by name. RED's own discipline is a netem without delay, whose peek dequeues."""
