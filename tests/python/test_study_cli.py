"""The commands ``sweep`` and ``results``: what they print, and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.cli.sweeps import print_study
from aqmlab.runs.sweeps.sweep import Study

MAX_P = "queue.bottleneck.max_p"
FLOWS = "flow.tcp.count"


@pytest.fixture
def command(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def run(*words):
        assert main(words) == 0
        return capsys.readouterr().out

    run(
        "sweep",
        "small.toml",
        "--grid",
        f"{MAX_P}=0.05:0.2:2",
        "--zip",
        f"{FLOWS}=2,3",
        "--zip",
        "probe.queue_interval=1s,2s",
    )
    return run


def test_sweep_as_json(command):
    words = ("sweep", "small.toml", "--range", f"{MAX_P}=0.1:0.3", "--random", "2", "--seeds", "2", "--name", "drawn")
    found = json.loads(command(*words, "--json"))
    assert found["study"]["name"] == "drawn"
    assert (found["keys"], found["seeds"], found["evaluation"]["runs"]) == ([MAX_P], [1, 2], 4)
    assert [point["n"] for point in found["points"]] == [2, 2]
    assert found["points"][0]["loss_low"] < found["points"][0]["loss"] < found["points"][0]["loss_high"]
    assert found["simulation_cpu_s"] > 0
    assert "Nothing was run" in command(*words)


def test_points_are_printed_with_their_intervals(command):
    out = command("results", "show", "results", "small")
    assert "4 points, 12 runs, 95 % intervals" in out
    lines = out.splitlines()
    rule = next(number for number, line in enumerate(lines) if line.startswith("─"))
    assert lines[rule + 2].count("±") + lines[rule + 2].count("+") >= 4, lines[rule + 2]
    assert "not shown" not in out
    assert "All points, with the ends of all intervals:\n    aqmlab results export results" in out


def _study(points, seeds, losses):
    table = {"point": np.repeat(np.arange(points), seeds), "queue.q.max_p": np.repeat(np.arange(points), seeds) / 10}
    runs = pd.DataFrame({**table, "seed": list(range(1, seeds + 1)) * points, "loss": losses, "run": "r"})
    keys = ("queue.q.max_p",)
    return Study("many", "0123456789", "1", keys, {keys[0]: ""}, tuple(range(1, seeds + 1)), runs, (), Path("store"))


def test_points_beyond_the_shown_ones_are_counted_with_the_command_that_gives_them(capsys):
    print_study(_study(84, 2, np.tile([0.01, 0.03], 84)))
    out = capsys.readouterr().out
    assert out.startswith("Over 84 points of max_p, with 95 % intervals: loss 2.00 +13 −2 % everywhere.\n")
    assert "--details prints intervals and more points." in out
    assert (
        "72 points are not shown. All points, with the ends of all intervals:\n    aqmlab results export store 01234567"
        in out
    )


@pytest.mark.parametrize(
    ("losses", "said"),
    [
        ([0.01, 0.03, 0.02, 0.05], "loss 2.00 +13 −2 at 0 to 3.50 +19 −4 % at 0.1 (their intervals overlap)."),
        ([0.01, 0.0104, 0.05, 0.0502], "loss 1.02 ± 0.3 at 0 to 5.01 ± 0.13 % at 0.1."),
    ],
)
def test_the_sentence_of_a_sweep_has_the_intervals_of_its_ends(losses, said):
    from aqmlab.runs.sweeps.sweep_matrix import answer_of_points, matrix_of_points

    study = _study(2, 2, losses)
    assert answer_of_points(study, matrix_of_points(study)).endswith(said)


def test_a_sweep_without_randomness_says_so(capsys):
    print_study(_study(2, 4, [0.01] * 4 + [0.02] * 4))
    out, err = capsys.readouterr()
    assert "2 points, 8 runs, equal runs have no interval" in out
    assert "±" not in out
    assert "one distinct run: nothing in this scenario is random" in err


def test_results_ls_and_show(command):
    listed = json.loads(command("results", "ls", "results", "--json"))
    assert (listed["runs"], listed["blocks"]) == (12, 1)
    assert [(study["name"], study["points"], study["runs"]) for study in listed["studies"]] == [("small", 4, 12)]
    assert "12 of 12" in command("results", "ls", "results")
    shown = json.loads(command("results", "show", "results", "--json"))
    assert len(shown["runs"]) == 12
    run = shown["runs"][5]
    one = json.loads(command("results", "show", "results", run["run"][:10], "--json"))
    assert (one["run"], one["seed"], one["metrics"]["loss"]) == (run["run"], run["seed"], run["loss"])
    assert "max_p = 0.05" in command("results", "show", "results", run["run"])


@pytest.mark.slow
def test_results_export(command, tmp_path):
    study = aqmlab.Study.load("results")
    for name in ("runs.csv", "runs.parquet"):
        command("results", "export", "results", "--out", name)
    pd.testing.assert_frame_equal(pd.read_csv("runs.csv"), study.runs, check_exact=True, check_dtype=False)
    pd.testing.assert_frame_equal(pd.read_parquet("runs.parquet"), study.runs, check_dtype=False)
    command("results", "export", "results", "small", "--table", "points", "--out", "points.csv")
    assert list(pd.read_csv("points.csv").columns) == list(study.points().columns)
    command("results", "export", "results", "--table", "links", "--out", "links.csv")
    links = pd.read_csv("links.csv")
    assert list(links.columns[:5]) == ["point", MAX_P, FLOWS, "probe.queue_interval", "seed"]
    own = study.result(3).links
    theirs = links[links["point"] == 3]
    assert list(theirs["drops"]) == list(own["drops"])
    command("results", "export", "results", study.runs["run"][0], "--table", "flows", "--out", "flows.csv")
    assert len(pd.read_csv("flows.csv")) == 2


@pytest.mark.slow
def test_results_query(command):
    pytest.importorskip("duckdb")
    asked = "SELECT key, count(DISTINCT run) AS n FROM points JOIN runs USING (scenario) GROUP BY key ORDER BY key"
    assert json.loads(command("results", "query", "results", asked, "--json")) == [
        {"key": key, "n": 12} for key in sorted([MAX_P, FLOWS, "probe.queue_interval"])
    ]


@pytest.mark.usefixtures("no_pictures")
def test_a_sweep_without_keys_is_one_point(command):
    out = command("sweep", "small.toml", "--seeds", "2", "--name", "single", "--report", "page.html")
    assert out.startswith("Over 1 point, where nothing varies, with 95 % intervals: mean queue ")
    assert "everywhere" not in out
    page = Path("page.html").read_text()
    assert "1 point: means" in page
    assert " varied: single" not in page
    assert "1 point: nothing varies" in " ".join(command("results", "ls", "results").split())


def test_the_name_of_a_page_is_checked_before_the_runs(command, capsys):
    assert main(["sweep", "small.toml", "--name", "late", "--out", "other", "--report", "page.txt"]) == 2
    assert capsys.readouterr().err == "aqmlab: page.txt: a page ends in .html\n"
    assert not Path("other").exists()


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize("name", ["page.HTML", "page.htm"])
def test_a_page_may_have_each_ending_of_html(command, name):
    command("sweep", "small.toml", "--seeds", "2", "--report", name)
    assert "<html" in Path(name).read_text()


def test_results_gc(command):
    nothing = json.loads(command("results", "gc", "results", "--dry-run", "--json"))
    assert (nothing["runs"], nothing["unwanted"]) == (0, [])
    assert "12 runs, 1 sweep, " in command("results", "gc", "results", "--forget", "small")
    assert json.loads(command("results", "ls", "results", "--json"))["runs"] == 0


def test_an_export_replaces_a_file_only_with_force(tmp_path, capsys):
    path = tmp_path / "runs.csv"
    path.write_text("mine")
    words = ["results", "export", str(tmp_path), "--out", str(path)]
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said == f"aqmlab: {path}: is there already (another name: --out FILE; --force replaces it)\n"
    assert path.read_text() == "mine"
    assert main([*words, "--force"]) == 2
    assert "is there already" not in capsys.readouterr().err
