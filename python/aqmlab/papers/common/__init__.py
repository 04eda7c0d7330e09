"""Shared parts of the reproductions of all papers.

A paper's package holds its data (scenario files, ``published.csv``, ``readings.toml``, ``claims.toml``) and defines the
runs it needs (`Setup`, `Computation`), their measurements (`measure`), and its page's contents (`beside`, `summary`,
`claims_in_detail` and so on). ``claims.toml`` states the claims and their tests as data (`claim_file` describes the
format), which `execute_claims` runs on the table of runs, and the texts below the verdicts. The claims of all papers
are data; `above`, `below`, `between`, `exact` and `judge` make parts and findings by hand, as tests do.
It exports ``NAME``, ``CITATION``, ``Effort`` and ``planned`` (`planned.Planned`).
"""

from aqmlab.papers.common.cards import card, effort_words
from aqmlab.papers.common.claims import (
    Finding,
    Part,
    above,
    below,
    between,
    by_claim,
    describe,
    exact,
    findings_table,
    judge,
    parts_table,
    verdicts_by_reading,
)
from aqmlab.papers.common.engine import execute_claims
from aqmlab.papers.common.files import Cell, ClaimText, PaperFiles, Reading
from aqmlab.papers.common.finding import PaperFinding, find
from aqmlab.papers.common.gaps import gaps
from aqmlab.papers.common.page import (
    Built,
    claims_in_detail,
    command,
    gaps_section,
    provenance,
    readings_chosen,
    summary,
)
from aqmlab.papers.common.quantities import Kind, difference, measured, quantity_interval
from aqmlab.papers.common.runs import (
    BASE,
    Batch,
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
from aqmlab.papers.common.tables import beside, beside_text
from aqmlab.reporting.intervals import intervals_table, intervals_text, with_intervals

__all__ = [
    "BASE",
    "Batch",
    "Built",
    "Cell",
    "ClaimText",
    "Computation",
    "Effort",
    "Finding",
    "Kind",
    "PaperFiles",
    "PaperFinding",
    "Part",
    "Reading",
    "Setup",
    "above",
    "answers_of",
    "batches",
    "below",
    "beside",
    "beside_text",
    "between",
    "by_claim",
    "card",
    "chosen",
    "claims_in_detail",
    "command",
    "describe",
    "difference",
    "effort_words",
    "exact",
    "execute_claims",
    "find",
    "findings_table",
    "gaps",
    "gaps_section",
    "intervals_table",
    "intervals_text",
    "judge",
    "measure",
    "measured",
    "parts_table",
    "pick",
    "provenance",
    "quantity_interval",
    "readings_chosen",
    "summary",
    "values",
    "verdicts_by_reading",
    "with_intervals",
]
