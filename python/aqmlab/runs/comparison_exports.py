"""The table of a comparison for a paper (LaTeX) and for a spreadsheet (CSV)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from aqmlab.errors import counted, one_line
from aqmlab.results.quantities import quantity
from aqmlab.runs.comparison_matrix import Cell, Matrix, every_run
from aqmlab.runs.comparison_tables import EQUAL, HIGHER, LOWER, NOT_TESTED

if TYPE_CHECKING:
    import pandas as pd

SIGNS = {HIGHER: r"\uparrow", LOWER: r"\downarrow", EQUAL: "="}
SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"} | {
    character: f"\\{character}" for character in "&%$#_{}"
}
COLUMNS = (
    "aqm", "metric", "unit", "mean", "half_width", "low", "high", "n",
    "against", "difference", "difference_low", "difference_high", "percent", "p_holm", "verdict",
)  # fmt: skip
"""The columns of the CSV."""


def csv_text(means: pd.DataFrame, differences: pd.DataFrame) -> str:
    """Return a row for each label and metric: mean, interval, and the difference against the baseline."""
    kept = ["aqm", "metric", "against", "difference", "low", "high", "percent", "p_holm", "verdict"]
    own = differences[kept].rename(columns={"low": "difference_low", "high": "difference_high"})
    table = means.assign(half_width=(means["high"] - means["low"]) / 2).merge(own, how="left", on=["aqm", "metric"])
    return table[list(COLUMNS)].to_csv(index=False, lineterminator="\n")


def latex_text(matrix: Matrix, *, name: str, link: str, runs: int, level: float, tests: int) -> str:
    r"""Return a table for LaTeX (booktabs): metrics by labels, mean \pm half-width, arrows where decided.

    Parameters
    ----------
    matrix
        The contents of the table.
    name
        The scenario's name, for the caption.
    link
        The link that was measured, for the caption.
    runs, level
        Runs of each label, and the level of the intervals.
    tests
        Number of differences that were tested.
    """
    return "\n".join(_latex(matrix, name, link, runs, level, tests)) + "\n"


def _latex(matrix: Matrix, name: str, link: str, runs: int, level: float, tests: int) -> Iterator[str]:
    spread = f"mean $\\pm$ half-width of the {100 * level:.4g}\\,\\% interval over {runs} runs"
    yield r"% Needs \usepackage{booktabs}; if it is too wide, table* in place of table."
    yield r"\begin{table}"
    yield r"  \centering"
    is_equal = any(cell.verdict == EQUAL for cell in matrix.cells.values())
    equal = f" $=$ equal in {every_run(matrix, EQUAL)};" if is_equal else ""
    if any(cell.verdict == NOT_TESTED and not cell.spread for cell in matrix.cells.values()):
        equal += f" neither interval nor arrow: the same difference in {every_run(matrix, NOT_TESTED)}, not tested;"
    not_tested = f", or not tested ({matrix.not_tested})" if matrix.not_tested else ""
    signs = (
        f" $\\uparrow$ higher, $\\downarrow$ lower than {escaped(matrix.labels[0])} "
        f"(5\\,\\%, Holm's correction over {counted(tests, 'test')});{equal} "
        f"no arrow: undecided{not_tested}."
    )
    told = f"{spread if runs > 1 else 'one distinct run'}.{signs if tests else ''}"
    yield f"  \\caption{{{escaped(name)}, link {escaped(link)}: {told}}}"
    yield f"  \\label{{tab:{''.join(c if c.isalnum() and c.isascii() else '-' for c in name)}}}"
    yield f"  \\begin{{tabular}}{{l{'r' * len(matrix.labels)}}}"
    yield r"    \toprule"
    yield f"    & {' & '.join(escaped(label) for label in matrix.labels)} \\\\"
    yield r"    \midrule"
    for key in matrix.metrics:
        unit = matrix.unit(key)
        title = escaped(quantity(key).title + (f", {unit}" if unit else ""))
        cells = (matrix.cells.get((label, key)) for label in matrix.labels)
        yield f"    {title} & {' & '.join('--' if cell is None else interval_in_latex(cell) for cell in cells)} \\\\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def interval_in_latex(cell: Cell) -> str:
    """Return a mean with its interval and the sign of its verdict, for LaTeX."""
    mean, below, above = cell.texts
    interval = rf" \pm {below}" if below == above else rf"_{{-{below}}}^{{+{above}}}"
    interval = interval if below else ""
    sign = rf"\,{SIGNS[cell.verdict]}" if cell.verdict in SIGNS else ""
    return f"${mean}{interval}{sign}$"


def escaped(text: str) -> str:
    r"""Return a text as LaTeX shows it.

    >>> print(escaped("red_tight, 5 %"))
    red\_tight, 5 \%
    """
    return "".join(SPECIAL.get(character, character) for character in one_line(text))
