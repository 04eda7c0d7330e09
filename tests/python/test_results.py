"""Results: the same bytes from the same seed, resumable, and nothing of the machine in them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.results import folders
from aqmlab.results.result import Result, _Columns
from conftest import contents


def test_same_bytes_run_twice_and_from_one_and_two_workers(small, tmp_path):
    for out, workers in (("a", 1), ("b", 1), ("c", 2)):
        aqmlab.run(small, out=tmp_path / out, workers=workers, progress=False)
    first = contents(tmp_path / "a")
    assert len(first) > 9
    assert contents(tmp_path / "b") == first
    assert contents(tmp_path / "c") == first


def test_memory_and_disk_agree(small, tmp_path):
    on_disk = aqmlab.run(small, out=tmp_path / "out", workers=1, progress=False)
    in_memory = aqmlab.run(small, workers=2, progress=False)
    for name, table in on_disk.tables.items():
        assert table.equals(in_memory.tables[name]), name
    assert on_disk.seeds == in_memory.seeds == [1, 2, 3]


def test_tables_have_the_seed(small):
    result = aqmlab.run(small, seeds=[4, 2], workers=1, progress=False)
    assert result.seeds == [2, 4]
    for table in result.tables.values():
        assert set(table["seed"]) == {2, 4}
    assert list(result.metrics()["seed"]) == [2, 4]


def test_seeds_differ_and_the_same_seed_does_not(small):
    three = aqmlab.run(small, seeds=3, workers=1, progress=False).metrics().set_index("seed")
    again = aqmlab.run(small, seeds=[2], workers=1, progress=False).metrics().set_index("seed")
    assert three["mean_queue"].nunique() == 3
    assert (again.loc[2] == three.loc[2]).all()


def test_a_run_that_is_there_is_not_run_again(small, tmp_path, monkeypatch):
    aqmlab.run(small, seeds=2, out=tmp_path, workers=1, progress=False)
    ran = []
    monkeypatch.setattr("aqmlab.runs.jobs.Job.compute", lambda job, progress: ran.append(job.key.seed))
    monkeypatch.setattr("aqmlab.runs.jobs.Job.keep", lambda job, result: None)
    aqmlab.run(small, seeds=2, out=tmp_path, workers=1, progress=False)
    assert ran == []
    with pytest.raises(aqmlab.StorageError):
        aqmlab.run(small, seeds=4, out=tmp_path, workers=1, progress=False)
    assert ran == [3, 4]


def test_another_version_or_damage_is_run_again(small, tmp_path):
    result = aqmlab.run(small, seeds=2, out=tmp_path, workers=1, progress=False)
    before = contents(tmp_path)
    summary = folders.seed_folder(result.folder, 1) / "summary.json"
    data = json.loads(summary.read_text())
    data["version"] = "0.0.1"
    summary.write_text(json.dumps(data))
    (folders.seed_folder(result.folder, 2) / "summary.json").write_text("{")
    aqmlab.run(small, seeds=2, out=tmp_path, workers=1, progress=False)
    assert contents(tmp_path) == before


def test_overrides_make_another_folder(small, tmp_path):
    aqmlab.run(small, seeds=1, out=tmp_path, workers=1, progress=False)
    aqmlab.run(small, seeds=1, out=tmp_path, overrides={"run.duration": "2s"}, workers=1, progress=False)
    folders = [p.name for p in tmp_path.iterdir() if p.is_dir()]
    assert len(folders) == 2
    assert all(name.startswith("small-") and len(name) == len("small-") + 8 for name in folders)


def test_provenance_is_in_the_summary_and_the_machine_is_not(small, tmp_path):
    result = aqmlab.run(small, seeds=1, out=tmp_path / "here", workers=1, progress=False)
    summary = folders.read_summary(folders.seed_folder(result.folder, 1))
    assert summary["version"] == aqmlab.__version__
    assert summary["scenario"] == {"name": "small", "hash": result.hash}
    assert summary["seed"] == 1
    assert summary["readings"]["bottleneck"]["aqm"] == "red"
    host = socket.gethostname()
    for name, data in contents(tmp_path / "here").items():
        assert str(tmp_path).encode() not in data, name
        assert len(host) < 4 or host.encode() not in data, name
    assert "seeds 1" in (result.folder / "log.txt").read_text()


def test_summary_of_metrics(small):
    result = aqmlab.run(small, workers=1, progress=False)
    table = result.summary().set_index("metric")
    row = result.links[result.links["link"] == "bottleneck"]
    losses = row["drops"] / row["arrivals"]
    assert table.loc["loss", "mean"] == pytest.approx(losses.mean())
    assert table.loc["throughput_mbps", "mean"] == pytest.approx(row["throughput_bps"].mean() / 1e6)
    assert table.loc["loss", "n"] == 3
    low, high = table.loc["loss", ["low", "high"]]
    assert low < table.loc["loss", "mean"] < high


def test_conservation_in_the_tables(small):
    links = aqmlab.run(small, workers=1, progress=False).links
    left = links["arrivals"].astype(int) - links["departures"].astype(int) - links["drops"].astype(int)
    waiting = links["packets_at_end"].astype(int)
    assert (np.abs(left - waiting) <= 1).all()


def test_missing_records_are_reported(small):
    result = aqmlab.run(small, seeds=1, workers=1, progress=False)
    with pytest.raises(aqmlab.InputError, match=r"small: events was not recorded; set probe\.events"):
        _ = result.events


def test_load_reads_the_results_of_a_run(small, tmp_path):
    result = aqmlab.run(small, out=tmp_path, workers=1, progress=False)
    loaded = Result.load(result.folder)
    assert loaded.seeds == result.seeds
    assert loaded.links.equals(result.links)


def test_delay_quantiles_lie_in_order(small):
    table = aqmlab.run(small, workers=1, progress=False).metrics()
    assert (table["delay_p95_ms"] <= table["delay_p99_ms"]).all()
    assert (table["mean_delay_ms"] <= table["delay_p99_ms"]).all()


@pytest.mark.slow
def test_a_script_needs_no_guard(shell):
    """Worker processes do not run the caller's script again, not even one from standard input."""
    script = "import aqmlab\nprint(len(aqmlab.run('small.toml', seeds=2, workers=2).links))\n"
    done = subprocess.run(
        [sys.executable],
        input=script,
        cwd=shell.folder,
        env=shell.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 0


def test_columns_for_the_core_have_each_word_once():
    rows = pd.DataFrame({"link": ["b", "a", "b"], "drops": [1, 2, 3], "reason": ["early", None, "late"]})
    columns = _Columns(rows)
    assert columns["link"] == (["b", "a"], np.array([0, 1, 0], "<u4").tobytes())
    assert columns["drops"].tolist() == [1, 2, 3]
    assert columns["reason"].isna().tolist() == [False, True, False], "as they are: a word is missing"
    assert columns["link"] is columns["link"]
    assert ("drops" in columns, "marks" in columns) == (True, False)
