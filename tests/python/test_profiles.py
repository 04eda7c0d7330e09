"""TCP of the RFC profile from the scenario file to results, captures and theory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.lab.network_controls import network_controls
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import controllers, transports
from aqmlab.theory.scenario.link_traffic import traffic_over, wire_bytes

EXAMPLE = Path(__file__).parents[2] / "examples" / "dumbbell-cubic.toml"
SHORT = {"run.duration": "12s", "run.warmup": "2s", "probe.events": "true"}
CONTROLS = tuple(controllers())
PAYLOAD, HEADER = 1448, 52


@pytest.fixture(scope="module")
def result():
    return aqmlab.run(EXAMPLE, seeds=2, overrides=SHORT, workers=2, progress=False)


def test_the_bottleneck_is_full_and_everyone_gets_a_share(result):
    flows = result.flows
    assert set(flows["transport"]) == {"tcp-cubic", "tcp-reno"}
    total = flows.groupby("seed")["goodput_bps"].sum()
    assert ((total > 9.5e6) & (total < 10.02e6)).all(), "what waited at the end of the warm-up comes on top"
    assert (flows["goodput_bps"] > 0.3e6).all()
    assert flows["mean_rtt_s"].between(0.040, 0.080).all(), "40 ms without queueing, a queue of less than 48 ms"


def test_packets_and_bytes_agree(result):
    flows = result.flows
    full = flows["sent"] * (PAYLOAD + HEADER)
    assert (flows["sent_bytes"] == full).all(), "after the warm-up every segment is full"
    assert (flows["goodput_bytes"] == flows["received"] * (PAYLOAD + HEADER)).all()
    assert (flows["arrived"] <= flows["sent"] + 40).all(), "what was on its way at the end of the warm-up"
    assert (flows["received"] <= flows["arrived"] + 100).all()


def test_windows_are_in_segments(result):
    samples = result.cwnd_samples
    assert samples["cwnd"].between(1, 200).all()
    known = samples["ssthresh"].dropna()
    assert np.isfinite(known).all()
    assert (known >= 2).all()
    assert samples["ssthresh"].isna().any(), "there is none before the first loss"


def test_the_same_in_one_thread_and_in_two(result):
    alone = aqmlab.run(EXAMPLE, seeds=2, overrides=SHORT, workers=1, progress=False)
    assert alone.flows.equals(result.flows)
    assert alone.cwnd_samples.equals(result.cwnd_samples)


def test_a_transfer_delivers_its_bytes():
    plan = Scenario.load(EXAMPLE, overrides={"run.warmup": "0s", "flow.cubic.size": "100001B", "run.duration": "12s"})
    flows = aqmlab.run(plan, seeds=1, progress=False).flows
    done = flows[flows["group"] == "cubic"]
    segments = -(-100_001 // PAYLOAD)
    assert (done["size_packets"] == segments).all()
    syn = HEADER + 8
    assert (done["goodput_bytes"] == 100_001 + segments * HEADER + syn).all()
    assert done["finish_s"].notna().all()
    assert plan.flows[0].parameters["size"] == segments


@pytest.mark.slow
def test_numbers_of_a_capture_are_those_of_the_wire(result, tmp_path):
    scapy = pytest.importorskip("scapy.all")
    captured = aqmlab.export(result, to="pcap", out=tmp_path / "out.pcap", link="bottleneck", seed=1)
    own = [packet.payload for packet in scapy.rdpcap(str(captured)) if packet.sport == 1024]
    assert [tcp.seq for tcp in own[:4]] == [0, 1, 1 + PAYLOAD, 1 + 2 * PAYLOAD]


def test_options_are_listed():
    tcp = transports()["tcp"]
    assert tcp.profile == "rfc"
    options = {parameter.key: parameter for parameter in tcp.parameters}
    assert options["congestion_control"].choices == CONTROLS
    assert options["initial_window"].source.startswith("RFC 6928")
    assert all(parameter.doc and parameter.source for parameter in tcp.parameters)


def test_theory_counts_in_packets():
    plan = Scenario.load(EXAMPLE, overrides={"flow.reno.tcp.window": "14480B"})
    classes = {greedy.name: greedy for greedy in traffic_over(plan, plan.link("bottleneck")).greedy}
    assert classes["reno"].window == pytest.approx(10.0)
    assert classes["cubic"].window == pytest.approx(6_291_456 / PAYLOAD)
    assert wire_bytes(plan.flows[0]) == PAYLOAD + HEADER


def test_the_laboratory_has_a_control_for_the_congestion_control():
    found = {control.key: control for control in network_controls(Scenario.load(EXAMPLE), "bottleneck")}
    control = found["flow.cubic.tcp.congestion_control"]
    assert (control.value, control.choices) == ("cubic", CONTROLS)
    assert "flow.cubic.transport" not in found


@pytest.mark.parametrize("control", CONTROLS)
def test_every_controller_runs_from_a_file(control):
    changed = {"flow.cubic.tcp.congestion_control": control, "run.duration": "3s", "run.warmup": "1s"}
    done = aqmlab.run(Scenario.load(EXAMPLE, overrides=changed), seeds=1, out=None, progress=False)
    flows = done.flows[done.flows["group"] == "cubic"]
    assert set(flows["transport"]) == {f"tcp-{control}"}
    assert (flows["goodput_bytes"] > 0).all()


def test_feedback_of_marks_is_a_word_or_a_switch():
    def ecn(**tcp):
        overrides = {f"flow.cubic.tcp.{key}": value for key, value in tcp.items()}
        plan = Scenario.load(EXAMPLE, overrides=overrides)
        return next(flow for flow in plan.flows if flow.group == "cubic").parameters["ecn"]

    assert ecn() is False
    assert ecn(ecn=True) is True
    assert ecn(ecn="accurate") == "accurate"
    assert ecn(congestion_control="dctcp") == "dctcp"
    assert ecn(congestion_control="prague") == "accurate"
