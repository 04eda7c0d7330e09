"""How packets find their way through the bottleneck: by routing rules, since a TUN device is at the level of IP.

*Between two interfaces*: a rule sends whatever came in at the input and is for another machine into the first TUN, by a
table that has nothing but a default route. The link takes it from there and puts it into the second TUN; that looks to
the kernel like any interface at which a packet came in, and no rule of ours is for it, so that the machine's own routes
say where it goes. The way back is the same with the interfaces exchanged. What is for this machine itself goes past the
bottleneck, as does what this machine sends. A packet is routed twice, so its hop limit falls by 2.

*A namespace's default route*: the first TUN is inside, with an address, and a rule there that stands before the
namespace's own default route; the second is outside, with a route to that address.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from itertools import count, islice
from socket import AF_INET
from typing import Any

from aqmlab.errors import StorageError
from aqmlab.live.namespaces import NO_DAD
from aqmlab.live.shape.journal import setting
from aqmlab.live.shape.network import MAIN, Interface, Space, has_advertised_default, interfaces, rules
from aqmlab.live.shape.steps import PROTOCOL, Rule, Step

Address = IPv4Address | IPv6Address

FIRST_PREFERENCE = 77
FIRST_TABLE = 0x41514D00
DUMMY = "192.0.0.8"
"""Address of an interface that has none (RFC 7600, section 4.8): Linux's loose check of sources wants one."""
NO_ADDRESS = "1"
"""``addr_gen_mode``: no link-local address, hence no packets of the kernel's own."""
LOOSE = "2"
"""``rp_filter``: a source need only be known somewhere (RFC 3704, section 2.4)."""
NO_FORWARDING = (
    "IPv6 is not forwarded: this kernel would forget the default route that a router has advertised; "
    "set net.ipv6.conf.all.forwarding yourself"
)


@dataclass(frozen=True)
class End:
    """A TUN of the link: where, its name, what it is addressed by, and which addresses are reached through it.

    Attributes
    ----------
    space, device
        Where, and its name.
    addresses
        Its own.
    reaches
        Addresses at its other side.
    table
        A table whose default route it is.
    """

    space: Space
    device: str
    addresses: tuple[Address, ...] = ()
    reaches: tuple[Address, ...] = ()
    table: int | None = None

    def data(self) -> dict[str, Any]:
        """Return it as the link process has to know it."""
        return {"netns": None if self.space.path is None else str(self.space.path), "device": self.device}

    def set_up(self) -> None:
        """Give it all that it needs; this goes with the device."""
        self.space.ask(self._set_up)

    def _set_up(self, network: Any) -> None:  # noqa: ANN401 - pyroute2 has no types
        space, conf = self.space, f"conf/{self.device}"
        checks = space.setting("ipv4/conf/all/rp_filter") != "0"
        found = network.link_lookup(ifname=self.device)
        if not found:
            raise StorageError(f"device {self.device}: the link process has not made it")
        index = int(found[0])
        # Down, so that it forgets the link-local address that it may have by now.
        network.link("set", index=index, state="down")
        for key, value in {
            f"ipv4/{conf}/rp_filter": LOOSE if checks else "0",
            f"ipv4/{conf}/forwarding": "1",
            f"ipv6/{conf}/addr_gen_mode": NO_ADDRESS,
            f"ipv6/{conf}/force_forwarding": "1",
        }.items():
            space.set(key, value)
        network.link("set", index=index, state="up")
        own = [str(address) for address in self.addresses]
        for address in own if own or not checks else [DUMMY]:
            length = {"prefixlen": 128, "flags": NO_DAD} if ":" in address else {"prefixlen": 32}
            network.addr("add", index=index, address=address, **length)
        for peer in self.reaches:
            network.route("add", dst=f"{peer}/{peer.max_prefixlen}", oif=index, proto=PROTOCOL)
        if self.table is not None:
            for family in space.families:
                self._default(network, family, index)

    def _default(self, network: Any, family: int, index: int) -> None:  # noqa: ANN401 - pyroute2 has no types
        """Make it the default route of its table, from its own address if it has one."""
        version = 4 if family == AF_INET else 6
        own = [str(address) for address in self.addresses if address.version == version]
        words = {"prefsrc": own[0]} if own else {}
        network.route("add", family=family, dst="default", oif=index, table=self.table, proto=PROTOCOL, **words)


@dataclass(frozen=True)
class Way:
    """All that leads through the bottleneck: its two ends, the changes of the network, and what should be known."""

    a: End
    b: End
    steps: list[Step]
    notes: list[str]


def between(into: Interface, out: Interface) -> Way:
    """Lead what comes in at one interface through the bottleneck, and what comes in at the other back through it."""
    here = Space()
    first, second = _devices(here, here)
    tables, preferences = _free(here)
    a, b = End(here, first, table=tables[0]), End(here, second, table=tables[1])
    forwarding, notes = _forwarding(here, [into.name, out.name])
    ways = [
        Rule(here, family, preference, table, iif=interface.name)
        for interface, preference, table in zip((into, out), preferences, tables, strict=True)
        for family in here.families
    ]
    return Way(a, b, [*forwarding, *ways], notes)


def of_namespace(space: Space, out: Interface | None, addresses: tuple[Address, ...]) -> Way:
    """Make the bottleneck the default route of a namespace."""
    here = Space()
    first, second = _devices(space, here)
    (table, _), preferences = _free(space)
    families = [f for f in space.families if any(a.version == (4 if f == AF_INET else 6) for a in addresses)]
    a = End(space, first, addresses=addresses, table=table)
    b = End(here, second, reaches=addresses)
    forwarding, notes = _forwarding(here, [out.name]) if out is not None else ([], [])
    ways: list[Step] = []
    for family in families:
        ways.append(Rule(space, family, preferences[0], MAIN, without_default=True))
        ways.append(Rule(space, family, preferences[1], table))
    return Way(a, b, [*forwarding, *ways], notes)


def _forwarding(space: Space, names: list[str]) -> tuple[list[Step], list[str]]:
    """Return what lets packets on that come in at these interfaces.

    IPv4 can forward by interface. IPv6 can since Linux 6.17 (``force_forwarding``); an older kernel forwards at all
    interfaces or none, and sets them all with the switch, so all of them are steps.
    """
    steps: list[Step] = [step for name in names for step in setting(space, f"ipv4/conf/{name}/forwarding", "1")]
    everywhere = "ipv6/conf/all/forwarding"
    if not space.has_ipv6 or not (turned_on := setting(space, everywhere, "1")):
        return steps, []
    if space.setting("ipv6/conf/lo/force_forwarding") is not None:
        return steps + [s for name in names for s in setting(space, f"ipv6/conf/{name}/force_forwarding", "1")], []
    if has_advertised_default(space):
        return steps, [NO_FORWARDING]
    keys = [f"ipv6/conf/{name}/forwarding" for name in ("default", *interfaces(space))]
    each = [step for key in keys for step in setting(space, key, "1", always=True)]
    # Undone last first: the switch, which takes all interfaces along, before each of them.
    return [*steps, *each, *turned_on], []


def _devices(a: Space, b: Space) -> tuple[str, str]:
    """Return unused names for the two devices."""
    taken = {*interfaces(a), *interfaces(b)}
    number = next(n for n in range(len(taken) + 1) if not {f"aqm{n}-in", f"aqm{n}-out"} & taken)
    return f"aqm{number}-in", f"aqm{number}-out"


def _free(space: Space) -> tuple[list[int], list[int]]:
    """Return two tables and two preferences that no rule has."""
    taken = rules(space)
    used_tables, used_preferences = {table for _, table in taken}, {preference for preference, _ in taken}
    tables = (one for one in count(FIRST_TABLE) if one not in used_tables)
    preferences = (one for one in count(FIRST_PREFERENCE) if one not in used_preferences)
    return list(islice(tables, 2)), list(islice(preferences, 2))
