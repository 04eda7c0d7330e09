"""Routes of flows whose ends are drawn: the simulator's rule, for pairs that no plan lists.

The shortest path by number of links; of several, the one over the link of the lowest number at the first difference
(`crates/netsim/src/routing.rs`).
"""

from __future__ import annotations

from collections import deque
from functools import cached_property

from aqmlab.scenario.file import Scenario


class ShortestPaths:
    """Shortest paths over a scenario's links, by their numbers."""

    def __init__(self, scenario: Scenario) -> None:
        self.links = scenario.links
        self._far: dict[str, dict[str, int]] = {}

    @cached_property
    def _out(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, link in enumerate(self.links):
            found.setdefault(link.from_, []).append(number)
        return found

    @cached_property
    def _into(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for number, link in enumerate(self.links):
            found.setdefault(link.to, []).append(number)
        return found

    def path(self, from_: str, to: str) -> tuple[int, ...]:
        """Return the numbers of the links from one node to another; empty if there is no path."""
        far = self._distances(to)
        found: list[int] = []
        here = from_
        while here != to:
            following = [n for n in self._out.get(here, []) if far.get(self.links[n].to, -1) == far.get(here, 0) - 1]
            if here not in far or not following:
                return ()
            found.append(min(following))
            here = self.links[found[-1]].to
        return tuple(found)

    def _distances(self, to: str) -> dict[str, int]:
        """Return how many links each node is away from one."""
        if to not in self._far:
            far, waiting = {to: 0}, deque([to])
            while waiting:
                node = waiting.popleft()
                for number in self._into.get(node, []):
                    before = self.links[number].from_
                    if before not in far:
                        far[before] = far[node] + 1
                        waiting.append(before)
            self._far[to] = far
        return self._far[to]
