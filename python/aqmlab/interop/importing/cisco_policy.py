"""Which policy map a link of a Cisco router has, the packets of its classes and their shares of the link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from aqmlab.errors import InputError
from aqmlab.interop.importing.cisco_text import Configuration, Interface, Policy, Queue

DEEPEST = 3
MATCHES = "allowed: match dscp, precedence, any"
GROUP_OF_NAME = ("c-out-8q-q", "c-out-4q-q", "c-out-q", "2q4t-out-q")
"""Names of NX-OS's queues before their number, which is the group."""


@dataclass
class Chosen:
    """The classes of the link's policy, its rate in bit/s with its line, notes with theirs, and its policy maps."""

    classes: list[Queue]
    rate_bps: float | None = None
    rate_line: int = 0
    notes: list[tuple[int, str]] = field(default_factory=list)
    policies: list[str] = field(default_factory=list)


def choose(found: Configuration, filename: str) -> Chosen:
    """Return the policy at the output of the first interface that has one, or the only policy.

    Raises
    ------
    InputError
        If none or several may be meant.
    """
    attached = [one for one in found.interfaces if one.output is not None]
    direct = [one for one in found.interfaces if one.own.detects]
    link = next(iter(attached or direct), None)
    others = [one for one in (*attached, *direct) if one is not link]
    notes = [(one.line, f"interface {one.name}: the queue of one interface is read") for one in others]
    if link is not None and link.output is not None:
        name, line = link.output
        if name not in found.policies:
            raise InputError(f"{filename}:{line}: policy-map {name} is not in the file")
        policy = found.policies[name]
    elif link is not None:
        bits, line = _of_interface(link)
        return Chosen([link.own], bits, line, notes)
    elif found.loose.has_queue and not found.policies:
        bits, line = _shaped(found.loose)
        return Chosen([found.loose], bits, line, notes)
    else:
        policy = _only_policy(found, filename)
    chosen = _descend(found, policy, link, filename, notes)
    for one in found.policies.values():
        if one.name not in chosen.policies and any(each.has_queue for each in one.classes):
            chosen.notes.append((one.line, f"policy-map {one.name}: another queue is read"))
    if link is not None:
        chosen.notes += link.own.rest
    return chosen


def _only_policy(found: Configuration, filename: str) -> Policy:
    below = {one.child[0] for policy in found.policies.values() for one in policy.classes if one.child}
    roots = [
        policy
        for policy in found.policies.values()
        if policy.name not in below and any(one.has_queue for one in policy.classes)
    ]
    if len(roots) != 1:
        names = ", ".join(f"{one.name} (line {one.line})" for one in roots[:5])
        text = f"{len(roots)} policy maps have queues: {names}" if roots else "no policy map has a queue"
        line = roots[1].line if roots else next((one.line for one in found.policies.values()), 1)
        raise InputError(f"{filename}:{line}: {text}; name the link's by service-policy output NAME at an interface")
    return roots[0]


def _shaped(queue: Queue) -> tuple[float | None, int]:
    return (queue.shape[0], queue.shape[2]) if queue.shape and queue.shape[1] == "bit" else (None, 0)


def _of_interface(link: Interface) -> tuple[float | None, int]:
    """Return the rate of an interface: its shape, else its bandwidth."""
    bits, line = _shaped(link.own)
    if bits is None and link.kbit is not None:
        return 1000 * link.kbit, link.line
    return bits, line


def _descend(
    found: Configuration, policy: Policy, link: Interface | None, filename: str, notes: list[tuple[int, str]]
) -> Chosen:
    """Follow a policy whose only class shapes and has the policy of its classes below it."""
    bits, line = _of_interface(link) if link is not None else (None, 0)
    names: list[str] = []
    for _ in range(DEEPEST):
        names.append(policy.name)
        children = [one for one in policy.classes if one.child]
        default = next((one for one in policy.classes if one.is_default), None)
        alone = len([one for one in policy.classes if one.has_queue]) == 1
        if default is not None and default.shape and alone:
            value, unit, at = default.shape
            if unit == "percent" and bits is None:
                raise InputError(
                    f"{filename}:{at}: shape in percent of a rate that is not in the file (bandwidth of the interface)"
                )
            shaped = value if unit == "bit" else bits * value / 100 if bits is not None else None
            bits, line = (shaped if bits is None or shaped is None else min(bits, shaped)), at
        if not children:
            return Chosen(policy.classes, bits, line, notes, names)
        child, at = children[0].child or ("", 0)
        if not alone or children[0] is not default or default.detects or default.limit:
            allowed = "allowed: below class-default alone, without a queue of its own"
            raise InputError(f"{filename}:{at}: a policy map below a class of several is not read ({allowed})")
        if child not in found.policies:
            raise InputError(f"{filename}:{at}: policy-map {child} is not in the file")
        notes += children[0].rest
        policy = found.policies[child]
    raise InputError(f"{filename}:{policy.line}: policy maps are nested more than {DEEPEST} deep")


def code_points_of(found: Configuration, one: Queue, filename: str) -> tuple[set[int], list[tuple[int, str]]]:
    """Return the code points of a class by its class map, and the rules of it that are left out.

    Raises
    ------
    InputError
        If its packets are chosen by something else than code points.
    """
    own = found.class_maps.get(one.name)
    group = next((one.name.removeprefix(part) for part in GROUP_OF_NAME if one.name.startswith(part)), "")
    groups = own.groups if own is not None else {int(group)} if group.isdigit() else set()
    if groups:
        return _of_groups(found, groups, one, filename), list(own.rest) if own is not None else []
    if own is None:
        raise InputError(
            f"{filename}:{one.line}: class-map {one.name} is not in the file, so that its packets are not known"
        )
    if own.rest and (own.match_all or not own.points):
        line, words = own.rest[0]
        text = f"{words}: packets here have no such property ({MATCHES})"
        raise InputError(f"{filename}:{line}: class {one.name}: {text}")
    if not own.points:
        raise InputError(f"{filename}:{own.line}: class-map {one.name} matches nothing ({MATCHES})")
    points = set.intersection(*own.points) if own.match_all else set.union(*own.points)
    return points, [(line, f"class {one.name}: {words}") for line, words in own.rest]


def _of_groups(found: Configuration, groups: set[int], one: Queue, filename: str) -> set[int]:
    """Return the code points that policies put into groups of NX-OS (``set qos-group``)."""
    points: set[int] = set()
    for policy in found.policies.values():
        for each in policy.classes:
            own = found.class_maps.get(each.name)
            if each.group in groups and own is not None:
                points |= set().union(*own.points)
    if not points:
        listed = ", ".join(map(str, sorted(groups)))
        raise InputError(f"{filename}:{one.line}: no class with match dscp sets qos-group {listed} of class {one.name}")
    return points


def weights_of(others: Sequence[Queue], default: Queue, chosen: Chosen, filename: str) -> dict[str, float]:
    """Return the weights of the classes that share; class-default without a bandwidth gets the remainder.

    Raises
    ------
    InputError
        If bandwidths of different kinds do not compare.
    """
    sharing = [one for one in (*others, default) if not one.priority]
    kinds = {one.bandwidth[1] for one in sharing if one.bandwidth}
    for one in sharing:
        if one.bandwidth is None and one is not default:
            text = "has neither bandwidth nor priority, so that its share is not known"
            raise InputError(f"{filename}:{one.line}: class {one.name} {text}")
        if one.bandwidth and len(kinds) > 1:
            text = f"bandwidth in {' and '.join(sorted(kinds))} of one policy map do not compare"
            raise InputError(f"{filename}:{one.bandwidth[2]}: {text}")
        if one.bandwidth and one.bandwidth[0] <= 0:
            raise InputError(f"{filename}:{one.bandwidth[2]}: class {one.name}: a bandwidth is above 0")
    weights = {one.name: one.bandwidth[0] for one in sharing if one.bandwidth}
    if default.name in weights or default.priority:
        return weights
    kind = next(iter(kinds), "percent")
    given = sum(weights.values()) + sum(_guarantee(one, kind) for one in others if one.priority)
    whole = {"kbit": (chosen.rate_bps or 0.0) / 1e3, "remaining ratio": given + 1}.get(kind, 100.0)
    if whole <= given and weights:
        text = f"the share of class-default beside {given:g} {kind} is not in the file"
        allowed = "give the link's rate by shape average, or class-default a bandwidth"
        raise InputError(f"{filename}:{default.line or others[0].line}: {text} ({allowed})")
    weights[default.name] = whole - given if weights else 1.0
    if weights.keys() - {default.name}:
        text = f"class-default has the rest, {weights[default.name]:g} {kind}, as its weight"
        chosen.notes.append((default.line, text))
    return weights


def _guarantee(one: Queue, kind: str) -> float:
    """Return the guarantee of a strict class in the unit of the others' shares; 0 in any other unit.

    >>> _guarantee(Queue("v", 1, guarantee="percent 30"), "percent"), _guarantee(Queue("v", 1, guarantee="512"), "kbit")
    (30.0, 512.0)
    """
    words = one.guarantee.split()
    if kind == "percent" and words[:1] == ["percent"]:
        return float(words[1])
    return float(words[0]) if kind == "kbit" and words and words[0].isdigit() and len(words) == 1 else 0.0
