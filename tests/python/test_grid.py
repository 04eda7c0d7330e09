"""Tests over the grid of a sweep: Holm's correction over all cells, tables for CSV and LaTeX, figures in panels."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.figures.marks import mark_of, marks
from aqmlab.reporting.sweep import layout, of_sweep, sweep_finding
from aqmlab.runs.sweeps.grid import choice_of, count_tests, grid_latex, grid_table, grid_text
from aqmlab.runs.sweeps.sweep import Study, points_text
from aqmlab.runs.sweeps.sweep_matrix import matrix_of_points
from aqmlab.statistics import compare_means, holm

KEYS = ("queue.q.aqm", "flow.tcp.count", "link.a.delay")
SHIFT = {"red": 0.0, "codel": -20.0, "pie": 0.0}


def study(keys=KEYS, *, counts=(5, 10, 20), delays=(5.0, 40.0), aqm=tuple(SHIFT), seeds=8):
    """Make a sweep whose delays differ by a known shift, and whose loss does not differ."""
    chance = np.random.default_rng(3)
    rows = []
    for point, (name, count, delay) in enumerate(itertools.product(aqm, counts, delays)):
        for seed in range(1, seeds + 1):
            mean = 30 + count + delay + SHIFT[name] + chance.normal(0, 0.5)
            loss, goodput = 0.01 + chance.normal(0, 0.001), 10 - delay / 100 + chance.normal(0, 0.01)
            rows.append((point, name, count, delay, seed, mean, loss, goodput, f"run{point}-{seed}"))
    columns = ["point", *KEYS, "seed", "mean_delay_ms", "loss", "goodput_mbps", "run"]
    runs = pd.DataFrame(rows, columns=columns)
    units = dict(zip(KEYS, ("", "", "ms"), strict=True))
    return Study("grid", "0" * 16, "0", keys, units, tuple(range(1, seeds + 1)), runs, (), Path())


def test_each_cell_is_tested_against_the_first_with_one_correction():
    own = study()
    table = grid_table(own, ["mean_delay_ms", "loss"])
    assert len(table) == 3 * 6 * 2
    assert count_tests(table) == 2 * 6 * 2
    assert list(table["p_holm"].dropna()) == pytest.approx(holm(list(table["p"].dropna())))
    delay = table[table["metric"] == "mean_delay_ms"]
    assert set(delay.loc[delay[KEYS[0]] == "codel", "verdict"]) == {"lower"}
    assert set(delay.loc[delay[KEYS[0]] == "red", "verdict"]) == {""}
    assert set(table.loc[table[KEYS[0]] == "pie", "verdict"]) == {"undecided"}
    cell = own.runs[(own.runs[KEYS[1]] == 10) & (own.runs[KEYS[2]] == 40)]
    a, b = (cell.loc[cell[KEYS[0]] == name, "mean_delay_ms"].to_numpy() for name in ("codel", "red"))
    row = delay[(delay[KEYS[0]] == "codel") & (delay[KEYS[1]] == 10) & (delay[KEYS[2]] == 40)].iloc[0]
    expected = compare_means(a, b).difference
    assert (row["difference"], row["p"]) == pytest.approx((expected.mean, expected.p))
    assert (row["difference_low"], row["difference_high"]) == pytest.approx(
        (expected.interval.low, expected.interval.high)
    )


def test_the_table_is_read_by_condition():
    own = study()
    text = grid_text(own, grid_table(own, ["mean_delay_ms"]))
    assert list(text.columns) == ["quantity", "count", "delay, ms", "red", "codel", "pie"]
    assert len(text) == 6
    assert all(cell.endswith("\u2193") for cell in text["codel"])


def test_points_and_the_grid_have_the_same_digits():
    own = study(counts=(5, 10))
    metrics = ["mean_delay_ms", "loss", "goodput_mbps"]
    points = points_text(own, own.points(), metrics)
    grid = grid_text(own, grid_table(own, metrics))
    shown = {cell.rstrip("↑↓= ") for name in SHIFT for cell in grid[name]}
    assert set(points[metrics].to_numpy().ravel()) == shown
    matrix = matrix_of_points(own)
    assert {cell.estimate for (_, key), cell in matrix.cells.items() if key in metrics} == shown


def test_latex_has_a_row_for_each_condition():
    own = study()
    latex = grid_latex(own, grid_table(own, ["mean_delay_ms", "loss"]))
    assert r"{Loss, \%} \\" in latex
    assert "$1.0" in latex.partition("Loss")[2], "the share 0.01 is 1 %"
    rows = [line for line in latex.splitlines() if line.count("&") == 4]
    assert rows[0].strip() == r"count & delay, ms & red & codel & pie \\"
    assert len(rows) == 1 + 2 * 6
    assert latex.count(r"\downarrow$ \\") + latex.count(r"\downarrow$ &") == 6
    assert "Holm's correction over 24 tests" in latex


def test_what_is_compared_is_chosen_or_named():
    assert choice_of(study()) == KEYS[0]
    assert choice_of(study(), "flow.tcp.count") == "flow.tcp.count"
    with pytest.raises(aqmlab.InputError, match="name the key whose values are compared"):
        choice_of(study(aqm=("red",)))
    with pytest.raises(aqmlab.InputError, match="unknown swept key"):
        choice_of(study(), "flow.tcp.size")
    with pytest.raises(aqmlab.InputError, match="unknown metric"):
        grid_table(study(), ["mos"])


def test_disciplines_are_lines_and_one_key_has_panels():
    points = study().points()
    assert layout(points, KEYS[1:], KEYS[:1]) == (KEYS[1], [KEYS[0]], [KEYS[2]])
    first, delay, *_ = of_sweep(study())
    assert {one.name.split(", ")[0] for one in first.series} == set(SHIFT)
    assert {mark.color for mark in marks(first.series)} == {mark_of(name).color for name in SHIFT}
    assert list(dict.fromkeys(one.panel for one in delay.series)) == ["delay = 5 ms", "delay = 40 ms"]
    assert [one.name for one in delay.series] == [*SHIFT, *SHIFT]
    assert all(one.band and len(one.x) == 3 for one in delay.series)
    assert list(delay.x_ticks) == [5, 10, 20]
    [loss] = of_sweep(study(), ["loss"])
    assert loss.key == "sweep-grid-loss-over-flow-tcp-count"


def test_only_choices_are_best():
    own = study()
    points = own.points()
    means = points.groupby(KEYS[0])["mean_delay_ms"].mean()
    assert f"Least mean queueing delay ({means['codel']:.4g} ms) with codel" in sweep_finding(own)
    assert "means over count, delay" in sweep_finding(own)
    conditions = sweep_finding(study(aqm=("red",)))
    assert "least" not in conditions.lower()
    assert "mean queueing delay from" in conditions.lower()


def test_only_runs_that_are_equal_are_called_equal():
    own = study(keys=KEYS[:2], counts=(5,), delays=(5.0,), aqm=("red", "codel", "pie"), seeds=4)
    own.runs["loss"] = [0.1, 0.2, 0.3, 0.4, 0.2, 0.1, 0.4, 0.3, 0.1, 0.2, 0.3, 0.4]
    verdicts = grid_table(own, ["loss"])["verdict"]
    assert list(verdicts) == ["", "undecided", "equal"]


def test_points_of_the_same_values_are_refused():
    own = study(keys=KEYS[:2], counts=(5, 5), delays=(5.0,))
    with pytest.raises(InputError, match="two points have the same values"):
        grid_table(own, ["loss"])


def test_latex_of_one_seed_claims_no_test():
    own = study(keys=KEYS[:2], delays=(5.0,), seeds=1)
    own.runs.loc[0, "loss"] = np.nan
    latex = grid_latex(own, grid_table(own, ["loss"]))
    assert "grid: one run each, without intervals and tests." in latex
    assert "--" in latex
    assert "nan" not in latex


def test_the_finding_says_that_a_best_is_undecided():
    own = study(keys=KEYS[:2], counts=(5, 10), delays=(5.0,))
    text = sweep_finding(own)
    assert "ms) with codel" in text
    assert "not decided against" in text.partition("loss")[2]
    own.runs["mean_delay_ms"] = 5.0
    assert sweep_finding(own).startswith("Mean queueing delay 5.00 ms with all")
