"""Classes of htb and hfsc: which of them packets reach, the rates of a class, and the link's rate.

A class of htb sends at its own rate whatever its parent's is, and borrows up to ``ceil`` what its parent may send; one
without a parent class never borrows, so that a ``ceil`` above its rate has no effect (Linux, net/sched/sch_htb.c,
htb_class_mode, htb_activate_prios). hfsc's classes have curves; here a class has the rate of its curve's second part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aqmlab.interop.importing.quantities import rate
from aqmlab.interop.importing.tc_nodes import Device, Node, handle_of, major
from aqmlab.interop.tc.quantities import bits_of, bytes_of

DEEPEST = 16
ONE_PACKET = 1600
"""Bytes of tc's own burst, which lets a largest packet of 1514 B pass, and not two."""
SHARES = ("ls", "sc", "rt")
"""Curves of hfsc from which a class's share is taken, the first that is given."""
WITHOUT_EFFECT = {"overhead": "0", "mpu": "0b", "linklayer": "ethernet"}
"""Words of a shaper, and the value that changes nothing; linklayer: Ethernet's frames."""


class NoClassesError(ValueError):
    """A discipline with classes of which none is in the file."""


@dataclass(frozen=True)
class Leaf:
    """A class with a queue: its chain from itself to its top, the rate it is sure of, and the rate it can have."""

    node: Node
    chain: tuple[Node, ...]
    rate_bps: float
    most_bps: float

    @property
    def top(self) -> Node:
        """The class without a parent class."""
        return self.chain[-1]


@dataclass
class Shares:
    """The classes of a discipline that packets reach.

    Attributes
    ----------
    leaves
        Classes with queues, in the order of their lines.
    default
        The class of packets that no filter takes.
    link_bps
        The most that all of them send together.
    notes
        Differences from Linux, each with the line.
    """

    leaves: list[Leaf]
    default: Leaf
    link_bps: float
    notes: list[tuple[int, str]]


def shares_of(device: Device, node: Node, targets: Mapping[str, Sequence[int]]) -> Shares:
    """Return the classes of a discipline that filters and ``default`` reach.

    Raises
    ------
    NoClassesError
        If it has none in the file.
    ValueError
        If packets have no class, or a class's words are wrong.
    """
    classes = {
        handle: one for handle, one in device.classes.get(major(node.handle), {}).items() if one.kind == node.kind
    }
    if not classes:
        raise NoClassesError(
            f"the classes of {node.kind} are not in the file; "
            f"append what `tc class show dev {device.name or 'DEV'}` prints"
        )
    parents = {one.parent for one in classes.values()}
    ends = {handle: one for handle, one in classes.items() if handle not in parents}
    notes: list[tuple[int, str]] = []
    chosen = _default(node, ends, targets, notes)
    for handle in sorted(targets.keys() - ends.keys()):
        text = f"a filter leads to {handle}, which has no queue: its packets are in the default class"
        notes.append((node.line, f"{node.kind}: {text}"))
    reached = [one for handle, one in ends.items() if one is chosen or handle in targets]
    leaves = [_leaf(one, classes, node, notes) for one in reached]
    default = next(one for one in leaves if one.node is chosen)
    tops: dict[str, float] = {}
    for one in leaves:
        tops[one.top.handle] = max(tops.get(one.top.handle, 0.0), one.most_bps)
    for handle, most in tops.items():
        sure = sum(one.rate_bps for one in leaves if one.top.handle == handle)
        if node.kind == "htb" and sure > most:
            text = f"the classes below {handle} are sure of {rate(sure)} in all, and Linux sends that; the link has"
            notes.append((node.line, f"{node.kind}: {text} {rate(most)}"))
    if len(tops) > 1:
        text = f"the classes {', '.join(tops)} have no common parent: the link has the sum of their rates"
        notes.append((node.line, f"{node.kind}: {text}"))
    return Shares(leaves, default, sum(tops.values()), notes)


def _default(
    node: Node, ends: Mapping[str, Node], targets: Mapping[str, Sequence[int]], notes: list[tuple[int, str]]
) -> Node:
    """Return the class of packets that no filter takes."""
    everything = next((handle for handle, points in targets.items() if 0 in points and handle in ends), None)
    rest = set(range(64)).difference(*targets.values())
    word = node.words.values.get("default", "0")
    handle = handle_of(node.handle + word.removeprefix("0x"))
    if not rest and everything is not None:
        return ends[everything]
    if handle in ends:
        return ends[handle]
    if len(ends) == 1:
        only = next(iter(ends.values()))
        sent = "Linux drops" if node.kind == "hfsc" else "Linux sends unshaped"
        missing = (
            f"the default class {handle} is not given"
            if "default" in node.words.values
            else "no default class is given"
        )
        text = f"{missing}: {sent} what no filter takes; here {only.handle} is the class of all packets"
        notes.append((node.line, f"{node.kind}: {text}"))
        return only
    raise ValueError(
        f"{node.kind}'s default class {handle} is not among its classes; what no filter takes has no queue"
    )


def _leaf(one: Node, classes: Mapping[str, Node], node: Node, notes: list[tuple[int, str]]) -> Leaf:
    chain = [one]
    while chain[-1].parent in classes:
        chain.append(classes[chain[-1].parent])
        if len(chain) > DEEPEST:
            raise ValueError(f"classes are nested more than {DEEPEST} deep")
    top = chain[-1]
    if top.parent not in ("root", node.handle):
        raise ValueError(f"class {top.parent}, the parent of {top.handle}, is not in the file (line {top.line})")
    rates = [_rates(each) for each in chain]
    if node.kind == "htb":
        sure, ceiling = rates[-1]
        text = f"htb ceil {top.words.values.get('ceil')} of class {top.handle} has no effect: it has no parent class"
        if ceiling is not None and ceiling > sure and (top.line, text) not in notes:
            notes.append((top.line, text))
        most = 0.0
        for sure, ceiling in reversed(rates):
            most = max(sure, min(most, math.inf if ceiling is None else ceiling))
        return Leaf(one, tuple(chain), rates[0][0], most)
    limits = [most for _, most in rates if most is not None]
    if not limits:
        raise ValueError(
            f"class {one.handle} of hfsc has no upper limit (ul), so that the link's rate is not in the file"
        )
    return Leaf(one, tuple(chain), rates[0][0], min(limits))


def _rates(one: Node) -> tuple[float, float | None]:
    """Return the rate that a class is sure of, and its upper limit."""
    if one.kind == "htb":
        values = one.words.values
        if "rate" not in values:
            raise ValueError(f"class {one.handle} of htb needs a rate")
        ceiling = bits_of(values.get("ceil", values["rate"]))
        return min(bits_of(values["rate"]), ceiling), ceiling
    curves = {word: _second_slope(several) for word, several in one.words.lists.items()}
    share = next((curves[word] for word in SHARES if word in curves), None)
    if share is None:
        raise ValueError(f"class {one.handle} of hfsc needs a curve (sc, ls or rt)")
    return share, curves.get("ul")


def _second_slope(words: Sequence[str]) -> float:
    """Return the rate of a curve's second part, ``m2`` or ``rate``.

    >>> _second_slope("m1 5mbit d 10ms m2 2mbit".split()), _second_slope(["rate", "1mbit"])
    (2000000.0, 1000000.0)
    """
    found = dict(zip(words[::2], words[1::2], strict=False))
    for word in ("m2", "rate"):
        if word in found:
            return bits_of(found[word])
    raise ValueError(f'a curve of hfsc needs a rate, not "{" ".join(words)}"')


def own_words(one: Node, *, is_alone: bool) -> list[str]:
    """Return the words of a class that are not carried over; quantum and prio of the only class have no effect."""
    if one.kind == "htb":
        known = {"rate", "ceil", "level", "offload"} | ({"prio", "quantum", "mtu"} if is_alone else set())
        return list(one.words.without(known | without_effect(one)))
    named = list(one.words.without(set(one.words.lists)))
    for word, several in one.words.lists.items():
        found = dict(zip(several[::2], several[1::2], strict=False))
        slope = found.get("m1", "0bit")
        is_straight = bits_of(slope) in (0.0, _second_slope(several)) and "umax" not in found
        if word == "rt" or not is_straight:
            named.append(f"{word} {' '.join(several)}")
    return named


def without_effect(node: Node) -> set[str]:
    """Return words of a shaper that change nothing: `WITHOUT_EFFECT`, and bursts of a packet, as a link sends them."""
    values = node.words.values
    found = {word for word, value in WITHOUT_EFFECT.items() if values.get(word, "").rstrip("b") == value.rstrip("b")}
    for word in ("burst", "cburst"):
        if word in values and bytes_of(values[word].partition("/")[0]) <= ONE_PACKET:
            found.add(word)
    return found
