"""Links that follow a trace: files, commands, engines, and mahimahi's rule as the oracle."""

import json
import random
from itertools import pairwise
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import InputError, ScenarioError
from aqmlab.interop.importing.reading import import_scenario
from aqmlab.interop.model import Model
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.traces import read_trace

SYNTHETIC = Path(aqmlab.__file__).parent / "examples" / "synthetic.trace"
OPPORTUNITY = 1500
SENDER = """
[[flow]]
name = "f{index}"
transport = "udp"
from = "a"
to = "c"
rate = "8Gbps"
packet_size = "{size}B"
start = "{start}ns"
stop = "{stop}ns"
"""
NETWORK = """format = 1
name = "oracle"
[run]
duration = "{duration}ms"
[[link]]
from = "a"
to = "b"
name = "access"
rate = "100Gbps"
delay = "0ms"
[[link]]
from = "b"
to = "c"
name = "traced"
rate = {{ trace = "x.up" }}
delay = "0ms"
duplex = false
queue = "big"
[[link]]
from = "c"
to = "b"
rate = "1Gbps"
delay = "0ms"
duplex = false
[queue.big]
limit = "100000p"
[probe]
links = ["traced"]
events = true
"""


def mahimahi(trace: list[int], arrivals: list[tuple[int, int]]) -> list[int]:
    """Departures in ps by the rule of mahimahi's link: arrivals are times in ps and bytes.

    Packets that leave together are a picosecond apart, less than a nanosecond in all.
    """
    ends, waiting, later = [], [], list(arrivals)
    lap, index = 0, 0
    while len(ends) < len(arrivals):
        now = (lap * trace[-1] + trace[index]) * 10**9
        while later and later[0][0] < now:
            waiting.append(later.pop(0)[1])
        left = OPPORTUNITY
        while left > 0 and waiting:
            used = min(left, waiting[0])
            left, waiting[0] = left - used, waiting[0] - used
            if waiting[0] == 0:
                waiting.pop(0)
                ends.append(max(now, ends[-1] + 1) if ends else now)
                assert ends[-1] < now + 1000
        index += 1
        if index == len(trace):
            lap, index = lap + 1, 0
    return ends


def text_of(rng: random.Random) -> tuple[str, list[int]]:
    trace = sorted(rng.choices(range(rng.randrange(2), 60), k=rng.randrange(5, 60)))
    flows = []
    for index in range(60):
        start = rng.randrange(200_000_000)
        size = rng.choice([40, 100, 700, 1500, 1500, 4000])
        flows.append(SENDER.format(index=index, size=size, start=start, stop=start + 1))
    return NETWORK.format(duration=100_000) + "".join(flows), trace


@pytest.mark.parametrize("seed", range(20))
def test_departures_are_those_of_mahimahi(seed, tmp_path):
    text, trace = text_of(random.Random(seed))
    (tmp_path / "x.up").write_text("".join(f"{ms}\n" for ms in trace))
    path = tmp_path / "x.toml"
    path.write_text(text)
    found = []
    for engine in ("events", "windows", "parallel"):
        result = aqmlab.run(path, seeds=[1], engine=engine, progress=False)
        events = result.events[result.events.link == "traced"]
        arrivals = events[events.kind == "+"][["t_ps", "bytes"]].itertuples(index=False)
        row = result.links[result.links.link == "traced"].iloc[0]
        found.append((list(map(tuple, arrivals)), result, row))
    arrivals = found[0][0]
    expected = mahimahi(trace, [(int(time), int(size)) for time, size in arrivals])
    starts = [max(a, e) for (a, _), e in zip(arrivals[1:], expected, strict=False)]
    for own, result, _ in found:
        assert own == arrivals
        events = result.events[result.events.link == "traced"]
        begins = events[events.kind == "-"].t_ps.tolist()
        assert begins[1:] == starts
        assert begins == sorted(begins)
    assert all(one < other for one, other in pairwise(expected))


def scenario_text(rate: str) -> str:
    return f"""format = 1
name = "t"
[run]
duration = "4s"
warmup = "1s"
[dumbbell]
bottleneck = {{ rate = {rate}, delay = "1ms", queue = "q" }}
left = {{ rate = "10Gbps", delay = "1ms" }}
right = {{ rate = "10Gbps", delay = "1ms" }}
[queue.q]
limit = "1000p"
[[flow]]
name = "u"
transport = "udp"
rate = "1Gbps"
packet_size = "1500B"
"""


def test_goodput_of_a_fast_trace_is_its_mean(tmp_path):
    (tmp_path / "fast.up").write_text("".join(f"{ms}\n" * 60 for ms in range(1, 101)))
    (tmp_path / "t.toml").write_text(scenario_text('{ trace = "fast.up" }'))
    assert read_trace(tmp_path / "fast.up").mean_bps == 720e6
    result = aqmlab.run(tmp_path / "t.toml", seeds=[1], progress=False)
    (goodput,) = result.flows.goodput_bps
    assert goodput == pytest.approx(720e6 * 1472 / 1500, rel=1e-3) or goodput == pytest.approx(720e6, rel=1e-3)


def test_a_trace_is_part_of_the_hash_and_its_errors_name_file_and_line(tmp_path):
    path = tmp_path / "t.toml"
    path.write_text(scenario_text('{ trace = "x.up" }'))
    hashes = set()
    for trace in ("1\n3\n", "1\n4\n"):
        (tmp_path / "x.up").write_text(trace)
        hashes.add(Scenario.load(path).hash)
    assert len(hashes) == 2
    (tmp_path / "x.up").write_text("1\n4\n2\n")
    with pytest.raises(ScenarioError, match=r"t\.toml:7:.*x\.up:3: the time 2 is below the one before it, 4"):
        Scenario.load(path)
    (tmp_path / "x.up").unlink()
    with pytest.raises(ScenarioError, match="no such file"):
        Scenario.load(path)


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        ('{ trace = "5 4" }', "is not after the one before"),
        ('{ trace = "1 5", between = "hold" }', "has no effect on a trace of opportunities"),
        ('{ between = "hold" }', "needs trace"),
        ('"0bps"', "must be above 0"),
    ],
)
def test_wrong_keys(rate, message):
    with pytest.raises(ScenarioError, match=message) as error:
        Scenario.from_text(scenario_text(rate))
    assert len(error.value.problems) == 1


@pytest.mark.parametrize(
    ("rate", "key"),
    [
        ('{ trace = "1 2 3" }', "trace"),
        ('{ cellular = "12Mbps" }', "cellular"),
        ('{ leo = "50Mbps" }', "leo"),
        ('{ wifi = "50Mbps" }', "wifi"),
        ('{ docsis = "50Mbps" }', "docsis"),
        ('"10Mbps", handover_step = "10ms"', "handover_step"),
        ('"10Mbps", handover_step = "10ms", loss = 0.1', "handover_step"),
    ],
)
def test_exports_reject_rates_and_delays_that_vary_by_themselves(rate, key):
    plan = Scenario.from_text(scenario_text(rate), filename="t.toml")
    assert plan.link("bottleneck").varies_by == (key,)
    with pytest.raises(InputError, match=rf"^t\.toml: other simulators and tc cannot express {key} of bottleneck"):
        Model.of(plan)


def test_exports_reject_a_change_to_a_rate_that_varies():
    change = '[[change]]\nat = "1s"\nlink = "bottleneck"\nrate = { cellular = "12Mbps" }\n'
    plan = Scenario.from_text(scenario_text('"10Mbps"') + change, filename="t.toml")
    with pytest.raises(InputError, match="cannot express cellular of bottleneck"):
        Model.of(plan)


@pytest.mark.parametrize("system", ["ns2", "ns3"])
def test_exports_reject_links_that_fail(system, tmp_path):
    down = '[[change]]\nat = "1s"\nlink = "bottleneck"\nstate = "down"\n'
    plan = Scenario.from_text(scenario_text('"10Mbps"') + down, filename="t.toml")
    with pytest.raises(InputError, match=r"change\.state: scripts for ns-. cannot express it"):
        aqmlab.export_scenario(plan, to=system, out=tmp_path)


def test_commands_read_traces(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("lte.up").write_text(SYNTHETIC.read_text())
    Path("wrong.up").write_text("1\nx\n")
    assert main(["list", "traces"]) == 0
    printed = capsys.readouterr()
    assert "lte.up" in printed.out
    assert "synthetic.trace" in printed.out
    assert "wrong.up:2" in printed.err
    assert main(["list", "traces", "--json"]) == 0
    (own, _) = json.loads(capsys.readouterr().out)
    assert own["longest_outage_s"] == pytest.approx(1.0, abs=0.01)
    assert main(["import", "lte.up", "--out", "lte.toml"]) == 0
    assert import_scenario("lte.up").kind == "trace"
    assert Scenario.load("lte.toml").link("bottleneck").trace["period_s"] == 8.0
    Path("sub").mkdir()
    assert main(["import", "lte.up", "--out", "sub/lte.toml"]) == 0
    assert Scenario.load("sub/lte.toml").link("bottleneck").trace["period_s"] == 8.0
    assert main(["draw", "lte.toml"]) == 0
    assert list(tmp_path.glob("*-trace.svg"))
