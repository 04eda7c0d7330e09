"""Sweeps: which points there are, what comes out, and that nothing is done twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.sweeps.design import Design, axis_of, range_of
from aqmlab.statistics import interval
from store_snapshot import snapshot

MAX_P = "queue.bottleneck.max_p"
FLOWS = "flow.tcp.count"
GRID = {MAX_P: "0.05:0.2:2", FLOWS: [2, 3]}


def sweep(small, out, **options):
    return aqmlab.sweep(small, **{"grid": GRID, "out": out, "workers": 1, "progress": False, **options})


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1:4:4", ["1", "2", "3", "4"]),
        ("10ms:20ms:3", ["10ms", "15ms", "20ms"]),
        ("0.1:0.3:3", ["0.1", "0.2", "0.3"]),
        ("1p:100p:3:log", ["1p", "10p", "100p"]),
        ("5:9:1", ["5"]),
        ("red,mred", ["red", "mred"]),
        ("{ uniform = ['0s', '1s'] },2s", ["{ uniform = ['0s', '1s'] }", "2s"]),
    ],
)
def test_axes(text, values):
    assert list(axis_of("k", text, "--grid").values) == values


def test_designs_combine():
    design = Design(
        grid=(axis_of("a", "1,2", ""),),
        zipped=(axis_of("b", "x,y", ""), axis_of("c", "10,20", "")),
    )
    assert design.keys == ("a", "b", "c")
    assert design.points() == [("1", "x", "10"), ("1", "y", "20"), ("2", "x", "10"), ("2", "y", "20")]
    assert design.shape == ()


@pytest.mark.parametrize("method", ["random", "sobol"])
def test_more_draws_keep_those_that_there_are(method):
    ranges = (range_of("a", "0:1.0", ""), range_of("b", "10:20", ""), range_of("c", "1ms:100ms:log", ""))
    few, many = (Design(ranges=ranges, method=method, draws=n).points() for n in (5, 64))
    assert many[:5] == few
    a, b, c = zip(*many, strict=True)
    assert set(b) <= {str(n) for n in range(10, 21)}
    assert 0.4 < np.mean([float(x) for x in a]) < 0.6
    assert 8 < np.median([float(x.removesuffix("ms")) for x in c]) < 13
    assert Design(ranges=ranges, method=method, draws=5, draw_seed=2).points() != few


def test_a_sweep_equals_single_runs(small, tmp_path):
    study = sweep(small, tmp_path / "store", seeds=2)
    assert len(study.runs) == 8
    assert list(study.runs[MAX_P]) == [0.05] * 4 + [0.2] * 4
    alone = aqmlab.run(small, seeds=2, overrides={MAX_P: "0.2", FLOWS: 2}, workers=1, progress=False)
    metrics, own = alone.metrics(), study.runs[study.runs["point"] == 2]
    assert list(metrics.columns) == ["seed", *study.metrics]
    for key in study.metrics:
        assert own[key].to_list() == metrics[key].to_list(), key
    kept = study.result(2)
    assert kept.seeds == [1, 2]
    for name, table in alone.tables.items():
        assert kept.tables[name].equals(table), name
    assert [s["readings"] for s in kept.summaries] == [s["readings"] for s in alone.summaries]


def test_tables_of_runs_and_points(small, tmp_path):
    study = sweep(small, tmp_path / "store")
    points = study.points()
    assert list(points.columns[:4]) == ["point", MAX_P, FLOWS, "n"]
    assert list(points["n"]) == [3] * 4
    group = study.runs[study.runs["point"] == 1]
    found = interval(group["loss"].to_numpy())
    assert tuple(points.loc[1, ["loss", "loss_low", "loss_high"]]) == (found.mean, found.low, found.high)
    assert study.to_pandas().loc[(0.2, 3, 2), "loss"] == study.runs["loss"].iloc[10]


@pytest.mark.slow
def test_disciplines_are_exchanged_as_by_compare(small, tmp_path):
    study = aqmlab.sweep(small, grid={"aqm": ["red", "codel"], "flow.tcp.count": [1, 3]}, seeds=1, out=tmp_path / "own")
    assert study.keys == ("queue.bottleneck.aqm", "flow.tcp.count")
    assert [one for one in study.warnings if "codel: without " in one and "which it does not know" in one]
    compared = aqmlab.compare(small, aqm=["red", "codel"], seeds=1, out=tmp_path / "compared", progress=False)
    same = study.runs[study.runs["flow.tcp.count"] == 3]
    for label in ("red", "codel"):
        (loss,) = same.loc[same["queue.bottleneck.aqm"] == label, "loss"]
        assert loss == compared.results[label].metrics()["loss"].iloc[0], label


def test_xarray_has_the_swept_keys_as_coordinates(small, tmp_path):
    pytest.importorskip("xarray")
    grid = sweep(small, tmp_path / "store", grid={"queue.bottleneck.max_th": "12p:15p:2", FLOWS: [2, 3]}).to_xarray()
    assert dict(grid.sizes) == {"queue.bottleneck.max_th": 2, FLOWS: 2, "seed": 3}
    assert grid["queue.bottleneck.max_th"].attrs["units"] == "p"
    assert grid["loss"].sel({"queue.bottleneck.max_th": 12, FLOWS: 3, "seed": 2}).size == 1
    drawn = sweep(small, tmp_path / "store", grid=None, ranges={MAX_P: "0.05:0.2"}, sobol=2, seeds=2).to_xarray()
    assert dict(drawn.sizes) == {"point": 2, "seed": 2}
    assert drawn[MAX_P].dims == ("point",)


def test_only_missing_runs_are_made(small, tmp_path):
    first = sweep(small, tmp_path, seeds=2)
    assert len(first.evaluation.runs) == 8
    assert sweep(small, tmp_path, seeds=2).evaluation.runs == ()
    more = sweep(small, tmp_path, seeds=3)
    assert (len(more.runs), len(more.evaluation.runs)) == (12, 4)


def test_studies_share_runs(small, tmp_path):
    sweep(small, tmp_path, grid={MAX_P: [0.1, 0.2]}, name="one")
    other = sweep(small, tmp_path, grid={MAX_P: [0.2, 0.3]}, name="other")
    assert len(other.evaluation.runs) == 3
    with ResultStore(tmp_path) as store:
        assert [study.name for study in store.studies()] == ["one", "other"]
        assert store.index.rows("SELECT count(*) FROM runs") == [(9,)]


def test_points_that_mean_the_same_are_run_once(small, tmp_path):
    study = sweep(small, tmp_path, grid=None, zipped={MAX_P: ["0.1", "0.10"]}, seeds=2)
    assert (len(study.runs), len(study.evaluation.runs)) == (4, 2)


def test_workers_and_order_leave_the_same_store(small, tmp_path):
    for name, workers in (("one", 1), ("two", 2)):
        sweep(small, tmp_path / name, workers=workers, seeds=12)
    one, two = (snapshot(tmp_path / name) for name in ("one", "two"))
    assert len(one.rows["runs"]) == 48
    assert one == two


def test_study_file_is_the_same_as_options(small, tmp_path):
    (small.parent / "study.toml").write_text(f"""\
study = 1
name = "thresholds"
scenario = "{small.name}"
seeds = [1, 4]

[set]
"run.duration" = "2s"

[grid]
"{MAX_P}" = "0.05:0.2:2"
"{FLOWS}" = [2, 3]

[range]
"queue.bottleneck.w_q" = "0.001:0.1:log"

[draw]
random = 2
seed = 5
""")
    read = aqmlab.sweep(small.parent / "study.toml", out=tmp_path / "a", workers=1, progress=False)
    said = sweep(
        small,
        tmp_path / "b",
        overrides={"run.duration": "2s"},
        ranges={"queue.bottleneck.w_q": "0.001:0.1:log"},
        random=2,
        draw_seed=5,
        seeds=[1, 4],
        name="thresholds",
    )
    assert (read.hash, len(read.runs)) == (said.hash, 16)
    assert snapshot(tmp_path / "a") == snapshot(tmp_path / "b")
    loaded = aqmlab.Study.load(tmp_path / "a")
    assert loaded.runs.equals(read.runs)


def test_example(tmp_path):
    path = Path(__file__).parents[2] / "examples" / "studies" / "thresholds.toml"
    short = {"run.duration": "2s", "run.warmup": "0s"}
    study = aqmlab.sweep(path, overrides=short, seeds=1, sobol=1, out=tmp_path, workers=1, progress=False)
    assert study.runs[["flow.tcp.count", "queue.bottleneck.min_th"]].drop_duplicates().shape == (12, 2)
    assert study.units["queue.bottleneck.max_th"] == "p"
