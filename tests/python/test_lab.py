"""The laboratory without a browser: settings and their runs, and the command."""

from __future__ import annotations

import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

import aqmlab
from aqmlab.cli import main, parse_overrides, parse_seeds
from aqmlab.lab import laboratory
from aqmlab.lab.laboratory import NOT_BUILT, show, why_native
from aqmlab.lab.request_error import RequestError
from aqmlab.lab.session import BUILT_IN, Session
from aqmlab.lab.simulation import Side, Simulator, Wanted, cut
from aqmlab.lab.standalone import is_built
from aqmlab.scenario.file import Scenario

WHY_NATIVE = "" if is_built() else f"aqmlab: the server simulates: {NOT_BUILT}\n"
RED = "queue.bottleneck"


@pytest.fixture(scope="module")
def session():
    made = Session()
    yield made
    made.close()


def values(answer, run=0):
    return {row["key"]: row["values"][run] for row in answer["numbers"]}


def again(command):
    """Run a command of the page, in memory; the numbers that the page shows."""
    words = shlex.split(command)
    assert words[:2] == ["aqmlab", "run"]
    seeds = parse_seeds(words[words.index("--seeds") + 1])
    sets = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    result = aqmlab.run(words[2], seeds=seeds, overrides=parse_overrides(sets), workers=1, progress=False)
    return result.metrics(link="bottleneck").iloc[0].to_dict()


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {f"{RED}.max_th": 45, "rate": 7.5, "rtt": 120.5, "flow.tcp.count": 17, "seed": 7},
        {"aqm": "drop-tail", f"{RED}.limit": 60, "seconds": 12},
        {"aqm": "rio", "beside": "adaptive-red", f"{RED}.class.out.max_p": 0.3, f"{RED}.w_q": 0.01, "seed": 3},
        {f"{RED}.curve": "nlred", f"{RED}.ecn": True, "flow.tcp.transport": "sack"},
    ],
    ids=["as it is", "sliders", "drop-tail", "classes beside", "words and switches"],
)
def test_the_command_repeats_the_numbers(session, settings):
    answer = session.answer(settings)
    for index, command in enumerate(answer["command"].splitlines()):
        shown, repeated = values(answer, index), again(command)
        assert shown == {key: repeated[key] for key in shown}


def test_the_scenario_text_is_the_setting(session, tmp_path):
    answer = session.answer({f"{RED}.min_th": 20, "seed": 5})
    path = tmp_path / "copied.toml"
    path.write_text(answer["text"])
    copied = aqmlab.run(path, seeds=[5], workers=1, progress=False).metrics(link="bottleneck").iloc[0].to_dict()
    assert values(answer) == {key: copied[key] for key in values(answer)}


@pytest.mark.slow
def test_every_discipline_runs_with_its_own_controls(session):
    # Other tests of this process may have registered plug-ins that raise.
    for known in (one for one in aqmlab.disciplines() if not one.foreign):
        answer = session.answer({"aqm": known.name})
        assert answer["names"] == [known.name]
        keys = {control["key"] for control in answer["panel"]}
        assert {"aqm", "beside", "rate", "rtt", "flow.tcp.count", "seconds", "seed", f"{RED}.limit"} <= keys
        curved = known.parameter("curve") is not None
        assert (f"{RED}.w_q" in keys) == curved
        assert [chart["key"] for chart in answer["charts"]] == ["queue", "probability", "goodput", "delay"]
        assert all(len(chart["alt"]) > 30 for chart in answer["charts"])
        json.dumps(answer, allow_nan=False)


def test_two_disciplines_see_the_same_traffic(session):
    answer = session.answer({"beside": "red", "aqm": "mred"})
    assert answer["names"] == ["mred", "red"]
    assert values(answer, 1) == values(session.answer({}))


def test_a_slider_sets_the_value_that_it_shows(session):
    plan = session.scenario.with_overrides(
        parse_overrides([w for w in shlex.split(session.answer({"rtt": 200, "rate": 3})["command"]) if "=" in w])
    )
    way = [plan.link(name).delay_s for name in plan.flows[0].path]
    assert 2 * sum(way) == pytest.approx(0.2)
    assert plan.link("bottleneck").rate_bps == 3e6


@pytest.mark.parametrize("file", ["chain", "explicit-two-hop", "torus", "diffserv", "udp-mix"])
def test_other_networks_have_their_controls(file, pytestconfig):
    session = Session(pytestconfig.rootpath / "examples" / f"{file}.toml")
    try:
        panel = {control.key: control for control in session.panel(session.scenario.link(session.link).aqm)}
        assert "rate" in panel
        assert panel.keys() & {"rtt", "delay"}
        answer = session.answer({"rate": panel["rate"].value * 2, "seconds": 2})
        assert answer["simulated_s"] <= 2
        assert answer["link"] == session.link
    finally:
        session.close()


def test_a_run_that_takes_too_long_is_cut_and_reported():
    session = Session(overrides={"run.duration": "600s"}, budget_s=0.02)
    try:
        began = time.monotonic()
        answer = session.answer({"rate": 1000, "flow.tcp.count": 200})
        assert answer["asked_s"] == 600
        assert 0.1 <= answer["simulated_s"] < 60
        assert time.monotonic() - began < 2
        assert answer["warmup_s"] < answer["simulated_s"] / 2
    finally:
        session.close()


def test_changes_after_the_end_of_a_cut_run_are_left_out(pytestconfig):
    session = Session(pytestconfig.rootpath / "examples" / "torus.toml", link="r1->r2", budget_s=60.0)
    try:
        answer = session.answer({"seconds": 3})
        assert "run.duration=3s" in answer["command"]
        assert "change=[]" in answer["command"]
    finally:
        session.close()


def test_changes_of_a_cut_run_are_kept_by_their_time_not_by_their_place_in_the_file(pytestconfig):
    text = (pytestconfig.rootpath / "examples" / "dumbbell-red.toml").read_text()
    late = '[[change]]\nat = "25s"\nlink = "bottleneck"\nrate = "5Mbps"\n'
    early = '[[change]]\nat = "2s"\nlink = "bottleneck"\nrate = "3Mbps"\ndelay = "3ms"\n'
    plan = aqmlab.Scenario.from_text(f"{text}\n{late}{early}")
    kept = plan.with_overrides(cut(plan, 20.0)).changes
    assert [change["at_s"] for change in kept] == [2.0]
    assert kept == plan.changes[:1]


def test_the_newest_request_wins():
    # Long enough that it is looked whether there is a newer request several times.
    session = Session(overrides={"run.duration": "600s"}, budget_s=60.0)
    turns = itertools.count()
    try:
        with pytest.raises(RequestError, match="409 a newer request"):
            session.answer({}, superseded=lambda: next(turns) > 3)
    finally:
        session.close()


def test_a_slow_run_gives_way_at_once():
    """A run without a bound on its time is given up as soon as a newer request is there."""
    plan = aqmlab.Scenario.load("lab:dumbbell.toml", overrides={"run.duration": "20000s"})
    simulator = Simulator(plan, "bottleneck", budget_s=1000.0)
    newer = threading.Event()
    threading.Timer(0.3, newer.set).start()
    began = time.monotonic()
    with pytest.raises(RequestError, match="409"):
        simulator.runs(Wanted((Side("red", ()),), 20000.0, 1, 10e6, 10, newer.is_set))
    assert time.monotonic() - began < 3
    simulator.close()


UNUSABLE = {
    "unknown": ({"run.duration": "1e9s"}, "'run.duration' is not among the controls of red"),
    "of the core": ({f"{RED}.min_th": 50}, "min_th (50p) is not below max_th (30p)"),
    "too many flows": ({"flow.tcp.count": 1e9}, "flow.tcp.count: is out of range (allowed: 1 to 2000)"),
    "half a flow": ({"flow.tcp.count": 1.5}, "flow.tcp.count: 1.5 is not a whole number"),
    "word for number": ({"rate": "10Mbps"}, "rate: is not a number"),
    "truth for number": ({"rate": True}, "rate: is not a number"),
    "unknown discipline": ({"aqm": "rde"}, "aqm: is none of drop-tail, red"),
    "no word": ({"aqm": 3}, "aqm: is none of drop-tail, red"),
    "no truth": ({f"{RED}.ecn": 1}, "is not true or false"),
    "half a surrogate": ({"aqm": "\ud800"}, "aqm: is none of"),
    "toml in a word": ({f"{RED}.curve": 'x"\nlimit = 1'}, "is none of"),
    "huge number": ({"seed": 10**400}, "seed: is out of range"),
}


@pytest.mark.parametrize(("settings", "line"), UNUSABLE.values(), ids=UNUSABLE)
def test_invalid_settings(session, settings, line):
    with pytest.raises(RequestError) as found:
        session.answer(settings)
    assert found.value.status == 422
    assert line in found.value.text
    assert "\n" not in found.value.text


class Opened:
    """The command, running."""

    def __init__(self, shell, *words):
        environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "aqmlab", "lab", *words],
            cwd=shell.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.first = self.process.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(timeout=20)
        return code, self.first + self.process.stdout.read(), self.process.stderr.read()


@pytest.mark.slow
def test_the_command_ends_cleanly(shell):
    with Opened(shell, "small.toml", "--no-browser", "--set", "queue.bottleneck.max_th=20p") as opened:
        assert re.match(r"Laboratory: http://127\.0\.0\.1:\d+/[\w-]{32}/\n", opened.first)
        code, out, err = opened.stop()
    assert code == 0
    assert err == f"{WHY_NATIVE}aqmlab: laboratory closed\n"
    assert out.endswith("Ctrl-C ends it.\n")


@pytest.mark.slow
def test_what_a_page_cannot_run_is_said(shell):
    with Opened(shell, "example:applications", "--no-browser") as opened:
        _, _, err = opened.stop()
    line = "aqmlab: the server simulates: what applications see is measured in Python\n"
    assert err == f"{line}aqmlab: laboratory closed\n"


def test_the_server_simulates_only_what_a_page_cannot(monkeypatch):
    plan = Scenario.load(BUILT_IN)
    native = [one for one in aqmlab.disciplines() if not one.foreign]
    monkeypatch.setattr(laboratory, "disciplines", lambda: native)
    monkeypatch.setattr(laboratory, "is_built", lambda: True)
    assert why_native(plan) == ""
    applications = why_native(Scenario.load("example:applications"))
    assert applications == "what applications see is measured in Python"
    own = replace(native[0], name="mine", foreign=True)
    monkeypatch.setattr(laboratory, "disciplines", lambda: [*native, own])
    assert why_native(plan) == "mine is written in Python"
    monkeypatch.setattr(laboratory, "disciplines", lambda: native)
    monkeypatch.setattr(laboratory, "is_built", lambda: False)
    assert why_native(plan) == NOT_BUILT
    with aqmlab.open_lab() as lab:
        assert lab.native == NOT_BUILT


@pytest.mark.slow
def test_without_a_display_a_message_is_printed(shell):
    with Opened(shell, "--json") as opened:
        assert opened.first == "{\n"
        time.sleep(0.2)
        code, out, err = opened.stop()
    assert code == 0
    assert json.loads(out)["url"].startswith("http://127.0.0.1:")
    assert err.startswith(
        f"{WHY_NATIVE}aqmlab: there is no display here; open the address in a browser of this machine\n"
    )


def test_no_browser_is_an_error_of_one_line(monkeypatch):
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    assert show("http://127.0.0.1/") == "no browser was found; open the address in one of this machine"


@pytest.mark.slow
def test_bad_input_of_the_command(small, capsys):
    with aqmlab.open_lab() as taken:
        _bad_input(small, capsys, taken.url.split(":")[2].split("/")[0])


def _bad_input(small, capsys, port):
    cases = [
        ((small, "--port", port), f"aqmlab: --port {port}: is in use (allowed: another from 1024 to 65535"),
        (("none.toml",), "aqmlab: none.toml: no such file"),
        ((small, "--link", "bottelneck"), 'aqmlab: unknown link "bottelneck" (allowed: bottleneck, '),
        ((small, "--set", "queue.bottleneck.max_p=2"), "--set queue.bottleneck.max_p: 2 is out of range (allowed: "),
        (("--port", "99999"), "aqmlab: Invalid value for '--port'"),
    ]  # fmt: skip
    for words, line in cases:
        assert main(["lab", "--no-browser", *map(str, words)]) == 2
        answer = capsys.readouterr()
        assert answer.out == ""
        assert answer.err.startswith(line)
        assert answer.err.count("\n") == 1
