"""Lines about mechanisms without effect: one scenario for each line, and one without lines."""

from __future__ import annotations

import json

import aqmlab
from aqmlab.results.inactive import inactive
from conftest import DUMBBELL


def lines(**overrides: object) -> list[str]:
    overrides = {key.replace("__", "."): value for key, value in overrides.items()}
    return inactive(aqmlab.run(aqmlab.Scenario.from_text(DUMBBELL), overrides=overrides, seeds=2, progress=False))


def test_a_queue_that_drops_needs_no_line() -> None:
    assert lines() == []


def test_ecn_without_a_capable_flow() -> None:
    found = lines(queue__bottleneck__ecn=True)
    assert found == ["ECN: bottleneck marks nothing, since no flow through it is ECN-capable: its queue drops instead."]


def test_capable_flows_without_ecn_at_the_queue() -> None:
    (line,) = lines(flow__tcp__tcp__ecn=True)
    assert line.startswith("ECN: bottleneck marks nothing, although 3 of 3 flows are ECN-capable: queue.bottleneck.ecn")
    assert lines(flow__tcp__tcp__ecn=True, queue__bottleneck__ecn=True) == []


def test_a_link_that_is_not_the_bottleneck() -> None:
    (line,) = lines(dumbbell__bottleneck__rate="100Mbps")
    assert line.startswith("No congestion at bottleneck after the warm-up: utilization ")
    assert "no drop and no mark; at most " in line
    assert "The busiest link is " in line


def test_thresholds_that_are_never_reached() -> None:
    (line,) = lines(
        queue__bottleneck__min_th="500p",
        queue__bottleneck__max_th="900p",
        queue__bottleneck__limit="1000p",
    )
    assert line.startswith("Thresholds: the queue at bottleneck never reached min_th (500 packets): at most ")


def test_a_buffer_that_never_overflows(tmp_path, shell) -> None:
    settings = ("--set", "queue.bottleneck.limit=1000p", "--set", "flow.tcp.count=1")
    words = ("compare", "small.toml", "--aqm", "red,drop-tail", *settings, "--out", str(tmp_path))
    text = shell(*words).out
    assert "drop-tail: Buffer: that of bottleneck (1000 packets) never overflowed: at most" in " ".join(text.split())
    found = json.loads(shell(*words, "--json").out)
    assert found["inactive"]["red"] == []
    assert len(found["inactive"]["drop-tail"]) == 1


def test_a_warning_of_a_comparison_is_printed_once(tmp_path, shell) -> None:
    words = ("--aqm", "red,drop-tail", "--set", "queue.bottleneck.min_th=6p", "--out", str(tmp_path))
    assert shell("compare", "small.toml", *words).err.count("drop-tail does not have min_th") == 1


def test_a_discipline_that_only_overflows() -> None:
    found = lines(queue__bottleneck__w_q=1e-9, queue__bottleneck__limit="16p")
    assert any(line.startswith("Discipline: red at bottleneck neither dropped early nor marked") for line in found)


def test_warnings_of_the_scenario_are_among_them() -> None:
    found = lines(queue__bottleneck__min_th="60p", queue__bottleneck__max_th="90p")
    assert found[0].startswith("Settings: queue.bottleneck: max_th (90p) is above the limit (50p)")


TRANSFERS = """
[[flow]]
name = "web"
transport = "tcp"
size = {{ cdf = "web-search" }}
start = {{ load = {load} }}
"""


def lines_of_transfers(load: float, duration: str) -> list[str]:
    head = DUMBBELL.split("[[flow]]")[0]
    scenario = aqmlab.Scenario.from_text(head + TRANSFERS.format(load=load), overrides={"run.duration": duration})
    return inactive(aqmlab.run(scenario, seeds=2, progress=False))


def test_a_load_that_short_runs_do_not_reach() -> None:
    found = lines_of_transfers(0.7, "10s")
    (load,) = (line for line in found if line.startswith("Load: "))
    assert load.startswith("Load: the transfers of web offered 0.")
    assert "and load is 0.7: run longer" in load
    assert any(line.startswith("Transfers: fewer than 100 were completed in a run") for line in found)


def test_capable_flows_over_drop_tail() -> None:
    found = lines(flow__tcp__tcp__ecn=True, queue__bottleneck='{ aqm = "drop-tail", limit = "50p" }')
    assert any(line.startswith("ECN: drop-tail at bottleneck marks nothing, although 3 of 3") for line in found)


def test_flows_that_do_not_cross_the_link_are_named() -> None:
    short = {"run.duration": "3s", "run.warmup": "1s"}
    found = aqmlab.run("example:parking-lot", overrides=short, seeds=1, progress=False)
    line = "Flows: goodput and Jain's index are of all 4 TCP flows; 2 of them do not cross r1->r2."
    assert line in inactive(found)
