"""Quantities read off a run, by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from aqmlab.errors import InputError
from aqmlab.results.applications import application_metrics
from aqmlab.results.metrics import (
    METRICS,
    delay_metrics,
    flow_metrics,
    in_order,
    is_metric,
    link_metrics,
    metric,
    quantile,
)


def flow(**values):
    base = {
        "transport": "newreno",
        "goodput_bps": 0.0,
        "mean_rtt_s": 0.1,
        "retransmissions": 0,
        "sent": 10,
        "timeouts": 0,
    }
    return {**base, **values}


def test_flows_together():
    rows = [
        flow(goodput_bps=3e6, mean_rtt_s=0.1, retransmissions=1, sent=100, timeouts=2),
        flow(goodput_bps=1e6, mean_rtt_s=0.3, retransmissions=3, sent=100, timeouts=1),
        flow(transport="udp", goodput_bps=9e6, sent=1000),
    ]
    found = flow_metrics(pd.DataFrame(rows))
    assert found["goodput_mbps"] == 4.0
    assert found["jain"] == pytest.approx(16 / (2 * 10))
    assert found["mean_rtt_ms"] == pytest.approx(200)
    assert found["retransmitted"] == 0.02
    assert found["timeouts"] == 3


def test_udp_alone_has_no_tcp_quantities():
    assert flow_metrics(pd.DataFrame([flow(transport="udp")])) == {}


def test_jain_compares_flows_of_one_kind():
    bulk = [flow(goodput_bps=rate, group="bulk", size_packets=-1) for rate in (3e6, 1e6)]
    others = [
        flow(goodput_bps=5e5, group="web", size_packets=-1),
        flow(goodput_bps=1e5, group="short", size_packets=10),
        flow(goodput_bps=2e6, group="voice", size_packets=-1, transport="udp"),
    ]
    found = flow_metrics(pd.DataFrame([*bulk, *others]), applications={"web"})
    assert found["jain"] == pytest.approx(16 / (2 * 10))
    assert not [key for key in found if key.startswith("jain.")]
    # Goodput of every group, UDP too; together only TCP's.
    assert found["goodput_mbps"] == pytest.approx(4.6)
    groups = {"bulk": 4.0, "web": 0.5, "short": 0.1, "voice": 2.0}
    assert {key: found[f"goodput_mbps.{key}"] for key in groups} == pytest.approx(groups)


def test_jain_of_several_groups_and_transports():
    cubic = [flow(goodput_bps=rate, group="cubic", size_packets=-1, transport="tcp-cubic") for rate in (2e6, 2e6)]
    reno = [flow(goodput_bps=rate, group="reno", size_packets=-1) for rate in (1e6, 0.0)]
    found = flow_metrics(pd.DataFrame([*cubic, *reno]))
    assert "jain" not in found
    assert (found["jain.cubic"], found["jain.reno"]) == (1.0, 0.5)
    near = [{**row, "group": "near"} for row in reno]
    assert flow_metrics(pd.DataFrame([*near, *reno]))["jain"] == pytest.approx(4 / (4 * 2))
    assert "jain" not in flow_metrics(pd.DataFrame(reno[:1])), "one flow is not compared"


def test_pages_and_videos_by_hand():
    nan = math.nan
    pages = {"group": ["a", "a", "b"], "load_s": [1.0, 3.0, nan]}
    found = application_metrics({"pages": pages})
    assert (found["page_load_s"], found["pages_unfinished"]) == (2.0, pytest.approx(1 / 3))
    assert (found["page_load_s.a"], found["pages_unfinished.b"]) == (2.0, 1.0)
    assert "page_load_s.b" not in found
    # Two segments of 4 s arrived, and playing stood still for 2 s.
    segments = {
        "group": ["v", "v", "v"],
        "bitrate_bps": [1_000_000, 2_000_000, 2_000_000],
        "bytes": [500_000, 1_000_000, 1_000_000],
        "finish_s": [1.0, 8.0, nan],
        "stall_s": [0.0, 2.0, nan],
    }
    found = application_metrics({"segments": segments})
    assert found == pytest.approx({"stalled": 2 / 10, "video_mbps": 1.5})
    assert application_metrics({"pages": {"group": [], "load_s": []}}) == {}


def test_metrics_of_groups_have_names_and_an_order():
    assert metric("mos.call").label == "MOS of calls of call"
    assert is_metric("goodput_mbps.a.b")
    assert not is_metric("loss.a")
    with pytest.raises(InputError, match="unknown metric"):
        metric("loss.a")
    assert in_order(["mos", "goodput_mbps.b", "goodput_mbps.a", "utilization"]) == [
        "utilization",
        "mos",
        "goodput_mbps.b",
        "goodput_mbps.a",
    ]


def test_a_link_that_saw_nothing():
    row = dict.fromkeys(("arrivals", "drops", "marks", "throughput_bps", "utilization"), 0)
    row |= dict.fromkeys(("mean_queue", "mean_average", "sd_average", "mean_delay_s"), 0.0)
    assert math.isnan(link_metrics(row)["loss"])


def test_quantiles_of_a_histogram():
    rows = [{"low_s": 0.0, "high_s": 0.1, "count": 90}, {"low_s": 0.1, "high_s": 0.3, "count": 10}]
    assert quantile(rows, 0.45) == pytest.approx(0.05)
    assert quantile(rows, 0.95) == pytest.approx(0.2)
    assert delay_metrics(rows)["delay_p99_ms"] == pytest.approx(280)
    assert math.isnan(quantile([{"low_s": 0.0, "high_s": 1.0, "count": 0}], 0.5))


def test_every_metric_has_a_unit_and_a_meaning():
    assert len({m.key for m in METRICS}) == len(METRICS)
    for m in METRICS:
        assert m.unit
        assert m.doc
        assert metric(m.key) is m
