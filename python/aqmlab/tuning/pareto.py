"""The Pareto front of two costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")


def pareto_front(items: Iterable[Item], costs: Callable[[Item], tuple[float, float]]) -> list[Item]:
    """Return the items that no other is as good as in one cost and better in the other, the least first cost first.

    >>> pareto_front([(3, 1), (1, 3), (2, 2), (2, 4), (3, 3)], lambda costs: costs)
    [(1, 3), (2, 2), (3, 1)]
    """
    found: list[Item] = []
    for item in sorted(items, key=costs):
        if not found or costs(item)[1] < costs(found[-1])[1]:
            found.append(item)
    return found
