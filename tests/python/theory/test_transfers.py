"""Transfers: max-min fair rates by hand, activity over time, routes, and the bus seed by seed."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.routes import ShortestPaths
from aqmlab.theory.domain import DomainError
from aqmlab.theory.scenario.model import by_application, model_of
from aqmlab.theory.scenario.theory import theory_of
from aqmlab.theory.scenario.transfers import drawn_flows
from aqmlab.theory.shares.transfers import CAPPED, Transfer, max_min, share_out


def test_max_min_rates_by_hand():
    """A parking lot: the long flow gets a half of each link, the short ones the rest."""
    rates, limits = max_min([[0, 1], [0], [1], [1]], [math.inf] * 4, np.array([9.0, 9.0]))
    assert rates.tolist() == [3.0, 6.0, 3.0, 3.0]
    assert limits.tolist() == [1, 0, 1, 1]
    rates, limits = max_min([[0], [0], [0]], [1.0, 2.0, 100.0], np.array([9.0]))
    assert rates.tolist() == [1.0, 2.0, 6.0]
    assert limits.tolist() == [CAPPED, CAPPED, 0]


def test_no_link_carries_more_than_it_can_and_all_is_carried():
    rng = np.random.default_rng(5)
    transfers = [
        Transfer(float(rng.uniform(0, 5)), float(rng.uniform(1, 20)), tuple(rng.choice(4, size=2, replace=False)))
        for _ in range(30)
    ]
    found = share_out(transfers, [3.0, 4.0, 5.0, 6.0], until=1000)
    carried = np.zeros(30)
    for one in found:
        load = np.zeros(4)
        for i, rate in zip(one.active, one.rates, strict=True):
            load[list(transfers[i].path)] += rate
            carried[i] += rate * (one.end - one.begin)
        assert (load <= np.array([3.0, 4.0, 5.0, 6.0]) + 1e-9).all()
    assert carried.tolist() == pytest.approx([one.bits for one in transfers], rel=1e-5)


def test_transfers_without_end_and_the_end_of_the_run():
    found = share_out([Transfer(1, math.inf, (0,)), Transfer(2, 10, (0,))], [10.0], until=3)
    assert [(one.begin, one.end, len(one.active)) for one in found] == [(1.0, 2.0, 1), (2.0, 3.0, 2)]
    assert share_out([], [10.0], until=3) == []
    with pytest.raises(DomainError, match=r"^cap: "):
        Transfer(0, 1, (0,), cap=0)


@pytest.mark.parametrize("file", ["examples/chain.toml", "examples/torus.toml", "examples/explicit-two-hop.toml"])
def test_routes_are_the_simulator_s(file):
    plan = Scenario.load(Path(__file__).parents[3] / file)
    paths = ShortestPaths(plan.links)
    known = [flow for flow in plan.flows if flow.path]
    for flow in known[:50]:
        assert tuple(link.name for link in paths.path(flow.from_, flow.to)) == flow.path


BUS = {"queue.router.aqm": "ddred", "run.duration": "150s"}


@pytest.mark.slow
def test_draws_are_those_of_the_runs():
    model = model_of(Scenario.load("paper:ddred/bus.toml", overrides=BUS), link="r6->r5")
    draws = drawn_flows(model, [2])
    run = aqmlab.run(model.scenario, seeds=[2], progress=False).flows
    for column in ("from", "to", "size_packets", "start_s"):
        assert draws[column].tolist() == run[column].tolist()


@pytest.mark.slow
def test_the_bus_has_shares_by_distance():
    plan = Scenario.load("paper:ddred/bus.toml", overrides=BUS)
    theory = theory_of(model_of(plan, link="r6->r5"), seeds=[1, 2])
    (column,) = theory.shares.columns
    drops = [value for key, value in column.values.items() if key.startswith("drops_")]
    assert sum(drops) == pytest.approx(1)
    assert drops[0] == max(drops)
    assert [row["seed"] for row in theory.by_seed] == [1, 2]
    assert column.values["active"] == pytest.approx(np.mean([row["active"] for row in theory.by_seed]))
    assert 0 < theory.columns[0].values["utilization"] < 1


def test_a_link_that_no_transfer_crosses_is_one_line():
    plan = Scenario.load("paper:ddred/bus.toml", overrides={**BUS, "flow.ftp.count": "1"})
    reasons = [theory_of(model_of(plan, link=link), seeds=[1]).model.reason for link in ("r1->r2", "r2->r1")]
    assert "no transfer crosses r1->r2 in seeds 1" in reasons or "no transfer crosses r2->r1 in seeds 1" in reasons


def test_a_file_whose_times_need_its_length_is_run_for_its_draws():
    theory = theory_of(model_of(Scenario.load(Path(__file__).parents[3] / "examples/torus.toml")), seeds=[1])
    assert theory.model.kind == "transfers"
    assert theory.shares.columns


def test_what_applications_send_is_known_by_its_size():
    plan = Scenario.load(Path(__file__).parents[3] / "examples/applications.toml")
    found = {flow.group: by_application(flow) for flow in plan.flows}
    assert True in found.values()
    assert not any(by_application(flow) for flow in Scenario.load("paper:ddred/bus.toml").flows)


def test_transfers_under_another_victim_rule_have_one_line():
    plan = Scenario.load("paper:ddred/bus.toml", overrides={"queue.router.victim": "choke", "run.duration": "150s"})
    found = theory_of(model_of(plan, link="r6->r5"), seeds=[1]).shares
    assert found.reason == "no theory of shares by class for drawn or short transfers with the victim rule choke"
    assert [metric.key for metric in found.quantities] == ["active"]
