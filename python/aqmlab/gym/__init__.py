"""Gymnasium environments of a queue: the add-on `gym` (``pip install aqmlab[gym]``).

Importing this package registers ``aqmlab/Queue-v0``, of which `QueueEnv` is one environment and `QueueVectorEnv`
several, one for each seed. The actions are those of `aqmlab.arena.actions`.
"""

from __future__ import annotations

from aqmlab.arena.actions import Curve, Parameters, Probability
from aqmlab.errors import Error

try:
    import gymnasium
except ImportError:
    raise Error("gymnasium is not installed: pip install aqmlab[gym]") from None

from aqmlab.gym.environment import QueueEnv, run_seed
from aqmlab.gym.observations import OBSERVATIONS, Reward
from aqmlab.gym.vector import QueueVectorEnv

__all__ = [
    "ENV_ID",
    "OBSERVATIONS",
    "Curve",
    "Parameters",
    "Probability",
    "QueueEnv",
    "QueueVectorEnv",
    "Reward",
    "run_seed",
]

ENV_ID = "aqmlab/Queue-v0"
"""Name of the environment for ``gymnasium.make`` and ``gymnasium.make_vec``."""

if ENV_ID not in gymnasium.registry:
    gymnasium.register(
        id=ENV_ID,
        entry_point="aqmlab.gym.environment:QueueEnv",
        vector_entry_point="aqmlab.gym.vector:QueueVectorEnv",
    )
