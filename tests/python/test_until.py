"""Runs until an interval is narrow enough: when they stop, their coverage, and errors."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aqmlab
from aqmlab.cli import main
from aqmlab.results.quantities import interval_of
from aqmlab.runs.comparison import Comparison
from aqmlab.runs.until import metric_named
from aqmlab.statistics import interval, mean_interval
from aqmlab.statistics.sequential import Goal, goals_of, run_until, spent

pytestmark = pytest.mark.slow

ONE = goals_of("ci=2%")


def simulated(values, goals=ONE, **numbers):
    """The rule on numbers that are there already."""
    asked = []

    def more(seeds):
        asked.append(list(seeds))
        return values[: seeds[-1]]

    def widths(found):
        made, _ = mean_interval(found, level=spent(0.95))
        return {goal.text: goal.width(made, made.mean) for goal in goals}

    found, stopping = run_until(goals, more, widths, **numbers)
    return found, stopping, asked


def test_looks_come_after_20_30_45_runs_and_ask_for_new_seeds_only():
    values = np.random.default_rng(1).normal(1.0, 0.08, 1000)
    found, stopping, asked = simulated(values)
    assert [look.runs for look in stopping.looks][:4] == [20, 30, 45, 68]
    assert sorted(seed for some in asked for seed in some) == list(range(1, len(found) + 1))
    assert stopping.reached
    assert interval(found, level=0.96).half_width <= 0.02 * found.mean()


def test_an_interval_that_a_limit_clips_is_as_wide_as_its_longer_side():
    values = [9.5, 9.9, 10.0, 9.8, 10.0, 9.9]
    whole, clipped = (interval_of("throughput_mbps", values, limits=own)[0] for own in ({}, {"rate": 10.0}))
    assert clipped.high == 10.0 < whole.high
    goal = Goal.parse("ci(throughput)=0.1")
    assert goal.width(whole, whole.mean) == whole.half_width
    assert goal.width(clipped, clipped.mean) == clipped.mean - clipped.low > clipped.half_width
    assert Goal.parse("ci(throughput)=1%").width(clipped, 10.0) == (clipped.mean - clipped.low) / 10.0
    loose = interval_of("throughput_mbps", values, limits={"rate": 99.0})[0]
    assert goal.width(loose, loose.mean) == whole.half_width


def test_it_ends_at_the_limit_as_undecided():
    values = np.random.default_rng(2).normal(1.0, 1.0, 100)
    _, stopping, _ = simulated(values, most=50)
    assert (stopping.runs, stopping.reached) == (50, False)
    assert "undecided: not reached after 50 runs" in stopping.lines()[0]
    assert stopping.data()["reached"] is False


def test_runs_that_do_not_vary_end_at_the_first_look():
    _, stopping, _ = simulated(np.zeros(100))
    assert (stopping.runs, stopping.reached) == (20, True)


def test_a_mean_of_zero_has_no_relative_width():
    assert math.isnan(Goal.parse("ci=1%").width(interval([1.0, -1.0]), 0.0))
    _, stopping, _ = simulated(np.resize([1.0, -1.0], 100), most=30)
    assert not stopping.reached


def test_absolute_and_relative_goals():
    assert Goal.parse("ci(mean_delay_ms)=0.5") == Goal("mean_delay_ms", 0.5, False)
    assert Goal.parse("ci=2%").width(replace(interval([0, 1]), low=-51.0, high=-49.0), -50.0) == 0.02
    assert [goal.text for goal in goals_of(["ci(a)=1%,ci(b)=2", "ci(a) = 1%"])] == ["ci(a)=1%", "ci(b)=2"]


@pytest.mark.parametrize(
    "text", ["", "ci", "ci=0%", "ci=-1%", "ci=nan%", "ci(loss)=", "ci=1e999", "sd=1%", "ci=1%%", "ci=1.2.3"]
)
def test_an_invalid_goal_is_reported(text):
    with pytest.raises(aqmlab.InputError, match=r"write ci\(METRIC\)=W%"):
        goals_of(text)


@given(st.floats(1e-6, 1e6), st.booleans())
def test_a_goal_is_read_back(target, relative):
    goal = Goal.parse(f"ci(loss)={target:g}{'%' if relative else ''}")
    assert Goal.parse(goal.text).target == pytest.approx(goal.target, rel=1e-5)


@pytest.mark.parametrize("need", [10, 40])
def test_coverage_after_stopping(need):
    """Of 800 intervals that ended their runs 93 to 97 % hold the true mean; about `need` runs reach 2 %."""
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(800):
        values = rng.normal(1.0, 0.02 * math.sqrt(need) / 1.96, 8 * need + 50)
        found, stopping, _ = simulated(values, most=len(values))
        made, _ = mean_interval(found, level=spent(0.95))
        held += stopping.reached and made.low <= 1.0 <= made.high
    assert 0.93 <= held / 800 <= 0.975


def test_names_of_metrics():
    assert metric_named("throughput") == "throughput_mbps"
    with pytest.raises(aqmlab.InputError, match="may be mean_delay_ms, delay_median_ms, delay_p95_ms, delay_p99_ms"):
        metric_named("delay")
    with pytest.raises(aqmlab.InputError, match="may be loss, outage_losses, channel_losses, channel_loss_rate"):
        metric_named("los")
    with pytest.raises(aqmlab.InputError, match=r'unknown metric "lss".*did you mean loss'):
        metric_named("lss")


def test_run_until(small, tmp_path):
    result = aqmlab.run(
        small, until="ci(throughput)=1%", out=tmp_path, overrides={"run.duration": "1s"}, progress=False
    )
    assert result.stopping.reached
    assert result.seeds == list(range(1, result.stopping.runs + 1))
    row = result.summary().set_index("metric").loc["throughput_mbps"]
    assert (row["high"] - row["low"]) / 2 <= 0.01 * row["mean"]
    assert len(result.evaluation.runs) == len(result.seeds)
    again = aqmlab.run(small, until="ci(throughput)=1%", out=tmp_path, overrides={"run.duration": "1s"}, progress=False)
    assert again.evaluation.runs == ()
    assert again.summary().equals(result.summary())


def test_run_until_in_memory_is_the_same_as_on_disk(small, tmp_path):
    goal = {"until": "ci(loss)=0.01%", "max_runs": 31, "overrides": {"run.duration": "1s"}, "progress": False}
    there, here = aqmlab.run(small, out=tmp_path, **goal), aqmlab.run(small, **goal)
    assert here.seeds == list(range(1, 32))
    assert not here.stopping.reached
    assert here.summary().equals(there.summary())
    for name, table in here.tables.items():
        assert table.equals(there.tables[name]), name


def test_compare_until_is_about_the_difference(small, tmp_path):
    found = aqmlab.compare(
        small,
        aqm=["red", "mred"],
        until="ci(throughput)=5%",
        out=tmp_path,
        overrides={"run.duration": "1s"},
        progress=False,
    )
    assert found.stopping.reached
    row = found.differences.set_index("metric").loc["throughput_mbps"]
    base = found.means.set_index(["aqm", "metric"]).loc[("red", "throughput_mbps"), "mean"]
    assert (row["high"] - row["low"]) / 2 <= 0.05 * base
    loaded = Comparison.load(found.folder)
    assert loaded.differences.equals(found.differences)
    assert loaded.seeds == found.seeds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"until": "ci=1%", "seeds": 5}, "5 runs before the first look are too few"),
        ({"until": "ci=1%", "seeds": [1, 2]}, "not a list"),
        ({"until": "ci=1%", "max_runs": 10}, "at most 10 runs is below the 20"),
        ({"until": "ci=1%", "max_runs": 10**9}, "are too many"),
        ({"until": "ci(goodputt)=1%"}, "unknown metric"),
        ({"until": "ci(delay_p99)=1%"}, r"these runs have no delay_p99_ms \(they have throughput_mbps"),
    ],
)
def test_bad_input_is_an_error_of_one_line(small, options, message):
    overrides = {"run.duration": "100ms", "probe.delay_histogram": False}
    with pytest.raises(aqmlab.InputError, match=message):
        aqmlab.run(small, progress=False, overrides=overrides, **options)


def test_command_line(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    short = ("--set", "run.duration=500ms", "--max-runs", "20")
    assert main(["run", "small.toml", *short, "--until", "ci=1%", "--json"]) == 0
    stopping = json.loads(capsys.readouterr().out)["stopping"]
    assert (stopping["goals"], stopping["runs"], stopping["interval_level"]) == (["ci=1%"], 20, pytest.approx(0.96))
    assert main(["compare", "small.toml", *short, "--aqm", "red,mred", "--until", "ci(loss)=0.01%"]) == 0
    said = capsys.readouterr().out
    assert "ci(loss)=0.01%: undecided: not reached after 20 runs" in said
    assert "the 96 % interval. No ±: equal in all runs. --details" in said.replace("\n", " ")
    assert main(["run", "small.toml", "--max-runs", "5"]) == 2
    assert capsys.readouterr().err == "aqmlab: --max-runs: is for --until, which is not given\n"
