"""The plane of flows and delays: each point is the loop of `linearize`, and the regions are those of the model."""

from __future__ import annotations

import numpy as np
import pytest

from aqmlab.figures import stability_chart
from aqmlab.theory.control.linearization import linearize
from aqmlab.theory.control.stability import Region, stability_map, stability_maps
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass

pytestmark = pytest.mark.slow

RED = Bottleneck(3750, DropCurve.of("red", min_th=150, max_th=700, max_p=0.1, limit=800), 2e-4, limit=800)
EXPECTED_REGIONS = [
    ["LINEAR", "FEW_PACKETS", "OFF_CURVE", "OFF_CURVE"],
    ["LINEAR", "LINEAR", "OFF_CURVE", "OFF_CURVE"],
    ["LINEAR", "LINEAR", "LINEAR", "LINEAR"],
]
"""Off the curve are the full queue, and 60 flows that need more than gentle RED's p of 1 gives."""
FLOWS, DELAYS = np.geomspace(5, 2000, 60), np.geomspace(0.01, 1, 60)


@pytest.fixture(scope="module")
def maps():
    return stability_maps(RED, capacities=[1000, 3750, 15000], flows=FLOWS, propagation=DELAYS)


def test_points_are_those_of_the_linearization(maps):
    rng = np.random.default_rng(3)
    compared = 0
    for found in maps:
        for i, j in rng.integers(60, size=(12, 2)):
            model = FluidModel(found.bottleneck, (FlowClass("tcp", FLOWS[j], DELAYS[i]),))
            point = model.operating_point()
            assert found.queue[i, j] == pytest.approx(point.queue, rel=1e-6, abs=1e-6)
            if found.region[i, j] <= Region.FEW_PACKETS:
                assert point.inside
                margins = linearize(model, point).margins()
                assert found.gain_margin_db[i, j] == pytest.approx(margins.gain_margin_db, abs=1e-6)
                assert bool(found.stable[i, j]) == margins.stable
                compared += 1
            else:
                assert np.isnan(found.gain_margin_db[i, j])
    assert compared > 15


def test_load_that_does_not_react_counts_at_once():
    """Its branch has no delay; the map finds the margins of both branches together."""
    link = Bottleneck(3750, RED.curve, 2e-4, limit=800, unresponsive=1500.0)
    found = stability_map(link, flows=[30, 60], propagation=[0.05, 0.2, 0.4])
    for i, delay in enumerate(found.propagation):
        for j, flows in enumerate(found.flows):
            model = FluidModel(link, (FlowClass("tcp", flows, delay),))
            point = model.operating_point()
            assert found.queue[i, j] == pytest.approx(point.queue, rel=1e-6)
            assert found.window[i, j] == pytest.approx(point.windows[0], rel=1e-6)
            margins = linearize(model, point).margins()
            assert found.gain_margin_db[i, j] == pytest.approx(margins.gain_margin_db, abs=1e-6)
            assert bool(found.stable[i, j]) == margins.stable


def test_longer_delays_are_less_stable(maps):
    """More flows are not always more stable: they make a longer queue, and with it a longer round trip."""
    for found in maps:
        linear = found.region == Region.LINEAR
        down = np.diff(found.gain_margin_db, axis=0)[linear[1:] & linear[:-1]]
        assert (down < 0).all()


def test_a_faster_link_is_less_stable(maps):
    shares = [found.summary()["stable"] for found in maps]
    assert shares == sorted(shares, reverse=True)


def test_the_boundary_is_where_the_margin_is_0_db(maps):
    found = maps[1]
    edge = found.boundary()
    inside = np.isfinite(edge)
    assert inside.sum() > 40
    assert (np.diff(edge[inside]) > 0).all()
    for j in np.flatnonzero(inside)[::9]:
        model = FluidModel(RED, (FlowClass("tcp", FLOWS[j], edge[j]),))
        assert linearize(model, model.operating_point()).margins().gain_margin_db == pytest.approx(0, abs=0.1)
    sooner = found.boundary(6.0)
    both = inside & np.isfinite(sooner)
    assert both.sum() > 40
    assert (sooner[both] < edge[both]).all()


def test_regions():
    gentle = DropCurve.of("gentle-red", min_th=5, max_th=15, max_p=0.1, limit=60)
    link = Bottleneck(500, gentle, 0.002, limit=60)
    found = stability_map(link, flows=[1, 10, 60, 400], propagation=[0.02, 0.1, 4.0])
    names = [[Region(int(region)).name for region in row] for row in found.region]
    assert names == EXPECTED_REGIONS
    assert (found.region[found.window < 4] != Region.LINEAR).all()
    assert sum(v for k, v in found.summary().items() if not k.startswith("stable")) == pytest.approx(1)


def test_unresponsive_load_may_leave_nothing_to_fill():
    curve = DropCurve.of("red", min_th=5, max_th=15, max_p=0.1, limit=30)
    with pytest.raises(DomainError, match="a queue without limit and without drops grows for ever"):
        stability_map(Bottleneck(500, DropCurve.none(limit=np.inf), 0.1), flows=[1, 2], propagation=[0.1, 0.2])
    for load, window in ((400.0, 101.0), (600.0, np.nan)):
        link = Bottleneck(500, curve, 0.1, limit=30, unresponsive=load)
        found = stability_map(link, flows=[1, 9], propagation=[0.1, 1])
        assert found.window[1, 0] == pytest.approx(window, rel=1e-3, nan_ok=True)
        assert found.region[1, 0] == (Region.LINEAR if load < 500 else Region.OFF_CURVE)


@pytest.mark.parametrize(("flows", "delays"), [([0, 1], [0.1]), ([2, 1], [0.1]), ([1, 2], [np.inf])])
def test_bad_axes(flows, delays):
    with pytest.raises(DomainError, match=r"^(flows|propagation): rising finite numbers above 0 are needed$"):
        stability_map(RED, flows=flows, propagation=delays)


def test_a_map_is_drawn(maps):
    chart = stability_chart(maps[1])
    assert chart.heat is not None
    assert chart.heat.levels == (0.0, 6.0)
    assert "of the plane is stable" in chart.alt
