"""Several runs of one scenario, one for each seed, as a vector environment of Gymnasium."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from aqmlab.arena.actions import Action
from aqmlab.arena.episodes import Episodes, controlled
from aqmlab.arena.holdout import HELD_OUT_FROM
from aqmlab.errors import InputError
from aqmlab.gym.environment import Observation, action_space, observation_space, run_seed
from aqmlab.gym.observations import OBSERVATIONS, Reward, observed
from aqmlab.results.result import Result
from aqmlab.runs.executors import available_cores
from aqmlab.scenario.file import Overrides, Scenario

Array = npt.NDArray[Any]


class QueueVectorEnv(VectorEnv[Observation, Array, Array]):
    """`QueueEnv` for several seeds at once, in this process: the core simulates them on threads.

    All runs end at the same step; the next step begins new ones (``AutoresetMode.NEXT_STEP``) and ignores its actions.

    Parameters
    ----------
    num_envs
        Number of runs.
    scenario, action, link, interval_s, reward, overrides
        As for `QueueEnv`.
    threads
        Threads that simulate; default: one for each processor core. They change no result.

    Notes
    -----
    ``reset(seed=7)`` begins the runs of the seeds 7, 8, ...; a list gives each its own.
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012

    def __init__(
        self,
        num_envs: int = 1,
        scenario: str | Path | Scenario = "example:dumbbell-red",
        *,
        action: str | Action = "probability",
        link: str | None = None,
        interval_s: float = 0.1,
        reward: Reward | None = None,
        overrides: Overrides = (),
        threads: int | None = None,
    ) -> None:
        if num_envs < 1:
            raise InputError(f"num_envs: {num_envs} is out of range (allowed: 1 or more)")
        if threads is not None and threads < 1:
            raise InputError(f"threads: {threads} is out of range (allowed: 1 or more)")
        self.num_envs = num_envs
        self.control = controlled(scenario, action=action, link=link, interval_s=interval_s, overrides=overrides)
        self.reward = reward or Reward()
        self.single_action_space = action_space(self.control)
        self.single_observation_space = observation_space()
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._threads = min(threads or available_cores(), num_envs)
        self._episodes: Episodes | None = None

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all runs; see the class."""
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        return self._begin(self._seeds(seed))

    def step(self, actions: Array) -> tuple[Observation, Array, Array, Array, dict[str, Any]]:
        """Let the actions hold for an interval, a row for each run; see `QueueEnv.step`."""
        if self._episodes is None:
            raise InputError("the environment has no runs: call reset first")
        never = np.zeros(self.num_envs, dtype=np.bool_)
        if self._episodes.is_over:
            observation, info = self._begin(self._seeds(None))
            return observation, np.zeros(self.num_envs), never, never.copy(), info
        rows = self._episodes.step(np.asarray(actions, dtype=float))
        is_over = np.full(self.num_envs, self._episodes.is_over)
        return observed(rows), self.reward.of(rows), never, is_over, {}

    def result(self) -> Result:
        """Finish the runs under the last actions and return their tables, as `aqmlab.run` does."""
        if self._episodes is None:
            raise InputError("the environment has no runs: call reset first")
        episodes, self._episodes = self._episodes, None
        return episodes.finish()

    def _seeds(self, seed: int | list[int | None] | None) -> list[int]:
        if isinstance(seed, int | np.integer):
            return [run_seed(seed + place) for place in range(self.num_envs)]
        drawn = [int(one) for one in self.np_random.integers(HELD_OUT_FROM, size=self.num_envs)]
        if seed is None:
            return drawn
        if len(seed) != self.num_envs:
            raise InputError(f"seed: {len(seed)} seeds for {self.num_envs} runs (allowed: one for each)")
        return [other if one is None else run_seed(one) for one, other in zip(seed, drawn, strict=True)]

    def _begin(self, seeds: list[int]) -> tuple[Observation, dict[str, Any]]:
        self._episodes = Episodes(self.control, seeds, threads=self._threads)
        zeros = np.zeros((self.num_envs, len(OBSERVATIONS)), dtype=np.float32)
        return zeros, {"run_seed": np.array(seeds)}
