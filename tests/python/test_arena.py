"""Policies on hold-out scenarios."""

import json

import numpy as np
import pytest

import aqmlab
from aqmlab import _core
from aqmlab.arena.actions import Curve
from aqmlab.arena.evaluation import evaluate
from aqmlab.arena.holdout import HELD_OUT_FROM, HOLD_OUT
from aqmlab.arena.policies import Policy, applied, policy_text, read_policy
from aqmlab.errors import InputError
from aqmlab.runs.comparison_settings import exchange
from aqmlab.scenario.file import Scenario


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.toml"
    path.write_text('aqm = "red"\ncurve = "points"\npoints_ms = [[2, 0.0], [10, 0.02], [40, 0.3]]\n')
    return path


def test_each_hold_out_scenario_has_tuned_baselines():
    assert {one.name for one in HOLD_OUT} >= {"rfc7928-mild", "lte", "starlink", "l4s"}
    for held in HOLD_OUT:
        assert held.plan().duration_s > 0
        assert list(held.baselines()) == ["red", "codel", "pie"]


@pytest.mark.slow
def test_a_policy_is_compared_on_held_out_seeds(policy, shell):
    answer = shell("arena", "evaluate", str(policy), "--scenario", "rfc7928-mild", "--seeds", "3", "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)
    assert found["seeds"] == [HELD_OUT_FROM, HELD_OUT_FROM + 1, HELD_OUT_FROM + 2]
    one = found["comparisons"]["rfc7928-mild"]
    assert one["labels"] == ["policy", "red", "codel", "pie"]
    assert len(found["summary"]) == 3 * 4, found["summary"]
    for row in found["summary"]:
        means = {(mean["aqm"], mean["metric"]): mean["mean"] for mean in one["means"]}
        assert row["policy"] == means["policy", row["metric"]]
        assert row["base"] == means[row["baseline"], row["metric"]]
        if row["verdict"] in ("higher", "lower"):
            assert (row["percent"] > 0) == (row["verdict"] == "higher")


@pytest.mark.slow
def test_a_function_decides_at_every_interval(tmp_path, monkeypatch, shell):
    (tmp_path / "my_agent.py").write_text(
        "def decide(counts):\n    return 0.02 if counts['queue_packets'] > 10 else 0.0\n"
        "def wrong(counts):\n    return [0.1, 0.2]\n"
        "fixed = {'aqm': 'codel'}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shell, "environment", lambda: {"COLUMNS": "80", "NO_COLOR": "1"})
    answer = shell("arena", "evaluate", "my_agent:decide", "--scenario", "rfc7928-mild", "--seeds", "2")
    assert answer.code == 0, answer.err
    assert "decide: differences against tuned baselines, 2 held-out seeds" in " ".join(answer.out.split())
    assert all(len(line) <= 80 for line in answer.out.splitlines())
    with pytest.raises(InputError, match="wrong: returned"):
        evaluate("my_agent:wrong", scenarios=["rfc7928-mild"], seeds=2, progress=False)
    assert read_policy("my_agent:fixed").settings == {"aqm": "codel"}


def test_a_curve_goes_into_a_scenario_and_into_the_kernel(tmp_path, shell):
    curve, action = Curve((5.0, 10.0, 20.0, 40.0)), np.array([0.0, 0.01, 0.05, 0.4])
    policy = tmp_path / "policy.toml"
    policy.write_text(policy_text({**curve.table(action), "arithmetic": "integer"}))
    scenario = tmp_path / "mine.toml"
    answer = shell("arena", "apply", str(policy), "example:dumbbell-red", "--out", str(scenario))
    assert answer.code == 0, answer.err
    plan = Scenario.load(scenario)
    assert plan.queue_table("bottleneck").keys() == {"aqm", "curve", "points", "limit", "w_q", "arithmetic"}
    averages = np.linspace(0, 60, 601)
    p_b = _core.curve(json.dumps(plan.queue_table("bottleneck")), averages.tolist())
    wanted = np.where(averages < 5, 0.0, np.interp(averages, curve.averages, action))
    assert p_b == pytest.approx(wanted, abs=1e-12)
    files = aqmlab.export_module(scenario, out=tmp_path / "module")
    assert files
    integers = _core.integers(json.dumps(plan.queue_table("bottleneck")), 10e6, 0.01)
    assert integers


def test_a_curve_through_points_and_thresholds_replace_each_other():
    plan = Scenario.load("example:dumbbell-red")
    table = {"aqm": "red", "curve": "points", "points": [[5, 0.0], [20, 0.2]]}
    curved = exchange(plan, ["bottleneck"], "curved", table, [])
    assert curved.queue_table("bottleneck").keys() == {*table, "limit", "w_q"}
    back = exchange(curved, ["bottleneck"], "mred", {"aqm": "mred", "max_th": "30p"}, [])
    assert back.queue_table("bottleneck").keys() == {"aqm", "max_th", "limit", "w_q"}
    assert curved.warnings == back.warnings == ()
    other = exchange(curved, ["bottleneck"], "other", {"aqm": "red", "curve": "points", "limit": "50p"}, [])
    assert other.queue_table("bottleneck")["points"] == table["points"]


def test_averages_in_ms_scale_with_the_link(policy):
    plan = Scenario.load("example:dumbbell-red")
    table = read_policy(str(policy)).table(plan, "bottleneck")
    assert table["points"] == [[2.5, 0.0], [12.5, 0.02], [50.0, 0.3]]  # 1.25 packets of 1000 bytes a ms


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max_p = 0.1", "the discipline is missing"),
        ('aqm = "red"\npoints = [[0, 0], [1, 1]]\npoints_ms = [[0, 0], [1, 1]]', "both points and points_ms"),
        ('aqm = "red"\npoints_ms = [[1, 0], [2, 1]]', 'without curve = "points"'),
        ('aqm = "red"\ncurve = "points"\npoints_ms = [1, 2]', "pairs of delay in ms and probability"),
        ("aqm = ", "policy.toml:1"),
    ],
)
def test_a_bad_file_is_an_error(tmp_path, text, message):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    with pytest.raises(aqmlab.Error, match=message):
        read_policy(str(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("missing.toml", "missing.toml: No such file"),
        ("policy", "unknown policy"),
        ("no_such_module:f", "cannot be imported"),
        ("json:nothing", "json lacks a function or table nothing"),
    ],
)
def test_a_bad_name_is_an_error(text, message):
    with pytest.raises(InputError, match=message):
        read_policy(text)


def test_policies_of_files_with_equal_names_differ(tmp_path):
    for folder, aqm in (("a", "codel"), ("b", "pie")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "json.py").write_text(f'table = {{"aqm": "{aqm}"}}')
    found = [read_policy(f"{tmp_path / folder / 'json.py'}:table").settings["aqm"] for folder in ("a", "b")]
    assert found == ["codel", "pie"]


@pytest.mark.parametrize("code", ["1 / 0", "raise SystemExit(0)", "return 'x'"])
def test_errors_of_a_policy_name_it(tmp_path, code):
    path = tmp_path / "mine.py"
    path.write_text(f"def decide(counts):\n    {code}\n")
    with pytest.raises(InputError, match="decide: "):
        evaluate(f"{path}:decide", scenarios=["lte"], seeds=2, progress=False)


def test_a_policy_of_a_shared_queue_is_an_error():
    policy = Policy("mine", {"aqm": "codel"})
    with pytest.raises(InputError, match=r"queue\.core also sets the queues of"):
        applied(policy, Scenario.load("example:parking-lot"), "r2->r3")


def test_unknown_scenarios_and_too_few_seeds_are_errors(policy):
    with pytest.raises(InputError, match='unknown hold-out scenario "lte2"'):
        evaluate(str(policy), scenarios=["lte2"])
    with pytest.raises(InputError, match="seeds: 1 is out of range"):
        evaluate(str(policy), seeds=1)
