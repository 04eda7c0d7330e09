"""cake-autorate: the shaper follows a link that varies, alike on all engines, and exports reject it."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.errors import InputError

SHORT = {"run.duration": "20s", "run.warmup": "2s", "flow.upload.start": "5s", "flow.upload.stop": "15s"}


def rates(result, link):
    """Return the samples of the shaper's rate in Mb/s."""
    table = result.discipline_samples
    own = table[(table["link"] == link) & (table["name"] == "shaper_rate")]
    return own["value"].to_numpy() / 1e6


@pytest.mark.parametrize("engine", ["windows", "parallel"])
def test_engines_agree(engine):
    tables = [
        aqmlab.run("example:autorate", seeds=1, overrides=SHORT, engine=name, progress=False)
        for name in ("events", engine)
    ]
    for name in ("flows", "links", "discipline_samples", "queue_samples", "flow_delays"):
        expected, found = (getattr(one, name) for one in tables)
        assert expected.equals(found), name


def test_one_worker_and_two_agree():
    one, two = (
        aqmlab.run("example:autorate", seeds=3, overrides=SHORT, workers=workers, progress=False) for workers in (1, 2)
    )
    assert one.flows.equals(two.flows)
    assert one.discipline_samples.equals(two.discipline_samples)


def test_the_rate_leaves_its_base_within_its_bounds():
    found = rates(aqmlab.run("example:autorate", seeds=1, overrides=SHORT, progress=False), "down")
    assert found[0] == 20
    assert found.min() >= 8
    assert 20 < found.max() <= 70


def test_the_download_waits_less_than_behind_a_shaper_that_is_too_fast():
    fast = {"queue.down": "{ aqm = 'fq-codel' }"}
    delays = [
        aqmlab.run("example:autorate", seeds=1, overrides=SHORT | more, progress=False)
        .flow_delays.set_index("group")["mean_s"]["download"]
        .mean()
        for more in ({}, fast)
    ]
    assert delays[0] < delays[1] / 2


DUMBBELL = """
format = 1
run = { duration = "10s" }

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "main" }
left = { rate = "20Mbps", delay = "10ms" }
right = { rate = "20Mbps", delay = "15ms" }

[queue.main]
aqm = "cake"
rate = "8Mbps"
autorate = true
max_shaper_rate = "9Mbps"

[[flow]]
name = "tcp"

[[flow]]
name = "ping"
transport = "udp"
rate = "13440bps"
packet_size = "84B"
measures = "bottleneck"
"""


@pytest.mark.parametrize(
    ("system", "why"),
    [
        ("ns2", "flow.ping.measures: scripts for ns-2 cannot express it"),
        ("ns3", "flow.ping.measures: scripts for ns-3 cannot express it"),
        ("tc", "flow.ping.measures: packets of udp are not answered in a live run"),
    ],
)
def test_exports_reject_flows_that_measure(system, why, tmp_path):
    plan = aqmlab.Scenario.from_text(DUMBBELL, filename="t.toml")
    with pytest.raises(InputError, match=why) as caught:
        aqmlab.export_scenario(plan, to=system, out=tmp_path)
    assert str(caught.value).startswith("t.toml: ")
    assert "\n" not in str(caught.value)


def test_modules_reject_cake(tmp_path):
    plan = aqmlab.Scenario.from_text(DUMBBELL, filename="t.toml")
    for export in (aqmlab.export_module, aqmlab.export_bpf):
        with pytest.raises(InputError, match=r'cannot express aqm = "cake"') as caught:
            export(plan, out=tmp_path)
        assert "\n" not in str(caught.value)
