"""A discipline in tc's words as a ``[queue.NAME]`` table.

Sizes are whole bytes, w_q is 2^-Wlog with the Wlog that tc makes of the burst, max_p the kernel's value for the
probability (`aqmlab.interop.tc.red`). Options that a line leaves out have tc's or the kernel's defaults; parameters
that Linux fixes are written (`aqmlab.interop.tc.other_queues`).
"""

from __future__ import annotations

from collections.abc import Mapping

from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import in_words, packets, rate, size
from aqmlab.interop.tc import cake
from aqmlab.interop.tc.grammar import CAKES, Words
from aqmlab.interop.tc.other_queues import ECT1, OTHER_QUEUES
from aqmlab.interop.tc.quantities import bits_of, bytes_of, number_of, seconds_of
from aqmlab.interop.tc.red import CHOKE, RED, SHOWN, assumptions, read_choke, read_red
from aqmlab.scenario.file import unknown

FIFO = "drop-tail"
NO_QUEUE = ("noqueue", "noop", "mq", "mqprio", "ingress", "clsact")
QUEUE_LENGTH = 1000
"""txqueuelen of most devices in packets."""
FULL_FRAME = 1514
KINDS = {table.kind: aqm for aqm, table in OTHER_QUEUES.items()} | {"sfq": "sfq"}
READ = ("red", "choke", "pfifo", "bfifo", "pfifo_fast", "prio", "ets", "tbf", "htb", "hfsc", "netem", *KINDS, *CAKES)
NEAREST = {
    "fq": "fq_codel, or sfq, which has no AQM either; a sender's pacing is tcp's own here",
    "gred": 'aqm = "wred" with a class for each virtual queue',
    "cbq": "htb with the same classes",
    "drr": 'aqm = "wfq" with a class for each class of drr, its quantum as the weight',
    "qfq": 'aqm = "wfq" with a class for each class of qfq, its weight as the weight',
    "hhf": "fq_codel",
    "pfifo_head_drop": "pfifo, which drops arrivals",
    "dsmark": "a marker of the scenario",
    "taprio": "prio, which has no gates",
}
"""The nearest equivalent of each discipline that is not read."""
MOST_QUANTUM = 1514
"""Bytes of sfq's quantum without the word: a largest packet."""


def leaf_table(kind: str, words: Words, *, printed: bool, rate_bps: float) -> tuple[Table, list[str]]:
    """Return the table of a discipline, and notes on assumptions and omissions for its line.

    Raises
    ------
    ValueError
        If it is unknown, or tc would reject its options.
    """
    if kind in ("pfifo", "bfifo"):
        return _fifo(kind, words)
    if kind in CAKES:
        return _cake(kind, words)
    if kind == "red":
        table, notes = _red(words, rate_bps)
    elif kind == "choke":
        table, notes = _choke(words, rate_bps)
    elif kind in KINDS:
        if kind == "fq_codel" and printed:
            words = Words({"ecn": "noecn"} | words.values, words.lists)  # tc prints "ecn" where it is on
        return _other(kind, words)
    else:
        if kind in NEAREST:
            raise ValueError(f'unknown discipline "{kind}" (allowed: {", ".join(READ)}); nearest: {NEAREST[kind]}')
        raise ValueError(unknown("discipline", kind, list(READ)))
    return table, [*notes, *assumptions(words.values, printed=printed)]


def _unread(kind: str, words: Words, known: set[str]) -> list[str]:
    listed = ", ".join(words.without(known))
    return [f"{kind} {listed}"] if listed else []


def _fifo(kind: str, words: Words) -> tuple[Table, list[str]]:
    limit = words.values.get("limit")
    notes = _unread(kind, words, {"limit"})
    if limit is None:
        notes.append(f"{kind} has no limit: that of a device with {QUEUE_LENGTH} packets is assumed")
    if kind == "bfifo":
        found = bytes_of(limit) if limit is not None else QUEUE_LENGTH * FULL_FRAME
        return {"aqm": FIFO, "limit": size(found)}, notes
    return {"aqm": FIFO, "limit": packets(number_of(limit) if limit is not None else QUEUE_LENGTH)}, notes


def _bandwidth(kind: str, words: Mapping[str, str], rate_bps: float) -> list[str]:
    """Name a bandwidth that is not the link's rate."""
    if "bandwidth" not in words or abs(bits_of(words["bandwidth"]) - rate_bps) <= 1e-6 * rate_bps:
        return []
    return [f"{kind} bandwidth {words['bandwidth']} (idle time counts at the link's rate, {rate(rate_bps)})"]


def _red(words: Words, rate_bps: float) -> tuple[Table, list[str]]:
    own = read_red(words.values)
    if own["nodrop"] and not own["ecn"]:
        raise ValueError("red needs ecn where nodrop is given")
    notes = _unread("red", words, {row.word for row in RED.rows} | set(SHOWN))
    found: Table = {"aqm": "red", "dialect": "linux", "mode": "bytes"}
    found |= {key: own[key] for key in ("limit", "min_th", "max_th", "max_p", "w_q", "mean_packet")}
    if own["adaptation"] == "adaptive-red":
        found |= {"adaptation": "adaptive-red", "adapt_clock": "timer"}
    if own["ecn"]:
        found["ecn"] = True
    if not own["mark_forced"]:
        found["mark_forced"] = False
    if own["nodrop"]:
        found["nodrop"] = True
    return found, notes + _bandwidth("red", words.values, rate_bps)


def _choke(words: Words, rate_bps: float) -> tuple[Table, list[str]]:
    own = read_choke(words.values)
    notes = _unread("choke", words, {row.word for row in CHOKE.rows} | set(SHOWN))
    found: Table = {"aqm": "choke", "dialect": "linux"}
    found |= {key: packets(own[key]) for key in ("limit", "min_th", "max_th")}
    found |= {key: own[key] for key in ("max_p", "w_q", "mean_packet")}
    if own["ecn"]:
        found["ecn"] = True
    return found, notes + _bandwidth("choke", words.values, rate_bps)


def _other(kind: str, line: Words) -> tuple[Table, list[str]]:
    """Read a discipline that has a table; what Linux fixes is as in Linux."""
    words = Words(dict(line.values), dict(line.lists))
    aqm = KINDS[kind]
    if kind == "sfq" and "quantum" in words.values and "perturb" not in words.values:
        aqm = "drr" if bytes_of(words.values["quantum"]) != MOST_QUANTUM else aqm
    table = OTHER_QUEUES[aqm]
    known = {row.word for row in table.rows}
    notes = SPECIAL.get(kind, _nothing)(words.values, aqm)
    found = {fixed.key: fixed.value for fixed in table.fixed if fixed.value is not None}
    found |= dict(table.usual) | table.read(words.values)
    notes = [*_unread(kind, words, known), *notes]
    return {"aqm": aqm, **{key: in_words(key, value) for key, value in found.items()}}, notes


def _cake(kind: str, words: Words) -> tuple[Table, list[str]]:
    found, notes = cake.read(words.values)
    if kind == "cake_mq":
        notes.append("cake_mq has a queue for each transmit queue of the device: one with the whole rate is simulated")
    return {"aqm": "cake", "ecn": True, **{key: in_words(key, value) for key, value in found.items()}}, notes


def _nothing(words: dict[str, str], aqm: str) -> list[str]:
    return []


def _sfb(words: dict[str, str], aqm: str) -> list[str]:
    """Derive the target from max, or max from the target, as tc does."""
    target, most = (number_of(words.get(word, "0")) for word in ("target", "max"))
    if "limit" in words and number_of(words["limit"]) == 0:
        del words["limit"]
    most = most or ((target * 5 + 1) // 4 if target >= 1 else 25)
    target = target or (most * 4 + 3) // 5
    words |= {"max": str(int(most)), "target": str(int(target))}
    return []


def _fq_codel(words: dict[str, str], aqm: str) -> list[str]:
    """Read the code points that a CE threshold marks: all, or ECT(1)."""
    if "ce_threshold_selector" not in words:
        return []
    text = words.pop("ce_threshold_selector")
    value, _, mask = text.partition("/")
    chosen = int(value, 0), int(mask or "0xff", 0)
    if chosen[1] and chosen != (1, 3):
        return [f"fq_codel ce_threshold_selector {text} (allowed: {ECT1}; all ECN-capable packets are assumed)"]
    words["ce_threshold_selector"] = ECT1 if chosen[1] else ""
    return []


def _sfq(words: dict[str, str], aqm: str) -> list[str]:
    """Leave out what has no effect: a quantum of one packet, a depth of at least the limit, the count of flows."""
    if aqm == "sfq" and bytes_of(words.get("quantum", str(MOST_QUANTUM))) == MOST_QUANTUM:
        words.pop("quantum", None)
    limit = number_of(words.get("limit", "127"))
    if number_of(words.get("depth", "127")) >= limit:
        words.pop("depth", None)
    if "/" in words.get("flows", ""):
        del words["flows"]
    return []


def _dualpi2(words: dict[str, str], aqm: str) -> list[str]:
    """Compute what tc makes of round-trip times; leave out the words of what ours always does."""
    notes = []
    longest, typical = (seconds_of(words.pop(word, "0")) for word in ("max_rtt", "typical_rtt"))
    if longest or typical:
        typical = typical or longest / 6
        longest = longest or typical * 6
        if typical > longest:
            raise ValueError("typical_rtt must be at most max_rtt")
        update = min(typical, longest / 3)
        times = {"target": typical, "tupdate": update}
        words.update({word: f"{1e6 * value:.0f}us" for word, value in times.items()})
        words["alpha"] = f"{int(256 * 0.1 * update / longest**2) / 256}"
        words["beta"] = f"{int(256 * 0.3 / longest) / 256}"
    for word, usual in {"ect": "l4s_ect", "gso": "split_gso"}.items():
        if words.get(word) == usual:
            del words[word]
    if words.get("step_thresh", "").endswith("p"):
        notes.append(f"dualpi2 step_thresh {words.pop('step_thresh')} (the threshold is a time; 1 ms is assumed)")
    if "classic_protection" in words and not 0 < number_of(words["classic_protection"].removesuffix("%")) < 100:
        notes.append(f"dualpi2 classic_protection {words.pop('classic_protection')} (allowed: 1 to 99; 10 is assumed)")
    return notes


SPECIAL = {"fq_codel": _fq_codel, "sfb": _sfb, "sfq": _sfq, "dualpi2": _dualpi2}
