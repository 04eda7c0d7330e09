"""Checks of what may be shaped, and by whom, before anything is changed."""

from __future__ import annotations

import importlib.util
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.live.link_process import LiveError
from aqmlab.live.shape import journal, routing
from aqmlab.live.shape.network import Interface, Space, default_interfaces, existing
from aqmlab.live.shape.steps import Rule

ADDRESSES = ("10.78.0.1", "fd78::1")
"""Of a namespace whose default route the bottleneck is, unless others are given."""
NET_ADMIN = 12
"""Number of the capability that routing needs (capabilities(7))."""


def check_options(*, into: str | None, out: str | None, netns: str | None, addresses: Sequence[str]) -> None:
    """Reject interfaces that make no sense."""
    if netns is None:
        if into is None or out is None:
            raise InputError("shape: say where (allowed: --in IF and --out IF, or --netns NAME)")
        if into == out:
            raise InputError(f"--out {out}: is the input too (allowed: another interface than --in)")
        if addresses:
            raise InputError("--address: is for --netns, which is not given")
    elif into is not None:
        raise InputError("--in: cannot be given with --netns, which is the input")
    for address in addresses:
        try:
            ipaddress.ip_address(address)
        except ValueError:
            raise InputError(f"--address {address}: is not an IP address (allowed: such as {ADDRESSES[0]})") from None


def check_machine() -> None:
    """Raise an error where routes cannot be changed."""
    if importlib.util.find_spec("pyroute2") is None:
        raise InputError("shape: needs pyroute2, which is not installed (pip install 'aqmlab[live]')")
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    able = next((line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), "0")
    if not int(able, 16) >> NET_ADMIN & 1:
        raise LiveError("shape: changing routes needs root (CAP_NET_ADMIN); start it with sudo")


def way_through(
    *, into: str | None, out: str | None, netns: str | None, addresses: Sequence[str], yes: bool
) -> routing.Way:
    """Return the way that is meant, if it may be taken."""
    here = Space()
    start = None if into is None else _interface(here, into, "--in", yes=yes)
    end = None if out is None else _interface(here, out, "--out", yes=yes or netns is not None)
    if start is not None and end is not None:
        return routing.between(start, end)
    space = Space(netns)
    if space.path is None or not space.path.is_file():
        raise InputError(f"--netns {netns}: unknown namespace (ip netns add {netns} makes it)")
    if space.path.samefile("/proc/self/ns/net"):
        raise InputError(f"--netns {netns}: is the namespace that this runs in (allowed: another one)")
    if f"netns:{netns}" in _shaped():
        raise InputError(f"--netns {netns}: has a shape already")
    return routing.of_namespace(space, end, tuple(ipaddress.ip_address(a) for a in addresses or ADDRESSES))


def _interface(space: Space, name: str, option: str, *, yes: bool) -> Interface:
    """Return an interface that may be shaped."""
    found = existing(space, name, option)
    if found.loopback:
        raise InputError(f"{option} {name}: is the loopback interface (allowed: one to other machines)")
    if not yes and found.index in default_interfaces(space):
        raise InputError(
            f"{option} {name}: carries the default route; what goes wrong may cut you off (--yes takes it all the same)"
        )
    if name in _shaped():
        raise InputError(f"{option} {name}: has a shape already")
    return found


def _shaped() -> set[str]:
    """Return what other shapes that run here have taken: interfaces, and namespaces as ``netns:NAME``."""
    here = journal.Journal.of([]).place
    rules = [
        step for other in journal.living() if other.place == here for step in other.steps if isinstance(step, Rule)
    ]
    return {rule.iif or f"netns:{rule.space.name}" for rule in rules}
