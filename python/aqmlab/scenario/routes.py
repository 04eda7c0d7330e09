"""Shortest paths as the core finds them: by number of links; of several, over the link of the lowest number first.

The core reports the paths of data (`crates/netsim/src/routing.rs` has the rule). This module finds those of
acknowledgements and of flows whose ends are drawn, and whether they are unique.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from aqmlab.scenario.parts import Link


class ShortestPaths:
    """Shortest paths in a network.

    Parameters
    ----------
    links
        Each direction of every link, in the core's order.
    """

    def __init__(self, links: Iterable[Link]) -> None:
        self._out: dict[str, list[Link]] = {}
        self._into: dict[str, list[Link]] = {}
        for link in links:
            self._out.setdefault(link.from_, []).append(link)
            self._into.setdefault(link.to, []).append(link)
        self._distances: dict[str, dict[str, int]] = {}

    def path(self, source: str, target: str) -> list[Link]:
        """Return the links from one node to another; empty if there is no path."""
        to_target = self._distance(target)
        if source not in to_target:
            return []
        found = []
        here = source
        while here != target:
            link = next(link for link in self._nearer(here, to_target))
            found.append(link)
            here = link.to
        return found

    def only(self, source: str, target: str) -> bool:
        """Whether no other path is as short."""
        to_target = self._distance(target)
        return all(len(self._nearer(link.from_, to_target)) == 1 for link in self.path(source, target))

    def _nearer(self, node: str, to_target: dict[str, int]) -> list[Link]:
        return [link for link in self._out.get(node, []) if to_target.get(link.to, -2) == to_target[node] - 1]

    def _distance(self, target: str) -> dict[str, int]:
        if target not in self._distances:
            found = {target: 0}
            waiting = deque([target])
            while waiting:
                node = waiting.popleft()
                for link in self._into.get(node, []):
                    if link.from_ not in found:
                        found[link.from_] = found[node] + 1
                        waiting.append(link.from_)
            self._distances[target] = found
        return self._distances[target]


def nodes_of(path: Sequence[Link]) -> list[str]:
    """Return the nodes of a path, both ends included."""
    return [path[0].from_, *(link.to for link in path)] if path else []
