"""The place of settings against the frontier of others, in two goals: behind it, beyond it, or undecided.

Settings are *behind* the frontier if a member of it is better in both goals, and *beyond* it if they are better than
each member in one of them. Both are tests of several conditions at once (intersection and union: R. L. Berger,
"Multiparameter hypothesis testing and acceptance sampling", Technometrics 24, 1982), corrected for the number of
members and of settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aqmlab.statistics import LEVEL, Interval, paired
from aqmlab.tuning.goals import Goal
from aqmlab.tuning.measurements import Body

BEYOND, BEHIND, UNDECIDED = "beyond", "behind", "undecided"
MARGIN = 0.01
"""Share of a goal by which settings must be better than a member to be beyond it; a smaller gain is irrelevant."""


@dataclass(frozen=True)
class Placed:
    """Settings on fresh seeds.

    Attributes
    ----------
    aqm, name, body
        As in `Settings`.
    goals
        The mean of each goal with its interval.
    per_seed
        Of each goal, its value in each seed.
    place
        ``beyond``, ``behind`` or ``undecided`` against the frontier; "" for a member of it.
    by
        For ``behind`` the number of the member that is better in both goals, from 1; else 0.
    p
        The corrected p of the place.
    """

    aqm: str
    name: str
    body: Body
    goals: tuple[Interval, ...]
    per_seed: tuple[np.ndarray, ...]
    place: str = ""
    by: int = 0
    p: float = 1.0


def placed_against(
    one: Placed, members: Sequence[Placed], goals: Sequence[Goal], *, others: int = 1, tried: int = 0
) -> Placed:
    """Judge the place of settings against members of the frontier.

    Parameters
    ----------
    one, members
        The settings, and the members, on the same seeds.
    goals
        Both goals.
    others
        Number of settings that are judged (Bonferroni).
    tried
        Number of settings whose front the members are (Bonferroni), if it is larger than their own.

    Returns
    -------
    Placed
        The settings with their place: ``behind`` a member if both one-sided tests of the member's advantage reject (the
        larger p counts), for any member (Bonferroni); ``beyond`` if against each member (the largest p counts) one of
        the two tests of the own advantage by more than `MARGIN` rejects (Bonferroni for two). Each has half of 5 %, as
        only one of the two can be true.
    """
    behind, beyond = [], []
    for member in members:
        pairs = list(zip(goals, one.per_seed, member.per_seed, strict=True))
        behind.append(max(p_better(goal, other, own) for goal, own, other in pairs))
        beyond.append(min(1.0, len(goals) * min(p_better(goal, own, other, MARGIN) for goal, own, other in pairs)))
    best = int(np.argmin(behind))
    p_behind = min(1.0, 2 * others * max(len(members), tried) * behind[best])
    p_beyond = min(1.0, 2 * others * max(beyond))
    if p_behind < 1 - LEVEL:
        return replace(one, place=BEHIND, by=best + 1, p=p_behind)
    if p_beyond < 1 - LEVEL:
        return replace(one, place=BEYOND, p=p_beyond)
    return replace(one, place=UNDECIDED, p=min(p_behind, p_beyond))


def p_better(goal: Goal, own: np.ndarray, other: np.ndarray, margin: float = 0.0) -> float:
    """Return the one-sided p of "not better than the other by more than a share of it", paired by seed (Student)."""
    found = paired(-goal.sign * own, margin * np.abs(other) - goal.sign * other)
    if found.interval.sd == 0:
        return 0.0 if found.mean > 0 else 1.0
    return found.p / 2 if found.mean > 0 else 1 - found.p / 2
