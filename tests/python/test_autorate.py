"""cake-autorate: the shaper follows a link that varies, alike on all engines, and exports reject what they lack."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.errors import InputError

SHORT = {"run.duration": "20s", "run.warmup": "2s", "flow.upload.start": "5s", "flow.upload.stop": "15s"}
CONSTANT = {"link.satellite-down.rate": "20Mbps", "link.satellite-up.rate": "5Mbps"}
CONSTANT |= {f"link.satellite-{way}.handover_step": "0s" for way in ("down", "up")}


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


@pytest.mark.parametrize("system", ["ns2", "ns3", "tc"])
def test_exports_reject_flows_that_measure(system, tmp_path):
    plan = aqmlab.Scenario.load("example:autorate", overrides=SHORT | CONSTANT)
    with pytest.raises(InputError, match=r"flow\.ping-down\.measures.*cannot express it|cake") as caught:
        aqmlab.export_scenario(plan, to=system, out=tmp_path)
    assert "\n" not in str(caught.value)
