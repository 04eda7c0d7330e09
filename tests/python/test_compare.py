"""Comparisons: the same seeds on each side, differences taken seed by seed."""

from __future__ import annotations

import numpy as np
import pytest

import aqmlab
from aqmlab.comparison import Comparison
from aqmlab.statistics import paired


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


def test_what_a_discipline_does_not_know_is_said(found):
    assert found.notes[0].startswith("drop-tail: without ")
    assert "min_th" in found.notes[0]


def test_what_differs_is_said(found):
    assert found.notes[1:] == [
        "red -> mred: curve linear -> mred",
        "red -> drop-tail: no common parameter differs",
    ]


def test_a_comparison_is_read_back(found):
    loaded = Comparison.load(found.folder)
    assert loaded.means.equals(found.means)
    assert loaded.differences.equals(found.differences)


def test_a_discipline_against_itself_differs_by_nothing(small):
    from aqmlab.comparison import differences_table

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
