"""Which figures a run, a comparison or a set of scenarios has: those whose data were recorded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aqmlab import figures
from aqmlab.figures.curves import curves_of
from aqmlab.figures.distributions import has_transfers
from aqmlab.figures.runs import has_average, has_rows
from aqmlab.results.quantities import shown_in
from aqmlab.scenario.parts import NOT_TCP

if TYPE_CHECKING:
    from aqmlab.figures.chart import Chart
    from aqmlab.results.result import Result
    from aqmlab.runs.comparison import Comparison
    from aqmlab.scenario.file import Scenario
    from aqmlab.theory.control.loop import Loop

FEWEST_RUNS = 3
"""Runs from which on their spread is drawn."""


def of_run(result: Result, plan: Scenario | None) -> Iterator[Chart]:
    """Yield the figures of one scenario; `plan` is that scenario, or None if it is too large to be drawn."""
    tables, place = result.tables, result.bottleneck
    if has_rows(result, "queue_samples", place):
        yield figures.queue_against_time(result)
    if plan is not None and _has_averages(result):
        yield figures.probability_against_average(result, scenario=plan)
    if has_rows(result, "delay_histogram", place):
        yield figures.delay_distribution(result)
    if "cwnd_samples" in tables:
        yield figures.windows_against_time(result)
    if _has_shares(result):
        yield figures.jain_against_time(result)
    if has_transfers(result):
        yield figures.completion_distribution(result)
    if result.flows["drops"].sum() and result.flows["flow"].nunique() > 1:
        yield figures.drop_shares(result)
    if len(result.seeds) >= FEWEST_RUNS and _has_goodput(result):
        yield figures.ellipses(result)
    curves = curves_of(result.summaries[0]["readings"], result.scenario_text) if result.scenario_text else None
    if curves is not None:
        yield curves
    loop = _loop(plan) if plan is not None else None
    if loop is not None:
        from aqmlab.figures.loops import bode

        yield from bode([loop])


def of_comparison(found: Comparison) -> Iterator[Chart]:
    """Yield the figures of disciplines side by side."""
    results = list(found.results.values())
    for key in found.means["metric"].drop_duplicates():
        yield figures.compared(found, str(key))
    if all(_has_goodput(one) for one in results):
        yield figures.ellipses(found)
        yield figures.pareto_front(found)
    if all(has_rows(one, "queue_samples", found.link) for one in results):
        yield figures.averages_against_time(found)
    if all(has_rows(one, "delay_histogram", found.link) for one in results):
        yield figures.delay_distribution(found)
    if all(_has_shares(one) for one in results):
        yield figures.jain_against_time(found)
    if all(has_transfers(one) for one in results):
        yield figures.completion_distribution(found)
    if all(one.flows["drops"].sum() for one in results) and results[0].flows["flow"].nunique() > 1:
        yield figures.drop_shares(found)
    if len(results[0].seeds) >= FEWEST_RUNS:
        measured = [one.metrics(link=found.link).columns for one in results]
        shown = [key for key in shown_in("spread") if all(key in columns for columns in measured)]
        yield from (figures.spread(found, key) for key in shown)


def _has_goodput(result: Result) -> bool:
    return bool((~result.flows["transport"].isin(NOT_TCP)).any())


def _has_shares(result: Result) -> bool:
    """Whether there are two samples of two TCP flows."""
    if "flow_samples" not in result.tables:
        return False
    tcp = result.flows.loc[~result.flows["transport"].isin(NOT_TCP), "flow"]
    return tcp.nunique() > 1 and result.tables["flow_samples"]["t_s"].nunique() > 1


def _has_averages(result: Result) -> bool:
    events = result.tables.get("events")
    if events is None or "average" not in events.columns:
        return False
    return has_average(events.loc[events["link"] == result.bottleneck, "average"])


def _loop(plan: Scenario) -> Loop | None:
    """Return the loop of TCP and the queue, linearized where the fluid model rests, if it has such a place."""
    from dataclasses import replace

    from aqmlab.theory.control.linearization import linearize
    from aqmlab.theory.domain import DomainError
    from aqmlab.theory.scenario.model import model_of

    try:
        model = model_of(plan)
        if model.kind != "fluid" or not model.curve.drops_early:
            return None
        fluid = model.fluid()
        point = fluid.operating_point()
        return replace(linearize(fluid, point, form="full"), name=model.curve.name) if point.inside else None
    except DomainError:
        return None
