"""Train a drop curve of four points by CMA-ES, and write it as the file of a policy.

    pip install ".[gym]"
    python gym_train.py policy.toml
    aqmlab arena evaluate policy.toml

Every candidate is one run of the vector environment; all candidates of a generation see the same traffic.
"""

import sys
from pathlib import Path

import cmaes
import numpy as np

from aqmlab.arena.policies import policy_text
from aqmlab.gym import Curve, QueueVectorEnv, Reward

SCENARIO = "example:dumbbell-red"
CURVE = Curve(averages=(5, 10, 20, 40))
START = np.full(4, -2.0)
"""Where the search begins: log10 of the four probabilities."""
W_Q = 0.02
"""Weight of a sample in RED's average: fast enough for a short run."""
RUN = {"run.duration": "6s", "run.warmup": "0s", "queue.bottleneck.w_q": W_Q}
REWARD = Reward(delay_weight=0.1, loss_weight=5.0)


def returns(points, seed):
    """Return the mean reward of curves (rows of log10 of the probabilities) over the run of a seed."""
    env = QueueVectorEnv(len(points), SCENARIO, action=CURVE, interval_s=0.5, reward=REWARD, overrides=RUN)
    env.reset(seed=[seed] * len(points))
    rewards, is_over = [], False
    while not is_over:
        _, reward, _, truncated, _ = env.step(10.0 ** np.minimum(points, 0.0))
        rewards.append(reward)
        is_over = truncated.all()
    return np.mean(rewards, axis=0)


def train(generations=8, population=8, seed=1):
    """Return the best mean of the search: log10 of the probabilities."""
    search = cmaes.CMA(mean=START, sigma=0.7, seed=seed, population_size=population)
    for generation in range(generations):
        points = np.array([search.ask() for _ in range(population)])
        found = returns(points, seed=1 + generation)
        search.tell([(point, -value) for point, value in zip(points, found, strict=True)])
        print(f"generation {generation + 1}: mean reward {found.mean():.3f}", file=sys.stderr)
    return search.mean


if __name__ == "__main__":
    best = train()
    table = {**CURVE.table(10.0 ** np.minimum(best, 0.0)), "w_q": W_Q}
    Path(sys.argv[1] if len(sys.argv) > 1 else "policy.toml").write_text(policy_text(table))
