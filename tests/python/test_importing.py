"""Scenarios from ns-2 studies and from lines of tc."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.crosscheck.checking import export_scenario
from aqmlab.interop.importing.reading import import_scenario
from aqmlab.scenario.file import Scenario
from crosscheck_cases import NS2

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip("tkinter", reason="Python has no tkinter, which reads Tcl")

STUDY = """
# A study as they are written: loops, arrays, procedures, traces.
set ns [new Simulator]
set trace [open out.tr w]
$ns trace-all $trace
set flows 6
Queue/RED set thresh_ 20
Queue/RED set maxthresh_ 60
Queue/RED set linterm_ 20
Queue/RED set q_weight_ 0.002
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
Queue/RED set gentle_ false
set r1 [$ns node]
set r2 [$ns node]
$ns duplex-link $r1 $r2 10Mb 20ms RED
$ns queue-limit $r1 $r2 120
Agent/TCP set window_ 100
set rng [new RNG]
$rng seed 7
proc dumbbell_end {router delay} {
    global ns
    set host [$ns node]
    $ns duplex-link $host $router 100Mb $delay DropTail
    return $host
}
for {set i 0} {$i < $flows} {incr i} {
    set source($i) [dumbbell_end $r1 [expr 2 + $i]ms]
    set target($i) [dumbbell_end $r2 4ms]
    set tcp($i) [new Agent/TCP/Newreno]
    set sink($i) [new Agent/TCPSink/DelAck]
    $ns attach-agent $source($i) $tcp($i)
    $ns attach-agent $target($i) $sink($i)
    $ns connect $tcp($i) $sink($i)
    set ftp($i) [$tcp($i) attach-source FTP]
    $ns at [expr 1.0 + [$rng uniform 0 2]] "$ftp($i) start"
}
set from [dumbbell_end $r2 5ms]
set to [dumbbell_end $r1 5ms]
set udp [new Agent/UDP]
set null [new Agent/Null]
$ns attach-agent $from $udp
$ns attach-agent $to $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 500
$cbr set rate_ 1.5Mb
$cbr attach-agent $udp
$ns at 5.0 "$cbr start"
$ns at 15.0 "$cbr stop"
proc sample {} {
    global ns r1 r2
    puts [[[$ns link $r1 $r2] queue] set ave_]
    $ns at [expr [$ns now] + 0.1] sample
}
$ns at 0.0 sample
proc finish {} {
    global ns trace
    $ns flush-trace
    close $trace
    exec xgraph out.tr &
    exit 0
}
$ns at 30.0 finish
$ns run
"""
TWO_ON_A_HOST = """
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 2Mb 10ms DropTail
$ns simplex-link $b $a 1Mb 10ms DropTail
$ns queue-limit $a $b 20
foreach {name start} {one 0.5 two 1.5} {
    set t [$ns create-connection TCP/Sack1 $a TCPSink/Sack1 $b 1]
    $t set packetSize_ 500
    set f [new Application/FTP]
    $f attach-agent $t
    $ns at $start "$f send 100000"
    $ns at 9.0 "$f stop"
}
$ns at 4.0 "[[$ns link $a $b] link] set bandwidth_ 1Mb"
$ns at 10.0 "$ns halt"
$ns run
"""


def imported(tmp_path, text, name="study.tcl"):
    file = tmp_path / name
    file.write_text(text)
    return import_scenario(file)


def test_a_study_becomes_a_dumbbell(tmp_path):
    found = imported(tmp_path, STUDY)
    assert found.kind == "ns2"
    assert found.notes == ()
    assert "[dumbbell]" in found.text
    scenario = found.scenario
    assert (scenario.name, scenario.duration_s) == ("study", 30.0)
    red = scenario.link("bottleneck")
    assert (red.rate_bps, red.delay_s, red.aqm) == (10e6, 0.02, "red")
    own = {"min_th": 20, "max_th": 60, "max_p": 0.05, "w_q": 0.002, "limit": 120, "spacing": "ns2-wait"}
    assert own.items() <= red.parameters.items()
    assert scenario.link("bottleneck.reverse").parameters["limit"] == 50
    tcp = [flow for flow in scenario.flows if flow.transport == "newreno"]
    assert len(tcp) == 6
    assert {flow.group for flow in tcp} == {"tcp"}
    assert {flow.start_s for flow in tcp} == {(1.0, 3.0)}
    assert {flow.parameters["window"] for flow in tcp} == {100}
    assert {flow.parameters["delayed_ack"] for flow in tcp} == {0.1}
    assert [scenario.link(f"left.tcp.{i}").delay_s for i in range(6)] == [0.002, 0.003, 0.004, 0.005, 0.006, 0.007]
    (udp,) = [flow for flow in scenario.flows if flow.transport == "udp"]
    assert (udp.start_s[0], udp.stop_s, udp.parameters["rate_bps"]) == (5.0, 15.0, 1.5e6)
    assert udp.path[1] == "bottleneck.reverse"


def test_a_network_that_is_no_dumbbell_is_listed(tmp_path):
    scenario = imported(tmp_path, TWO_ON_A_HOST).scenario
    assert [(link.name, link.rate_bps) for link in scenario.links] == [("a->b", 2e6), ("b->a", 1e6)]
    assert scenario.link("a->b").parameters == {"limit": 20, "strict_limit": True}
    assert [(flow.start_s[0], flow.stop_s, flow.parameters["size"]) for flow in scenario.flows] == [
        (0.5, 9.0, 200),
        (1.5, 9.0, 200),
    ]
    assert {flow.transport for flow in scenario.flows} == {"sack"}
    assert scenario.changes[0]["at_s"] == 4.0
    assert scenario.changes[0]["rate_bps"] == 1e6


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", {"min_th": 5, "max_th": 15, "mode": "bytes", "limit": "25000B", "mean_packet": 500, "curve": "gentle"}),
        ("gentle_ false", {"curve": "linear"}),
        ("wait_ false", {"spacing": "ns2-nowait"}),
        ("setbit_ true", {"ecn": True, "mark_up_to": 0.1}),
        ("setbit_ true", {"mark_at_bound": False}),
        ("setbit_ true mark_p_ 1.0", {"mark_up_to": 1, "mark_at_bound": False}),
        ("setbit_ true mark_p_ 2", {"mark_up_to": 1, "mark_at_bound": True}),
        ("use_mark_p_ false", {"p_one_is_early": False, "forced_at": "end"}),
        (
            "setbit_ true use_mark_p_ false",
            {"p_one_is_early": False, "mark_up_to": 1, "mark_at_bound": True, "forced_at": "end"},
        ),
        ("adaptive_ 1", {"adaptation": "adaptive-red", "max_p_low": 0.01, "max_p_high": 0.5}),
        ("q_weight_ 0.01", {"w_q": 0.01}),
    ],
)
def test_a_queue_has_the_values_of_the_study_else_the_defaults(tmp_path, setting, expected):
    text = TWO_ON_A_HOST.replace("10ms DropTail\n$ns simplex-link $b", "10ms RED\n$ns simplex-link $b")
    text = text.replace("$ns queue-limit $a $b 20", "").replace("foreach", "foreach", 1)
    words = iter(setting.split())
    lines = "".join(f"\nQueue/RED set {variable} {value}" for variable, value in zip(words, words, strict=True))
    text = text.replace("\nset a", f"{lines}\nset a", 1)
    own = imported(tmp_path, text).scenario.link("a->b").parameters
    assert expected.items() <= own.items()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("TCP/Sack1 $a TCPSink/Sack1", "TCP/Vegas $a TCPSink"), "Agent/TCP/Vegas is not read (allowed: Agent/TCP, "),
        (("DropTail\n$ns queue", "CBQ\n$ns queue"), "study.tcl:6: Queue/CBQ is not read (allowed: DropTail, RED, "),
        (("$ns at 10.0", "nonsense 3\n$ns at 10.0"), 'study.tcl:17: "nonsense" is not known here'),
        (
            ("set a [$ns node]", "source common.tcl\nset a [$ns node]"),
            "study.tcl:3: source common.tcl: there is no such file",
        ),
        (("2Mb 10ms", "2Mb soon"), '"soon" is not a time'),
        (("set t [$ns create-connection", "continue; set t [$ns create-connection"), "no flow is read"),
        (("$ns simplex-link", "# $ns simplex-link"), ""),
        (("set a [$ns node]", "while 1 {}"), "limit"),
    ],
)
def test_unsupported_lines_are_an_error_of_one_line(tmp_path, change, message, monkeypatch):
    if message == "limit":
        monkeypatch.setattr("aqmlab.interop.importing.recording.SECONDS", 1)
    with pytest.raises(InputError) as error:
        imported(tmp_path, TWO_ON_A_HOST.replace(*change))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_parts_that_are_not_carried_over_are_named_with_their_line(tmp_path):
    later = '$ns at 2.0 "[[$ns link $a $b] queue] set limit_ 5"\n$ns rtproto DV\n$ns at 10.0'
    text = TWO_ON_A_HOST.replace("$ns at 10.0", later)
    with pytest.raises(InputError) as error:
        imported(tmp_path, text)
    assert "--approximate" in str(error.value)
    found = import_scenario(tmp_path / "study.tcl", approximate=True)
    assert found.differences == (
        "study.tcl:17: Queue/DropTail set limit_ 5 at 2.0 s is not carried over",
        "study.tcl:18: Simulator rtproto DV is not carried over",
    )
    assert all(one in str(error.value) for one in found.differences)
    assert "# Not as in the original: study.tcl:18: Simulator rtproto DV is not carried over." in found.text
    assert found.scenario.link("a->b").parameters["limit"] == 20


def test_a_study_cannot_touch_the_machine(tmp_path):
    target = tmp_path / "made"
    text = TWO_ON_A_HOST.replace("set a [", f"set file [open {target} w]; close $file; exec touch {target}\nset a [", 1)
    imported(tmp_path, text)
    assert not target.exists()


def test_the_process_of_a_study_starts_without_libraries_that_it_does_not_use():
    check = "import sys, aqmlab.interop.importing.sandbox; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0


def same(model):
    """Return the parts of a scenario that an export has, independent of the names of links and flows."""
    ends = {}

    def limit(link):
        own = dict(link.parameters)
        if link.aqm == "drop-tail" and own.pop("strict_limit"):
            text = str(own["limit"])
            own["limit"] = f"{int(text[:-1]) - 1}B" if text.endswith("B") else own["limit"] - 1
        own.pop("strict_limit", None)
        return tuple(sorted((key, str(value)) for key, value in own.items()))

    for link in model.links:
        ends[link.name] = (link.rate_bps, link.delay_s, limit(link))
    flows = sorted(
        repr((flow.transport, flow.start_s, flow.stop_s, flow.parameters, [ends[name] for name in flow.path]))
        for flow in model.flows
    )
    changes = [{key: value for key, value in change.items() if key != "link"} for change in model.changes]
    return sorted(map(repr, ends.values())), flows, changes, model.duration_s, model.warmup_s


THERE = (
    *("tail-tahoe", "tail-sack", "tail-bytes", "red-nowait", "adaptive", "feng", "red-bytes-sizes", "gentle-ecn"),
    *("delayed-acks", "two-way", "spread-rtts", "udp-poisson", "rate-changes", "chain", "two-hops"),
)
"""Not known phases of clocks, drawn sizes and bursts, which are procedures in a script."""
BACK = [case for case in NS2 if case.name in THERE]


@pytest.mark.parametrize("case", BACK, ids=lambda case: case.name)
def test_there_and_back_is_the_same_scenario(tmp_path, case):
    scenario = Scenario.from_text(case.text, filename=f"{case.name}.toml")
    (script,), _ = export_scenario(scenario, to="ns2", out=tmp_path)
    found = import_scenario(script).scenario
    assert same(found) == same(scenario)


@pytest.mark.parametrize("aqm", ["drop-tail", "red", "gentle-red", "adaptive-red", "feng-red"])
def test_check_has_nothing_to_say_of_keys_that_the_import_wrote(tmp_path, aqm):
    scenario = Scenario.load("example:dumbbell-red", overrides={"queue.bottleneck": {"aqm": aqm}})
    (script,), _ = export_scenario(scenario, to="ns2", out=tmp_path)
    assert import_scenario(script).scenario.warnings == ()


def test_keys_of_a_linux_queue_without_effect_are_not_written(tmp_path):
    found = imported(tmp_path, "tc qdisc add dev eth0 root handle 1: pie limit 100\n", "shape.sh")
    assert "mark_up_to" not in found.text
    assert "mark_up_to" in imported(tmp_path, "tc qdisc add dev eth0 root pie limit 100 ecn\n", "ecn.sh").text


def test_flows_use_ecn_where_the_queue_always_marks(tmp_path):
    found = imported(tmp_path, "tc qdisc add dev eth0 root dualpi2\n", "shape.sh")
    assert "ecn" not in found.scenario.queue_table("bottleneck")
    assert "tcp = { ecn = true }" in found.text


RED = "tc qdisc add dev eth0 parent 1:1 handle 10: red limit 100000 min 10000 max 30000 avpkt 1000 burst 55"


def test_lines_of_tc_become_a_bottleneck(tmp_path):
    text = f"""#!/bin/sh
sudo tc qdisc del dev eth0 root
tc qdisc add dev eth0 root handle 1: tbf rate 8mbit burst 5kb latency 70ms
{RED} \\
    probability 0.1 ecn
tc qdisc add dev eth1 root netem delay 25ms
"""
    found = imported(tmp_path, text, "shape.sh")
    assert found.kind == "tc"
    assert found.notes == ("line 3: tbf latency 70ms (the link has no queue above this one)",)
    link = found.scenario.link("bottleneck")
    assert (link.rate_bps, link.delay_s, link.aqm) == (8e6, 0.025, "red")
    assert link.token_bucket == {"burst": 5120, "mtu": None, "peakrate_bps": None}
    own = {
        "min_th": 10,
        "max_th": 30,
        "limit": "100000B",
        "w_q": 2**-8,
        "ecn": True,
        "spacing": "linux",
        "mode": "bytes",
    }
    assert own.items() <= link.parameters.items()
    assert link.parameters["max_p"] == pytest.approx(0.1, rel=1e-4)


@pytest.mark.parametrize("aqm", ["red", "drop-tail"])
def test_a_script_for_linux_comes_back(tmp_path, aqm):
    red = """aqm = "red"
dialect = "linux"
mode = "bytes"
limit = "150000B"
min_th = "15000B"
max_th = "45000B"
max_p = 0.05
w_q = 0.00390625
mean_packet = "1500B"
"""
    text = f"""format = 1
name = "uplink"
[run]
duration = "10s"
[dumbbell]
bottleneck = {{ rate = "8Mbps", delay = "15ms", queue = "bottleneck" }}
left = {{ rate = "100Mbps", delay = "1ms" }}
right = {{ rate = "100Mbps", delay = "1ms" }}
[queue.bottleneck]
{red if aqm == "red" else 'limit = "60p"'}
[[flow]]
name = "tcp"
transport = "tcp"
"""
    scenario = Scenario.from_text(text, filename="uplink.toml")
    (script, *_), _ = export_scenario(scenario, to="tc", out=tmp_path)
    link, own = import_scenario(script).scenario.link("bottleneck"), scenario.link("bottleneck")
    assert (link.rate_bps, link.aqm) == (own.rate_bps, own.aqm)
    found = {key: pytest.approx(value, rel=1e-4) if key == "max_p" else value for key, value in own.parameters.items()}
    assert link.parameters == found


def test_output_of_tc_is_read_too(tmp_path):
    text = "qdisc pfifo 8001: dev eth0 root refcnt 2 limit 200p\n"
    found = imported(tmp_path, text, "shown.txt")
    assert found.scenario.link("bottleneck").parameters["limit"] == 200
    assert len(found.notes) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tc qdisc add dev eth0 root cbq", 'unknown discipline "cbq"'),
        ("tc qdisc add dev eth0 root red min 1 max 3", "red needs a limit"),
        ("tc qdisc add dev eth0 root red limit 1000 min 300 max 200 avpkt 100", "red needs 0 < min < max"),
        ("tc qdisc add dev eth0 root red limit 9000 min 3000 max 9000 avpkt 100 burst 3", "tc rejects a burst of 3"),
        ("tc qdisc add dev eth0 root red limit much", '"much" is not a size of tc'),
        ("tc qdisc add dev eth0 root tbf rate fast", '"fast" is not a rate of tc'),
        ("tc qdisc add dev eth0 root red limit", '"limit" has no value'),
        ("hello", "is neither an ns-2 study"),
        ("", "lines.txt: is empty"),
        ('[{"kind":"fq_codel","handle":"0:","dev":"eth0","root":true}]', "JSON of tc is not read; import what `tc -d "),
        ('[ {"class":"htb","handle":"1:1","root":true} ]', "JSON of tc is not read; import what `tc -d "),
    ],
)
def test_values_that_tc_rejects_are_an_error_of_one_line(tmp_path, line, message):
    with pytest.raises(InputError) as error:
        imported(tmp_path, line + "\n", "lines.txt")
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("line", "note"),
    [
        ("tc qdisc add dev eth0 root netem delay 10ms", "netem without a rate has no queue"),
        ("tc qdisc add dev e root handle 1: htb default 1", "htb has no class"),
    ],
)
def test_lines_of_tc_with_nothing_below_come_in_with_a_note(tmp_path, line, note):
    found = imported(tmp_path, line + "\n", "lines.txt")
    assert found.scenario.link("bottleneck").parameters["limit"] == 1000
    assert any(note in str(one) for one in found.notes)


def test_the_command(tmp_path, capsys):
    file = tmp_path / "study.tcl"
    file.write_text(STUDY)
    assert main(["import", str(file)]) == 0
    text = capsys.readouterr().out
    Scenario.from_text(text)
    out = tmp_path / "a" / "study.toml"
    assert main(["import", str(file), "--out", str(out), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["file"], told["notes"]) == ("ns2", str(out), [])
    assert out.read_text() == text
    assert main(["import", str(tmp_path / "none.tcl")]) == 2
    assert "no such file" in capsys.readouterr().err
