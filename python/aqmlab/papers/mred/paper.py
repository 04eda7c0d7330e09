"""MRED's own additions to ``page.toml``: its parameters, its drop curves, and the open loop."""

from __future__ import annotations

import pandas as pd

from aqmlab.figures import drop_curves
from aqmlab.figures.chart import Chart
from aqmlab.papers.common import pick
from aqmlab.papers.common.open_loop import Averaged
from aqmlab.papers.common.paper import Paper, Study
from aqmlab.papers.common.tables import parameters
from aqmlab.papers.mred import chain
from aqmlab.papers.mred.measure import measure_run
from aqmlab.papers.mred.plan import FIGURE_N, FILES, QUEUE, setups, solutions


def sources(study: Study) -> dict[str, pd.DataFrame]:
    """Return what both chains say."""
    return {"open loop": chain.open_loop(_averaged(study))}


def tables(study: Study) -> dict[str, pd.DataFrame]:
    """Return the parameters, and the open loop beside TCP."""
    plan = pick(study.setups, case="sole", n=FIGURE_N)[-1].plan
    effective = {"duration": plan.duration_s, **plan.link("bottleneck").parameters}
    cells = [cell for cell in FILES.cells() if cell.table == "parameters"]
    ours = [finding for finding in study.judged[0] if finding.reading == "ns-2's"]
    return {
        "parameters": parameters(cells, lambda cell: effective[cell.quantity]),
        "chain-at-tcp-loads": chain.at_tcp_loads(study.base),
        "chain-claims": chain.against_tcp(ours, _averaged(study)),
    }


def figures(study: Study) -> dict[str, Chart]:
    """Return Figure 1: drop probability against the average queue."""
    found = pick(study.setups, case="sole", n=FIGURE_N)
    bodies = {str(setup.key["discipline"]): setup.plan.queue_table("bottleneck") for setup in found}
    return {"figure-1": drop_curves(bodies, top=100)}


def words(study: Study) -> dict[str, str]:
    """Return where the open loop agrees with TCP."""
    own = tables(study)
    return {"agreement": chain.agreement(own["chain-claims"], own["chain-at-tcp-loads"])}


def _averaged(study: Study) -> Averaged:
    return Averaged.read(QUEUE, solutions(study.effort), study.root)


PAPER = Paper(
    FILES, setups, measure_run, others=solutions, sources=sources, tables=tables, figures=figures, words=words
)
