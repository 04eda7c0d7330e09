"""Queueing disciplines in tc's words as a scenario: what ``tc qdisc add`` and ``tc qdisc show`` have.

| tc | scenario |
|---|---|
| ``tbf rate R`` (or ``netem rate R``, or RED's ``bandwidth R``) | the bottleneck's rate |
| ``netem delay D`` | the bottleneck's delay |
| ``red limit L min MIN max MAX avpkt A burst B probability P [ecn]`` | ``aqm = "red"``, ``dialect = "linux"`` |
| ``pfifo limit N``, ``bfifo limit L`` | drop-tail |
| ``codel``, ``fq_codel``, ``pie``, ... | the discipline of that name, if there is one |

Sizes are whole bytes, w_q is 2^-Wlog with the Wlog that tc makes of the burst, max_p what the kernel makes of the
probability (`aqmlab.interop.tc.red`). What tc leaves to its defaults gets them: max = limit / 4, min = max / 3,
avpkt 1000, burst = (2 min + max) / (3 avpkt), probability 0.02. CoDel and PIE get the values that Linux fixes
(`aqmlab.interop.tc.other_queues`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aqmlab.errors import InputError, one_line
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import in_words, packets, rate, size, time
from aqmlab.interop.tc.other_queues import ALONE, OTHER_QUEUES
from aqmlab.interop.tc.quantities import bits_of, bytes_of, number_of, seconds_of
from aqmlab.interop.tc.red import read_red
from aqmlab.scenario.file import unknown
from aqmlab.scenario.registry import disciplines
from aqmlab.scenario.toml_text import Value, inline

FLAGS = ("harddrop", "adaptive", "nodrop", "root", "ingress", "dq_rate_estimator", "no_dq_rate_estimator")
PLACE = ("dev", "handle", "parent", "refcnt")
SHAPERS = ("tbf", "netem")
OURS = {"pfifo": "drop-tail", "bfifo": "drop-tail", **{table.kind: aqm for aqm, table in OTHER_QUEUES.items()}}
TIMES = ("target", "interval", "tupdate", "ce_threshold", "flows_target")
RATE, DELAY = 10e6, 0.02
"""Defaults of rate and delay."""


@dataclass
class Lines:
    """The disciplines of lines of tc with their options, in the order of the lines."""

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
                bits, said_rate = _read(bits_of, words["rate"], where), True
            if kind == "netem" and "delay" in words:
                delay, said_delay = _read(seconds_of, words["delay"], where), True
            if kind == "netem" and words.keys() & {"loss", "reorder", "corrupt", "duplicate"}:
                notes.append("netem's loss, reordering, corruption or duplication")
            if kind == "netem" and "jitter" in words:
                notes.append("netem's jitter")
            continue
        if queue is not None:
            raise InputError(f"{where}: a second discipline, {kind}; one queue is read")
        if kind == "red" and "bandwidth" in words and not said_rate:
            bits, said_rate = _read(bits_of, words["bandwidth"], where), True
        try:
            queue, more = _queue(kind, words)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
        notes += more
    if queue is None:
        raise InputError(f"{filename}: no line of tc with a discipline (red, pfifo, codel, ...) is in it")
    if not said_rate:
        notes.append(f"no rate is given (tbf rate ...): {rate(bits)} is assumed")
    if not said_delay:
        notes.append(f"no delay is given (netem delay ...): {time(delay)} is assumed")
    return Bottleneck(bits, delay, queue, notes)


def text_of(found: Bottleneck, *, name: str, description: str) -> str:
    """Write a scenario: the queue at the bottleneck of a dumbbell, with ten flows of CUBIC."""
    trunk: Table = {"rate": rate(found.rate_bps), "delay": time(found.delay_s), "queue": "bottleneck"}
    access: Table = {"rate": rate(max(1e9, 10 * found.rate_bps)), "delay": "1ms"}
    lines = ["format = 1", f"name = {inline(name)}", f"description = {inline(description)}", ""]
    lines += [f"# Not given, or not read: {one_line(note)}." for note in found.notes]
    lines += [
        "# The network beside the bottleneck and the flows are not in lines of tc: they are an example.",
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
        elif word in ALONE:
            own[ALONE[word]] = word
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


def _read(read: Callable[[str], float], text: str, where: str) -> float:
    try:
        return read(text)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None


def _queue(kind: str, words: Mapping[str, str]) -> tuple[Table, list[str]]:
    """Read a discipline; a `ValueError` says what of it cannot be read."""
    if kind == "red":
        return _red(words)
    known = {one.name: one for one in disciplines()}
    aqm = OURS.get(kind, kind)
    if aqm not in known:
        raise ValueError(unknown("discipline", kind, ["red", "pfifo", "bfifo", *known]))
    if aqm == "drop-tail":
        limit = words.get("limit", "1000")
        return {"aqm": aqm, "limit": size(bytes_of(limit)) if kind == "bfifo" else packets(number_of(limit))}, []
    if aqm in OTHER_QUEUES:
        return _other(aqm, words)
    keys = {parameter.key for parameter in known[aqm].parameters}
    found: Table = {"aqm": aqm}
    notes = []
    for key, value in words.items():
        if key in keys:
            found[key] = not value.startswith("no") if key in ALONE else value == "yes" or _value(key, value)
        else:
            notes.append(_unread(kind, key, value))
    return found, notes


def _unread(kind: str, word: str, value: str) -> str:
    return f"{kind} {word}" + ("" if value == "yes" or word in ALONE else f" {value}")


def _other(aqm: str, words: Mapping[str, str]) -> tuple[Table, list[str]]:
    """Read a discipline that has a table; what Linux fixes is as in Linux."""
    table = OTHER_QUEUES[aqm]
    found = {fixed.key: fixed.value for fixed in table.fixed if fixed.value is not None} | table.read(words)
    known = {row.word for row in table.rows}
    notes = [_unread(table.kind, word, value) for word, value in words.items() if word not in known]
    return {"aqm": aqm, **{key: in_words(key, value) for key, value in found.items()}}, notes


def _value(key: str, value: str) -> Value:
    if key in TIMES:
        return time(seconds_of(value))
    if key == "limit":
        return packets(number_of(value))
    if key in ("memory_limit", "quantum"):
        return size(bytes_of(value))
    try:
        number = float(value)
    except ValueError:
        raise ValueError(f'"{key} {value}" is not read') from None
    return int(number) if number.is_integer() else number


def _red(words: Mapping[str, str]) -> tuple[Table, list[str]]:
    own = read_red(words)
    notes = [f"red {key}" for key in ("harddrop", "nodrop") if key in words]
    found: Table = {"aqm": "red", "dialect": "linux", "mode": "bytes"}
    found |= {key: own[key] for key in ("limit", "min_th", "max_th", "max_p", "w_q", "mean_packet")}
    if own["adaptation"] == "adaptive-red":
        found |= {"adaptation": "adaptive-red", "adapt_clock": "timer"}
    if own["ecn"]:
        found["ecn"] = True
    return found, notes
