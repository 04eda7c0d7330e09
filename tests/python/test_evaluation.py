"""The engine of a run: how it is chosen, forced and reported; it does not change result files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import aqmlab
from aqmlab.results.evaluation import ENGINES, Evaluated, Evaluation
from aqmlab.runs.executors import available_cores
from aqmlab.runs.jobs import jobs_for
from aqmlab.runs.scheduler import execute
from aqmlab.scenario.file import Scenario
from conftest import contents

pytestmark = pytest.mark.slow

NO_DELAY = """\
format = 1
name = "no-delay"

[run]
duration = "200ms"
seeds = 3

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "0s" }
left = { rate = "100Mbps", delay = "0s" }
right = { rate = "100Mbps", delay = "0s" }

[[flow]]
name = "there"

[[flow]]
name = "back"
from = "right"
"""


@pytest.fixture
def circle(shell):
    """A scenario without delay, which has no windows."""
    (shell.folder / "no-delay.toml").write_text(NO_DELAY)
    return "no-delay.toml"


def test_result_files_are_the_same_whatever_the_engine(small, tmp_path):
    for engine in ENGINES:
        result = aqmlab.run(small, out=tmp_path / engine, workers=1, progress=False, engine=engine)
        why = "the event queue was asked for" if engine == "events" else ""
        assert result.evaluation.engines.keys() == {("windows" if engine == "auto" else engine, why)}
    first = contents(tmp_path / "auto")
    assert len(first) > 9
    assert all(contents(tmp_path / engine) == first for engine in ENGINES)


@pytest.mark.skipif(available_cores() < 2, reason="a run on two threads needs two cores")
def test_a_single_large_run_takes_two_cores(tmp_path):
    scenario = Path(__file__).parents[2] / "benches" / "scenarios" / "kernel.toml"

    def engines(*seeds, **how):
        own = {"seeds": seeds, "overrides": {"run.duration": "6s"}, "out": tmp_path / str(how or seeds)}
        found = aqmlab.run(scenario, progress=False, **own, **how)
        return {engine for engine, _ in found.evaluation.engines}

    assert engines(1) == {"parallel"}
    assert engines(1, workers=1) == engines(1, 2) == engines(1, engine="windows") == {"windows"}
    alone, beside = (next((tmp_path / name).rglob("seed-0001")) for name in ("(1,)", "(1, 2)"))
    assert contents(alone) == contents(beside)


def test_a_run_reports_its_engine_speed_and_memory(shell, circle):
    lines = shell("run", "small.toml", "--seeds", "2", "--details").out.splitlines()
    assert lines[-3] == "Event engine: windows"
    assert re.fullmatch(
        r"2 runs in \d+\.\d\d s: [\d,]+ packet-hops, \d+\.\d million a second; peak memory \d+ MB", lines[-2]
    )
    assert "Nothing was run: all results were there." in shell("run", "small.toml", "--seeds", "2").out
    assert "Event engine: events, since a cycle of stations has" in shell("run", circle, "--details").out


def test_the_same_for_programs(shell):
    words = ["small.toml", "--seeds", "2", "--engine", "events", "--json"]
    for command in (["run"], ["compare", "--aqm", "red,mred"], ["analyze"]):
        found = json.loads(shell(*command, *words, "--out", command[0]).out)["evaluation"]
        assert found["engines"][0]["engine"] == "events"
        assert found["packet_hops"] > 1000
        assert found["peak_memory_bytes"] > 1e6
    again = json.loads(shell("run", *words, "--out", "run").out)["evaluation"]
    assert (again["runs"], again["engines"], again["packet_hops"]) == (0, [], 0)


@pytest.mark.parametrize(("engine", "how"), [("windows", "in windows"), ("parallel", "in parallel")])
def test_an_engine_that_cannot_be_forced_is_an_error(shell, circle, engine, how):
    answer = shell("run", circle, "--engine", engine, "--out", "o")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"aqmlab: no-delay.toml: cannot be evaluated {how}, since a cycle of stations has")
    assert answer.err.count("\n") == 1
    assert not list((shell.folder / "o").rglob("*.parquet"))


@pytest.mark.parametrize(
    "command",
    [
        ["run", "small.toml"],
        ["compare", "small.toml", "--aqm", "red,mred"],
        ["analyze", "small.toml"],
        ["reproduce", "mred", "--quick"],
        ["reproduce", "all"],
    ],
)
def test_a_wrong_word_gets_one_line(shell, command):
    answer = shell(*command, "--engine", "window", "--out", "o")
    line = 'aqmlab: unknown engine "window" (allowed: auto, events, parallel, windows; did you mean windows?)\n'
    assert (answer.code, answer.out, answer.err) == (2, "", line)
    assert not list(shell.folder.rglob("seed-*"))


def test_every_engine_and_reason_is_counted():
    windows, events = Evaluated("windows", "", 5, 10), Evaluated("events", "of this", 5, 20)
    lines = Evaluation((events, windows, windows), 1.0).lines()
    assert lines[0] == "Event engine: windows (2 runs); events (1 run), since of this"
    assert "15 packet-hops" in lines[1]


def test_a_run_in_memory_has_its_evaluation(small):
    plan = Scenario.load(small)
    (output,) = execute(jobs_for(plan, [1], folder=None, engine="events"), progress=False)
    assert output.tables
    assert output.evaluated.engine == "events"
    assert output.evaluated.packet_hops == output.summary["summary"]["packet_hops"]
    assert not {"engine", "why_events", "events"} & set(output.summary["summary"])


def test_runs_on_two_cores_are_as_many_at_a_time_as_there_are_pairs_of_cores(small):
    plan = Scenario.load(small)
    one, two = (next(iter(jobs_for(plan, [1], folder=None, engine=engine))) for engine in ("auto", "parallel"))
    assert (one.cores, two.cores) == (1, 2)
    assert len(execute([two, two, one], progress=False)) == 3
