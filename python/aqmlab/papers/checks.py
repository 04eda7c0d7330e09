"""Checks of a paper's files against its claims, before anything is run."""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections.abc import Callable, Sequence

import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.papers.common import BASE, Paper, Runs
from aqmlab.papers.common.claim_functions import called
from aqmlab.papers.common.expressions import Tables, UnknownReadingError
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.run_table import RunTable
from aqmlab.papers.common.vocabulary import SEED
from aqmlab.results.quantities import Quantity, is_quantity
from aqmlab.results.quantities import quantity as described

BITS_PER_S = re.compile(r"bit/s$|bps$")
"""Other spellings of b/s, behind a prefix."""


def check(paper: Paper) -> None:
    """Raise if a printed number cannot be compared with the measured ones, or a reading is unknown.

    A warning names quantities that no claim declares.
    """
    paper.files.questions()
    _check_readings(paper)
    words, seen = paper.claims.words, set[tuple[object, ...]]()
    for cell in paper.files.cells():
        if not any(one.on_paper and cell.matches(one.on_paper) for one in words.quantities.values()):
            warnings.warn(
                f"{cell.place}: {cell.quantity} is not a quantity of the claims, and is not compared", stacklevel=2
            )
        elif (own := tuple(cell.columns.items())) in seen:
            raise InputError(f"{cell.place}: is printed twice in the same columns: {', '.join(map(str, cell.columns))}")
        else:
            seen.add(own)
        for quantity in words.quantities.values():
            if quantity.on_paper and cell.matches(quantity.on_paper) and is_quantity(quantity.column):
                _check_number(cell, described(quantity.column))
        for column, value in cell.key.items():
            declared = paper.claims.words.columns.get(column)
            if declared is not None and declared.values is not None and value not in ("", *declared.values):
                raise InputError(f"{cell.place}: {unknown(column, str(value), list(map(str, declared.values)))}")


def _check_number(cell: Cell, what: Quantity) -> None:
    """Raise if a printed number has another unit than the measured quantity, or is beyond its bounds."""
    example = "; 8 % is 0.08" if what.unit == "1" else ""
    if BITS_PER_S.sub("b/s", cell.unit) not in ("", what.unit):
        allowed = f"{what.unit}, or an empty cell{example}"
        raise InputError(f'{cell.place}: unit: "{cell.unit}" of {what.key} (allowed: {allowed})')
    low, high = what.bounds
    if not (math.isnan(cell.value) or low <= cell.value <= high):
        span = f"{low:g} to {high:g}" if math.isfinite(high) else f"at least {low:g}"
        raise InputError(f"{cell.place}: value: {cell.value:g} of {what.key} (allowed: {span}{example})")


def _check_readings(paper: Paper) -> None:
    """Raise if a headline reading, or a reading for which a note is written, is not one of the paper's."""
    place, labels = paper.files.place("paper.py"), [BASE, *(one.label for one in paper.files.readings())]
    for name, label in paper.headlines.items():
        if label not in labels:
            raise InputError(f"{place}: PAPER: headlines: {name}: {unknown('reading', label, labels)}")
    for claim in paper.claims:
        for name in (name for note in claim.notes for name in note.under if name not in paper.headlines):
            known = unknown("reading", name, list(paper.headlines)) if paper.headlines else "PAPER has no headlines"
            raise InputError(f"{place}: claim {claim.id}: under: {known}")
        for note, baseline in itertools.product(claim.notes, claim.baselines):
            _check_text(note.text, paper, claim.id, baseline, labels)


def _check_text(text: Callable[..., str], paper: Paper, claim: str, baseline: str, labels: Sequence[str]) -> None:
    """Raise if a note or an answer, which may never be shown, names an unknown reading.

    It is written without runs; errors for lack of numbers count when it is shown.
    """
    words = paper.claims.words
    none = RunTable(pd.DataFrame(columns=[*words.columns, *words.quantities, SEED]))
    try:
        called(text, Runs(words, Tables(none, none, readings=labels)), baseline)
    except UnknownReadingError as error:
        raise InputError(f"{paper.files.place('paper.py')}: claim {claim}: {error}") from None
    except Exception:
        return
