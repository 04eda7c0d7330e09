"""The observations and the reward of an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aqmlab.arena.actions import Numbers
from aqmlab.arena.episodes import COLUMN
from aqmlab.errors import InputError

OBSERVATIONS: dict[str, str] = {
    "queue": "packets waiting at the end of the interval",
    "mean_queue": "mean number of packets waiting",
    "delay": "mean queueing delay of the departures in ms; 0 without departures",
    "throughput": "departed bits over time in Mb/s; a departure counts where its service starts",
    "arrivals": "packets offered to the queue",
    "drops": "packets dropped",
    "marks": "packets marked (ECN)",
}
"""Name and meaning of each number of an observation, in order. Every number is 0 or more."""


_SOURCES = ("queue_packets", "mean_queue", "delay_s", "departed_bytes", "arrivals", "drops", "marks")
_PLACES = np.array([COLUMN[name] for name in _SOURCES])
_SCALES = np.array([1.0, 1.0, 1e3, 8e-6, 1.0, 1.0, 1.0])
_LENGTH, _BUSY = COLUMN["length_s"], COLUMN["busy_s"]
_THROUGHPUT = list(OBSERVATIONS).index("throughput")


def observed(rows: Numbers) -> npt.NDArray[np.float32]:
    """Return the observations, a row for each row of `aqmlab.arena.episodes.Episodes.step`."""
    found: Numbers = rows[:, _PLACES] * _SCALES
    found[:, _THROUGHPUT] /= rows[:, _LENGTH]
    return found.astype(np.float32)


@dataclass(frozen=True)
class Reward:
    """The reward of an interval.

    ::

        reward = utilization - delay_weight x delay / target_ms - loss_weight x drops / arrivals

    The utilization is the share of the interval in which the link sends, 0 to 1; the delay is the observed one in ms.
    Without arrivals the last term is 0. The reward is at most 1.

    Parameters
    ----------
    delay_weight, loss_weight
        Weights, 0 or more.
    target_ms
        Delay in ms that costs `delay_weight`; above 0.
    """

    delay_weight: float = 0.2
    loss_weight: float = 1.0
    target_ms: float = 10.0

    def __post_init__(self) -> None:
        for name in ("delay_weight", "loss_weight"):
            if not getattr(self, name) >= 0:
                raise InputError(f"{name}: {getattr(self, name)} is out of range (allowed: 0 or more)")
        if not self.target_ms > 0:
            raise InputError(f"target_ms: {self.target_ms} is out of range (allowed: above 0)")

    def of(self, rows: Numbers) -> Numbers:
        """Return the rewards, one for each row of `aqmlab.arena.episodes.Episodes.step`."""
        arrivals = np.maximum(rows[:, COLUMN["arrivals"]], 1.0)
        found: Numbers = rows[:, _BUSY] / rows[:, _LENGTH]
        found -= self.delay_weight * 1e3 / self.target_ms * rows[:, COLUMN["delay_s"]]
        found -= self.loss_weight * rows[:, COLUMN["drops"]] / arrivals
        return found
