"""Intervals end at the rate of the link and at the limit of its queue, where these bound for certain."""

from dataclasses import replace
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.results.limits import limits_in, limits_of, loosest
from aqmlab.results.quantities import difference_of, interval_of
from aqmlab.results.result import LIVE
from aqmlab.runs.assertions import judge
from aqmlab.runs.sweeps.grid import grid_table
from aqmlab.scenario import plugins
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import disciplines

OVERLOAD = """
format = 1
[run]
duration = "4s"
warmup = "1s"
seeds = [1, 2]
[[link]]
name = "bottleneck"
from = "a"
to = "b"
rate = "1Mbps"
delay = "5ms"
queue = "bottleneck"
[queue.bottleneck]
aqm = "drop-tail"
limit = "10p"
[[flow]]
name = "u"
from = "a"
to = "b"
transport = "udp"
rate = "2Mbps"
packet_size = "500B"
pattern = "poisson"
"""

IN_BYTES = {"queue.bottleneck.min_th": "9kB", "queue.bottleneck.max_th": "30kB"}
SHORT = {"run.duration": "4s", "run.warmup": "1s", "run.seeds": "[1, 2]"}


def limits(**overrides: str) -> dict[str, float]:
    return limits_of(Scenario.load("example:dumbbell-red", overrides=overrides), "bottleneck")


@pytest.mark.parametrize("aqm", [one.name for one in disciplines() if one.one_queue and not one.foreign])
def test_no_run_exceeds_rate_and_limit(aqm: str) -> None:
    plan = Scenario.from_text(OVERLOAD, overrides={"queue.bottleneck": {"aqm": aqm, "limit": "40p"}})
    assert limits_of(plan, "bottleneck") == {"rate": 1.0, "buffer": 40.0}
    metrics = aqmlab.run(plan, progress=False).metrics()
    assert metrics["max_queue"].max() <= 40
    assert metrics["throughput_mbps"].max() <= 1.0 + 500 * 8 / 1e6 / 3  # a packet in service at the end of the warm-up


@pytest.mark.parametrize(
    ("overrides", "lacks"),
    [
        ({"change": '[{ at = "10s", link = "bottleneck", rate = "20Mbps" }]'}, "rate"),
        ({"dumbbell.bottleneck.rate": '{ tbf = "10Mbps", burst = "10kB" }'}, "rate"),
        ({"dumbbell.bottleneck.overhead": "-4"}, "rate"),
        (
            {"queue.bottleneck.limit": "100kB", **IN_BYTES},
            "buffer",
        ),
        ({"queue.bottleneck": {"aqm": "fq-codel"}}, "buffer"),
        ({"queue.bottleneck": {"aqm": "rio"}}, "buffer"),
    ],
)
def test_uncertain_settings_give_no_limit(overrides: dict[str, str], lacks: str) -> None:
    assert limits() == {"rate": 10.0, "buffer": 100.0}
    assert limits(**overrides) == {key: value for key, value in limits().items() if key != lacks}


def test_a_change_of_the_delay_keeps_the_limits() -> None:
    assert limits(change='[{ at = "10s", link = "bottleneck", delay = "20ms" }]') == limits()


def test_intervals_are_clipped_but_never_below_a_measured_value() -> None:
    own = {"rate": 10.0, "buffer": 50.0}
    assert interval_of("throughput_mbps", [9.8, 9.9], limits=own)[0].high == 10.0
    assert interval_of("throughput_mbps", [9.8, 9.9])[0].high > 10.0
    assert interval_of("max_queue", [49.0, 50.0], limits=own)[0].high == 50.0
    assert interval_of("throughput_mbps", [10.0004, 9.9], limits=own)[0].high == 10.0004
    assert interval_of("utilization", [0.9, 1.0], limits=own)[0].high == 1.0
    assert difference_of("mean_queue", [1.0, 49.0], [2.0, 0.0], limits=own).difference.interval.high == 50.0


def test_all_of_several_runs_are_within_the_loosest_limits() -> None:
    assert loosest([{"rate": 1.0, "buffer": 5.0}, {"rate": 2.0}]) == {"rate": 2.0}
    assert loosest([]) == {}


def test_run_compare_and_sweep_clip(tmp_path: Path) -> None:
    plan = Scenario.load("example:dumbbell-red", overrides=SHORT)
    result = aqmlab.run(plan, progress=False)
    own = result.metrics()["throughput_mbps"].to_numpy()
    most = max(10.0, own.max())
    assert interval_of("throughput_mbps", own)[0].high > most, "the example shows nothing otherwise"
    assert result.summary().set_index("metric").loc["throughput_mbps", "high"] == most
    assert judge(result, "throughput <= 10")[0].found.high == most
    compared = aqmlab.compare(plan, aqm=["red", "drop-tail"], progress=False)
    assert compared.means.query("metric == 'throughput_mbps' and aqm == 'red'")["high"].item() == most
    low, high = (compared.differences.query("metric == 'max_queue'")[end].item() for end in ("low", "high"))
    assert -100.0 <= low < high <= 100.0
    study = aqmlab.sweep(plan, grid={"queue.bottleneck.max_p": ["0.1", "0.2"]}, out=tmp_path, progress=False)
    most = max(10.0, study.runs["throughput_mbps"].max())
    assert study.points()["throughput_mbps_high"].max() <= most
    assert grid_table(study, ["throughput_mbps"])["high"].max() <= most
    assert judge(study, "throughput <= 10")[0].found.high <= most


def test_live_and_controlled_runs_have_no_limits() -> None:
    result = aqmlab.run(Scenario.from_text(OVERLOAD), seeds=1, progress=False)
    assert result.limits() == {"rate": 1.0, "buffer": 10.0}
    assert replace(result, is_controlled=True).limits() == {}
    assert replace(result, summaries=[{**result.summaries[0], LIVE: {}}]).limits() == {}
    assert replace(result, scenario_text="format = 1").limits() == {}, "a text that is not valid here"


def test_a_text_has_limits_once_its_plug_in_is_there() -> None:
    text = OVERLOAD.replace("drop-tail", "late-tail")
    assert limits_in(text) == {}

    @plugins.discipline("late-tail", title="Late tail")
    class LateTail(plugins.Discipline):
        """Accepts all packets."""

        def enqueue(self, now: float, packet: object, queue: object) -> str:
            return "accept"

    assert limits_in(text) == {"rate": 1.0, "buffer": 10.0}


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("throughput_mbps", ["allowed at least 0", "at most the link's rate, where that is constant"]),
        ("max_queue", ["allowed at least 0", "at most the queue's limit, where that is in packets"]),
        ("utilization", ["allowed 0 to 1", "better"]),
        ("mos", ["allowed 1 to 4.5", "better"]),
    ],
)
def test_the_list_names_limits_with_their_conditions(name, lines, capsys):
    assert main(["list", name]) == 0
    assert lines[0] + " " + lines[1] in " ".join(capsys.readouterr().out.split())
