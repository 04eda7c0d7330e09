"""The comparison of the papers' experiments: networks, routes, intervals (needs no ns-2)."""

from __future__ import annotations

from math import isclose

import pytest

from compare_papers import jobs
from dsred_shares import KINDS, read
from papers.experiments import EXPERIMENTS
from papers.intervals import compare, markdown, paired_interval
from papers.networks import bus, flower, is_uplink, routes


def way(links: list[tuple[str, str]], start: str, end: str) -> list[str]:
    step = {(at, to): after for at, to, after in routes(links)}
    nodes = [start]
    while nodes[-1] != end:
        nodes.append(step[nodes[-1], end])
    return nodes


def test_bus() -> None:
    links = bus(3)
    assert len(links) == 2 * (2 + 3)
    assert [link for link in links if is_uplink(link)] == [("h1", "r1"), ("h2", "r2"), ("h3", "r3")]
    assert way(links, "h1", "h3") == ["h1", "r1", "r2", "r3", "h3"]


def test_flower() -> None:
    links = flower(5, 8)
    assert len(links) == len(set(links)) == 2 * (5 * 8 + 5 + 40)
    # From a petal over two gates to another: 2 steps, 2 steps, 1 step and both hosts.
    assert way(links, "h3", "h18") == ["h3", "r3", "r2", "r1", "r9", "r17", "r18", "h18"]


def test_of_equal_ways_the_one_over_the_earlier_link() -> None:
    links = flower(5, 8)
    assert way(links, "h1", "h5")[1:-1] == ["r1", "r2", "r3", "r4", "r5"]
    assert way(list(reversed(links)), "h1", "h5")[1:-1] == ["r1", "r8", "r7", "r6", "r5"]


def test_pairing_removes_what_the_lists_have_in_common() -> None:
    theirs = [100.0, 200.0, 300.0, 400.0]
    ours = [101.0, 199.0, 301.0, 399.0]
    low, high = paired_interval(ours, theirs)
    assert isclose(low, -high)
    assert 1.3 < high < 1.4
    assert compare(("x", "", "q"), ours, theirs, 0.03, paired=True).shown
    apart = compare(("x", "", "q"), ours, theirs, 0.03, paired=False)
    assert not apart.shown
    assert apart.seeds_needed is not None
    assert apart.seeds_needed > 4


def test_a_true_difference_is_reported_as_one() -> None:
    difference = compare(("x", "", "q"), [110.0, 111.0, 109.0], [100.0, 101.0, 99.0], 0.05, paired=True)
    assert not difference.shown
    assert difference.seeds_needed is None
    assert "too large" in markdown([difference])
    told = compare(("x", "", "q"), [110.0, 111.0, 109.0], [100.0, 101.0, 99.0], None, paired=True)
    assert told.shown
    assert "only reported" in markdown([told])


def test_jobs_are_spread_over_the_experiments() -> None:
    wanted = jobs(list(EXPERIMENTS), 1.0)
    assert len(wanted) == len(set(wanted)) == sum(len(e.points) * e.seeds for e in EXPERIMENTS.values())
    flowers = [i for i, (name, _, _) in enumerate(wanted) if name == "DDRED flower"]
    assert flowers[0] < len(wanted) / 8
    assert flowers[-1] > len(wanted) * 7 / 8


@pytest.mark.parametrize("kind", KINDS)
def test_drop_shares_are_whole(kind: str) -> None:
    rows = [row for row in read() if row["kind"] == kind]
    assert [int(row["seed"]) for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 30
    for row in rows:
        for name in ("in", "out"):
            assert int(row[f"{name}_arrivals"]) > int(row[f"{name}_forced"]) + int(row[f"{name}_early"]) >= 0
