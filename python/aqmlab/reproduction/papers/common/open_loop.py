"""The open loop that papers analyse: Poisson arrivals, exponential service, no feedback; simulated, and by its chains.

Three models answer in the same words (`numbers_of`, `loop_numbers`): the event simulation, the birth-death chain in
which the number in system stands for the average (w = 1), and the chain of number and average (w < 1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.reproduction.papers.common.runs import Computation, answers_of
from aqmlab.results.metrics import ratio
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.chain import Chain
from aqmlab.theory.queueing.runs import consecutive_drops

if TYPE_CHECKING:
    from aqmlab.theory.queueing.averaged_chain import AveragedChain

Numbers = dict[str, float]
"""Named numbers; NaN where a model has none."""
LONGEST = 20
"""Longest run of drops that is counted."""
SECONDS_AN_ARRIVAL = 8e-8
SECONDS_A_SOLUTION = 0.25


def open_loop(*, queue: str, load: float, service_rate: float, arrivals: int, seed: int) -> dict[str, Any]:
    """Run one queue under Poisson arrivals and exponential service; see `aqmlab._core.open_loop`."""
    return dict(_core.open_loop(queue, load * service_rate, service_rate, arrivals, arrivals // 20, seed))


def averaged_chain(*, curve: Mapping[str, Any], load: float, capacity: int, service_rate: float, w_q: float) -> Numbers:
    """Solve the chain of number in system and average; `curve` is what `DropCurve.of` takes."""
    from aqmlab.theory.queueing.averaged_chain import solve_averaged_chain

    found = solve_averaged_chain(
        DropCurve.of(**curve), load=load, capacity=capacity, w_q=w_q, service_rate=service_rate
    )
    return numbers_of(found)


def solution(
    key: Mapping[str, str | float], curve: Mapping[str, Any], *, load: float, capacity: int, service_rate: float,
    w_q: float,
) -> Computation:  # fmt: skip
    """Make one point of the chain of number and average."""
    arguments = {"load": load, "capacity": capacity, "service_rate": service_rate, "w_q": w_q}
    return Computation(
        key=key,
        name="averaged chain",
        function=averaged_chain,
        arguments={"curve": dict(curve), **arguments},
        cost=SECONDS_A_SOLUTION,
        by_chance=False,
    )


def numbers_of(model: Chain | AveragedChain) -> Numbers:
    """Return what a chain says, in the units of `loop_numbers`.

    The chain of number and average has a finite grid: drops that are too rare for it are none of its numbers.
    """
    numbers = {
        "p_drop": model.p_drop or math.nan,
        "throughput": model.throughput,
        "wait_ms": model.mean_wait * 1e3,
        "mean_number": model.mean_number,
    }
    if isinstance(model, Chain):
        return numbers | {"mean_run": consecutive_drops(model).mean_run}
    run = math.nan if model.mean_run is None else model.mean_run
    return numbers | {"mean_run": run, "sd_average": model.sd_average}


def solved_numbers(point: Computation, root: Path) -> Numbers:
    """Read one solution of that chain."""
    return {key: math.nan if found is None else found for key, found in point.read(root, answers_of(root))[0].items()}


def loop_numbers(found: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of one run of the open loop, from its answer.

    Throughput is in packets per second, the wait in ms; ``longer_n`` is P(N > n), the share of runs of drops that
    are longer than n; NaN without a drop.

    >>> found = {"p_drop": 0.1, "throughput": 900.0, "mean_wait_s": 0.01, "mean_run": 1.5, "drops": 6, "arrivals": 60,
    ...          "runs_longer_than": [4, 2] + [0] * 30}
    >>> numbers = loop_numbers(found)
    >>> numbers["longer_1"], numbers["longer_2"], numbers["wait_ms"]
    (0.5, 0.0, 10.0)
    """
    runs = found["runs_longer_than"]
    numbers = {
        "drops": float(found["drops"]),
        "p_drop": found["p_drop"],
        "throughput": found["throughput"],
        "wait_ms": found["mean_wait_s"] * 1e3,
        "mean_run": math.nan if found["mean_run"] is None else found["mean_run"],
        "pairs": ratio(runs[1], found["arrivals"]),
    }
    return numbers | {f"longer_{n}": ratio(runs[n], runs[0]) for n in range(LONGEST + 1)}
