"""Tuning an uplink: rates, traffic, lengths of runs, recommendations."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.tuning.uplink import PACKET_BUDGET, rates_of, uplink

RTT = "20ms:100ms"


@pytest.mark.parametrize(
    ("text", "down", "up"),
    [
        ("20mbit", 20e6, 20e6),
        ("20Mbit", 20e6, 20e6),
        ("20 Mbps", 20e6, 20e6),
        ("20Mb/s", 20e6, 20e6),
        ("20mbit/s", 20e6, 20e6),
        ("1gbit", 1e9, 1e9),
        ("100/20Mbps", 100e6, 20e6),
        ("1Gbps/50Mbps", 1e9, 50e6),
        ("100Mbit/s/40Mbit/s", 100e6, 40e6),
    ],
)
def test_rates_as_people_write_them(text: str, down: float, up: float) -> None:
    assert rates_of(text) == (down, up)


@pytest.mark.parametrize("text", ["50", "fast", "20MB/s", "20MBps", "100/20", "0Mbps", "1.2.3Mbps", "20/0Mbps"])
def test_other_rates_are_rejected_with_the_forms_that_are_allowed(
    text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "--uplink", text]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "50Mbps, 20mbit or 100/20Mbps (down/up)" in line


def test_two_rates_make_two_links_and_load_the_uplink() -> None:
    plan = uplink("100/20Mbps", RTT, "calls and web").scenario
    assert plan.link("up").rate_bps == 20e6
    assert plan.link("down").rate_bps == 100e6
    assert plan.link("up").queue == "bottleneck"
    assert all("up" in flow.path for flow in plan.flows if flow.name.startswith("downloads"))
    assert all("up" in flow.path for flow in plan.flows if flow.name.endswith(".there"))


def test_calls_are_scored_in_the_direction_that_is_loaded() -> None:
    plan = uplink("100/20Mbps", RTT, "calls").scenario
    found = aqmlab.run(plan, overrides={"run.duration": "8s"}, seeds=[1], progress=False).metrics(link="up").iloc[0]
    assert found["mos_worse"] < found["mos"] - 0.5, "the other direction is idle"


@pytest.mark.parametrize(
    ("rate", "rtt", "measured", "round_trips"),
    [("20Mbps", RTT, 20.0, 200), ("5Mbps", "5ms:20ms", 15.0, 750), ("20Mbps", "550ms:650ms", 130.0, 200)],
)
def test_runs_last_hundreds_of_round_trips(rate: str, rtt: str, measured: float, round_trips: float) -> None:
    found = uplink(rate, rtt)
    plan = found.scenario
    assert plan.duration_s - plan.warmup_s == pytest.approx(measured)
    assert measured / (float(rtt.split(":")[1].removesuffix("ms")) / 1e3) == pytest.approx(round_trips)
    assert found.notes == ()


def test_a_fast_uplink_has_a_budget_of_packets() -> None:
    found = uplink("10Gbps", "200us:1ms")
    assert found.scenario.duration_s * 10e9 / 12_000 == pytest.approx(PACKET_BUDGET)
    (note,) = found.notes
    assert note == (
        "a run of 20 s would carry 16,666,667 packets: shortened to 1.2 s (1,000,000 packets, 1,200 of the longest "
        "round trips)"
    )


def test_the_goal_is_what_people_feel() -> None:
    calls, web, both = (uplink("20Mbps", RTT, uses) for uses in ("calls and downloads", "web", "web and calls"))
    assert (calls.maximize, calls.minimize) == ("mos_worse", None)
    assert (web.maximize, web.minimize, web.unharmed) == (None, "page_load_s", ("pages_unfinished",))
    assert (both.maximize, both.unharmed) == ("mos_worse", ("page_load_s", "pages_unfinished"))
    assert uplink("20Mbps", RTT, "downloads").minimize == "delay_p95_ms"
