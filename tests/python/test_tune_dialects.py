"""Settings as text for tc, ns-2, ns-3, Cisco and Juniper: the values that each of them makes of it."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as limits
from hypothesis import strategies as st

import aqmlab
from aqmlab.interop.cisco.queues import write_red
from aqmlab.interop.dialects import dialects_of
from aqmlab.interop.juniper.queues import largest_error, profile
from aqmlab.interop.settings import Settings, shares_at
from aqmlab.interop.tc.red import burst_for, effective_p, wlog_of
from aqmlab.scenario.dialect import Dialect
from conftest import DUMBBELL


def scenario(**parameters: object) -> aqmlab.Scenario:
    body = {"aqm": "red", "limit": "50p", "min_th": "5p", "max_th": "15p", "max_p": 0.1, "w_q": 0.002, **parameters}
    table = {f"queue.bottleneck.{key}": value for key, value in body.items()}
    return aqmlab.Scenario.from_text(DUMBBELL, filename="small.toml", overrides=table)


def texts(**parameters: object) -> dict[str, Dialect]:
    return {one.name: one for one in dialects_of(scenario(**parameters), "bottleneck")}


def own(**parameters: object) -> Settings:
    plan = scenario(**parameters)
    found = Settings.of(plan, plan.link("bottleneck"))
    assert found is not None
    return found


def test_the_papers_red_in_every_dialect() -> None:
    found = texts()
    assert list(found) == ["tc", "ns-2", "ns-3", "cisco", "juniper"]
    assert found["tc"].text == (
        "tc qdisc replace dev DEV root red limit 52000 min 5200 max 15600 avpkt 1040 burst 48 probability 0.1 "
        "bandwidth 2000kbit"
    )
    assert found["tc"].effective["w_q"] == "2^-9 = 0.00195312"
    assert found["ns-2"].effective["max_p"] == "0.1"
    assert "Queue/RED set linterm_ 10\n" in found["ns-2"].text
    assert "$ns queue-limit $n1 $n2 50" in found["ns-2"].text
    assert '"MinTh", StringValue("5"), "MaxTh", StringValue("15")' in found["ns-3"].text
    assert "random-detect exponential-weighting-constant 9\n" in found["cisco"].text
    assert "random-detect precedence 7 5 15 10\n" in found["cisco"].text
    assert "fill-level [ 0 10 29 30 ];" in found["juniper"].text
    assert "drop-probability [ 0 0 10 100 ];" in found["juniper"].text


@pytest.mark.parametrize(
    ("packet", "mode", "expected"),
    [
        ("1460B", "packets", "limit 150000 min 18000 max 55500 avpkt 1500"),
        ("960B", "packets", "limit 100000 min 12000 max 37000 avpkt 1000"),
        ("1460B", "bytes", "limit 100000 min 12000 max 37000 avpkt 1000"),
    ],
)
def test_packets_become_bytes_by_the_size_of_the_traffic(packet: str, mode: str, expected: str) -> None:
    """ns-2's packets have 40 bytes of headers; in byte mode thresholds count in mean_packet, 1000 B."""
    text = DUMBBELL.replace('packet_size = "1000B"\n', "").replace(
        'name = "tcp"\n', f'name = "tcp"\npacket_size = "{packet}"\n'
    )
    body = {"aqm": "red", "limit": "100p", "min_th": "12p", "max_th": "37p", "mean_packet": "1000B", "mode": mode}
    plan = aqmlab.Scenario.from_text(text, filename="small.toml", overrides={"queue.bottleneck": body})
    found = dialects_of(plan, "bottleneck")[0]
    assert expected in found.text
    assert found.effective["max_th"].endswith(f"= 37 packets of {expected.split()[-1]} B")
    assert any("avpkt is the traffic's packet" in note for note in found.notes) == ("1500" in expected.split()[-1])


def test_inexpressible_parts_are_named() -> None:
    found = texts(aqm="mred")
    for name in ("tc", "ns-2", "ns-3", "cisco"):
        assert any('the curve "mred" is not there' in note for note in found[name].notes), name
    assert not any("curve" in note for note in found["juniper"].notes)
    gentle = texts(aqm="gentle-red")
    assert "gentle_ true" in gentle["ns-2"].text
    assert any("no slope" in note for note in gentle["tc"].notes)
    assert '"NLRED", StringValue("true")' in texts(aqm="nlred")["ns-3"].text
    assert any("3 times as many" in note for note in found["tc"].notes)
    assert not any("times as many" in note for note in texts(spacing="linux")["tc"].notes)
    assert any('victim "pc-red"' in note for note in texts(aqm="pc-red")["ns-2"].notes)
    adaptive = texts(aqm="adaptive-red")
    assert "adaptive_ 1" in adaptive["ns-2"].text
    assert any("adaptation" in note for note in adaptive["cisco"].notes)
    assert "ecn" in texts(ecn=True)["tc"].text


def test_queues_without_reds_parameters_have_text_for_tc_alone_if_it_has_them() -> None:
    def found(aqm: str) -> list[str]:
        queue = f"{{ aqm = '{aqm}', limit = '20p' }}"
        plan = aqmlab.Scenario.from_text(DUMBBELL, filename="small.toml", overrides={"queue.bottleneck": queue})
        return [one.text for one in dialects_of(plan, "bottleneck")]

    assert found("drop-tail") == ["tc qdisc replace dev DEV root pfifo limit 20"]
    assert found("codel") == ["tc qdisc replace dev DEV root codel limit 20 target 5000us interval 100000us noecn"]
    assert found("cobalt") == []


@pytest.mark.parametrize(("burst", "wlog"), [(4, 3), (10, 6), (20, 8), (60, 11), (129, 14)])
def test_wlog_is_that_of_tc(burst: int, wlog: int) -> None:
    """The value that iproute2 6.1 sends to the kernel for ``min 2000 avpkt 1000`` (byte 12 of TCA_RED_PARMS)."""
    assert wlog_of(2000, burst, 1000) == wlog


@pytest.mark.slow
@limits(max_examples=60, deadline=None)
@given(
    min_th=st.integers(2, 40), span=st.integers(1, 60), max_p=st.floats(0.001, 0.66), w_q=st.floats(1e-5, 0.9),
    aqm=st.sampled_from(["red", "gentle-red", "mred", "exred", "nlred"]),
)  # fmt: skip
def test_texts_have_their_effective_values(min_th: int, span: int, max_p: float, w_q: float, aqm: str) -> None:
    queue = {"aqm": aqm, "min_th": f"{min_th}p", "max_th": f"{min_th + span}p", "limit": "200p", "max_p": max_p}
    one, found = own(**queue, w_q=w_q), texts(**queue, w_q=w_q)
    linux = found["tc"]
    words = dict(re.findall(r"(limit|min|max|avpkt|burst|probability) (\S+)", linux.text))
    wlog = wlog_of(int(words["min"]), int(words["burst"]), int(words["avpkt"]))
    assert linux.effective["w_q"].startswith(f"2^-{wlog} = ")
    assert wlog is not None
    if not any("no weight near" in note for note in linux.notes):
        assert abs(wlog + math.log2(w_q)) <= 1
    made = effective_p(float(words["probability"]), int(words["max"]) - int(words["min"]))
    assert made == pytest.approx(max_p, abs=3e-5)
    assert 1 <= int(re.findall(r"constant (\d+)", write_red(one))[0]) <= 16
    pairs = profile(one)
    assert pairs == sorted(pairs)
    assert all(a[0] < b[0] and a[1] <= b[1] for a, b in itertools.pairwise(pairs))
    assert pairs[0] == (0, 0)
    assert pairs[-1][1] == 100
    assert f"{largest_error(one, pairs):.3g}" in found["juniper"].effective["largest error of p_b"]


@pytest.mark.parametrize("aqm", ["red", "gentle-red", "mred", "exred", "nlred"])
def test_junipers_profile_follows_the_curve(aqm: str) -> None:
    one = own(aqm=aqm, min_th="20p", max_th="60p", limit="200p", max_p=0.2)
    pairs = profile(one)
    levels = np.array([5, 15, 20, 25, 40, 55, 70, 90])
    drawn = np.interp(levels, [a for a, _ in pairs], [b / 100 for _, b in pairs])
    assert drawn == pytest.approx(shares_at(one, levels * 2.0), abs=0.02)


def test_bursts_lead_to_the_nearest_wlog() -> None:
    for minimum in (2000, 5000, 30000):
        for wlog in range(1, 18):
            burst, made = burst_for(wlog, minimum, 1000)
            assert wlog_of(minimum, burst, 1000) == made
            assert abs(made - wlog) <= 1


def test_one_packet_as_min_leaves_tc_no_slow_average() -> None:
    assert burst_for(9, 1000, 1000) == (1, 1)
    one = texts(min_th="1p")["tc"]
    assert one.effective["w_q"] == "2^-1 = 0.5"
    assert any("no weight near" in note for note in one.notes)
