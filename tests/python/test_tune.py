"""Tuning: the answer and its confirmation, the command, and its errors."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import Error, InputError
from aqmlab.runs.store.index import INDEX, Index
from aqmlab.statistics import Verdict
from aqmlab.tuning import decision, verification
from aqmlab.tuning.budget import Budget
from aqmlab.tuning.decision import reason
from aqmlab.tuning.measurements import Place
from aqmlab.tuning.starts import AUTOMATIC
from conftest import DUMBBELL, Shell

pytestmark = pytest.mark.slow

ASKED = {"minimize": "delay_p95", "keep": ["utilization>=0.8"], "over": ["flows=2:8"]}
QUICK = {"trials": 8, "seeds": 1, "fresh": 5, "progress": False}
WORDS = ("--minimize", "delay_p95_ms", "--keep", "utilization>=0.8", "--over", "flows=2:8")
FEW = ("--trials", "8", "--seeds", "1", "--fresh", "5")


@pytest.fixture(scope="module")
def plan() -> aqmlab.Scenario:
    return aqmlab.Scenario.from_text(DUMBBELL, filename="small.toml")


@pytest.fixture(scope="module")
def found(plan: aqmlab.Scenario) -> aqmlab.Tuned:
    return aqmlab.tune(plan, **ASKED, **QUICK)


def test_the_answer_beats_automatic_red_and_the_file_on_fresh_seeds(found: aqmlab.Tuned) -> None:
    verdicts = {one.reference.name: one for one in found.against}
    assert found.holds is Verdict.HOLDS
    for name in (AUTOMATIC, "file"):
        one = verdicts[name]
        assert one.verdict == "better", name
        assert one.compared.difference.interval.high < 0 or one.reference.verdict is Verdict.FAILS
    assert {"start: analytic 15 %", AUTOMATIC, "file"} <= {n.replace("30", "15").replace("60", "15") for n in verdicts}


def test_fresh_seeds_and_points_are_fresh(found: aqmlab.Tuned) -> None:
    assert found.points == ["flows=2", "flows=8", "flows=4"]
    assert len(found.fresh_points) == 2
    assert found.seeds == (1, 8, 5)
    assert found.confirmed.goal.n == 5


def test_the_scenario_text_is_the_queue_that_was_measured(found: aqmlab.Tuned, plan: aqmlab.Scenario) -> None:
    table = tomllib.loads(found.scenario_text)["queue"]["bottleneck"]
    assert table == found.body
    assert Place(plan, "bottleneck", "bottleneck").scenario(table).queue_table("bottleneck") == table


def test_the_same_inputs_give_the_same_answer_with_any_number_of_workers(
    found: aqmlab.Tuned, plan: aqmlab.Scenario, tmp_path: Path
) -> None:
    again = aqmlab.tune(plan, **ASKED, **QUICK, workers=1, out=tmp_path)
    assert again.data() == found.data()
    count = answers_in(tmp_path)
    record = (tmp_path / "tune.json").read_bytes()
    aqmlab.tune(plan, **ASKED, **QUICK, out=tmp_path)
    assert answers_in(tmp_path) == count, "a run was made twice"
    assert (tmp_path / "tune.json").read_bytes() == record
    assert (tmp_path / "tune.svg").exists()


def answers_in(store: Path) -> int:
    """Count the answers in a store."""
    if not (store / INDEX).exists():
        return 0
    connection = sqlite3.connect(store / INDEX)
    try:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.OperationalError:  # the store is being made
        return 0
    finally:
        connection.close()


def test_front_and_figure(found: aqmlab.Tuned) -> None:
    rows = found.front
    goals, kept = [trial.goal for trial in rows], [trial.kept[0] for trial in rows]
    assert goals == sorted(goals)
    assert kept == sorted(kept)
    assert len(found.trials) == QUICK["trials"]
    assert [series.name for series in found.chart().series][:3] == ["trials", "front", "tuned, fresh seeds"]


def test_command_with_json_and_the_rest_after_ctrl_c(shell: Shell, found: aqmlab.Tuned) -> None:
    words = ("tune", "small.toml", *WORDS, *FEW, "--out", "answer", "--json")
    process = subprocess.Popen(
        shell.command(*words), cwd=shell.folder, env=shell.environment(), stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    store = shell.folder / "answer"
    until = time.monotonic() + 60
    while not answers_in(store) and time.monotonic() < until:
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode in (0, 130), error
    if process.returncode == 130:
        assert len(error.splitlines()) == 1
        assert "interrupted" in error
    before = answers_in(store)
    assert before
    answer = shell(*words)
    assert answer.code == 0, answer.err
    data = json.loads(answer.out)
    assert data["settings"] == dict(found.body)
    goal = {key: None if value != value else value for key, value in found.data()["confirmed"]["goal"].items()}
    assert data["confirmed"]["goal"] == goal
    assert answers_in(store) > before or process.returncode == 0


def test_command_shows_every_dialect(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--trials", "4", "--seeds", "1", "--fresh", "2", "--out", str(small.parent / "out"))
    assert command(str(small), *WORDS, *few) == 0
    brief = capsys.readouterr().out
    assert brief.startswith("Use this: red with ")
    assert "\n    tc qdisc replace" in brief
    assert "--details prints all settings, notes, tests and texts for other systems." in brief
    assert len(brief.splitlines()) <= 30
    assert command(str(small), *WORDS, *few, "--details") == 0
    out = capsys.readouterr().out
    for text in (
        "[queue.bottleneck]",
        "tc qdisc replace",
        "Queue/RED set",
        "ns3::RedQueueDisc",
        "fill-level",
        "Pareto",
    ):
        assert text in out
    assert "random-detect exponential-weighting-constant" in out


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"minimize": "delai.p95"}, "unknown metric"),
        ({"minimize": "delay"}, "name one of them"),
        ({"minimize": None}, "give one goal"),
        ({"maximize": "goodput"}, "give one goal"),
        ({"keep": ["utilization=0.9"]}, "METRIC>=VALUE"),
        ({"keep": ["utilization>=0.9ms"]}, "has no unit ms"),
        ({"keep": ["nothing>=1"]}, "unknown metric"),
        ({"over": ["flows=10:10"]}, "the range is empty"),
        ({"over": ["flows=10:2"]}, "the range is reversed"),
        ({"over": ["flows=10"]}, "KEY=LOW:HIGH"),
        ({"over": ["flows=a:b"]}, "not a number"),
        ({"over": ["flows=1ms:2ms"]}, "whole number"),
        ({"over": ["rtt=20:200"]}, "a round trip is a time"),
        ({"over": ["rtt=20ms:200"]}, "same kind of unit"),
        ({"over": ["rate=2:20"]}, "a rate has a unit"),
        ({"over": ["flow=2:20"]}, "unknown key"),
        ({"over": ["flow.tcp.cuont=2:20"]}, "^--over flow.tcp.cuont: .*did you mean count"),
        ({"over": ["flows=2:4", "flows=3:5"]}, "given twice"),
        ({"queue": "bottlenekc"}, "unknown queue"),
        ({"aqm": "rde"}, "unknown discipline"),
        ({"aqm": "wred"}, "name a parameter to search"),
        ({"vary": ["speed=1:2"]}, "unknown parameter"),
        ({"vary": ["limit=20:10"]}, "below the high end"),
        ({"vary": ["spacing=quick"]}, "unknown word"),
        ({"quantile": 2.0}, "quantile"),
        ({"fresh": 1}, r"fresh seeds: 1 is out of range \(allowed: 2 to 10,000; one has no interval\)"),
        ({"trials": 0}, r"is out of range \(allowed: 1 to 1"),
        ({"against_settings": {"x": {"aqm": "red", "min_th": "30p", "max_th": "20p"}}}, "not below max_th"),
        *(
            (
                {"against_settings": {name: {"aqm": "codel"}}},
                f"^--against {name}: is the name of other settings in answers",
            )
            for name in ("tuned", "best trial", "file", AUTOMATIC, "start: analytic 30 %", "defaults", "drop-tail")
        ),
    ],
)
def test_bad_input(plan: aqmlab.Scenario, changed: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        aqmlab.tune(plan, **{**ASKED, **QUICK, **changed})
    assert "\n" not in str(caught.value)


def command(*words: str) -> int:
    """The command line in this process."""
    return main(["tune", *words])


def test_bounds_that_cannot_be_kept_name_the_best(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--minimize", "delay_p95_ms", "--keep", "loss<=0", "--over", "flows=4:8", *FEW)
    assert command(str(small), *asked, "--out", str(small.parent / "out")) == 1
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1
    assert "none of 8 trials keeps the constraints" in error
    assert "loss<=0%: best found " in error
    assert "; nearest: aqm = red, " in error


@pytest.mark.parametrize(
    "words",
    [
        ("--over", "flows=9:2"),
        ("--over", "flows=2:9", "--against", "x"),
        ("--over", "flows=2:9", "--against", "x={ aqm = "),
        ("--over", "flows=2:9", "--trials", "0"),
        ("--over", "flows=2:9", "--aqm", "red,codel", "--vary", "codel:target=9s:10s"),
        ("--over", "flows=2:9", "--aqm", "red,,codel"),
        ("--over", "flows=2:9", "--against", "A={ aqm = 'rod' }"),
        ("--over", "queue.bottleneck.max_th=1p:2p"),
        ("--tcp", "reno"),
        ("--uplink", "5Mbps"),
    ],
)
def test_bad_input_of_the_command_is_an_error_of_one_line(
    small: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert command(str(small), "--minimize", "loss", *words) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_ranges_of_one_discipline_and_conditions_of_the_scenario(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--minimize", "delay_p95_ms", "--aqm", "codel,red", "--vary", "target=5ms:20ms", *FEW)
    assert command(str(small), *asked, "--out", str(small.parent / "out")) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Note: conditions derived from the scenario: flows=" in text
    # The queue's own discipline, a range of whole packets, and a queue that the file does not describe.
    few = ("--minimize", "delay_p95_ms", "--trials", "2", "--seeds", "1", "--fresh", "2")
    own = ("--over", "queue.bottleneck.limit=25p:40p", "--vary", "max_p=0.1:0.2")
    assert command(str(small), *few, *own, "--out", str(small.parent / "own")) == 0
    both = ("--aqm", "red,codel", "--queue", "default", "--over", "flows=2:4")
    short = ("--set", "run.duration=3s", "--set", "run.warmup=1s", "--out", str(small.parent / "both"))
    assert command("example:dumbbell-red", *few, *both, *short) == 0


def test_without_optuna_a_message_names_the_package(plan: aqmlab.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(InputError, match=r"pip install 'aqmlab\[tune\]'"):
        aqmlab.tune(plan, **ASKED, **QUICK)


def test_a_full_disk_is_an_error(plan: aqmlab.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(index: Index, *_: object) -> None:
        with index.transaction():
            raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Index, "put_answer", full)
    with pytest.raises(
        aqmlab.StorageError, match=r"the disk is full; \d+ of \d+ runs finished and kept in .* goes on with the rest"
    ) as caught:
        aqmlab.tune(plan, **ASKED, **QUICK, out=tmp_path)
    assert "\n" not in str(caught.value)


def test_other_disciplines_and_parameters(plan: aqmlab.Scenario) -> None:
    few = {**QUICK, "trials": 5, "fresh": 2}
    tail = aqmlab.tune(plan, minimize="delay_p95", over=["rate=1Mbps:2Mbps"], aqm="drop-tail", **few)
    assert set(tail.body) == {"aqm", "limit"}
    assert [one.text.split(" limit")[0] for one in tail.dialects] == ["tc qdisc replace dev DEV root pfifo"]
    assert "defaults" in {one.reference.name for one in tail.against}
    varied = aqmlab.tune(
        plan,
        maximize="goodput",
        over=["flow.tcp.count=2:4"],
        aqm="gentle-red",
        vary=["limit=10:60", "spacing=linux,none"],
        **few,
    )
    assert varied.body["spacing"] in ("linux", "none")
    assert varied.holds is Verdict.HOLDS
    with pytest.raises(Error, match="none of 5 trials"):
        aqmlab.tune(plan, minimize="loss", keep=["delay_p95<=0.001ms"], over=["flows=2:4"], **few)


@pytest.mark.parametrize(
    ("aqm", "searched", "text"),
    [
        ("codel", {"target", "interval"}, "codel"),
        ("fq-codel", {"target", "interval"}, "fq_codel"),
        ("cobalt", {"target", "interval"}, None),
        ("pie", {"target", "alpha", "beta"}, "pie"),
        ("fq-pie", {"target", "alpha", "beta"}, "fq_pie"),
        ("pi2", {"target", "alpha", "beta"}, None),
        ("dualpi2", {"target", "alpha", "beta"}, "dualpi2"),
    ],
)
def test_disciplines_that_control_the_delay(
    plan: aqmlab.Scenario, aqm: str, searched: set[str], text: str | None
) -> None:
    few = {**QUICK, "trials": 4, "fresh": 2}
    found = aqmlab.tune(plan, minimize="delay_p95", over=["flows=2:4"], aqm=aqm, **few)
    assert found.body.keys() - {"aqm", "limit", "mean_packet"} == searched
    assert str(found.body["target"]).endswith("ms")
    compared = {one.reference.name for one in found.against}
    assert "file" in compared
    assert "defaults" in compared or "the answer has the same settings as defaults" in found.notes
    assert (aqm == "dualpi2") == any("over the packets of both queues" in note for note in found.notes)
    assert AUTOMATIC not in compared
    words = [one.text.partition(" limit ")[0] for one in found.dialects]
    assert words == ([] if text is None else [f"tc qdisc replace dev DEV root {text}"])


def test_red_where_the_file_has_codel(plan: aqmlab.Scenario) -> None:
    codel = plan.with_overrides({"queue.bottleneck": "{ aqm = 'codel', limit = '40p' }"})
    found = aqmlab.tune(
        codel, minimize="delay_p95", over=["flows=2:4"], aqm="red", **{**QUICK, "trials": 4, "fresh": 2}
    )
    assert found.body["aqm"] == "red"
    assert "file" in {one.reference.name for one in found.against}


def test_a_range_of_times_has_units(plan: aqmlab.Scenario) -> None:
    asked = {"minimize": "delay_p95", "over": ["flows=2:4"], "aqm": "codel", **QUICK, "trials": 2, "fresh": 2}
    found = aqmlab.tune(plan, vary=["target=1ms:30ms"], **asked)
    assert 1 <= float(str(found.body["target"]).removesuffix("ms")) <= 30
    with pytest.raises(InputError, match=r"\"0.001\" has another unit \(allowed: for example target=1ms:30ms\)"):
        aqmlab.tune(plan, vary=["target=0.001:0.03"], **asked)


def test_a_start_that_the_search_changes_has_a_name_of_its_own(plan: aqmlab.Scenario) -> None:
    fine = plan.with_overrides({"queue.bottleneck.w_q": 0.0423456})
    found = aqmlab.tune(fine, minimize="delay_p95", over=["flows=2:4"], aqm="red", **{**QUICK, "trials": 5, "fresh": 2})
    tried = {one.name: one.body for one in found.trials}
    named = {one.reference.name: one.reference.body for one in found.against}
    assert {AUTOMATIC, "file"} <= named.keys()
    assert tried[f"{AUTOMATIC} as red"]["aqm"] == "red"
    assert named[AUTOMATIC]["aqm"] == "gentle-red"
    assert (tried["file, w_q moved"]["w_q"], named["file"]["w_q"]) == (0.0423, 0.0423456)
    for name in tried.keys() & named.keys():
        assert tried[name] == named[name]


def test_sentence_and_table_have_the_same_digits(found: aqmlab.Tuned) -> None:
    cell = found.answer_table().iloc[0, 1]
    assert f"95 % queueing delay {cell} ms at the worst" in reason([found], found)


def test_undecided_says_why(plan: aqmlab.Scenario) -> None:
    same = plan.queue_table("bottleneck") | {"max_p": 0.101}
    found = aqmlab.tune(
        plan, minimize="delay_p95", over=["flows=2:4"], against_settings={"near": same}, **{**QUICK, "trials": 1}
    )
    reasons = found.why_undecided()
    undecided = [one.reference.name for one in found.against if one.verdict == "undecided"]
    assert [reason.partition(":")[0] for reason in reasons] == [f"undecided against {name}" for name in undecided]


def test_an_uplink_in_place_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--trials", "2", "--seeds", "1", "--fresh", "2", "--out", str(tmp_path))
    asked = ("tune", "--uplink", "5Mbps", "--rtt", "20ms:40ms", "--for", "calls and downloads")
    assert main([*asked, "--aqm", "codel,cobalt", "--set", "run.duration=6s", "--set", "run.warmup=2s", *few]) == 0
    out = capsys.readouterr().out
    assert "uplink-5Mbps: maximize mos_worse and keep utilization>=0.75; " in out
    assert "tc qdisc replace dev DEV parent 1:1 handle 10: codel limit" in out
    assert "Linux has no command for cobalt: " in out
    assert {path.name for path in tmp_path.glob("*/tune.json")} == {"tune.json"}
    assert all(len(line) <= 200 for line in out.splitlines())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "give a scenario file, or --uplink RATE"),
        (("--uplink", "50"), "a rate has a unit, for example 50Mbps"),
        (("--uplink", "5Mbps", "--rtt", "20ms:30ms:40ms"), "write it as 40ms or as LOW:HIGH"),
        (("--uplink", "5Mbps", "--rtt", "40ms:20ms"), "the shorter first"),
        (("--uplink", "5Mbps", "--for", "games"), 'unknown use "games"'),
    ],
)
def test_bad_uplinks(words: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", *words]) != 0
    error = capsys.readouterr().err
    assert message in error
    assert len(error.strip().splitlines()) == 1


def test_a_look_that_the_time_budget_leaves_out_is_noted(monkeypatch):
    """Ten runs of 1 s fit into a budget of 10 s, and a third look needs twenty."""
    budget = Budget(10.0, clock=lambda: 0.0)
    budget.ran(10, 10.0)
    monkeypatch.setattr(verification, "confirm", lambda *_, seeds, **__: [SimpleNamespace(per_seed=range(seeds))])
    monkeypatch.setattr(verification, "against", lambda *_: [None])
    monkeypatch.setattr(verification, "is_open", lambda *_: True)
    bench = SimpleNamespace(budget=budget)
    tuned, _ = verification.confirm_until_decided(bench, None, {"tuned": {}}, points=[None], seeds=5)
    assert len(tuned.per_seed) == 10
    assert budget.note() == "the time budget was spent: 10 of 20 fresh seeds (--budget sets another)"
    budget.cut("fresh seeds", 20, 20)
    assert not budget.note()


def test_a_finalist_without_time_for_further_seeds_has_a_note():
    spent = Budget(1e-9)
    answer = SimpleNamespace(
        rerun=SimpleNamespace(bench=SimpleNamespace(budget=spent), looks=[5, 10, 20]),
        confirmed=SimpleNamespace(per_seed=range(5)),
    )
    assert decision._with_more_seeds(answer, 5) is None
    assert spent.note() == "the time budget was spent: 5 of 10 fresh seeds (--budget sets another)"
