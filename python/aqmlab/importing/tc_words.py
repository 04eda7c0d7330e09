"""Queueing disciplines in tc's words as a scenario: what ``tc qdisc add`` and ``tc qdisc show`` have.

| tc | scenario |
|---|---|
| ``tbf rate R`` (or ``netem rate R``, or RED's ``bandwidth R``) | the bottleneck's rate |
| ``netem delay D`` | the bottleneck's delay |
| ``red limit L min MIN max MAX avpkt A burst B probability P [ecn]`` | ``aqm = "red"``, ``dialect = "linux"`` |
| ``pfifo limit N``, ``bfifo limit L`` | drop-tail |
| ``codel``, ``fq_codel``, ``pie``, ... | the discipline of that name, if there is one |

Sizes are whole bytes, w_q is 2^-Wlog with the Wlog that tc makes of the burst, max_p what the kernel makes of the
probability (`aqmlab.tuning.dialects.tc`). What tc leaves to its defaults gets them: max = limit / 4, min = max / 3,
avpkt 1000, burst = (2 min + max) / (3 avpkt), probability 0.02.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field

from aqmlab.errors import InputError, one_line
from aqmlab.importing.ns2_study import Table
from aqmlab.importing.words import packets, rate, size, time
from aqmlab.registry import disciplines
from aqmlab.scenario import unknown
from aqmlab.toml_text import Value, inline
from aqmlab.tuning.dialects.tc import effective_p, wlog_of

FLAGS = ("ecn", "noecn", "harddrop", "adaptive", "nodrop", "root", "ingress", "dq_rate_estimator", "bytemode")
PLACE = ("dev", "handle", "parent", "refcnt")
DECIMAL = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
BINARY = {"": 1.0, "k": 1024.0, "m": 1024.0**2, "g": 1024.0**3}
SECONDS = {"": 1e-6, "s": 1.0, "sec": 1.0, "secs": 1.0, "ms": 1e-3, "msec": 1e-3, "msecs": 1e-3}
SECONDS |= {"us": 1e-6, "usec": 1e-6, "usecs": 1e-6, "ns": 1e-9, "nsec": 1e-9, "nsecs": 1e-9}
SHAPERS = ("tbf", "netem")
OURS = {"pfifo": "drop-tail", "bfifo": "drop-tail", "fq_codel": "fq-codel", "fq_pie": "fq-pie", "dualpi2": "dualpi2"}
TIMES = ("target", "interval", "tupdate", "ce_threshold", "flows_target")
RATE, DELAY = 10e6, 0.02
"""Where no word says them."""


@dataclass
class Lines:
    """What lines of tc say: disciplines with their words, in the order of the lines."""

    found: list[tuple[int, str, dict[str, str]]] = field(default_factory=list)


@dataclass(frozen=True)
class Bottleneck:
    """A link with its queue, and what was not read."""

    rate_bps: float
    delay_s: float
    queue: Table
    notes: list[str]


def looks_like_tc(text: str) -> bool:
    """Whether there is a line of tc in a text."""
    return re.search(r"\btc\b.*\bqdisc\s+(?:add|replace|change)\b|^\s*qdisc\s", text, flags=re.MULTILINE) is not None


def read_tc(text: str, filename: str) -> Bottleneck:
    """Read lines of tc.

    Raises
    ------
    InputError
        With the line that cannot be read.
    """
    lines = _lines(text, filename)
    bits, delay = RATE, DELAY
    notes: list[str] = []
    said_rate = said_delay = False
    queue: Table | None = None
    for number, kind, words in lines.found:
        where = f"{filename}:{number}"
        if kind in SHAPERS:
            if "rate" in words:
                bits, said_rate = bits_of(words["rate"], where), True
            if kind == "netem" and "delay" in words:
                delay, said_delay = seconds_of(words["delay"], where), True
            if kind == "netem" and words.keys() & {"loss", "reorder", "corrupt", "duplicate"}:
                notes.append("netem's loss, reordering, corruption or duplication")
            if kind == "netem" and "jitter" in words:
                notes.append("netem's jitter")
            continue
        if queue is not None:
            raise InputError(f"{where}: a second discipline, {kind}; one queue is read")
        if kind == "red" and "bandwidth" in words and not said_rate:
            bits, said_rate = bits_of(words["bandwidth"], where), True
        queue, more = _queue(kind, words, where)
        notes += more
    if queue is None:
        raise InputError(f"{filename}: no line of tc with a discipline (red, pfifo, codel, ...) is in it")
    if not said_rate:
        notes.append(f"no rate is said (tbf rate ...): {rate(bits)} is assumed")
    if not said_delay:
        notes.append(f"no delay is said (netem delay ...): {time(delay)} is assumed")
    return Bottleneck(bits, delay, queue, notes)


def text_of(found: Bottleneck, *, name: str, description: str) -> str:
    """Write a scenario: the queue at the bottleneck of a dumbbell, with ten flows of CUBIC."""
    trunk: Table = {"rate": rate(found.rate_bps), "delay": time(found.delay_s), "queue": "bottleneck"}
    access: Table = {"rate": rate(max(1e9, 10 * found.rate_bps)), "delay": "1ms"}
    lines = ["format = 1", f"name = {inline(name)}", f"description = {inline(description)}", ""]
    lines += [f"# Not said, or not read: {one_line(note)}." for note in found.notes]
    lines += [
        "# The network beside the bottleneck and the flows are not tc's business: they are an example.",
        "",
        "[run]",
        'duration = "60s"',
        'warmup = "10s"',
        "",
        "[dumbbell]",
        f"bottleneck = {inline(trunk)}",
        f"left = {inline(access)}",
        f"right = {inline(access)}",
        "",
        "[queue.bottleneck]",
        *(f"{key} = {inline(value)}" for key, value in found.queue.items()),
        "",
        "[[flow]]",
        'name = "tcp"',
        "count = 10",
        'transport = "tcp"',
        'start = { uniform = ["0s", "1s"] }',
    ]
    if found.queue.get("ecn"):
        lines.append("tcp = { ecn = true }")
    return "\n".join(lines) + "\n"


def bits_of(text: str, where: str) -> float:
    """Read a rate of tc in bit/s: ``bit`` are bits, ``bps`` bytes.

    >>> bits_of("10mbit", ""), bits_of("1250kbps", ""), bits_of("10000000", "")
    (10000000.0, 10000000.0, 10000000.0)
    """
    found = re.fullmatch(r"([0-9.]+)\s*([kmgt]?)(i?)(bit|bps|)", text.strip().lower())
    if not found:
        raise InputError(f'{where}: "{text}" is no rate of tc (for example 10mbit)')
    factor = DECIMAL[found[2]] if not found[3] else 1024.0 ** " kmgt".index(found[2])
    return float(found[1]) * factor * (8 if found[4] == "bps" else 1)


def bytes_of(text: str, where: str) -> float:
    """Read a size of tc in bytes: its k is 1024.

    >>> bytes_of("60k", ""), bytes_of("400000b", ""), bytes_of("1mbit", "")
    (61440.0, 400000.0, 131072.0)
    """
    found = re.fullmatch(r"([0-9.]+)\s*([kmg]?)(b|bit|)", text.strip().lower())
    if not found:
        raise InputError(f'{where}: "{text}" is no size of tc (for example 30000, 60k)')
    return float(found[1]) * BINARY[found[2]] / (8 if found[3] == "bit" else 1)


def seconds_of(text: str, where: str) -> float:
    """Read a time of tc in s; a number by itself is in microseconds.

    >>> seconds_of("20ms", ""), seconds_of("500", "")
    (0.02, 0.0005)
    """
    found = re.fullmatch(r"([0-9.]+)\s*([a-z]*)", text.strip().lower())
    if not found or found[2] not in SECONDS:
        raise InputError(f'{where}: "{text}" is no time of tc (for example 20ms)')
    return float(f"{float(found[1]) * SECONDS[found[2]]:.12g}")


def _lines(text: str, filename: str) -> Lines:
    lines = Lines()
    joined = re.sub(r"\\\n", "  ", text)
    for number, line in enumerate(joined.splitlines(), start=1):
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        if "qdisc" not in words:
            continue
        place = words.index("qdisc")
        rest = words[place + 1 :]
        if place and (not rest or rest[0] not in ("add", "replace", "change")):
            # tc qdisc del, tc qdisc show, or no line of tc at all.
            continue
        rest = rest[1:] if place else rest
        kind, own = _words(rest, f"{filename}:{number}")
        if kind:
            lines.found.append((number, kind, own))
    return lines


def _words(words: list[str], where: str) -> tuple[str, dict[str, str]]:
    """Split what follows ``qdisc add``: the discipline, and its words."""
    kind, own = "", {}
    place = 0
    while place < len(words):
        word = words[place]
        if word in PLACE and place + 1 < len(words):
            place += 2
        elif word in FLAGS:
            own[word] = "yes"
            place += 1
        elif not kind:
            kind = word
            place += 2 if place + 1 < len(words) and re.fullmatch(r"[0-9a-f]*:[0-9a-f]*", words[place + 1]) else 1
        elif place + 1 < len(words):
            own[word] = words[place + 1]
            place += 2
            # netem delay TIME JITTER
            if kind == "netem" and word == "delay" and place < len(words) and re.match(r"[0-9.]+[um]?s", words[place]):
                own["jitter"] = words[place]
                place += 1
        else:
            raise InputError(f'{where}: "{word}" has no value')
    return kind, own


def _queue(kind: str, words: Mapping[str, str], where: str) -> tuple[Table, list[str]]:
    if kind == "red":
        return _red(words, where)
    known = {one.name: one for one in disciplines()}
    aqm = OURS.get(kind, kind)
    if aqm not in known:
        raise InputError(f"{where}: {unknown('discipline', kind, ['red', 'pfifo', 'bfifo', *known])}")
    if aqm == "drop-tail":
        limit = words.get("limit", "1000")
        own = size(bytes_of(limit, where)) if kind == "bfifo" else packets(float(limit.rstrip("p")))
        return {"aqm": aqm, "limit": own}, []
    keys = {parameter.key: parameter for parameter in known[aqm].parameters}
    found: Table = {"aqm": aqm}
    notes = []
    for key, value in words.items():
        if key == "noecn":
            found |= {"ecn": False} if "ecn" in keys else {}
        elif key not in keys:
            notes.append(f"{kind} {key}" + ("" if value == "yes" else f" {value}"))
        elif value == "yes":
            found[key] = True
        else:
            found[key] = _value(key, value, where)
    return found, notes


def _value(key: str, value: str, where: str) -> Value:
    if key in TIMES:
        return time(seconds_of(value, where))
    if key == "limit":
        return packets(float(value.rstrip("p")))
    if key in ("memory_limit", "quantum"):
        return size(bytes_of(value, where))
    try:
        number = float(value)
    except ValueError:
        raise InputError(f'{where}: "{key} {value}" is not read') from None
    return int(number) if number.is_integer() else number


def _red(words: Mapping[str, str], where: str) -> tuple[Table, list[str]]:
    if "limit" not in words:
        raise InputError(f"{where}: red needs a limit")
    avpkt = bytes_of(words.get("avpkt", "1000"), where)
    limit = bytes_of(words["limit"], where)
    greatest = bytes_of(words["max"], where) if "max" in words else limit // 4
    if "max" not in words and "min" in words:
        greatest = 3 * bytes_of(words["min"], where)
    least = bytes_of(words["min"], where) if "min" in words else greatest // 3
    if not 0 < least < greatest:
        raise InputError(f"{where}: red needs 0 < min < max, not min {least:g} and max {greatest:g}")
    burst = round(float(words["burst"])) if "burst" in words else int((2 * least + greatest) / (3 * avpkt))
    wlog = wlog_of(round(least), burst, round(avpkt))
    if wlog is None:
        raise InputError(f"{where}: tc refuses a burst of {burst} packets (allowed: from min / avpkt on)")
    probability = min(float(words.get("probability", "0.02")), 1 - 2**-32)
    notes = [f"red {key}" for key in ("harddrop", "nodrop") if key in words]
    found: Table = {
        "aqm": "red",
        "dialect": "linux",
        "mode": "bytes",
        "limit": size(limit),
        "min_th": size(least),
        "max_th": size(greatest),
        "max_p": effective_p(probability, round(greatest - least)),
        "w_q": 2.0**-wlog,
        "mean_packet": size(avpkt),
    }
    if "adaptive" in words:
        found |= {"adaptation": "adaptive-red", "adapt_clock": "timer"}
    if "ecn" in words:
        found["ecn"] = True
    return found, notes
