"""A run or a comparison at a glance: an answer in a sentence, and a matrix of labels by metrics within 80 columns."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from aqmlab.errors import MINUS, counted, joined, minus
from aqmlab.results.quantities import in_order, quantity, shown_in
from aqmlab.runs.comparison_tables import EQUAL, HIGHER, LOWER, NOT_TESTED, UNDECIDED
from aqmlab.statistics.text import asymmetric, half_places, mean_places

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 80
ARROWS = {HIGHER: "↑", LOWER: "↓", EQUAL: "=", UNDECIDED: ""}
"""Verdict to its sign."""
CONSTANT = "*"
"""Sign of an untested difference, which is the same in every run."""
NARROWEST_LABEL = 9
KEPT = 3
"""Significant digits that a mean keeps however wide its interval is."""
ROUNDING = 1e-6
"""Relative width of an interval below which it is rounding."""
LONGEST_NAMED = 4
"""Quantities without a test that a legend names."""
LONGEST_GROUP = 30
"""Characters of a group's name in a head."""


@dataclass(frozen=True)
class Cell:
    """A mean with the bounds of its interval (NaN without an interval), and the verdict against the baseline.

    `verdict` is one of the verdicts of `aqmlab.runs.comparison_tables`, or "" for the baseline; `n` is the number of
    runs with the quantity.
    """

    mean: float
    low: float
    high: float
    verdict: str
    digits: int
    is_tested: bool = True
    n: int = 0

    @classmethod
    def of(cls, key: str, mean: float, low: float, high: float, verdict: str = "", n: int = 0) -> Cell:
        """Return the cell of a quantity in its shown unit: the place that decides about the digits of quantities.

        >>> Cell.of("loss", 0.01831, 0.0165, 0.0201).estimate, Cell.of("jain", 1.0, math.nan, math.nan).estimate
        ('1.83 ± 0.18', '1.0000')
        """
        what = quantity(key)
        mean, low, high = (what.scale * value for value in (mean, low, high))
        return cls(mean, low, high, verdict, what.shown_digits, what.is_tested, n)

    @property
    def sign(self) -> str:
        """An arrow where the difference is decided, a star where it is the same in every run, else nothing."""
        return CONSTANT if self.verdict == NOT_TESTED and self.is_tested else ARROWS.get(self.verdict, "")

    @property
    def estimate(self) -> str:
        """Mean with its interval on one line; the mean alone without an interval.

        >>> Cell(17.663, 17.4242, 17.9018, "", 2).estimate, Cell(4.33, 3.842, 4.485, "", 2).estimate
        ('17.7 ± 0.2', '4.33 +0.16 −0.49')
        """
        mean, low, high = self.texts
        if not low:
            return mean
        return f"{mean} ± {low}" if low == high else f"{mean} +{high} {MINUS}{low}"

    @property
    def texts(self) -> tuple[str, str, str]:
        """Mean, and the distances of the lower and the upper bound from it, to the digits that these support.

        The distances are equal for a symmetric interval, and "" without one. The mean keeps three significant digits. A
        distance that these digits do not show is "0": the interval is clipped there.

        >>> Cell(17.663, 17.4242, 17.9018, "", 2).texts, Cell(4.33, 3.842, 4.485, "", 2).texts
        (('17.7', '0.2', '0.2'), ('4.33', '0.49', '0.16'))
        >>> Cell(4.33, -525.7, 534.3, "", 2).texts, Cell(9.5, float("nan"), float("nan"), "", 2).texts
        (('4.33', '530', '530'), ('9.50', '', ''))
        >>> Cell(0.0031, float("nan"), float("nan"), "", 2).texts
        ('0.0031', '', '')
        >>> Cell(84.56, 84.559, 84.561, "", 2).texts
        ('84.5600', '0.0010', '0.0010')
        >>> Cell(3.2e-6, 0.0, 8.2e-6, "", 2).texts
        ('0.0000032', '0.000003', '0.000005')
        >>> Cell(9.997, 9.985, 9.997, "", 3).estimate, Cell(9.997, 9.985, 9.99704, "", 3).estimate
        ('9.997 +0 −0.012', '9.997 +0 −0.012')
        """
        is_rounding = self.high - self.low < ROUNDING * abs(self.mean)
        if not math.isfinite(self.high - self.low) or is_rounding:
            hidden = self.mean and not round(self.mean, self.digits)
            return f"{self.mean:.{mean_places(self.mean) if hidden else self.digits}f}", "", ""
        half = (self.high - self.low) / 2
        apart = asymmetric(self.mean, self.low, self.high)
        distances = (self.mean - self.low, self.high - self.mean) if apart else (half, half)
        finest = max((half_places(one) for one in distances if one > 0), default=self.digits)
        own = min(self.digits, finest)
        if not any(round(one, own) for one in distances):  # ±0.00 would say that nothing varies
            own = finest
        # Where the interval is shown beyond the digits of the quantity, a smaller mean keeps two digits of its own.
        most = mean_places(self.mean) if own > self.digits else min(self.digits, mean_places(self.mean, KEPT))
        places = max(own, most)
        below, above = (f"{one:.{own}f}" if round(one, own) else "0" for one in distances)
        return f"{self.mean:.{places}f}", below, above

    @property
    def spread(self) -> str:
        """Half the width of the interval as ``±0.2``, or ``+0.15−0.49`` if it is asymmetric; "" without one."""
        return "".join(self.spread_lines)

    @property
    def spread_lines(self) -> tuple[str, str]:
        """The same in two lines: ``±0.2`` and nothing, or ``+0.15`` and ``−0.49``."""
        _, below, above = self.texts
        if below == above:
            return (f"±{below}" if below else ""), ""
        return f"+{above}", f"{MINUS}{below}"


@dataclass(frozen=True)
class Matrix:
    """Labels by metrics.

    Attributes
    ----------
    labels
        The compared entries; the first is the baseline.
    metrics
        The keys of the metrics.
    cells
        Label and metric to the measured value; values that were not measured are absent.
    head
        The head above the labels; "" if they speak for themselves.
    """

    labels: list[str]
    metrics: list[str]
    cells: Mapping[tuple[str, str], Cell]
    head: str = ""

    def unit(self, key: str) -> str:
        """Return the unit of a metric as shown; "" for a pure number."""
        return quantity(key).shown_unit

    @property
    def short(self) -> Matrix:
        """The matrix of the quantities that are shown without details."""
        metrics = [key for key in self.metrics if quantity(key).compared != "described"]
        return replace(
            self, metrics=metrics, cells={place: c for place, c in self.cells.items() if place[1] in metrics}
        )

    def of(self, labels: Sequence[str]) -> Matrix:
        """Return the matrix of these labels."""
        return replace(
            self, labels=list(labels), cells={place: c for place, c in self.cells.items() if place[0] in labels}
        )

    @property
    def not_tested(self) -> str:
        """Titles of the untested quantities for a legend; a general phrase if they are many."""
        titles = [quantity(key).in_sentence for key in self.metrics if not quantity(key).is_tested]
        return ", ".join(titles) if len(titles) <= LONGEST_NAMED else "quantities without any sign"


def matrix_of(means: pd.DataFrame, differences: pd.DataFrame) -> Matrix:
    """Make the matrix of the two tables of a comparison (`aqmlab.runs.comparison_tables`)."""
    verdicts = {(row["aqm"], row["metric"]): row["verdict"] for row in differences.to_dict("records")}
    cells = {}
    for row in means.to_dict("records"):
        key = row["metric"]
        verdict = verdicts.get((row["aqm"], key), "")
        cells[row["aqm"], key] = Cell.of(key, row["mean"], row["low"], row["high"], verdict, row["n"])
    return Matrix(list(means["aqm"].drop_duplicates()), in_order(means["metric"]), cells)


def answer(differences: pd.DataFrame) -> str:
    """Return sentences on the decided and the undecided differences of queue, loss, goodput and completion time.

    Throughput stands in for goodput where none was measured. If none of them is decided, a second sentence names the
    quantities that are.

    >>> import pandas as pd
    >>> columns = ["aqm", "against", "metric", "percent", "verdict"]
    >>> rows = [("red", "drop-tail", "mean_queue", -76.1, "lower"), ("red", "drop-tail", "loss", 191.4, "higher"),
    ...         ("red", "drop-tail", "goodput_mbps", 0.02, "undecided")]
    >>> answer(pd.DataFrame(rows, columns=columns))
    'Against drop-tail: red has a shorter queue (−76 %) and more loss (+191 %); TCP goodput undecided.'
    """
    rows = differences.to_dict("records")
    measured = {row["metric"] for row in rows}
    stand_ins = [key for key in shown_in("until") if key in measured][1:]
    keys = [key for key in shown_in("answer") if key in measured and key not in stand_ins]
    others = list(dict.fromkeys(row["aqm"] for row in rows))
    clauses: dict[tuple[str, ...], list[str]] = {}
    rest: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for key in keys:
        own = [row for row in rows if row["metric"] == key]
        for verdict in (LOWER, HIGHER):
            decided = [row for row in own if row["verdict"] == verdict]
            if decided:
                names = tuple(row["aqm"] for row in decided)
                clauses.setdefault(names, []).append(f"{_words(key, verdict)}{_percents(decided)}")
        for verdict in (EQUAL, UNDECIDED, NOT_TESTED):
            rest_of = [row for row in own if row["verdict"] == verdict]
            if rest_of:
                percents = _percents(rest_of) if verdict == NOT_TESTED else ""
                rest.setdefault((verdict, tuple(row["aqm"] for row in rest_of)), []).append(_noun(key) + percents)
    told = [f"{_subject(names, others)} {joined(found)}" for names, found in clauses.items()]
    for (verdict, names), found in rest.items():
        whose = "" if list(names) == others else f" for {joined(names)}"
        reason = ", since the difference is the same in every run" if verdict == NOT_TESTED else ""
        told.append(f"{joined(found)} {verdict}{whose}{reason}")
    elsewhere = [str(row["metric"]) for row in rows if row["verdict"] in (HIGHER, LOWER) and row["metric"] not in keys]
    titles = list(dict.fromkeys(quantity(key).in_sentence for key in elsewhere)) if not clauses else []
    more = f" Decided: {', '.join(titles)}." if titles else ""
    return f"Against {rows[0]['against']}: {'; '.join(told)}.{more}"


def reading(matrix: Matrix) -> str:
    """Return the means of queue, loss and goodput (else throughput) and completion time of the first label as a phrase.

    >>> queue, loss = Cell(17.663, 17.4242, 17.9018, "", 2), Cell(2.4, 2.3, 2.5, "", 2)
    >>> reading(Matrix(["red"], ["mean_queue", "loss"], {("red", "mean_queue"): queue, ("red", "loss"): loss}))
    'mean queue 17.7 packets, loss 2.40 %'
    """
    label = matrix.labels[0]
    stand_ins = [key for key in shown_in("until") if (label, key) in matrix.cells][1:]
    keys = [key for key in shown_in("answer") if (label, key) in matrix.cells and key not in stand_ins]
    return ", ".join(
        f"{quantity(key).in_sentence} {matrix.cells[label, key].texts[0]} {matrix.unit(key)}".rstrip() for key in keys
    )


@dataclass(frozen=True)
class _Column:
    """A metric as text: its head in three lines, the last of which is the unit, and the lines of each label's cell.

    The lines of a cell are the mean with the arrow, and one or two lines of its interval. `blank` is the room of an
    arrow, "" in a matrix without arrows.
    """

    head: tuple[str, str, str]
    cells: Mapping[str, tuple[str, str, str]]
    blank: str

    @property
    def width(self) -> int:
        return max(len(line) for lines in (self.head, *self.cells.values()) for line in lines)

    def height(self, label: str) -> int:
        return sum(map(bool, self.cells.get(label, ("-",))))


def lines_of(matrix: Matrix, *, intervals: bool = True, most: int | None = None) -> Iterator[str]:
    """Yield the matrix: a head of three lines, and for each label a line of means, and one or two of their intervals.

    Link and TCP come first; metrics of applications and groups of flows follow below, as many in a row as fit.

    Parameters
    ----------
    matrix
        The matrix.
    intervals
        Whether to show the lines of intervals.
    most
        Lines beyond which no further row of metrics begins (`left_out` names the metrics after it); None for no limit.
    """
    for number, row in enumerate(_shown_rows(matrix, intervals=intervals, most=most)):
        if number:
            yield ""
        yield from _row_lines(matrix, [column for _, column in row])


def left_out(matrix: Matrix, *, most: int) -> list[str]:
    """Return the keys of the metrics that `lines_of` leaves out for want of lines."""
    shown = {key for row in _shown_rows(matrix, intervals=True, most=most) for key, _ in row}
    return [key for key in matrix.metrics if key not in shown]


def _shown_rows(matrix: Matrix, *, intervals: bool, most: int | None) -> list[list[tuple[str, _Column]]]:
    """Divide the metrics into rows that are no wider than the screen, those of link and TCP before all others."""
    signs = any(cell.sign for cell in matrix.cells.values())
    columns = [(key, _column(matrix, key, intervals=intervals, signs=signs)) for key in matrix.metrics]
    rows: list[list[tuple[str, _Column]]] = []
    room = 0
    for is_main in (True, False):
        room = 0 if len(rows) < 2 else room  # a row that has only the rest of the main metrics goes on
        for key, column in columns:
            if (quantity(key).compared == "main") is not is_main:
                continue
            if column.width + 1 > room:
                rows.append([])
                room = WIDTH - _least_label(matrix)
            rows[-1].append((key, column))
            room -= column.width + 1
    lines, kept = 0, list[list[tuple[str, _Column]]]()
    for row in rows:
        lines += 5 + sum(max((column.height(label) for _, column in row), default=1) for label in matrix.labels)
        if most is not None and kept and lines > most:
            break
        kept.append(row)
    return kept


def _least_label(matrix: Matrix) -> int:
    """Return the least width of the column of labels; a longer label goes on in the next lines."""
    words = [word for text in (matrix.head, *matrix.labels) for word in text.split()]
    return min(max(map(len, [*matrix.head.split(), *matrix.labels])), max(NARROWEST_LABEL, *map(len, words)))


def _column(matrix: Matrix, key: str, *, intervals: bool, signs: bool) -> _Column:
    first_line, second_line = quantity(key).head
    begun = second_line[: LONGEST_GROUP - 1]
    alike = [one for one in map(_head_of, matrix.metrics) if one[0] == first_line and one[1].startswith(begun)]
    short = second_line if len(second_line) <= LONGEST_GROUP or len(alike) > 1 else f"{begun}…"
    blank = "  " if signs else ""
    cells = {}
    for label in matrix.labels:
        cell = matrix.cells.get((label, key))
        if cell is not None:
            spread = cell.spread_lines if intervals else ("", "")
            first, second = (f"{text}{blank}" if text else "" for text in spread)
            cells[label] = f"{cell.texts[0]} {cell.sign or ' '}" if signs else cell.texts[0], first, second
    return _Column((first_line, short, matrix.unit(key)), cells, blank)


def _head_of(key: str) -> tuple[str, str]:
    return quantity(key).head


def _row_lines(matrix: Matrix, columns: Sequence[_Column]) -> Iterator[str]:
    widths = [column.width for column in columns]
    longest = max(map(len, [*matrix.head.split(), *matrix.labels]))
    gap = 2 if longest + sum(widths) + 2 * len(widths) <= WIDTH else 1
    room = min(longest, max(_least_label(matrix), WIDTH - sum(widths) - gap * len(widths)))

    def line(first: str, cells: Sequence[str]) -> str:
        padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return (" " * gap).join([first.ljust(room), *padded]).rstrip()

    # A head stands above the numbers, left of the arrows, where it is short enough.
    indents = [c.blank if max(map(len, c.head)) + len(c.blank) <= c.width else "" for c in columns]
    heads = textwrap.wrap(matrix.head, room, break_long_words=False)
    height = max(3, len(heads))
    for part in range(height):
        above = [
            column.head[part + 3 - height] + indent if part + 3 >= height else ""
            for column, indent in zip(columns, indents, strict=True)
        ]
        head = heads[part + len(heads) - height] if part + len(heads) >= height else ""
        if head or any(above):
            yield line(head, above)
    yield "─" * (room + sum(widths) + gap * len(widths))
    for label in matrix.labels:
        cells = [column.cells.get(label, (f"-{column.blank}", "", "")) for column in columns]
        parts = [part for part in zip(*cells, strict=True) if any(part)]
        names = textwrap.wrap(label, room) if len(label) > room else [label]
        for name, texts in zip_longest(names, parts):
            yield line(name or "", texts or [""] * len(widths))


def legend(matrix: Matrix, *, level: float, tests: int, compared: bool = True) -> str:
    """Explain the signs of the matrix.

    Parameters
    ----------
    matrix
        The matrix.
    level
        Level of the intervals.
    tests
        Number of differences that were tested, over which p is corrected.
    compared
        Whether the labels are compared with the first.
    """
    signs = {cell.verdict for cell in matrix.cells.values()}
    equal = f"; =: equal in {every_run(matrix, EQUAL)}" if EQUAL in signs else ""
    spreads = [cell.spread for cell in matrix.cells.values()]
    name = f"{100 * level:.4g} % interval"
    constant = any(cell.sign == CONSTANT for cell in matrix.cells.values())
    if compared and len(matrix.labels) > 1 and not tests and not any(spreads) and EQUAL not in signs and not constant:
        return "One run has neither interval nor test, so no difference is decided: run more seeds (--seeds 10)."
    interval = f" ±: half-width of the {name}." if any(spreads) else ""
    if any("+" in spread for spread in spreads):
        interval = f" ±, or + and − of the mean: the {name}."
    interval += _without_interval(matrix) if any(spreads) else ""
    if any(key.endswith((".L", ".C")) for key in matrix.metrics if key.startswith("delay_")):
        interval += " L, C: the low-latency and the classic queue of a dual queue."
    if len(matrix.labels) == 1 or not compared:
        return interval.strip()
    if not tests and constant:
        return f"All seeds gave the same numbers, so there is neither interval nor test.{equal.replace(';', '', 1)}"
    if constant:
        equal += f"; {CONSTANT}: the same difference in {every_run(matrix, NOT_TESTED)}, not tested"
    if matrix.not_tested:
        equal += f"; {matrix.not_tested}: not tested"
    return (
        f"↑ higher, ↓ lower than {matrix.labels[0]}: decided (5 %, Holm's correction over "
        f"{counted(tests, 'test')}); no arrow: undecided{equal}.{interval}"
    )


def _without_interval(matrix: Matrix) -> str:
    """Return the reason for means without an interval beside others that have one; "" without such means."""
    alone = {cell.n for cell in matrix.cells.values() if math.isfinite(cell.mean) and not cell.spread}
    reasons = [f"equal in all runs{_with_it(matrix, alone - {1})}"] if alone - {1} else []
    reasons += ["of one run"] if 1 in alone else []
    return f" No ±: {' or '.join(reasons)}." if reasons else ""


def every_run(matrix: Matrix, verdict: str) -> str:
    """Return the words for the runs whose differences have a verdict: those with the quantity where others lack it."""
    found = [place for place, cell in matrix.cells.items() if cell.verdict == verdict]
    first = [(matrix.labels[0], key) for _, key in found]
    return f"every run{_with_it(matrix, {matrix.cells[place].n for place in found + first if place in matrix.cells})}"


def _with_it(matrix: Matrix, counts: set[int]) -> str:
    """Return " with the quantity" if one of the counts of runs is less than all runs; 0 is an unknown count."""
    most = max((cell.n for cell in matrix.cells.values()), default=0)
    return " with the quantity" if counts - {0, most} else ""


def _noun(key: str) -> str:
    """Return the title without "Mean".

    >>> _noun("mean_queue"), _noun("goodput_mbps")
    ('queue', 'TCP goodput')
    """
    return quantity(key).in_sentence.removeprefix("mean ")


def _words(key: str, verdict: str) -> str:
    less, more = ("a shorter", "a longer") if quantity(key).unit in ("packets", "ms") else ("less", "more")
    return f"{less if verdict == LOWER else more} {_noun(key)}"


def _percents(rows: Sequence[Mapping[Any, Any]]) -> str:
    """Write relative differences in parentheses; of more than three their range."""
    values = [row["percent"] for row in rows if math.isfinite(row["percent"])]
    if len(values) != len(rows):
        return ""
    texts = [_percent(value) for value in values]
    if len(texts) > 3:
        small, large = sorted(values, key=abs)[:: len(values) - 1]
        return f" ({_percent(small).removesuffix(' %')} to {_percent(large)})"
    return f" ({', '.join(texts)})"


def _percent(value: float) -> str:
    """Write a relative difference.

    >>> _percent(-76.1), _percent(0.123), _percent(3120.0)
    ('−76 %', '+0.12 %', '+3120 %')
    """
    number = f"{abs(value):.0f}" if abs(value) >= 10 else f"{abs(value):.2g}"
    return minus(f"{'-' if value < 0 else '+'}{number} %")


def _subject(names: Sequence[str], others: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} has"
    return f"{f'all {len(names)}' if list(names) == list(others) and len(names) > 2 else joined(names)} have"
