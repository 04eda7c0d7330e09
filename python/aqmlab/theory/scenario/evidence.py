"""Evidence of a simulation on the models' assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.theory.scenario.assumption import Assumption, some
from aqmlab.theory.scenario.link_traffic import Routes

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result
    from aqmlab.theory.scenario.model import LinkModel
    from aqmlab.theory.scenario.theory import Theory

PART = 0.05
"""A share of drops, or of the time, from which on something counts."""
BUSY = 0.98
"""A link that is busy so much of the time is full."""


def evidence(theory: Theory, result: Result) -> list[Assumption]:
    """Return the evidence of the runs: where packets were lost, how losses were repaired, whether the link was full."""
    model = theory.model
    found = []
    if theory.point is not None:
        found += [_lost_elsewhere(model, result), _timeouts(model, result)]
        if theory.point.throughput >= 0.999 * model.capacity:
            found.append(_busy(model, result))
    if model.curve.drops_early and model.kind != "none":
        found += [_early(model, result), *_beyond(model, result)]
    return found


def _lost_elsewhere(model: LinkModel, result: Result) -> Assumption:
    names = {name for c in model.traffic.greedy for name in c.flows}
    routes = Routes(model.scenario)
    on_way = {
        link.name
        for flow in model.scenario.flows
        if flow.name in names
        for link in (*routes.there(flow), *(routes.reverse(one) or one for one in routes.there(flow)))
    }
    links = result.links
    lost = links["drops"] + links["marks"]
    here = float(lost[links["link"] == model.link.name].sum())
    others = links[links["link"].isin(on_way - {model.link.name}) & (lost > 0)]
    there = float((others["drops"] + others["marks"]).sum())
    share = there / (here + there) if here + there else 0.0
    where = some(list(others["link"]))
    how = f"{100 * share:.3g} % of the drops on the way are at {where}; --link analyses another link"
    return Assumption.broken_by("Packets of these flows are dropped nowhere else.", how if share > PART else "")


def _timeouts(model: LinkModel, result: Result) -> Assumption:
    names = {name for c in model.traffic.greedy for name in c.flows}
    rows = result.flows[result.flows["flow"].isin(names)]
    losses, timeouts = float(rows["drops"].sum()), float(rows["timeouts"].sum())
    share = timeouts / losses if losses else 0.0
    how = f"{100 * share:.3g} time-outs for 100 losses; the windows that follow them are smaller than the model's"
    return Assumption.broken_by("Losses are repaired without time-outs.", how if share > PART else "")


def _busy(model: LinkModel, result: Result) -> Assumption:
    busy = float(_rows(model, result)["utilization"].mean())
    how = f"it is idle for {100 * (1 - busy):.3g} % of the time"
    return Assumption.broken_by("The link is always busy.", how if busy < BUSY else "")


def _early(model: LinkModel, result: Result) -> Assumption:
    rows = _rows(model, result)
    drops, over = float(rows["drops"].sum()), float(rows["drops_overflow"].sum())
    how = f"{100 * over / drops:.3g} % of the drops are for want of room" if drops and over / drops > PART else ""
    return Assumption.broken_by("The buffer does not overflow.", how)


def _beyond(model: LinkModel, result: Result) -> list[Assumption]:
    """Return how long the average is where the curve says 1."""
    jumps = model.curve.p_b.jumps
    if not jumps or "queue_samples" not in result.tables:
        return []
    samples = result.queue_samples
    own = samples[(samples["link"] == model.link.name) & (samples["t_s"] >= model.scenario.warmup_s)]
    average = own["average"].to_numpy(dtype=float) / model.curve.unit
    share = float(np.mean(average >= jumps[-1])) if len(average) else 0.0
    how = f"it is there for {100 * share:.3g} % of the time, and every packet is dropped then"
    text = f"The average stays below the curve's jump at {jumps[-1]:.4g} packets."
    return [Assumption.broken_by(text, how if share > PART else "")]


def _rows(model: LinkModel, result: Result) -> pd.DataFrame:
    return result.links[result.links["link"] == model.link.name]
