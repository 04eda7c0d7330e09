"""tc's tree of disciplines and classes as the queues of one link.

| tc | scenario |
|---|---|
| ``tbf``, ``htb`` classes, ``netem rate``, RED's ``bandwidth`` | the link's rate |
| ``netem delay`` | the link's delay |
| ``prio``, ``ets``, ``pfifo_fast`` | ``priority`` and ``wfq`` with a class for each band that a code point reaches |
| ``htb`` with filters by code point | ``wfq`` with the classes' rates as weights |
| a leaf | the queue of that discipline (`aqmlab.interop.importing.tc_leaf`) |

Code points come to bands by filters, else by the priority that Linux makes of a code point when it forwards a packet
(net/ipv4/route.c, ip_tos2prio) and the discipline's priomap.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from aqmlab.errors import InputError
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import packets, size, time
from aqmlab.interop.importing.quantities import rate as in_rate
from aqmlab.interop.importing.tc_leaf import FIFO, FULL_FRAME, NO_QUEUE, QUEUE_LENGTH, leaf_table
from aqmlab.interop.importing.tc_script import Node, Script
from aqmlab.interop.tc.quantities import bits_of, bytes_of, number_of, seconds_of
from aqmlab.interop.tc.schedulers import BY_TOS, CODE_POINTS, MOST_BANDS, QUANTUM

RATE, DELAY = 10e6, 0.02
"""Defaults of rate and delay."""
BOTTLENECK = "bottleneck"
PRIO_MAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
"""Of prio and pfifo_fast."""
SCHEDULERS = ("prio", "ets", "pfifo_fast")
SHAPERS = ("tbf", "netem")
OF_HTB = {"default", "r2q", "direct_packets_stat", "direct_qlen"}
"""Words of htb that say nothing of its classes' queues: r2q only makes quanta that are not given."""
DEEPEST = 16


@dataclass(frozen=True)
class Class:
    """A class: its name, code points (None: all others), weight, the queue of its packets, and own parameters."""

    name: str
    code_points: tuple[int, ...] | None
    weight: float | None
    queue: str
    own: Table = field(default_factory=dict)


@dataclass
class Bottleneck:
    """A link with its queues, and what was not read.

    Attributes
    ----------
    rate_bps, delay_s
        Of the link.
    queues
        ``[queue.NAME]`` tables; the link has the one that is called `BOTTLENECK`.
    classes
        Classes of the queues that are schedulers.
    notes
        What is assumed, or not carried over.
    """

    rate_bps: float = RATE
    delay_s: float = DELAY
    queues: dict[str, Table] = field(default_factory=dict)
    classes: dict[str, list[Class]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def queue(self) -> Table:
        """The link's queue."""
        return self.queues[BOTTLENECK]


class Reader:
    """Turns the nodes of a script into a bottleneck."""

    def __init__(self, script: Script, filename: str) -> None:
        self._script, self._filename = script, filename
        self.found = Bottleneck()
        self._has_rate = self._has_delay = False
        self._used: set[int] = set()
        self._used_filters: set[int] = set()

    def read(self) -> Bottleneck:
        """Read the tree of the first device that has a queue; delays of other devices too."""
        devices = dict.fromkeys(node.dev for node in self._script.nodes)
        main = next((dev for dev in devices if self._queue_nodes(dev)), None)
        if main is None:
            main = next((node.dev for node in self._script.nodes if node.kind == "netem"), None)
        if main is None:
            raise InputError(f"{self._filename}: no line of tc with a discipline (red, pfifo, codel, ...) is in it")
        for dev in devices:
            if dev != main:
                self._other_device(dev, main)
        tops = [node for node in self._disciplines(main) if self._parent(node) is None]
        queues = [node for node in tops if node.kind not in (*NO_QUEUE, *SHAPERS)] or tops[:1]
        for node in tops:
            if node.kind in SHAPERS and node is not queues[0]:
                self._shaper(node)
        self._queue(queues[0], BOTTLENECK, 0)
        for node in queues[1:]:
            raise InputError(f"{self._where(node)}: a second discipline, {node.kind}; one queue of a device is read")
        self._leftover(main)
        if not self._has_rate:
            self._note(f"no rate is given (tbf rate ...): {in_rate(self.found.rate_bps)} is assumed")
        if not self._has_delay:
            self._note(f"no delay is given (netem delay ...): {time(self.found.delay_s)} is assumed")
        return self.found

    def _disciplines(self, dev: str) -> list[Node]:
        return [node for node in self._script.nodes if node.dev == dev and not node.is_class]

    def _queue_nodes(self, dev: str) -> list[Node]:
        return [
            node
            for node in self._disciplines(dev)
            if node.kind not in NO_QUEUE and (node.kind != "netem" or "rate" in node.words.lists)
        ]

    def _other_device(self, dev: str, main: str) -> None:
        for node in self._disciplines(dev):
            if node.kind == "netem":
                self._shaper(node)
            elif node.kind not in NO_QUEUE:
                self._note(f"{node.kind} on {dev}: the queue of one device, {main or 'the first'}, is read", node)

    def _where(self, node: Node) -> str:
        return f"{self._filename}:{node.line}"

    def _note(self, text: str, node: Node | None = None) -> None:
        self.found.notes.append(f"line {node.line}: {text}" if node else text)

    def _unread(self, node: Node, words: Iterable[str], why: str = "") -> None:
        """Name words of a node that are not carried over."""
        if listed := ", ".join(words):
            self._note(f"{node.kind} {listed}" + (f" ({why})" if why else ""), node)

    def _parent(self, node: Node) -> Node | None:
        """Return the discipline or class above a discipline, if a line has it."""
        major = node.parent.partition(":")[0]
        for other in self._script.nodes:
            if other.dev != node.dev or other is node:
                continue
            if other.is_class and (other.handle == node.parent or (other.leaf and other.leaf == node.handle)):
                return other
            if not other.is_class and major and other.handle == f"{major}:" and ":" in node.parent:
                return other
        if node.parent.startswith(":"):
            return next((one for one in self._disciplines(node.dev) if one.kind == "mq" and one is not node), None)
        return None

    def _children(self, node: Node) -> list[Node]:
        """Return the disciplines below a discipline (also below its classes), in the order of their parents."""
        found = [one for one in self._disciplines(node.dev) if self._above(one) is node]
        return sorted(found, key=lambda one: _minor(one.parent))

    def _above(self, node: Node) -> Node | None:
        parent = self._parent(node)
        for _ in range(DEEPEST):
            if parent is None or not parent.is_class:
                return parent
            major = parent.handle.partition(":")[0]
            parent = next((one for one in self._disciplines(node.dev) if one.handle == f"{major}:"), None)
        return parent

    def _queue(self, node: Node, name: str, depth: int) -> None:
        """Read a discipline and what is below it as the queue of this name."""
        if depth > DEEPEST:
            raise InputError(f"{self._where(node)}: disciplines are nested more than {DEEPEST} deep")
        self._used.add(id(node))
        try:
            self._read(node, name, depth)
        except ValueError as error:
            raise InputError(f"{self._where(node)}: {error}") from None

    def _read(self, node: Node, name: str, depth: int) -> None:
        children = self._children(node)
        if node.kind in SHAPERS:
            self._shaper(node, is_queue=not children)
            if children:
                self._queue(children[0], name, depth + 1)
            else:
                self.found.queues[name] = self._fifo_of(node)
                if node.kind == "netem" and "rate" not in node.words.lists:
                    self._note("netem without a rate has no queue: drop-tail with its limit is assumed", node)
        elif node.kind == "htb":
            self._htb(node, name, depth)
        elif node.kind in SCHEDULERS:
            self._scheduler(node, name, depth)
        elif node.kind in NO_QUEUE:
            if not children:
                raise ValueError(f"{node.kind} has no queue of its own")
            self._queue(children[0], name, depth + 1)
        else:
            if node.kind in ("red", "choke") and "bandwidth" in node.words.values and not self._has_rate:
                self.found.rate_bps, self._has_rate = bits_of(node.words.values["bandwidth"]), True
            table, notes = leaf_table(node.kind, node.words, printed=node.printed, rate_bps=self.found.rate_bps)
            self.found.queues[name] = table
            for note in notes:
                self._note(note, node)

    def _leftover(self, dev: str) -> None:
        """Name the disciplines and classes of the device that no queue was made of."""
        for old, new in self._script.replaced:
            if old.dev == dev and old.kind not in NO_QUEUE:
                self._note(f"{old.kind}: line {new.line} replaces it by {new.kind}", old)
        for node in self._script.nodes:
            if node.dev == dev and id(node) not in self._used and node.kind not in (*NO_QUEUE, *SHAPERS):
                thing = f"class {node.handle} of {node.kind}" if node.is_class else f"{node.kind} at {node.parent}"
                self._note(f"{thing}: nothing reaches it, or another queue is read in its place", node)
        for line, words in self._script.filters:
            if line not in self._used_filters:
                self.found.notes.append(f"line {line}: filter {' '.join(words)}")

    def _shaper(self, node: Node, *, is_queue: bool = False) -> None:
        """Take rate and delay of tbf or netem, and name the rest."""
        self._used.add(id(node))
        values, lists = node.words.values, node.words.lists
        try:
            if node.kind == "tbf":
                if "rate" not in values:
                    raise ValueError("tbf needs a rate")
                self._set_rate(bits_of(values["rate"]))
                known = {"rate", "limit", "latency"} if is_queue else {"rate"}
                rest = node.words.without(known | _of_no_effect(node))
                self._unread(node, rest, "the link has neither bursts nor a queue above this one")
                return
            if "rate" in lists:
                self._set_rate(bits_of(lists["rate"][0]))
            if "delay" in lists:
                self.found.delay_s = seconds_of(lists["delay"][0])
                self._has_delay = True
        except ValueError as error:
            raise InputError(f"{self._where(node)}: {error}") from None
        more = [f"{word} ... {' '.join(lists[word][1:])}" for word in ("rate", "delay") if len(lists.get(word, ())) > 1]
        rest = node.words.without({"rate", "delay", "limit"} if is_queue else {"rate", "delay"})
        self._unread(node, [*more, *rest])

    def _set_rate(self, bits: float) -> None:
        """Take a rate; of several the link has the lowest."""
        if not bits > 0:
            raise ValueError("a rate is above 0")
        self.found.rate_bps = min(bits, self.found.rate_bps) if self._has_rate else bits
        self._has_rate = True

    def _fifo_of(self, node: Node) -> Table:
        """Return the queue that a shaper without a discipline below it has."""
        values = node.words.values
        if node.kind == "netem":
            return leaf_table("pfifo", node.words, printed=node.printed, rate_bps=self.found.rate_bps)[0]
        if "limit" in values:
            return {"aqm": FIFO, "limit": size(bytes_of(values["limit"]))}
        if "latency" not in values:
            raise ValueError("tbf needs a limit or a latency")
        burst = bytes_of(values.get("burst", "0").partition("/")[0])
        limit = bits_of(values["rate"]) / 8 * seconds_of(values["latency"]) + burst
        self._note(f"a latency of {values['latency']} above the burst is a limit of {limit:.0f} B", node)
        return {"aqm": FIFO, "limit": size(max(1.0, round(limit)))}

    def _below(self, node: Node, handle: str, name: str, depth: int) -> str:
        """Read the discipline at a class; drop-tail of 1000 packets where there is none."""
        for child in self._disciplines(node.dev):
            parent = self._parent(child)
            if child.parent == handle or (parent is not None and parent.is_class and parent.handle == handle):
                self._queue(child, name, depth + 1)
                return name
        self.found.queues[name] = {"aqm": FIFO, "limit": "1000p"}
        return name

    def _targets(self, node: Node) -> dict[str, list[int]]:
        """Return the code points that filters send to a class; other filters are named."""
        found: dict[str, list[int]] = {}
        taken: set[int] = set()
        for line, words in self._script.filters:
            place = dict(itertools.pairwise(words))
            target = place.get("flowid", place.get("classid", ""))
            points = code_points(words)
            if place.get("dev", "") != node.dev or points is None or not target.startswith(node.handle):
                continue
            self._used_filters.add(line)
            found.setdefault(target.lower(), []).extend(one for one in points if one not in taken)
            taken.update(points)
        return found

    def _scheduler(self, node: Node, name: str, depth: int) -> None:
        """Read prio, ets or pfifo_fast: strict bands first, then those that share by their quanta."""
        bands, strict, quanta, priomap = _bands(node)
        rest = set(CODE_POINTS)
        reached: dict[int, list[int]] = {}
        for target, points in self._targets(node).items():
            reached.setdefault(_minor(target) - 1, []).extend(points)
            rest.difference_update(points)
        for point in sorted(rest):
            reached.setdefault(priomap[BY_TOS[point & 7]], []).append(point)
        silent = [str(band + 1) for band in range(bands) if band not in reached]
        if silent:
            self._note(f"{node.kind}: no code point reaches band {', '.join(silent)}", node)
        default = next((band for band, points in reached.items() if 0 in points), 0)
        known = {"bands", "strict", "quanta", "priomap"}
        self._unread(node, node.words.without(known))
        inner: list[Class] = []
        made: list[Class] = []
        for band in sorted(band for band in reached if band < bands):
            handle = f"{node.handle}{band + 1:x}"
            queue = self._below(node, handle, f"{name}-{band + 1}", depth)
            own_points = None if band == default else tuple(sorted(reached[band]))
            if band < strict:
                made.append(Class(f"band-{band + 1}", own_points, None, queue))
            else:
                inner.append(Class(f"band-{band + 1}", own_points, float(quanta[band - strict]), queue))
        self._add_classes(name, made, inner)

    def _add_classes(self, name: str, strict: list[Class], shared: list[Class]) -> None:
        """Add schedulers: strict classes, the last of which is that of the classes that share."""
        if not strict:
            self.found.queues[name] = {"aqm": "wfq"}
            self.found.classes[name] = shared
            return
        self.found.queues[name] = {"aqm": "priority"}
        if shared:
            own = f"{name}-shared"
            self.found.queues[own] = {"aqm": "wfq"}
            self.found.classes[own] = shared
            points = [one.code_points for one in shared]
            every = None if None in points else tuple(sorted(p for several in points for p in several or ()))
            if every is not None:
                shared[-1] = replace(shared[-1], code_points=None)
            strict = [*strict, Class("shared", every, None, own)]
        self.found.classes[name] = strict

    def _htb(self, node: Node, name: str, depth: int) -> None:
        """Read htb: the class by default, and those that filters by code point lead to."""
        classes = [one for one in self._script.nodes if one.is_class and one.dev == node.dev and one.kind == "htb"]
        leaves = [one for one in classes if not any(two.parent == one.handle for two in classes)]
        if not leaves:
            limit = number_of(node.words.values.get("direct_qlen", str(QUEUE_LENGTH)))
            self.found.queues[name] = {"aqm": FIFO, "limit": packets(limit)}
            self._note("htb has no class: its packets wait for the device, whose rate is not in the line", node)
            self._unread(node, node.words.without(OF_HTB))
            return
        targets = self._targets(node)
        chosen = node.handle + node.words.values.get("default", "0").removeprefix("0x").lstrip("0")
        default = next((one for one in leaves if one.handle == chosen), None)
        if default is None and len(leaves) == 1:
            default = leaves[0]
        reached = [one for one in leaves if one is default or one.handle in targets]
        if default is None:
            raise ValueError(
                f"htb's default class {chosen} is not among its classes; what no filter takes has no queue"
            )
        self._unread(node, node.words.without(OF_HTB))
        chains = {one.handle: self._chain(one, classes) for one in reached}
        for one in {id(one): one for chain in chains.values() for one in chain}.values():
            self._used.add(id(one))
            alone = {"prio", "quantum", "mtu"} if len(reached) == 1 else set()
            self._unread(one, one.words.without({"rate", "ceil"} | alone | _of_no_effect(one)))
        ceilings = [min(_ceil(one) for one in chain) for chain in chains.values()]
        if len(reached) == 1:
            self._set_rate(ceilings[0])
            self._below(node, reached[0].handle, name, depth)
            return
        self._set_rate(max(ceilings))
        made = []
        for one in reached:
            minor = one.handle.partition(":")[2]
            queue = self._below(node, one.handle, f"{name}-{minor}", depth)
            points = None if one is default else tuple(sorted(targets[one.handle]))
            made.append(Class(f"class-{minor}", points, bits_of(one.words.values["rate"]) / 1e3, queue))
        self._note("htb: its classes share the link by their rates; ceil and prio of single classes are left out", node)
        self._add_classes(name, [], made)

    def _chain(self, leaf: Node, classes: Sequence[Node]) -> list[Node]:
        """Return a class and those above it."""
        found = [leaf]
        while len(found) <= DEEPEST:
            above = next((one for one in classes if one.handle == found[-1].parent), None)
            if above is None:
                return found
            found.append(above)
        raise ValueError(f"classes are nested more than {DEEPEST} deep")


def _of_no_effect(node: Node) -> set[str]:
    """Return words of a shaper that change nothing: Ethernet's frames, and bursts of a packet, as a link sends them."""
    bursts = [word for word in ("burst", "cburst") if word in node.words.values]
    found = {word for word in bursts if bytes_of(node.words.values[word].partition("/")[0]) <= FULL_FRAME}
    return found | ({"linklayer"} if node.words.values.get("linklayer") == "ethernet" else set())


def _ceil(node: Node) -> float:
    values = node.words.values
    if "rate" not in values:
        raise ValueError(f"class {node.handle} of htb needs a rate")
    return max(bits_of(values["rate"]), bits_of(values.get("ceil", values["rate"])))


def _minor(handle: str) -> int:
    """Return the minor number of a handle, 0 without one."""
    text = handle.partition(":")[2]
    return int(text, 16) if re.fullmatch(r"[0-9a-fA-F]{1,4}", text) else 0


def _bands(node: Node) -> tuple[int, int, list[int], list[int]]:
    """Return how many bands a scheduler has, how many of them are strict, the others' quanta, and its priomap."""
    values, lists = node.words.values, node.words.lists
    quanta = [int(one) for one in lists.get("quanta", ())]
    priomap = [int(one) for one in lists.get("priomap", ())]
    strict = _whole(values.get("strict", "0"))
    if node.kind != "ets":
        bands = _whole(values.get("bands", "3"))
        strict, priomap = bands, priomap or list(PRIO_MAP)
    else:
        bands = _whole(values["bands"]) if "bands" in values else strict + len(quanta)
    least = 1 if node.kind == "ets" else 2
    if not least <= bands <= MOST_BANDS:
        raise ValueError(f"{node.kind} has {least} to {MOST_BANDS} bands, not {bands}")
    if strict + len(quanta) > bands:
        raise ValueError(f"{node.kind} has {bands} bands, not {strict + len(quanta)}")
    if len(priomap) > MOST_BANDS or any(band >= bands for band in priomap):
        raise ValueError(f"a priomap has at most {MOST_BANDS} bands from 0 to {bands - 1}")
    if any(quantum == 0 for quantum in quanta):
        raise ValueError("a quantum is above 0")
    quanta += [QUANTUM] * (bands - strict - len(quanta))
    return bands, strict, quanta, priomap + [bands - 1] * (MOST_BANDS - len(priomap))


def _whole(text: str) -> int:
    value = number_of(text)
    if not value.is_integer():
        raise ValueError(f'"{text}" is not a whole number')
    return int(value)


def code_points(words: Sequence[str]) -> list[int] | None:
    """Return the code points of a filter that looks at nothing else; None for another one.

    >>> code_points("parent 1: protocol ip u32 match ip dsfield 0xb8 0xfc flowid 1:1".split())
    [46]
    >>> code_points("parent 1: flower ip_tos 184/0xfc classid 1:1".split())
    [46]
    >>> code_points("parent 1: u32 match ip dport 80 0xffff flowid 1:1".split())
    """
    matches = sum(word == "match" for word in words)
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
