"""Quantities read off a run, by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from aqmlab.results.metrics import METRICS, delay_metrics, flow_metrics, link_metrics, metric, quantile


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
