"""Scenarios as scripts for ns-2 2.35: their text, the reported differences, and runs of the unmodified scripts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from aqmlab.cli import main
from aqmlab.interop.crosscheck.agreement import Agreement
from aqmlab.interop.crosscheck.checking import cross_check
from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.interop.differences import inexpressible
from aqmlab.interop.model import Model
from aqmlab.interop.ns2.queues import ns2_queue
from aqmlab.interop.ns2.tool import TOOL
from aqmlab.scenario.file import Scenario
from crosscheck_cases import CHANGE, NS2, TWO_WAY, red, ten
from programs import needs

ROOT = Path(__file__).resolve().parents[2]

RUN = (
    *("tail-tahoe", "tail-bytes", "red-nowait", "red-auto", "adaptive", "feng", "red-bytes-sizes", "gentle-ecn"),
    *("delayed-acks", "two-way", "udp-bursts", "files", "rate-changes", "chain", "two-hops"),
)
"""Cases that have between them all that a script can have."""
EXACT = [case for case in NS2 if case.name.startswith("tail-exact")]
_TRUNK = 'queue = "bottleneck" }'
EXACT += [
    replace(
        case,
        name=f"{case.name}-changes",
        network=case.network.replace(_TRUNK, f'in_service = "as-started", {_TRUNK}', 1),
        flows=case.flows + CHANGE,
    )
    for case in EXACT
]
"""Also with changes of the rate, where a service ends as it started."""


def needs_ns(test):
    """Mark a test that runs ns-2; skip it where ns-2 is not installed."""
    return pytest.mark.ns2(needs("ns")(test))


def scenario(case, **overrides):
    return Scenario.from_text(case.text, filename=f"{case.name}.toml", overrides=overrides)


def queue(text, name="bottleneck"):
    case = NS2[0]
    found = Scenario.from_text(case.text.replace('[queue.bottleneck]\nlimit = "60p"\n', text), filename="a.toml")
    return found.link(name)


@pytest.mark.parametrize(
    ("body", "discipline", "limit", "settings"),
    [
        ('limit = "60p"', "DropTail", 61, {"queue_in_bytes_": "false"}),
        ('limit = "60p"\ndialect = "ns2-2.35"', "DropTail", 60, {}),
        ('limit = "60kB"', "DropTail", 60_001, {"queue_in_bytes_": "true", "mean_pktsize_": "1"}),
        ('aqm = "red"\nmax_p = 0.05', "RED", 100, {"linterm_": "20", "gentle_": "false", "wait_": "true"}),
        ('aqm = "gentle-red"\nspacing = "ns2-nowait"', "RED", 100, {"gentle_": "true", "wait_": "false"}),
        ('aqm = "red"\ndialect = "ns2-2.35"', "RED", 100, {"use_mark_p_": "true", "mark_p_": "0.1"}),
        ('aqm = "red"\nmode = "bytes"\nlimit = "50kB"', "RED", 50, {"bytes_": "true", "queue_in_bytes_": "true"}),
        ('aqm = "adaptive-red"', "RED", None, {"adaptive_": "1", "top_": "0.5", "interval_": "0.5"}),
        ('aqm = "feng-red"', "RED", None, {"adaptive_": "1", "feng_adaptive_": "1", "alpha_": "3"}),
    ],
)
def test_a_queue_in_the_words_of_ns2(body, discipline, limit, settings):
    found = ns2_queue(queue(f"[queue.bottleneck]\n{body}\n"))
    assert found.discipline == discipline
    assert limit is None or found.limit == limit
    assert settings.items() <= found.settings.items()


@pytest.mark.parametrize("case", NS2, ids=lambda case: case.name)
def test_differences_are_named(case):
    differences = TOOL.differences(Model.of(scenario(case)))
    assert bool(differences) or not case.other
    if case.control:
        assert not TOOL.differences(Model.of(scenario(case, **case.control)))
    for one in differences:
        assert one.text.endswith(".")


@pytest.mark.parametrize(
    ("name", "expected"), [("mred", "curve mred"), ("cubic", "transport profile"), ("no-spacing", "spacing none")]
)
def test_inexpressible_parts_are_rejected_by_name(name, expected, tmp_path, capsys):
    case = next(case for case in NS2 if case.name == name)
    model = Model.of(scenario(case))
    assert [one.name for one in inexpressible(TOOL.differences(model))] == [expected]
    (text,) = TOOL.files(model).values()
    assert expected in text
    file = tmp_path / "a.toml"
    file.write_text(case.text)
    assert main(["export", str(file), "--to", "ns2"]) == 2
    assert "ns-2 cannot express it" in capsys.readouterr().err


def test_examples_that_ns2_cannot_have(tmp_path):
    expected = {"torus": "random ends", "diffserv": "discipline", "dumbbell-cubic": "transport profile"}
    for name, lacking in expected.items():
        model = Model.of(Scenario.load(ROOT / "examples" / f"{name}.toml"))
        assert lacking in {one.name for one in inexpressible(TOOL.differences(model))}


def test_unsupported_keys_are_not_dropped_silently(monkeypatch):
    monkeypatch.setattr("aqmlab.interop.model.FLOW_KEYS", {"name", "count", "transport", "start"})
    (lacking,) = inexpressible(TOOL.differences(Model.of(scenario(next(c for c in NS2 if c.name == "red")))))
    assert lacking.text == "flow.tcp.tcp: scripts for ns-2 cannot express it."


def test_a_mesh_gets_its_routes():
    square = """format = 1
name = "square"
[run]
duration = "1s"
""" + "".join(
        f'[[link]]\nfrom = "{a}"\nto = "{b}"\nrate = "1Mbps"\ndelay = "1ms"\n' for a, b in ("ab", "bd", "ac", "cd")
    )
    model = Model.of(Scenario.from_text(square + '[[flow]]\nname = "f"\nfrom = "a"\nto = "d"\n', filename="a.toml"))
    (text,) = TOOL.files(model).values()
    assert "$ns rtproto Manual\n" in text
    assert "\nroute {a b d}\n" in text
    assert "\nroute {d b a}\n" in text


@needs_ns
def test_the_version_is_printed():
    assert TOOL.version() == "2.35"
    assert TOOL.missing() == ""


@needs_ns
@pytest.mark.parametrize("case", EXACT, ids=lambda case: case.name)
def test_without_chance_every_number_is_the_same(case, tmp_path):
    found = cross_check(scenario(case), programs="ns2", out=tmp_path, progress=False)
    assert found.seeds == [1]
    for line in found.side("ns2").lines:
        # A packet in transmission at the end counts as a whole in ns-2's utilization.
        allowed = {Agreement.SAME, *([Agreement.EQUAL] if line.measure is Measure.UTILIZATION else [])}
        assert line.agreement in allowed


@needs_ns
@pytest.mark.parametrize("case", [case for case in NS2 if case.name in RUN], ids=lambda case: case.name)
def test_every_script_runs_unmodified(case, tmp_path):
    duration = "21s" if case.name == "rate-changes" else "6.5s"
    model = Model.of(scenario(case, **{"run.duration": duration}))
    for name, text in TOOL.files(model).items():
        (tmp_path / name).write_text(text)
    measured = TOOL.run(model, tmp_path, 3)
    assert {place for measure, place in measured if measure is Measure.GOODPUT} == set(model.groups)
    assert {place for measure, place in measured if measure is Measure.UTILIZATION} == set(model.measured)
    assert all(0 <= value < 2 for (measure, _), value in measured.items() if measure is Measure.LOSS)


@needs_ns
def test_seeds_vary_and_repeat(tmp_path):
    model = Model.of(scenario(next(case for case in NS2 if case.name == "red"), **{"run.duration": "7s"}))
    for name, text in TOOL.files(model).items():
        (tmp_path / name).write_text(text)
    first, again, other = (TOOL.run(model, tmp_path, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


@needs_ns
def test_all_patterns_and_periods_run(tmp_path):
    flows = """
[[flow]]
name = "lengths"
transport = "udp"
rate = "1Mbps"
packet_size = { uniform = ["100B", "900B"] }
pattern = "poisson"

[[flow]]
name = "steady lengths"
transport = "udp"
rate = "1Mbps"
packet_size = { uniform = ["100B", "900B"] }
stop = "3s"

[[flow]]
name = "bursts"
transport = "udp"
rate = "2Mbps"
pattern = { on = "100ms", off = { exponential = "50ms" } }

[[flow]]
name = "delayed"
transport = "sack"
tcp = { delayed_ack = "100ms", initial_ssthresh = "10p", clock_offset = "1ms" }
stop = "4s"
""".replace("steady lengths", "steady-lengths")
    text = TWO_WAY + red() + ten(count=2) + flows
    whole = 'format = 1\nname = "all"\n[run]\nduration = "6s"\n' + text
    checked = Scenario.from_text(whole, filename="a.toml")
    found = cross_check(checked, programs="ns2", seeds=2, out=tmp_path, progress=False)
    there = {line.place for line in found.side("ns2").lines if line.measure is Measure.GOODPUT}
    assert there == {"tcp", "lengths", "steady-lengths", "bursts", "delayed"}


@needs_ns
def test_the_command(tmp_path, capsys):
    file = tmp_path / "a.toml"
    file.write_text(EXACT[0].text)
    words = ["crosscheck", str(file), "--with", "ns2", "--out", str(tmp_path), "--report", str(tmp_path / "page")]
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "ns-2 2.35: 7 the same." in out
    assert "mean queue, packets" in out
    assert (tmp_path / "page" / "report.html").is_file()
    assert main(["export", str(file), "--to", "ns2", "--out", str(tmp_path / "x.tcl")]) == 0
    assert "$ns run" in (tmp_path / "x.tcl").read_text()
