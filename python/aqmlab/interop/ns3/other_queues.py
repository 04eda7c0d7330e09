"""ns-3's queue disciplines other than RED: which attribute has which of our parameters.

A parameter that ns-3 has no attribute for is named where it is not what ns-3 does.
"""

from __future__ import annotations

from aqmlab.interop.ns3.formatting import read_seconds, seconds
from aqmlab.interop.translation import FLAG, NUMBER, WHOLE, Fixed, Format, Row, Table, one_of, whole


def size(limit: float | str) -> str:
    """Write a limit in packets or bytes.

    >>> size(100), size("64000B")
    ('100p', '64000B')
    """
    return f"{round(float(limit.removesuffix('B')))}B" if isinstance(limit, str) else f"{round(limit)}p"


def read_size(text: str) -> float | str:
    """Read a limit in packets or bytes.

    >>> read_size("100p"), read_size("64000B")
    (100.0, '64000B')
    """
    return text if text.endswith("B") else float(text.removesuffix("p"))


def key(value: float | str) -> str:
    """Write the key of a hash; the program draws one where it is "random"."""
    return value if isinstance(value, str) else whole(value)


SIZE = Format(size, read_size, absolute=0.5)
SECONDS = Format(seconds, read_seconds, relative=1e-11)
KEY = Format(key, lambda text: text if text == "random" else float(text))
LEAST_LEFT = Format(lambda most: whole(most + 1), lambda text: float(text) - 1, absolute=0.5)
"""``MinBytes`` is how many bytes must be left for a drop, ``max_packet`` how many are too few."""
BY_RATE = one_of("departure-rate", "timestamp")

CODEL = (
    Row("limit", "MaxSize", SIZE),
    Row("target", "Target", SECONDS),
    Row("interval", "Interval", SECONDS),
    Row("ecn", "UseEcn", FLAG),
)
PIE = (
    Row("limit", "MaxSize", SIZE),
    Row("target", "QueueDelayReference", SECONDS),
    Row("t_update", "Tupdate", SECONDS),
    Row("alpha", "A", NUMBER),
    Row("beta", "B", NUMBER),
    Row("max_burst", "MaxBurstAllowance", SECONDS),
    Row("mean_packet", "MeanPktSize", WHOLE),
    Row("mark_up_to", "MarkEcnThreshold", NUMBER),
    Row("delay", "UseDequeueRateEstimator", BY_RATE),
    Row("cap_adjustment", "UseCapDropAdjustment", FLAG),
    Row("derandomize", "UseDerandomization", FLAG),
    Row("ecn", "UseEcn", FLAG),
)
FAIR = (Row("queues", "Flows", WHOLE), Row("hash_key", "Perturbation", KEY))
LAW = Fixed("dialect", "linux", "has Linux's arithmetic of the control law")
MARKS = (
    Fixed("ce_threshold", "off", "is exported without its CE threshold"),
    Fixed("ce_threshold_selector", "all", "is exported without its CE threshold"),
)
MEMORY = Fixed("memory_limit", "off", "has no limit of memory", others=(32 << 20,))
"""Linux's own limit is above the memory of its 10240 packets."""
EMPTIED = {"emptied flow": "keeps a new flow that has emptied as an old one also where there are no old flows."}
BYTES = Fixed("byte_mode", False, "counts packets where the limit is in packets")
REAL = Fixed("dialect", "rfc8033", "computes in real numbers")
GAINS = Fixed("auto_tune", "rfc8033", "divides the gains in the seven ranges of RFC 8033")
DECAY = Fixed("decay", "empty", "lets the probability decay while there is no delay at all")
QUANTUM = Fixed("quantum", 1500, "takes the device's MTU, 1500 bytes")
HASH = {"hash": "hashes addresses and ports with a function of its own; other flows share a queue."}
SPARING = {
    "burst allowance": "grants it with the first packet, and again after 1.5 s of rest (RFC 8033: at once).",
    "short queues": "never drops while two packets wait, of any length; ours while two mean_packet wait.",
}
NEVER = "1000000s"
OTHER_QUEUES: dict[str, Table] = {
    "codel": Table("ns3::CoDelQueueDisc", (*CODEL, Row("max_packet", "MinBytes", LEAST_LEFT)), (LAW, MARKS[0])),
    "fq-codel": Table(
        "ns3::FqCoDelQueueDisc",
        (*CODEL, *FAIR, Row("drop_batch", "DropBatchSize", WHOLE)),
        (
            LAW,
            *MARKS,
            MEMORY,
            QUANTUM,
            Fixed("max_packet", 1499, "drops while 1500 bytes are left in a flow's queue (MinBytes of CoDel)"),
            Fixed("occupancy", "queue", "looks at what is left in the flow's queue, not in all"),
        ),
        notes=HASH | EMPTIED,
    ),
    "cobalt": Table(
        "ns3::CobaltQueueDisc",
        (*CODEL, Row("increment", "Increment", NUMBER), Row("decrement", "Decrement", NUMBER)),
        (Fixed("max_packet", 0, "may drop also while the delay is less than the time of four packets"),),
        {"BlueThreshold": NEVER},
    ),
    "pie": Table("ns3::PieQueueDisc", PIE, (REAL, BYTES, GAINS, DECAY), notes=SPARING),
    "fq-pie": Table(
        "ns3::FqPieQueueDisc",
        (*(row for row in PIE if row.key != "mark_up_to"), *FAIR),
        (
            REAL,
            BYTES,
            GAINS,
            DECAY,
            QUANTUM,
            Fixed("mark_up_to", 0.1, "does not hand MarkEcnThreshold on to its queues, which mark up to 0.1"),
        ),
        notes={**SPARING, **HASH, "full buffer": "drops from the longest queue, ours what arrives."},
    ),
}
