"""The page in node: its controls, numbers and charts are those of the scenario and its runs; and the page as a file."""

from __future__ import annotations

import bisect
import gzip
import json
import math
import re
import shlex
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import aqmlab
from aqmlab import _core
from aqmlab.cli import app
from aqmlab.errors import Error, InputError
from aqmlab.figures.chart import Series
from aqmlab.figures.marks import DISCIPLINES, GREY, marks
from aqmlab.figures.scale import steady_scale
from aqmlab.lab import page as lab_html
from aqmlab.lab.page import BUILT_IN, PRESETS, standalone_page
from aqmlab.results.parquet import values
from aqmlab.scenario.file import examples, read_text
from browser_core import answers_of, check_numbers, page_answers, page_values, wasm_path
from builder import lab_page

PANELS = """
const session = await Session.open(core, asked.text, asked.file);
for (const { name } of core.registry.disciplines) {
  try { answers.push(session.panel(name)); } catch (error) {
    answers.push(error.problems.map(({ message }) => message));
  }
}
"""
HOPS = """
for (const [text, file] of asked) {
  const plan = core.check(text, file, []), run = await core.run({ text, file, overrides: [], seed: 1 });
  answers.push([estimatedHops(plan), run.summary.packet_hops]);
}
"""
WATCHED = """
const session = await Session.open(core, asked.text, asked.file);
for (const settings of asked.settings) {
  await session.answer(settings);
  for (const lane of (await session.watch(settings, asked.from_s)).lanes) {
    const waiting = [[asked.from_s, lane.start.length]];
    for (const { t, kind } of lane.steps) { waiting.push([t, waiting.at(-1)[1] + ({ "+": 1, m: 0 }[kind] ?? -1)]); }
    answers.push(waiting);
  }
}
"""
MOST_HOPS = 50e6
MAX_TH = "queue.bottleneck.max_th"
SETTINGS = (
    {"seconds": 8},
    {"seconds": 8, MAX_TH: 45, "queue.bottleneck.w_q": 0.00213, "seed": 4},
    {"seconds": 8, "aqm": "codel"},
    {"seconds": 8, "beside": "drop-tail", "rate": 3, "rtt": 120},
    {"seconds": 8, "aqm": "wred"},
    {"seconds": 8, "queue.bottleneck.ecn": True, "flow.tcp.count": 25, "flow.tcp.transport": "sack"},
)
SAMPLES = 500
GOODPUT_STEPS = 60


def close(found: list, due: object) -> bool:
    """Whether a series of a chart has these values, to the digits that a chart of 500 pixels can show."""
    numbers = np.array([math.nan if value is None else value for value in found])
    due = np.asarray(due, dtype=float)
    return np.allclose(numbers, due, rtol=1e-9, atol=2e-4 * np.abs(due).max(initial=0.0), equal_nan=True)


def tables_of(command: str, link: str) -> dict[str, dict[str, np.ndarray]]:
    """Return the tables of the run of a command, sampled as the page does for up to 100 flows."""
    words = shlex.split(command)
    sets = [tuple(words[i + 1].split("=", 1)) for i, word in enumerate(words) if word == "--set"]
    text, seed = read_text(Path(words[2])), int(words[words.index("--seeds") + 1].split("-")[0])
    plan = aqmlab.Scenario.load(words[2], overrides=dict(sets))
    every = [f"{1e9 * plan.duration_s / parts:.0f}ns" for parts in (SAMPLES, GOODPUT_STEPS)]
    probe = f"{{ links = ['{link}'], queue_interval = '{every[0]}', flow_interval = '{every[1]}' }}"
    tables = _core.Scenario(text, words[2], [*sets, ("probe", probe)]).run(seed)["tables"]
    return {name: {key: values(column) for key, column in columns.items()} for name, columns in tables.items()}


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_charts_and_numbers_are_those_of_the_run(settings, tmp_path):
    [answer] = page_answers(BUILT_IN, [settings])
    assert isinstance(answer, dict), answer
    assert answer["packet_hops"] > 10_000
    check_numbers(answer)
    charts = {chart["key"]: chart for chart in answer["charts"]}
    several = len(answer["names"]) > 1
    for run, (name, command) in enumerate(zip(answer["names"], answer["command"].splitlines(), strict=True)):
        tables, loss = tables_of(command, answer["link"]), page_values(answer, run)["loss"]
        prefix = f"{name}: " if several else ""
        series = {
            key: {
                one["name"].removeprefix(prefix): one
                for one in chart["series"]
                if one["name"].startswith((prefix, name))
            }
            for key, chart in charts.items()
        }
        samples, rate = tables["queue_samples"], charts["goodput"]["levels"][0][0] * 1e6
        drawn = {"queue": (samples["t_s"], samples["queue_packets"])}
        if "average" in series["queue"]:
            drawn["average"] = (samples["t_s"], samples["average"])
        assert series["queue"].keys() == drawn.keys()
        for key, (x, y) in drawn.items():
            assert close(series["queue"][key]["x"], x), key
            assert close(series["queue"][key]["y"], y), key
        assert close(series["delay"][name]["y"], 8e3 * samples["queue_bytes"] / rate)
        flows = tables["flow_samples"]
        times, place = np.unique(flows["t_s"], return_inverse=True)
        total = np.bincount(place, weights=flows["delivered_bytes"])
        assert close(series["goodput"][name]["x"], (times[1:] + times[:-1]) / 2)
        assert close(series["goodput"][name]["y"], 8e-6 * np.diff(total) / np.diff(times))
        if "visited" in series["probability"]:
            counted = samples["t_s"] >= answer["warmup_s"]
            assert close(series["probability"]["visited"]["x"], samples["average"][counted])
            assert close(series["probability"]["visited"]["y"], samples["p_b"][counted])
            at = tables["links"]["link"].tolist().index(answer["link"])
            mean = series["probability"]["mean average, share dropped"]
            assert close([*mean["x"], *mean["y"]], [tables["links"]["mean_average"][at], loss])
        else:
            assert "has no curve" in charts["probability"]["alt"]


def test_the_curve_is_that_of_the_core(tmp_path):
    [answer] = page_answers(BUILT_IN, [{"seconds": 5, MAX_TH: 45}])
    [curve] = [one for chart in answer["charts"] for one in chart["series"] if one["name"] == "curve"]
    queue = {"aqm": "red", "min_th": 10, "max_th": 45, "max_p": 0.1}
    assert close(curve["y"], _core.curve(json.dumps(queue), curve["x"]))
    assert max(curve["y"]) == 1
    assert len(set(curve["y"])) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", examples())
def test_controls_hold_the_values_of_the_scenario_for_every_example_and_discipline(name, tmp_path):
    """A control's value is one that it can have; set again, it changes nothing."""
    asked = {"text": examples()[name], "file": f"example:{name}"}
    panels = answers_of(PANELS, asked)
    assert sum(isinstance(panel[0], dict) for panel in panels) > len(panels) / 2
    for panel in panels:
        if isinstance(panel[0], str):
            continue  # the file's settings do not suit this discipline
        keys = [control["key"] for control in panel]
        assert len(set(keys)) == len(keys)
        assert {"aqm", "beside", "seconds", "seed"} <= set(keys)
        for control in panel:
            value, label = control["value"], (name, panel[0]["value"], control["key"])
            assert control["label"], label
            assert control["group"], label
            if control["kind"] == "number":
                assert control["least"] <= value <= control["most"], label
                assert control["low"] < control["high"], label
                assert control["low"] > 0 or not control["log"], label
            elif control["kind"] == "choice":
                assert value in control["choices"], label
            else:
                assert isinstance(value, bool), label
            assert control["below"] in ("", *keys), label


@pytest.mark.slow
@pytest.mark.parametrize("file", PRESETS.values())
def test_scenarios_of_papers_run_in_the_page(file, tmp_path):
    [found] = page_answers(file, [{}])
    assert isinstance(found, dict), found
    assert found["command"].startswith(f"aqmlab run {file} --seeds 1")
    assert found["packet_hops"] > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["applications", "asymmetric", "dumbbell-cubic", "udp-mix"])
def test_numbers_and_colours_where_flows_differ(name, tmp_path):
    """Jain's index leaves out flows that applications drive; what applications see is not in the page."""
    [found] = page_answers(f"example:{name}", [{"seconds": 8, "beside": "drop-tail"}])
    assert isinstance(found, dict), found
    check_numbers(found)
    for chart in (found["charts"][0], *found["charts"][2:]):
        names = [one["name"] for one in chart["series"]]
        run = {name: next((i for i, aqm in enumerate(found["names"]) if name.startswith(aqm)), 0) for name in names}
        own = {name: "" if name.split(": ")[-1] == "queue" else found["names"][run[name]] for name in names}
        series = [Series(name, [], [], color=run[name] if own[name] else GREY, discipline=own[name]) for name in names]
        looks = [(mark.color, mark.dash, mark.marker) for mark in marks(series)]
        assert [(one["paint"], one["dash"], one["marker"]) for one in chart["series"]] == looks


def test_the_scale_of_the_page_is_that_of_figures():
    """A peak of the warm-up is clipped and named, with the same scale as in a figure."""
    [found] = page_answers("example:dumbbell-red", [{"beside": "codel"}])
    queue = next(chart for chart in found["charts"] if chart["key"] == "queue")
    series = [Series(one["name"], one["x"], one["y"]) for one in queue["series"]]
    expected = steady_scale(series, 5.0, "packets", levels=queue["levels"])
    assert queue["y_range"] == pytest.approx(expected["y_range"])
    assert queue["clipped"] == {"at": pytest.approx(expected["clipped"][0]), "words": expected["clipped"][1]}
    assert "peak" in queue["clipped"]["words"]
    assert max(max(one["y"]) for one in queue["series"]) > 2 * queue["y_range"][1]


MARKS = """
const look = ({ paint, dash, marker, onLine }) => [paint, dash, marker, onLine];
for (const rows of asked) { answers.push(painted(rows).map(look)); }
"""


def test_series_have_the_same_marks_in_the_page_and_in_figures():
    """One table of colours, and the same choice of them, for disciplines, several series of one, and others."""
    names = [
        ["red", "gentle-red", "codel"], ["red: queue", "red: average", "codel: queue"], ["a", "b", "red"], ["a", "b"],
        ["red: queue", "red: average"], ["codel: queue", "cobalt: queue", "cobalt: average"], list(DISCIPLINES),
    ]  # fmt: skip
    charts = [
        [Series(name, [], [], mode=mode, color=place) for place, name in enumerate(own)]
        for own in names
        for mode in ("line", "points")
    ]
    charts += [[Series("x", [], [], color=1, discipline="pie"), Series("y", [], [], color=2, discipline="sfb")]]
    charts += [[Series("queue", [], [], color=GREY), Series("average", [], [], color=0, discipline="mred")]]
    charts += [[Series(name, [], [], color=3, discipline="pie") for name in ("x", "y")]]
    asked = [
        [{"name": one.name, "mode": one.mode, "color": one.color, "discipline": one.discipline} for one in chart]
        for chart in charts
    ]
    for chart, found in zip(charts, answers_of(MARKS, asked), strict=True):
        assert found == [[mark.color, mark.dash, mark.marker, mark.on_line] for mark in marks(chart)]


@pytest.mark.slow
def test_the_size_of_a_run_is_estimated_well_enough(tmp_path):
    """Hardly ever too low, so that nothing large gets through, and every example is accepted."""
    asked = [(text, name) for name, text in examples().items()]
    for (_, name), (estimate, real) in zip(asked, answers_of(HOPS, asked), strict=True):
        assert 0.9 * real < estimate < MOST_HOPS, name


class Scripts(HTMLParser):
    """The addresses that a page loads."""

    def __init__(self):
        super().__init__()
        self.loaded = []

    def handle_starttag(self, tag, attrs):
        self.loaded += [value for key, value in attrs if key in ("src", "href") and not value.startswith("#")]


def test_the_page_loads_nothing(tmp_path):
    wasm_path()
    page = standalone_page()
    scripts = Scripts()
    scripts.feed(page)
    assert scripts.loaded == ["data:,"]
    assert len(gzip.compress(page.encode())) < 2_000_000


def test_the_policy_allows_the_page_its_own_scripts_and_a_worker():
    wasm_path()
    page = standalone_page()
    found = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert found
    assert page.index(found[0]) < page.index("<style>")
    digest = r"'sha256-[\w+/]{43}='"
    wanted = (
        rf"default-src 'none'; script-src {digest} {digest} 'wasm-unsafe-eval'; style-src {digest}; worker-src blob:; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert re.fullmatch(wanted, found[1])


@pytest.mark.slow
def test_the_command_writes_the_page(tmp_path):
    wasm_path()
    out = tmp_path / "deep" / "lab.html"
    done = CliRunner().invoke(app, ["lab", "example:chain", "--out", str(out), "--json"])
    assert done.exit_code == 0, done.output
    assert "example:chain" in out.read_text()
    done = CliRunner().invoke(app, ["lab", "--out", str(tmp_path)])
    assert done.exit_code != 0
    assert "is a folder; name a file" in str(done.exception)


def test_without_the_simulator_the_error_names_the_command_that_makes_it(monkeypatch):
    monkeypatch.setattr(lab_html, "CORE", "lab/none.wasm")
    with pytest.raises(Error, match="run `make web`"):
        standalone_page()
    site = lab_page.text()
    assert "run `make web`" in site
    assert "default-src 'none'" in site


def test_a_discipline_of_python_is_rejected(monkeypatch):
    from aqmlab.scenario.registry import discipline

    foreign = lambda name: type("D", (), {"foreign": name == "red", "known": discipline(name)})  # noqa: E731
    monkeypatch.setattr(lab_html, "discipline", foreign)
    with pytest.raises(InputError, match=r"queue.bottleneck.aqm: red is written in Python"):
        standalone_page()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["red", "codel", "fq-codel", "ddred"])
def test_the_packets_that_wait_in_a_recording_are_the_backlog_of_the_run(name, tmp_path):
    text, begin = read_text(Path(BUILT_IN)), 7.003
    settings = {"aqm": name, "queue.bottleneck.ecn": True} if name == "red" else {"aqm": name}
    asked = {"text": text, "file": BUILT_IN, "settings": [settings], "from_s": begin}
    [waiting] = answers_of(WATCHED, asked)
    end = waiting[-1][0]
    assert end > begin + 0.4
    [answer] = page_answers(BUILT_IN, [settings])
    words = shlex.split(answer["command"])
    overrides = [tuple(words[i + 1].split("=", 1)) for i, word in enumerate(words) if word == "--set"]
    sampled = {"probe.links": ["bottleneck"], "probe.queue_interval": "17ms"}
    run = aqmlab.run(BUILT_IN, seeds=1, out=tmp_path, progress=False, overrides=[*overrides, *sampled.items()])
    samples = run.queue_samples.set_index("t_s")["queue_packets"]
    inside = samples[(samples.index > begin) & (samples.index < end)]
    assert len(inside) > 20
    times = [time for time, _ in waiting]
    found = [waiting[bisect.bisect_right(times, time) - 1][1] for time in inside.index]
    assert found == inside.tolist()
