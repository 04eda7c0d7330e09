"""tc's tree of disciplines and classes as the queues of one link.

| tc | scenario |
|---|---|
| ``tbf``, ``htb`` and ``hfsc`` classes, ``netem rate``, RED's ``bandwidth`` | the link's rate |
| ``netem`` | the link's delay, loss, jitter, reordering and duplication (`aqmlab.interop.tc.netem`) |
| ``tbf`` with a burst of more than a packet | a token bucket |
| ``stab`` | the link's ``overhead``, ``mpu`` and ``linklayer`` |
| ``prio``, ``ets``, ``pfifo_fast`` | ``priority`` and ``wfq`` with a class for each band that a code point reaches |
| ``htb``, ``hfsc`` with filters by code point | ``wfq`` with the classes' rates as weights |
| ``mq`` with equal disciplines | one of them |
| a leaf | the queue of that discipline (`aqmlab.interop.importing.tc_leaf`) |

Code points come to bands by filters, else by the priority that Linux makes of a code point when it forwards a packet
(net/ipv4/route.c, ip_tos2prio) and the discipline's priomap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from aqmlab.errors import InputError
from aqmlab.interop.importing.bottleneck import BOTTLENECK, Bottleneck, Class
from aqmlab.interop.importing.ns2_study import Table
from aqmlab.interop.importing.quantities import packets, size, time
from aqmlab.interop.importing.quantities import rate as in_rate
from aqmlab.interop.importing.tc_classes import DEEPEST, NoClassesError, Shares, own_words, shares_of, without_effect
from aqmlab.interop.importing.tc_filters import described, targets_of
from aqmlab.interop.importing.tc_leaf import FIFO, NO_QUEUE, QUEUE_LENGTH, leaf_table
from aqmlab.interop.importing.tc_nodes import USUAL, Device, Node, Script, major, minor
from aqmlab.interop.tc.grammar import CAKES
from aqmlab.interop.tc.netem import read_netem
from aqmlab.interop.tc.quantities import bits_of, bytes_of, number_of, seconds_of
from aqmlab.interop.tc.queues import ETHERNET_HEADER
from aqmlab.interop.tc.schedulers import BY_TOS, CODE_POINTS, MOST_BANDS, QUANTUM

PRIO_MAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
"""Of prio and pfifo_fast."""
SCHEDULERS = ("prio", "ets", "pfifo_fast")
SHAPERS = ("tbf", "netem")
CLASSFUL = ("htb", "hfsc")
OF_HTB = {"default", "r2q", "direct_packets_stat", "direct_qlen", "offload", "ver"}
"""Words of htb and hfsc that say nothing of their classes' queues: r2q only makes quanta that are not given."""
SHAPED = 0.95
"""Share of the rate of a link that a shaper is assumed to have."""
OVERHEADS = (-64, 256)
"""Bytes that the link's ``overhead`` may have; ``mpu`` has the same most."""
STAB_TABLE = {"mtu": "2048", "tsize": "512"}
"""Defaults of a size table: the longest packet, and the table's length."""
LAYERS = {"ethernet": "ethernet", "atm": "atm", "adsl": "atm"}
"""``linklayer`` of stab to that of the link."""


class Reader:
    """Turns the nodes of a script into a bottleneck."""

    def __init__(self, script: Script, filename: str) -> None:
        self._script, self._filename = script, filename
        self.found = Bottleneck()
        self._has_rate = self._has_delay = False
        self._used: set[int] = set()
        self._used_filters: set[int] = set()
        self._class = ""
        self._device = Device("")

    def read(self) -> Bottleneck:
        """Read the tree of the first device that has a queue that is not the kernel's own; delays of others too."""
        self._device = device = self._main()
        tops = [node for node in device.disciplines if device.is_top(node)]
        queues = [node for node in tops if node.kind not in (*NO_QUEUE, *SHAPERS)]
        queues += [node for node in tops if node is device.multiqueue]
        queues = queues or tops[:1]
        if not queues:
            first = device.disciplines[0]
            raise InputError(f"{self._where(first)}: {first.kind} at {first.parent} is below itself, not at the root")
        for node in tops:
            if node.kind in SHAPERS and node is not queues[0]:
                self._shaper(node)
        if major(queues[0].parent):
            self._note(
                f"{queues[0].kind}: its parent {queues[0].parent} is not in the file: it is the link's queue", queues[0]
            )
        self._queue(queues[0], BOTTLENECK, 0)
        for node in queues[1:]:
            raise InputError(f"{self._where(node)}: a second discipline, {node.kind}; one queue of a device is read")
        for other in self._script.devices.values():
            if other is not device:
                self._other_device(other)
        self._leftover()
        self.found.sort_notes()
        if not self._has_rate:
            self.found.note(f"no rate is given (tbf rate ...): {in_rate(self.found.rate_bps)} is assumed")
        if not self._has_delay:
            self.found.note(f"no delay is given (netem delay ...): {time(self.found.delay_s)} is assumed")
        return self.found

    def _main(self) -> Device:
        """Return the device whose queue is read."""
        devices = [device for device in self._script.devices.values() if _has_queue(device)]
        own = (one for one in devices if any(node.handle != USUAL or not node.printed for node in _queues(one)))
        main = next(own, next(iter(devices), None))
        if main is None:
            delayed = (
                one for one in self._script.devices.values() if any(node.kind == "netem" for node in one.disciplines)
            )
            main = next(delayed, None)
        if main is None:
            raise InputError(
                f"{self._filename}: no line of tc with a discipline (red, pfifo, codel, ...) is in it, "
                "or a later line deletes it"
            )
        return main

    def _other_device(self, device: Device) -> None:
        for node in device.disciplines:
            if node.kind == "netem" and not _has_queue(device) and not self._has_delay:
                self._shaper(node, is_other=True)
            elif node.kind not in NO_QUEUE:
                here = self._device.name or "the first"
                self._note(f"{node.kind} on {device.name}: the queue of one device, {here}, is read", node)
        for filters in device.filters.values():
            for one in filters:
                self.found.note(described(one), one.line)

    def _where(self, node: Node) -> str:
        return f"{self._filename}:{node.line}"

    def _note(self, text: str, node: Node) -> None:
        self.found.note(text, node.line)

    def _unread(self, node: Node, words: Iterable[str], why: str = "") -> None:
        """Name words of a node that are not carried over."""
        if listed := ", ".join(words):
            self._note(f"{node.kind} {listed}" + (f" ({why})" if why else ""), node)

    def _queue(self, node: Node, name: str, depth: int) -> None:
        """Read a discipline and everything below it as the queue of this name."""
        if depth > DEEPEST:
            raise InputError(f"{self._where(node)}: disciplines are nested more than {DEEPEST} deep")
        self._used.add(id(node))
        self.found.lines[name] = node.line
        try:
            if node.stab:
                self._stab(node)
            self._read(node, name, depth)
        except ValueError as error:
            raise InputError(f"{self._where(node)}: {error}") from None

    def _read(self, node: Node, name: str, depth: int) -> None:
        children = self._device.children(node)
        if node.kind in SHAPERS:
            if self._class and (node.kind == "tbf" or {"rate", "delay"} & set(node.words.lists)):
                text = f"{node.kind} delays or limits the packets of class {self._class} alone"
                raise ValueError(f"{text}, which is not read (allowed: above the classes)")
            self._shaper(node, is_queue=not children)
            if children:
                self._queue(children[0], name, depth + 1)
            else:
                self.found.queues[name] = self._fifo_of(node)
                if node.kind == "netem" and "rate" not in node.words.lists:
                    self._note("netem without a rate has no queue: drop-tail with its limit is assumed", node)
        elif node.kind in CLASSFUL:
            self._classful(node, name, depth)
        elif node.kind in SCHEDULERS:
            self._scheduler(node, name, depth)
        elif node.kind in NO_QUEUE:
            self._several_queues(node, children, name, depth)
        else:
            if node.kind in ("red", "choke") and "bandwidth" in node.words.values and not self._has_rate:
                self.found.rate_bps, self._has_rate = bits_of(node.words.values["bandwidth"]), True
            table, notes = leaf_table(node.kind, node.words, printed=node.printed, rate_bps=self.found.rate_bps)
            self.found.queues[name] = table
            if node.kind in CAKES:
                self._link_of_cake(node)
            for note in notes:
                self._note(note, node)
            for child in children:
                self._used.add(id(child))
                if node.kind == "cake_mq" and child.kind == "cake":
                    continue  # one of its queues
                self._note(f"{child.kind} below {node.kind} is not read: {node.kind} has its own queue", child)

    def _link_of_cake(self, node: Node) -> None:
        """Take the rate of the link from CAKE's shaper, where no line has it."""
        bandwidth = node.words.values.get("bandwidth", "unlimited")
        bits = 0.0 if bandwidth == "unlimited" else bits_of(bandwidth)
        if bits and self._class:
            text = f"{node.kind} bandwidth {bandwidth} limits the packets of class {self._class} alone"
            raise ValueError(f"{text}, which is not read (allowed: unlimited)")
        if bits and not self._has_rate:
            self.found.rate_bps, self._has_rate = 1e3 * math.ceil(bits / SHAPED / 1e3), True
            self._note(
                f"the rate of the link is not given: {in_rate(self.found.rate_bps)} is assumed, of which the bandwidth "
                f"of {node.kind} is {SHAPED:.0%}",
                node,
            )
        if node.stab:
            self._note(f"stab: {node.kind}'s shaper does not count it here (allowed: its words overhead, mpu)", node)

    def _several_queues(self, node: Node, children: list[Node], name: str, depth: int) -> None:
        """Read one of the equal disciplines below mq."""
        if not children:
            raise ValueError(f"{node.kind} has no queue of its own")
        first = children[0]
        for other in children[1:]:
            if (other.kind, other.words) != (first.kind, first.words):
                raise ValueError(f"the queues of {node.kind} differ (lines {first.line} and {other.line})")
            self._used.add(id(other))
        if len(children) > 1:
            self._note(f"{node.kind}: one of {len(children)} equal queues of the device is read", node)
        self._queue(first, name, depth + 1)

    def _leftover(self) -> None:
        """Name the disciplines, classes and filters of the device that no queue was made of."""
        for old, new in self._script.replaced:
            if old.dev == self._device.name and old.kind not in NO_QUEUE:
                self._note(f"{old.kind}: line {new.line} replaces it by {new.kind}", old)
        classes = [one for several in self._device.classes.values() for one in several.values()]
        for node in [*self._device.disciplines, *classes]:
            if id(node) not in self._used and node.kind not in NO_QUEUE:
                thing = f"class {node.handle} of {node.kind}" if node.is_class else f"{node.kind} at {node.parent}"
                self._note(f"{thing}: nothing reaches it, or another queue is read in its place", node)
        for one in sorted(
            (one for several in self._device.filters.values() for one in several), key=lambda one: one.line
        ):
            if one.line not in self._used_filters:
                self.found.note(described(one), one.line)
        for line, text in self._script.notes:
            self.found.note(text, line)

    def _shaper(self, node: Node, *, is_queue: bool = False, is_other: bool = False) -> None:
        """Take rate and delay of tbf or netem, and name the rest; `is_other`: of another device, whose rate is left."""
        self._used.add(id(node))
        values, lists = node.words.values, node.words.lists
        try:
            if node.kind == "tbf":
                if "rate" not in values:
                    raise ValueError("tbf needs a rate")
                bucket = _bucket_of(node)
                self._set_rate(bits_of(values["rate"]), bucket)
                known = {"rate", *bucket, *without_effect(node), *(("limit", "latency") if is_queue else ())}
                rest = list(node.words.without(known))
                has_queue = any(word.split()[0] in ("limit", "latency") for word in rest)
                self._unread(node, rest, "the link has no queue above this one" if has_queue else "")
                return
            if "rate" in lists and not is_other:
                self._set_rate(bits_of(lists["rate"][0]))
            if "delay" in lists:
                delay = seconds_of(lists["delay"][0])
                self.found.delay_s = self.found.delay_s + delay if self._has_delay else delay
                self._has_delay = True
            channel, read, notes = read_netem(node.words)
        except ValueError as error:
            raise InputError(f"{self._where(node)}: {error}") from None
        for key in list(channel):
            if key in self.found.channel:
                read.discard(key)
        self.found.channel |= {key: value for key, value in channel.items() if key not in self.found.channel}
        for note in notes:
            self._note(f"netem {note}", node)
        more = [f"rate ... {' '.join(lists['rate'][1:])}"] if len(lists.get("rate", ())) > 1 else []
        known = {*read, "delay", *(() if is_other else ("rate",)), *(("limit",) if is_queue else ())}
        self._unread(node, [*more, *node.words.without(known)])

    def _set_rate(self, bits: float, bucket: Table | None = None) -> None:
        """Take a rate, perhaps of a token bucket; of several the link has the lowest."""
        if not bits > 0:
            raise ValueError("a rate is above 0")
        if not self._has_rate or bits < self.found.rate_bps:
            self.found.rate_bps, self.found.bucket = bits, bucket or {}
        self._has_rate = True

    def _stab(self, node: Node) -> None:
        """Take a size table as the link's lengths on the wire; of several, Linux uses that of the last discipline."""
        if self.found.framing:
            self._note("stab: replaces the one above it", node)
        self.found.framing = _framing_of(node.stab)
        longest, slots = (number_of(node.stab.get(word, default)) for word, default in STAB_TABLE.items())
        if longest > slots and self.found.framing.keys() != {"overhead"}:
            step = 2 ** math.ceil(math.log2(longest / slots))
            self._note(f"stab: Linux rounds lengths up to {step} B (tsize {slots:g}), here they are exact", node)

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

    def _below(self, node: Node, handle: str, name: str, depth: int, leaf: str = "") -> str:
        """Read the discipline at a class; drop-tail of the device's packets for a class without one."""
        child = self._device.at(handle)
        if child is not None:
            self._queue(child, name, depth + 1)
            return name
        if leaf:
            raise ValueError(
                f"class {handle} has the discipline {leaf}, whose line is not in the file; append what "
                "`tc qdisc show` prints"
            )
        self.found.lines[name] = node.line
        self.found.queues[name] = {"aqm": FIFO, "limit": packets(QUEUE_LENGTH)}
        self._note(
            f"{node.kind}: {handle} has no queue of its own: that of a device with {QUEUE_LENGTH} packets is assumed",
            node,
        )
        return name

    def _below_class(self, node: Node, handle: str, name: str, depth: int, leaf: str = "") -> str:
        """Read the discipline at one class of several, which has no packets of the others."""
        before, self._class = self._class, handle
        made = self._below(node, handle, name, depth, leaf)
        self._class = before
        return made

    def _targets(self, node: Node) -> dict[str, list[int]]:
        """Return the code points that filters send to a class; other filters are named."""
        found, used = targets_of(self._device, node)
        self._used_filters |= used
        return found

    def _scheduler(self, node: Node, name: str, depth: int) -> None:
        """Read prio, ets or pfifo_fast: strict bands first, then those that share by their quanta."""
        bands, strict, quanta, priomap = _bands(node)
        rest = set(CODE_POINTS)
        reached: dict[int, list[int]] = {}
        for target, points in self._targets(node).items():
            band = minor(target) - 1
            if not 0 <= band < bands:
                raise ValueError(f"a filter leads to {target}, which {node.kind} with {bands} bands does not have")
            reached.setdefault(band, []).extend(points)
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
        for band in sorted(reached):
            handle = f"{node.handle}{band + 1:x}"
            queue = self._below_class(node, handle, f"{name}-{band + 1}", depth)
            own_points = None if band == default else tuple(sorted(reached[band]))
            if band < strict:
                made.append(Class(f"band-{band + 1}", own_points, None, queue))
            else:
                inner.append(Class(f"band-{band + 1}", own_points, float(quanta[band - strict]), queue))
        self.found.schedule(name, made, inner)

    def _classful(self, node: Node, name: str, depth: int) -> None:
        """Read htb or hfsc: the class by default, and those that filters by code point lead to."""
        try:
            shares = shares_of(self._device, node, self._targets(node))
        except NoClassesError:
            if node.kind != "htb" or node.printed or self._device.children(node):
                raise
            limit = number_of(node.words.values.get("direct_qlen", str(QUEUE_LENGTH)))
            self.found.queues[name] = {"aqm": FIFO, "limit": packets(limit)}
            self._note("htb has no class: its packets wait for the device, whose rate is not in the line", node)
            self._unread(node, node.words.without(OF_HTB))
            return
        self._unread(node, node.words.without(OF_HTB))
        is_alone = len(shares.leaves) == 1
        for one in {id(one): one for leaf in shares.leaves for one in leaf.chain}.values():
            self._used.add(id(one))
            self._unread(one, own_words(one, is_alone=is_alone))
        for line, text in shares.notes:
            self.found.note(text, line)
        self._set_rate(shares.link_bps)
        if is_alone:
            self._below(node, shares.default.node.handle, name, depth, shares.default.node.leaf)
            return
        self._shared(node, shares, name, depth)

    def _shared(self, node: Node, shares: Shares, name: str, depth: int) -> None:
        """Read several classes as those of a scheduler by weights."""
        targets = self._targets(node)
        made = []
        for leaf in shares.leaves:
            one = leaf.node
            number = one.handle.partition(":")[2]
            queue = self._below_class(node, one.handle, f"{name}-{number}", depth, one.leaf)
            points = None if leaf is shares.default else tuple(sorted(targets[one.handle]))
            made.append(Class(f"class-{number}", points, leaf.rate_bps / 1e3, queue))
            if leaf.most_bps < shares.link_bps:
                self._note(f"class {one.handle} may take the whole link, not only {in_rate(leaf.most_bps)}", one)
        self._note(
            f"{node.kind}: its classes share the link by their rates; prio does not decide which of them borrows first",
            node,
        )
        self.found.schedule(name, [], made)


def _queues(device: Device) -> list[Node]:
    """Return the disciplines of a device that make packets wait."""
    return [
        node
        for node in device.disciplines
        if node.kind not in NO_QUEUE and (node.kind != "netem" or "rate" in node.words.lists)
    ]


def _has_queue(device: Device) -> bool:
    return bool(_queues(device))


def _bucket_of(node: Node) -> Table:
    """Return the keys of a token bucket; none for a burst of a packet, which is as a constant rate."""
    values = node.words.values
    if "burst" not in values or "burst" in without_effect(node):
        return {}
    sizes = {word: bytes_of(values[word].partition("/")[0]) for word in ("burst", "mtu") if word in values}
    found: Table = {"burst": size(max(1.0, round(sizes["burst"])))}
    if "peakrate" in values:
        peak = bits_of(values["peakrate"])
        if peak <= bits_of(values["rate"]) or not sizes.get("mtu"):
            raise ValueError("tbf: a peakrate is above the rate and needs an mtu")
        found |= {"peakrate": in_rate(peak), "mtu": size(max(1.0, round(sizes["mtu"])))}
    return found


def _framing_of(words: dict[str, str]) -> Table:
    """Return the keys of a link for a size table, which counts Ethernet's header as part of a packet.

    >>> _framing_of({"overhead": "30", "mpu": "84", "linklayer": "adsl"})
    {'overhead': 44, 'mpu': 84, 'linklayer': 'atm'}
    """
    shown = " ".join(f"{word} {value}" for word, value in words.items())
    try:
        overhead, mpu = int(words.get("overhead", "0")) + ETHERNET_HEADER, int(words.get("mpu", "0"))
    except ValueError:
        raise ValueError(f"stab {shown}: overhead and mpu are whole numbers of bytes") from None
    low, high = OVERHEADS
    if not (low <= overhead <= high and 0 <= mpu <= high):
        allowed = f"overhead {low - ETHERNET_HEADER} to {high - ETHERNET_HEADER}, mpu 0 to {high}"
        raise ValueError(f"stab {shown}: out of range (allowed: {allowed})")
    layer = words.get("linklayer", "ethernet")
    if layer not in LAYERS:
        raise ValueError(f"stab {shown}: unknown linklayer (allowed: {', '.join(LAYERS)})")
    found: Table = {"overhead": overhead}
    found |= {"mpu": mpu} if mpu else {}
    return found | ({"linklayer": LAYERS[layer]} if LAYERS[layer] != "ethernet" else {})


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
