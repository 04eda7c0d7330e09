"""Adaptive-RIO's own additions to ``page.toml``: Table 1, the delays of both classes, and the flow chart."""

from __future__ import annotations

import pandas as pd

from aqmlab.papers import common
from aqmlab.papers.adaptive_rio.algorithm import FIGURE_3
from aqmlab.papers.adaptive_rio.measure import LINK, read_run
from aqmlab.papers.adaptive_rio.plan import ADAPTIVE, FILES, Effort, delays, setups
from aqmlab.papers.adaptive_rio.rows import rows
from aqmlab.papers.common.page_file import toml_paper
from aqmlab.papers.common.paper import Study
from aqmlab.papers.common.tables import parameters
from aqmlab.reporting.flowchart import FlowChart


def sources(study: Study) -> dict[str, pd.DataFrame]:
    """Return the queueing delays of both classes: a row per run and state of the assured flow."""
    found = common.measure(delays(study.effort), study.root, lambda _, numbers: numbers)
    by_state = [
        found.rename(columns=lambda name, end=f"_{state}": name.removesuffix(end)).assign(state=state)  # type: ignore[misc]
        for state in ("idle", "active")
    ]
    return {"delays": pd.concat(by_state, ignore_index=True)}


def tables(study: Study) -> dict[str, pd.DataFrame]:
    """Return Table 1 beside the effective parameters of the preset."""
    (setup,) = common.pick(study.setups, case="experiment1", discipline=ADAPTIVE)
    effective = setup.plan.link(LINK).parameters
    cells = [cell for cell in FILES.cells() if cell.quantity in effective]
    found = parameters(cells, lambda cell: effective[cell.quantity], found="in the preset")
    printed = found.rename(columns={"printed": "value"}).assign(printed=[cell.printed for cell in cells])
    return {"table-1": printed[["parameter", "printed", "unit", "value", "in the preset", "same", "note"]]}


def figures(_: Study) -> dict[str, FlowChart]:
    """Return Figure 3."""
    return {"figure-3": FIGURE_3}


PAPER = toml_paper(
    FILES, Effort, setups, read_run, rows=rows, others=delays, sources=sources, tables=tables, figures=figures
)
