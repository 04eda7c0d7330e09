"""Numbers of links that pause, fail or burst: throughput, scores of calls, and ideal completion times."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.scenario.file import Scenario

BASE = """\
format = 1
name = "edges"

[run]
duration = "10s"

[dumbbell]
bottleneck = {{ {bottleneck}, delay = "10ms", queue = "main" }}
left = {{ rate = "100Mbps", delay = "5ms" }}
right = {{ rate = "100Mbps", delay = "5ms" }}

[queue.main]
aqm = "drop-tail"
limit = "100p"

{rest}
"""
CALL = '[[flow]]\nname = "call"\nvoip = {}\nstart = "1s"\n'
TRANSFER = '[[flow]]\nname = "t"\ntransport = "tcp"\nsize = "1MB"\nstart = "1s"\n'


def result_of(bottleneck, rest, **options):
    text = BASE.format(bottleneck=bottleneck, rest=rest)
    return aqmlab.run(Scenario.from_text(text, filename="edges.toml"), seeds=1, **options)


@pytest.mark.parametrize("engine", ["auto", "events"])
def test_throughput_of_a_link_that_flaps_is_within_its_capacity(engine):
    flaps = "".join(
        f'[[change]]\nat = "{ms}ms"\nlink = "bottleneck"\nstate = "{"down" if n % 2 == 0 else "up"}"\n'
        for n, ms in enumerate(range(100, 9000, 5))
    )
    udp = '[[flow]]\nname = "udp"\ntransport = "udp"\nrate = "12Mbps"\n'
    row = result_of('rate = "1Mbps"', udp + flaps, engine=engine).links.iloc[0]
    assert 0 < row.throughput_bps <= row.capacity_bps + 12_000 / 10


def test_a_call_over_a_link_that_stops_is_a_bad_call():
    stop = '[[change]]\nat = "2s"\nlink = "bottleneck"\nrate = "0bps"\n'
    calls = aqmlab.voip.calls(result_of('rate = "10Mbps"', CALL + stop)).set_index("flow")
    assert calls.loc["call.there", "loss"] > 0.8
    assert calls.loc["call.there", "mos"] < 1.5
    assert calls.loc["call.back", "mos"] > 4


def test_a_direction_of_which_nothing_arrives_has_the_worst_score():
    calls = aqmlab.voip.calls(result_of('rate = "10Mbps", loss = 1.0', CALL)).set_index("flow")
    assert calls.loc["call.there", ["received", "loss", "mos"]].tolist() == [0, 1.0, 1.0]


@pytest.mark.parametrize(
    "bottleneck",
    [
        'rate = { tbf = "1Mbps", burst = "2MB" }',
        'rate = { trace = "0:100000000 1000000000:1000000 10000000000:0" }',
        'rate = "10Mbps", reorder = 1.0',
    ],
)
def test_no_transfer_is_faster_than_the_least_time(bottleneck):
    flows = result_of(bottleneck, TRANSFER).flows
    taken = (flows.finish_s - flows.start_s).iloc[0]
    assert 0 < flows.ideal_s.iloc[0] <= taken


def test_a_byte_order_mark_is_no_part_of_a_trace(tmp_path):
    (tmp_path / "excel.csv").write_bytes("\ufefftime_s,rate_mbps\r\n0,5\r\n1,5\r\n".encode())
    path = tmp_path / "edges.toml"
    path.write_text(BASE.format(bottleneck='rate = { trace = "excel.csv" }', rest=TRANSFER))
    assert Scenario.load(path).link("bottleneck").trace["mean_bps"] == 5e6


def test_packets_lost_at_outages_are_a_quantity():
    down = '[[change]]\nat = "3s"\nlink = "bottleneck"\nstate = "down"\nwaiting = "flushed"\n'
    up = '[[change]]\nat = "4s"\nlink = "bottleneck"\nstate = "up"\n'
    bulk = '[[flow]]\nname = "bulk"\ntransport = "tcp"\n'
    found = result_of('rate = "5Mbps"', bulk + down + up)
    reasons = found.drop_reasons[found.drop_reasons["link"] == "bottleneck"]
    lost = reasons[reasons["reason"].isin(["down", "flushed", "cut"])]["drops"].sum()
    assert found.metrics()["outage_losses"].tolist() == [lost]
    assert lost > 10
    assert "outage_losses" not in result_of('rate = "5Mbps"', bulk).metrics()


@pytest.mark.parametrize(
    ("bottleneck", "tcp", "message"),
    [
        ('rate = "5Mbps"', "bbr1_high_gain = 3", "it is an option of bbr1, and the flow uses cubic"),
        ('rate = "5Mbps"', 'congestion_control = "reno", hystart = "off"', "it is an option of cubic"),
        ('rate = "5Mbps"', 'reordering_threshold = "3p"', "TCP reports a missing packet at once"),
        ('rate = "5Mbps"', 'congestion_control = "bbr1", ecn = true', "bbr1 does not respond to marks"),
        ('rate = { trace = "1 2 3" }, in_service = "as-started"', "", "no bit rate that changes during a service"),
        (
            'rate = { tbf = "5Mbps", burst = "9kB" }, in_service = "as-started"',
            "",
            "no bit rate that changes during a service",
        ),
        ('rate = "5Mbps", in_service = "as-started"', "", None),
        ('rate = { trace = "0:1000000 1000000000:0" }, in_service = "as-started"', "", None),
        ('rate = "5Mbps"', 'loss_detection = "quic", reordering_threshold = "3p"', None),
    ],
)
def test_settings_without_effect_have_a_warning(bottleneck, tcp, message):
    flow = f'[[flow]]\nname = "bulk"\ntransport = "tcp"\ntcp = {{ {tcp} }}\n'
    scenario = Scenario.from_text(BASE.format(bottleneck=bottleneck, rest=flow), filename="edges.toml")
    found = [one.message for one in scenario.warnings]
    assert len(found) == (message is not None)
    assert message is None or message in found[0]
