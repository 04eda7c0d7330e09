"""Compare disciplines on the same traffic: same seeds, paired differences."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from aqmlab import store
from aqmlab.errors import InputError
from aqmlab.evaluation import Evaluation, evaluation_of
from aqmlab.metrics import BY_KEY
from aqmlab.pool import execute
from aqmlab.registry import discipline
from aqmlab.result import Result
from aqmlab.runner import Seeds, as_scenario, jobs_for, missing, seed_list
from aqmlab.scenario import Overrides, Scenario, unknown
from aqmlab.statistics import LEVEL, holm, interval, paired
from aqmlab.toml_text import inline

COMPARED = (
    "throughput_mbps",
    "loss",
    "mean_queue",
    "mean_delay_ms",
    "delay_p99_ms",
    "goodput_mbps",
    "jain",
    "timeouts",
)
RECORD = "compare.json"


@dataclass(frozen=True)
class Comparison:
    """Disciplines side by side.

    Attributes
    ----------
    name
        The scenario's name.
    queue, link
        The queue whose discipline was exchanged, and the link that is measured.
    aqm
        The disciplines; differences are against the first.
    results
        Discipline to its result.
    means
        Per discipline and metric: mean, sd, n, low, high.
    differences
        Per discipline (but the first) and metric: mean paired difference, its interval, relative size in %,
        p, and p after Holm's correction over all metrics of that discipline.
    notes
        What had to be left out of the queue's table, since a discipline does not know it, and in which effective
        parameters each discipline differs from the first.
    folder
        Where the runs are, if they are on disk.
    evaluation
        How the runs of the call that made this were evaluated; None if it was only loaded.
    """

    name: str
    queue: str
    link: str
    aqm: list[str]
    results: dict[str, Result]
    means: pd.DataFrame
    differences: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    folder: Path | None = None
    evaluation: Evaluation | None = field(default=None, compare=False, repr=False)

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Read a comparison from its folder."""
        folder = Path(folder)
        record = store.read_json(folder / RECORD)
        results = {name: Result.load(folder / label, seeds=record["seeds"]) for name, label in record["runs"]}
        return _build(record["name"], record["queue"], record["link"], results, record["notes"], folder)


def compare(
    scenario: str | Path | Scenario,
    *,
    aqm: Sequence[str],
    queue: str = "bottleneck",
    link: str | None = None,
    seeds: Seeds = None,
    overrides: Overrides = (),
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
) -> Comparison:
    """Run a scenario with several disciplines in one queue, on the same seeds.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    aqm
        Names of disciplines, at least two; differences are taken against the first.
    queue
        The ``[queue.NAME]`` table whose discipline is exchanged. Its other parameters stay, as far as the
        discipline knows them.
    link
        The link to measure; default: the first link with this queue.
    seeds, overrides, workers, out, progress, engine
        As for `aqmlab.run`.
    """
    plan = as_scenario(scenario, overrides=overrides)
    names = list(dict.fromkeys(aqm))
    if len(names) < 2:
        raise InputError("compare: give at least two disciplines, for example --aqm red,mred")
    measured = link or _measured_link(plan, queue)
    wanted = seed_list(seeds, plan)
    notes: list[str] = []
    plans = {name: _exchange(plan, queue, name, notes) for name in names}
    notes += _what_differs(plans, measured)
    folder = None if out is None else Path(out) / f"{plan.label}-compare"
    results, evaluation = _run_all(plans, wanted, folder=folder, workers=workers, progress=progress, engine=engine)
    if folder is not None:
        record = {
            "name": plan.name,
            "queue": queue,
            "link": measured,
            "seeds": wanted,
            "runs": [[name, plans[name].label] for name in names],
            "notes": notes,
        }
        store.save(folder / "scenario.toml", plan.normalized)
        store.save(folder / RECORD, store.to_json(record))
    return replace(_build(plan.name, queue, measured, results, notes, folder), evaluation=evaluation)


def _what_differs(plans: dict[str, Scenario], link: str) -> list[str]:
    """Name the effective parameters in which each discipline differs from the first, where both have them."""
    settings = {
        name: next(entry.parameters for entry in plan.links if entry.name == link) for name, plan in plans.items()
    }
    (first, base), *others = settings.items()
    notes = []
    for name, own in others:
        changed = [f"{key} {base[key]} -> {own[key]}" for key in base if key in own and own[key] != base[key]]
        notes.append(f"{first} -> {name}: {', '.join(changed) or 'no common parameter differs'}")
    return notes


def means_table(results: dict[str, Result], link: str, *, level: float = LEVEL) -> pd.DataFrame:
    """Make the table of every discipline's means."""
    rows = []
    for name, result in results.items():
        table = result.metrics(link=link)
        for key in _compared(table):
            found = interval(table[key].to_numpy(), level=level)
            values = {"mean": found.mean, "sd": found.sd, "n": found.n, "low": found.low, "high": found.high}
            rows.append({"aqm": name, "metric": key, "unit": BY_KEY[key].unit, **values})
    return pd.DataFrame(rows)


def differences_table(results: dict[str, Result], link: str, *, level: float = LEVEL) -> pd.DataFrame:
    """Make the table of paired differences against the first discipline."""
    names = list(results)
    first = results[names[0]].metrics(link=link)
    rows = []
    for name in names[1:]:
        table = results[name].metrics(link=link)
        keys = [key for key in _compared(table) if key in first.columns]
        found = [paired(table[key].to_numpy(), first[key].to_numpy(), level=level) for key in keys]
        adjusted = holm([d.p for d in found])
        for key, difference, p_holm in zip(keys, found, adjusted, strict=True):
            base = interval(first[key].to_numpy()).mean
            rows.append(
                {
                    "aqm": name,
                    "against": names[0],
                    "metric": key,
                    "unit": BY_KEY[key].unit,
                    "difference": difference.mean,
                    "low": difference.interval.low,
                    "high": difference.interval.high,
                    "percent": 100 * difference.mean / base if base else float("nan"),
                    "n": difference.interval.n,
                    "p": difference.p,
                    "p_holm": p_holm,
                }
            )
    return pd.DataFrame(rows)


def _compared(table: pd.DataFrame) -> Iterable[str]:
    return [key for key in COMPARED if key in table.columns and not table[key].isna().all()]


def _build(
    name: str, queue: str, link: str, results: dict[str, Result], notes: list[str], folder: Path | None
) -> Comparison:
    return Comparison(
        name=name,
        queue=queue,
        link=link,
        aqm=list(results),
        results=results,
        means=means_table(results, link),
        differences=differences_table(results, link),
        notes=notes,
        folder=folder,
    )


def _run_all(
    plans: dict[str, Scenario],
    seeds: list[int],
    *,
    folder: Path | None,
    workers: int | None,
    progress: bool,
    engine: str,
) -> tuple[dict[str, Result], Evaluation]:
    """Run all disciplines in one pool, so that no core waits for the slowest of one."""
    jobs = []
    for plan in plans.values():
        target = None if folder is None else folder / plan.label
        if target is not None:
            store.prepare(target, scenario=plan.normalized)
        jobs.append(jobs_for(plan, seeds, folder=target, engine=engine))
    flat = [job for group in jobs for job in group]
    began = time.monotonic()
    outputs = execute(missing(flat), workers=workers, progress=progress, title="compare")
    evaluation = evaluation_of(outputs, time.monotonic() - began)
    results = {}
    for index, (name, plan) in enumerate(plans.items()):
        if folder is not None:
            results[name] = Result.load(folder / plan.label, seeds=seeds)
            continue
        own = outputs[index * len(seeds) : (index + 1) * len(seeds)]
        results[name] = Result.from_outputs(own, scenario_text=plan.normalized)
    return results, evaluation


def _measured_link(plan: Scenario, queue: str) -> str:
    for link in plan.links:
        if link.queue == queue:
            return link.name
    queues = list(dict.fromkeys(link.queue for link in plan.links))
    raise InputError(unknown("queue", queue, queues))


def _exchange(plan: Scenario, queue: str, aqm: str, notes: list[str]) -> Scenario:
    """Put another discipline into a queue's table; keep what the discipline knows of the rest."""
    known = {parameter.key for parameter in discipline(aqm).parameters}
    body = {key: value for key, value in plan.queue_table(queue).items() if key not in ("aqm", "curve")}
    kept = {key: value for key, value in body.items() if key in known}
    left_out = [key for key in body if key not in known]
    if left_out:
        notes.append(f"{aqm}: without {', '.join(left_out)}, which it does not know")
    return plan.with_overrides({f"queue.{queue}": inline({"aqm": aqm, **kept})})
