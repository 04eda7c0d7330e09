"""Media with feedback (SCReAM) from a scenario to its tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.errors import ScenarioError
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import transports

LATER = {"change": "[]"}
"""No changes of the capacity, in shorter runs."""
CASES = Path(__file__).resolve().parents[2] / "validation" / "published"


def mbps(result, group: str, start_s: float, end_s: float) -> float:
    """Return the bit rate that arrived of a group in the first seed."""
    names = result.flows.loc[result.flows["group"] == group, "flow"]
    table = result.flow_samples
    table = table[(table["seed"] == result.seeds[0]) & table["flow"].isin(names)]
    total = table.groupby("t_s")["arrived_bytes"].sum()
    return float((total.loc[end_s] - total.loc[start_s]) * 8e-6 / (end_s - start_s))


@pytest.fixture(scope="module")
def capacity():
    return aqmlab.run(CASES / "rmcat-capacity.toml", seeds=[1], progress=False)


def test_the_rate_follows_the_capacity(capacity):
    assert mbps(capacity, "media", 20, 40) == pytest.approx(1.0, rel=0.05)
    assert mbps(capacity, "media", 50, 60) == pytest.approx(1.5, rel=0.1)
    assert mbps(capacity, "media", 70, 80) == pytest.approx(0.6, rel=0.05)
    assert mbps(capacity, "media", 90, 100) == pytest.approx(1.0, rel=0.05)
    row = capacity.flows.iloc[0]
    assert row["transport"] == "scream"
    assert row["retransmissions"] == 0
    assert row["acked"] <= row["sent"]


def test_media_are_no_tcp(capacity):
    columns = capacity.metrics().columns
    assert "goodput_mbps" not in columns or capacity.metrics()["goodput_mbps"].isna().all()
    assert np.isnan(capacity.flows["payload_bps"]).all()


def test_all_engines_give_the_same_flows(capacity):
    for engine in ("events", "parallel"):
        other = aqmlab.run(CASES / "rmcat-capacity.toml", seeds=[1], progress=False, engine=engine)
        assert other.flows.equals(capacity.flows)
        assert other.flow_samples.equals(capacity.flow_samples)


def test_marks_are_respected():
    def run(*, ecn: bool):
        over = {
            "queue.bottleneck": "{ aqm = 'codel', ecn = true, limit = '60p' }",
            "flow.media.scream.ecn": ecn,
            "run.duration": "40s",
            **LATER,
            "run.warmup": "10s",
        }
        return aqmlab.run(CASES / "rmcat-capacity.toml", seeds=[1], overrides=over, progress=False)

    marked, dropped = run(ecn=True), run(ecn=False)
    links = marked.links[marked.links["link"] == marked.bottleneck].iloc[0]
    others = dropped.links[dropped.links["link"] == dropped.bottleneck].iloc[0]
    assert links["marks"] > 10
    assert links["drops"] == 0
    assert (others["marks"], others["drops"] > 10) == (0, True)
    # A mark reduces the rate: the delay of the queue is far below that of drop-tail (more than 100 ms).
    assert links["mean_delay_s"] < 0.05
    assert mbps(marked, "media", 20, 40) > 0.5


def test_feedback_travels_on_the_way_back():
    over = {
        **LATER,
        "run.duration": "20s",
        "flow.media.scream.feedback_interval": "100ms",
        "flow.media.scream.feedback_size": 100,
    }
    result = aqmlab.run(CASES / "rmcat-capacity.toml", seeds=[1], overrides=over, progress=False)
    back = result.links[result.links["link"] == "bottleneck.reverse"].iloc[0]
    assert back["departures"] == pytest.approx(200, abs=5)
    assert back["departed_bytes"] == 100 * back["departures"]


def test_a_pause_sends_nothing():
    result = aqmlab.run(CASES / "rmcat-pause.toml", seeds=[1], progress=False)
    assert mbps(result, "paused", 42, 60) == 0
    assert mbps(result, "paused", 90, 119) > 0.5
    assert mbps(result, "others", 50, 60) == pytest.approx(3.0, rel=0.1)


def test_the_window_is_sampled_in_packets():
    over = {**LATER, "run.duration": "20s", "probe.cwnd_interval": "1s"}
    result = aqmlab.run(CASES / "rmcat-capacity.toml", seeds=[1], overrides=over, progress=False)
    samples = result.cwnd_samples
    assert (samples["cwnd"] >= 3).all()
    assert samples["ssthresh"].isna().all()
    # 1 Mb/s over a round trip of 0.2 to 0.5 s.
    assert 20 < samples["cwnd"].iloc[-1] < 80
    assert 0.1 < samples["srtt_s"].iloc[-1] < 0.5


def test_parameters_of_the_registry_are_effective():
    scenario = Scenario.load(CASES / "rmcat-capacity.toml", overrides={"flow.media.scream.max_rate": "2Mbps"})
    flow = scenario.flows[0]
    assert set(flow.parameters) == {parameter.key for parameter in transports()["scream"].parameters}
    assert flow.parameters["max_rate"] == 2_000_000
    assert flow.parameters["start_rate"] == 150_000
    assert flow.parameters["feedback_interval"] == "auto"
    assert (flow.is_tcp, flow.packet_bytes) == (False, (1000.0, 1000.0))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("scream.frame_rate", 0, "0 is out of range"),
        ("scream.max_rate", "100kbps", "max_rate: min_rate .150 kb/s. is above max_rate .100 kb/s."),
        ("scream.feedback_interval", "often", "is not known"),
        ("scream.mss", "10B", "10 is out of range"),
        ("rate", "1Mbps", "a flow of scream has no rate"),
        ("size", "1MB", "a flow of scream has no size"),
        ("web", "{ size = '1KB' }", "needs TCP"),
    ],
)
def test_bad_values_are_errors_of_one_line(key, value, message):
    with pytest.raises(ScenarioError, match=message) as error:
        Scenario.load(CASES / "rmcat-capacity.toml", overrides={f"flow.media.{key}": value})
    assert len(error.value.problems) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ('min_rate = "1kbps", max_rate = "1kbps", frame_rate = 1000', "frames have 40 bytes of headers: 1000 a second"),
        ("key_frame_ratio = 5", "has no effect without key_frame_interval"),
    ],
)
def test_options_that_mislead_have_a_warning(options, message):
    text = (CASES / "rmcat-capacity.toml").read_text(encoding="utf-8")
    flow = f'\n[[flow]]\nname = "other"\ntransport = "scream"\nscream = {{ {options} }}\n'
    found = [one.message for one in Scenario.from_text(text + flow).warnings]
    assert len(found) == 1
    assert message in found[0]
