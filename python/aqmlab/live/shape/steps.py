"""Changes of a shape to the machine's network, each with its way back.

A step is known by its change alone, so that another process can take it back from a written list, also if it was
never done. Whatever hangs on the link's own devices (addresses, routes, settings) goes with them and is no step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aqmlab.live.shape.network import Space

PROTOCOL = 177
"""Origin of our routes and rules, as `ip rule` shows it: one without a name in /etc/iproute2."""


@dataclass(frozen=True)
class Setting:
    """A setting below ``/proc/sys/net`` gets another value for a while."""

    space: Space
    key: str
    value: str
    before: str

    def do(self) -> None:
        """Set it."""
        self.space.set(self.key, self.value)

    def undo(self) -> None:
        """Set it back."""
        if self.space.setting(self.key) != self.before:
            self.space.set(self.key, self.before)


@dataclass(frozen=True)
class Rule:
    """A routing rule.

    Attributes
    ----------
    space
        Where.
    family
        Of addresses.
    preference
        Rules of lower preference are asked first.
    table
        Where the packet's route is looked for.
    iif
        Only for packets that come in there; None for all.
    without_default
        Whether a default route of that table does not count.
    """

    space: Space
    family: int
    preference: int
    table: int
    iif: str | None = None
    without_default: bool = False

    def do(self) -> None:
        """Add it."""
        self.space.ask(lambda network: network.rule("add", **self._words()))

    def undo(self) -> None:
        """Delete it, if it is there."""
        from pyroute2.netlink.exceptions import NetlinkError

        def delete(network: Any) -> None:  # noqa: ANN401 - pyroute2 has no types
            try:
                network.rule("del", **self._words())
            except NetlinkError as error:
                if error.code not in _NOT_THERE:
                    raise

        self.space.ask(delete)

    def _words(self) -> dict[str, Any]:
        words: dict[str, Any] = {"family": self.family, "priority": self.preference, "table": self.table}
        words |= {} if self.iif is None else {"iifname": self.iif}
        words |= {"suppress_prefixlen": 0} if self.without_default else {}
        return words | {"protocol": PROTOCOL}


_NOT_THERE = (2, 97)
"""No such rule (ENOENT), no such family (EAFNOSUPPORT)."""

Step = Setting | Rule


def to_json(step: Step) -> dict[str, Any]:
    """Write a step down.

    >>> step = Rule(Space(), 2, 77, 1000, iif="eth0")
    >>> from_json(to_json(step)) == step
    True
    """
    return {"kind": type(step).__name__, **vars(step), "space": step.space.name}


def from_json(data: dict[str, Any]) -> Step:
    """Read a step."""
    values = {**data, "space": Space(data["space"])}
    kind = values.pop("kind")
    return Rule(**values) if kind == Rule.__name__ else Setting(**values)
