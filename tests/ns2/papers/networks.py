"""DDRED's two networks for ns-2: links in order, and the routes that the order decides.

Our simulator takes, of several shortest paths, the link of the lowest number at the first difference. ns-2 would
choose otherwise, so it gets the routes written out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

Link = tuple[str, str]
"""From, to. Names are those of our simulator: routers r1, r2, …, workstations h1, h2, …"""


def bus(routers: int) -> list[Link]:
    """Routers in a row."""
    return _with_hosts([(f"r{i}", f"r{i + 1}") for i in range(1, routers)], routers)


def flower(petals: int, routers: int) -> list[Link]:
    """Rings of `routers` routers; the first ones of the rings form a ring of their own."""
    pairs = []
    for petal in range(petals):
        names = [f"r{petal * routers + i}" for i in range(1, routers + 1)]
        pairs += list(zip(names, [*names[1:], names[0]], strict=True))
    gates = [f"r{petal * routers + 1}" for petal in range(petals)]
    pairs += list(zip(gates, [*gates[1:], gates[0]], strict=True))
    return _with_hosts(pairs, petals * routers)


def is_uplink(link: Link) -> bool:
    """Whether the link leads from a workstation to its router."""
    return link[0].startswith("h")


def routes(links: Sequence[Link]) -> list[tuple[str, str, str]]:
    """At, to, next: of the shortest ways from every node to every workstation, over the earliest link."""
    towards: dict[str, list[str]] = {}
    for a, b in links:
        towards.setdefault(b, []).append(a)
    found = []
    for to in [node for node in towards if node.startswith("h")]:
        hops = {to: 0}
        queue = deque([to])
        while queue:
            node = queue.popleft()
            for before in towards[node]:
                if before not in hops:
                    hops[before] = hops[node] + 1
                    queue.append(before)
        chosen: dict[str, str] = {}
        for a, b in links:
            if a != to and hops[a] == hops[b] + 1:
                chosen.setdefault(a, b)
        found += [(at, to, step) for at, step in chosen.items()]
    return found


def _with_hosts(pairs: Sequence[Link], routers: int) -> list[Link]:
    """Both directions of every pair, then every router's workstation."""
    hosts = [(f"r{i}", f"h{i}") for i in range(1, routers + 1)]
    return [link for a, b in [*pairs, *hosts] for link in ((a, b), (b, a))]
