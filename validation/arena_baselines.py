"""Tune the baselines of `aqmlab arena` on training seeds, and write ``python/aqmlab/arena/baselines.toml``.

    PYTHONPATH=python python validation/arena_baselines.py    # about 10 minutes on two cores

For each hold-out scenario and discipline the defaults and `TRIALS` settings from a Sobol sequence run with the seeds
`SEEDS`. The one with the best mean of the reward of `aqmlab.gym`, over whole runs, is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from scipy.stats import qmc

from aqmlab.arena.evaluation import marking
from aqmlab.arena.holdout import HOLD_OUT, HoldOut
from aqmlab.gym.observations import Reward
from aqmlab.results.quantities import bottleneck_of
from aqmlab.results.result import Result
from aqmlab.runs.comparison_settings import exchange
from aqmlab.runs.runner import run_plans
from aqmlab.scenario.toml_text import inline

SEEDS = [1, 2]
TRIALS = 31
FILE = Path(__file__).resolve().parents[1] / "python" / "aqmlab" / "arena" / "baselines.toml"
HEAD = """\
# Settings of the baselines of `aqmlab arena`, tuned for each hold-out scenario on the seeds 1 and 2.
# Written by validation/arena_baselines.py.
"""


def between(low: float, high: float, u: float) -> float:
    """Return a value of a range, at a share of its logarithm, with two digits."""
    return float(f"{low * (high / low) ** u:.2g}")


def red(u: Sequence[float]) -> dict[str, Any]:
    """Return settings of RED: thresholds of 2 to 180 packets, max_p of 0.01 to 1."""
    low = round(between(2, 60, u[0]))
    high = low + round(between(4, 120, u[1]))
    return {"aqm": "red", "min_th": f"{low}p", "max_th": f"{high}p", "max_p": between(0.01, 1, u[2]), "w_q": "auto"}


def codel(u: Sequence[float]) -> dict[str, Any]:
    """Return settings of CoDel: a target of 0.5 to 50 ms, an interval of 20 to 400 ms, at least twice the target."""
    target = between(0.5, 50, u[0])
    return {"aqm": "codel", "target": f"{target}ms", "interval": f"{max(between(20, 400, u[1]), 2 * target)}ms"}


def pie(u: Sequence[float]) -> dict[str, Any]:
    """Return settings of PIE: a target of 0.5 to 50 ms, a quarter to eight times the gains of RFC 8033."""
    gain = between(0.25, 8, u[1])
    target = between(0.5, 50, u[0])
    return {"aqm": "pie", "target": f"{target}ms", "alpha": round(0.125 * gain, 4), "beta": round(1.25 * gain, 3)}


KINDS: dict[str, tuple[Callable[[Sequence[float]], dict[str, Any]], int, dict[str, Any]]] = {
    "red": (red, 3, {"aqm": "red", "min_th": "auto", "max_th": "auto", "w_q": "auto"}),
    "codel": (codel, 2, {"aqm": "codel"}),
    "pie": (pie, 2, {"aqm": "pie"}),
}
"""Discipline to its settings by numbers from 0 to 1, how many these are, and its defaults."""


def score(result: Result, link: str) -> float:
    """Return the mean reward of runs, each taken as one interval."""
    one, weights = result.metrics(link=link), Reward()
    delay = one["mean_delay_ms"] / weights.target_ms
    return float((one["utilization"] - weights.delay_weight * delay - weights.loss_weight * one["loss"]).mean())


def tuned(held: HoldOut) -> Iterator[str]:
    """Tune the disciplines on a scenario; yield a line for each."""
    plan = held.plan()
    link = bottleneck_of([one.name for one in plan.links], [one.aqm for one in plan.links])
    queue = plan.link(link).queue
    for name, (settings, count, defaults) in KINDS.items():
        points = qmc.Sobol(count, seed=1).random(TRIALS + 1)[:TRIALS].tolist()
        tables = [defaults, *(settings(point) for point in points)]
        entries = {str(place): table for place, table in enumerate(tables)}
        entries = marking(entries) if held.ecn else entries
        plans = {label: (exchange(plan, [queue], label, table, []), None) for label, table in entries.items()}
        found, _ = run_plans(plans, SEEDS, None, title=name, workers=None, progress=False, engine="auto")
        best = max(found, key=lambda label: score(found[label], link))
        yield f"{name} = {inline(tables[int(best)])}"


if __name__ == "__main__":
    parts = [f"[{held.name}]\n" + "\n".join(tuned(held)) for held in HOLD_OUT]
    FILE.write_text(HEAD + "\n" + "\n\n".join(parts) + "\n", encoding="utf-8")
