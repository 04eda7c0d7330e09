"""The reference of result tables: every table of a run, and the unit and meaning of its columns."""

from __future__ import annotations

from aqmlab.results.tables import DESCRIBED
from builder.page import Page, cell, code, table

INTRODUCTION = """\
# Tables of a run

`aqmlab run` writes these tables as Parquet files, `result.tables["links"]` reads one in Python, and `aqmlab export`
writes them as CSV. A table without a key in the second column is there unless it is empty. Every table also has the
column `seed`. Counters and means begin at the end of the warm-up; times are measured from the start of the run. In the
column "unit", "-" is a number without unit."""


def pages() -> list[Page]:
    """Make the page."""
    rows = [
        [f"[`{one.name}`](#{one.name})", code(one.when), cell(one.what.split(".")[0])] for one in DESCRIBED.values()
    ]
    parts = [INTRODUCTION, table(["table", "asked for by", "what"], rows)]
    for one in DESCRIBED.values():
        columns = [[code(column.name), column.unit, cell(column.meaning)] for column in one.columns]
        asked = f" Asked for by `{one.when}`." if one.when else ""
        what = f"{one.what[0].upper()}{one.what[1:]}. One row for each {one.rows}.{asked}"
        parts += [f"## `{one.name}` {{#{one.name}}}", what, table(["column", "unit", "meaning"], columns)]
    return [Page("reference/tables.md", "Tables of a run", "\n\n".join(parts))]
