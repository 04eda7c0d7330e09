"""The reference of quantities, from the core's registry."""

from __future__ import annotations

import math

from aqmlab.results.quantities import QUANTITIES, Quantity
from builder.page import Page, cell, code, table

INTRODUCTION = """\
# Quantities of a run

A quantity is one number per run, link and seed. `aqmlab run` shows all of them, `result.metrics()` has them in Python,
and their keys are the metrics of `--until`, of `aqmlab tune` and of exports. A run lacks those whose
[tables](tables.md) it did not record. Quantities of calls, pages, video, completion and responsiveness cover the whole
run; all others begin at the end of the warm-up. `aqmlab list quantities` prints this list.

Goodput, Jain's index and the quantities of calls, pages and video also exist for each group of flows, with the key
`KEY.GROUP`, where several groups have them. Those of completion exist for each class of sizes (`KEY.short`,
`KEY.medium`, `KEY.long`), the percentiles of the queueing delay for both queues of DualPI2 (`KEY.L`, `KEY.C`). In
the column "unit", "-" is a number without unit."""
COLUMNS = ["key", "quantity", "unit", "allowed", "better", "definition"]


def pages() -> list[Page]:
    """Make the page."""
    groups = dict.fromkeys(one.group for one in QUANTITIES.values())
    parts = [INTRODUCTION]
    for group in groups:
        rows = [_row(one) for one in QUANTITIES.values() if one.group == group]
        parts += [f"## {group.capitalize()}", table(COLUMNS, rows)]
    return [Page("reference/quantities.md", "Quantities of a run", "\n\n".join(parts))]


def _row(one: Quantity) -> list[str]:
    low, high = one.bounds
    allowed = f"at least {low:g}" if math.isinf(high) else f"{low:g} to {high:g}"
    unit = "-" if one.unit == "1" else one.unit
    return [code(one.key), cell(one.title), unit, allowed, cell(one.better), cell(one.doc)]
