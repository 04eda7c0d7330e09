"""Every figure on real runs: what its points say, on a matplotlib axis and as an interactive chart."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from matplotlib.figure import Figure

import aqmlab
from aqmlab import axes, figures
from aqmlab.figures.chart import Chart
from aqmlab.figures.measured_curve import hits_by_average
from aqmlab.figures.shares import MOST_FLOWS
from aqmlab.figures.trade_off import efficient, gaussian_contour
from aqmlab.reporting import charts
from aqmlab.theory.control.loop import red_loop
from conftest import DUMBBELL

PROBES = 'cwnd_interval = "100ms"\nflow_interval = "50ms"\ndelay_histogram = true\nevents = true\n'
TRANSFERS = """
[[flow]]
name = "web"
count = 6
transport = "newreno"
size = "20p"
start = { uniform = ["0s", "1s"] }

[probe]"""
TEXT = DUMBBELL.replace("\n[probe]", TRANSFERS).replace("max_p = 0.1", "max_p = 0.1\nguard_one = false") + PROBES


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures") / "small.toml"
    path.write_text(TEXT)
    return aqmlab.run(path, seeds=4, workers=1, progress=False)


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    path = tmp_path_factory.mktemp("figures") / "small.toml"
    path.write_text(TEXT)
    return aqmlab.compare(path, aqm=["red", "mred", "drop-tail"], seeds=4, workers=1, progress=False)


@pytest.fixture(scope="module")
def loops():
    return [red_loop(flows=60, capacity=3750, rtt=0.246, max_p=0.1, min_th=150, max_th=700, w_q=1.33e-6)]


@pytest.fixture(scope="module")
def swept():
    rng = np.random.default_rng(1)
    points = [(w, p, seed) for w in (0.001, 0.002, 0.01) for p in (0.02, 0.1) for seed in (1, 2)]
    table = pd.DataFrame(points, columns=["w_q", "max_p", "seed"])
    return table.assign(delay=table["max_p"] * 10 + rng.uniform(0, 0.1, len(table)))


def every_figure(result, comparison, loops, swept):
    return {
        "queue_against_time": (result,),
        "averages_against_time": (comparison,),
        "windows_against_time": (result,),
        "jain_against_time": (comparison,),
        "probability_against_average": (result,),
        "delay_distribution": (comparison,),
        "completion_distribution": (comparison,),
        "ellipses": (comparison,),
        "pareto_front": (comparison,),
        "drop_shares": (comparison,),
        "compared": (comparison, "loss"),
        "bars": (comparison, "jain"),
        "spread": (comparison, "mean_delay_ms"),
        "parameter_map": (swept,),
        "bode_magnitude": (loops,),
        "bode_phase": (loops,),
    }


@pytest.mark.slow
def test_each_on_an_axis_and_on_a_page(result, comparison, loops, swept):
    kwargs = {"parameter_map": {"x": "w_q", "y": "max_p", "value": "delay", "x_log": True}}
    for name, arguments in every_figure(result, comparison, loops, swept).items():
        ax = Figure().add_subplot()
        chart = getattr(axes, name)(ax, *arguments, **kwargs.get(name, {}))
        assert isinstance(chart, Chart), name
        assert ax.get_xlabel() == chart.x_label, name
        assert ax.has_data(), name
        assert len(chart.alt) > 30, name
        assert len(go.Figure(charts.figure(chart)).data) >= len(chart.series), name


def test_every_function_for_axes_is_tried(result, comparison, loops, swept):
    functions = {name for name, value in vars(axes).items() if hasattr(value, "__wrapped__")}
    elsewhere = {"against", "drop_curves"}
    assert functions == set(every_figure(result, comparison, loops, swept)) | elsewhere


def test_measured_points_lie_on_the_curve(result):
    """The share of arrivals hit follows the curve and the spacing of drops."""
    chart = figures.probability_against_average(result)
    curve = next(one for one in chart.series if one.name == "share by the curve")
    points = next(one for one in chart.series if one.name == "measured")
    x, y = np.asarray(points.x), np.asarray(points.y)
    assert len(x) >= 10
    assert (y[x < 4.5] == 0).all(), "below min_th nothing is dropped early"
    assert (y[x > 15.5] > 0.9).all(), "from max_th on nearly all is"
    assert (np.asarray(points.low) <= y).all()
    assert (y <= np.asarray(points.high)).all()
    assert np.interp(10.0, curve.x, curve.y) == pytest.approx(0.05 / 1.5)


def test_every_early_hit_is_counted_once(result):
    events = result.events[result.events["link"] == "bottleneck"]
    early = events["kind"].isin(["d", "m"]) & events["reason"].isin(["early", "forced"])
    rows = hits_by_average(events)
    assert 0.9 * early.sum() < rows["hits"].sum() <= early.sum()
    assert 0.9 * (events["kind"] == "+").sum() < rows["arrivals"].sum() <= (events["kind"] == "+").sum()


def test_the_average_that_an_arrival_met_is_the_samples_average(result):
    """A sample is taken before anything happens at its time: it is the average of the arrival before."""
    events = result.events[(result.events["seed"] == 1) & (result.events["kind"] == "+")]
    samples = result.queue_samples[result.queue_samples["seed"] == 1]
    busy = samples[samples["queue_packets"] > 0]
    for t, average in zip(busy["t_s"], busy["average"], strict=True):
        before = events[events["t_ps"] < round(t * 1e12)]
        assert before["average"].iloc[-1] == average


def test_ellipse_is_one_standard_deviation():
    rng = np.random.default_rng(7)
    points = rng.multivariate_normal([3, 5], [[4, 1.5], [1.5, 1]], size=200_000).T
    x, y = gaussian_contour(*points)
    assert x.max() - 3 == pytest.approx(2, rel=0.01)
    assert y.max() - 5 == pytest.approx(1, rel=0.01)
    inverse = np.linalg.inv(np.cov(points, ddof=0))
    off = np.vstack([x - points[0].mean(), y - points[1].mean()])
    assert np.einsum("ij,ik,kj->j", off, inverse, off) == pytest.approx(1.0)


def test_ellipses_have_a_point_a_run_and_the_median(comparison):
    chart = figures.ellipses(comparison)
    table = comparison.results["red"].metrics(link=comparison.link)
    assert list(chart.series[0].x) == table["mean_delay_ms"].tolist()
    ring = next(one for one in chart.series if one.mode == "ring")
    assert ring.y == [table["goodput_mbps"].median()]


def test_front_by_hand():
    assert efficient([(1, 1)]) == [0]
    assert efficient([(2, 2), (1, 3)]) == [1]
    assert efficient([(1, 1), (2, 2), (3, 2), (4, 5)]) == [0, 1, 3]


def test_delays_end_at_one_and_rise(comparison):
    for one in figures.delay_distribution(comparison).series:
        assert one.y[-1] == pytest.approx(1.0)
        assert (np.diff(one.y) >= 0).all()


def test_completion_times_are_those_of_the_table(result):
    chart = figures.completion_distribution(result, group="web")
    flows = result.flows[result.flows["group"] == "web"]
    done = (flows["finish_s"] - flows["start_s"]).dropna()
    assert list(chart.series[0].x) == sorted(done)
    assert chart.series[0].y[-1] == pytest.approx(len(done) / len(flows))


def test_shares_add_up(result):
    points = figures.drop_shares(result).series[1]
    assert sum(points.x) == pytest.approx(1)
    assert sum(points.y) == pytest.approx(1)


def test_many_flows_become_few_points(result):
    flows = pd.concat([result.flows.assign(flow=result.flows["flow"] + f".{i}") for i in range(200)])
    crowd = aqmlab.Result("crowd", "0", [1], [], {"flows": flows, "links": result.links})
    points = figures.drop_shares(crowd).series[1]
    assert len(points.x) == MOST_FLOWS


def test_queues_of_all_disciplines_are_the_same_quantity(comparison):
    samples = {name: one.queue_samples.query("seed == 1") for name, one in comparison.results.items()}
    for quantity, column in (("queue", "queue_packets"), ("mean", "queue_packets")):
        chart = figures.averages_against_time(comparison, quantity=quantity)
        for one in chart.series:
            values = samples[one.name][column].to_numpy(dtype=float)
            every = len(values) // len(one.y)
            assert list(one.y) == pytest.approx(values[: every * len(one.y)].reshape(-1, every).mean(axis=1))
    with pytest.raises(aqmlab.InputError, match=r"drop-tail: keeps no average \(allowed for all: mean, queue\)"):
        figures.averages_against_time(comparison, quantity="average")
    red = figures.averages_against_time({"red": comparison.results["red"]}, quantity="average")
    assert list(red.series[0].y) == samples["red"]["average"].tolist()
    alone = figures.queue_against_time(comparison.results["drop-tail"])
    assert [one.name for one in alone.series] == ["queue"]


def test_jain_of_equal_flows_is_one(result):
    chart = figures.jain_against_time(result, window_s=1.0)
    assert list(chart.series[0].x) == pytest.approx([1, 2, 3])
    assert all(0 < value <= 1 for value in chart.series[0].y)


def test_map_averages_over_seeds(swept):
    heat = figures.parameter_map(swept, x="w_q", y="max_p", value="delay").heat
    assert heat.values.shape == (2, 3)
    first = swept[(swept["w_q"] == 0.001) & (swept["max_p"] == 0.02)]["delay"].mean()
    assert heat.values[0, 0] == first


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda r, s: figures.queue_against_time(r, link="nowhere"), 'unknown link "nowhere" (allowed: bottleneck, '),
        (lambda r, s: figures.queue_against_time(r, seed=99), 'unknown seed "99" (allowed: 1, 2, 3, 4)'),
        (lambda r, s: figures.spread(r, "speed"), 'unknown metric "speed"'),
        (lambda r, s: figures.completion_distribution(r, group="tcp"), "small: no flow has a size"),
        (lambda r, s: figures.completion_distribution(r, group="x"), 'small: no group of flows "x"'),
        (lambda r, s: figures.parameter_map(s, x="w", y="max_p", value="delay"), 'the table has no column "w"'),
        (lambda r, s: figures.parameter_map(s[:1], x="w_q", y="max_p", value="delay"), "a map needs two values of w_q"),
        (lambda r, s: figures.delay_distribution(r, link="left.tcp.0"), "small: no packet's delay was recorded"),
    ],
)
def test_a_figure_without_its_data_is_an_error(result, swept, make, message):
    with pytest.raises(aqmlab.InputError) as error:
        make(result, swept)
    assert str(error.value).startswith(message)


def test_the_delay_of_a_single_result_is_shown_for_each_queue_of_dualpi2():
    short = {"run.duration": "2s", "run.warmup": "500ms"}
    found = aqmlab.run("example:l4s", seeds=1, overrides=short, progress=False)
    chart = figures.delay_distribution(found)
    assert [series.name for series in chart.series] == ["l4s", "queue C", "queue L"]
    classic, low = ({one.name: one for one in chart.series}[f"queue {name}"] for name in "CL")
    assert max(low.x) < min(classic.x[classic.y > 0.5])
