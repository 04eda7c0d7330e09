"""Framework of the papers that are reproduced.

A paper's folder holds its data (scenario files, ``published.csv``, ``readings.toml``) and Python: the runs that it
needs (`Setup`, `Computation`), their measurements, its claims as functions (`Claims`), and the contents of its page
(`Section`). All of it meets in its `Paper`. Claims, sentences, tables and figures speak of the runs in the same
expressions (`Runs`, `Numbers`); `execute_claims` decides the tests.
"""

from aqmlab.papers.common.cells import SEEDS, Cells, Content, Count, Fit, P, Printed
from aqmlab.papers.common.claim_functions import Claims, Tests
from aqmlab.papers.common.claims import (
    Finding,
    Part,
    by_claim,
    describe,
    findings_table,
    parts_table,
    verdicts_by_reading,
)
from aqmlab.papers.common.contents import PROVENANCE, READINGS, Code, Figure, Network, Section, Table, Text
from aqmlab.papers.common.engine import PaperFinding, execute_claims, find
from aqmlab.papers.common.expressions import Numbers, Runs, literal, strict
from aqmlab.papers.common.figures import Line
from aqmlab.papers.common.files import Cell, PaperFiles, Reading
from aqmlab.papers.common.gaps import gaps
from aqmlab.papers.common.key_figure import Key
from aqmlab.papers.common.paper import Paper, Study
from aqmlab.papers.common.quantities import Kind, measured, quantities_of, quantity_interval
from aqmlab.papers.common.recorded import table_of
from aqmlab.papers.common.runs import (
    BASE,
    Computation,
    Effort,
    Setup,
    answers_of,
    batches,
    chosen,
    measure,
    pick,
    values,
)
from aqmlab.papers.common.tables import beside, beside_text, parameters
from aqmlab.papers.common.vocabulary import Column, Quantity, Range
from aqmlab.reporting.intervals import intervals_table, intervals_text, with_intervals

__all__ = [
    "BASE",
    "PROVENANCE",
    "READINGS",
    "SEEDS",
    "Cell",
    "Cells",
    "Claims",
    "Code",
    "Column",
    "Computation",
    "Content",
    "Count",
    "Effort",
    "Figure",
    "Finding",
    "Fit",
    "Key",
    "Kind",
    "Line",
    "Network",
    "Numbers",
    "P",
    "Paper",
    "PaperFiles",
    "PaperFinding",
    "Part",
    "Printed",
    "Quantity",
    "Range",
    "Reading",
    "Runs",
    "Section",
    "Setup",
    "Study",
    "Table",
    "Tests",
    "Text",
    "answers_of",
    "batches",
    "beside",
    "beside_text",
    "by_claim",
    "chosen",
    "describe",
    "execute_claims",
    "find",
    "findings_table",
    "gaps",
    "intervals_table",
    "intervals_text",
    "literal",
    "measure",
    "measured",
    "parameters",
    "parts_table",
    "pick",
    "quantities_of",
    "quantity_interval",
    "strict",
    "table_of",
    "values",
    "verdicts_by_reading",
    "with_intervals",
]
