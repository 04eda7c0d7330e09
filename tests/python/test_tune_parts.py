"""Parts of tuning: measurements, points, the analytic design, goals, verdicts, the front."""

from __future__ import annotations

import numpy as np
import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.results.quantities import QUANTITIES
from aqmlab.runs.bounds import bounds_of
from aqmlab.runs.store.store import ResultStore
from aqmlab.scenario.registry import discipline
from aqmlab.scenario.toml_text import Value
from aqmlab.statistics import Verdict
from aqmlab.theory.control.conditions import hollot_condition
from aqmlab.tuning.goals import Goal, goal_of
from aqmlab.tuning.measurements import Bench, Place
from aqmlab.tuning.problem import problem_of
from aqmlab.tuning.ranges import fresh_points, ranges_of, search_points
from aqmlab.tuning.search import Task, Trial, front
from aqmlab.tuning.space import space_of
from aqmlab.tuning.starts import Load, largest_weight
from aqmlab.tuning.verification import against, confirmed
from conftest import DUMBBELL


@pytest.fixture(scope="module")
def plan() -> aqmlab.Scenario:
    return aqmlab.Scenario.from_text(DUMBBELL, filename="small.toml")


def test_metrics_of_a_measurement_are_those_of_a_run(plan: aqmlab.Scenario) -> None:
    place = Place(plan, "bottleneck", "bottleneck")
    points = search_points(ranges_of(["rtt=20ms:80ms", "rate=1Mbps:2Mbps"], plan))
    body = plan.queue_table("bottleneck")
    measured = Bench(place, ResultStore(None), points, body, progress=False).measure([body], points[:2], [7], title="")[
        0
    ]
    result = aqmlab.run(place.scenario(body, points[1]), seeds=[7], progress=False)
    for key, value in result.metrics(link="bottleneck").iloc[0].drop("seed").items():
        np.testing.assert_equal(measured[str(key)][1, 0], value)


def test_points_of_a_dumbbell(plan: aqmlab.Scenario) -> None:
    ranges = ranges_of(["flows=2:200", "rtt=20ms:200ms"], plan)
    points = search_points(ranges)
    assert [point.name for point in points][::4] == ["flows=2, rtt=20ms", "flows=20, rtt=63.2ms"]
    assert sum(point.corner for point in points) == 4
    for point in [*points, *fresh_points(ranges, 4)]:
        there = plan.with_overrides(point.pairs)
        flow = there.flows[0]
        rtt = 2 * sum(there.link(name).delay_s for name in flow.path)
        assert f"rtt={rtt * 1e3:.3g}ms" in point.name
        assert f"flows={len(there.flows)}," in point.name
    assert [p.name for p in fresh_points(ranges, 4)] == [p.name for p in fresh_points(ranges, 4)]


def test_a_search_of_ecn_without_a_flow_that_negotiates_it_has_a_warning(plan: aqmlab.Scenario) -> None:
    modern = plan.with_overrides({"flow.tcp.transport": "tcp"})
    marked = modern.with_overrides({"flow.tcp.tcp.ecn": True})

    def warnings(of: aqmlab.Scenario, vary: list[str], over: list[str]) -> list[str]:
        return problem_of(of, "bottleneck", aqm="codel", vary=vary, over=over).warnings

    asked = (["ecn=false,true"], ["flows=2:8"])
    text = 'vary "ecn=false,true": no flow is ECN-capable, so that ecn has no effect'
    assert warnings(plan, *asked) == warnings(modern, *asked) == [text]
    assert warnings(marked, *asked) == []
    assert warnings(modern, ["target=1ms:9ms"], ["flows=2:8"]) == []


def test_the_weight_of_the_analytic_design_meets_hollots_condition_with_equality() -> None:
    load = Load(60, 0.2, 3750)
    w_q = largest_weight(load, 150, 700, 0.1)
    there = {"flows": 60, "capacity": 3750, "rtt": load.round_trip(425), "max_p": 0.1, "min_th": 150, "max_th": 700}
    condition = hollot_condition(**there, w_q=w_q)
    assert condition.left == pytest.approx(condition.right, rel=1e-6)
    assert not hollot_condition(**there, w_q=2 * w_q).holds


def test_goals_over_points() -> None:
    values = np.array([[1.0, 5.0], [3.0, 2.0], [2.0, 2.0]])
    assert Goal(QUANTITIES["delay_p95_ms"], 1).over_points(values, 1.0).tolist() == [3.0, 5.0]
    assert Goal(QUANTITIES["utilization"], -1).over_points(values, 1.0).tolist() == [1.0, 2.0]
    assert Goal(QUANTITIES["delay_p95_ms"], 1).over_points(values, 0.5).tolist() == [2.0, 2.0]


def settings(name: str, delays: list[float], utilizations: list[float], plan: aqmlab.Scenario, task: Task) -> object:
    points = search_points(ranges_of(["flows=2:8"], plan))[:1]
    measured = {"delay_p95_ms": np.array([delays]), "utilization": np.array([utilizations])}
    return confirmed(name, {}, task, points, measured)


def test_verdicts(plan: aqmlab.Scenario) -> None:
    task = Task(goal_of("delay_p95", None), tuple(bounds_of(["utilization>=0.9"], option="keep")), 1.0)
    full, half, straddling = [0.95, 0.951, 0.949, 0.95], [0.5, 0.51, 0.49, 0.5], [0.8, 0.99, 0.85, 0.97]
    short, long = [10.0, 10.1, 9.9, 10.05], [20.0, 20.2, 19.8, 20.05]
    cases = [
        ((short, full), (long, full), "better"),
        ((long, full), (short, full), "worse"),
        ((long, full), (short, half), "better"),
        ((short, half), (long, full), "worse"),
        ((short, straddling), (long, full), "undecided"),
        ((short, full), (long, straddling), "better"),
        ((short, half), (long, half), "undecided"),
        ((short, full), (short, full), "undecided"),
    ]
    for own, other, verdict in cases:
        tuned, reference = settings("tuned", *own, plan, task), settings("other", *other, plan, task)
        assert against(task, tuned, [reference])[0].verdict == verdict, (own, other)
    assert settings("x", short, straddling, plan, task).verdict is Verdict.UNDECIDED


def test_the_front_leaves_out_what_is_worse_in_both() -> None:
    task = Task(goal_of("delay_p95", None), tuple(bounds_of(["utilization>=0.9"], option="keep")), 1.0)
    tried = [
        Trial(i, "", {}, goal, (kept,), 0.0) for i, (goal, kept) in enumerate([(1, 0.5), (2, 0.4), (3, 0.9), (3, 0.8)])
    ]
    assert [trial.number for trial in front(tried, task)] == [0, 2]


CLASSES: list[dict[str, Value]] = [{"name": "in", "min_th": "40p", "max_th": "70p"}, {"name": "out", "max_p": 0.1}]


def test_a_parameter_of_a_class_is_searched_and_its_thresholds_stay_in_order() -> None:
    asked = ["class.in.max_th=10:95", "class.in.min_th=5:60", "class.out.max_p=0.01:0.5"]
    space = space_of(discipline("rio"), {"aqm": "rio", "class": CLASSES}, limit=100, slowest=1e-3, vary=asked)
    assert space.numbers({}, 1000) == {"class.in.max_th": 70, "class.in.min_th": 40, "class.out.max_p": 0.1}
    body = space.body({"class.in.max_th": 20, "class.in.min_th": 40, "class.out.max_p": 0.02})
    assert body["class"] == [{"name": "in", "min_th": "19p", "max_th": "20p"}, {"name": "out", "max_p": 0.02}]
    assert CLASSES[0]["max_th"] == "70p"
    assert not space.needs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class.mid.max_th=1:9", 'unknown class "mid"'),
        ("class.in.w_q=0.1:0.2", "unknown parameter of a class"),
        ("class.in.max_th=9", "LOW:HIGH"),
    ],
)
def test_a_class_or_parameter_that_the_queue_lacks_is_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        space_of(discipline("rio"), {"aqm": "rio", "class": CLASSES}, limit=100, slowest=1e-3, vary=[text])
