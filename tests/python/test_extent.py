"""Runs that are too large for something: said before they begin, or ended with one line."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.results.parquet import values
from aqmlab.results.quantities import quantity
from aqmlab.runs.bounds import bounds_of

NETWORK = """format = 1
name = "extent"
[run]
duration = "{duration}"
[dumbbell]
bottleneck = {{ rate = "{rate}", delay = "10ms", queue = "q" }}
left = {{ rate = "{left}", delay = "1ms", queue = "access" }}
right = {{ rate = "{rate}", delay = "1ms" }}
[queue.q]
aqm = "red"
[queue.access]
aqm = "drop-tail"
limit = "{limit}"
[[flow]]
name = "f"
{flow}
{more}
"""


def scenario(duration: str, rate: str, flow: str, *, left: str = "", limit: str = "1000p", more: str = "") -> str:
    return NETWORK.format(duration=duration, rate=rate, left=left or rate, limit=limit, flow=flow, more=more)


def warnings(text: str) -> list[str]:
    return [str(warning) for warning in aqmlab.Scenario.from_text(text, filename="extent.toml").warnings]


GREEDY = 'transport = "newreno"\ntcp = { window = "100000p" }'


def test_a_size_beyond_the_numbers_of_the_ns2_profile_is_an_error() -> None:
    with pytest.raises(InputError, match=r"extent.toml:\d+:8: flow.f.size: 2000000000 packets are more than 2\^30"):
        aqmlab.Scenario.from_text(scenario("20s", "10Mbps", 'size = "2000000000p"'), filename="extent.toml")
    assert not warnings(scenario("20s", "10Mbps", 'size = "1073741824p"'))
    assert not warnings(scenario("20s", "10Mbps", 'transport = "tcp"\nsize = "2000000000p"\ntcp = { profile = "rfc" }'))


def test_a_flow_that_can_get_there_is_warned_about() -> None:
    found = warnings(scenario("1200s", "10Gbps", GREEDY))
    assert any("more than 2^30 packets during the run, after which profile ns2-2.35 stops" in line for line in found)
    for other in (scenario("1000s", "10Mbps", GREEDY), scenario("1200s", "10Gbps", 'transport = "newreno"')):
        assert not any("2^30" in line for line in warnings(other))


def test_a_run_of_minutes_is_announced() -> None:
    [found] = [line for line in warnings(scenario("60s", "100Gbps", GREEDY)) if "run.duration" in line]
    assert "packets cross links in a run, which takes up to" in found
    udp = 'transport = "udp"\nrate = "100000Gbps"'
    assert "run.duration" in " ".join(warnings(scenario("1s", "100000Gbps", udp)))
    assert not warnings(scenario("60s", "100Mbps", GREEDY))


@pytest.mark.parametrize("engine", ["events", "windows"])
@pytest.mark.parametrize("left", ["1bps", "10bps"])
def test_a_backlog_longer_than_all_time_leaves_the_utilization_right(engine: str, left: str) -> None:
    """A hundred thousand packets at 1 bit/s need 2^70 ps: departures are not computed in advance."""
    text = scenario("100s", "1Mbps", 'transport = "udp"\nrate = "10Mbps"', left=left, limit="1000000000p")
    links = _core.Scenario(text, "extent.toml").run(1, engine=engine)["tables"]["links"]
    assert values(links["utilization"]).max() == 1.0
    plain = _core.Scenario(text, "extent.toml").run(1, shortcuts=False)["tables"]["links"]
    assert plain["mean_queue"] == links["mean_queue"]
    assert plain["utilization"] == links["utilization"]


@pytest.mark.parametrize("log", ["events", "packets", "losses"])
def test_logs_that_have_no_room_left_end_a_run_with_one_line(log: str) -> None:
    more = f"[probe]\n{log} = true\nmax_records = 40"
    text = scenario("20s", "10Mbps", 'transport = "udp"\nrate = "20Mbps"', left="100Mbps", more=more)
    with pytest.raises(InputError, match=r"^extent.toml: probe.max_records: more than 40 entries of events"):
        _core.Scenario(text, "extent.toml").run(1)
    enough = text.replace("max_records = 40", "max_records = 1000000")
    assert (
        _core.Scenario(enough, "extent.toml").run(1)["tables"]
        == _core.Scenario(text.replace("max_records = 40", ""), "extent.toml").run(1)["tables"]
    )


def test_no_name_breaks_the_line_of_a_message() -> None:
    text = scenario("1s", "10Mbps", GREEDY)
    for name in ("u\\nv", "u\\u2028v", "u\\u202ev"):
        with pytest.raises(InputError) as caught:
            aqmlab.Scenario.from_text(text.replace('"f"', f'"{name}"'), filename="a\nb.toml")
        assert len(str(caught.value).splitlines()) == 1
    with pytest.raises(InputError, match=r"control character"):
        aqmlab.Scenario.from_text(text.replace('"extent"', '"a\\u2028b"'), filename="a.toml")


IDLE = """format = 1
name = "idle"
[run]
duration = "100s"
[dumbbell]
bottleneck = { rate = "1Mbps", delay = "10ms", queue = "q" }
left = { rate = "100Mbps", delay = "1ms" }
right = { rate = "100Mbps", delay = "1ms" }
[queue.q]
aqm = "red"
w_q = 0.5
[[flow]]
name = "burst"
transport = "udp"
rate = "100Mbps"
packet_size = "100B"
start = "10s"
stop = "10.0002s"
"""


def test_the_average_of_an_idle_link_is_said_to_be_that_of_arrivals() -> None:
    """A burst of 20 packets in 100 s: the mean over arrivals is packets, the mean over time next to nothing."""
    row = aqmlab.run(aqmlab.Scenario.from_text(IDLE, filename="idle.toml"), seeds=1, progress=False).metrics().iloc[0]
    assert row["mean_average"] > 1
    assert row["mean_queue"] < 0.01
    for key in ("mean_average", "sd_average"):
        assert quantity(key).unit == "packets"
        assert "as each arrival found it" in quantity(key).doc
    assert [bound.value for bound in bounds_of(["mean_average<=10p", "mean_queue<=10p"], option="keep")] == [10, 10]


def test_goodput_is_what_is_delivered_after_the_warm_up() -> None:
    """Packets on the way at the end of the warm-up count: 10.008 Mb/s where 9.984 Mb/s left the link in that time."""
    text = NETWORK.format(
        duration="1800ms",
        rate="10Mbps",
        left="100Mbps",
        limit="1000p",
        flow='transport = "tcp"\ntcp = { profile = "rfc", window = "4MB" }',
        more="",
    )
    text = text.replace('"1800ms"', '"1800ms"\nwarmup = "1300ms"').replace(
        'aqm = "red"', 'aqm = "drop-tail"\nlimit = "300p"'
    )
    text = text.replace('delay = "10ms"', 'delay = "50ms"').replace(
        'right = { rate = "10Mbps"', 'right = { rate = "100Mbps"'
    )
    row = (
        aqmlab.run(aqmlab.Scenario.from_text(text, filename="goodput.toml"), seeds=1, progress=False).metrics().iloc[0]
    )
    assert row["goodput_mbps"] > row["throughput_mbps"] > 9.9
    assert "may exceed the link's rate" in quantity("goodput_mbps").doc
