"""Scenarios in other programs: measurements, reports, and when two programs agree."""

from __future__ import annotations

import inspect
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import InputError, Interrupted
from aqmlab.interop.crosscheck import tools
from aqmlab.interop.crosscheck.agreement import Agreement, agreement
from aqmlab.interop.crosscheck.checking import cross_check, export_scenario
from aqmlab.interop.crosscheck.running import run_seeds
from aqmlab.interop.crosscheck.tool import Measure, ToolError, end_programs, read_measured, run_program
from aqmlab.interop.differences import Kind, Semantic
from aqmlab.interop.model import Model
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.routes import ShortestPaths, nodes_of
from conftest import DUMBBELL

QUEUE = (Measure.MEAN_QUEUE, "bottleneck")


class Fake:
    """A program whose measurements are given."""

    name, title, parallel = "fake", "Fake", True

    def __init__(self, **given):
        self.given = given
        self.ran: list[int] = []

    def version(self):
        return self.given.get("version", "1.0")

    def missing(self):
        return self.given.get("missing", "")

    def differences(self, model):
        return self.given.get("differences", [])

    def files(self, model):
        return {"fake.txt": model.scenario.normalized}

    def prepare(self, model, folder):
        assert (folder / "fake.txt").is_file()

    def run(self, model, folder, seed):
        if seed in self.given.get("fails", ()):
            raise ToolError(f"Fake, seed {seed}: it broke")
        self.ran.append(seed)
        return {QUEUE: 10.0 + seed, (Measure.GOODPUT, "tcp"): 1e6}


@pytest.fixture
def scenario():
    return Scenario.from_text(DUMBBELL, filename="dumbbell.toml")


@pytest.fixture
def fake(monkeypatch):
    def use(**given):
        made = Fake(**given)
        monkeypatch.setattr("aqmlab.interop.crosscheck.checking.tools", lambda names: [made])
        return made

    return use


def test_the_model_has_the_effective_values_of_the_core(scenario):
    model = Model.of(scenario)
    assert model.measured == tuple(scenario.probe["links"])
    assert sum(map(len, model.groups.values())) == len(scenario.flows)
    assert model.link_named["bottleneck"].parameters == scenario.queues["bottleneck"]["parameters"]
    assert not model.deterministic


def test_a_scenario_without_chance_is_known_as_one():
    text = """format = 1
name = "certain"
[run]
duration = "2s"
[dumbbell]
bottleneck = { rate = "2Mbps", delay = "10ms" }
left = { rate = "9Mbps", delay = "2ms" }
right = { rate = "9Mbps", delay = "2ms" }
[[flow]]
name = "tcp"
"""
    plain = Scenario.from_text(text, filename="a.toml")
    assert not Model.of(plain).deterministic
    fixed = plain.with_overrides({"flow.tcp.tcp.clock_offset": "1ms"})
    assert Model.of(fixed).deterministic
    assert not Model.of(fixed.with_overrides({"flow.tcp.start": {"uniform": ["0s", "1s"]}})).deterministic
    assert not Model.of(fixed.with_overrides({"queue.default.aqm": "red"})).deterministic
    udp = plain.with_overrides({"flow.tcp.transport": "udp", "flow.tcp.rate": "1Mbps"})
    assert Model.of(udp).deterministic
    assert not Model.of(udp.with_overrides({"flow.tcp.pattern": "poisson"})).deterministic


def test_paths_are_those_of_the_core():
    for name in ("dumbbell-red", "chain", "bus", "explicit-two-hop", "udp-mix"):
        found = Scenario.load(Path(__file__).parents[2] / "examples" / f"{name}.toml")
        routes = ShortestPaths(found.links)
        for flow in found.flows:
            if flow.path:
                assert [link.name for link in routes.path(flow.from_, flow.to)] == list(flow.path)


def test_routes_where_there_are_several(scenario):
    links = [link for link in scenario.links if link.name in ("bottleneck", "bottleneck.reverse")]
    routes = ShortestPaths(links)
    assert nodes_of(routes.path("r1", "r2")) == ["r1", "r2"]
    assert routes.only("r1", "r2")
    assert routes.path("r1", "nowhere") == []
    assert nodes_of([]) == []


def runs(*values):
    return {seed: {QUEUE: value} for seed, value in enumerate(values)}


@pytest.mark.parametrize(
    ("theirs", "expected"),
    [
        ((10.01, 10.02, 9.99, 10.0), Agreement.EQUAL),
        ((12.01, 12.02, 11.99, 12.0), Agreement.DIFFERS),
        ((8.0, 13.0, 9.5, 10.0), Agreement.UNDECIDED),
        ((10.6, 10.4, 10.5, 10.45), Agreement.UNDECIDED),
    ],
)
def test_the_verdicts(theirs, expected):
    (line,) = agreement(runs(10.0, 10.02, 9.98, 10.01), runs(*theirs), certain=False)
    assert line.agreement is expected
    assert str(expected) in line.words


def test_constants_are_the_same_or_judged_by_the_margin():
    (same,) = agreement(runs(10.0), runs(10.0), certain=True)
    assert (same.agreement, same.words) == (Agreement.SAME, "the same")
    (near,) = agreement(runs(10.0), runs(10.1), certain=True)
    assert near.agreement is Agreement.EQUAL
    (far,) = agreement(runs(10.0), runs(11.0), certain=True)
    assert far.agreement is Agreement.DIFFERS
    assert "+10 %" in far.words
    (open_,) = agreement(runs(10.0), runs(10.1), certain=False)
    assert open_.agreement is Agreement.UNDECIDED


def test_a_wider_margin_decides():
    ours, theirs = runs(10.0, 10.02, 9.98), runs(10.6, 10.61, 10.59)
    assert agreement(ours, theirs, certain=False)[0].agreement is Agreement.DIFFERS
    assert agreement(ours, theirs, certain=False, margin=2)[0].agreement is Agreement.EQUAL


def test_only_measures_of_both_are_compared():
    ours = {1: {QUEUE: 1.0, (Measure.LOSS, "bottleneck"): 0.1}}
    assert [line.measure for line in agreement(ours, runs(1.0), certain=True)] == [Measure.MEAN_QUEUE]


def test_a_check_runs_what_is_missing(fake, scenario, tmp_path):
    tool = fake()
    found = cross_check(scenario, programs="fake", seeds=3, out=tmp_path, report=tmp_path / "page", progress=False)
    assert sorted(tool.ran) == [1, 2, 3]
    side = found.side("fake")
    assert [line.measure for line in side.lines] == [Measure.GOODPUT, Measure.MEAN_QUEUE]
    assert (side.folder / "fake.txt").read_text() == scenario.normalized
    page = (tmp_path / "page" / "report.html").read_text()
    assert "Side by side" in page
    assert "fake.txt" in page
    data = json.loads(json.dumps(found.data()))
    assert data["tools"][0]["lines"][1]["theirs"] == 12.0
    cross_check(scenario, programs="fake", seeds=4, out=tmp_path, progress=False)
    assert sorted(tool.ran) == [1, 2, 3, 4]
    fake(version="2.0")
    assert cross_check(scenario, programs="fake", seeds=1, out=tmp_path, progress=False).side("fake").version == "2.0"


def test_inexpressible_scenarios_are_reported_and_not_run(fake, scenario, tmp_path):
    tool = fake(differences=[Semantic("curve", "It has no such curve.", Kind.INEXPRESSIBLE)])
    found = cross_check(scenario, programs="fake", seeds=2, out=tmp_path, report=tmp_path, progress=False)
    assert not tool.ran
    assert "It has no such curve." in found.side("fake").why_not
    with pytest.raises(InputError, match=r"dumbbell.toml: Fake cannot express it: It has no such curve\."):
        export_scenario(scenario, to="fake", out=tmp_path)


def test_a_program_that_is_not_there_gets_its_script_only(fake, scenario, tmp_path):
    tool = fake(missing="Fake is not installed", version=None)
    found = cross_check(scenario, programs="fake", seeds=2, out=tmp_path, progress=False)
    assert not tool.ran
    assert found.side("fake").why_not == "Fake is not installed"
    assert (found.side("fake").folder / "fake.txt").is_file()
    assert not found.side("fake").agrees


def test_a_run_that_fails_is_one_line_and_the_others_are_kept(fake, scenario, tmp_path):
    tool = fake(fails=[3])
    with pytest.raises(ToolError, match="Fake, seed 3: it broke"):
        run_seeds(tool, Model.of(scenario), [1, 2, 3], tmp_path, workers=1, progress=False)
    again = fake()
    assert len(run_seeds(again, Model.of(scenario), [1, 2, 3], tmp_path, workers=1, progress=False)) == 3
    assert again.ran == [3]


def test_a_stop_keeps_what_is_finished(scenario, tmp_path):
    class Slow(Fake):
        def run(self, model, folder, seed):
            if seed == 2:
                threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
                run_program(["sleep", "60"], folder=folder, title="Slow", seed=seed)
            return super().run(model, folder, seed)

    with pytest.raises(Interrupted, match="1 of 3 runs of Fake finished and kept"):
        run_seeds(Slow(), Model.of(scenario), [1, 2, 3], tmp_path, workers=1, progress=False)
    again = Fake()
    assert len(run_seeds(again, Model.of(scenario), [1, 2], tmp_path, workers=1, progress=False)) == 2
    assert again.ran == [2]


def test_programs_that_fail_are_reported_in_a_line(tmp_path):
    def run_python(text, **options):
        return run_program([sys.executable, "-c", text], folder=tmp_path, title="It", seed=7, **options)

    assert run_python("print(1)") == "1\n"
    with pytest.raises(ToolError, match="It, seed 7: exit code 3: no luck"):
        run_python("import sys; print('no luck', file=sys.stderr); sys.exit(3)")
    with pytest.raises(ToolError, match=r"It, seed 7: not finished after 0\.5 s"):
        run_python("import time; time.sleep(60)", limit_s=0.5)
    with pytest.raises(ToolError, match="cannot be started"):
        run_program(["./nothing"], folder=tmp_path, title="It", seed=1)
    end_programs()


def test_measurements_are_read_from_any_output():
    text = "noise\ngoodput_bps a group 5e6\nloss x nan\nutilizations no 1\n"
    assert read_measured(text, title="It", seed=1) == {(Measure.GOODPUT, "a group"): 5e6}
    with pytest.raises(ToolError, match="it printed no measurement"):
        read_measured("noise", title="It", seed=1)
    with pytest.raises(ToolError, match="is not a measurement"):
        read_measured("loss bottleneck much", title="It", seed=1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["crosscheck", "FILE", "--with", "ns-2"], 'unknown tool "ns-2" (allowed: ns2, ns3, tc; did you mean ns2?)'),
        (["crosscheck", "FILE", "--with", ","], "no program is given"),
        (["crosscheck", "FILE", "--margin", "0"], "margin: 0 is not a factor above 0"),
        (["crosscheck", "nothing.toml"], "nothing.toml: no such file"),
        (["export", "FILE", "--to", "csv"], 'unknown format "csv" (allowed: ns2, ns3, tc, kernel, bpf'),
        (["export", "FILE", "--to", "cisco"], "Cisco and Juniper: aqmlab tune --details prints their text"),
        (["export", "FILE", "--to", "ns2", "--seed", "1"], "--seed: is for results"),
        (["export", ".", "--to", "csv"], "--out: name the file"),
        (["export", ".", "--to", "csv", "--set", "a=b"], "--set: is for a scenario"),
    ],
)
def test_bad_words_are_one_line(tmp_path, capsys, words, message):
    file = tmp_path / "a.toml"
    file.write_text(DUMBBELL)
    assert main([str(file) if word == "FILE" else word for word in words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1
    assert message in lines[0]


def test_the_tools_are_modules_of_their_own():
    assert tools.tool("ns2").name == "ns2"
    assert [one.name for one in tools.tools("ns2, ns2")] == ["ns2"]


@pytest.mark.slow
def test_the_functions_are_at_the_top():
    assert inspect.unwrap(aqmlab.cross_check) is cross_check
    assert inspect.unwrap(aqmlab.export_scenario) is export_scenario
    assert subprocess.run([sys.executable, "-c", "import aqmlab; aqmlab.import_scenario"], check=True).returncode == 0
