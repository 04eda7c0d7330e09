"""The table of runs as arrays: it selects and pairs as pandas does."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from aqmlab.papers.common.run_table import RunTable
from aqmlab.papers.common.vocabulary import Range

NAMES = ["RED", "MRED", "ExRED"]


def random_runs(rng):
    """A frame in which some runs are missing and some have no loss."""
    rows = [
        {"n": n, "discipline": name, "seed": seed, "loss": rng.normal() if rng.random() < 0.9 else np.nan}
        for n in rng.permutation(range(12)).tolist()
        for name in NAMES
        for seed in range(1, 9)
        if rng.random() < 0.9
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("seed", range(20))
def test_by_seed_is_a_pivot(seed):
    frame = random_runs(np.random.default_rng(seed))
    table = RunTable(frame)
    found = table.by_seed(table.fits({"discipline": ("MRED",)}), "loss", ["n"])
    rows = frame[(frame["discipline"] == "MRED") & frame["loss"].notna()]
    wide = rows.pivot(index="seed", columns="n", values="loss")
    assert [key for (key,) in found.keys] == wide.columns.tolist()
    assert found.seeds.tolist() == wide.index.tolist()
    np.testing.assert_array_equal(found.values, wide.to_numpy())
    np.testing.assert_array_equal(found.values.mean(axis=1), wide.mean(axis="columns", skipna=False).to_numpy())


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_selected_by_values_and_ranges(seed):
    frame = random_runs(np.random.default_rng(seed))
    table = RunTable(frame)
    fits = table.fits({"n": Range(2, 7), "discipline": ("RED", "MRED")}, {"n": (3, 5.0)})
    wanted = frame["n"].between(2, 7) & frame["discipline"].isin(["RED", "MRED"]) & ~frame["n"].isin([3, 5])
    assert fits.tolist() == wanted.tolist()
    places = frame.loc[wanted, ["n", "discipline"]].drop_duplicates().itertuples(index=False, name=None)
    assert table.places(fits, ["n", "discipline"]) == list(places)


def test_several_runs_of_one_seed_are_not_paired():
    table = RunTable(pd.DataFrame({"n": [5, 10], "seed": [1, 1], "loss": [0.1, 0.2]}))
    every = table.fits({})
    assert table.by_seed(every, "loss", []) is None
    assert table.by_seed(every, "loss", ["n"]).values.tolist() == [[0.1, 0.2]]


def test_both_sides_are_taken_where_both_have_runs():
    frame = pd.DataFrame(
        {"n": [5, 5, 9, 9], "side": ["a", "b", "a", "a"], "seed": [1, 1, 1, 2], "loss": [1.0, 2, 3, 4]}
    )
    table = RunTable(frame)
    a, b = (table.by_seed(table.fits({"side": (side,)}), "loss", ["n"]) for side in "ab")
    keys, seeds = a.common(b)
    assert (keys, seeds.tolist(), a.at(keys, seeds).tolist()) == ([(5,)], [1], [[1.0]])
