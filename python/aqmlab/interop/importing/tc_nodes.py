"""Disciplines, classes and filters of devices, as lines of tc add, change and delete them.

A device has one discipline at each place, and one discipline or class of each handle: a line that adds a second one is
an error, as in tc. Places and handles are looked up in maps, so that a file of many lines takes time in proportion.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from aqmlab.errors import InputError
from aqmlab.interop.tc.grammar import Words

MERGES = ("codel", "fq_codel", "pie", "fq_pie", "dualpi2", "cake", "cake_mq")
"""Disciplines of which ``change`` leaves the options that it does not name."""
USUAL = ":"
"""Handle 0: of the disciplines that the kernel makes by itself, as `handle_of` writes it."""


@dataclass
class Node:
    """A discipline or class of a line.

    Attributes
    ----------
    line
        Its number in the text.
    is_class
        Whether it is a class.
    kind, dev
        tc's name of the discipline, and the device.
    handle, parent
        ``1:``, or ``1:10`` of a class; of the parent, or ``root``; "" if it is not given.
    words
        Its own words.
    printed
        Whether the line is output of tc, not a command.
    leaf
        Of a class in output: the handle of the discipline below it.
    stab
        Words of the size table: overhead of the link's layer.
    """

    line: int
    is_class: bool
    kind: str
    dev: str
    handle: str
    parent: str
    words: Words
    printed: bool
    leaf: str = ""
    stab: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Filter:
    """A filter: its line, the discipline or class that it is attached to, and its words from ``parent`` on."""

    line: int
    parent: str
    words: tuple[str, ...]


@dataclass
class Device:
    """The disciplines of a device by place and handle, and its classes and filters by the discipline's major number."""

    name: str
    places: dict[str, Node] = field(default_factory=dict)
    handles: dict[str, Node] = field(default_factory=dict)
    classes: dict[str, dict[str, Node]] = field(default_factory=dict)
    below: dict[str, dict[str, Node]] = field(default_factory=dict)
    filters: dict[str, list[Filter]] = field(default_factory=dict)

    @property
    def disciplines(self) -> list[Node]:
        """All disciplines in the order of their lines."""
        return list(self.places.values())

    def put(self, node: Node) -> None:
        """Take a discipline in; the device has none at its place."""
        self.places[node.parent] = node
        if node.handle not in ("", USUAL):
            self.handles[node.handle] = node
        self.below.setdefault(major(node.parent), {})[node.parent] = node

    def put_class(self, node: Node) -> None:
        """Take a class in."""
        self.classes.setdefault(major(node.handle), {})[node.handle] = node

    def remove(self, node: Node) -> None:
        """Remove a discipline with everything below it."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            self.places.pop(one.parent, None)
            self.handles.pop(one.handle, None)
            self.below.get(major(one.parent), {}).pop(one.parent, None)
            own = major(one.handle)
            if own:
                waiting += self.below.get(own, {}).values()
                self.classes.pop(own, None)
                self.filters.pop(own, None)

    def remove_class(self, handle: str) -> None:
        """Remove a class with the discipline at it."""
        self.classes.get(major(handle), {}).pop(handle, None)
        if handle in self.places:
            self.remove(self.places[handle])

    def children(self, node: Node) -> list[Node]:
        """Return the disciplines below a discipline, also below its classes, in the order of their places."""
        own = major(node.handle)
        found = list(self.below.get(own, {}).values()) if own else []
        if node is self.multiqueue:
            found += [one for one in self.below.get("", {}).values() if one.parent.startswith(":")]
        return sorted(found, key=lambda one: minor(one.parent))

    def at(self, handle: str) -> Node | None:
        """Return the discipline at a class."""
        return self.places.get(handle)

    def is_top(self, node: Node) -> bool:
        """Return whether no discipline of the file is above a discipline."""
        above = major(node.parent)
        if not above:
            return not (node.parent.startswith(":") and self.multiqueue is not None)
        return f"{above}:" not in self.handles and above not in self.classes

    @property
    def multiqueue(self) -> Node | None:
        """The discipline of a device with several transmit queues, if it has one."""
        root = self.places.get("root")
        return root if root is not None and root.kind in ("mq", "mqprio") else None


@dataclass
class Script:
    """Result of lines of tc: devices in their order, and disciplines that a later line replaced by others."""

    filename: str
    devices: dict[str, Device] = field(default_factory=dict)
    replaced: list[tuple[Node, Node]] = field(default_factory=list)
    notes: list[tuple[int, str]] = field(default_factory=list)

    def device(self, name: str) -> Device:
        """Return the device of a name, made where it is new."""
        return self.devices.setdefault(name, Device(name))

    def nodes(self) -> Iterator[Node]:
        """Yield all disciplines and classes."""
        for device in self.devices.values():
            yield from device.places.values()
            for classes in device.classes.values():
                yield from classes.values()

    def add(self, node: Node, verb: str) -> None:
        """Add a discipline or class; it takes the place of one that was there, or changes its options."""
        device = self.device(node.dev)
        old = self._same(device, node)
        if old is None:
            if verb == "change":
                raise self._error(
                    node, f"change of {node.kind} at {node.handle or node.parent}, which no line has made"
                )
            (device.put_class if node.is_class else device.put)(node)
            return
        if node.printed and old.printed and (old.kind, old.words) == (node.kind, node.words):
            return
        if verb == "add" or node.printed:
            thing = "class" if node.is_class else "discipline"
            where = old.handle if node.is_class or old.handle == node.handle else old.parent
            raise self._error(node, f"a second {thing}, {node.kind}; {where} is {old.kind} of line {old.line} already")
        if old.kind == node.kind in MERGES and (verb == "change" or node.handle):
            node.words = old.words.changed(node.words)
        elif verb == "replace" and not node.is_class:
            self.replaced.append((old, node))
        node.handle, node.parent = node.handle or old.handle, node.parent or old.parent
        if node.is_class:
            device.put_class(node)
            return
        if old.kind != node.kind:
            device.remove(old)
        device.put(node)

    def _same(self, device: Device, node: Node) -> Node | None:
        """Return the node at a node's place or with its handle; a default discipline gives way to a command."""
        if node.is_class:
            return device.classes.get(major(node.handle), {}).get(node.handle)
        old = device.handles.get(node.handle) or device.places.get(node.parent)
        if old is not None and old.printed and old.handle == USUAL and not node.printed:
            device.remove(old)
            return None
        return old

    def delete(self, dev: str, handle: str, parent: str, *, is_class: bool) -> None:
        """Remove the node that a line of ``tc qdisc del`` or ``tc class del`` names, with everything below it."""
        device = self.devices.get(dev)
        if device is None:
            return
        if is_class:
            device.remove_class(handle)
            return
        node = device.handles.get(handle) if handle else device.places.get(parent)
        if node is not None:
            device.remove(node)

    def _error(self, node: Node, text: str) -> InputError:
        return InputError(f"{self.filename}:{node.line}: {text}")


def handle_of(text: str) -> str:
    """Return a handle as tc prints it; a word that is no handle stays as it is.

    >>> handle_of("1:"), handle_of("1:0A"), handle_of("0001:0"), handle_of("root"), handle_of("1")
    ('1:', '1:a', '1:', 'root', '1:')
    """
    before, colon, after = text.lower().partition(":")
    if not text or (set(before + after) - set("0123456789abcdef")):
        return text
    return f"{before.lstrip('0')}:{after.lstrip('0')}" if colon or before else text


def major(handle: str) -> str:
    """Return the major number of a handle; "" of ``root``, and of a place of a device with several queues.

    >>> major("1:10"), major("root"), major(":1")
    ('1', '', '')
    """
    return handle.partition(":")[0] if ":" in handle else ""


def minor(handle: str) -> int:
    """Return the minor number of a handle, 0 without one.

    >>> minor("1:10"), minor("1:"), minor("root")
    (16, 0, 0)
    """
    text = handle.partition(":")[2]
    return int(text, 16) if 0 < len(text) <= 4 and not set(text) - set("0123456789abcdef") else 0
