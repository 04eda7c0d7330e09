"""Queues in ns-2's words, and back (queue/red.cc, queue/drop-tail.cc of 2.35).

| ours | ns-2 |
|---|---|
| drop-tail, ``limit`` N packets | ``DropTail``, ``limit_`` N + 1: it drops when the queue would reach its limit |
| drop-tail, N packets, ``strict_limit`` | ``limit_`` N |
| drop-tail, N bytes | ``queue_in_bytes_``, ``mean_pktsize_`` 1, ``limit_`` as above in bytes |
| RED, ``limit`` | ``limit_`` in packets, or in mean packets where the queue is measured in bytes |
| other parameters of RED | `RED`, `ADAPTATION` |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.interop.formatting import number
from aqmlab.interop.ns2.quantities import seconds
from aqmlab.interop.translation import AT_LEAST_ONE, FLAG, INVERSE, NUMBER, Fixed, Format, Row, Table, is_true, one_of
from aqmlab.scenario.parts import DROP_TAIL, Link

AUTOMATIC = {-1.0: "auto", 0.0: "auto-1s", -2.0: "auto-0.1s"}
"""Values of ``q_weight_`` for which ns-2 computes the weight."""


def threshold(text: str) -> float | str:
    """Read a threshold; ns-2 computes those that are 0.

    >>> threshold("5"), threshold("0")
    (5.0, 'auto')
    """
    return float(text) or "auto"


def weight(text: str) -> float | str:
    """Read a weight.

    >>> weight("0.002"), weight("-1")
    (0.002, 'auto')
    """
    return AUTOMATIC.get(float(text), float(text))


IN_BYTES = one_of("bytes", "packets")
THRESHOLD = Format(number, threshold)
WEIGHT = Format(number, weight)
SECONDS = Format(number, seconds)
IDLE = "idle rule"
RED = Table(
    "RED",
    (
        Row("mode", "bytes_", IN_BYTES),
        Row("mode", "queue_in_bytes_", IN_BYTES),
        Row("mean_packet", "mean_pktsize_", AT_LEAST_ONE),
        Row("min_th", "thresh_", THRESHOLD),
        Row("max_th", "maxthresh_", THRESHOLD),
        Row("max_p", "linterm_", INVERSE),
        Row("w_q", "q_weight_", WEIGHT),
        Row("curve", "gentle_", one_of("gentle", "linear")),
        Row("spacing", "wait_", one_of("ns2-wait", "ns2-nowait")),
        Row("ecn", "setbit_", FLAG),
        Row("p_one_is_early", "use_mark_p_", FLAG),
        Row("mark_up_to", "mark_p_", NUMBER),
    ),
    (
        Fixed("at_idle", "integer", "rounds the number of packets that an idle time is worth down", IDLE),
        Fixed("idle_extra_step", True, "takes one more step of the average after an idle period", IDLE),
        Fixed(
            "guard_one",
            True,
            "makes no early and no forced drop while at most one packet waits",
            "guard of one packet",
        ),
        Fixed(
            "crossing",
            "count-one",
            "never drops the first packet that finds the average above min_th",
            "first packet above min_th",
        ),
        Fixed(
            "full_first",
            False,
            "computes average and count for a packet before it looks whether there is room",
            "full buffer first",
        ),
        Fixed("overflow_restarts", True, "restarts the count when a full buffer drops", "full buffer and count"),
        Fixed("idle_when", "free", "begins an idle period when the link has nothing to send", IDLE),
        Fixed(
            "in_service_counts", False, "counts the packets waiting, without the one in service", "packet in service"
        ),
    ),
)
ADAPTATION: dict[str, Table] = {
    "none": Table("none", (), always={"adaptive_": "0", "feng_adaptive_": "0"}),
    "adaptive-red": Table(
        "adaptive-red",
        (
            Row("ared_alpha", "alpha_", NUMBER),
            Row("ared_beta", "beta_", NUMBER),
            Row("adapt_interval", "interval_", SECONDS),
            Row("max_p_high", "top_", NUMBER),
            Row("max_p_low", "bottom_", NUMBER),
        ),
        always={"adaptive_": "1", "feng_adaptive_": "0"},
    ),
    "feng": Table(
        "feng",
        (Row("feng_alpha", "alpha_", NUMBER), Row("feng_beta", "beta_", NUMBER)),
        always={"adaptive_": "1", "feng_adaptive_": "1"},
    ),
}
USUAL = {"mode": "packets", "mean_packet": 1000, "curve": "linear", "spacing": "ns2-nowait", "ecn": False}
USUAL |= {"p_one_is_early": False, "mark_up_to": 1, "adaptation": "none"}
"""Values of parameters that a discipline of RED's family does not have."""


@dataclass(frozen=True)
class Ns2Queue:
    """A queue for ns-2: its class below ``Queue/``, ``limit_``, and variables of the class."""

    discipline: str
    limit: int
    settings: dict[str, str]

    @property
    def words(self) -> dict[str, str]:
        """All variables of the class."""
        return {"limit_": str(self.limit), **self.settings}


def ns2_queue(link: Link) -> Ns2Queue:
    """Return a link's queue; features that ns-2 lacks are left out (`queue_differences` names them)."""
    if link.aqm == DROP_TAIL:
        return _drop_tail(link.parameters)
    own: dict[str, Any] = USUAL | link.parameters
    limit, unit = limit_of(own["limit"])
    settings = RED.write(own)
    mean = int(settings["mean_pktsize_"])
    adaptation = ADAPTATION.get(str(own["adaptation"]), ADAPTATION["none"])
    whole = max(1, round(limit / mean)) if unit == "bytes" else round(limit)
    return Ns2Queue(RED.kind, whole, settings | adaptation.write(own))


def read_queue(discipline: str, words: Mapping[str, str]) -> dict[str, Any]:
    """Read the variables of a queue: our effective parameters, the limit in packets or as ``64000B``."""
    limit, mean = round(float(words["limit_"])), float(words.get("mean_pktsize_", "500"))
    in_bytes = is_true(words["queue_in_bytes_"])
    found: dict[str, Any] = {"limit": f"{number(limit * mean)}B" if in_bytes else limit}
    if discipline == "DropTail":
        return found | {"strict_limit": True}
    found |= RED.read(words)
    if not found["p_one_is_early"]:
        # Without use_mark_p_ ns-2 marks at any p_b.
        found |= {"mark_up_to": 1.0, "mark_at_bound": True}
    adaptation = next((name for name, table in ADAPTATION.items() if table.matches(words)), "none")
    return found | {"adaptation": adaptation, **ADAPTATION[adaptation].read(words)}


def limit_of(value: float | str) -> tuple[float, str]:
    """Return a limit and its unit.

    >>> limit_of(60), limit_of("64000B")
    ((60.0, 'packets'), (64000.0, 'bytes'))
    """
    return (float(value.removesuffix("B")), "bytes") if isinstance(value, str) else (float(value), "packets")


def _drop_tail(own: Mapping[str, Any]) -> Ns2Queue:
    limit, unit = limit_of(own["limit"])
    whole = round(limit) + (0 if own.get("strict_limit") else 1)
    if unit == "bytes":
        return Ns2Queue("DropTail", whole, {"queue_in_bytes_": "true", "mean_pktsize_": "1"})
    return Ns2Queue("DropTail", whole, {"queue_in_bytes_": "false", "mean_pktsize_": "500"})
