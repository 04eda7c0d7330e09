"""The three kinds of actions: numbers of a controller as settings of a queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from aqmlab.errors import InputError, one_line, unknown
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import discipline
from aqmlab.scenario.toml_text import Value

Numbers = npt.NDArray[np.float64]
UNITS = {"packets": "p", "B": "B", "s": "s", "1": ""}
"""Units of the parameters that an action can set, with the unit's letter in a scenario file."""

MEAN_PACKET = 1000
"""Mean packet in bytes of a queue without this setting."""


class Action(Protocol):
    """How the numbers of a controller set a queue."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the queue's table that change."""

    @property
    def low(self) -> Numbers:
        """The smallest value of each number."""

    @property
    def high(self) -> Numbers:
        """The largest value of each number."""

    def on(self, plan: Scenario, link: str) -> Action:
        """Return the same action for a link, whose rate may set its scale."""

    def values(self, actions: Numbers) -> Numbers:
        """Return the values of the keys in the core's units, a row for each row of `actions`, made valid."""

    def table(self, action: Numbers) -> dict[str, Value]:
        """Return the settings of the queue that hold under one action, as in a ``[queue.NAME]`` table."""


@dataclass(frozen=True)
class Probability:
    """The drop probability itself: one number, the probability of each arriving packet, independent of all others.

    The queue is RED with a flat curve, without spacing and without an exception for short queues; with ``ecn`` in the
    queue's table packets are marked instead.

    Parameters
    ----------
    highest
        The largest probability that can be chosen, above 0 and at most 1.

    >>> Probability().table(np.array([0.02]))["points"]
    [[0.0, 0.02], [1.0, 0.02]]
    """

    highest: float = 1.0
    keys: tuple[str, ...] = field(default=("points",), init=False)

    def __post_init__(self) -> None:
        _check_highest(self.highest)

    @property
    def low(self) -> Numbers:
        """The smallest probability: 0."""
        return np.zeros(1)

    @property
    def high(self) -> Numbers:
        """The largest probability."""
        return np.full(1, self.highest)

    def on(self, plan: Scenario, link: str) -> Probability:
        """Return the action itself, which does not depend on the link."""
        return self

    def values(self, actions: Numbers) -> Numbers:
        """Return the two points of the flat curve, a row for each action."""
        p = np.clip(actions[:, :1], 0.0, self.highest)
        return np.hstack([np.zeros_like(p), p, np.ones_like(p), p])

    def table(self, action: Numbers) -> dict[str, Value]:
        """Return the settings of the queue under an action."""
        points = self.values(np.atleast_2d(action))[0].reshape(-1, 2).tolist()
        return {"aqm": "red", "curve": "points", "spacing": "none", "guard_one": False, "points": points}


@dataclass(frozen=True)
class Curve:
    """A monotone curve: the probability p_b of RED at each of some averages, straight lines between them.

    A probability below that of a smaller average is raised to it, so that every action is a curve. Below the first
    average p_b is 0, from the last on constant.

    Parameters
    ----------
    averages
        The averages, at least two, none negative, in increasing order.
    unit
        ``packets``, or ``ms``: the averages are then delays, and scale with the link: packets = ms x rate / packet,
        with the mean packet of the queue.
    highest
        The largest probability that can be chosen, above 0 and at most 1.

    >>> Curve((5, 20)).table(np.array([0.1, 0.05]))["points"]
    [[5.0, 0.1], [20.0, 0.1]]
    """

    averages: tuple[float, ...] = (5.0, 10.0, 20.0, 40.0)
    unit: str = "packets"
    highest: float = 1.0
    keys: tuple[str, ...] = field(default=("points",), init=False)

    def __post_init__(self) -> None:
        _check_highest(self.highest)
        if self.unit not in ("packets", "ms"):
            raise InputError(unknown("unit", str(self.unit), ["packets", "ms"]))
        pairs = zip(self.averages, self.averages[1:], strict=False)
        if len(self.averages) < 2 or self.averages[0] < 0 or not all(a < b for a, b in pairs):
            raise InputError(f"averages: {list(self.averages)} (allowed: at least two, none negative, increasing)")

    @property
    def low(self) -> Numbers:
        """The smallest probabilities: 0."""
        return np.zeros(len(self.averages))

    @property
    def high(self) -> Numbers:
        """The largest probabilities."""
        return np.full(len(self.averages), self.highest)

    def on(self, plan: Scenario, link: str) -> Curve:
        """Return the same curve over packets."""
        if self.unit == "packets":
            return self
        scale = packets_per_ms(plan, link)
        return replace(self, averages=tuple(scale * ms for ms in self.averages), unit="packets")

    def values(self, actions: Numbers) -> Numbers:
        """Return average and probability in turn, a row for each action."""
        p = np.maximum.accumulate(np.clip(actions, 0.0, self.highest), axis=1)
        x = np.broadcast_to(np.asarray(self.averages, dtype=float), p.shape)
        return np.stack([x, p], axis=2).reshape(len(p), -1)

    def table(self, action: Numbers) -> dict[str, Value]:
        """Return the settings of the queue under an action; averages in ms are `on` a link first."""
        points = self.values(np.atleast_2d(action))[0].reshape(-1, 2).tolist()
        return {"aqm": "red", "curve": "points", "points": points}


@dataclass(frozen=True)
class Parameters:
    """Parameters of a discipline, each within a range.

    Parameters
    ----------
    aqm
        RED and its variants with one class and without adaptation (thresholds and probabilities), ``codel``
        (``target``, ``interval``, ...) or ``pie`` (``target``, ``alpha``, ``beta``).
    ranges
        Key to its least and largest value, in packets, bytes, s, or without a unit.

    >>> Parameters("codel", {"target": (0.001, 0.05)}).table(np.array([0.01]))
    {'aqm': 'codel', 'target': '0.01s'}
    """

    aqm: str
    ranges: Mapping[str, tuple[float, float]]

    def __post_init__(self) -> None:
        known = discipline(self.aqm)
        if not self.ranges:
            raise InputError("ranges: give at least one parameter, for example {'max_p': (0.01, 0.5)}")
        for key, (low, high) in self.ranges.items():
            parameter = known.parameter(key)
            if parameter is None or parameter.unit not in UNITS:
                numbers = [one.key for one in known.parameters if one.unit in UNITS]
                raise InputError(f"ranges: {unknown('number of ' + self.aqm, str(key), numbers)}")
            if not low < high:
                raise InputError(f"ranges: {key} from {low} to {high} (allowed: the least value first)")

    @property
    def keys(self) -> tuple[str, ...]:
        """The parameters."""
        return tuple(self.ranges)

    @property
    def low(self) -> Numbers:
        """The least values."""
        return np.array([low for low, _ in self.ranges.values()], dtype=float)

    @property
    def high(self) -> Numbers:
        """The largest values."""
        return np.array([high for _, high in self.ranges.values()], dtype=float)

    def on(self, plan: Scenario, link: str) -> Parameters:
        """Return the action itself, which does not depend on the link."""
        return self

    def values(self, actions: Numbers) -> Numbers:
        """Return the values within their ranges, a row for each action."""
        return np.clip(actions, self.low, self.high)

    def table(self, action: Numbers) -> dict[str, Value]:
        """Return the settings of the queue under an action."""
        known = discipline(self.aqm)
        found: dict[str, Value] = {"aqm": self.aqm}
        for key, value in zip(self.ranges, self.values(np.atleast_2d(action))[0].tolist(), strict=True):
            parameter = known.parameter(key)
            unit = "" if parameter is None else UNITS[parameter.unit]
            found[key] = f"{value!r}{unit}" if unit else value
        return found


ACTIONS: Mapping[str, Any] = {"probability": Probability, "curve": Curve}
"""Actions that have defaults, by name."""


def action_of(action: str | Action) -> Action:
    """Return the action of this name, or the action itself."""
    if not isinstance(action, str):
        if isinstance(action, type) or not hasattr(action, "on"):
            allowed = f"{', '.join(ACTIONS)}, or an object of aqmlab.gym"
            raise InputError(f"action: {one_line(repr(action))} (allowed: {allowed})")
        return action
    if action not in ACTIONS:
        raise InputError(unknown("action", action, list(ACTIONS)))
    made: Action = ACTIONS[action]()
    return made


def packets_per_ms(plan: Scenario, link: str) -> float:
    """Return how many packets of mean size the link carries in a millisecond."""
    found = plan.link(link)
    return found.rate_bps / 8e3 / float(found.parameters.get("mean_packet", MEAN_PACKET))


def _check_highest(highest: float) -> None:
    if not 0 < highest <= 1:
        raise InputError(f"highest: {highest} is out of range (allowed: above 0, at most 1)")
