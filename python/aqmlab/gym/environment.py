"""One queue under control as an environment of Gymnasium."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from aqmlab.arena.actions import Action
from aqmlab.arena.episodes import Controlled, Episodes, controlled
from aqmlab.arena.holdout import HELD_OUT_FROM
from aqmlab.errors import InputError
from aqmlab.gym.observations import OBSERVATIONS, Reward, observed
from aqmlab.results.result import Result
from aqmlab.scenario.file import Overrides, Scenario

Observation = npt.NDArray[np.float32]


def run_seed(seed: int) -> int:
    """Return the seed of the run for a seed of ``reset``: the same below 1,000,000, else its remainder.

    Seeds from 1,000,000 on are held out for `aqmlab arena evaluate`. A negative seed is an `InputError`.

    >>> run_seed(7), run_seed(1_000_003)
    (7, 3)
    """
    if seed < 0:
        raise InputError(f"seed: {seed} is out of range (allowed: 0 or more)")
    return int(seed) % HELD_OUT_FROM


def action_space(control: Controlled) -> spaces.Space[npt.NDArray[np.float64]]:
    """Return the space of one action."""
    space = spaces.Box(control.action.low, control.action.high, dtype=np.float64)
    return cast("spaces.Space[npt.NDArray[np.float64]]", space)


def observation_space() -> spaces.Space[Observation]:
    """Return the space of one observation."""
    space = spaces.Box(0.0, np.inf, shape=(len(OBSERVATIONS),), dtype=np.float32)
    return cast("spaces.Space[Observation]", space)


class QueueEnv(gymnasium.Env[Observation, npt.NDArray[np.float64]]):
    """A run of a scenario in which an agent sets one queue at every interval.

    An episode is a run from time 0 to its end, at which it is truncated; it never terminates earlier. The same seed and
    the same actions give the same episode, to the byte. The first observation is 0: nothing has happened.

    Parameters
    ----------
    scenario, action, link, interval_s, overrides
        As for `aqmlab.arena.episodes.controlled`.
    reward
        The reward of an interval.

    Notes
    -----
    ``reset(seed=7)`` begins the run of seed 7 (`run_seed`); without a seed the generator of the environment draws one
    below 1,000,000. ``info["run_seed"]`` has it.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        scenario: str | Path | Scenario = "example:dumbbell-red",
        *,
        action: str | Action = "probability",
        link: str | None = None,
        interval_s: float = 0.1,
        reward: Reward | None = None,
        overrides: Overrides = (),
    ) -> None:
        self.control = controlled(scenario, action=action, link=link, interval_s=interval_s, overrides=overrides)
        self.reward = reward or Reward()
        self.action_space = action_space(self.control)
        self.observation_space = observation_space()
        self._episodes: Episodes | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin a run; see the class."""
        super().reset(seed=seed, options=options)
        own = int(self.np_random.integers(HELD_OUT_FROM)) if seed is None else run_seed(seed)
        self._episodes = Episodes(self.control, [own])
        return np.zeros(len(OBSERVATIONS), dtype=np.float32), {"run_seed": own}

    def step(self, action: npt.ArrayLike) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Let an action hold for an interval; return observation, reward, terminated, truncated and info."""
        episodes = self._running()
        rows = episodes.step(np.atleast_1d(np.asarray(action, dtype=float))[None])
        return observed(rows)[0], float(self.reward.of(rows)[0]), False, episodes.is_over, {}

    def result(self) -> Result:
        """Finish the run under the last action and return its tables, as `aqmlab.run` does; `reset` begins another."""
        episodes = self._running()
        self._episodes = None
        return episodes.finish()

    def _running(self) -> Episodes:
        if self._episodes is None:
            raise InputError("the environment has no run: call reset first")
        return self._episodes
