"""Scenarios as programs for ns-3: their words, what differs, and a run where ns-3 is installed."""

from __future__ import annotations

import pytest

from aqmlab.interop.crosscheck.tool import Measure
from aqmlab.interop.differences import Kind, inexpressible
from aqmlab.interop.model import Model
from aqmlab.interop.ns3.flows import tcp_of
from aqmlab.interop.ns3.other_queues import OTHER_QUEUES
from aqmlab.interop.ns3.tool import Ns3
from aqmlab.scenario.file import Scenario

TEXT = """format = 1
name = "small"

[run]
duration = "4s"
warmup = "1s"

[dumbbell]
bottleneck = { rate = "2Mbps", delay = "10ms", queue = "bottleneck" }
left = { rate = "100Mbps", delay = "5ms" }
right = { rate = "100Mbps", delay = "5ms" }

[queue.bottleneck]
aqm = "gentle-red"
dialect = "ns2-2.35"
p_one_is_early = false
min_th = "5p"
max_th = "15p"
limit = "50p"
mean_packet = "1500B"

[[flow]]
name = "tcp"
count = 2
transport = "tcp"
tcp = { congestion_control = "reno" }

[[flow]]
name = "udp"
transport = "udp"
rate = "500kbps"
packet_size = "1000B"
"""
TOOL = Ns3()
# A program can only be compiled where the libraries of ns-3 and a compiler are; its text is checked everywhere.
needs_ns3 = pytest.mark.skipif(bool(TOOL.missing()), reason=TOOL.missing() or "ns-3 is installed")


def model(**overrides: str) -> Model:
    return Model.of(Scenario.from_text(TEXT, overrides={key.replace("__", "."): v for key, v in overrides.items()}))


def program(own: Model) -> str:
    return TOOL.files(own)["small.cc"]


def named(own: Model) -> set[str]:
    return {one.name for one in TOOL.differences(own)}


def test_the_queue_is_written_with_attributes_of_ns3() -> None:
    text = program(model())
    for words in ('"ns3::RedQueueDisc"', '{"MinTh", "5"}', '{"LInterm", "10"}', '{"MaxSize", "50p"}'):
        assert words in text
    assert 'network.Join("bottleneck", "bottleneck.reverse", "r1", "r2", "10ms", "2002667bps"' in text


def test_quantities_in_bytes_are_written_in_bytes() -> None:
    text = program(model(queue__bottleneck__mode="bytes"))
    assert '{"MinTh", "7500"}' in text
    assert '{"MaxSize", "75000B"}' in text


def test_segments_make_packets_of_the_scenarios_length() -> None:
    kind = tcp_of(model(**{"flow.tcp.tcp.header": "66B"}).flows[0])
    assert (kind.packet, kind.segment) == (1514, 1462)
    assert dict(kind.attributes)["ClockGranularity"] == "200ms"


def test_known_differences_are_named() -> None:
    found = named(model())
    assert {"hidden device queue", "framing", "growth at the end of recovery", "loss detection"} <= found
    assert not {"idle rule", "probability one"} & found
    assert {"idle rule", "first packet above min_th"} <= named(model(queue__bottleneck__dialect="floyd93"))
    assert "Reno-friendly region" in named(model(**{"flow.tcp.tcp.congestion_control": "cubic"}))


@pytest.mark.parametrize("control", ["dctcp", "bbr", "ledbat", "prague"])
def test_a_congestion_control_that_is_not_written_for_ns3_is_named(control: str) -> None:
    found = inexpressible(TOOL.differences(model(**{"flow.tcp.tcp.congestion_control": control})))
    assert [one.name for one in found] == ["congestion control"]


@pytest.mark.parametrize("aqm", ["mred", "ddred", "load-red"])
def test_scenarios_that_ns3_cannot_run_are_reported_and_not_run(aqm: str) -> None:
    own = model(queue__bottleneck__aqm=aqm)
    assert inexpressible(TOOL.differences(own))
    assert "#error" in program(own)


def test_disciplines_other_than_red_have_their_attributes() -> None:
    own = {"limit": 500, "target": 0.005, "interval": 0.1, "max_packet": 1514, "ecn": True, "dialect": "rfc8289"}
    made = OTHER_QUEUES["codel"].write(own)
    assert made == {
        "MaxSize": "500p",
        "Target": "5ms",
        "Interval": "100ms",
        "UseEcn": "true",
        "MinBytes": "1515",
    }
    (only,) = OTHER_QUEUES["codel"].differences(own, "queue.q", "ns-3")
    assert (only.name, only.kind) == ("parameter dialect", Kind.DIFFERS)


@pytest.mark.parametrize("aqm", sorted(OTHER_QUEUES))
def test_every_parameter_of_a_discipline_has_an_attribute_or_is_named(aqm: str) -> None:
    queue = f'[queue.bottleneck]\naqm = "{aqm}"\n'
    head, _, flows = TEXT.partition("[[flow]]")
    own = Model.of(Scenario.from_text(head.partition("[queue.bottleneck]")[0] + queue + "[[flow]]" + flows))
    assert f'"{OTHER_QUEUES[aqm].kind}"' in program(own)
    # A key that is drawn is drawn by the program, in every run.
    assert ('{"Perturbation", "random"}' in program(own)) == aqm.startswith("fq")
    parameters = {f"parameter {key}" for key in own.link_named["bottleneck"].parameters}
    fixed = {f"parameter {one.key}" for one in OTHER_QUEUES[aqm].fixed}
    assert parameters <= fixed | {f"parameter {row.key}" for row in OTHER_QUEUES[aqm].rows}
    assert parameters & named(own) <= fixed


def test_what_ns3_s_fair_codel_does_otherwise_is_named() -> None:
    head, _, flows = TEXT.partition("[[flow]]")
    head = head.partition("[queue.bottleneck]")[0]
    for ecn, expected in (("true", {"next mark", "emptied flow"}), ("false", {"emptied flow"})):
        queue = f'[queue.bottleneck]\naqm = "fq-codel"\necn = {ecn}\n'
        own = Model.of(Scenario.from_text(f"{head}{queue}[[flow]]{flows}"))
        assert named(own) & {"next mark", "emptied flow"} == expected


@needs_ns3
def test_a_program_runs_in_ns3(tmp_path) -> None:
    own = model()
    for name, text in TOOL.files(own).items():
        (tmp_path / name).write_text(text)
    TOOL.prepare(own, tmp_path)
    found = TOOL.run(own, tmp_path, 1)
    assert found == TOOL.run(own, tmp_path, 1)
    assert found != TOOL.run(own, tmp_path, 2)
    # UDP is constant, and TCP takes the rest of 2 Mb/s.
    assert found[Measure.GOODPUT, "udp"] == pytest.approx(5e5, rel=0.05)
    assert sum(found[Measure.GOODPUT, group] for group in ("tcp", "udp")) == pytest.approx(2e6, rel=0.05)
    assert 0.8 < found[Measure.UTILIZATION, "bottleneck"] <= 1
    wait = found[Measure.MEAN_QUEUE, "bottleneck"] * 1400 * 8 / 2e6
    assert found[Measure.MEAN_DELAY, "bottleneck"] == pytest.approx(wait, rel=0.2)


SMALL_WINDOWS = TEXT.replace(
    'count = 2\ntransport = "tcp"\ntcp = { congestion_control = "reno" }',
    'count = 8\ntransport = "newreno"\npacket_size = "1000B"\ntcp = { window = "20p" }',
)


def test_the_senders_buffer_is_the_window_and_the_receivers_has_more_room() -> None:
    own = Model.of(Scenario.from_text(SMALL_WINDOWS))
    assert {("SndBufSize", "20000"), ("RcvBufSize", "40000")} <= set(tcp_of(own.flows[0]).attributes)
    assert "transport profile" in named(own)
    # Windows are whole segments, and of flows that stop no more than they soon have sent.
    for flow in (model(**{"flow.tcp.tcp.window": "65535B"}).flows[0], model(flow__tcp__stop="2s").flows[0]):
        made = dict(tcp_of(flow).attributes)
        assert int(made["SndBufSize"]) < int(made["RcvBufSize"])
    kind = tcp_of(model(**{"flow.tcp.tcp.window": "65535B"}).flows[0])
    assert (kind.segment, dict(kind.attributes)["SndBufSize"]) == (1448, str(45 * 1448))


@needs_ns3
def test_windows_may_be_small_while_packets_are_lost(tmp_path) -> None:
    """A sender that has sent all of the receiver's window would end ns-3 3.37 (its issue 991)."""
    own = Model.of(Scenario.from_text(SMALL_WINDOWS))
    for name, text in TOOL.files(own).items():
        (tmp_path / name).write_text(text)
    TOOL.prepare(own, tmp_path)
    found = TOOL.run(own, tmp_path, 1)
    assert found[Measure.LOSS, "bottleneck"] > 0.01
    assert found[Measure.UTILIZATION, "bottleneck"] > 0.8
