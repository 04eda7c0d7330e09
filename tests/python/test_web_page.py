"""The page that runs by itself equals the page of the server in controls, numbers, charts and commands."""

from __future__ import annotations

import bisect
import gzip
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

import aqmlab
from aqmlab.cli import app
from aqmlab.errors import Error, InputError, ScenarioError
from aqmlab.lab import standalone
from aqmlab.lab.session import BUILT_IN, Session
from aqmlab.lab.standalone import PRESETS, standalone_page
from aqmlab.results.metrics import APPLICATIONS
from aqmlab.scenario.file import examples, read_text
from browser_core import answers_of, wasm_path
from builder import lab_page

ANSWER = """
const session = await Session.open(core, asked.text, asked.file);
for (const settings of asked.settings) {
  try { answers.push(await session.answer(settings)); } catch (error) { answers.push(error.message); }
}
"""
PANELS = """
const session = await Session.open(core, asked.text, asked.file);
for (const name of asked.names) {
  try { answers.push(session.panel(name).map(shownControl)); } catch (error) {
    answers.push(error.problems.map(({ message }) => ({ message })));
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
WRONG = ({MAX_TH: -1}, {"nonsense": 1}, {"aqm": "nonsense"}, {"seed": 1.5}, {"queue.bottleneck.ecn": 1})
TOO_LARGE = {"rate": 10_000, "seconds": 600}


def expected(file: str, settings: dict) -> dict:
    session = Session(file, budget_s=1000.0)
    try:
        return session.answer(settings)
    finally:
        session.close()


def closely(found: object, due: object) -> None:
    """Compare answers: words alike, numbers to the digits that a chart of 500 pixels can show.

    Python rounds a half to even, JavaScript up.
    """
    if isinstance(due, dict):
        assert found.keys() == due.keys()
        for key, value in due.items():
            closely(found[key], value)
    elif isinstance(due, list | tuple) and all(isinstance(value, float | None) for value in due):
        scale = max((abs(value) for value in due if value is not None), default=0.0)
        numbers = [[math.nan if value is None else value for value in values] for values in (found, due)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, abs=2e-4 * scale, nan_ok=True)
    elif isinstance(due, list | tuple):
        assert len(found) == len(due)
        for one, other in zip(found, due, strict=True):
            closely(one, other)
    elif isinstance(due, float):
        assert found == pytest.approx(due, rel=1e-4)
    else:
        assert found == due


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_answers_are_those_of_the_server(settings, tmp_path):
    asked = {"text": read_text(BUILT_IN), "file": BUILT_IN, "settings": [settings]}
    (found,) = answers_of(ANSWER, asked, tmp_path)
    assert isinstance(found, dict), found
    due = expected(BUILT_IN, settings)
    assert found.pop("packet_hops") > 10_000
    due.pop("took_ms")
    for answer in (found, due):
        for control in answer["panel"]:
            if control["key"] == "seconds":
                del control["doc"]
    closely(found, due)


@pytest.mark.slow
@pytest.mark.parametrize("name", examples())
def test_controls_are_those_of_the_server_for_every_example_and_discipline(name, tmp_path):
    session = Session(f"example:{name}")
    session.close()
    names = session.panel(session.scenario.link(session.link).aqm)[0].choices
    asked = {"text": examples()[name], "file": f"example:{name}", "names": names}
    found = answers_of(PANELS, asked, tmp_path)
    for aqm, panel in zip(names, found, strict=True):
        due = panel_of(session, aqm)
        for control in (*panel, *due):
            if control.get("key") == "seconds":
                del control["doc"]
        closely(panel, due)


def panel_of(session: Session, aqm: str) -> list[dict]:
    """Return the controls of a discipline, or the errors if the file's settings do not suit it."""
    try:
        return [control.data() for control in session.panel(aqm)]
    except ScenarioError as error:
        return [{"message": problem.message} for problem in error.problems]


@pytest.mark.slow
@pytest.mark.parametrize("file", PRESETS.values())
def test_scenarios_of_papers_run_in_the_page(file, tmp_path):
    asked = {"text": read_text(Path(file)), "file": file, "settings": [{}]}
    (found,) = answers_of(ANSWER, asked, tmp_path)
    assert isinstance(found, dict), found
    assert found["command"].startswith(f"aqmlab run {file} --seeds 1")
    assert found["packet_hops"] > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("name", ["applications", "asymmetric", "dumbbell-cubic", "udp-mix"])
def test_numbers_and_colours_are_those_of_the_server_where_flows_differ(name, tmp_path):
    """Jain's index leaves out flows that applications drive; what applications see is not in the page."""
    file, settings = f"example:{name}", {"seconds": 8, "beside": "drop-tail"}
    (found,) = answers_of(ANSWER, {"text": examples()[name], "file": file, "settings": [settings]}, tmp_path)
    assert isinstance(found, dict), found
    due = expected(file, settings)
    closely(found["numbers"], [row for row in due["numbers"] if row["key"] not in APPLICATIONS])
    for one, other in zip(found["charts"], due["charts"], strict=True):
        assert [(s["name"], s["paint"]) for s in one["series"]] == [(s["name"], s["paint"]) for s in other["series"]]


def test_what_cannot_be_is_one_line(tmp_path):
    asked = {"text": read_text(BUILT_IN), "file": BUILT_IN, "settings": [*WRONG, TOO_LARGE]}
    *found, large = answers_of(ANSWER, asked, tmp_path)
    assert found == [
        f"{MAX_TH}: is out of range (allowed: 0 to 1e+06)",
        '"nonsense" is not among the controls of red',
        found[2],
        "seed: 1.5 is not a whole number",
        "queue.bottleneck.ecn: is not true or false",
    ]
    assert found[2].startswith("aqm: is none of ")
    assert re.match(r"about \d+ million packets over links to simulate \(allowed in a page: up to 50 million\)", large)


@pytest.mark.slow
def test_the_size_of_a_run_is_estimated_well_enough(tmp_path):
    """Hardly ever too low, so that nothing large gets through, and every example is accepted."""
    asked = [(text, name) for name, text in examples().items()]
    for (_, name), (estimate, real) in zip(asked, answers_of(HOPS, asked, tmp_path), strict=True):
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
    monkeypatch.setattr(standalone, "CORE", "lab/none.wasm")
    with pytest.raises(Error, match="run `make web`"):
        standalone_page()
    site = lab_page.text()
    assert "run `make web`" in site
    assert "default-src 'none'" in site


def test_a_discipline_of_python_is_rejected(monkeypatch):
    from aqmlab.scenario.registry import discipline

    foreign = lambda name: type("D", (), {"foreign": name == "red", "known": discipline(name)})  # noqa: E731
    monkeypatch.setattr(standalone, "discipline", foreign)
    with pytest.raises(InputError, match=r"queue.bottleneck.aqm: red is written in Python"):
        standalone_page()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["red", "codel", "fq-codel", "ddred"])
def test_the_packets_that_wait_in_a_recording_are_the_backlog_of_the_run(name, tmp_path):
    text, begin = read_text(Path(BUILT_IN)), 7.003
    settings = {"aqm": name, "queue.bottleneck.ecn": True} if name == "red" else {"aqm": name}
    asked = {"text": text, "file": BUILT_IN, "settings": [settings], "from_s": begin}
    [waiting] = answers_of(WATCHED, asked, tmp_path)
    end = waiting[-1][0]
    assert end > begin + 1
    step = expected(BUILT_IN, settings)["command"].split("--set ")[1:]
    overrides = [tuple(one.strip().strip("'").split("=", 1)) for one in step]
    sampled = {"probe.links": ["bottleneck"], "probe.queue_interval": "37ms"}
    run = aqmlab.run(BUILT_IN, seeds=1, out=tmp_path, progress=False, overrides=[*overrides, *sampled.items()])
    samples = run.queue_samples.set_index("t_s")["queue_packets"]
    inside = samples[(samples.index > begin) & (samples.index < end)]
    assert len(inside) > 25
    times = [time for time, _ in waiting]
    found = [waiting[bisect.bisect_right(times, time) - 1][1] for time in inside.index]
    assert found == inside.tolist()
