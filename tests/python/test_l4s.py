"""L4S: the law of DualPI2's coupling by measured marks, shares and delays of both kinds, and the page about them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import l4s
from aqmlab.statistics import mean_interval

SEEDS = 5


@pytest.mark.slow
@pytest.mark.parametrize("coupling", [1.0, 2.0, 4.0])
def test_marks_of_both_queues_follow_the_law_of_rfc_9332(coupling):
    found = l4s.laws(coupling, SEEDS)
    for ratios in ([one.l_marks / one.l_law for one in found], [one.c_marks / one.c_law for one in found]):
        interval, _ = mean_interval(np.array(ratios))
        assert 0.99 < interval.low <= interval.high < 1.01


@pytest.mark.slow
def test_prague_and_cubic_share_the_link_and_l_waits_below_a_millisecond():
    found = l4s.runs_of({"aqm": "dualpi2"}, {}, SEEDS).metrics(link="bottleneck")
    ratio, _ = mean_interval((found["goodput_mbps.prague"] / found["goodput_mbps.cubic"]).to_numpy())
    assert 0.9 < ratio.low <= ratio.high < 1.15
    assert found["delay_p99_ms.L"].max() < 1
    assert found["delay_p99_ms.C"].min() > 10


@pytest.mark.slow
def test_a_ce_threshold_gives_prague_a_short_queue_of_its_own():
    marking, plain = (
        l4s.runs_of(l4s.DISCIPLINES[name], {"probe.flow_delay": True}, 2)
        for name in ("FQ-CoDel, CE threshold of 1 ms for ECT(1)", "FQ-CoDel")
    )
    assert l4s.waits(marking, "prague", 0.5).max() < 1e-3 < 5e-3 < l4s.waits(plain, "prague", 0.5).min()
    assert np.allclose(l4s.waits(marking, "cubic", 0.5), l4s.waits(plain, "cubic", 0.5), rtol=0.1)


def test_the_page_has_the_example_and_a_table_at_each_place():
    page = l4s.PAGE.read_text(encoding="utf-8")
    places = dict(re.findall(r"<!-- made: (\w+) -->\n(.*?)<!-- end -->", page, re.DOTALL))
    assert places["scenario"].strip() == l4s.scenario()
    for name, table in places.items():
        assert callable(getattr(l4s, name)), name
        assert table.strip(), name
    assert l4s.filled(page, {name: table.strip() for name, table in places.items()}) == page
