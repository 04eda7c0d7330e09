"""A recorded ns-2 study as a scenario: queues and flows, in the scenario's words.

The queues get the dialect ``ns2-2.35``, and the study's departures from ns-2's defaults. `Recording.unread` finds the
settings that nothing here reads; this module names settings that are read but have no equal in a scenario.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from aqmlab.errors import InputError
from aqmlab.interop.importing.quantities import in_words, packets, rate, size, time
from aqmlab.interop.importing.recording import Action, Recording, Settings
from aqmlab.interop.ns2.flows import SENDER, SENDERS, WHOLE
from aqmlab.interop.ns2.quantities import bits, seconds
from aqmlab.interop.ns2.queues import ADAPTATION, read_queue
from aqmlab.interop.translation import is_true
from aqmlab.scenario.toml_text import Value

Table = dict[str, Value]
VARIANTS = {name: variant for variant, name in SENDERS.items()}
SINKS = {f"Agent/TCPSink{kind}" for kind in ("", "/DelAck", "/Sack1", "/Sack1/DelAck")}
TWO_WAY = {
    "Agent/TCP/FullTcp": "reno",
    "Agent/TCP/FullTcp/Tahoe": "tahoe",
    "Agent/TCP/FullTcp/Newreno": "newreno",
    "Agent/TCP/FullTcp/Sack": "sack",
}
"""ns-2's two-way TCPs, with the one-way variant that is nearest."""
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
MARKS_BELOW = (
    "ns-2 2.35 marks where p_b is below it and drops at it (mark_at_bound = false); ns-2 with DCTCP's patch, which "
    "also marks at it, is mark_at_bound = true"
)
TIMESTAMP_BYTES = 10.0
"""ns-2's ``ts_option_size_``."""
ENDLESS = 268_435_456
"""ns-2's ``maxpkts_`` of a source without an end."""


@dataclass
class Named:
    """Differences by the line of the study, each once; and what changes no event."""

    found: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, place: str, what: str) -> None:
        """Name a difference."""
        if (place, what) not in self.found:
            self.found.append((place, what))


def queue_table(kind: str, own: Settings, bits_per_second: float, place: str, named: Named) -> Table:
    """Return a ``[queue.NAME]`` table."""
    if kind not in QUEUES:
        allowed = ", ".join(name.removeprefix("Queue/") for name in QUEUES)
        raise InputError(f"{place}: {kind} is not read (allowed: {allowed})")
    own.without_effect("blocked_", "unblock_on_resume_")
    return QUEUES[kind](own, bits_per_second, place, named)


def _drop_tail(own: Settings, _: float, place: str, named: Named) -> Table:
    if is_true(own.get("drop_front_", "0")):
        named.add(place, "drop_front_ of Queue/DropTail: a full queue drops at its head")
    found = read_queue("DropTail", own)
    own.without_effect("mean_pktsize_", "summarystats_")
    return {"dialect": "ns2-2.35", "limit": in_words("limit", found["limit"])}


def _red(own: Settings, bits_per_second: float, place: str, named: Named) -> Table:
    found = read_queue("RED", own)
    if is_true(own["bytes_"]) != is_true(own["queue_in_bytes_"]):
        named.add(place, "bytes_ of Queue/RED that is not queue_in_bytes_: the mode is that of queue_in_bytes_")
    if found["adaptation"] == "none":
        own.without_effect("alpha_", "beta_", "interval_", "top_", "bottom_", "feng_adaptive_")
    if "auto" not in (found["min_th"], found["max_th"]):
        own.without_effect("targetdelay_")
    if not found["ecn"]:
        own.without_effect("mark_p_")
    if not is_true(own["drop_rand_"]) and not is_true(own["drop_front_"]):
        own.without_effect("drop_tail_")
    else:
        # Not read: these are differences.
        own.read -= {"drop_rand_", "drop_front_"}
    aqm = FAMILY.get(found["adaptation"], "gentle-red" if found["curve"] == "gentle" else "red")
    table: Table = {"aqm": aqm, "dialect": "ns2-2.35"}
    table |= {key: in_words(key, found[key]) for key in KEPT}
    if found["min_th"] == found["max_th"] != "auto":
        named.add(place, "thresh_ of Queue/RED that is maxthresh_: here it is smaller by a millionth")
        table["min_th"] = in_words("min_th", found["min_th"] * (1 - 1e-6))
    if found["ecn"]:
        table["ecn"] = True
    table |= _marking(found, named)
    if found["adaptation"] == "adaptive-red":
        found["max_p_low"] = found["max_p_low"] or min(0.01, 80_000 / bits_per_second)
    return table | {row.key: in_words(row.key, found[row.key]) for row in ADAPTATION[found["adaptation"]].rows}


def _marking(found: dict[str, Any], named: Named) -> Table:
    """Return up to which p_b a queue marks. No probability is greater than 1."""
    table: Table = {}
    if not found["p_one_is_early"]:
        table |= {"p_one_is_early": False, "mark_at_bound": True}
    elif found["mark_up_to"] > 1:
        table["mark_at_bound"] = True
    elif found["ecn"] and found["mark_up_to"] != MARK_UP_TO:
        note = f"mark_p_ {found['mark_up_to']:g}: {MARKS_BELOW}"
        named.notes += [] if note in named.notes else [note]
    if found["mark_up_to"] != MARK_UP_TO:
        table["mark_up_to"] = min(found["mark_up_to"], 1.0)
    return table


def _limit(own: Settings) -> Value:
    return packets(float(own["limit_"]))


def _sfq(own: Settings, _: float, _place: str, _named: Named) -> Table:
    own.without_effect("limit_")
    table: Table = {"aqm": "sfq", "hash": "modulo", "full": "ns2", "buckets": int(float(own["buckets_"]))}
    return table | {"limit": packets(float(own["maxqueue_"]))}


def _drr(own: Settings, _: float, place: str, named: Named) -> Table:
    own.without_effect("limit_")
    if is_true(own["mask_"]):
        named.add(place, "mask_ of Queue/DRR: flows are not kept apart by port")
    table: Table = {"aqm": "drr", "hash": "modulo", "buckets": int(float(own["buckets_"]))}
    return table | {"quantum": size(float(own["quantum_"])), "limit": size(float(own["blimit_"]))}


def _pi(own: Settings, _: float, place: str, named: Named) -> Table:
    in_bytes = is_true(own["queue_in_bytes_"])
    if in_bytes:
        named.add(place, "queue_in_bytes_ of Queue/PI: the queue is measured in packets")
    table: Table = {"aqm": "pi", "limit": _limit(own), "a": float(own["a_"]), "b": float(own["b_"])}
    table |= {"sampling": float(own["w_"]), "q_ref": packets(float(own["qref_"]))}
    table |= {"mean_packet": size(float(own["mean_pktsize_"])), "byte_mode": is_true(own["bytes_"])}
    return table | ({"ecn": True} if is_true(own["setbit_"]) else {})


def _rem(own: Settings, _: float, place: str, named: Named) -> Table:
    in_bytes = is_true(own["qib_"])
    if in_bytes:
        named.add(place, "qib_ of Queue/REM: the target queue is pbo_ packets of mean_pktsize_")
    if is_true(own["markpkts_"]):
        named.add(place, "markpkts_ of Queue/REM, which marks packets that are not ECN-capable too")
    table: Table = {"aqm": "rem", "limit": _limit(own), "gamma": float(own["gamma_"]), "phi": float(own["phi_"])}
    table |= {"target": packets(float(own["pbo_"])), "update_time": time(seconds(own["pupdtime_"]))}
    table |= {"rate_weight": float(own["inw_"]), "mean_packet": size(float(own["mean_pktsize_"]))}
    table["mode"] = "bytes" if in_bytes else "packets"
    return table | ({"ecn": True} if is_true(own["markpkts_"]) else {})


def _vq(own: Settings, _: float, place: str, named: Named) -> Table:
    in_bytes, mean = is_true(own["queue_in_bytes_"]), float(own["mean_pktsize_"])
    for variable in ("markpkts_", "markfront_", "drop_front_"):
        if is_true(own[variable]):
            named.add(place, f"{variable} of Queue/Vq")
    if not is_true(own["markpkts_"]):
        own.without_effect("ecnlim_")
    limit = float(own["limit_"])
    table: Table = {"aqm": "avq", "update": "ns2", "mode": "bytes" if in_bytes else "packets"}
    table |= {"gamma": float(own["gamma_"]), "virtual_limit": float(own["buflim_"]), "mean_packet": size(mean)}
    return table | {"limit": size(limit * mean) if in_bytes else packets(limit)}


def fair_bucket(aqm: str, buckets: int, source: int, sink: int) -> int | None:
    """Return which queue of SFQ or DRR ns-2 gives to a flow between two nodes; None for other disciplines.

    Source: ``SFQ::hash`` of queue/sfq.cc and ``DRR::hash`` of queue/drr.cc in 2.35; addresses are numbers of nodes.

    >>> fair_bucket("sfq", 16, 0, 5) == fair_bucket("sfq", 16, 1, 4), fair_bucket("red", 16, 0, 5)
    (True, None)
    """
    if aqm == "sfq":
        key = source + sink
        return (key + (key >> 8) + ~(key >> 4)) % ((2 << 19) - 1) % buckets
    if aqm == "drr":
        return ((source + (source >> 8) + ~(source >> 4)) % ((2 << 23) - 1) + 1) % buckets
    return None


QUEUES: dict[str, Callable[[Settings, float, str, Named], Table]] = {
    "Queue/DropTail": _drop_tail,
    "Queue/RED": _red,
    "Queue/SFQ": _sfq,
    "Queue/DRR": _drr,
    "Queue/PI": _pi,
    "Queue/REM": _rem,
    "Queue/Vq": _vq,
}


def tcp_table(of: Recording, sender: str, sink: str, named: Named) -> Table:
    """Return the transport of a TCP connection, with its departures from ns-2's defaults."""
    kind, place = of.kind(sender), of.place(sender)
    own = of.settings(sender)
    if kind in TWO_WAY and of.kind(sink) in TWO_WAY:
        named.add(place, f"{kind}: the one-way TCP {TWO_WAY[kind]} stands for it")
        values = {
            key: value for key, value in _sender_values(own, kind, place, named).items() if value != DEFAULTS[key]
        }
        length = size(float(own["segsize_"]))
        window = packets(float(values.get("window", DEFAULTS["window"])))
        return {"transport": TWO_WAY[kind], "packet_size": length, "tcp": {"window": window}}
    if kind not in VARIANTS:
        raise InputError(f"{place}: {kind} is not read (allowed: {', '.join((*VARIANTS, *TWO_WAY))}, Agent/UDP)")
    if of.kind(sink) not in SINKS:
        raise InputError(f"{of.place(sink)}: {of.kind(sink)} is not read (allowed: {', '.join(sorted(SINKS))})")
    if kind.endswith("/Sack1") and "Sack1" not in of.kind(sink):
        named.add(of.place(sink), f"{kind} with {of.kind(sink)}, which sends no SACK blocks: here it gets them")
    found: Table = {"transport": VARIANTS[kind]}
    options: Table = {}
    for key, value in _sender_values(own, kind, place, named).items():
        if value == DEFAULTS[key]:
            continue
        if key == "packet_size":
            found[key] = size(value)
        else:
            options[key] = time(value) if key in TIMES else packets(value) if key in PACKETS else _whole(value)
    ack, delayed = of.settings(sink), of.kind(sink).endswith("/DelAck")
    if float(ack["packetSize_"]) != 40:
        options["ack_size"] = size(float(ack["packetSize_"]))
    if delayed:
        options["delayed_ack"] = time(seconds(ack["interval_"]))
    if options:
        found["tcp"] = options
    return found


def _sender_values(own: Settings, kind: str, place: str, named: Named) -> dict[str, Any]:
    """Return the parameters of a sender."""
    values: dict[str, Any] = {}
    for key, variable in SENDER.items():
        text = own[variable]
        values[key] = is_true(text) if isinstance(DEFAULTS[key], bool) or key in WHOLE else seconds(text)
    if float(own["windowInitOption_"]) == 2:
        length = values["packet_size"]
        values["initial_window"] = 4.0 if length <= 1095 else 3.0 if length < 2190 else 2.0
    elif float(own["windowInitOption_"]) != 1:
        own.read.discard("windowInitOption_")
    if float(own["windowOption_"]) == 1:
        own.without_effect("windowConstant_", "windowThresh_")
    else:
        own.read.discard("windowOption_")
    largest = float(own["maxcwnd_"])
    if 0 < largest < values["window"]:
        values["window"] = largest
        if kind != "Agent/TCP":
            named.add(place, f"maxcwnd_ {largest:g} of {kind}: here the window also bounds what recovery sends")
    if not values["timestamps"]:
        own.without_effect("ts_option_size_", "ts_resetRTO_", "bugFix_ts_")
    if kind == "Agent/TCP" and not values["ecn"] and not is_true(own["QOption_"]):
        # It rounds the window that recovery begins with, and Tahoe has none (TcpAgent::slowdown).
        own.without_effect("precisionReduce_")
    own.read.discard("QOption_")
    if not is_true(own["useHeaders_"]):
        _without_headers(values, place, named)
    return values


def _without_headers(values: dict[str, Any], place: str, named: Named) -> None:
    """Let the length that ns-2 gives a packet contain its header, as where ``useHeaders_`` is false.

    Only the SYN has the length of a header then (``TcpAgent::output``).
    """
    header = values["header"] if values["syn"] else 1.0
    options = TIMESTAMP_BYTES if values["timestamps"] else 0.0
    if values["packet_size"] <= header + options:
        raise InputError(f"{place}: packets of {values['packet_size']:g} B without headers are not read")
    if not values["syn"]:
        named.add(place, "useHeaders_ false, syn_ false: the first packet is a byte shorter")
    values["packet_size"] -= header + options
    values["header"] = header
    note = f"useHeaders_ false: of each packet {header + options:g} B count as header, and not as payload"
    if note not in named.notes:
        named.notes.append(note)


def payload_of(of: Recording, sender: str) -> float:
    """Return the bytes that ns-2 hands to a packet of TCP."""
    return float(of.settings(sender)["segsize_" if of.kind(sender) in TWO_WAY else "packetSize_"])


def tcp_times(of: Recording, told: Sequence[Action], sender: str, named: Named) -> Table:
    """Return start, size and stop of a TCP connection, or when it has data to send; `told` has its commands."""
    payload = payload_of(of, sender)
    if not told:
        return {}
    first = told[0].at
    sent: float | None = 0.0
    periods: list[list[float]] = []
    for action in told:
        what, at = action.what, action.at
        if what == "detach":
            named.add(action.place, f"detach-agent at {at:g} s: here only new data end")
            what = "stop"
        if what == "stop":
            if periods and len(periods[-1]) == 1:
                periods[-1].append(at)
            continue
        if at > first and not (what == "start" and sent is None):
            named.add(
                action.place, f"{what} {action.argument}".strip() + f" at {at:g} s: only what is sent first is read"
            )
            continue
        sent = _sent(of, action, sent, payload)
        if not periods or len(periods[-1]) == 2:
            periods.append([at])
    if sent is not None:
        found: Table = {"start": time(first), "size": packets(max(sent, 0.0))} if sent else {}
        if found and len(periods[0]) == 2:
            found["stop"] = time(periods[0][1])
        return found
    return times_of(periods, of.end)


def _sent(of: Recording, action: Action, before: float | None, payload: float) -> float | None:
    """Return how many packets are asked for after a command; None if there is no end."""
    if action.what == "start":
        own = of.settings(action.handle)
        most = float(own.get("maxpkts_", ENDLESS)) if of.kind(action.handle).startswith("Source/") else ENDLESS
        return most if most < ENDLESS else None
    number = float(action.argument)
    if action.what == "send":
        return None if number < 0 or before is None else before + math.ceil(number / payload)
    if action.what == "producemore":
        return None if before is None else before + number
    return number


def times_of(periods: Sequence[Sequence[float]], end: float) -> Table:
    """Return start and stop, or ``active`` where there are several periods; one without an end lasts to `end`.

    >>> times_of([[1.0]], 9.0), times_of([[1.0, 2.0], [3.0]], 9.0)
    ({'start': '1s'}, {'active': [['1s', '2s'], ['3s', '9s']]})
    """
    own = [list(one) for one in periods if len(one) == 1 or one[1] > one[0]]
    merged: list[list[float]] = []
    for one in own:
        if merged and len(merged[-1]) == 2 and merged[-1][1] == one[0]:
            merged[-1] = [merged[-1][0], *one[1:]]
        else:
            merged.append(one)
    if not merged:
        return {}
    if len(merged) == 1:
        found: Table = {"start": time(merged[0][0])}
        return found | ({"stop": time(merged[0][1])} if len(merged[0]) == 2 else {})
    kept = [one for one in merged if one[0] < end]
    return {"active": [[time(one[0]), time(one[1] if len(one) == 2 else end)] for one in kept]}


def udp_periods(told: Sequence[Action], named: Named) -> list[list[float]]:
    """Return when a UDP source sends: begin, and end where there is one."""
    periods: list[list[float]] = []
    for action in told:
        is_open = bool(periods) and len(periods[-1]) == 1
        if action.what == "start" and is_open and action.at > periods[-1][0]:
            named.add(action.place, f"start at {action.at:g} s of a source that is sending")
        elif action.what == "start" and not is_open:
            periods.append([action.at])
        elif action.what in ("stop", "detach") and is_open:
            periods[-1].append(action.at)
    return periods


def udp_table(of: Recording, app: str, agent: str, periods: list[list[float]], named: Named) -> Table:
    """Return the transport of a UDP application; `periods` get an end where ``maxpkts_`` has one."""
    own, kind, place = of.settings(app), of.kind(app), of.place(app)
    kind = {"Traffic/Expoo": "Application/Traffic/Exponential", "Traffic/Pareto": "Application/Traffic/Pareto"}.get(
        kind, kind
    )
    kind = kind.removeprefix("Application/")
    if kind not in ("Traffic/CBR", "Traffic/Exponential", "Traffic/Pareto"):
        named.add(place, f"{of.kind(app)}: its packets are left out")
        return {}
    length, speed = float(own["packetSize_"]), bits(own["rate_"])
    if length > float(of.settings(agent)["packetSize_"]):
        named.add(place, f"packetSize_ of {of.kind(agent)}, which cuts packets of {length:g} B")
    if speed <= 0:
        raise InputError(f'{place}: rate_ "{own["rate_"]}" is not above 0')
    if kind == "Traffic/CBR":
        _end_by_number(float(own["maxpkts_"]), 8 * length / speed, periods)
        return {"transport": "udp", "rate": rate(speed), "packet_size": size(length)}
    if "maxpkts_" in own and float(own["maxpkts_"]) < ENDLESS:
        named.add(place, f"maxpkts_ of {of.kind(app)}: it does not end here")
    on, off, gap = seconds(own["burst_time_"]), seconds(own["idle_time_"]), 8 * length / speed
    if kind == "Traffic/Exponential" and on < gap / 2:
        # A burst of a packet: silences are the gaps.
        if gap <= 1e-4 * off:
            gap = 0.0
        else:
            named.add(place, "bursts of one packet: gaps are exponential here, in ns-2 a packet's time longer")
        table: Table = {"transport": "udp", "rate": rate(8 * length / (off + gap)), "packet_size": size(length)}
        return table | {"pattern": "poisson"}
    pattern: Table = {"on": {"exponential": time(on)}, "off": {"exponential": time(off)}}
    if kind == "Traffic/Pareto":
        shape = float(own["shape_"])
        pattern = {key: {"pareto": {"mean": time(x), "shape": shape}} for key, x in (("on", on), ("off", off))}
    named.add(
        place, "on-off traffic begins with a silence in ns-2, and its bursts are whole packets (here a burst begins)"
    )
    return {"transport": "udp", "rate": rate(speed), "packet_size": size(length), "pattern": pattern}


def _end_by_number(most: float, gap: float, periods: list[list[float]]) -> None:
    """End the periods of a source of equal gaps where it has sent all its packets."""
    for number, period in enumerate(periods):
        lasts = period[1] - period[0] if len(period) == 2 else math.inf
        if lasts > (most - 0.5) * gap:
            periods[number] = [period[0], period[0] + (most - 0.5) * gap]
            del periods[number + 1 :]
            return
        most -= math.ceil(lasts / gap)


def spread_of(values: Sequence[float], quantiles: Sequence[float]) -> Value | None:
    """Return a time, or the uniform distribution that has these quantiles; None if no uniform one has them.

    >>> spread_of([1.0, 1.0, 1.0], (0.25, 0.5, 0.75)), spread_of([0.25, 0.5, 0.75], (0.25, 0.5, 0.75))
    ('1s', {'uniform': ['0s', '1s']})
    """
    if all(low == high for low, high in pairwise(values)):
        return time(values[0])
    low, middle, high = values
    if not math.isclose(high - middle, middle - low, rel_tol=1e-6, abs_tol=1e-12):
        return None
    slope = (high - low) / (quantiles[2] - quantiles[0])
    begin = round(low - slope * quantiles[0], 12)
    return {"uniform": [time(begin), time(round(begin + slope, 12))]} if begin >= 0 and slope > 0 else None


def _whole(value: Any) -> Value:  # noqa: ANN401 - a flag or a number
    return value if isinstance(value, bool) else size(value)
