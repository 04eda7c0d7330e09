"""Decisions a second of the environments of `aqmlab.gym`: steps of 100 ms at 10 Mb/s (example:dumbbell-red).

    python benches/steps.py [--seconds S]

Rates are of processor time, of all threads together, so that other work on the machine changes little.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np

from aqmlab.gym import Curve, Probability, QueueEnv, QueueVectorEnv

VARYING = np.random.default_rng(1).uniform(0.0, 0.05, (64, 64, 4))


def rate(seconds: float, step: Callable[[int], int]) -> tuple[float, float]:
    """Return steps a second of processor time and of wall time; `step` returns how many steps a call makes."""
    done, number, began, cpu = 0, 0, time.perf_counter(), time.process_time()
    while time.process_time() - cpu < seconds:
        done += step(number)
        number += 1
    return done / (time.process_time() - cpu), done / (time.perf_counter() - began)


def one(env: QueueEnv, actions: np.ndarray, number: int) -> int:
    """Step one environment, and begin another run at the end."""
    if env.step(actions[number % 64])[3]:
        env.reset()
    return 1


def many(env: QueueVectorEnv, actions: np.ndarray, number: int) -> int:
    """Step a vector environment."""
    env.step(actions[number % 64])
    return env.num_envs


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="processor time of each row")
    seconds = parser.parse_args().seconds
    quiet = {"run.duration": "30s", "probe.queue_interval": "1s", "probe.cwnd_interval": "1s"}
    print(f"{'':44}{'a CPU second':>14}{'a second':>12}")
    for name, action, width, interval in (
        ("one, constant probability", Probability(), 0, 0.1),
        ("one, changing probability", Probability(), 1, 0.1),
        ("one, changing curve of four points", Curve(), 4, 0.1),
        ("one, constant probability, steps of 0.1 ms", Probability(), 0, 1e-4),
    ):
        env = QueueEnv(action=action, interval_s=interval, overrides=quiet)
        env.reset(seed=1)
        numbers = VARYING[:, 0, :width] if width else np.full((64, 1), 0.02)
        found = rate(seconds, partial(one, env, numbers))
        print("{:44}{:14,.0f}{:12,.0f}".format(name, *found), flush=True)
    for count, threads in ((16, 1), (64, 1), (64, 2)):
        vector = QueueVectorEnv(count, action=Curve(), overrides=quiet, threads=threads)
        vector.reset(seed=1)
        name = f"vector of {count}, changing curve, {threads} thread{'s' * (threads > 1)}"
        print(
            "{:44}{:14,.0f}{:12,.0f}".format(name, *rate(seconds, partial(many, vector, VARYING[:, :count]))),
            flush=True,
        )


if __name__ == "__main__":
    main()
