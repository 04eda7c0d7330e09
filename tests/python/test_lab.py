"""The laboratory's settings and their runs, in node, and the command."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest

import aqmlab
from aqmlab.cli import main, parse_overrides
from aqmlab.lab.laboratory import show
from aqmlab.lab.page import BUILT_IN
from aqmlab.results.tins import tins_of
from browser_core import answers_of, check_numbers, page_answers, page_values

RED = "queue.bottleneck"
NAMES = "answers.push(core.registry.disciplines);"


@pytest.mark.slow
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
def test_the_command_repeats_the_numbers(settings, tmp_path):
    [answer] = page_answers(BUILT_IN, [settings])
    check_numbers(answer)


def test_the_scenario_text_is_the_setting(tmp_path):
    [answer] = page_answers(BUILT_IN, [{f"{RED}.min_th": 20, "seed": 5}])
    path = tmp_path / "copied.toml"
    path.write_text(answer["text"])
    copied = aqmlab.run(path, seeds=[5], workers=1, progress=False).metrics(link="bottleneck").iloc[0].to_dict()
    shown = page_values(answer)
    assert shown == pytest.approx({key: copied[key] for key in shown}, rel=1e-12)


def test_controls_without_effect_are_those_that_the_core_names():
    plain, marking = page_answers(BUILT_IN, [{"seconds": 2}, {"seconds": 2, f"{RED}.ecn": True}])
    assert f"{RED}.mark_up_to" in plain["hidden"]
    assert f"{RED}.mark_up_to" not in marking["hidden"]
    plan = aqmlab.Scenario.load(BUILT_IN)
    assert plain["hidden"] == [f"{RED}.{key}" for key in plan.link("bottleneck").without_effect]


def test_the_compared_discipline_has_values_of_its_own():
    settings = {
        "seconds": 2,
        "beside": "red",
        f"{RED}.max_th": 40,
        f"beside.{RED}.max_th": 60,
        f"beside.{RED}.max_p": 0.5,
    }
    [answer] = page_answers(BUILT_IN, [settings])
    assert answer["names"] == ["red", "red, B"]
    check_numbers(answer)
    first, second = answer["command"].splitlines()
    assert "max_th=40p" in first
    assert "max_p" not in first
    assert "max_th=60p" in second
    assert "max_p=0.5" in second


def test_the_recording_of_an_answer_has_the_curve_and_drop_tail_is_its_ghost():
    script = """
    const session = await Session.open(core, asked.text, asked.file);
    const answer = await session.answer({}, { from_s: null });
    const codel = await session.watch({ aqm: "codel" }, 12);
    answers.push(answer.view, codel, answer.ghost, await session.ghost({ seconds: 5 }));
    """
    text = aqmlab.Scenario.load(BUILT_IN).text
    view, codel, key, ghost = answers_of(script, {"text": text, "file": BUILT_IN})
    [lane] = view["lanes"]
    assert view["from_s"] == 10
    assert lane["curve"]["values"] == {"min_th": 10, "max_th": 30, "max_p": 0.1}
    assert lane["curve"]["keys"]["max_p"] == f"{RED}.max_p"
    assert max(p for x, p in zip(lane["curve"]["x"], lane["curve"]["p"], strict=True) if x < 30) < 0.1
    assert codel["from_s"] == 12
    assert codel["lanes"][0]["curve"] is None
    assert key is not None
    assert ghost["name"] == "drop-tail"
    assert 90 <= max(ghost["packets"]) <= 100, "drop-tail fills its buffer"


@pytest.mark.slow
def test_every_discipline_runs_with_its_own_controls(tmp_path):
    [known] = answers_of(NAMES, None)
    answers = page_answers(BUILT_IN, [{"aqm": one["name"], "seconds": 5} for one in known])
    # Other tests of this process may have registered plug-ins.
    assert [one["name"] for one in known] == [one.name for one in aqmlab.disciplines() if not one.foreign]
    for discipline, answer in zip(known, answers, strict=True):
        assert answer["names"] == [discipline["name"]]
        keys = {control["key"] for control in answer["panel"]}
        assert {"aqm", "beside", "rate", "rtt", "flow.tcp.count", "seconds", "seed", f"{RED}.limit"} <= keys
        curved = any(parameter["key"] == "curve" for parameter in discipline["parameters"])
        assert (f"{RED}.w_q" in keys) == curved
        assert [chart["key"] for chart in answer["charts"]] == ["queue", "probability", "goodput", "delay"]
        assert all(len(chart["alt"]) > 30 for chart in answer["charts"])


def test_two_disciplines_see_the_same_traffic(tmp_path):
    both, alone = page_answers(BUILT_IN, [{"beside": "red", "aqm": "mred"}, {}])
    assert both["names"] == ["mred", "red"]
    assert page_values(both, 1) == page_values(alone)


def test_cake_has_its_words_its_shaper_and_its_tins():
    own = {f"{RED}.diffserv": "diffserv4", f"{RED}.rate": 8, f"{RED}.rtt": 0.03, f"{RED}.wash": True}
    settings = {"aqm": "cake", "seconds": 6, **own}
    [answer, unshaped, other] = page_answers(BUILT_IN, [settings, {**settings, f"{RED}.rate": 0}, {"seconds": 1}])
    panel = {control["key"]: control for control in answer["panel"]}
    assert panel[f"{RED}.isolation"]["choices"][0] == "triple-isolate"
    assert panel[f"{RED}.nat"]["kind"] == "switch"
    assert (panel[f"{RED}.overhead"]["low"], panel[f"{RED}.overhead"]["high"]) == (-64, 256)
    assert "queue.bottleneck.rate=8Mbps" in answer["command"]
    assert "queue.bottleneck.rate" not in unshaped["command"]
    check_numbers(answer)
    words = shlex.split(answer["command"])
    sets = parse_overrides([words[i + 1] for i, word in enumerate(words) if word == "--set"])
    result = aqmlab.run(BUILT_IN, seeds=[1], overrides=sets, workers=1, progress=False)
    [(link, expected)] = tins_of(result)
    [tins] = answer["tins"]
    assert (link, tins["name"], tins["titles"]) == ("bottleneck", "cake", ["Bulk", "Best Effort", "Video", "Voice"])
    assert tins["rows"] == expected.to_numpy().tolist()
    assert tins["rows"][0] == ["thresh", "500Kbit", "8Mbit", "4Mbit", "2Mbit"]
    assert unshaped["tins"][0]["rows"][0][1:] == ["unlimited"] * 4
    assert other["tins"] == []


def test_a_slider_sets_the_value_that_it_shows(tmp_path):
    [answer] = page_answers(BUILT_IN, [{"rtt": 200, "rate": 3}])
    sets = parse_overrides([word for word in shlex.split(answer["command"]) if "=" in word])
    plan = aqmlab.Scenario.load(BUILT_IN, overrides=sets)
    way = [plan.link(name).delay_s for name in plan.flows[0].path]
    assert 2 * sum(way) == pytest.approx(0.2)
    assert plan.link("bottleneck").rate_bps == 3e6


@pytest.mark.parametrize("file", ["chain", "explicit-two-hop", "torus", "diffserv", "udp-mix"])
def test_other_networks_have_their_controls(file, tmp_path):
    [first] = page_answers(f"example:{file}", [{"seconds": 1}])
    panel = {control["key"]: control for control in first["panel"]}
    assert "rate" in panel
    assert panel.keys() & {"rtt", "delay"}
    [answer] = page_answers(f"example:{file}", [{"rate": panel["rate"]["value"] * 2, "seconds": 2}])
    assert answer["simulated_s"] == 2
    assert answer["link"] == first["link"]


def test_changes_after_the_end_of_a_shorter_run_are_left_out(tmp_path):
    [answer] = page_answers("example:torus", [{"seconds": 3}], link="r1->r2")
    assert "run.duration=3s" in answer["command"]
    assert "change=[]" in answer["command"]


def test_changes_of_a_shorter_run_are_kept_by_their_time_not_by_their_place_in_the_file(tmp_path, pytestconfig):
    text = (pytestconfig.rootpath / "examples" / "dumbbell-red.toml").read_text()
    late = '[[change]]\nat = "25s"\nlink = "bottleneck"\nrate = "5Mbps"\n'
    early = '[[change]]\nat = "2s"\nlink = "bottleneck"\nrate = "3Mbps"\ndelay = "3ms"\n'
    path = tmp_path / "changes.toml"
    path.write_text(f"{text}\n{late}{early}")
    plan = aqmlab.Scenario.load(path)
    [answer] = page_answers(str(path), [{"seconds": 20}])
    kept = aqmlab.Scenario.from_text(answer["text"]).changes
    assert [change["at_s"] for change in kept] == [2.0]
    assert kept == plan.changes[:1]


UNUSABLE = {
    "unknown": ({"run.duration": "1e9s"}, '"run.duration" is not among the controls of red'),
    "of the core": ({f"{RED}.min_th": 50}, "min_th (50p) is not below max_th (30p)"),
    "too many flows": ({"flow.tcp.count": 1e9}, "flow.tcp.count: is out of range (allowed: 1 to 2000)"),
    "half a flow": ({"flow.tcp.count": 1.5}, "flow.tcp.count: 1.5 is not a whole number"),
    "below the range": ({f"{RED}.max_th": -1}, f"{RED}.max_th: is out of range (allowed: 0 to 1e+06)"),
    "word for number": ({"rate": "10Mbps"}, "rate: is not a number"),
    "truth for number": ({"rate": True}, "rate: is not a number"),
    "unknown discipline": ({"aqm": "rde"}, "aqm: is none of drop-tail, red"),
    "no word": ({"aqm": 3}, "aqm: is none of drop-tail, red"),
    "no truth": ({f"{RED}.ecn": 1}, "is not true or false"),
    "half a surrogate": ({"aqm": "\ud800"}, "aqm: is none of"),
    "toml in a word": ({f"{RED}.curve": 'x"\nlimit = 1'}, "is none of"),
    "huge number": ({"seed": 10**400}, "seed: is out of range"),
    "half a seed": ({"seed": 1.5}, "seed: 1.5 is not a whole number"),
    "too large": (
        {"rate": 10_000, "seconds": 600},
        r"about \d+ million packets over links to simulate \(allowed in a page: up to 50 million\)",
    ),
}


def test_invalid_settings_are_one_line(tmp_path):
    found = page_answers(BUILT_IN, [settings for settings, _ in UNUSABLE.values()], may_fail=True)
    for name, (_, line), text in zip(UNUSABLE, UNUSABLE.values(), found, strict=True):
        assert re.search(line if name == "too large" else re.escape(line), text), name
        assert "\n" not in text


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
    assert err == "aqmlab: laboratory closed\n"
    assert out.endswith("Ctrl-C ends it.\n")


@pytest.mark.slow
def test_without_a_display_a_message_is_printed(shell):
    with Opened(shell, "--json") as opened:
        assert opened.first == "{\n"
        time.sleep(0.2)
        code, out, err = opened.stop()
    assert code == 0
    assert json.loads(out)["url"].startswith("http://127.0.0.1:")
    assert err.startswith("aqmlab: there is no display here; open the address in a browser of this machine\n")


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
