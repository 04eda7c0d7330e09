"""From a scenario to addresses, routes and rows: the plan of a live run, and the tables of its results."""

import json

import numpy as np
import pyarrow as pa
import pytest

from aqmlab.errors import InputError, ScenarioError
from aqmlab.live import groups, tables
from aqmlab.live.agreement import Agreement, Line
from aqmlab.live.kernel_backends import refuse_what_is_for_the_link
from aqmlab.live.options import Options
from aqmlab.live.plan import for_family, live_plan
from aqmlab.live.postprocess import link_counts
from aqmlab.live.traffic.datagrams import udp_orders
from aqmlab.live.traffic.order import Order
from aqmlab.live.traffic.workers import orders
from aqmlab.results.output import Output
from aqmlab.results.result import Result
from aqmlab.scenario.file import Scenario
from aqmlab.statistics import Verdict, interval

PAPERS = (
    "mred/live", "exred/live", "exred/live-poisson", "ddred/live", "ddred/live-tail", "pc-red/live",
    "adaptive-rio/live",
)  # fmt: skip

TWO_WAYS = """\
format = 1
name = "two-ways"

[run]
duration = "10s"
warmup = "2s"

[dumbbell]
bottleneck = { rate = "10Mbps", delay = "10ms", queue = "bottleneck", reverse_queue = "bottleneck" }
left = { rate = "1Gbps", delay = "2ms" }
right = { rate = "1Gbps", delay = "3ms" }

[queue.bottleneck]
aqm = "red"

[[flow]]
name = "tcp"
count = 2
transport = "tcp"
dscp = "AF11"
tcp = { profile = "rfc", congestion_control = "cubic", ecn = true, mss = "1000B", initial_window = "4p", min_rto = "1s", delayed_ack = false }

[[flow]]
name = "udp"
transport = "udp"
rate = "1Mbps"
pattern = "poisson"
packet_size = { exponential = "300B" }
start = "1s"
stop = "5s"
"""  # noqa: E501


def plan_of(text=TWO_WAYS, *, family=None, seed=1):
    return live_plan(for_family(Scenario.from_text(text), family), seed=seed)


@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
@pytest.mark.parametrize("name", PAPERS)
def test_the_papers_scenarios_can_be_run_live(name, family):
    scenario = Scenario.load(f"paper:{name}.toml")
    plan = live_plan(for_family(scenario, family), seed=3)
    assert plan.family == family
    assert not plan.warnings
    assert groups.link_groups(plan)[-1]["name"] == "(commands)"
    assert all(group.forward for group in plan.groups)


def test_errors_and_warnings_name_the_override_that_causes_them():
    first = Scenario.from_text(TWO_WAYS, filename="two.toml", overrides={"live.link": "left.tcp.0"})
    with pytest.raises(ScenarioError, match=r"^--set live.link: left.tcp.0 conflicts with flow.tcp \(two.toml:\d"):
        live_plan(first, seed=1)
    text = TWO_WAYS + '\n[[change]]\nat = "2s"\nlink = "bottleneck"\nrate = "5Mbps"\n'
    alone = {"flow": '[{ name = "u", transport = "udp", rate = "1Mbps" }]'}
    assert not live_plan(Scenario.from_text(text, overrides=alone), seed=1).warnings
    chosen = Scenario.from_text(text, filename="two.toml", overrides={**alone, "live.link": "left.u"})
    (warning,) = [str(one) for one in live_plan(chosen, seed=1).warnings if "not the live link" in one.message]
    assert warning.startswith("--set live.link: left.u conflicts with change.0.link (two.toml:")


def test_starts_are_those_of_the_simulator():
    import aqmlab

    scenario = Scenario.load("paper:mred/live.toml", overrides={"run.duration": "2s", "run.warmup": "0s"})
    simulated = aqmlab.run(scenario, seeds=[4], progress=False).flows
    group = live_plan(scenario, seed=4).groups[0]
    assert list(simulated["start_s"]) == pytest.approx(group.starts_s)


def test_routes_as_the_system_prints_them():
    routes = {(route.source, route.to): route.metrics for route in groups.routes(plan_of(), "a")}
    assert routes["10.77.1.1", "10.77.1.2/32"] == {
        "hoplimit": 64, "cc_algo": "cubic", "features": 1, "advmss": 1012, "initcwnd": 4, "rto_min": 1000,
        "quickack": 1,
    }  # fmt: skip
    assert routes["fd77:0:0:1::1", "fd77:0:0:1::2/128"]["advmss"] == 1012
    assert routes["10.77.2.1", "10.77.2.2/32"] == {"hoplimit": 64}
    assert routes["10.77.3.1", "10.77.3.2/32"] == {"cc_algo": "cubic"}
    assert len(routes) == 6


def test_packets_of_ipv6_are_as_long_as_those_of_ipv4():
    four, six = (plan_of(family=family).groups[0] for family in ("ipv4", "ipv6"))
    assert (four.payload_bytes("ipv4"), six.payload_bytes("ipv6")) == (1000, 980)
    assert four.header_bytes("ipv4") + 1000 == six.header_bytes("ipv6") + 980


def test_the_configuration_of_the_link_has_the_groups():
    first, second, commands = groups.link_groups(plan_of())
    assert first["prefix_a"] == ["10.77.1.1/32", "fd77:0:0:1::1/128"]
    assert (first["delay_before_ns"], first["delay_after_ns"], first["delay_back_ns"]) == (
        2_000_000,
        3_000_000,
        5_000_000,
    )
    assert (first["dscp"], second["dscp"], commands["dscp"]) == (10, 0, None)
    assert (first["hops_before"], first["hops_after"]) == (1, 1)
    one_way = TWO_WAYS.replace(', reverse_queue = "bottleneck"', "")
    assert groups.link_groups(plan_of(one_way))[0]["delay_back_ns"] == 15_000_000


def test_orders_of_both_ends():
    plan = plan_of()
    found = orders(plan)
    assert set(found) == {("source", "a"), ("sink", "b")}
    assert [(flow.name, flow.port, flow.segment_bytes) for flow in found["source", "a"].flows] == [
        ("tcp.0", 5201, 1000),
        ("tcp.1", 5202, 1000),
    ]
    assert {flow.ttl_fields for flow in found["source", "a"].flows} == {None}
    datagrams = udp_orders(plan)["source", "a"]["flows"][0]
    assert datagrams["periods_s"] == [[1.0, 5.0]]
    assert (datagrams["rate_bps"], datagrams["packet"]["exponential"], datagrams["pattern"]) == (1e6, 300, "poisson")


def test_senders_write_the_fields_of_ddred():
    # Three links there and back: two routers lower the time to live of data, and two that of replies.
    fields = '\n[live]\ndistance = "option"\nqosa_bit = true\n'
    text = TWO_WAYS.replace('name = "tcp"', 'name = "tcp"\nttl = 100') + fields
    for family, option in (("ipv4", 4), ("ipv6", 8)):
        plan = plan_of(text, family=family)
        assert plan.settings["qosa_bit"] is True
        flow = orders(plan)["source", "a"].flows[0]
        assert flow.ttl_fields == (100, 98, 98)
        assert flow.segment_bytes == plan.groups[0].payload_bytes(family) - option
        written = json.dumps(orders(plan)["source", "a"].to_json())
        assert Order.from_json(json.loads(written)).flows[0] == flow
        assert udp_orders(plan)["source", "a"]["flows"][0]["ttl_initial"] == 64
        routes = {(route.source, route.to): route.metrics for route in groups.routes(plan, "b")}
        assert routes["10.77.1.2", "10.77.1.1/32"]["hoplimit"] == 100


def snapshot(**counts):
    labels = {"one": "10.77.1.1:4711 > 10.77.1.2:5201 tcp", "two": "10.77.1.1:4712 > 10.77.1.2:5202 tcp"}
    flows = [{"flow": i, "label": labels[name], "drops": n} for i, (name, n) in enumerate(counts.items())]
    back = [{"flow": 0, "label": "10.77.1.1:4711 > 10.77.1.2:5201 tcp", "drops": 1000}]
    return {"directions": [{"name": "forward", "flows": flows}, {"name": "reverse", "flows": back}]}


def test_counts_of_the_link_go_to_flows_by_the_receivers_port():
    plan = plan_of()
    assert link_counts(plan, snapshot(one=7, two=9), snapshot(one=2), "drops") == {"tcp.0": 5, "tcp.1": 9}
    six = {"directions": [{"name": "forward", "flows": [{
        "flow": 0, "label": "[fd77:0:0:1::1]:5 > [fd77:0:0:1::2]:5202 tcp label 0x0abcd", "drops": 3,
    }]}]}  # fmt: skip
    assert link_counts(plan_of(family="ipv6"), six, None, "drops") == {"tcp.1": 3}
    assert link_counts(plan, None, None, "drops") == {}


def test_a_row_of_flows_counts_from_the_warmup_on():
    plan = plan_of()
    source = {
        "name": "tcp.0", "first_sent_s": 0.01, "mean_rtt_s": 0.04,
        "at_warmup": {"sent": 100, "sent_bytes": 100_000, "retransmitted": 1, "acked_bytes": 90_000, "timeouts": 0},
        "at_end": {"sent": 500, "sent_bytes": 500_000, "retransmitted": 3, "acked_bytes": 480_000, "timeouts": 1},
    }  # fmt: skip
    sink = {
        "received_bytes": 480_000, "received_at_warmup_bytes": 80_000, "last_received_s": 9.9, "finish_s": None,
        "at_warmup": {"received": 80}, "at_end": {"received": 485},
    }  # fmt: skip
    table = tables.flows_table(plan, sources={"tcp.0": source}, sinks={"tcp.0": sink}, drops={"tcp.0": 2})
    first, second, third = table.to_pylist()
    assert (first["sent"], first["retransmissions"], first["received"], first["timeouts"]) == (400, 2, 400, 1)
    assert first["goodput_bytes"] == 400 * 1052
    assert first["goodput_bps"] == 400 * 1052 * 8 / 8.0
    assert first["payload_bps"] == 400 * 1000 * 8 / 8.0
    assert (first["drops"], first["mean_rtt_s"], first["transport"]) == (2, 0.04, "tcp")
    assert second["goodput_bytes"] == 0
    assert third["transport"] == "udp"
    simulated = ["seed", "flow", "group", "transport", "from", "to", "size_packets", "size_bytes", "sent", "sent_bytes",
                 "retransmissions", "received", "goodput_bytes", "goodput_bps", "payload_bps", "acked", "timeouts",
                 "fast_retransmits", "drops", "mean_rtt_s", "arrived", "arrived_bytes", "start_s", "finish_s",
                 "first_sent_s", "last_received_s", "ideal_s"]  # fmt: skip
    assert table.column_names == simulated


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (TWO_WAYS + '[live]\nlink = "nowhere"\n', "nowhere"),
        (TWO_WAYS + '[live]\nflow_label = "ipv6-label"\n', "packets of IPv4 have no flow label"),
        (TWO_WAYS + "[live]\nloss = 2\n", "live.loss"),
    ],
)
def test_errors_in_a_file_are_reported(text, says):
    with pytest.raises(ScenarioError, match=says) as error:
        plan_of(text)
    assert len(str(error.value).splitlines()) == 1


def test_options_of_the_link_are_rejected_by_other_backends():
    refuse_what_is_for_the_link(Options(), ())
    with pytest.raises(InputError, match=r"^--exec-a: is for --backend link$"):
        refuse_what_is_for_the_link(Options(exec_a="true"), ())


class TestAgreement:
    def result(self, goodput, delay, name="x"):
        outputs = []
        for seed, (mbps, wait) in enumerate(zip(goodput, delay, strict=True), start=1):
            summary = {"scenario": {"name": name, "hash": "0"}, "seed": seed,
                       "summary": {"duration_s": 10.0, "warmup_s": 0.0}}  # fmt: skip
            flows = pa.table({
                "seed": [seed], "flow": ["f"], "group": ["g"], "transport": ["tcp"], "goodput_bytes": [mbps * 1.25e6],
                "arrived_bytes": [0], "goodput_bps": [mbps * 1e6], "mean_rtt_s": [0.1], "retransmissions": [1],
                "sent": [10], "timeouts": [0],
            })  # fmt: skip
            link = {"link": "bottleneck", "aqm": "red", "arrivals": 100, "drops": 1, "marks": 0, "throughput_bps": 1e7,
                    "utilization": 1.0, "mean_queue": 1.0, "mean_average": 1.0, "sd_average": 1.0,
                    "mean_delay_s": wait}  # fmt: skip
            links = pa.table({"seed": [seed], **{key: [value] for key, value in link.items()}})
            outputs.append(Output(summary=summary, tables={"links": links, "flows": flows}))
        return Result.from_outputs(outputs)

    def test_verdicts(self):
        live = self.result([9.50, 9.52, 9.51, 9.49, 9.50], [0.020, 0.021, 0.020, 0.019, 0.020])
        near = self.result([9.60, 9.61, 9.59, 9.60, 9.60], [0.021, 0.021, 0.022, 0.020, 0.021])
        found = {line.what: line for line in Agreement.of(live, near).judged}
        assert {name: line.verdict for name, line in found.items()} == {
            "goodput of g": Verdict.HOLDS,
            "Mean queueing delay": Verdict.HOLDS,
        }
        assert found["goodput of g"].relative.mean == pytest.approx(0.0101, abs=1e-4)
        far = self.result([9.50, 9.52, 9.51, 9.49, 9.50], [0.030, 0.031, 0.030, 0.029, 0.030])
        assert {line.what: line.verdict for line in Agreement.of(live, far).judged}[
            "Mean queueing delay"
        ] is Verdict.FAILS

    def test_a_single_run_decides_nothing(self):
        one = self.result([9.5], [0.02])
        assert all(line.verdict is Verdict.UNDECIDED and line.near for line in Agreement.of(one, one).judged)

    def test_a_quantity_that_is_zero(self):
        zero = interval(np.zeros(3))
        assert Line("x", "1", zero, zero, zero).verdict is None
