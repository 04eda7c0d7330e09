"""Results of a chain, as named numbers: the answer of a run of a reproduction.

A module of its own that needs nothing of the reports, since processes that solve chains load it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.queueing.chain import Chain
from aqmlab.theory.queueing.runs import consecutive_drops

if TYPE_CHECKING:
    from aqmlab.theory.queueing.averaged_chain import AveragedChain

Numbers = dict[str, float]
"""Named numbers; NaN where a model has none."""


def averaged_chain(*, curve: Mapping[str, Any], load: float, capacity: int, service_rate: float, w_q: float) -> Numbers:
    """Solve the chain of number in system and average; `curve` is what `DropCurve.of` takes."""
    from aqmlab.theory.queueing.averaged_chain import solve_averaged_chain

    found = solve_averaged_chain(
        DropCurve.of(**curve), load=load, capacity=capacity, w_q=w_q, service_rate=service_rate
    )
    return numbers_of(found)


def numbers_of(model: Chain | AveragedChain) -> Numbers:
    """Return the results of a chain.

    Throughput is in packets per second, the wait in ms. The chain of number and average has a finite grid: drops that
    are too rare for it are none of its numbers.
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
