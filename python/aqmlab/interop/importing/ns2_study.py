"""What a recorded ns-2 study is as a scenario: queues, links, flows, in the scenario's words.

The queues get the dialect ``ns2-2.35``, and what the study has otherwise than ns-2's defaults.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from aqmlab.errors import InputError
from aqmlab.interop.importing.quantities import in_words, packets, rate, size, time
from aqmlab.interop.importing.recording import QUANTILES, Recording
from aqmlab.interop.ns2.flows import SENDER, SENDERS, WHOLE
from aqmlab.interop.ns2.quantities import seconds
from aqmlab.interop.ns2.queues import ADAPTATION, read_queue
from aqmlab.interop.translation import is_true
from aqmlab.scenario.toml_text import Value

Table = dict[str, Value]
VARIANTS = {name: variant for variant, name in SENDERS.items()}
DEFAULTS = {
    "window": 20.0,
    "packet_size": 1000.0,
    "header": 40.0,
    "initial_window": 2.0,
    "syn": True,
    "limited_transmit": True,
    "ecn": False,
    "timestamps": False,
    "min_rto": 0.2,
    "max_rto": 60.0,
    "initial_rto": 3.0,
    "tick": 0.01,
    "max_burst": 0.0,
}
TIMES = ("min_rto", "max_rto", "initial_rto", "tick")
PACKETS = ("window", "initial_window", "max_burst")
FAMILY = {"adaptive-red": "adaptive-red", "feng": "feng-red"}
KEPT = ("limit", "min_th", "max_th", "max_p", "w_q", "mean_packet", "mode", "curve", "spacing")
"""Parameters of every RED that is read; others are written where ``ns2-2.35`` has another value."""
MARK_UP_TO = 0.1


def queue_table(kind: str, own: dict[str, str], bits_per_second: float, filename: str) -> tuple[Table, list[str]]:
    """Return a ``[queue.NAME]`` table, and what of the queue is not read."""
    notes = [f"{kind} {name}" for name in ("drop_front_", "drop_rand_") if is_true(own.get(name, "0"))]
    discipline = kind.removeprefix("Queue/")
    if discipline not in ("DropTail", "RED"):
        raise InputError(f"{filename}: {kind} is not read (allowed: DropTail, RED)")
    found = read_queue(discipline, own)
    if discipline == "DropTail":
        return {"dialect": "ns2-2.35", "limit": in_words("limit", found["limit"])}, notes
    if is_true(own["bytes_"]) != is_true(own["queue_in_bytes_"]):
        notes.append("bytes_ that is not queue_in_bytes_ (the mode is that of queue_in_bytes_)")
    if own["cautious_"] not in ("0", "false"):
        notes.append("cautious_")
    aqm = FAMILY.get(found["adaptation"], "gentle-red" if found["curve"] == "gentle" else "red")
    table: Table = {"aqm": aqm, "dialect": "ns2-2.35"}
    table |= {key: in_words(key, found[key]) for key in KEPT}
    if found["ecn"]:
        table["ecn"] = True
    if not found["p_one_is_early"]:
        table["p_one_is_early"] = False
    if found["mark_up_to"] != MARK_UP_TO:
        table["mark_up_to"] = found["mark_up_to"]
    if found["adaptation"] == "adaptive-red":
        found["max_p_low"] = found["max_p_low"] or min(0.01, 80_000 / bits_per_second)
    return table | {row.key: in_words(row.key, found[row.key]) for row in ADAPTATION[found["adaptation"]].rows}, notes


def tcp_table(of: Recording, sender: str, sink: str, filename: str) -> Table:
    """Return the transport of a TCP connection, with what is not ns-2's default."""
    kind = of.kind(sender)
    if kind not in VARIANTS:
        allowed = ", ".join(VARIANTS)
        raise InputError(f"{filename}: {kind} is not read (allowed: {allowed}, Agent/UDP)")
    own = of.settings(sender)
    found: Table = {"transport": VARIANTS[kind]}
    options: Table = {}
    for key, variable in SENDER.items():
        text = own[variable]
        value: Any = is_true(text) if isinstance(DEFAULTS[key], bool) or key in WHOLE else seconds(text)
        if value == DEFAULTS[key]:
            continue
        if key == "packet_size":
            found[key] = size(value)
        else:
            options[key] = time(value) if key in TIMES else packets(value) if key in PACKETS else _whole(value)
    ack, delayed = of.settings(sink), of.kind(sink).endswith("/DelAck")
    if float(ack.get("packetSize_", "40")) != 40:
        options["ack_size"] = size(float(ack["packetSize_"]))
    if delayed:
        options["delayed_ack"] = time(seconds(ack["interval_"]))
    if options:
        found["tcp"] = options
    return found


def tcp_times(runs: Sequence[Recording], actions: Sequence[list[tuple[float, str, str]]], own: Table) -> Table:
    """Return start, size and stop of a TCP connection; `actions` has its commands in each run."""
    first = [told[0][0] if told else math.nan for told in actions]
    found: Table = {}
    if math.isnan(first[1]):
        return found
    found["start"] = spread_of(first)
    middle = actions[1]
    payload = float(str(own.get("packet_size", "1000B")).removesuffix("B"))
    sizes = [what for what in middle if what[1] in ("send", "produce", "producemore") and float(what[2]) >= 0]
    if sizes:
        units = [math.ceil(float(a) / payload) if what == "send" else float(a) for _, what, a in sizes]
        found["size"] = packets(sum(units))
    stops = [at for at, what, _ in middle if what == "stop"]
    if stops:
        found["stop"] = time(stops[0])
    return found


def udp_table(of: Recording, app: str, agent: str) -> tuple[Table, list[str]]:
    """Return the transport of a UDP application, and what of it is not read."""
    own, kind = of.settings(app), of.kind(app).removeprefix("Application/")
    notes: list[str] = []
    length = float(own["packetSize_"]) if "packetSize_" in own else 210.0
    if length > float(of.settings(agent)["packetSize_"]):
        notes.append(f"packetSize_ of Agent/UDP, which cuts packets of {length:g} B")
    bits = _bits(own["rate_"]) if "rate_" in own else 448e3
    if kind == "Traffic/CBR":
        if "interval_" in own:
            bits = 8 * length / seconds(own["interval_"])
        if is_true(own.get("random_", "0")):
            notes.append("random_ of CBR")
        return {"transport": "udp", "rate": rate(bits), "packet_size": size(length)}, notes
    if kind not in ("Traffic/Exponential", "Traffic/Pareto"):
        return {}, [f"Application/{kind}"]
    on, off = seconds(own["burst_time_"]), seconds(own["idle_time_"])
    if kind == "Traffic/Exponential" and on * bits < 8 * length * 1e-3:
        # The transmission time of a packet is negligible: the mean gap is the silence.
        gap = off + 8 * length / bits if 8 * length / bits > 1e-4 * off else off
        found: Table = {"transport": "udp", "rate": rate(8 * length / gap), "packet_size": size(length)}
        return found | {"pattern": "poisson"}, notes
    pattern: Table = {"on": {"exponential": time(on)}, "off": {"exponential": time(off)}}
    if kind == "Traffic/Pareto":
        shape = float(own["shape_"])
        pattern = {key: {"pareto": {"mean": time(x), "shape": shape}} for key, x in (("on", on), ("off", off))}
    notes.append("the silence with which on-off traffic begins in ns-2 (here it begins with a burst)")
    found = {"transport": "udp", "rate": rate(bits), "packet_size": size(length), "pattern": pattern}
    return found, notes


def spread_of(values: Sequence[float]) -> Value:
    """Return a time, or the uniform distribution that has these quantiles.

    >>> spread_of([1.0, 1.0, 1.0]), spread_of([0.25, 0.5, 0.75])
    ('1s', {'uniform': ['0s', '1s']})
    """
    low, middle, high = values
    if low == middle == high:
        return time(middle)
    if not math.isclose(high - middle, middle - low, rel_tol=1e-6, abs_tol=1e-12):
        return time(middle)
    slope = (high - low) / (QUANTILES[2] - QUANTILES[0])
    begin = max(0.0, round(low - slope * QUANTILES[0], 12))
    return {"uniform": [time(begin), time(round(begin + slope, 12))]}


def _bits(text: str) -> float:
    factor = {"k": 1e3, "m": 1e6, "g": 1e9}
    body = text.strip().removesuffix("ps")
    byte = body.endswith("B")
    body = body.rstrip("bB")
    scale = factor.get(body[-1].lower(), 1.0) if body else 1.0
    return float(body[:-1] if scale != 1.0 else body) * scale * (8 if byte else 1)


def _whole(value: Any) -> Value:  # noqa: ANN401 - a flag or a number
    return value if isinstance(value, bool) else size(value)
