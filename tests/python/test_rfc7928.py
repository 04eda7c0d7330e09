"""RFC 7928's suite: its definitions, its metrics on tables made by hand, its scenarios, and a small run of it."""

import json

import numpy as np
import pyarrow as pa
import pytest

from aqmlab import InputError, Scenario, characterize
from aqmlab.cli import main
from aqmlab.rfc7928 import metrics, network, stability, suite
from aqmlab.rfc7928.case import Effort
from aqmlab.rfc7928.measuring import measure
from aqmlab.rfc7928.packets import packets_of
from aqmlab.rfc7928.requirements import LEVELS, requirements, status
from aqmlab.rfc7928.settings import settings_of

pytestmark = pytest.mark.slow

CHECKLIST = {
    "5.1.1": "must",
    "5.1.2": "must",
    "5.2": "must",
    "5.3": "must",
    "5.4": "may",
    "6.2": "must",
    "7.2": "must",
    "8.2.1": "definition",
    "8.2.2": "must",
    "8.2.3": "must",
    "8.2.4": "must",
    "8.2.5": "must",
    "8.2.6": "must",
    "8.3": "should",
    "9.1": "recommended",
    "9.2": "may",
    "10.2": "may",
    "11": "discussion",
    "12": "discussion",
}
"""The RFC's scenarios and discussions with the levels of its summary (section 13) and its text."""
METRICS = (
    "2.1",
    "2.2",
    "2.3",
    "2.4",
    "2.5",
    "2.6",
    "2.7",
    "3.1",
    "3.2",
    "3.3",
    "4.1",
    "4.2",
    "4.3.1",
    "4.4",
    "4.5",
    "4.6",
)


def test_every_row_of_the_checklist_is_a_requirement_of_its_level():
    found = {(one.section, one.level) for one in requirements()}
    assert set(CHECKLIST.items()) <= found
    assert set(METRICS) <= {section for section, _ in found}
    assert {level for _, level in found} == set(LEVELS)


def test_every_requirement_is_answered_once_all_scenarios_have_run():
    effort = Effort.of(quick=True)
    cases = suite.cases(effort, settings_of(["red", "mred"], ()))
    ran = {part for case in cases for part in (case.section, ".".join(case.section.split(".")[:2]))}
    assert [one.section for one in requirements() if status(one, ran=ran, missing=[]) != "answered"] == []


def test_numbers_of_flows_are_those_computed_by_hand():
    # S = 83 + 83 packets at 10 Mb/s and 100 ms; 0.036 S = 5.976, 0.081 S = 13.446, 0.114 S = 18.924
    assert stability.levels() == {"mild": 6, "medium": 13, "heavy": 19}
    # S = 83 + 833 packets at 10 Mb/s behind the buffer of 100 Mb/s: 32.976
    assert stability.levels(buffer=833)["mild"] == 33
    # 0.036 x 125 = 4.5 is rounded up
    assert network.flows_at("mild", 125) == 5
    assert network.projected_loss(19, 166) == pytest.approx(0.76 * 361 / 27556)


PACKETS = [  # times in ms: offered, flow, bytes, packet, left, dropped, marked: two flows of data, one acknowledgement
    (0, 0, 1500, "data", 0, None, None),
    (1, 1, 1500, "data", 5, None, 5),
    (2, 0, 1500, "data", None, 3, None),
    (6, 0, 1500, "data", 8, None, None),
    (7, 0, 52, "ack", None, None, None),
]


def packets(rows=PACKETS, link="bottleneck"):
    offered, flow, length, packet, *ends = zip(*rows, strict=True)
    times = {
        name: np.array(column, dtype=float) / 1e3
        for name, column in zip(("offered_s", "left_s", "dropped_s", "marked_s"), (offered, *ends), strict=True)
    }
    return pa.table({**times, "flow": flow, "bytes": length, "packet": packet, "link": [link] * len(rows)})


def test_packets_wait_are_dropped_and_marked():
    found = packets_of(packets())["bottleneck"]
    assert found.dropped.tolist() == [False, False, True, False, False]
    np.testing.assert_allclose(found.waited_s, [0, 4e-3, np.nan, 2e-3, np.nan])
    assert (found.mark_flow.tolist(), found.data.tolist()) == ([1], [True, True, True, True, False])


def test_delay_and_its_variation_are_those_of_the_definition():
    found = metrics.delay(packets_of(packets())["bottleneck"], one_way_ms=50.0, rate_bps=12e6)
    # waits of 0, 4 and 2 ms, a transmission of 1 ms, 50 ms on the way
    assert found["delay_ms"] == pytest.approx(2.0)
    assert found["latency_ms"] == pytest.approx(53.0)
    assert found["pdv_p50_ms"] == pytest.approx(2.0)
    assert found["pdv_p95_ms"] == pytest.approx(3.8)


def test_loss_marks_and_the_time_between_losses():
    found = metrics.loss(packets_of(packets())["bottleneck"].of(np.array([0, 1])))
    assert (found["offered"], found["lost"], found["loss"], found["marks"]) == (4, 1, 0.25, 0.25)
    rows = [(t * 1000, 0, 1500, "data", None, t * 1000, None) for t in (1, 2, 5)]
    assert metrics.loss(packets_of(packets(rows))["bottleneck"])["gap_s"] == 2.0


def test_goodput_counts_delivered_bytes_once_between_samples():
    samples = {
        "t_s": np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0]),
        "flow": ["a", "b"] * 3,
        "delivered_bytes": np.array([0, 0, 125_000, 0, 250_000, 250_000]),
    }
    found = metrics.Delivered.of(pa.table(samples))
    np.testing.assert_allclose(found.goodput(["a", "b"], begin_s=0.0), [[1.0, 0.0], [1.0, 2.0]])
    np.testing.assert_allclose(found.goodput(["b"], begin_s=1.0), [[2.0]])
    np.testing.assert_allclose(found.goodput(["c", "a"], begin_s=0.0, end_s=1.0), [[0.0, 1.0]])
    assert found.goodput(["a"], begin_s=2.0).shape == (0, 1)


def test_all_metrics_of_a_run_made_by_hand():
    tables = {
        "packets": packets(),
        "flows": pa.table(
            {
                "flow": ["a", "b"],
                "group": ["bulk", "bulk"],
                "from": ["left.a", "left.b"],
                "transport": ["tcp-reno"] * 2,
                "size_packets": [-1, -1],
                "start_s": [0.0, 0.0],
                "finish_s": pa.array([None, None], type=pa.float64()),
            }
        ),
        "links": pa.table({"link": ["bottleneck"], **{name: [1.0] for name in LINK}}),
        "flow_samples": pa.table(
            {"t_s": [0.0, 0.0, 0.01, 0.01], "flow": ["a", "b"] * 2, "delivered_bytes": [0, 0, 3000, 1500]}
        ),
    }
    what = {
        "begin_s": 0.0,
        "end_s": 0.01,
        "rates_bps": {"bottleneck": 12e6},
        "groups": {"bulk": {"route": ["bottleneck"], "forward": True, "rtt_s": 0.1, "greedy": True}},
        "phases": [["first", [[0.0, 0.005]], 12e6]],
        "watch_windows": False,
    }
    found = measure(tables, what)
    bulk = found["groups"]["bulk"]
    assert bulk["goodput_mbps"] == pytest.approx(3.6)
    assert bulk["jain"] == pytest.approx(0.9)
    assert (bulk["loss"], bulk["marks"]) == (0.25, 0.25)
    assert found["links"]["bottleneck"]["utilization"] == pytest.approx(3 * 12e3 / 0.01 / 12e6)
    # one event, within which one flow lost a packet and the other got a mark
    assert (found["loss_events"], found["synchronization"]) == (1.0, 1.0)
    assert found["phases"]["first"]["groups"]["bulk"]["offered"] == 3
    assert sum(found["delays"]["bulk"]) == 3


LINK = ("mean_queue", "max_queue", "drops_early", "drops_forced", "drops_overflow", "marks", "arrivals")


def test_every_scenario_is_valid_or_names_its_requirements():
    disciplines = settings_of(["red", "adaptive-red", "wred"], (("queue.red.max_p", "0.05"),))
    for case in suite.cases(Effort.of(quick=True), disciplines):
        if case.needs:
            continue
        assert Scenario.from_text(case.text, filename=case.name, overrides=case.overrides).queues


def test_a_small_run_of_two_disciplines_and_again_without_running(tmp_path):
    again = {
        "aqm": ["red", "mred"],
        "quick": True,
        "sections": ["5.2", "6.2"],
        "seeds": 2,
        "workers": 1,
        "out": tmp_path,
    }
    shorter = pytest.MonkeyPatch()
    with shorter.context() as patch:
        patch.setattr(Effort, "of", classmethod(lambda cls, **_: cls(2, 2, 3.0, 1, (5, 100), (0.5,), quick=True)))
        first = characterize(progress=False, **again)
        second = characterize(progress=False, **again)
    assert first.aqm == ["drop-tail", "red", "mred"]
    assert set(first.tables["groups"]["section"]) == {"5.2", "6.2"}
    states = dict(zip(first.requirements["asks for"], first.requirements["status"], strict=True))
    assert states["one long CUBIC flow"] == "answered"
    assert states["CUBIC"] == "answered"
    assert states["mild congestion in both directions"] == "not run"
    page = first.report.read_text(encoding="utf-8")
    assert "6.2 Round-trip fairness" in page
    assert len(first.evaluation.runs) == 18
    assert not second.evaluation.runs
    assert second.report.read_text(encoding="utf-8").count("<table") == page.count("<table")


def test_an_invalid_request_is_an_error_of_one_line(tmp_path, capsys):
    with pytest.raises(InputError, match=r'section "13": has no scenario'):
        characterize(aqm=["red"], sections=["13"], out=tmp_path)
    with pytest.raises(InputError, match="did you mean red"):
        characterize(aqm=["rd"], out=tmp_path)
    with pytest.raises(InputError, match=r"queue\.DISCIPLINE\.KEY=VALUE"):
        characterize(aqm=["red"], overrides={"flow.tcp.count": 3}, out=tmp_path)
    with pytest.raises(InputError, match="discipline of this run"):
        characterize(aqm=["red"], overrides={"queue.mred.max_p": 0.1}, out=tmp_path)
    assert main(["rfc7928", "--aqm", "red", "--set", "queue.red.max_p=3", "--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") <= 2


def test_the_command_prints_json(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(Effort, "of", classmethod(lambda cls, **_: cls(2, 2, 3.0, 1, (100,), (0.5,), quick=True)))
    assert (
        main(
            [
                "rfc7928",
                "--aqm",
                "red",
                "--quick",
                "--section",
                "5.2",
                "--json",
                "--workers",
                "1",
                "--out",
                str(tmp_path),
            ]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert told["aqm"] == ["drop-tail", "red"]
    assert {row["discipline"] for row in told["against"]} == {"red"}
