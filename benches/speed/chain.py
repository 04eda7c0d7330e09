"""CHAIN over any number of links: flows from end to end, and flows over one link each."""

from __future__ import annotations

LONG = 20
"""Flows from end to end."""
SHORT = 5
"""Flows over each link."""
LINKS = 9
"""Links of the case CHAIN, which is `scenarios/chain.toml`."""
START_MS = 10
"""From the start of one flow to that of the next."""

HEAD = """\
# CHAIN: written by `python -m speed chain` for {links} links.
format = 1
name = "CHAIN"
description = "{long} NewReno flows over {links} links of 100 Mb/s with RED, and {short} over each of them alone"

[run]
duration = "20s"

[chain]
routers = {routers}
link = {{ rate = "100Mbps", delay = "2ms", queue = "red", reverse_queue = "red" }}
host = {{ rate = "1Gbps", delay = "1ms", queue = "wide" }}

[queue.red]
aqm = "gentle-red"
dialect = "ns2-2.35"
min_th = "50p"
max_th = "150p"
limit = "400p"

[queue.wide]
limit = "100000p"
"""
GROUP = """
[[flow]]
name = "{name}"
count = {count}
from = "r{first}"
to = "r{last}"
start = [{starts}]
host_from = {{ delay = [{delays}] }}
tcp = {{ window = "20000p", initial_window = 10 }}
"""


def chain(links: int) -> str:
    """Write the scenario."""
    text = HEAD.format(links=links, routers=links + 1, long=LONG, short=SHORT)
    text += group("long", (1, links + 1), 0, [1 + 0.25 * i for i in range(LONG)])
    for link in range(1, links + 1):
        before = LONG + SHORT * (link - 1)
        text += group(f"link-{link}", (link, link + 1), before, [2.0 + i for i in range(SHORT)])
    return text


def group(name: str, routers: tuple[int, int], before: int, delays_ms: list[float]) -> str:
    """Write flows between two routers, of which the file has this many `before`."""
    starts = ", ".join(f'"{START_MS * (before + i)}ms"' for i in range(len(delays_ms)))
    delays = ", ".join(f'"{delay:g}ms"' for delay in delays_ms)
    first, last = routers
    return GROUP.format(name=name, count=len(delays_ms), first=first, last=last, starts=starts, delays=delays)
