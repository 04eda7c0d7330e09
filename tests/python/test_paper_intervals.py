"""Intervals in the tables of papers: one function, natural bounds, both ends. Other tests check whole reproductions."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aqmlab.papers
from aqmlab.papers.common.claims import part_difference
from aqmlab.papers.common.quantities import Kind, bounds_of, measured, quantity_interval
from aqmlab.papers.common.runs import values
from aqmlab.reporting.intervals import intervals_table, intervals_text
from paper_intervals import assert_possible, impossible, intervals_of

PAPERS = Path(aqmlab.papers.__file__).parent
CLAIMS = Path(__file__).parents[2] / "docs" / "validation" / "claims.csv"
COMMITTED = list(csv.DictReader(CLAIMS.read_text().splitlines(keepends=True)))
RARE = [0.0] * 9 + [0.4]
"""Runs of a rare event: too skewed for Student's interval."""


@pytest.mark.parametrize(
    ("quantity", "kind", "expected"),
    [
        ("loss_data", Kind.VALUE, (0.0, 1.0)),
        ("longer_5", Kind.VALUE, (0.0, 1.0)),
        ("jain", Kind.VALUE, (0.0, 1.0)),
        ("timeouts", Kind.VALUE, (0.0, math.inf)),
        ("mean_run", Kind.VALUE, (1.0, math.inf)),
        ("p_drop", Kind.DIFFERENCE, (-1.0, 1.0)),
        ("throughput", Kind.DIFFERENCE, (-math.inf, math.inf)),
        ("throughput", Kind.PERCENT, (-100.0, math.inf)),
        ("throughput", Kind.RATIO, (0.0, math.inf)),
        ("utility", Kind.RATIO, (-math.inf, math.inf)),
    ],
)
def test_bounds_of_quantities(quantity, kind, expected):
    assert bounds_of(quantity, kind) == expected


def test_skewed_runs_get_a_wider_interval_within_the_bounds():
    found = quantity_interval(RARE, "loss")
    assert found.low == 0.0
    assert found.mean < 0.131 < found.high <= 1.0  # 0.131: Student's


def test_a_table_has_both_ends_and_shows_them():
    runs = pd.DataFrame({"seed": range(1, 11), "loss": RARE, "scheme": "a"})
    runs = pd.concat([runs, runs.assign(scheme="b", loss=0.0)])
    row = {"loss": measured(runs, "loss", scheme="a"), "none": measured(runs, "loss", scheme="b")}
    gain = values(runs, "loss", scheme="a") - values(runs, "loss", scheme="b")
    row["a - b"] = quantity_interval(gain, "loss", Kind.DIFFERENCE)
    table = intervals_table([row])
    assert list(table.columns) == [f"{name}{end}" for name in row for end in ("", " low", " high")]
    assert re.fullmatch(r"0\.04\d* \(0\.0+ to 0\.\d+\)", intervals_text(table)["loss"][0])
    assert intervals_text(table, signed=["a - b"])["a - b"][0].startswith("+0.04")
    assert intervals_text(table)["none"][0] == "0"


def test_the_interval_of_a_claim_is_students_within_the_bounds():
    free, clipped = (part_difference(RARE, 0.0, 0.0, *limits) for limits in ((), ((0.0, 1.0),)))
    assert free.interval.low < 0.0 == clipped.interval.low
    assert (clipped.interval.high, clipped.p) == (free.interval.high, free.p)


def test_papers_make_intervals_in_one_place():
    """The function is `quantity_interval`; tests of claims have the paired t-test (`part_difference`)."""
    others = re.compile(r"(?<![\w.])(?<!def )(interval|mean_interval|paired)\(|\.half_width")
    allowed = {"common/quantities.py": "mean_interval(", "common/claims.py": "paired("}
    for path in PAPERS.rglob("*.py"):
        name = path.relative_to(PAPERS).as_posix()
        found = {match.group(0) for match in others.finditer(path.read_text())}
        # Half widths are compared there, not shown.
        widths = {".half_width"} if name in ("common/expressions.py", "common/power.py") else set()
        assert found <= {allowed.get(name), *widths}, name


def test_impossible_intervals_are_found(tmp_path):
    folder = tmp_path / "exred"
    folder.mkdir()
    table = pd.DataFrame(
        {
            "loss": [0.1, 0.1, 0.9, 0.5, 0.5],
            "loss low": [-0.1, 0.05, 0.8, 0.6, np.nan],
            "loss high": [0.3, 0.15, 1.1, 0.7, 0.6],
        }
    )
    table.to_csv(folder / "tcp.csv", index=False)
    assert impossible(intervals_of(folder)).index.tolist() == [0, 2, 3, 4]
    table.iloc[:1].to_csv(folder / "tcp-differences.csv", index=False)
    (folder / "tcp.csv").unlink()
    assert impossible(intervals_of(folder)).empty


@pytest.mark.slow
def test_no_interval_of_ddred_is_impossible(tmp_path):
    """The other papers' reproductions are checked where they are made."""
    aqmlab.reproduce("ddred", quick=True, seeds=2, out=tmp_path, progress=False)
    assert_possible(tmp_path / "ddred")


VALUE = r"(\d[\d,]*\.?\d*(?:e[+-]?\d+)?)"
NUMBER = VALUE.replace("(", "([+-]?", 1)


def numbers_of(text, pattern):
    return [[float(one.replace(",", "")) for one in found] for found in re.findall(pattern, text)]


def test_committed_intervals_with_both_ends_are_ordered():
    assert len(COMMITTED) > 60
    for row in COMMITTED:
        for text in row.values():
            for mean, low, high in numbers_of(text, rf"{NUMBER} \({NUMBER} to {NUMBER}\)"):
                assert low <= mean <= high


def test_no_committed_interval_of_a_value_is_negative():
    """A number without a sign is a value, not a difference, and no value is negative."""
    wrong = [
        (row["paper"], row["claim"], mean, half)
        for row in COMMITTED
        for mean, half in numbers_of(row["found"], rf"(?<![\d+.,-]){VALUE} ± {VALUE}")
        if half > mean
    ]
    assert wrong == []
