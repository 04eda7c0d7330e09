"""The time to live with which hosts send: routers lower it, and DDRED's distance does not depend on where it begins."""

import pytest

import aqmlab
from aqmlab.errors import ScenarioError

NETWORK = """\
format = 1
name = "near-and-far"
nodes = ["far", "r1", "near", "r2", "d"]
[run]
duration = "5s"
[[link]]
from = "far"
to = "r1"
rate = "100Mbps"
delay = "1ms"
[[link]]
from = "r1"
to = "r2"
rate = "100Mbps"
delay = "1ms"
[[link]]
from = "near"
to = "r2"
rate = "100Mbps"
delay = "1ms"
[[link]]
name = "bottleneck"
from = "r2"
to = "d"
rate = "2Mbps"
delay = "5ms"
queue = "main"
[queue.main]
aqm = "ddred"
distance = "DISTANCE"
[[flow]]
name = "far"
from = "far"
to = "d"
[[flow]]
name = "near"
from = "near"
to = "d"
[probe]
links = ["bottleneck"]
events = true
"""


def tables(distance, **ttl):
    overrides = {f"flow.{name}.ttl": value for name, value in ttl.items()}
    text = NETWORK.replace("DISTANCE", distance)
    return aqmlab.run(aqmlab.Scenario.from_text(text, overrides=overrides), seeds=[1], progress=False).tables


@pytest.mark.parametrize("distance", ["ttl", "fraction"])
def test_where_it_begins_does_not_change_distances(distance):
    plain, other = tables(distance), tables(distance, far=100, near=255)
    for name in ("links", "flows", "queue_samples"):
        if name in plain:
            assert plain[name].equals(other[name]), name
    events = [found["events"] for found in (plain, other)]
    assert len(events[0]) > 1000
    assert events[0].drop(columns="ttl").equals(events[1].drop(columns="ttl"))
    # Two routers before the queue, or one: arriving packets have 2 less, or 1 less, than their sender wrote.
    seen = [{flow: set(group) for flow, group in one.groupby("flow")["ttl"]} for one in events]
    assert seen[0] != seen[1]
    assert sorted(map(sorted, seen[0].values())) == [[62], [63]]
    assert sorted(map(sorted, seen[1].values())) == [[98], [254]]


def test_one_that_ends_on_the_way_is_an_error():
    with pytest.raises(ScenarioError, match=r"flow.far.ttl: the longest way of its packets passes 2 routers \(allowed"):
        tables("ttl", far=2)
