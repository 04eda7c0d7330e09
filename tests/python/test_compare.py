"""Comparisons: the same seeds on each side, differences taken seed by seed."""

from __future__ import annotations

import numpy as np
import pytest

import aqmlab
from aqmlab.execution.comparison import Comparison
from aqmlab.execution.comparison_tables import verdict
from aqmlab.statistics import benjamini_hochberg, compare_means, paired

pytestmark = pytest.mark.slow


@pytest.fixture
def found(small, tmp_path):
    return aqmlab.compare(small, aqm=["red", "mred", "drop-tail"], out=tmp_path / "out", workers=2, progress=False)


def test_differences_are_paired_by_seed(found):
    red = found.results["red"].metrics()["throughput_mbps"].to_numpy()
    mred = found.results["mred"].metrics()["throughput_mbps"].to_numpy()
    rows = found.differences.set_index(["aqm", "metric"])
    expected = paired(mred, red)
    row = rows.loc[("mred", "throughput_mbps")]
    assert row["difference"] == pytest.approx(np.mean(mred - red))
    assert row["p"] == pytest.approx(expected.p)
    assert (row["low"], row["high"]) == pytest.approx((expected.interval.low, expected.interval.high))
    assert row["against"] == "red"


def test_every_discipline_has_the_same_seeds(found):
    assert {tuple(r.seeds) for r in found.results.values()} == {(1, 2, 3)}
    assert set(found.differences["aqm"]) == {"mred", "drop-tail"}


def test_the_discipline_is_exchanged_and_the_rest_stays(found):
    for name, result in found.results.items():
        readings = result.summaries[0]["readings"]
        assert readings["bottleneck"]["aqm"] == name
        assert readings["access"]["aqm"] == "drop-tail"


def test_unknown_keys_of_a_discipline_are_reported(found):
    assert found.notes[0].startswith("drop-tail: without ")
    assert "min_th" in found.notes[0]


def test_differences_are_reported(found):
    assert found.notes[1:] == [
        "red -> mred: curve linear -> mred",
        "red -> drop-tail: no common parameter differs",
    ]


def test_a_comparison_is_read_back(found):
    loaded = Comparison.load(found.folder)
    assert loaded.means.equals(found.means)
    assert loaded.differences.equals(found.differences)


def test_a_discipline_against_itself_differs_by_nothing(small):
    from aqmlab.execution.comparison_tables import differences_table

    result = aqmlab.run(small, workers=1, progress=False)
    table = differences_table({"a": result, "b": result}, "bottleneck")
    assert (table["difference"] == 0).all()
    assert (table["p"] == 1).all()


def test_one_discipline_is_no_comparison(small):
    with pytest.raises(aqmlab.InputError, match="give at least two disciplines"):
        aqmlab.compare(small, aqm=["red"])
    with pytest.raises(aqmlab.InputError, match='unknown discipline "rde"'):
        aqmlab.compare(small, aqm=["red", "rde"])
    with pytest.raises(aqmlab.InputError, match=r'unknown queue "botleneck".*did you mean bottleneck'):
        aqmlab.compare(small, aqm=["red", "mred"], queue="botleneck")


def test_uncorrelated_pairs_are_compared_by_welch_with_a_note(small):
    found = aqmlab.compare(small, aqm=["red", "mred"], seeds=20, workers=2, progress=False)
    rows = found.differences.set_index("metric")
    for key, row in rows.iterrows():
        a, b = (found.results[name].metrics()[key].to_numpy() for name in ("mred", "red"))
        expected = compare_means(a, b)
        assert row["test"] == expected.test
        assert (row["low"], row["high"]) == (expected.difference.interval.low, expected.difference.interval.high)
        assert row["verdict"] == verdict(row["difference"], row["p_holm"])
    (line,) = found.pairing_lines()
    assert line.startswith("Pairing mred with red by seed")
    assert all(str(key) in line for key in rows.index[rows["r_low"].notna()])


def test_few_seeds_are_too_noisy_to_call(small):
    found = aqmlab.compare(small, aqm=["red", "mred"], seeds=2, workers=2, progress=False)
    assert "undecided" in set(found.differences["verdict"])
    assert not set(found.differences["verdict"]) - {"higher", "lower", "equal", "undecided"}


def test_a_single_seed_has_no_interval_and_no_verdict(small):
    found = aqmlab.compare(small, aqm=["red", "mred"], seeds=1, workers=1, progress=False)
    differ = found.differences[found.differences["difference"] != 0]
    assert set(differ["verdict"]) == {"undecided"}
    assert found.differences["low"].isna().all()
    assert found.pairing_lines() == []


def test_a_screen_is_corrected_over_the_whole_table(found):
    assert found.differences["p_fdr"].to_list() == pytest.approx(
        benjamini_hochberg(list(found.differences["p"])), nan_ok=True
    )
