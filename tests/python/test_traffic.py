"""Traffic as papers state it: loads of a link, Poisson starts, distributions in files, schedules of counts."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import aqmlab
from aqmlab.errors import InputError, ScenarioError
from aqmlab.interop.model import Model
from aqmlab.scenario.file import Scenario

NETWORK = """format = 1
[run]
duration = "20s"
[dumbbell]
left = { rate = "1Gbps", delay = "1ms" }
bottleneck = { rate = "50Mbps", delay = "5ms" }
right = { rate = "1Gbps", delay = "1ms" }
"""
OPEN = """[[flow]]
name = "short"
transport = "tcp"
tcp = { profile = "rfc" }
size = { cdf = "sizes.cdf" }
start = { load = 0.5, headers = true }
"""
SIZES = "# bytes, probability\n1000 0.5\n20000 0.9\n100000 1\n"


@pytest.fixture
def path(tmp_path):
    """Return a scenario beside the file of its sizes."""
    (tmp_path / "sizes.cdf").write_text(SIZES)
    path = tmp_path / "open.toml"
    path.write_text(NETWORK + OPEN)
    return path


def test_an_offered_load(path):
    result = aqmlab.run(path, seeds=4)
    flows = result.flows
    ran = flows[flows.start_s.notna()]
    # Mean: 0.5 1000 + 0.4 10500 + 0.1 60000 B, and packets of 1448 B with 52 B of headers.
    process = Scenario.load(path).flows[0].arrivals_per_s
    assert 0.5 * 50e6 / 8 / process == pytest.approx(10_700 + 52 * 8.29, rel=0.01)
    # 4 runs have about 22,000 arrivals, so that the number has a standard error of 0.7 %.
    assert len(ran) == pytest.approx(4 * 20 * process, rel=0.02)
    # Of the bytes offered, by sizes with a coefficient of variation of 1.9, 1.5 %.
    assert ran.sent_bytes.sum() * 8 / 80 / 50e6 == pytest.approx(0.5, rel=0.04)
    assert ran.finish_s.notna().mean() > 0.99
    assert (ran.finish_s.dropna() > ran.start_s[ran.finish_s.notna()]).all()
    assert (ran.size_packets > 0).all()
    rest = flows[flows.start_s.isna()]
    assert len(rest) > 0
    assert rest.finish_s.isna().all()
    assert (rest.sent == 0).all()


def test_gaps_are_exponential(path):
    flows = aqmlab.run(path, seeds=[3]).flows
    starts = np.sort(flows.start_s.dropna().to_numpy())
    gaps = np.sort(np.diff(starts, prepend=0.0)) * Scenario.load(path).flows[0].arrivals_per_s
    below = np.arange(len(gaps)) / len(gaps)
    # Kolmogorov-Smirnov; 1.63 / sqrt(n) is the 1 % point.
    assert np.abs(1 - np.exp(-gaps) - below).max() < 1.63 / np.sqrt(len(gaps))


@pytest.mark.parametrize("engine", ["events", "windows", "parallel"])
def test_engines_agree(path, engine):
    table = 'active = [["0s", 1], ["3s", 4], ["6s", 2], ["8s", 3]]'
    flows = f'[[flow]]\nname = "bulk"\ntransport = "tcp"\ntcp = {{ profile = "rfc", ack_ratio = 4 }}\n{table}\n'
    path.write_text(NETWORK + OPEN + flows)
    plan = Scenario.load(path)
    assert str(plan.core.run(7, engine=engine)["tables"]) == str(plan.core.run(7)["tables"])


def test_a_file_is_part_of_the_scenario(path):
    plan = Scenario.load(path)
    assert "sizes.cdf" not in plan.text + plan.normalized
    assert pickle.loads(pickle.dumps(plan)).hash == plan.hash
    (path.parent / "sizes.cdf").write_text(SIZES.replace("100000", "100001"))
    assert plan.with_overrides({"run.seeds": 1}).flows == plan.flows
    changed = Scenario.load(path)
    assert changed.hash != plan.hash
    assert changed.run_hash != plan.run_hash
    (path.parent / "one.cdf").write_text("500 1\n")
    one = Scenario.load(path, overrides={"flow.short.size.cdf": "one.cdf"})
    assert one.flows[0].parameters["size"] == {"cdf": [[500, 1]], "unit": "B"}


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("1000 0.5\n20000\n", 'sizes.cdf:2: "20000" is not a size and a probability'),
        ("1000 0.5\n500 1\n", "sizes.cdf:2: the size 500 is below the one before it, 1000"),
        ("1000 50\n", "sizes.cdf:1: the probability 50 is not a number from 0 to 1"),
        ("1000 0.5\n2000 0.9\n", "sizes.cdf:2: the last probability is 0.9, not 1"),
        ("", "sizes.cdf:1: the distribution is empty"),
        (None, "sizes.cdf: no such file"),
        (b"\xff", "sizes.cdf: not UTF-8 text (byte 0)"),
    ],
)
def test_errors_in_a_file(path, content, error):
    sizes = path.parent / "sizes.cdf"
    if content is None:
        sizes.unlink()
    else:
        sizes.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ScenarioError) as caught:
        Scenario.load(path)
    (problem,) = caught.value.problems
    assert (problem.key, problem.line) == ("flow.short.size.cdf", 12)
    assert problem.message.endswith(error)
    assert "\n" not in str(caught.value)


def test_a_packaged_scenario_reads_no_file():
    with pytest.raises(ScenarioError, match="a scenario of the package has no files of its own"):
        Scenario.load("example:applications", overrides={"flow.web.web.size": "{ cdf = 'a.cdf' }"})


def test_loads_of_links_that_are_not_crossed(path):
    with pytest.raises(ScenarioError, match=r"does not cross link bottleneck\.reverse"):
        Scenario.load(path, overrides={"flow.short.start.link": "bottleneck.reverse"})


def test_no_other_simulator_has_the_arrivals(path):
    with pytest.raises(InputError, match=r"flow\.short\.start: no other simulator has these Poisson arrivals"):
        Model.of(Scenario.load(path))


def test_counts_follow_a_schedule(path):
    path.write_text(f'{NETWORK}[[flow]]\nname = "bulk"\nactive = [["0s", 1], ["5s", 3], ["10s", 2]]\n')
    path.write_text(path.read_text() + '[probe]\nflow_interval = "1s"\n')
    samples = aqmlab.run(path, seeds=[1]).flow_samples
    delivered = samples.pivot_table(index="t_s", columns="flow", values="delivered_bytes").diff().fillna(0.0)
    active = (delivered > 0).sum(axis=1)
    assert set(active[(active.index > 1.5) & (active.index < 5.0)]) == {1}
    assert set(active[(active.index > 6.5) & (active.index < 10.0)]) == {3}
    assert set(active[active.index > 12.5]) == {2}
