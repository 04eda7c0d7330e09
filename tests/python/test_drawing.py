"""Drawings: every host is counted, nothing overlaps, the same bytes every time."""

from __future__ import annotations

import itertools
import math

import pytest

import aqmlab
from aqmlab.drawing import describe
from aqmlab.layout import arrange

CHAIN = """\
format = 1
[run]
duration = "1s"
[chain]
routers = 4
link = { rate = "10Mbps", delay = "2ms", queue = "core", reverse_queue = "core" }
host = { rate = "100Mbps", delay = "1ms" }
[queue.core]
aqm = "red"
[[flow]]
name = "long"
count = 3
transport = "newreno"
from = "r1"
to = "r4"
[[flow]]
name = "cross"
transport = "newreno"
from = "r2"
to = "r3"
"""

RING = (
    """\
format = 1
[run]
duration = "1s"
"""
    + "".join(f'[[link]]\nfrom = "n{i}"\nto = "n{(i + 1) % 6}"\nrate = "10Mbps"\ndelay = "1ms"\n' for i in range(6))
    + '[[flow]]\nname = "tcp"\ntransport = "newreno"\nfrom = "n0"\nto = "n3"\n'
)


@pytest.mark.parametrize("which", ["dumbbell", "chain", "ring"])
def test_every_node_is_shown_once_and_apart(which, dumbbell):
    text = {"dumbbell": dumbbell, "chain": CHAIN, "ring": RING}[which]
    plan = aqmlab.Scenario.from_text(text, filename=f"{which}.toml")
    drawing = arrange(plan)
    assert sum(spot.count for spot in drawing.spots.values()) == len(plan.nodes)
    for a, b in itertools.combinations(drawing.spots.values(), 2):
        assert math.dist((a.x, a.y), (b.x, b.y)) > 0.1, (a.label, b.label)
    for wire in drawing.wires:
        assert {wire.a, wire.b} <= set(drawing.spots)


def test_senders_left_receivers_right(dumbbell):
    spots = arrange(aqmlab.Scenario.from_text(dumbbell)).spots
    assert spots["left.tcp.0"].x < spots["r1"].x < spots["r2"].x < spots["right.tcp.0"].x
    assert spots["left.tcp.0"].label == "left.tcp × 3"


def test_words_for_those_who_cannot_see_it(dumbbell):
    text = describe(aqmlab.Scenario.from_text(dumbbell))
    assert "2 routers (r1, r2), 6 hosts, 3 flows" in text
    assert "bottleneck: red, 2 Mb/s" in text


def test_the_same_bytes_every_time(small, tmp_path):
    for folder in ("a", "b"):
        aqmlab.draw(small, out=tmp_path / folder, png=True)
    names = sorted(p.name for p in (tmp_path / "a").iterdir())
    assert names == ["small-drop-curve.png", "small-drop-curve.svg", "small-topology.png", "small-topology.svg"]
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
