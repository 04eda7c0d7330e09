"""CAKE in tc's words (tc-cake(8)): reading a line in its order, and writing a scenario's parameters.

A later word replaces an earlier one of the same meaning: ``bandwidth 10mbit unlimited`` has no shaper, and
``docsis overhead 20`` has 20 bytes. Overhead keywords add up: ``pppoe-ptm ether-vlan`` has 34.

CAKE counts the IP packet and its ``overhead``; without a word for it (tc prints ``raw``), the frame with its 14 bytes
of Ethernet's header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from aqmlab.errors import unknown
from aqmlab.interop.tc.other_queues import chosen
from aqmlab.interop.tc.quantities import bits_of, bytes_of, microseconds, seconds_of
from aqmlab.interop.translation import Fixed, Format, Row, Table, whole

ETHERNET_HEADER = 14
"""Bytes of Ethernet's header."""
RTT_WORDS = {
    **{"datacentre": 100e-6, "lan": 1e-3, "metro": 10e-3, "regional": 30e-3},
    **{"internet": 0.1, "oceanic": 0.3, "satellite": 1.0, "interplanetary": 1000.0},
}
"""Round-trip times by name, in s."""
LONGEST_RTT_S = 1000.0
"""Longest `rtt` of a scenario."""
ALONE = {
    **dict.fromkeys(("besteffort", "precedence", "diffserv3", "diffserv4", "diffserv8"), "diffserv"),
    **dict.fromkeys(("flowblind", "srchost", "dsthost", "hosts", "flows"), "isolation"),
    **dict.fromkeys(("dual-srchost", "dual-dsthost", "triple-isolate"), "isolation"),
    **dict.fromkeys(("nat", "nonat"), "nat"),
    **dict.fromkeys(("wash", "nowash"), "wash"),
    **dict.fromkeys(("ingress", "egress"), "direction"),
    **dict.fromkeys(("split-gso", "no-split-gso"), "gso"),
    **dict.fromkeys(("ack-filter", "ack-filter-aggressive", "no-ack-filter"), "ack-filter"),
    **dict.fromkeys(("atm", "ptm", "noatm"), "layer"),
    **dict.fromkeys(RTT_WORDS, "rtt"),
}
"""Words that stand alone, and the word of the table that they are values of."""
FRAMINGS = {
    **{"ipoa-vcmux": (8, "atm"), "ipoa-llcsnap": (16, "atm"), "bridged-vcmux": (24, "atm")},
    **{"bridged-llcsnap": (32, "atm"), "pppoa-vcmux": (10, "atm"), "pppoa-llc": (14, "atm")},
    **{"pppoe-vcmux": (32, "atm"), "pppoe-llcsnap": (40, "atm")},
    **{"pppoe-ptm": (30, "ptm"), "bridged-ptm": (22, "ptm")},
    **{"ethernet": (38, ""), "ether-vlan": (4, ""), "docsis": (18, "noatm")},
}
"""Keywords of a link technology: bytes that they add to the overhead, and the layer ("": as it is)."""
SMALLEST = {"ethernet": "84", "docsis": "64"}
"""``mpu`` of keywords."""
NUMBERS = ("overhead", "mpu")
LARGEST = 2**32 - 1
"""Of `memlimit` and `fwmark`."""
LIMITS = {"overhead": (-64, 256), "mpu": (0, 256)}
QUANTITIES = {"bandwidth": bits_of, "rtt": seconds_of, "memlimit": bytes_of}

KNOWN = ["bandwidth", "unlimited", "autorate-ingress", "rtt", "memlimit", "fwmark", *ALONE, *NUMBERS, "raw"]
KNOWN += ["conservative", *FRAMINGS]


def read_words(words: Iterable[str]) -> dict[str, str]:
    """Read the words of a line in their order; return the last of each meaning.

    Raises
    ------
    ValueError
        Where tc rejects the line.

    >>> read_words("bandwidth 20mbit docsis ether-vlan".split())
    {'bandwidth': '20mbit', 'autorate': 'no', 'layer': 'noatm', 'overhead': '22', 'raw': 'no', 'mpu': '64'}
    """
    found: dict[str, str] = {}
    left = iter(words)
    preset = ""
    for word in left:
        if word in ("unlimited", "autorate-ingress"):
            found |= {"bandwidth": word, "autorate": "no"} if word == "unlimited" else {"autorate": "yes"}
        elif word == "diffserv":
            found["diffserv"] = "diffserv4"
        elif word in ALONE:
            if word in RTT_WORDS and preset:
                raise ValueError(f"cake {preset}, {word}: a second name of a round-trip time (allowed: one)")
            preset = word if word in RTT_WORDS else preset
            found[ALONE[word]] = word
        elif word == "via-ethernet":
            continue  # tc ignores it
        elif word == "raw":
            found |= {"overhead": "0", "layer": "noatm", "raw": "yes"}
        elif word == "conservative":
            found |= {"overhead": "48", "layer": "atm", "raw": found.get("raw", "no")}
        elif word in FRAMINGS:
            _add_framing(found, word)
        elif word in (*QUANTITIES, *NUMBERS, "fwmark"):
            found |= _with_value(word, next(left, None))
            if word == "overhead":
                found["raw"] = found.get("raw", "no")
        else:
            raise ValueError(unknown("word of cake", word, KNOWN))
    return found


def settings_of(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the meaning of each setting, and its words; keywords of framing add up, and are left out.

    >>> list(settings_of("bandwidth 20mbit docsis besteffort diffserv4".split()))
    [('bandwidth', 'bandwidth 20mbit'), ('diffserv', 'besteffort'), ('diffserv', 'diffserv4')]
    """
    left = iter(words)
    for word in left:
        if word in (*QUANTITIES, *NUMBERS, "fwmark"):
            yield word, f"{word} {next(left, '')}"
        elif word in ("unlimited", "diffserv"):
            yield ("bandwidth" if word == "unlimited" else word), word
        elif word in ALONE:
            yield ALONE[word], word


def _add_framing(found: dict[str, str], word: str) -> None:
    overhead, layer = FRAMINGS[word]
    if layer:
        found["layer"] = layer
    found["overhead"] = str(int(found.get("overhead", "0")) + overhead)
    found["raw"] = found.get("raw", "no")
    if word in SMALLEST:
        found["mpu"] = SMALLEST[word]


def _with_value(word: str, value: str | None) -> dict[str, str]:
    """Check a word with its value as tc does."""
    if value is None:
        raise ValueError(f'cake: "{word}" has no value')
    if word == "bandwidth" and value == "unlimited":  # as tc prints it
        return {word: value, "autorate": "no"}
    if word in QUANTITIES:
        if QUANTITIES[word](value) > LARGEST and word == "memlimit":
            raise ValueError(f"cake memlimit {value}: out of range (allowed: up to {LARGEST})")
        return {word: value, "autorate": "no"} if word == "bandwidth" else {word: value}
    if word == "fwmark":
        is_mask = re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10}", value)
        if not is_mask or int(value, 16 if "x" in value.lower() else 10) > LARGEST:
            raise ValueError(f"cake fwmark {value}: is not a mask (for example 0xff)")
        return {word: value}
    low, high = LIMITS[word]
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", value) or not low <= int(value) <= high:
        raise ValueError(f"cake {word} {value}: out of range (allowed: a whole number from {low} to {high})")
    return {word: str(int(value))}


def _rate(value: float | str) -> str:
    if isinstance(value, str):
        return value
    scale = next((unit for unit in ("mbit", "kbit") if value % SCALES[unit] == 0), "bit")
    return f"{value / SCALES[scale]:.0f}{scale}"


SCALES = {"mbit": 1e6, "kbit": 1e3, "bit": 1.0}
RATE = Format(_rate, lambda text: text if text == "unlimited" else bits_of(text) or "unlimited", absolute=8.0)


def _rtt(value: float) -> str:
    us = round(float(value) * 1e6)
    return f"{us // 1000}ms" if us >= 1000 and us % 1000 == 0 else microseconds(value)


RTT = Format(_rtt, lambda text: RTT_WORDS.get(text) or seconds_of(text), absolute=0.5e-6)
SIZE = Format(whole, lambda text: round(bytes_of(text)), absolute=0.5)
NUMBER = Format(whole, int)
CAKE = Table(
    "cake",
    (
        Row("rate", "bandwidth", RATE),
        Row("autorate_ingress", "autorate", chosen({"yes": True, "no": False})),
        Row("diffserv", "diffserv", Format(str, str)),
        Row("isolation", "isolation", Format(str, str)),
        Row("nat", "nat", chosen({"nat": True, "nonat": False})),
        Row("wash", "wash", chosen({"wash": True, "nowash": False})),
        Row("ingress", "direction", chosen({"ingress": True, "egress": False})),
        Row(
            "ack_filter",
            "ack-filter",
            chosen({"ack-filter": "on", "ack-filter-aggressive": "aggressive", "no-ack-filter": "off"}),
        ),
        Row("split_gso", "gso", chosen({"split-gso": True, "no-split-gso": False})),
        Row("rtt", "rtt", RTT),
        Row("linklayer", "layer", chosen({"noatm": "ethernet", "atm": "atm", "ptm": "ptm"})),
        Row("overhead", "overhead", NUMBER),
        Row("mpu", "mpu", NUMBER),
        Row("memlimit", "memlimit", SIZE),
    ),
    (
        Fixed("dialect", "linux-7.3", "decides as its own version does"),
        Fixed("autorate", False, "has no controller of cake-autorate"),
        Fixed("ecn", True, "marks packets that are ECN-capable"),
        Fixed("memory", "truesize", "counts buffers (truesize)"),
        Fixed("limit", 10240, "bounds the memory that follows from the rate by 10240 packets"),
        Fixed("max_packet", 1514, "takes the device's largest packet"),
        Fixed("hash_key", "random", "draws the key of its hash"),
    ),
)
USUAL = {
    **{"bandwidth": "unlimited", "autorate": "no", "diffserv": "diffserv3", "isolation": "triple-isolate"},
    **{"nat": "nonat", "wash": "nowash", "direction": "egress", "ack-filter": "no-ack-filter", "gso": "split-gso"},
    **{"rtt": "100ms", "layer": "noatm", "mpu": "0"},
}
"""Words that a line may leave out."""


def phrase(words: Mapping[str, str]) -> str:
    """Write words of the table `CAKE` as they stand in a line, without those of `USUAL`.

    >>> phrase({"bandwidth": "10mbit", "diffserv": "diffserv3", "nat": "nat", "overhead": "44"})
    'bandwidth 10mbit nat overhead 44'
    """
    kept = {word: value for word, value in words.items() if USUAL.get(word) != value}
    if kept.get("autorate") == "yes":
        kept["autorate"] = "autorate-ingress"
    else:
        kept.pop("autorate", None)
    with_value = (*NUMBERS, "rtt", "memlimit", "bandwidth")
    is_pair = {word: word in with_value and value != "unlimited" for word, value in kept.items()}
    return " ".join(f"{word} {value}" if is_pair[word] else value for word, value in kept.items())


def write(own: Mapping[str, Any]) -> str:
    """Write the words of a queue."""
    return phrase(CAKE.write(own))


def read(words: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the parameters of a line that `read_words` has read, and notes on words without an effect here.

    Raises
    ------
    ValueError
        For an overhead that no scenario has.
    """
    known, notes = dict(words), []
    if set(known.pop("fwmark", "0").lower()) - {"0", "x"}:
        notes.append(f"cake fwmark {words['fwmark']} (marks of a firewall do not select tins here)")
    if known.get("gso") == "no-split-gso":
        notes.append("cake no-split-gso (packets are never joined here)")
    if known.get("rtt") and known["rtt"] not in RTT_WORDS:
        rtt = seconds_of(known["rtt"])
        if rtt < 1e-6:
            notes.append(f"cake rtt {known.pop('rtt')} (a target of 1 us with the usual interval; 100 ms is assumed)")
        elif rtt > LONGEST_RTT_S:
            notes.append(f"cake rtt {known['rtt']} (the longest, {LONGEST_RTT_S:g} s, is assumed)")
            known["rtt"] = "interplanetary"
    if "memlimit" in known and not round(bytes_of(known["memlimit"])):
        del known["memlimit"]
    if known.get("autorate") == "no":
        del known["autorate"]
    found = CAKE.read(known)
    if known.pop("raw", "yes") == "yes":
        found["overhead"] = found.get("overhead", 0) + ETHERNET_HEADER
        if found["overhead"] > LIMITS["overhead"][1]:
            most = LIMITS["overhead"][1] - ETHERNET_HEADER
            raise ValueError(f"cake raw overhead {known['overhead']}: out of range (allowed: up to {most})")
    return found, notes
