"""Filters of tc: which code points lead to which class, and what of a filter a scenario cannot have.

Linux asks the filters of a discipline in the order of their ``prio``; of filters without one the last comes first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from aqmlab.interop.importing.tc_nodes import Device, Filter, Node, handle_of, major
from aqmlab.interop.tc.schedulers import CODE_POINTS

AUTOMATIC = 49152
"""prio of a filter that has none, the first of a discipline."""


def targets_of(device: Device, node: Node) -> tuple[dict[str, list[int]], set[int]]:
    """Return the code points that filters send to each class of a discipline, and the lines of these filters."""
    found: dict[str, list[int]] = {}
    taken: set[int] = set()
    used: set[int] = set()
    for one in _in_order(_filters(device, node)):
        words = list(one.words)
        target = handle_of(_after(words, "flowid") or _after(words, "classid"))
        points = code_points(words)
        if points is None or major(target) != major(node.handle):
            continue
        used.add(one.line)
        found.setdefault(target, []).extend(point for point in points if point not in taken)
        taken.update(points)
    return {target: points for target, points in found.items() if points}, used


def _filters(device: Device, node: Node) -> list[Filter]:
    own = [one for one in device.filters.get(major(node.handle), ()) if one.parent == node.handle]
    return own + (device.filters.get("", []) if node.parent == "root" else [])


def _in_order(filters: Sequence[Filter]) -> list[Filter]:
    """Sort filters as Linux asks them."""
    ranks = []
    for number, one in enumerate(filters):
        given = _after(one.words, "prio") or _after(one.words, "pref") or _after(one.words, "preference")
        ranks.append((int(given, 0) if re.fullmatch(r"\d{1,5}", given) else AUTOMATIC - number, number, one))
    return [one for _, _, one in sorted(ranks, key=lambda rank: rank[:2])]


def _after(words: Sequence[str], word: str) -> str:
    """Return what follows a word; "" without it."""
    return words[words.index(word) + 1] if word in words[:-1] else ""


def code_points(words: Sequence[str]) -> list[int] | None:
    """Return the code points of a filter that looks at nothing else; None for another one.

    >>> code_points("parent 1: protocol ip u32 match ip dsfield 0xb8 0xfc flowid 1:1".split())
    [46]
    >>> code_points("parent 1: flower ip_tos 184/0xfc classid 1:1".split())
    [46]
    >>> code_points("parent 1: u32 match ip dport 80 0xffff flowid 1:1".split())
    >>> len(code_points("parent 1: protocol all u32 match u32 0 0 flowid 1:1".split()))
    64
    """
    if _after(words, "protocol") not in ("", "ip", "all", "ipv4"):
        return None
    if "action" in words or _after(words, "police"):
        return None
    matches = sum(word == "match" for word in words)
    if _takes_all(words, matches):
        return list(CODE_POINTS)
    keys = [word for word in words if word in ("dsfield", "tos", "ip_tos")]
    if len(keys) != 1 or matches > 1 or ("match" in words) == ("flower" in words):
        return None
    at = words.index(keys[0]) + 1
    value, _, mask = " ".join(words[at : at + (2 if matches else 1)]).replace("/", " ").partition(" ")
    try:
        bits, looked = int(value, 0), int(mask or "0xff", 0) & 0xFC
    except ValueError:
        return None
    if "flower" in words and set(words[words.index("flower") + 1 : at - 1]):
        return None
    return [point for point in CODE_POINTS if (point << 2) & looked == bits & looked]


def _takes_all(words: Sequence[str], matches: int) -> bool:
    """Return whether a filter takes every packet."""
    if "matchall" in words:
        return matches == 0
    at = words.index("match") if matches == 1 else -1
    if at < 0:
        return False
    if words[at + 1 : at + 2] == ["u32"]:
        return [word.lower().removeprefix("0x").strip("0") for word in words[at + 2 : at + 4]] == ["", ""]
    if words[at + 1 : at + 2] != ["ip"]:
        return False
    has_no_mask = words[at + 2 : at + 3] == ["protocol"] and re.fullmatch(r"0x0+|0", "".join(words[at + 4 : at + 5]))
    return bool(has_no_mask) or words[at + 2 : at + 4] in (["dst", "0.0.0.0/0"], ["src", "0.0.0.0/0"])


def described(one: Filter) -> str:
    """Describe a filter that is not carried over, and name what it looks at where the scenario has no such thing.

    >>> described(Filter(3, "1:", ("parent", "1:", "handle", "6", "fw", "flowid", "1:11")))
    'filter parent 1: handle 6 fw flowid 1:11 (packets have no mark here)'
    """
    words = one.words
    text = f"filter {' '.join(words)}"
    if "mirred" in words:
        return f"{text} (packets of another device are not redirected here)"
    if "fw" in words or "mark" in words:
        return f"{text} (packets have no mark here)"
    if _after(words, "protocol") == "ipv6" or "ip6" in words:
        return f"{text} (a rule for IPv6; code points are those of IPv4's filters)"
    return text
