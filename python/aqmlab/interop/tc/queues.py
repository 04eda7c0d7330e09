"""A scenario's queue in the words of Linux's tc.

| queue | tc |
|---|---|
| RED with the linear curve | ``red`` (`aqmlab.interop.tc.red` has the rules of its numbers) |
| drop-tail, limit in packets | ``pfifo`` |
| drop-tail, limit in bytes | ``bfifo`` |
| CHOKe | ``choke`` |
| priority, wfq | ``ets`` (`schedulers`) |
| CAKE | ``cake`` (`cake`) |
| others | ``codel``, ``fq_codel``, ``pie``, ``fq_pie``, ``sfb``, ``sfq``, ``dualpi2`` (`other_queues`) |

Others can be given in tc's own words. tc counts the 14 bytes of Ethernet's header
with every packet. A ``tbf`` above the discipline makes the rate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from aqmlab.errors import InputError
from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.settings import Settings, packet_sizes
from aqmlab.interop.tc import cake
from aqmlab.interop.tc.other_queues import OTHER_QUEUES, other_differences, phrase
from aqmlab.interop.tc.red import is_choke, kind_of, read_choke, read_red, red_notes, write_red
from aqmlab.interop.tc.schedulers import SCHEDULERS, bands_of, handles_from, write_ets
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link, packets

NOT_IDLE = (
    "below a token bucket red never learns that its queue is empty, so its average falls by arrivals alone: behind a "
    'burst it may drop everything for many seconds while the link is idle (at_idle = "none" here)'
)
BY_TURNS = "ets serves the bands that share in turn, a quantum of bytes each; ours by start tags of packets"
ONE_PACKET = 1600
"""Bytes of a token bucket (the ``burst`` of ``tbf``): one packet of 1500 with Ethernet's header fits, two do not."""
ETHERNET_HEADER = cake.ETHERNET_HEADER
"""Bytes of Ethernet's header, which tc counts with every packet."""
STAB_SLOTS = 2048
"""Bytes of the longest packet of a size table with a step for each byte."""
HANDLE = "10:"
"""Of the bottleneck's discipline."""
FULL_PACKET = 1500.0
"""Bytes of a packet where no flow crosses the link."""
WORD = r"[A-Za-z0-9_.%/:-]+"


@dataclass(frozen=True)
class Qdisc:
    """A discipline: tc's name for it, the words that follow, and what of the scenario's queue it is not.

    `below` has the further commands of a discipline with the handle `HANDLE`, for a device DEV: what follows ``tc``.
    """

    kind: str
    words: str
    notes: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """As it stands after ``tc qdisc add ... handle 10:``."""
        return f"{self.kind} {self.words}".strip()


def qdisc_of(plan: Scenario, link: Link, *, words: str | None = None) -> Qdisc:
    """Write a link's queue for tc, or take the words that are given."""
    if words is not None:
        return own_words(words)
    if link.aqm == "drop-tail":
        return drop_tail(link.parameters["limit"])
    if link.aqm in OTHER_QUEUES:
        return _other(plan, link)
    if link.aqm in SCHEDULERS:
        return _scheduler(plan, link)
    if link.aqm == "cake":
        return _cake(plan, link)
    settings = Settings.of(plan, link)
    if settings is None or settings.curve not in ("linear", "gentle"):
        curve = link.parameters.get("curve")
        own = f'"{link.aqm}"{f" with the curve {curve}" if link.aqm == "red" else ""}'
        raise InputError(f"link {link.name}: tc has no discipline like {own} (give one in its words, or use red)")
    made = write_red(settings)
    read = read_choke if is_choke(settings) else read_red
    notes = red_notes(settings, link, read(made)["w_q"])
    if link.parameters.get("at_idle") != "none":
        notes.append(NOT_IDLE)
    return Qdisc(kind_of(settings), phrase(made), tuple(notes))


def _scheduler(plan: Scenario, link: Link) -> Qdisc:
    """Write a scheduler as ``ets``, with the disciplines of its classes below it."""
    notes = [BY_TURNS] if any(band.weight is not None for band in bands_of(link)) else []

    def write(child: Link) -> Qdisc:
        found = qdisc_of(plan, child)
        notes.extend(f"class {child.queue.partition('.')[2]}: {note}" for note in found.notes)
        return found

    words, below = write_ets(link, HANDLE, handles_from(0x20), write)
    return Qdisc("ets", words, tuple(notes), tuple(below))


def _other(plan: Scenario, link: Link) -> Qdisc:
    """Write a queue of `OTHER_QUEUES`; these count packets, so a limit in bytes is converted."""
    table = OTHER_QUEUES[link.aqm]
    own = _without_automatic_memlimit(plan, link)
    limit = own["limit"]
    if not isinstance(limit, str):
        return Qdisc(table.kind, phrase(table.write(own)))
    sizes = packet_sizes(plan, link)
    unit = sizes[1] if sizes else FULL_PACKET
    words = table.write({**own, "limit": packets(limit, unit)})
    note = f"{table.kind} counts packets: the limit of {limit.removesuffix('B')} B is {words['limit']} of {unit:g} B"
    return Qdisc(table.kind, phrase(words), (note,))


def _without_automatic_memlimit(plan: Scenario, link: Link) -> dict[str, Any]:
    """Return a queue's parameters. A memlimit that is not in the file follows from the others, in Linux too."""
    own = dict(link.parameters)
    if plan.tables.get("queue", {}).get(link.queue, {}).get("memlimit", "auto") == "auto":
        own.pop("memlimit", None)
    return own


def _cake(plan: Scenario, link: Link) -> Qdisc:
    return Qdisc("cake", cake.write(_without_automatic_memlimit(plan, link)))


def dialect(plan: Scenario, link: Link) -> Dialect:
    """Write a link's queue as a command of tc, with the values that tc's rounding leaves.

    Raises
    ------
    InputError
        If tc has no such discipline.
    """
    qdisc = qdisc_of(plan, link)
    table = cake.CAKE if link.aqm == "cake" else OTHER_QUEUES.get(link.aqm)
    effective = {}
    for row in table.rows if table is not None else ():
        value = link.parameters.get(row.key)
        if value is not None:
            found = row.format.read(row.format.write(value))
            effective[row.key] = f"{found:.6g}" if isinstance(found, float) else str(found)
    notes = [difference.text for difference in queue_differences(link, qdisc)]
    return Dialect("tc", "Linux tc", f"tc qdisc replace dev DEV root {qdisc.text}", effective, notes)


def queue_differences(link: Link, qdisc: Qdisc) -> Iterator[Semantic]:
    """Yield the features of a link's queue that Linux lacks or implements differently; `qdisc` was written for it."""
    if link.aqm in OTHER_QUEUES:
        yield from other_differences(link, OTHER_QUEUES[link.aqm])
    elif link.aqm == "cake":
        yield from other_differences(link, cake.CAKE)
    for note in qdisc.notes:
        yield Semantic("queue", f"queue.{link.queue}: {note}.", Kind.DIFFERS)


def own_words(words: str) -> Qdisc:
    """Check a discipline in tc's words: only words, since they become a part of a script.

    >>> own_words("pie target 15ms")
    Qdisc(kind='pie', words='target 15ms', notes=(), below=())
    """
    if not re.fullmatch(rf"{WORD}(?: {WORD})*", words):
        raise InputError(f'"{words}" is not a discipline in the words of tc, for example: pie target 15ms')
    kind, _, rest = words.partition(" ")
    return Qdisc(kind, rest)


def shaper_of(link: Link, *, burst: int = ONE_PACKET) -> str:
    """Write the token bucket that makes a link's rate: what follows ``tc qdisc add ... handle 1:``.

    Parameters
    ----------
    link
        The link.
    burst
        Bytes of the bucket of a link with a constant rate.

    Raises
    ------
    InputError
        If tc has no size table for its link layer.
    """
    words = ""
    if link.framing is not None:
        layer = link.framing["linklayer"]
        if layer == "ptm":
            raise InputError(f'link {link.name}: stab of tc has no linklayer "ptm" (allowed: "ethernet", "atm")')
        # The table ends with the longest packet; each of its steps is a byte.
        table = f"mtu {STAB_SLOTS} tsize {STAB_SLOTS}"
        overhead = link.framing["overhead"] - ETHERNET_HEADER
        words = f"stab overhead {overhead} mpu {link.framing['mpu']} linklayer {layer} {table} "
    words += f"tbf rate {link.rate_bps:.0f}bit "
    bucket = link.token_bucket or {"burst": burst, "peakrate_bps": None}
    words += f"burst {bucket['burst']} "
    if bucket["peakrate_bps"] is not None:
        words += f"peakrate {bucket['peakrate_bps']}bit mtu {bucket['mtu']} "
    return f"{words}limit 10000000"


def drop_tail(limit: float | str) -> Qdisc:
    """Return the discipline that only has a limit: packets, or bytes as ``64000B``.

    >>> drop_tail(100).text, drop_tail("64000B").text
    ('pfifo limit 100', 'bfifo limit 64000')
    """
    if isinstance(limit, str):
        return Qdisc("bfifo", f"limit {round(float(limit.removesuffix('B')))}")
    return Qdisc("pfifo", f"limit {round(limit)}")
