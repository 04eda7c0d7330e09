"""Tuning an uplink: rates, traffic, lengths of runs, recommendations."""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import re
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.interop.tc.recommendation import recommend, uplink_page
from aqmlab.runs.bounds import bounds_of
from aqmlab.scenario.file import Scenario
from aqmlab.tuning.decision import best_of, reason, side_by_side, until_decided
from aqmlab.tuning.goals import goal_of
from aqmlab.tuning.ranges import Point
from aqmlab.tuning.search import Task
from aqmlab.tuning.uplink import PACKET_BUDGET, rates_of, uplink
from aqmlab.tuning.verification import Confirmed, against, beats, confirmed
from measure_lab import browser_path
from test_report_access import RULES
from test_report_print import CUT, PAPER_PX

pytestmark = pytest.mark.slow

RTT = "20ms:100ms"


@pytest.mark.parametrize(
    ("text", "down", "up"),
    [
        ("20mbit", 20e6, 20e6),
        ("20Mbit", 20e6, 20e6),
        ("20 Mbps", 20e6, 20e6),
        ("20Mb/s", 20e6, 20e6),
        ("20mbit/s", 20e6, 20e6),
        ("1gbit", 1e9, 1e9),
        ("100/20Mbps", 100e6, 20e6),
        ("1Gbps/50Mbps", 1e9, 50e6),
        ("100Mbit/s/40Mbit/s", 100e6, 40e6),
    ],
)
def test_rates_as_people_write_them(text: str, down: float, up: float) -> None:
    assert rates_of(text) == (down, up)


@pytest.mark.parametrize("text", ["50", "fast", "20MB/s", "20MBps", "100/20", "0Mbps", "1.2.3Mbps", "20/0Mbps"])
def test_other_rates_are_rejected_with_the_forms_that_are_allowed(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "--uplink", text]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "50Mbps, 20mbit or 100/20Mbps (down/up)" in line


def test_two_rates_make_two_links_and_load_the_uplink() -> None:
    plan = uplink("100/20Mbps", RTT, "calls and web").scenario
    assert plan.link("up").rate_bps == 20e6
    assert plan.link("down").rate_bps == 100e6
    assert plan.link("up").queue == "bottleneck"
    assert all("up" in flow.path for flow in plan.flows if flow.name.startswith("downloads"))
    assert all("up" in flow.path for flow in plan.flows if flow.name.endswith(".there"))


def test_calls_are_scored_in_the_direction_that_is_loaded() -> None:
    plan = uplink("100/20Mbps", RTT, "calls").scenario
    found = aqmlab.run(plan, overrides={"run.duration": "8s"}, seeds=[1], progress=False).metrics(link="up").iloc[0]
    assert found["mos_worse"] < found["mos"] - 0.5, "the other direction is idle"


@pytest.mark.parametrize(
    ("rate", "rtt", "measured", "round_trips"),
    [("20Mbps", RTT, 20.0, 200), ("5Mbps", "5ms:20ms", 15.0, 750), ("20Mbps", "550ms:650ms", 130.0, 200)],
)
def test_runs_last_hundreds_of_round_trips(rate: str, rtt: str, measured: float, round_trips: float) -> None:
    found = uplink(rate, rtt)
    plan = found.scenario
    assert plan.duration_s - plan.warmup_s == pytest.approx(measured)
    assert measured / (float(rtt.split(":")[1].removesuffix("ms")) / 1e3) == pytest.approx(round_trips)
    assert found.notes == ()


def test_a_fast_uplink_has_a_budget_of_packets() -> None:
    found = uplink("10Gbps", "200us:1ms")
    assert max(flow.start_s[1] for flow in found.scenario.flows) < found.scenario.warmup_s
    assert found.scenario.duration_s * 10e9 / 12_000 == pytest.approx(PACKET_BUDGET)
    (note,) = found.notes
    assert note == (
        "a run of 20 s would carry 16,666,667 packets: shortened to 1.2 s (1,000,000 packets, 1,200 of the longest "
        "round trips)"
    )


def test_the_goal_is_what_people_feel() -> None:
    calls, web, both = (uplink("20Mbps", RTT, uses) for uses in ("calls and downloads", "web", "web and calls"))
    assert (calls.maximize, calls.minimize) == ("mos_worse", None)
    assert (web.maximize, web.minimize, web.unharmed) == (None, "page_load_s", ("pages_unfinished",))
    assert (both.maximize, both.unharmed) == ("mos_worse", ("page_load_s", "pages_unfinished"))
    assert uplink("20Mbps", RTT, "downloads").minimize == "delay_p95_ms"


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """Tune CoDel and PIE for a slow uplink from the command line: folder, stdout, stderr."""
    folder = tmp_path_factory.mktemp("tuned")
    few = ("--trials", "3", "--seeds", "1", "--fresh", "4", "--out", str(folder))
    short = ("--set", "run.duration=8s", "--set", "run.warmup=2s", "--rtt", "20ms:40ms")
    words = ("tune", "--uplink", "25/5Mbps", "--for", "calls and downloads", "--aqm", "pie,codel", *short, *few)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        shaped = ("--both", "--dev", "eth1", "--layer", "vdsl")
        assert main([*words, *shaped, "--report", str(folder / "page.html")]) == 0
    return folder, out.getvalue(), err.getvalue()


def test_the_answer_is_one_sentence_with_commands_to_paste(answer: tuple[Path, str, str]) -> None:
    folder, out, _ = answer
    sentence, _, _ = out.partition("    tc ")
    words = " ".join(sentence.split())
    aqm = words.split()[2]
    assert words.startswith(f"Use this: {aqm} with ")
    assert " with drop-tail), " in words
    assert "utilization>=0.75 " in words
    lines = [line.strip() for line in out.splitlines() if line.startswith("    ")]
    shaper = "root handle 1: stab overhead 16 tbf rate {}kbit burst 1600 limit 10000000"
    assert lines[0] == f"tc qdisc replace dev eth1 {shaper.format(4750)}"
    assert lines[1].startswith(f"tc qdisc replace dev eth1 parent 1:1 handle 10: {aqm} limit ")
    assert lines[2] == "ip link add ifb0 type ifb 2> /dev/null || true"
    assert lines[6] == f"tc qdisc replace dev ifb0 {shaper.format(23750)}"
    assert lines[7].startswith(f"tc qdisc replace dev ifb0 parent 1:1 handle 10: {aqm} limit ")
    up, down = (int(line.split(" limit ")[1].split()[0]) for line in (lines[1], lines[7]))
    assert down == 5 * up
    others = [line for line in out.splitlines() if line and not line.startswith("    ")]
    assert len(others) <= 12
    assert all(len(line) <= 80 for line in others if str(folder) not in line)
    assert "Note: " not in out


def test_the_page_begins_with_the_commands_and_has_runs_at_wrong_rates(answer: tuple[Path, str, str]) -> None:
    folder, out, _ = answer
    html = (folder / "page.html").read_text()
    aqm = out.split()[2]
    assert f"<h1>Use {aqm} with " in html
    commands = html.index(f"handle 10: {aqm} limit ")
    assert html.index(">Use this</h2>") < commands < html.index(">All disciplines</h2>")
    assert commands < html.index("Delay against goodput of all candidates")
    packed = re.findall(r'<script type="text/plain" id=[^>]*>([^<]*)</script>', html)
    charts = "".join(gzip.decompress(base64.b64decode(one)).decode() for one in packed)
    for text in ("pie, the answer", "codel, trials", "rate −10 %", "rate +10 %"):
        assert text in html or text in charts, text
    assert "round trip −10 %" in html
    assert "Command: <code>aqmlab tune --uplink 25/5Mbps --for &#39;calls and downloads&#39; --aqm pie,codel " in html
    assert "--report" not in html
    assert f"Report: {folder / 'page.html'}" in out


@pytest.mark.browser
def test_the_page_has_no_violation_asks_for_nothing_and_nothing_sticks_out(answer: tuple[Path, str, str]) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    if browser_path() is None:
        pytest.skip("no Chromium here")  # the browser comes from the system's packages, not from requirements.lock
    axe = find_spec("axe_core_python")
    address, asked = (answer[0] / "page.html").as_uri(), []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 900})
        page.set_default_timeout(180_000)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        page.wait_for_selector("html[data-charts]", state="attached")
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for width, theme in ((390, "light"), (1440, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=theme)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            if axe is not None and axe.origin is not None:
                page.evaluate((Path(axe.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
                found = page.evaluate("(rules) => axe.run(document, { runOnly: rules })", RULES)
                assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
        page.set_viewport_size({"width": PAPER_PX, "height": 1000})
        page.emulate_media(media="print")
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        # Charts take the width of the page a moment later.
        page.wait_for_function(f"(width) => ({CUT})(width).length === 0", arg=PAPER_PX, timeout=20_000)
        browser.close()
    assert [one for one in asked if one != address] == []


def test_the_commands_are_read_back_as_the_queue_that_was_tuned(answer: tuple[Path, str, str], tmp_path: Path) -> None:
    _, out, _ = answer
    lines = [line.strip() for line in out.splitlines() if line.startswith("    tc qdisc")]
    (tmp_path / "router.sh").write_text("\n".join(lines[:2]) + "\n")
    assert main(["import", str(tmp_path / "router.sh"), "--out", str(tmp_path / "back.toml")]) == 0
    back = aqmlab.Scenario.load(tmp_path / "back.toml")
    kinds = {link.aqm: link.rate_bps for link in back.links}
    assert kinds[out.split()[2]] == pytest.approx(4.75e6)


def test_the_scenario_that_was_tuned_is_a_file_for_every_command(
    answer: tuple[Path, str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out, _ = answer
    path = Path(out.rsplit("the tuned scenario: ")[1].splitlines()[0])
    assert path.parent.parent == folder
    assert main(["check", str(path)]) == 0
    assert main(["export", str(path), "--to", "tc", "--out", str(tmp_path / "job.sh")]) == 0
    assert "flow.calls: voip is left out; the queue is written all the same" in capsys.readouterr().err
    assert f" {path.parent.name} limit" in (tmp_path / "job.sh").read_text()
    assert main(["run", str(path), "--seeds", "1", "--out", str(tmp_path / "results"), "--set", "run.duration=4s"]) == 0


def test_defaults_win_unless_beaten_decisively() -> None:
    task = Task(goal_of(None, "mos_worse"), (), 1.0, (goal_of("page_load_s", None),))

    def judged(own: list[float], other: list[float], load: list[float], other_load: list[float]) -> bool:
        def one(name: str, mos: list[float], page: list[float]) -> Confirmed:
            points = [Point("flows=1", (), corner=True)]
            found = {"mos_worse": np.array([mos]), "page_load_s": np.array([page])}
            return confirmed(name, {}, task, points, found)

        tuned = one("tuned", own, load)
        (entry,) = against(task, tuned, [one("defaults", other, other_load)])
        return beats(task, tuned, entry)

    low, high = [3.97, 3.90, 4.02, 3.95, 4.00], [4.36, 4.35, 4.37, 4.36, 4.34]
    quick, slow = [0.5, 0.52, 0.49, 0.51, 0.5], [2.0, 2.1, 1.9, 2.05, 2.0]
    assert judged(high, low, quick, quick)
    assert not judged(low, high, quick, quick), "worse calls"
    assert not judged([mos + 0.001 for mos in high], high, quick, quick), "significant, but inaudible"
    assert not judged([4.36, 4.30, 4.41, 4.33, 4.38], high, quick, quick), "undecided"
    assert not judged(high, low, slow, quick), "slower pages"
    barely = [4.3847, 4.3848, 4.3847, 4.3849, 4.3848]
    assert not judged([mos + 0.002 for mos in barely], barely, quick, quick), "better by an inaudible difference"


@pytest.mark.parametrize(("rtt", "middle_ms"), [("20ms:100ms", 60), ("5ms:6ms", 5.5)])
@pytest.mark.parametrize("rate", ["50Mbps", "100/20Mbps"])
def test_the_scenario_of_an_uplink_has_the_middle_round_trip(rate: str, rtt: str, middle_ms: float) -> None:
    """A run of `tuned.toml` has a round trip of the range: it had 6 ms."""
    network = uplink(rate, rtt, "calls").scenario.tables["dumbbell"]
    middle = network["up" if "/" in rate else "bottleneck"]
    ways = [float(part["delay"].removesuffix("ms")) for part in (network["left"], middle, network["right"])]
    assert 2 * sum(ways) == pytest.approx(middle_ms)


def test_defaults_that_win_are_the_answer() -> None:
    """The search may only try a target that harms calls; the answer is the discipline's own."""
    own = uplink("5Mbps", "20ms:40ms", "calls")
    bad = ["target=200ms:250ms", "interval=260ms:300ms"]
    short = {"run.duration": "8s", "run.warmup": "2s"}
    few = {"trials": 2, "seeds": 1, "fresh": 4, "progress": False}
    asked = {"maximize": own.maximize, "over": own.over, "aqm": "codel", "vary": bad, "prefer_defaults": True}
    found = aqmlab.tune(own.scenario, overrides=short, **asked, **few)
    assert found.body == {"aqm": "codel", "limit": "100p"}
    assert {one.reference.name for one in found.against} == {"best trial", "drop-tail"}
    assert any(note.startswith("defaults win: ") for note in found.notes)
    assert found.against_drop_tail().startswith("Against drop-tail: ")
    # Notes on equal settings name those that are equal.
    trial = next(one.reference for one in found.against if one.reference.name == "best trial")
    again = aqmlab.tune(own.scenario, overrides=short, against_settings={"tried": trial.body}, **asked, **few)
    assert again.body == found.body
    assert "the best trial has the same settings as tried" in again.notes
    assert not any(note.startswith("the answer has the same settings as tried") for note in again.notes)


def test_bounds_that_none_keeps_show_the_best_and_the_next_is_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--trials", "2", "--seeds", "1", "--fresh", "4", "--out", str(tmp_path))
    short = ("--set", "run.duration=4s", "--set", "run.warmup=1s", "--rtt", "500ms:600ms")
    assert main(["tune", "--uplink", "20Mbps", "--for", "calls", "--aqm", "codel,fq-codel", *short, *few]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "utilization>=0.75 fails (0." in out
    assert "No other discipline keeps the bound." in out
    assert "Use this: " in out
    few = (*few, "--details")
    assert main(["tune", "--uplink", "20Mbps", "--for", "calls", "--aqm", "codel,fq-codel", *short, *few]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("none of 2 trials keeps the constraints at every point (utilization>=0.75: best found 0.") == 2
    assert ", misses by 0." in out
    assert "nearest: aqm" not in out, "the answer may be another trial than the nearest one of the search"


def test_the_time_budget_is_stated_when_it_is_spent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--trials", "30", "--fresh", "60", "--out", str(tmp_path), "--budget", "1s")
    short = ("--set", "run.duration=4s", "--set", "run.warmup=1s", "--rtt", "20ms:40ms")
    assert main(["tune", "--uplink", "20Mbps", "--aqm", "codel", *short, *few]) == 0
    out = capsys.readouterr().out
    assert re.search(r"Note: the time budget was spent: \d+ of (30 trials|60 fresh seeds)", out)
    assert main(["tune", "--uplink", "20Mbps", "--budget", "5"]) == 2
    assert 'tune: --budget "5": a time above 0' in capsys.readouterr().err.replace("aqmlab: ", "tune: ")


def test_flows_that_negotiate_ecn_are_marked() -> None:
    own = uplink("1Gbps", "200us:1ms", "downloads", "dctcp")
    assert own.scenario.flows[0].parameters["congestion_control"] == "dctcp"
    short = {"run.duration": "0.05s", "run.warmup": "0.01s", "flow.downloads.start": "0s"}
    few = {"trials": 1, "seeds": 1, "fresh": 2, "progress": False}
    found = aqmlab.tune(own.scenario, minimize="delay_p95_ms", over=own.over, aqm="codel", overrides=short, **few)
    assert found.body["ecn"] is True
    made = recommend(found, dev="eth0")
    assert made.lines[0].startswith("tc qdisc replace dev eth0 root codel ")
    assert made.lines[0].endswith(" ecn")
    assert "no shaper at 1 Gb/s: eth0 itself must be the slowest link" in made.notes
    with pytest.raises(aqmlab.InputError, match='unknown congestion control "cubik"'):
        uplink("1Gbps", "200us:1ms", "downloads", "cubik")


def test_defaults_that_no_trial_beats_noticeably_end_the_search(tmp_path: Path) -> None:
    own = uplink("5Mbps", "20ms:40ms", "calls")
    short = {"run.duration": "4s", "run.warmup": "1s"}
    asked = {"maximize": own.maximize, "keep": own.keep, "over": own.over, "aqm": "fq-codel", "prefer_defaults": True}
    few = {"trials": 16, "seeds": 1, "fresh": 2, "progress": False, "out": tmp_path}
    found = aqmlab.tune(own.scenario, overrides=short, **asked, **few)
    assert found.body == {"aqm": "fq-codel", "limit": "100p", "target": "5ms", "interval": "100ms"}
    assert len(found.trials) == 8
    assert "defaults win: none of 8 trials is better by more than 0.05 on the 1 seed of the search" in found.notes


def answer_of(aqm: str, mos: list[float], utilization: float, least: float = 0.75) -> SimpleNamespace:
    """An answer of a discipline on fresh seeds, at one point."""
    task = Task(goal_of(None, "mos_worse"), tuple(bounds_of([f"utilization>={least}"], option="keep")), 1.0)
    points = [Point("flows=1", (), corner=True)]
    found = {"mos_worse": np.array([mos]), "utilization": np.array([[utilization + 1e-3 * i for i in range(4)]])}
    settings = confirmed("tuned", {}, task, points, found)
    own = {"points": points, "fresh_points": [], "against": []}
    return SimpleNamespace(aqm=aqm, task=task, confirmed=settings, holds=settings.verdict, **own)


GOOD, BAD = [4.38, 4.39, 4.37, 4.38], [3.0, 3.1, 2.9, 3.05]


def test_a_discipline_that_fails_a_bound_is_not_recommended_while_another_holds_it() -> None:
    """The README's example recommended fq-codel although it failed the bound, and red and pie held it."""
    sparse, one = answer_of("fq-codel", GOOD, 0.8, least=0.9), answer_of("codel", BAD, 0.95, least=0.9)
    assert best_of([sparse, one]).aqm == "codel"
    table = side_by_side([sparse, one], one)
    assert list(table["minus codel"]) == ["+1.37 ± 0.12", ""], "the difference behind better, with its interval"
    assert "utilization>=0.9 holds (0.9515 at flows=1)" in reason([sparse, one], one)
    assert reason([sparse, one], one).endswith(" Better, but fails the bound: fq-codel (4.38).")
    both = [sparse, answer_of("codel", BAD, 0.7, least=0.9)]
    assert best_of(both).aqm == "fq-codel"
    assert reason(both, sparse).endswith(
        "utilization>=0.9 fails (0.8015 at flows=1). No other discipline keeps the bound."
    )


def test_one_round_trip_and_each_discipline_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(uplink("50Mbps", "40ms").over) == 1
    assert main(["tune", "--uplink", "5Mbps", "--aqm", "codel,pie,codel"]) == 2
    assert capsys.readouterr().err == "aqmlab: --aqm: codel is given twice\n"


def test_disciplines_without_a_command_and_undecided_bounds_are_named() -> None:
    poor, good = answer_of("codel", BAD, 0.95), answer_of("mred", GOOD, 0.95)
    assert reason([poor], poor, [good]).endswith(" Linux has no command for mred (4.38), bound holds.")
    assert "Linux" not in reason([good], good, [poor])
    open_bound = answer_of("pie", GOOD, 0.8985, least=0.9)
    assert str(open_bound.holds) == "undecided"
    sure = answer_of("codel", BAD, 0.95, least=0.9)
    assert reason([sure, open_bound], sure).endswith(" Better, but its bound is undecided: pie (4.38).")


def test_calls_decide_between_disciplines_that_hold_the_bound() -> None:
    sparse, one = answer_of("fq-codel", GOOD, 0.8), answer_of("codel", BAD, 0.95)
    assert best_of([one, sparse]).aqm == "fq-codel"
    assert "better than codel" in reason([one, sparse], sparse)
    near = answer_of("pie", [4.37, 4.40, 4.36, 4.38], 0.95)
    assert "not distinguishable from pie" in reason([near, sparse], sparse)


def test_the_bound_of_an_uplink_admits_a_short_queue_and_rejects_an_empty_one() -> None:
    """One CUBIC flow over 100 ms at 50 Mb/s: CoDel's defaults get 0.87 of the link, a target of 0.5 ms far less."""
    own = uplink("50Mbps", RTT, "calls and downloads")
    (bound,) = bounds_of(own.keep, option="keep")
    far = {"flow.downloads.count": "1", "dumbbell.left.delay": "24.5ms", "dumbbell.right.delay": "24.5ms"}

    def used(table: str) -> float:
        overrides = {**far, "queue.bottleneck": table}
        runs = aqmlab.run(own.scenario, overrides=overrides, seeds=[1], progress=False)
        return float(runs.metrics()["utilization"].iloc[0])

    assert bound.value < used("{ aqm = 'fq-codel', limit = '834p' }") < 0.9
    assert used("{ aqm = 'codel', limit = '834p', target = '0.1ms', interval = '5ms' }") < bound.value


def test_further_seeds_go_to_the_finalists_until_they_are_decided(tmp_path: Path) -> None:
    short = {"run.duration": "4s", "run.warmup": "1s"}
    own = uplink("5Mbps", "20ms:40ms", "calls")
    asked = {"maximize": own.maximize, "keep": own.keep, "over": own.over, "overrides": short, "trials": 1, "seeds": 1}
    asked |= {"fresh": 2, "progress": False, "prefer_defaults": True, "best_anyway": True, "store": tmp_path}
    answers = [aqmlab.tune(own.scenario, aqm=aqm, **asked) for aqm in ("pie", "codel")]
    grown = until_decided(answers)
    assert [one.aqm for one in grown] == ["pie", "codel"]
    counts = [one.seeds[2] for one in grown]
    assert all(count in (2, 4, 8) for count in counts)
    again = until_decided([aqmlab.tune(own.scenario, aqm=aqm, workers=1, **asked) for aqm in ("pie", "codel")])
    assert [one.data() for one in again] == [one.data() for one in grown]


@pytest.mark.parametrize(
    ("layer", "keyword"),
    [("docsis", "docsis"), ("vdsl", "pppoe-ptm"), ("adsl", "pppoe-llcsnap"), ("pppoa-vcmux", "pppoa-vcmux")],
)
def test_cake_is_one_line_for_each_direction(layer: str, keyword: str) -> None:
    plan = uplink("100/20Mbps", "20ms:100ms").scenario.with_overrides(
        {"queue.bottleneck": "{ aqm = 'cake', rtt = '60ms' }"}
    )
    found = SimpleNamespace(tuned=plan, link="up", aqm="cake")
    made = recommend(found, both=True, down_bps=100e6, dev="eth0", layer=layer)
    shared = f"rtt 60ms {keyword}"
    assert made.lines[0] == f"tc qdisc replace dev eth0 root cake bandwidth 19mbit dual-srchost nat {shared}"
    assert made.lines[-1] == f"tc qdisc replace dev ifb0 root cake bandwidth 95mbit dual-dsthost nat ingress {shared}"
    alone = recommend(found, down_bps=100e6, dev="eth0", layer=layer)
    assert alone.lines == made.lines[:1]
    assert any(note.startswith("nat: hosts behind") for note in alone.notes)


def test_settings_of_cake_are_kept_in_its_line() -> None:
    keys = "{ aqm = 'cake', isolation = 'flows', diffserv = 'besteffort', ack_filter = 'on', rate = '18Mbps' }"
    plan = uplink("100/20Mbps", "20ms:100ms").scenario.with_overrides({"queue.bottleneck": keys})
    made = recommend(SimpleNamespace(tuned=plan, link="up", aqm="cake"), both=True, down_bps=100e6, dev="eth0")
    assert made.lines[0].endswith("cake bandwidth 18mbit besteffort flows ack-filter ethernet")
    assert made.lines[-1].endswith("cake bandwidth 95mbit besteffort flows ingress ethernet")


def test_another_discipline_has_the_same_layers() -> None:
    plan = uplink("20Mbps", "20ms:100ms").scenario.with_overrides({"queue.bottleneck.aqm": "codel"})
    made = recommend(SimpleNamespace(tuned=plan, link="bottleneck", aqm="codel"), dev="eth0", layer="pppoa-vcmux")
    assert "stab overhead -4 linklayer atm tbf rate 19000kbit burst 2000" in made.lines[0]


def test_the_page_of_an_uplink_has_the_commands_of_recommendations() -> None:
    page = uplink_page()
    text = uplink("20Mbps", RTT, "calls and downloads").scenario.text
    for aqm, lines in page["commands"].items():
        plan = Scenario.from_text(text, overrides={"queue.bottleneck": f'{{ aqm = "{aqm}", limit = "134p" }}'})
        made = recommend(SimpleNamespace(tuned=plan, link="bottleneck", aqm=aqm))
        assert [line.replace("{kbit}kbit", "19000kbit").replace("{limit}", "134") for line in lines] == [
            line.replace("19mbit", "19000kbit") for line in made.lines
        ]
    assert page["rules"]["packet_budget"] == PACKET_BUDGET
