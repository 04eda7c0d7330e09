"""A policy on the hold-out scenarios, compared with tuned baselines on the same held-out seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from aqmlab.arena.holdout import HELD_OUT_FROM, HOLD_OUT, HoldOut
from aqmlab.arena.policies import Policy, applied, read_policy
from aqmlab.errors import InputError, unknown
from aqmlab.results.displays import Shown
from aqmlab.results.quantities import bottleneck_of, shown_in
from aqmlab.results.result import Result
from aqmlab.runs.comparison import Comparison, comparison_of, observing
from aqmlab.runs.comparison_settings import Settings, entries_of, exchange
from aqmlab.runs.comparison_tables import HIGHER, LOWER
from aqmlab.runs.executors import available_cores
from aqmlab.runs.runner import run_plans
from aqmlab.scenario.registry import discipline

METRICS = (*shown_in("finding"), "delay_p99_ms")
"""Quantities of the summary."""
LABEL = "policy"
"""Label of the policy in comparisons."""
MOST_SEEDS = 1000
"""Most seeds of an evaluation."""


@dataclass(frozen=True)
class Evaluated(Shown):
    """A policy on the hold-out scenarios.

    Attributes
    ----------
    policy
        Its name.
    seeds
        The held-out seeds.
    comparisons
        Hold-out scenario to the comparison of the policy, which comes first, with the baselines.
    warnings
        Warnings about the settings of the policy.
    """

    policy: str
    seeds: list[int]
    comparisons: dict[str, Comparison]
    warnings: list[str] = field(default_factory=list)

    @property
    def table(self) -> pd.DataFrame:
        """Return a row for each scenario, baseline and quantity.

        ``policy`` and ``baseline`` are the means, ``percent`` the difference of the policy against the baseline, and
        ``verdict`` whether the policy is ``higher``, ``lower``, ``equal``, ``undecided`` or ``not tested`` (5 %, Holm's
        correction over all tests of the scenario).
        """
        rows = [row for name, found in self.comparisons.items() for row in _rows(name, found)]
        return pd.DataFrame(rows)


def evaluate(
    policy: str | Policy,
    *,
    scenarios: Sequence[str] = (),
    seeds: int = 10,
    workers: int | None = None,
    progress: bool = True,
) -> Evaluated:
    """Compare a policy with tuned baselines on hold-out scenarios: the same traffic, the same held-out seeds.

    Parameters
    ----------
    policy
        A source that `aqmlab.arena.policies.read_policy` reads, or a policy.
    scenarios
        Names of hold-out scenarios; default: all.
    seeds
        Number of held-out seeds, 1,000,000 and following; 2 to 1000.
    workers, progress
        As for `aqmlab.run`.

    Raises
    ------
    InputError, ScenarioError
        If the policy, or a setting of it, cannot be used.
    """
    if not 2 <= seeds <= MOST_SEEDS:
        raise InputError(f"seeds: {seeds} is out of range (allowed: 2 to {MOST_SEEDS})")
    known = {one.name: one for one in HOLD_OUT}
    for name in scenarios:
        if name not in known:
            raise InputError(unknown("hold-out scenario", name, list(known)))
    own = read_policy(policy) if isinstance(policy, str) else policy
    chosen = [known[name] for name in dict.fromkeys(scenarios)] or list(HOLD_OUT)
    held_out = list(range(HELD_OUT_FROM, HELD_OUT_FROM + seeds))
    found = {one.name: _compared(own, one, held_out, workers, progress=progress) for one in chosen}
    return Evaluated(own.name, held_out, found, _warnings(own, chosen))


def _warnings(policy: Policy, chosen: Sequence[HoldOut]) -> list[str]:
    """Return the warnings about the settings of a policy, each once."""
    if policy.decide is not None:
        return []
    texts = []
    for plan in (one.plan() for one in chosen):
        link = bottleneck_of([one.name for one in plan.links], [one.aqm for one in plan.links])
        texts += [problem.message for problem in applied(policy, plan, link).warnings]
    return [f"{policy.name}: {text}" for text in dict.fromkeys(texts)]


def _compared(policy: Policy, held: HoldOut, seeds: list[int], workers: int | None, *, progress: bool) -> Comparison:
    plan = held.plan()
    links = plan.links
    link = bottleneck_of([one.name for one in links], [one.aqm for one in links])
    plan, queue = observing(plan, link), plan.link(link).queue
    tables: dict[str, Any] = {} if policy.decide is not None else {LABEL: policy.table(plan, link)}
    tables |= held.baselines()
    entries = entries_of([], marking(tables) if held.ecn else tables)
    plans = {label: (exchange(plan, [queue], label, table, []), None) for label, table in entries.items()}
    results, _ = run_plans(plans, seeds, None, title=held.name, workers=workers, progress=progress, engine="auto")
    if policy.decide is not None:
        own_plan = plan.with_overrides({f"queue.{queue}.ecn": True}) if held.ecn else plan
        own: Result = policy.run(own_plan, link, seeds, threads=workers or available_cores())
        results = {LABEL: own, **results}
    return comparison_of(held.name, queue, link, results)


def marking(tables: Settings) -> dict[str, dict[str, Any]]:
    """Let every discipline that can do so mark packets, unless its settings say otherwise."""
    found = {}
    for label, table in tables.items():
        can = discipline(str(table["aqm"])).parameter("ecn") is not None
        found[label] = {"ecn": True, **table} if can else dict(table)
    return found


def _rows(scenario: str, found: Comparison) -> list[dict[str, Any]]:
    own, *baselines = found.aqm
    means = {(row["aqm"], row["metric"]): row["mean"] for row in found.means.to_dict("records")}
    turned = {HIGHER: LOWER, LOWER: HIGHER}
    verdicts = {(row["aqm"], row["metric"]): row["verdict"] for row in found.differences.to_dict("records")}
    rows = []
    for baseline in baselines:
        for metric in METRICS:
            mean, base = means.get((own, metric), math.nan), means.get((baseline, metric), math.nan)
            verdict = verdicts.get((baseline, metric), "")
            rows.append(
                {
                    "scenario": scenario,
                    "baseline": baseline,
                    "metric": metric,
                    "policy": mean,
                    "base": base,
                    "percent": 100 * (mean - base) / base if base else math.nan,
                    "verdict": turned.get(verdict, verdict),
                }
            )
    return rows
