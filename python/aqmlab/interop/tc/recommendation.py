"""The last step of a tuning: the commands to paste on a Linux router, from the scenario that was tuned.

A shaper a little below the link's rate makes the queue stand on the router, and counts the bytes that the link's layer
adds; below it stands the tuned discipline. CAKE has its own shaper: one line, with the link technology's keyword and
equal shares for the hosts of the local network. Downstream the same goes onto an ifb device, to which arriving packets
are redirected.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.errors import InputError
from aqmlab.interop.tc.cake import ETHERNET_HEADER, FRAMINGS, SMALLEST, write
from aqmlab.interop.tc.queues import qdisc_of, queue_differences
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link
from aqmlab.tuning import uplink
from aqmlab.tuning.outcome import Tuned

LAYERS = {
    **{"ethernet": "ethernet", "docsis": "docsis", "vdsl": "pppoe-ptm", "adsl": "pppoe-llcsnap"},
    **{word: word for word in FRAMINGS if word not in ("ethernet", "docsis", "ether-vlan")},
}
"""Link layer to the keyword of CAKE for it (tc-cake(8)): bytes around an IP packet, and cells of 53 bytes on ADSL."""
BURST, BURST_ATM = 1600, 2000
"""Bytes of the token bucket: one packet."""
SHAPED = 0.95
"""Share of the link's rate that the shaper has, so that no queue stands in the modem."""
MOST_SHAPED_BPS = 1e9
"""From here on no shaper is written: one core cannot shape it, and the device's own rate is the link's."""
IFB = "ifb0"
CAKE = "cake"
HOSTS = ("dual-srchost", "dual-dsthost", "triple-isolate")
"""Isolation upstream and downstream, and the default, which these replace."""
FRAMING = ("overhead", "mpu", "linklayer")
"""Parameters that the keyword of the layer replaces."""
IN_PACKETS = ("limit", "min_th", "max_th")
OFFERED = ("fq-codel", "cake", "pie")
"""Disciplines that the laboratory's page "Your uplink" runs beside drop-tail, with their defaults."""
USES_OF_PAGE = "calls and downloads"
LEAST_RTT = "1ms:3ms"
"""Round trips of the page's scenario: the page adds the rest as delay of the link."""
SAMPLE_KBIT = 123_457
"""Rate of the commands whose rate the page replaces: tc's writers give it as this number of kbit."""
SAMPLE_LIMIT = 54_321
"""Buffer, in packets, of the commands whose buffer the page replaces."""


@dataclass(frozen=True)
class Recommendation:
    """Commands to paste.

    Attributes
    ----------
    aqm
        The discipline.
    lines
        Commands for a shell.
    notes
        Conditions that the user must see to.
    differences
        Differences between the commands and the scenario that was tuned.
    """

    aqm: str
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    differences: tuple[str, ...]


def recommend(
    found: Tuned, *, both: bool = False, down_bps: float | None = None, dev: str = "DEV", layer: str = "ethernet"
) -> Recommendation:
    """Write the commands for a tuned queue.

    Parameters
    ----------
    found
        The answer.
    both
        Whether packets that arrive are shaped too.
    down_bps
        Rate downstream in bit/s; None: that of the link that was tuned.
    dev
        The interface to the link.
    layer
        A key of `LAYERS`: ``ethernet``, ``docsis``, ``vdsl``, ``adsl``, or a keyword of CAKE.

    Raises
    ------
    InputError
        If tc does not have the discipline.
    """
    if layer not in LAYERS:
        raise InputError(f'link layer "{layer}": unknown (allowed: {", ".join(LAYERS)})')
    plan = found.tuned
    link = plan.link(found.link)
    qdisc = qdisc_of(plan, link)
    lines = _lines(plan, link, dev, layer)
    differences = [one.text for one in queue_differences(link, qdisc)]
    notes = []
    if found.aqm == CAKE:
        notes.append("nat: hosts behind this router's address translation are told apart, each with an equal share")
    if link.rate_bps >= MOST_SHAPED_BPS:
        notes.append(f"no shaper at {link.rate_bps / 1e9:g} Gb/s: {dev} itself must be the slowest link")
    else:
        differences.append(
            f"the shaper has {SHAPED:.0%} of the link's rate, so that the queue stands here, not in the modem"
        )
    if both:
        down = link.rate_bps if down_bps is None else down_bps
        lines += _downstream(plan, link, down, dev, layer)
        if down != link.rate_bps:
            differences.append(
                f"downstream has the settings tuned at {link.rate_bps / 1e6:g} Mb/s, scaled to the same times"
            )
    return Recommendation(found.aqm, tuple(lines), tuple(notes), tuple(differences))


def uplink_page() -> dict[str, Any]:
    """Return the model of the laboratory's page "Your uplink".

    Returns
    -------
    dict
        ``text``, ``file`` and ``overrides`` of the scenario; ``limit``, the key of drop-tail's buffer; ``rules``, by
        which buffer and length follow from rate and round trip as in `aqmlab.tuning.uplink`; ``commands``: for each
        discipline its lines for a shell, with ``{kbit}`` for the rate of the shaper and ``{limit}`` for the buffer,
        which is drop-tail's as in `aqmlab.tuning`; CAKE has its own.
    """
    scenario = uplink.uplink("10Mbps", LEAST_RTT, USES_OF_PAGE).scenario
    table = "queue.bottleneck"
    return {
        "text": scenario.text,
        "file": "uplink.toml",
        "overrides": [(table, '{ aqm = "drop-tail" }')],
        "limit": f"{table}.limit",
        "rules": {
            "packet": uplink.PACKET,
            "least_limit": uplink.LEAST_LIMIT,
            "limit_products": uplink.LIMIT_PRODUCTS,
            "seconds": uplink.LEAST_S + uplink.LEAST_WARMUP_S,
            "packet_budget": uplink.PACKET_BUDGET,
            "shaped": SHAPED,
        },
        "commands": {aqm: _at_any_rate(scenario.text, table, aqm) for aqm in OFFERED},
    }


def _at_any_rate(text: str, table: str, aqm: str) -> list[str]:
    """Return the commands of a discipline with its defaults; ``{kbit}`` and ``{limit}`` stand for rate and buffer."""
    limit = "" if aqm == CAKE else f', limit = "{SAMPLE_LIMIT}p"'
    plan = Scenario.from_text(text, overrides={table: f'{{ aqm = "{aqm}"{limit} }}'})
    link = replace(plan.link("bottleneck"), rate_bps=1e3 * SAMPLE_KBIT / SHAPED)
    marks = {str(SAMPLE_KBIT): "{kbit}", str(SAMPLE_LIMIT): "{limit}"}
    return [
        re.sub("|".join(marks), lambda found: marks[found[0]], line) for line in _lines(plan, link, "DEV", "ethernet")
    ]


def _lines(plan: Scenario, link: Link, dev: str, layer: str, *, is_down: bool = False) -> list[str]:
    """Return the shaper and the discipline below it, or the discipline alone where nothing is shaped."""
    if link.aqm == CAKE:
        return [f"tc qdisc replace dev {dev} root cake {_cake(link, layer, is_down=is_down)}"]
    qdisc = qdisc_of(plan, link)
    if link.rate_bps >= MOST_SHAPED_BPS:
        return [f"tc qdisc replace dev {dev} root {qdisc.text}"]
    words, burst = _stab(layer)
    kbit = round(SHAPED * link.rate_bps / 1e3)
    return [
        f"tc qdisc replace dev {dev} root handle 1: stab {words} tbf rate {kbit}kbit burst {burst} limit 10000000",
        f"tc qdisc replace dev {dev} parent 1:1 handle 10: {qdisc.text}",
    ]


def _stab(layer: str) -> tuple[str, int]:
    """Return the words of ``stab`` for a layer, and the token bucket; tc counts the 14 bytes of Ethernet's header.

    >>> _stab("docsis"), _stab("vdsl"), _stab("adsl")
    (('overhead 4 mpu 64', 1600), ('overhead 16', 1600), ('overhead 26 linklayer atm', 2000))
    """
    keyword = LAYERS[layer]
    overhead, cells = FRAMINGS[keyword]
    words = f"overhead {overhead - ETHERNET_HEADER}"
    if keyword in SMALLEST:
        words += f" mpu {SMALLEST[keyword]}"
    return (f"{words} linklayer atm", BURST_ATM) if cells == "atm" else (words, BURST)


def _cake(link: Link, layer: str, *, is_down: bool) -> str:
    """Return the words of CAKE, with equal shares for the hosts of the local network."""
    own = {key: value for key, value in link.parameters.items() if key not in (*FRAMING, "memlimit")}
    if not isinstance(own["rate"], int | float):
        own["rate"] = "unlimited" if link.rate_bps >= MOST_SHAPED_BPS else 1e3 * round(SHAPED * link.rate_bps / 1e3)
    elif is_down:
        own["rate"] = 1e3 * round(SHAPED * link.rate_bps / 1e3)
    if own["isolation"] in HOSTS:
        own |= {"isolation": HOSTS[is_down], "nat": True}
    if is_down:
        own |= {"ingress": True, "ack_filter": "off"}
    return f"{write(own)} {LAYERS[layer]}"


def _downstream(plan: Scenario, link: Link, rate_bps: float, dev: str, layer: str) -> list[str]:
    """Return the commands that redirect what arrives to an ifb device, and shape it there."""
    ratio = rate_bps / link.rate_bps
    scaled = {key: _times(link.parameters[key], ratio) for key in IN_PACKETS if key in link.parameters}
    if "w_q" in link.parameters:
        scaled["w_q"] = min(1.0, float(link.parameters["w_q"]) / ratio)
    there = replace(link, rate_bps=rate_bps, parameters={**link.parameters, **scaled})
    return [
        # The module may have made the device already: ip then reports an error that means nothing.
        f"ip link add {IFB} type ifb 2> /dev/null || true",
        f"ip link set {IFB} up",
        f"tc qdisc replace dev {dev} handle ffff: ingress",
        f"tc filter replace dev {dev} parent ffff: protocol all prio 1 matchall "
        f"action mirred egress redirect dev {IFB}",
        *_lines(plan, there, IFB, layer, is_down=True),
    ]


def _times(value: float | str, ratio: float) -> float | str:
    """Multiply a number of packets, or of bytes as ``64000B``."""
    if isinstance(value, str):
        return f"{max(3000, round(float(value.removesuffix('B')) * ratio))}B"
    return max(1, round(value * ratio))
