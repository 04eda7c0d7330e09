"""tc's queue disciplines other than RED and drop-tail: which word has which of our parameters.

CoDel and PIE, also with fair queues, have the same parameters in tc; what tc has no word for is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from aqmlab.interop.differences import Semantic
from aqmlab.interop.tc.quantities import bytes_of, microseconds, number_of, seconds_of
from aqmlab.interop.translation import Fixed, Format, Row, Table, whole
from aqmlab.scenario.parts import Link

ALONE = {"ecn": "ecn", "noecn": "ecn", "bytemode": "bytemode", "nobytemode": "bytemode"}
"""Words that stand alone, and the word of the table that they are values of."""


def either(word: str) -> Format:
    """Return the format of a flag that is a word by itself, or that word after "no".

    >>> either("ecn").write(False), either("ecn").read("ecn")
    ('noecn', True)
    """
    return Format(lambda value: word if value else f"no{word}", lambda text: text == word)


COUNT = Format(whole, number_of, absolute=0.5)
PACKETS = Format(lambda value: str(max(1, round(float(value)))), number_of, absolute=0.5)
"""A limit in bytes is converted before (`aqmlab.interop.tc.queues`)."""
SIZE = Format(whole, bytes_of, absolute=0.5)
TIME = Format(microseconds, seconds_of, absolute=0.51e-6)
SIXTEENTHS = Format(lambda value: str(round(16 * float(value))), lambda text: number_of(text) / 16, absolute=1 / 32)
ECN = Row("ecn", "ecn", either("ecn"))
BYTE_MODE = Row("byte_mode", "bytemode", either("bytemode"))
CODEL = (Row("limit", "limit", PACKETS), Row("target", "target", TIME), Row("interval", "interval", TIME))
LAW = (
    Fixed("dialect", "linux", "has its own arithmetic of the control law"),
    Fixed("max_packet", 1514, "takes the device's largest packet"),
)
PIE = (
    Row("limit", "limit", PACKETS),
    Row("target", "target", TIME),
    Row("t_update", "tupdate", TIME),
    Row("alpha", "alpha", SIXTEENTHS, written=False),
    Row("beta", "beta", SIXTEENTHS, written=False),
)
CONTROLLER = (
    Fixed("alpha", 0.125, "has alpha in sixteenths, here its default of 2"),
    Fixed("beta", 1.25, "has beta in sixteenths, here its default of 20"),
    Fixed("max_burst", 0.15, "spares bursts of 150 ms"),
    Fixed("mark_up_to", 0.1, "marks up to a probability of 0.1"),
    Fixed("delay", "timestamp", "takes the delay of the last packet to leave"),
    Fixed("derandomize", True, "spaces drops (RFC 8033, section 5.4)"),
    Fixed("cap_adjustment", True, "bounds the steps of the probability"),
    Fixed("mean_packet", 1514, "takes the device's largest packet"),
    Fixed("decay", "empty", "lets the probability decay while there is no delay at all"),
)
FAIR = (Row("queues", "flows", COUNT), Row("quantum", "quantum", SIZE))
KEY = Fixed("hash_key", None, "draws the key of its hash")
ALL = Fixed("occupancy", "all", "looks at what is left in all queues")
OTHER_QUEUES: dict[str, Table] = {
    "codel": Table("codel", (*CODEL, ECN), LAW),
    "fq-codel": Table("fq_codel", (*CODEL, *FAIR, Row("drop_batch", "drop_batch", COUNT), ECN), (*LAW, KEY, ALL)),
    "pie": Table("pie", (*PIE, ECN, BYTE_MODE), CONTROLLER),
    "fq-pie": Table("fq_pie", (*PIE, *FAIR, ECN, BYTE_MODE), (*CONTROLLER, KEY)),
}


def phrase(words: Mapping[str, str]) -> str:
    """Write words and values behind one another.

    >>> phrase({"limit": "100", "ecn": "noecn"})
    'limit 100 noecn'
    """
    return " ".join(value if word in ALONE else f"{word} {value}" for word, value in words.items() if value)


def other_differences(link: Link) -> Iterator[Semantic]:
    """Name what Linux does otherwise with a discipline of `OTHER_QUEUES`."""
    table, name = OTHER_QUEUES[link.aqm], f"queue.{link.queue}"
    yield from table.differences(link.parameters, name, "Linux")
