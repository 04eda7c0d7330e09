"""A sweep at a glance: an answer in a sentence, and the matrix of a comparison with a point in each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from aqmlab.errors import counted, joined
from aqmlab.results.quantities import quantity, shown_in
from aqmlab.runs.comparison_matrix import Matrix, matrix_of
from aqmlab.runs.sweeps.grid import is_choice
from aqmlab.runs.sweeps.sweep import POINT
from aqmlab.statistics.intervals import LEVEL

if TYPE_CHECKING:
    from aqmlab.runs.sweeps.sweep import Study


def matrix_of_points(study: Study, *, level: float = LEVEL) -> Matrix:
    """Return the means of a sweep as a matrix: a row a point, labelled by its values.

    Parameters
    ----------
    study
        The sweep.
    level
        Level of the intervals.
    """
    points = study.points(level=level)
    choices = [key for key in study.keys if is_choice(key)]
    conditions = [key for key in study.keys if key not in choices]
    if choices and conditions:  # choices beside each other, so that the first rows can be compared
        order = points.groupby(conditions, sort=False).ngroup().argsort(kind="stable")
        points = points.iloc[order].reset_index(drop=True)
    compared = shown_in("compare")
    keys = [key for key in study.metrics if key.partition(".")[0] in compared]
    runs = study.runs.groupby(POINT)[keys].count()
    names = {"mean": "", "low": "_low", "high": "_high"}
    rows = [
        {"aqm": label, "metric": key, "n": int(runs.loc[row[POINT], key])}
        | {name: row[f"{key}{ending}"] for name, ending in names.items()}
        for label, row in zip(_labels(study, points), points.to_dict("records"), strict=True)
        for key in keys
        if row[key] == row[key]
    ]
    found = matrix_of(pd.DataFrame(rows, columns=["aqm", "metric", "n", *names]), pd.DataFrame())
    return Matrix(found.labels, found.metrics, found.cells, ", ".join(short_names(study.keys)))


def answer_of_points(study: Study, matrix: Matrix) -> str:
    """Return the smallest and greatest means of queue, loss and goodput over the points, with intervals and places.

    No test compares the points: the words are about means, and state where the two intervals overlap.
    """
    measured = set(matrix.metrics)
    stand_ins = [key for key in shown_in("until") if key in measured][1:]
    parts = []
    for key in (key for key in shown_in("answer") if key in measured and key not in stand_ins):
        cells = {label: matrix.cells[label, key] for label in matrix.labels if (label, key) in matrix.cells}
        least, most = (choose(cells, key=lambda label: cells[label].mean) for choose in (min, max))
        low, high = cells[least], cells[most]
        unit = f" {matrix.unit(key)}".rstrip()
        name = quantity(key).in_sentence
        if low.texts == high.texts:
            parts.append(f"{name} {low.estimate}{unit}{' everywhere' if len(cells) > 1 else ''}")
        else:
            overlap = " (their intervals overlap)" if low.high >= high.low else ""
            parts.append(
                f"{name} {low.estimate} at {_place(least)} to {high.estimate}{unit} at {_place(most)}{overlap}"
            )
    names = f" of {joined(short_names(study.keys))}" if study.keys else ", where nothing varies"
    level = f", with {100 * LEVEL:g} % intervals" if any("±" in part or "+" in part for part in parts) else ""
    return f"Over {counted(len(matrix.labels), 'point')}{names}{level}{': ' if parts else ''}{'; '.join(parts)}."


def short_names(keys: Sequence[str]) -> list[str]:
    """Return the shortest ends of dotted keys that tell them apart.

    >>> short_names(["flow.tcp.count", "queue.a.max_th", "queue.b.max_th"])
    ['count', 'a.max_th', 'b.max_th']
    """
    names = []
    for key in keys:
        words = key.split(".")
        ends = [".".join(words[-n:]) for n in range(1, len(words) + 1)]
        names.append(next(e for e in ends if e == key or not any(o != key and f".{o}".endswith(f".{e}") for o in keys)))
    return names


def _labels(study: Study, points: pd.DataFrame) -> list[str]:
    """Return the values of each point, aligned; a point that repeats the values of another gets its number.

    The point of a sweep without keys has the sweep's name.
    """
    if not study.keys:
        return [study.name for _ in range(len(points))]
    columns = []
    for key in study.keys:
        texts = [f"{v:.12g}{study.units[key]}" if isinstance(v, float) else str(v) for v in points[key]]
        width = max(map(len, texts), default=0)
        columns.append([text.rjust(width) for text in texts])
    labels = [", ".join(parts) for parts in zip(*columns, strict=True)]
    return [f"{label} #{n}" if labels.count(label) > 1 else label for n, label in enumerate(labels)]


def _place(label: str) -> str:
    return " ".join(label.split())
