"""The machine's network, as far as a shape has to know it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from socket import AF_INET, AF_INET6
from typing import Any, TypeVar

from aqmlab.errors import InputError, StorageError
from aqmlab.live.namespaces import reason, within
from aqmlab.live.state import NAMESPACES

T = TypeVar("T")

SETTINGS = Path("/proc/sys/net")
LOOPBACK = 0x8
"""IFF_LOOPBACK (linux/if.h)."""
MAIN = 254
BY_ROUTER = 9
"""Origin of a route that a router has advertised (RTPROT_RA)."""


@dataclass(frozen=True)
class Space:
    """A network namespace: this process's own, or one with a name."""

    name: str | None = None

    @property
    def path(self) -> Path | None:
        """The file that stands for it, or None for the own one."""
        return None if self.name is None else NAMESPACES / self.name

    def do(self, work: Callable[[], T]) -> T:
        """Do something there."""
        return work() if self.path is None else within(self.path, work)

    def ask(self, work: Callable[[Any], T]) -> T:
        """Talk to its network; an error of the kernel becomes one line."""
        from pyroute2 import IPRoute
        from pyroute2.netlink.exceptions import NetlinkError

        def talk() -> T:
            with IPRoute() as network:
                return work(network)

        try:
            return self.do(talk)
        except NetlinkError as error:
            raise StorageError(f"network{self.words}: the kernel rejects this ({reason(error)})") from None

    @property
    def words(self) -> str:
        """Where it is, for messages."""
        return "" if self.name is None else f" of namespace {self.name}"

    def setting(self, key: str) -> str | None:
        """Read a setting below ``/proc/sys/net``; None where the kernel has none such."""

        def read() -> str | None:
            try:
                return (SETTINGS / key).read_text(encoding="ascii").strip()
            except OSError:
                return None

        return self.do(read)

    def set(self, key: str, value: str) -> None:
        """Write a setting; a missing one is left alone, since its interface may have gone."""

        def write() -> None:
            try:
                (SETTINGS / key).write_text(value, encoding="ascii")
            except FileNotFoundError:
                return
            except OSError as error:
                raise StorageError(f"{SETTINGS / key}: {value!r} is rejected ({error.strerror})") from None

        self.do(write)

    @property
    def has_ipv6(self) -> bool:
        """Whether there is IPv6."""
        return self.setting("ipv6/conf/all/forwarding") is not None

    @property
    def families(self) -> tuple[int, ...]:
        """The address families there are."""
        return (AF_INET, AF_INET6) if self.has_ipv6 else (AF_INET,)


@dataclass(frozen=True)
class Interface:
    """A network interface."""

    name: str
    index: int
    loopback: bool


def interfaces(space: Space) -> dict[str, Interface]:
    """Return all interfaces by name."""
    links = space.ask(lambda network: list(network.get_links()))
    found = [Interface(link.get("ifname"), int(link["index"]), bool(link["flags"] & LOOPBACK)) for link in links]
    return {one.name: one for one in found}


def default_interfaces(space: Space) -> set[int]:
    """Return the numbers of the interfaces that carry a default route."""
    found: set[int] = set()
    for route in _defaults(space):
        found |= {route.get("oif"), *(hop.get("oif") for hop in route.get("multipath") or ())} - {None}
    return found


def has_advertised_default(space: Space) -> bool:
    """Whether IPv6's default route is one that a router advertised; Linux forgets it when it begins to forward."""
    return any(route["family"] == AF_INET6 and route["proto"] == BY_ROUTER for route in _defaults(space))


def rules(space: Space) -> list[tuple[int, int]]:
    """Return preference and table of all routing rules."""
    families = space.families
    found = space.ask(lambda network: [rule for family in families for rule in network.get_rules(family=family)])
    return [(int(rule.get("priority") or 0), int(rule.get("table") or 0)) for rule in found]


def existing(space: Space, name: str, option: str) -> Interface:
    """Return an interface that must be there."""
    known = interfaces(space)
    if name not in known:
        others = ", ".join(sorted(name for name, one in known.items() if not one.loopback)) or "none"
        raise InputError(f"{option} {name}: unknown interface{space.words} (allowed: {others})")
    return known[name]


def _defaults(space: Space) -> list[Any]:
    families = space.families
    routes = space.ask(
        lambda network: [r for family in families for r in network.get_routes(family=family, table=MAIN)]
    )
    return [route for route in routes if route["dst_len"] == 0]
