"""Writes a case as a scenario file."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from goldens.model import BOTTLENECK, Case, Cbr, Counts, Link, Tcp

_QUEUE = """
[queue.{name}]
aqm = "drop-tail"
limit = "{limit}p"
dialect = "ns2-2.35"
"""


def scenario(case: Case, duration: Decimal, counts: Mapping[int, Counts]) -> str:
    """The scenario file of `case`; `counts` tells the phase of every sender's coarse clock."""
    parts = [
        f"format = 1\nname = {_text(case.name)}\ndescription = {_text(case.description)}\n",
        f"\n[run]\nduration = {_seconds(duration)}\nseeds = [1]\n",
    ]
    queues = {link.limit: _queue_name(link) for link in reversed(case.links)}
    parts += [_link(link, queues[link.limit]) for link in case.links]
    parts += [_QUEUE.format(name=name, limit=limit) for limit, name in sorted(queues.items())]
    for index, flow in enumerate(case.flows):
        if isinstance(flow, Tcp):
            parts.append(_tcp(index, flow, counts[index].clock_offset))
        else:
            parts.append(_cbr(index, flow))
    parts.append(f'\n[probe]\nlinks = ["{BOTTLENECK}"]\nevents = true\n')
    return "".join(parts)


def _queue_name(link: Link) -> str:
    return BOTTLENECK if link.name == BOTTLENECK else f"limit-{link.limit}"


def _link(link: Link, queue: str) -> str:
    name = f"name = {_text(link.name)}\n" if link.name else ""
    return (
        f"\n[[link]]\nfrom = {_text(link.source)}\nto = {_text(link.target)}\n{name}"
        f'rate = "{link.rate}bps"\ndelay = {_seconds(link.delay)}\nqueue = {_text(queue)}\nduplex = false\n'
    )


def _tcp(index: int, flow: Tcp, clock_offset: str) -> str:
    size = f'size = "{flow.size}p"\n' if flow.size is not None else ""
    delayed_ack = _seconds(flow.delayed_ack) if flow.delayed_ack is not None else "false"
    return (
        f'\n[[flow]]\nname = "tcp{index}"\ntransport = "{flow.variant}"\nfrom = {_text(flow.source)}\n'
        f"to = {_text(flow.target)}\nstart = {_seconds(flow.start)}\n{size}"
        f'packet_size = "{flow.payload}B"\n\n[flow.tcp]\nprofile = "ns2-2.35"\nwindow = "{flow.window}p"\n'
        f'header = "{flow.header}B"\nack_size = "{flow.ack_size}B"\ninitial_window = {flow.initial_window}\n'
        f"syn = {_bool(flow.syn)}\ndelayed_ack = {delayed_ack}\n"
        f"limited_transmit = {_bool(flow.limited_transmit)}\nmin_rto = {_seconds(flow.min_rto)}\n"
        f"max_rto = {_seconds(flow.max_rto)}\ninitial_rto = {_seconds(flow.initial_rto)}\n"
        f"tick = {_seconds(flow.tick)}\nmax_burst = {flow.max_burst}\n"
        f"clock_offset = {_seconds(Decimal(clock_offset))}\n"
    )


def _cbr(index: int, flow: Cbr) -> str:
    return (
        f'\n[[flow]]\nname = "udp{index}"\ntransport = "udp"\nfrom = {_text(flow.source)}\n'
        f"to = {_text(flow.target)}\nstart = {_seconds(flow.start)}\nstop = {_seconds(flow.stop)}\n"
        f'rate = "{flow.rate}bps"\npacket_size = "{flow.packet}B"\n'
    )


def _seconds(t: Decimal) -> str:
    plain = f"{t:f}"
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return f'"{plain}s"'


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _bool(value: bool) -> str:
    return "true" if value else "false"
