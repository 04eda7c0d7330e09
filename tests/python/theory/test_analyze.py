"""Theory over simulation: the model of a scenario's link, the gaps, violated assumptions, and the command."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import aqmlab
from aqmlab.cli import main
from aqmlab.figures import agreement
from aqmlab.reporting.analysis.analyzing import observed
from aqmlab.scenario.file import Scenario
from aqmlab.theory.scenario.agreement import Measured, gaps
from aqmlab.theory.scenario.link_curve import curve_of
from aqmlab.theory.scenario.link_traffic import Routes, traffic_over
from aqmlab.theory.scenario.model import model_of
from aqmlab.theory.scenario.theory import theory_of
from conftest import DUMBBELL, Answer

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[3] / "examples"
ONE_LINK = """
format = 1
name = "one-link"
nodes = ["a", "b"]
[run]
duration = "{duration}"
warmup = "20s"
seeds = 5
[[link]]
from = "a"
to = "b"
name = "only"
rate = "8Mbps"
delay = "0s"
duplex = false
queue = "only"
[queue.only]
{queue}
[[flow]]
name = "udp"
transport = "udp"
from = "a"
to = "b"
rate = "{rate}"
{packets}
[probe]
delay_histogram = false
"""
MARKOV = """aqm = "red"
dialect = "floyd93"
spacing = "none"
in_service_counts = true
limit = "40p"
min_th = "5p"
max_th = "20p"
max_p = 0.2
w_q = 1
mean_packet = "1000B"
"""
EXPONENTIAL = 'pattern = "poisson"\npacket_size = { exponential = "1000B" }'


def one_link(queue=MARKOV, *, rate="8Mbps", packets=EXPONENTIAL, duration="220s"):
    return Scenario.from_text(ONE_LINK.format(queue=queue, rate=rate, packets=packets, duration=duration))


def violated(assumptions):
    return [one.text for one in assumptions if one.violated]


def test_flows_become_a_class_with_both_directions_of_their_route(dumbbell):
    plan = Scenario.from_text(dumbbell)
    model = model_of(plan)
    assert (model.kind, model.link.name, model.packet_bytes) == ("fluid", "bottleneck", 1040.0)
    assert model.capacity == pytest.approx(2e6 / 8 / 1040)
    (one,) = model.traffic.greedy
    assert (one.count, one.window, one.delayed_acks) == (3.0, 20.0, False)
    there, back = 8 * 1040 * (2 / 10e6 + 1 / 2e6), 8 * 40 * (2 / 10e6 + 1 / 2e6)
    assert one.propagation_s == pytest.approx(2 * 0.014 + there + back, abs=1e-12)


def test_the_operating_point_of_a_small_scenario(dumbbell):
    """Misra's W = sqrt(2/p) at 3 flows: computed again from the curve by another method."""
    theory = theory_of(model_of(Scenario.from_text(dumbbell)))
    point = theory.point
    p_b = (point.queue - 5) / 10 * 0.1
    assert point.p == pytest.approx(p_b / 1.5, rel=1e-9)
    assert point.windows[0] == pytest.approx(math.sqrt(2 / point.p), rel=1e-9)
    assert 3 * point.windows[0] / point.rtts[0] == pytest.approx(theory.model.capacity, rel=1e-9)
    assert (point.queue, point.p) == (pytest.approx(11.776395, abs=1e-5), pytest.approx(0.0451760, abs=1e-6))


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ('start = "0s"\nstop = "1500ms"', 1.5),
        ('active = [["0s", "500ms"], ["1s", "2s"]]', 1.5),
        ('start = "2s"', 1.0),
        ('start = "0s"\nsize = "2MB"', 3.0),
        ('start = { uniform = ["0s", "10ms"] }', 3.0),
    ],
)
def test_flows_that_are_not_always_there_count_with_their_share(dumbbell, line, count):
    plan = Scenario.from_text(dumbbell.replace('start = "0s"', line))
    traffic = traffic_over(plan, plan.link("bottleneck"))
    assert sum(c.count for c in traffic.greedy) == pytest.approx(count)
    assert bool(traffic.partly) == (count < 3)


def test_short_transfers_are_resolved_seed_by_seed(dumbbell):
    plan = Scenario.from_text(dumbbell, overrides={"flow.tcp.size": "20KB"})
    found = aqmlab.analyze(plan, seeds=2, progress=False)
    assert (found.reason, found.model.kind) == ("", "transfers")
    rows = found.gaps.set_index("quantity")
    assert rows.loc["Active transfers", "analysed"] > 0
    carried = rows.loc["Throughput"]
    assert carried["analysed"] == pytest.approx(carried["simulated"], rel=0.15)


def test_a_scenario_without_a_model_is_an_error_of_one_line(dumbbell):
    assert theory_of(model_of(one_link(packets='pattern = "constant"'))).model.reason.startswith(
        "only UDP that is not Poisson crosses only, at 8 of 8 Mb/s"
    )
    assert model_of(Scenario.from_text(dumbbell), link="bottleneck.reverse").reason == (
        "no flow crosses bottleneck.reverse"
    )
    too_small = one_link(MARKOV.replace('limit = "40p"', 'limit = "15p"'))
    assert "lies outside the model's domain" in theory_of(model_of(too_small)).model.reason


def test_a_curve_in_bytes_and_through_points_is_brought_into_packets():
    plan = Scenario.load(EXAMPLES / "explicit-two-hop.toml")
    first = curve_of(plan, plan.link("first"), packet_bytes=1040)
    assert (first.unit, first.limit) == (1.04, 150000 / 1040)
    average = 1.04 * 20
    assert first.p_b([20])[0] == pytest.approx(1.04 * 0.1 * (average - 10) / 20)
    second = curve_of(plan, plan.link("second"), packet_bytes=1040)
    assert second.rate([5, 20, 30, 40, 60]).tolist() == pytest.approx([0, 0.05, 0.125, 0.2, 1])


def test_the_class_that_carries_the_flows_gives_the_curve():
    model = model_of(Scenario.load(EXAMPLES / "diffserv.toml"))
    assert model.curve.name == "rio, class out"
    assert model.curve.p_b([4.9, 10, 15]).tolist() == pytest.approx([0, 0.05, 1])
    assert "All packets meet the curve of class out (5 to 15 packets)." in violated(model.assumptions)


def test_a_queue_that_counts_the_packet_in_service_is_moved_by_one():
    curve = model_of(one_link()).curve
    assert curve.over_waiting([4, 9]).tolist() == curve.over_system([5, 10]).tolist()
    other = model_of(one_link(MARKOV.replace("in_service_counts = true", ""))).curve
    assert other.over_system([6, 11]).tolist() == other.over_waiting([5, 10]).tolist()


def test_k_of_the_chain_holds_the_packet_in_service():
    assert model_of(one_link()).system_capacity == 40
    assert model_of(one_link('aqm = "drop-tail"\nlimit = "40p"')).system_capacity == 41


@pytest.mark.parametrize("queue", [MARKOV, 'aqm = "drop-tail"\nlimit = "9p"'])
def test_the_chain_is_the_simulation_where_its_assumptions_hold(queue):
    found = aqmlab.analyze(one_link(queue), seeds=5, workers=1, progress=False)
    assert violated(found.assumptions) in ([], ["The buffer does not overflow."])
    table = found.gaps[found.gaps["model"] == "chain"].set_index("quantity")
    assert abs(table["simulated gap %"]).max() < 3
    assert set(table["simulated n"]) == {5}


def test_the_average_makes_a_difference_that_the_second_chain_has():
    queue = MARKOV.replace("w_q = 1", "w_q = 0.01")
    found = aqmlab.analyze(one_link(queue, duration="420s"), seeds=5, workers=1, progress=False)
    rows = found.gaps.set_index(["model", "quantity"])["simulated gap %"]
    assert abs(rows["chain, with average"]).max() < 3
    assert rows["chain", "Mean queue"] < -5
    assert [chart.key for chart in found.charts] == ["curve", "law-of-queue"]


def test_fixed_lengths_are_not_exponential():
    model = model_of(one_link(packets='pattern = "poisson"\npacket_size = "1000B"'))
    (one,) = [a for a in model.assumptions if a.text.startswith("Service is exponential")]
    assert one.violated
    assert "M/D/1" in one.how


def test_violated_assumptions_of_the_fluid_are_reported(dumbbell):
    """Ninety flows over a small link: windows below 4 packets, and a queue at the curve's jump."""
    theory = theory_of(model_of(Scenario.from_text(dumbbell, overrides={"flow.tcp.count": 90})))
    found = violated(theory.assumptions)
    assert "Windows are 4 packets or more." in found
    assert "The operating point lies on a continuous part of the curve, with the link full." in found
    assert theory.loop is None


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """The same analysis in two folders."""
    home = tmp_path_factory.mktemp("twice")
    (home / "small.toml").write_text(DUMBBELL)
    both = ("a", "b")
    return [aqmlab.analyze(home / "small.toml", seeds=2, workers=1, out=home / one, progress=False) for one in both]


def test_the_page_and_its_numbers_are_the_same_every_time(twice):
    first, second = twice
    for name in ("report.html", "analysis.json"):
        one, other = (found.report.with_name(name).read_bytes() for found in (first, second))
        assert one == other
    row = first.gaps[first.gaps["model"] == "fluid"].set_index("quantity").loc["Mean queue"]
    assert row["analysed"] == pytest.approx(11.776395, abs=1e-5)
    assert row["simulated"] == pytest.approx(first.result.metrics()["mean_queue"].mean())
    assert row["simulated gap %"] == pytest.approx(100 * (row["analysed"] / row["simulated"] - 1))
    assert set(first.tables) == {"gaps", "classes", "loop", "swings", "assumptions"}


def test_a_queue_without_samples_is_sampled(dumbbell):
    plan = Scenario.from_text(dumbbell.split("[probe]")[0])
    assert plan.probe["queue_interval_s"] is None
    assert observed(plan, "bottleneck").probe["queue_interval_s"] == pytest.approx(0.0015)
    assert observed(plan, "bottleneck.reverse").probe["links"] == ["bottleneck", "bottleneck.reverse"]


@pytest.mark.parametrize(
    ("aqm", "kind"), [("drop-tail", "fluid"), ("red", "fluid"), ("codel", "none"), ("pie", "none")]
)
def test_a_discipline_without_a_curve_has_no_model(aqm, kind):
    plan = Scenario.from_text(
        (EXAMPLES / "dumbbell-red.toml")
        .read_text()
        .replace('aqm = "red"', f'aqm = "{aqm}"')
        .replace("min_th", "# min_th")
        .replace("max_th", "# max_th")
        .replace("max_p", "# max_p")
        .replace("w_q", "# w_q"),
        filename="dumbbell.toml",
    )
    model = model_of(plan)
    assert model.kind == kind
    assert (f"{aqm} has no drop curve" in model.reason) == (kind == "none")
    assert theory_of(model).margins is None or kind == "fluid"


def test_links_that_do_not_come_back_are_as_long_as_there():
    plan = one_link()
    assert Routes(plan).reverse(plan.link("only")) is None


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.toml")))
def test_every_example_gives_figures_or_a_reason(name):
    found = aqmlab.analyze(EXAMPLES / name, simulate=False)
    assert bool(found.reason) == found.gaps.empty
    assert found.charts or found.reason
    for chart in found.charts:
        assert all(np.isfinite(np.asarray(s.y, dtype=float)).all() for s in chart.series), chart.key


@pytest.fixture
def command(small, monkeypatch, capsys):
    """The command line in this process, in a folder of its own that holds ``small.toml``."""
    monkeypatch.chdir(small.parent)

    def call(*words):
        code = main(["analyze", *words])
        shown = capsys.readouterr()
        return Answer(code, shown.out, shown.err)

    return call


def test_the_command(command, small):
    answer = command("small.toml", "--seeds", "2", "--workers", "1")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("Model fluid against the simulated queue: drop probability −44.3 %, mean queue")
    assert "\nsmall: link bottleneck, red, 2 seeds; in brackets: model - simulation\n" in answer.out
    assert "Violated: The mean square of a window" in command("small.toml", "--seeds", "2", "--details").out
    (folder,) = (path for path in (small.parent / "results").iterdir() if path.is_dir())
    assert answer.out.endswith(f"Report: results/{folder.name}/analysis/report.html\n")
    data = json.loads((folder / "analysis" / "analysis.json").read_text())
    again = command("small.toml", "--seeds", "2", "--json")
    shown = json.loads(again.out)
    assert (shown["tables"], shown["seeds"], again.err) == (data["tables"], [1, 2], "")


def test_theory_alone(shell):
    answer = shell("analyze", "small.toml", "--no-simulation", "--report", "page", "--json")
    data = json.loads(answer.out)
    assert (answer.code, data["seeds"], data["report"]) == (0, [], "page/report.html")
    assert (shell.folder / "page" / "report.html").exists()
    assert not (shell.folder / "results").exists()
    assert set(data["tables"]["gaps"][0]) == {"model", "analysed", "quantity", "unit"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["small.toml", "--link", "bottelneck"], 'unknown link "bottelneck" (allowed: bottleneck, '),
        (["smal.toml"], "smal.toml: no such file (did you mean small.toml?)"),
        (["small.toml", "--seeds=-3"], "--seeds -3: a number n"),
        (["small.toml", "--out", "small.toml"], "cannot be made a folder"),
        (["small.toml", "--report", "small.toml/page", "--no-simulation"], "cannot be made a folder"),
        (["small.toml", "--set", "queue.bottleneck.aqm=rde"], "did you mean red?"),
    ],
)
def test_bad_input_gets_one_line(command, words, message):
    answer = command(*words)
    assert answer.code in (1, 2)
    assert answer.out == ""
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_an_interrupt_is_reported(command, monkeypatch):
    def stop(*_args, **_options):
        raise aqmlab.Interrupted("interrupted; 0 of 2 runs finished")

    monkeypatch.setattr("aqmlab.reporting.analysis.analyzing.run", stop)
    answer = command("small.toml", "--seeds", "2")
    assert (answer.code, answer.err) == (130, "aqmlab: interrupted; 0 of 2 runs finished\n")


def test_there_is_room_for_a_live_column(twice):
    found = twice[0]
    (simulated,) = found.measured
    live = Measured("live", simulated.values)
    table = gaps(found.theory.columns, [simulated, live])
    assert (table["live gap %"] == table["simulated gap %"]).all()
    ax = Figure().add_subplot()
    agreement.paint(ax, found.theory.columns, [simulated, live])
    names = [tick.get_text() for tick in ax.child_axes[0].get_xticklabels()]
    assert names == ["fluid", "fluid\nrefined", "simulated", "live"]


@pytest.mark.browser
def test_the_page_opens(twice, tmp_path):
    from test_report import browse

    found = twice[0]
    document, console = browse(found.report, tmp_path)
    assert console == []
    assert 'data-charts="drawn"' in document
    assert document.count("main-svg") >= len(found.charts)


PRIORITY = {"flow.tcp.priority": "true", "queue.bottleneck.victim": "pc-red", "queue.bottleneck.loss_limit": "200B"}


def test_shares_by_class_are_in_the_gaps_and_on_the_page(dumbbell, tmp_path):
    plan = Scenario.load("paper:pc-red/network1.toml", overrides={"run.duration": "120s", "run.warmup": "60s"})
    found = aqmlab.analyze(plan, seeds=2, report=tmp_path / "page", progress=False)
    assert found.no_shares == ""
    rows = found.gaps[found.gaps["quantity"].str.startswith("Drops of N_")]
    for column in ("analysed", "simulated"):
        assert rows.groupby("model")[column].sum().tolist() == pytest.approx([1.0, 1.0])
    assert sorted(set(rows["model"])) == ["(2) to (4)", "(2) to (4), packets, refined"]
    page = found.report.read_text()
    assert "Shares by class" in page
    assert "Flow with priority" in page


def test_where_classes_have_no_theory_one_line_says_why(dumbbell):
    plain = theory_of(model_of(Scenario.from_text(dumbbell))).shares
    assert (plain.reason, plain.columns) == ("", ())
    alone = Scenario.from_text(dumbbell, overrides={"queue.bottleneck.victim": "pc-red"})
    reason = theory_of(model_of(alone)).shares.reason
    assert reason == "no theory of PC-RED's shares by class: no flow has priority, so all pay alike"
    choke = Scenario.from_text(dumbbell, overrides={"queue.bottleneck.victim": "choke"})
    assert theory_of(model_of(choke)).shares.reason == (
        "no theory of shares by class: none is known for the victim rule choke"
    )
    assert theory_of(model_of(Scenario.from_text(dumbbell, overrides=PRIORITY))).shares.columns
