"""Faults of Linux's disciplines in the last two years: copies of the kernel's source with the fault put back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aqmlab.live.vm.sources import QDISCS, Edit
from replayed import ECT1, Case, tcp, udp
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
    """

    discipline: str
    module: str
    edits: tuple[Edit, ...]
    case: Case
    text: str

    @property
    def path(self) -> str:
        """Path of the file in the kernel's source."""
        return f"{QDISCS}/{self.module}.c"


SHORT = 'target = "0.1ms"\ninterval = "1ms"\n'
JOINED = tcp("one", 3) + tcp("other", 3)
LIMIT_LATER = 10
DROPPED = tcp("one", 1) + tcp("other", 2)
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
            limit_later=LIMIT_LATER,
        ),
        f"A change of the limit to {LIMIT_LATER} packets takes packets out of the classic queue only, so that more "
        "stay in the low-latency queue. The core has no changes. The property is checked that no arrival is dropped "
        "while more packets than the limit wait.",
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
}
"""Known faults by name. RED's own discipline is a netem without delay, whose peek dequeues."""
