"""tc's queue disciplines other than RED, CHOKe and FIFO: which word has which of our parameters.

One table for each discipline of ours that tc has. What a line leaves out has the kernel's or tc's default
(`Table.usual`); what tc has no word for is named.

| tc | ours |
|---|---|
| ``codel``, ``fq_codel``, ``pie``, ``fq_pie``, ``sfb``, ``dualpi2`` | the same |
| ``sfq`` with ``quantum`` | ``drr``: turns count bytes |
| ``sfq`` without | ``sfq`` |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.tc.quantities import bytes_of, microseconds, number_of, seconds_of
from aqmlab.interop.translation import Fixed, Format, Row, Table, whole
from aqmlab.scenario.parts import Link

DEQUEUE_RATE = "dq_rate_estimator"
ALONE = {
    **dict.fromkeys(("ecn", "noecn"), "ecn"),
    **dict.fromkeys(("bytemode", "nobytemode"), "bytemode"),
    **dict.fromkeys((DEQUEUE_RATE, f"no_{DEQUEUE_RATE}"), DEQUEUE_RATE),
    **{word: word for word in ("headdrop", "harddrop", "adaptive", "nodrop")},
    **dict.fromkeys(("drop_on_overload", "overflow"), "overload"),
    **dict.fromkeys(("drop_enqueue", "drop_dequeue"), "drop"),
    **dict.fromkeys(("any_ect", "l4s_ect"), "ect"),
    **dict.fromkeys(("split_gso", "no_split_gso"), "gso"),
}
"""Words that stand alone, and the word of the table that they are values of."""
FLAGS = frozenset(ALONE.values())
MOST_SFB = 65535
"""SFB's probabilities are whole numbers of 1/65535."""


def either(word: str) -> Format:
    """Return the format of a flag that is a word by itself, or that word after "no".

    >>> either("ecn").write(False), either("ecn").read("ecn")
    ('noecn', True)
    """
    return Format(lambda value: word if value else f"no{word}", lambda text: text == word)


def present(word: str, yes: object, no: object) -> Format:
    """Return the format of a word that is there for one of our values, and absent for the other.

    >>> present("headdrop", "longest-head", "longest-tail").write("longest-tail")
    ''
    """
    return Format(lambda value: word if value == yes else "", lambda text: yes if text == word else no)


def chosen(words: Mapping[str, object]) -> Format:
    """Return the format of words that stand alone for our values.

    >>> chosen({"drop_on_overload": "drop", "overflow": "overflow"}).write("drop")
    'drop_on_overload'
    """
    return Format({value: word for word, value in words.items()}.__getitem__, words.__getitem__)


def scaled(per_unit: float, most: float = float("inf")) -> Format:
    """Return the format of a number that tc counts in parts: ``per_unit`` of them are 1.

    >>> scaled(16).write(0.125), scaled(16).read("20")
    ('2', 1.25)
    """
    return Format(
        lambda value: str(min(round(per_unit * float(value)), most)),
        lambda text: number_of(text) / per_unit,
        absolute=0.5 / per_unit,
    )


def period(per_second: float) -> Format:
    """Return the format of a time of which a bare number is in other units than us; 0 is "never".

    >>> period(1).read("10sec"), period(1000).read("600s"), period(1000).write(0.06), period(1).read("0")
    (10.0, 600.0, '60', 'never')
    """

    def read(text: str) -> float | str:
        found = float(text) / per_second if text.replace(".", "", 1).isdigit() else seconds_of(text)
        return found or "never"

    return Format(
        lambda value: "0" if value == "never" else str(max(1, round(float(value) * per_second))),
        read,
        absolute=0.5 / per_second,
    )


COUNT = Format(whole, number_of, absolute=0.5)
PACKETS = Format(lambda value: str(max(1, round(float(value)))), number_of, absolute=0.5)
"""A limit in bytes is converted before (`aqmlab.interop.tc.queues`)."""
SIZE = Format(whole, bytes_of, absolute=0.5)
TIME = Format(microseconds, seconds_of, absolute=0.51e-6)
MILLISECONDS = Format(
    lambda value: str(round(float(value) * 1e3)),
    lambda text: float(text) / 1e3 if text.isdigit() else seconds_of(text),
    absolute=0.51e-3,
)
THRESHOLD = Format(
    lambda value: "" if value == "off" else microseconds(value),
    lambda text: seconds_of(text) if text else "off",
    absolute=0.51e-6,
)
"""A time, or "off" without the word."""
MEMORY = Format(
    lambda value: "" if value == "off" else whole(value),
    lambda text: bytes_of(text) if text else "off",
    absolute=0.5,
)
"""A size, or "off" without the word."""
ECT1 = "0x1/0x3"
SIXTEENTHS = scaled(16, most=32)
SHARE = Format(
    lambda value: f"{max(1, round(float(value) * MOST_SFB)) / MOST_SFB:.9g}",
    lambda text: round(number_of(text) * MOST_SFB) / MOST_SFB,
    absolute=0.51 / MOST_SFB,
)
PER_SECOND = Format(whole, lambda text: number_of(text.removesuffix("ps")), absolute=0.5)
HERTZ = Format(
    lambda value: f"{float(value):.10g}", lambda text: math.floor(256 * number_of(text) + 0.01) / 256, absolute=1 / 256
)
"""Whole numbers of 1/256; tc cuts the rest off, and prints six decimals."""
PERCENT = Format(
    lambda value: str(round(100 * float(value))),
    lambda text: number_of(text.removesuffix("%")) / 100,
    absolute=0.00501,
)
ECN = Row("ecn", "ecn", either("ecn"))
LIMIT = Row("limit", "limit", PACKETS)
CODEL = (LIMIT, Row("target", "target", TIME), Row("interval", "interval", TIME))
CE_THRESHOLD = Row("ce_threshold", "ce_threshold", THRESHOLD)
SELECTOR = Row(
    "ce_threshold_selector",
    "ce_threshold_selector",
    Format(lambda value: ECT1 if value == "ect1" else "", lambda text: "ect1" if text == ECT1 else "all"),
)
VERSIONS = ("linux-6.1", "linux-6.12", "linux-7.3")
"""Dialects of versions of Linux."""
LAW = (
    Fixed("dialect", "linux", "has its own arithmetic of the control law", others=VERSIONS),
    Fixed("max_packet", 1514, "takes the device's largest packet"),
)
PIE = (
    LIMIT,
    Row("target", "target", TIME),
    Row("t_update", "tupdate", TIME),
    Row("alpha", "alpha", SIXTEENTHS),
    Row("beta", "beta", SIXTEENTHS),
    ECN,
    Row("byte_mode", "bytemode", either("bytemode")),
    Row("delay", DEQUEUE_RATE, present(DEQUEUE_RATE, "departure-rate", "timestamp")),
)
CONTROLLER = (
    Fixed("dialect", "linux", "has its own arithmetic of the controller"),
    Fixed("max_burst", 0.15, "spares bursts of 150 ms"),
    Fixed("derandomize", True, "spaces drops (RFC 8033, section 5.4)"),
    Fixed("auto_tune", "rfc8033", "divides the gains in the seven ranges of RFC 8033"),
    Fixed("cap_adjustment", True, "bounds the steps of the probability"),
    Fixed("mean_packet", 1514, "takes the device's largest packet"),
    Fixed("decay", "empty", "lets the probability decay while there is no delay at all"),
)
MARKS = Fixed("mark_up_to", 0.1, "marks up to a probability of 0.1")
FAIR = (Row("queues", "flows", COUNT), Row("quantum", "quantum", SIZE))
KEY = Fixed("hash_key", None, "draws the key of its hash")
ALL = Fixed("occupancy", "all", "looks at what is left in all queues")
HASH = Fixed("hash", "mix", "mixes the flow's addresses and ports")
BUCKETS = Row("buckets", "divisor", COUNT)
SIGNALS = {"target": 0.005, "interval": 0.1}
GAINS = {"target": 0.015, "t_update": 0.015, "alpha": 0.125, "beta": 1.25, "byte_mode": False, "delay": "timestamp"}
FLOWS = {"limit": 10240, "queues": 1024, "quantum": 1514}
FAIR_USUAL = {"limit": 127, "buckets": 1024}
OTHER_QUEUES: dict[str, Table] = {
    "codel": Table("codel", (*CODEL, ECN, CE_THRESHOLD), LAW, usual={"limit": 1000, **SIGNALS, "ecn": False}),
    "fq-codel": Table(
        "fq_codel",
        (
            *(*CODEL, *FAIR, Row("drop_batch", "drop_batch", COUNT), ECN, CE_THRESHOLD, SELECTOR),
            Row("memory_limit", "memory_limit", MEMORY),
        ),
        (*LAW, KEY, ALL),
        usual={**FLOWS, **SIGNALS, "drop_batch": 64, "ecn": True, "memory_limit": 32 << 20},
    ),
    "pie": Table("pie", PIE, (*CONTROLLER, MARKS), usual={"limit": 1000, **GAINS, "ecn": False}),
    "fq-pie": Table(
        "fq_pie",
        (*PIE, *FAIR, Row("mark_up_to", "ecn_prob", PERCENT)),
        (*CONTROLLER, KEY),
        usual={**FLOWS, **GAINS, "mark_up_to": 0.1, "ecn": False},
    ),
    "sfb": Table(
        "sfb",
        (
            Row("rehash", "rehash", period(1000)),
            Row("warmup", "db", MILLISECONDS),
            LIMIT,
            Row("max_bin", "max", COUNT),
            Row("bin_size", "target", COUNT),
            Row("increment", "increment", SHARE),
            Row("decrement", "decrement", SHARE),
            Row("penalty_rate", "penalty_rate", PER_SECOND),
            Row("penalty_burst", "penalty_burst", COUNT),
        ),
        (
            Fixed("dialect", "linux", "has its own integers and clock", others=VERSIONS),
            Fixed("levels", 8, "has 8 levels"),
            Fixed("bins", 16, "has 16 bins in each level"),
            Fixed("full_bin", "all", "drops an arrival if all of its bins are too full"),
            Fixed("ecn", True, "marks packets that are ECN-capable"),
        ),
        usual={
            **{"rehash": 600.0, "warmup": 60.0, "limit": 1000, "max_bin": 25, "bin_size": 20},
            **{"increment": 33 / MOST_SFB, "decrement": 3 / MOST_SFB, "penalty_rate": 10, "penalty_burst": 20},
        },
    ),
    "sfq": Table(
        "sfq",
        (
            LIMIT,
            BUCKETS,
            Row("perturb", "perturb", period(1)),
            Row("full", "headdrop", present("headdrop", "longest-head", "longest-tail")),
        ),
        (HASH,),
        notes={"turns": "counts turns in bytes, a largest packet each; ours in packets."},
        usual={**FAIR_USUAL, "perturb": "never", "full": "longest-tail"},
    ),
    "drr": Table(
        "sfq",
        (
            LIMIT,
            Row("quantum", "quantum", SIZE),
            BUCKETS,
            Row("longest", "headdrop", present("headdrop", "head", "tail")),
        ),
        (HASH,),
        usual={**FAIR_USUAL, "quantum": 1514, "longest": "tail"},
    ),
    "dualpi2": Table(
        "dualpi2",
        (
            LIMIT,
            Row("target", "target", TIME),
            Row("t_update", "tupdate", TIME),
            Row("alpha", "alpha", HERTZ),
            Row("beta", "beta", HERTZ),
            Row("l4s_min_th", "step_thresh", TIME),
            Row("l4s_min_packets", "min_qlen_step", COUNT),
            Row("coupling", "coupling_factor", COUNT),
            Row("classic_share", "classic_protection", PERCENT),
            Row("overload", "overload", chosen({"drop_on_overload": "drop", "overflow": "overflow"})),
            Row("decide", "drop", chosen({"drop_dequeue": "leaving", "drop_enqueue": "arriving"})),
            Row("memlimit", "memlimit", SIZE),
        ),
        (
            Fixed("dialect", "linux", "has its own arithmetic of the controller"),
            Fixed("l4s_range", 0.0, "marks the low-latency queue in one step"),
            Fixed("scheduler", "weighted", "weights the queues"),
            Fixed("decision", "random", "draws which packet is hit"),
            Fixed("max_packet", 1514, "takes the device's largest packet"),
            Fixed("ecn", True, "marks ECT(0)"),
        ),
        usual={
            **{"limit": 10000, "target": 0.015, "t_update": 0.016, "alpha": 41 / 256, "beta": 819 / 256},
            **{"l4s_min_th": 0.001, "l4s_min_packets": 0, "coupling": 2, "classic_share": 0.1},
            **{"overload": "drop", "decide": "leaving"},
        },
    ),
}
NO_EFFECT = {"rtt_max", "time_shift"}
"""DualPI2's parameters that others replace: target, t_update, alpha and beta are given; scheduler = "weighted"."""


def phrase(words: Mapping[str, str]) -> str:
    """Write words and values behind one another.

    >>> phrase({"limit": "100", "ecn": "noecn"})
    'limit 100 noecn'
    """
    return " ".join(value if word in FLAGS else f"{word} {value}" for word, value in words.items() if value)


def other_differences(link: Link, table: Table) -> Iterator[Semantic]:
    """Yield the differences of Linux from a discipline with a table, and the errors of rounded values."""
    name = f"queue.{link.queue}"
    own = {key: value for key, value in link.parameters.items() if key not in NO_EFFECT}
    yield from table.differences(own, name, "Linux")
    for row in table.rows:
        value = own.get(row.key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        found = row.format.read(row.format.write(value))
        if abs(float(found) - value) > 0.01 * abs(value):
            text = f"{name}: the scenario has {row.key} = {value:g}, {table.kind}'s {row.word} is {found:g}."
            yield Semantic(f"rounding of {row.key}", text, Kind.DIFFERS)
