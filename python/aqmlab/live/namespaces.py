"""Network namespaces: made, set up, and entered by a thread of its own.

The kernel has a network namespace for each thread, not for each process. So nothing is forked here: a process with
threads of libraries that were not meant to be forked can hang in the child.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_interface
from pathlib import Path
from typing import Any, TypeVar

from aqmlab.errors import StorageError
from aqmlab.live.state import namespace_path

T = TypeVar("T")

MTU = 1500
QUEUE_LENGTH = 10_000
"""Room of a TUN, in packets; what does not fit is lost outside the discipline."""
NO_DAD = 0x02
"""Flag of an IPv6 address that is used at once, without asking whether somebody has it (IFA_F_NODAD)."""
CLONE_NEWNET = 0x40000000
"""Flag of unshare(2)."""
FEATURE_ECN = 1
"""Feature of a route whose connections ask for ECN (RTAX_FEATURE_ECN)."""


@dataclass(frozen=True)
class Route:
    """A route to one peer, with the settings of the connections over it.

    Attributes
    ----------
    to, source
        Addresses of the peer and of this end.
    metrics
        Settings of the route, by pyroute2's names: ``cc_algo``, ``hoplimit``, ``features``, ``initcwnd``, ``advmss``...
    """

    to: str
    source: str
    metrics: Mapping[str, int | str] = field(default_factory=dict)


def create(name: str) -> Path:
    """Make a namespace with a name, in the manner of ``ip netns add``."""
    from pyroute2 import netns

    def work() -> None:
        if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        netns.attach(name, "thread-self")

    try:
        in_a_thread(work)
    except OSError as error:
        raise StorageError(f"namespace {name}: cannot be made ({os.strerror(error.errno or 0)})") from None
    return namespace_path(name)


def within(netns: Path, work: Callable[[], T]) -> T:
    """Do something in a namespace, in a thread of its own, so that nothing else of this process goes there."""
    from pyroute2 import netns as spaces

    def enter() -> T:
        spaces.setns(str(netns), flags=0)
        return work()

    return in_a_thread(enter)


def in_a_thread(work: Callable[[], T]) -> T:
    """Do something in a thread that ends with it, and return or raise what it does."""
    found: list[T] = []
    failed: list[BaseException] = []

    def do() -> None:
        try:
            found.append(work())
        except BaseException as error:  # raised again in the waiting thread
            failed.append(error)

    thread = threading.Thread(target=do)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return found[0]


def set_kernel(netns: Path, settings: Mapping[str, str]) -> list[str]:
    """Write settings below ``/proc/sys/net`` in a namespace.

    Returns
    -------
    list of str
        Settings that this kernel does not have.
    """

    def work() -> list[str]:
        missing = []
        for key, value in settings.items():
            path = Path("/proc/sys/net", key)
            try:
                path.write_text(value, encoding="ascii")
            except FileNotFoundError:
                missing.append(key)
            except OSError as error:
                raise StorageError(f"{path}: {value!r} is rejected ({error.strerror})") from None
        return missing

    return within(netns, work)


def set_up(netns: Path, device: str, *, addresses: Sequence[str], routes: Sequence[Route]) -> None:
    """Bring a device up with its addresses (``ADDRESS/LENGTH``) and routes, and the loopback device too."""
    within(netns, lambda: _set_up(netns.name, device, addresses, routes))


def _set_up(name: str, device: str, addresses: Sequence[str], routes: Sequence[Route]) -> None:
    from pyroute2 import IPRoute
    from pyroute2.netlink.exceptions import NetlinkError

    what = device
    with IPRoute() as network:
        try:
            index = _index(network, device)
            network.link("set", index=_index(network, "lo"), state="up")
            network.link("set", index=index, mtu=MTU, txqlen=QUEUE_LENGTH, state="up")
            for what in addresses:
                interface = ip_interface(what)
                length, flags = interface.network.prefixlen, {"flags": NO_DAD} if interface.version == 6 else {}
                network.addr("add", index=index, address=str(interface.ip), prefixlen=length, **flags)
            for route in routes:
                what = f"route to {route.to}"
                network.route("add", dst=route.to, oif=index, prefsrc=route.source, metrics=dict(route.metrics))
        except NetlinkError as error:
            raise StorageError(f"namespace {name}: {what}: rejected by the kernel ({reason(error)})") from None


def _index(network: Any, device: str) -> int:  # noqa: ANN401 - pyroute2 has no types
    found = network.link_lookup(ifname=device)
    if not found:
        raise StorageError(f"device {device}: is not there")
    return int(found[0])


def reason(error: Exception) -> str:
    """Return the kernel's message, without its number."""
    return str(error.args[1]) if len(error.args) > 1 else str(error)
