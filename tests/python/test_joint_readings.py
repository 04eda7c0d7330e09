"""The search of joint readings: Network 2's links and destinations, its candidates, and its scores."""

from __future__ import annotations

import math

import pytest

import joint_readings
import joint_runs
from aqmlab import _core

TOPOLOGIES = joint_readings.axes("network2")["topology"]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("torus 3 x 4", 24),
        ("torus 2 x 6", 18),
        ("ring of 12", 12),
        ("grid 3 x 4", 17),
        ("grid 2 x 6", 16),
        ("line of 12", 11),
    ],
)
def test_links_between_routers(name, count):
    edges = joint_runs.edges_of(TOPOLOGIES[name])
    assert len({frozenset(edge) for edge in edges}) == len(edges) == count
    assert {router for edge in edges for router in edge} == set(range(joint_runs.ROUTERS))


@pytest.mark.parametrize("locality", [0.0, 0.5, 0.8, 1.0])
def test_destinations(locality):
    """No flow ends at its own router, and at least the local share ends at an adjacent one."""
    edges = joint_runs.edges_of(TOPOLOGIES["ring of 12"])
    flows = joint_runs.draw_flows(edges, locality, high=48, seed=3)
    assert [host for host, _, _ in flows] == list(range(joint_runs.HOSTS))
    assert sum(group == "high" for _, group, _ in flows) == 48
    ends = [(joint_runs.router_of(host), joint_runs.router_of(to)) for host, _, to in flows]
    assert all(a != b for a, b in ends)
    adjacent = sum((a, b) in edges or (b, a) in edges for a, b in ends)
    assert adjacent >= locality * joint_runs.HOSTS
    assert adjacent == joint_runs.HOSTS if locality == 1 else adjacent < joint_runs.HOSTS


@pytest.mark.slow
def test_a_scenario_of_every_topology_is_valid():
    first = {name: next(iter(values.values())) for name, values in joint_readings.axes("network2").items()}
    for topology in TOPOLOGIES.values():
        text = joint_runs.network2(first | {"topology": topology}, "mesh, 30 %", "110s", 1)
        _core.Scenario(text, "network2")


@pytest.mark.parametrize("network", ["network1", "network2"])
def test_no_row_is_fitted_and_held_out(network):
    fitted, held_out = (joint_readings.rows(network, part) for part in ("fitted", "held_out"))
    assert fitted
    assert held_out
    assert not {row.case for _, row in fitted} & {row.case for _, row in held_out}


@pytest.mark.parametrize("network", ["network1", "network2"])
def test_candidates_are_different_and_named(network):
    found = joint_readings.candidates(network)
    assert len({(one.label, one.width) for one in found}) == len(found)
    assert found[0].label == "the first value of every axis"


def test_readings_are_better_only_where_intervals_do_not_overlap():
    def judged(values, *measured):
        one = joint_readings.Candidate("network1", joint_readings.first_values("network1") | values, 20.0)
        parts = [[joint_readings.Cell("IV", "x", "a_d", 70.0, list(values))] for values in measured]
        return one, *parts

    first = judged({}, [80.0, 80.1, 80.2], [80.0, 80.1, 80.2])
    tahoe = judged({"TCP": "Tahoe"}, [80.0, 80.1, 80.2], [75.0, 75.1, 75.2])
    timeout = judged({"greatest time-out": "2 s"}, [90.0, 90.1, 90.2], [80.0, 80.1, 80.2])
    assert joint_readings.compared([first, tahoe, timeout]).endswith(
        "do not overlap: TCP: Tahoe: clearly better on the rows held out; greatest time-out: 2 s: clearly worse on the "
        "rows that choose."
    )


def test_error_of_a_cell():
    cell = joint_readings.Cell("V", "30 % Non", "min", 0.0, [1.0, 2.0, 3.0])
    assert cell.error == pytest.approx(math.log(3.0))
    assert not joint_readings.Cell("I", "RED", "queue", 33.0, [30.0, 30.1]).inside
    assert joint_readings.score([cell, cell]) == pytest.approx(math.log(3.0))
