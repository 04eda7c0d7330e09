"""Nothing of an ns-2 study is lost silently: each setting is carried over, changes nothing, or is named."""

from __future__ import annotations

import re

import pytest

from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.importing import reading, recording
from aqmlab.interop.importing.reading import import_scenario

pytest.importorskip("tkinter", reason="Python has no tkinter, which reads Tcl")

STUDY = """\
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
BEFORE
$ns duplex-link $a $b 1Mb 10ms QUEUE
set tcp [new SENDER]
set sink [new SINK]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set app [new APPLICATION]
$app attach-agent $tcp
AFTER
$ns at 0.5 "$app start"
$ns at 5.0 "$ns halt"
$ns run
"""
USUAL = {
    "BEFORE": "",
    "QUEUE": "DropTail",
    "SENDER": "Agent/TCP",
    "SINK": "Agent/TCPSink",
    "APPLICATION": "Application/FTP",
    "AFTER": "",
}
UDP = {"SENDER": "Agent/UDP", "SINK": "Agent/Null", "APPLICATION": "Application/Traffic/CBR"}
AFTER = 13
"""The line of AFTER."""


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """Read studies without a process for each."""
    monkeypatch.setattr(reading, "record", recording.record_here)


@pytest.fixture
def study(tmp_path):
    def work(after="", *, approximate=True, arguments=(), **words):
        text = STUDY
        for word, value in {**USUAL, "AFTER": after, **words}.items():
            text = text.replace(word, value)
        path = tmp_path / "study.tcl"
        path.write_text(text)
        return import_scenario(path, approximate=approximate, arguments=arguments)

    return work


def only_flow(found):
    (flow,) = found.scenario.flows
    return flow


def test_what_is_not_carried_over_needs_approximate(study):
    with pytest.raises(InputError, match=rf"study\.tcl:{AFTER}: Agent/TCP set overhead_ 0\.1 is not carried over"):
        study("$tcp set overhead_ 0.1", approximate=False)
    found = study("$tcp set overhead_ 0.1")
    assert found.differences == (f"study.tcl:{AFTER}: Agent/TCP set overhead_ 0.1 is not carried over",)
    assert study(approximate=False).differences == ()


def test_the_command_takes_approximate_and_arguments(study, tmp_path, capsys):
    study("$tcp set overhead_ 0.1; $tcp set window_ [lindex $argv 0]", arguments=("9",))
    path = str(tmp_path / "study.tcl")
    assert main(["import", path, "--", "9"]) == 2
    assert "overhead_" in capsys.readouterr().err
    assert main(["import", "--approximate", path, "--", "9"]) == 0
    said = capsys.readouterr()
    assert "difference: study.tcl:13: Agent/TCP set overhead_ 0.1" in said.err
    assert 'window = "9p"' in said.out


@pytest.mark.parametrize(
    "line",
    [
        "$tcp set overhead_ 0",
        "$tcp set useHeaders_ 1",
        "Agent/TCP set decrease_num_ 0.50",
        "$tcp set my_own_thing 3",
        "$app set type_ FTP",
        "$tcp set class_ 2; $tcp set fid_ 4; $ns color 4 Blue",
        "$ns trace-all [open x w]; $ns namtrace-all [open y w]; $ns duplex-link-op $a $b orient right",
        "$ns monitor-queue $a $b [open z w] 0.1; [$ns link $a $b] queue-sample-timeout",
        "$tcp attach [open c w]; $tcp trace cwnd_; $tcp tracevar cwnd_",
        "$ns rtproto Static",
        "set other [new Agent/TCP]; $other set overhead_ 0.5",
        "proc s {} {global ns tcp; set x [expr 1.0 / [$tcp set ack_]]; $ns at [expr [$ns now] + 0.5] s}; s",
    ],
)
def test_defaults_private_variables_and_observation_are_no_differences(study, line):
    assert study(line, approximate=False).differences == ()


def test_without_adaptation_its_parameters_mean_nothing(study):
    own = "Queue/RED set alpha_ 0.02; Queue/RED set top_ 0.4; Queue/RED set interval_ 1.0"
    assert study(QUEUE="RED", BEFORE=own, approximate=False).differences == ()
    adaptive = study(QUEUE="RED", BEFORE=own + "; Queue/RED set adaptive_ 1", approximate=False)
    assert adaptive.scenario.links[0].parameters["ared_alpha"] == 0.02


SILENT = {
    "Agent/TCP": {
        *("class_", "fid_", "flags_", "prio_", "debug_", "agent_addr_", "agent_port_", "dst_addr_", "dst_port_"),
        # ns-2 asks only whether it is 0.
        "singledup_",
        *("nam_tracevar_", "trace_all_oneline_", "print_request_"),
        # Without windowOption_ or timestamps_.
        *("windowConstant_", "windowThresh_", "ts_option_size_", "ts_resetRTO_", "bugFix_ts_"),
        # Set when the simulation begins, or read by no class of ns-2.
        *("cwnd_", "ssthresh_", "updated_rttvar_"),
        # Of Tahoe, which has no recovery.
        "precisionReduce_",
    },
    "Queue/RED": {
        *("blocked_", "unblock_on_resume_", "debug_", "util_check_intv_", "util_records_", "util_weight_"),
        *("curq_", "ave_", "summarystats_", "idle_pktsize_", "drop_tail_"),
        # Without adaptive_.
        *("alpha_", "beta_", "interval_", "top_", "bottom_", "feng_adaptive_"),
    },
    "Queue/DropTail": {
        *("blocked_", "unblock_on_resume_", "debug_", "util_check_intv_", "util_records_", "util_weight_"),
        *("mean_pktsize_", "summarystats_"),
    },
    "Application/Traffic/CBR": set(),
}
"""Variables that change nothing in these studies, each with a reason in `recording.NO_EFFECT` or above."""


def other_value(value):
    """A value that is not this one."""
    flags = {"true": "false", "false": "true"}
    if value in flags:
        return flags[value]
    number = re.match(r"-?[0-9.]+", value)
    return value.replace(number[0], str(float(number[0]) + 1), 1) if number else "7"


@pytest.mark.slow
@pytest.mark.parametrize("kind", SILENT)
def test_every_variable_of_ns2_is_carried_over_or_named(study, kind, monkeypatch):
    """Set each to another value, one at a time; the list of silent ones cannot grow unnoticed."""
    monkeypatch.setattr(
        reading, "record", lambda *order: [recording._Sandbox(order[0 + 1]).run(order[0], 0.5, "1")] * 5
    )
    words = {"Queue/RED": {"QUEUE": "RED"}, "Application/Traffic/CBR": UDP}.get(kind, {})
    handle = {"Agent/TCP": "$tcp", "Application/Traffic/CBR": "$app"}.get(kind, "[[$ns link $a $b] queue]")
    usual = study(**words).text
    silent = set()
    for variable, value in recording.defaults_of(kind).items():
        try:
            found = study(f"{handle} set {variable} {other_value(value)}", **words)
        except InputError:
            continue  # named in an error
        if not found.differences and found.text == usual:
            silent.add(variable)
    assert silent == SILENT[kind]


def test_packet_size_of_cbr_in_its_old_spelling(study):
    flow = only_flow(study("$app set packet_size_ 1000; $app set rate_ 1mb", approximate=False, **UDP))
    assert (flow.parameters["packet_size"], flow.parameters["rate_bps"]) == (1000, 1e6)


def test_interval_before_packet_size_fixes_the_rate_as_in_ns2(study):
    flow = only_flow(study("$app set interval_ 0.01; $app set packetSize_ 420", approximate=False, **UDP))
    assert (flow.parameters["packet_size"], flow.parameters["rate_bps"]) == (420, 168_000)
    flow = only_flow(study("$app set packetSize_ 420; $app set interval_ 0.01", approximate=False, **UDP))
    assert flow.parameters["rate_bps"] == 336_000


def test_agent_cbr_recomputes_its_rate(study):
    lines = "set c [new Agent/CBR]; $c set interval_ 0.01; $c set packetSize_ 420; $ns attach-agent $a $c"
    lines += '; set n [new Agent/Null]; $ns attach-agent $b $n; $ns connect $c $n; $ns at 1.0 "$c start"'
    found = study(lines, approximate=False)
    (udp,) = [flow for flow in found.scenario.flows if flow.transport == "udp"]
    assert (udp.parameters["packet_size"], udp.parameters["rate_bps"]) == (420, 336_000)


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("$tcp set maxcwnd_ 8", None),
        ("$tcp set overhead_ 0.01", "overhead_"),
        ("$tcp set windowOption_ 8", "windowOption_"),
        ("$tcp set decrease_num_ 0.8", "decrease_num_"),
        ("$tcp set rfc2988_ false", "rfc2988_"),
        ("$tcp set bugfix_ss_ 0", "bugfix_ss_"),
        ("$tcp set windowInitOption_ 2", None),
        ("$tcp set windowInitOption_ 3", "windowInitOption_"),
        ("$ns rtproto DV", "Simulator rtproto DV"),
        ("$ns lossmodel [new ErrorModel] $a $b", "Simulator lossmodel: ErrorModel of rate 0.0"),
        ("$ns rtmodel-at 1.0 down $a $b", "Simulator rtmodel-at"),
        ("Agent/TCP instproc done {} {}; $tcp proc done {} {}", "procedure done of Agent/TCP"),
        ("$tcp some-method", "Agent/TCP some-method"),
    ],
)
def test_each_setting_of_tcp_is_carried_over_or_named(study, line, named):
    found = study(line)
    if named is None:
        assert found.differences == ()
        own = only_flow(found).parameters
        assert (own["window"], own["initial_window"]) in ((8, 2), (20, 4))
    elif "ErrorModel" in line:
        assert found.differences == ()  # a rate of 0 loses nothing
    else:
        assert any(named in one and one.startswith("study.tcl:13: ") for one in found.differences), found.differences


def test_packets_whose_headers_do_not_count_contain_them(study):
    found = study("$tcp set useHeaders_ false", approximate=False)
    own = only_flow(found).parameters
    assert (own["packet_size"], own["header"]) == (960, 40)  # the SYN has 40 B, all others 1000 B
    assert found.notes == ("useHeaders_ false: of each packet 40 B count as header, and not as payload",)
    found = study("$tcp set useHeaders_ false; $tcp set syn_ false")
    own = only_flow(found).parameters
    assert (own["packet_size"], own["header"]) == (999, 1)
    assert "the first packet is a byte shorter" in found.differences[0]


@pytest.mark.parametrize(
    ("sender", "line", "named"),
    [
        ("Agent/TCP", "precisionReduce_ false", 0),
        ("Agent/TCP/Reno", "precisionReduce_ false", 1),
        ("Agent/TCP", "ecn_ 1; $tcp set precisionReduce_ false", 1),
        ("Agent/TCP/Reno", "updated_rttvar_ false", 0),
        ("Agent/TCP", "ssthresh_ 5", 0),
    ],
)
def test_variables_without_effect_are_no_differences(study, sender, line, named):
    found = study(f"$tcp set {line}", SENDER=sender)
    assert len(found.differences) == named, found.differences


@pytest.mark.parametrize(
    ("line", "header"),
    [
        ("remove-all-packet-headers; add-packet-header IP TCP Flags", None),
        ("remove-all-packet-headers; add-packet-header IP Flags", "TCP"),
        ("remove-packet-header Flags", "Flags"),
        ("remove-packet-header AODV RTP", None),
    ],
)
def test_headers_that_packets_need_and_are_removed_are_named(study, line, header):
    expected = () if header is None else (f"the removal of the header {header}, which packets need, is not carried",)
    found = study(BEFORE=line).differences
    assert len(found) == len(expected)
    assert all(f"study.tcl:4: {one}" in whole for one, whole in zip(expected, found, strict=True))


def test_a_threshold_that_is_set_during_the_run_is_named(study):
    (difference,) = study('$ns at 0.2 "$tcp set ssthresh_ 5"').differences
    assert "Agent/TCP set ssthresh_ 5 at 0.2 s" in difference


def test_the_answer_to_a_syn_matters_only_where_answers_wait(study):
    line = "$sink set SYN_immediate_ack_ false"
    assert study(line).differences == ()
    assert "SYN_immediate_ack_" in study(line, SINK="Agent/TCPSink/DelAck").differences[0]


def test_maxcwnd_of_reno_is_the_window_and_named(study):
    found = study("$tcp set maxcwnd_ 8", SENDER="Agent/TCP/Reno")
    assert only_flow(found).parameters["window"] == 8
    assert "maxcwnd_ 8" in found.differences[0]


def test_telnet_over_tcp_is_a_page_whose_objects_come_at_times_that_are_drawn(study):
    found = study("$app set interval_ 0.5", APPLICATION="Application/Telnet")
    (difference,) = found.differences
    assert difference.startswith("study.tcl:11: Application/Telnet over TCP: its data wait here")
    assert (
        'web = { objects = 100000, size = "1000B", connections = 1, think = { exponential = "500ms" } }' in found.text
    )


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ("2Mb", 'start = "500ms"\n'),
        # Packets of 500 B every 40 ms, each a segment; two round trips of 20 ms + 8.32 ms are two of them.
        ("100Kb", 'web = { objects = 100000, size = "2000B", connections = 1, think = "51.68ms" }'),
    ],
)
def test_cbr_over_tcp_is_greedy_where_it_is_faster_than_its_way(study, rate, expected):
    found = study(f"$app set packetSize_ 500; $app set rate_ {rate}", APPLICATION="Application/Traffic/CBR")
    (difference,) = found.differences
    assert "Application/Traffic/CBR over TCP" in difference
    assert expected in found.text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"APPLICATION": "Application/Traffic/Trace"}, "study.tcl:11: Application/Traffic/Trace over TCP"),
        ({"APPLICATION": "Application/FTP", "SENDER": "Agent/TFRC"}, "Agent/TFRC is not read"),
        ({"SENDER": "Agent/TCP/Vegas"}, "study.tcl:6: Agent/TCP/Vegas is not read"),
        ({"SENDER": "Agent/TCP/Fack"}, "study.tcl:6: Agent/TCP/Fack is not read"),
        ({"SENDER": "Agent/TCP/RFC793edu"}, "study.tcl:6: Agent/TCP/RFC793edu is not read"),
        ({"SINK": "Agent/TCPSink/Asym"}, "study.tcl:7: Agent/TCPSink/Asym is not read"),
    ],
)
def test_what_has_no_counterpart_is_named(study, words, message):
    with pytest.raises(InputError) as error:
        study(**words)
    assert message in str(error.value)


def test_a_study_in_which_nothing_starts_says_what_it_has(tmp_path):
    text = STUDY.replace('$ns at 0.5 "$app start"', "")
    for word, value in USUAL.items():
        text = text.replace(word, value)
    (tmp_path / "study.tcl").write_text(text)
    with pytest.raises(InputError, match=r"no application is attached to an agent and starts \(Agent/TCP\)"):
        import_scenario(tmp_path / "study.tcl")


def test_data_at_several_times_are_not_summed(study):
    found = study('$ns at 0.2 "$app send 5000"; $ns at 0.4 "$app produce 50"', APPLICATION="Application/FTP")
    assert only_flow(found).parameters["size"] == 5
    assert [one.split(": ")[1] for one in found.differences] == ["produce 50 at 0.4 s", "start at 0.5 s"]


def test_starts_and_stops_are_periods(study):
    found = study('$ns at 1.0 "$app stop"; $ns at 2.0 "$app start"; $ns at 3.0 "$app stop"', approximate=False)
    flow = only_flow(found)
    assert (flow.start_s[0], flow.stop_s, flow.again) == (0.5, 1.0, ((2.0, 3.0),))


def test_units_of_the_times_of_events_are_ignored_as_in_ns2(study):
    found = study('$ns at 3ms "$app stop"', approximate=False)
    assert only_flow(found).stop_s == 3.0


def test_maxpkts_ends_a_source(study):
    flow = only_flow(study("$app set maxpkts_ 100; $app set rate_ 168Kb", approximate=False, **UDP))
    assert flow.stop_s == pytest.approx(0.5 + 99.5 * 0.01)


def test_a_limit_that_is_set_later_does_not_apply_from_the_start(study):
    found = study('$ns at 2.0 "$ns queue-limit $a $b 5"')
    assert found.scenario.links[0].parameters["limit"] == 50
    assert found.differences == (f"study.tcl:{AFTER}: Queue/DropTail set limit_ 5 at 2.0 s is not carried over",)


def test_changes_of_a_link_by_the_simulator(study):
    found = study('$ns at 2.0 "$ns delay $a $b 30ms"; $ns at 3.0 "$ns bandwidth $a $b 2Mb duplex"', approximate=False)
    changes = [(one["at_s"], one.get("delay_s"), one.get("rate_bps")) for one in found.scenario.changes]
    assert changes == [(2.0, 0.03, None), (3.0, None, 2e6), (3.0, None, 2e6)]


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("set r [new RNG]; $tcp set window_ [expr int([$r uniform 5 50])]", "set more than uniform starts"),
        ('set r [new RandomVariable/Exponential]; $ns at [$r value] "$app stop"', "set more than uniform starts"),
        ("if {[$tcp set cwnd_] > 3} {$ns queue-limit $a $b 9}", "depends on a variable of the simulation"),
    ],
)
def test_what_is_drawn_or_depends_on_the_simulation_is_named(study, line, named):
    (difference,) = study(line).differences
    assert named in difference
    assert difference.startswith("study.tcl:13: ")


def test_sums_of_draws_are_no_uniform_start(study):
    lines = "set r [new RNG]; set f [new Application/FTP]; set t [new Agent/TCP]; set s [new Agent/TCPSink]\n"
    lines += "$ns attach-agent $a $t; $ns attach-agent $b $s; $ns connect $t $s; $f attach-agent $t\n"
    single = study(lines + '$ns at [$r uniform 0 2] "$f start"', approximate=False)
    assert single.scenario.flows[1].start_s == (0.0, 2.0)
    twice = study(lines + '$ns at [expr [$r uniform 0 1] + [$r uniform 0 1] + [$r uniform 0 1]] "$f start"')
    assert "is drawn, and not uniform" in twice.differences[0]


def test_sack_with_a_plain_sink_is_named(study):
    (difference,) = study(SENDER="Agent/TCP/Sack1").differences
    assert difference.startswith("study.tcl:7: Agent/TCP/Sack1 with Agent/TCPSink, which sends no SACK blocks")
    assert study(SENDER="Agent/TCP/Sack1", SINK="Agent/TCPSink/Sack1").differences == ()


def test_an_event_that_fails_before_exit_ends_the_study_there(study):
    lines = "proc finish {} {global nothing; puts $nothing; exit 0}\n$ns at 3.0 finish"
    found = study(lines)
    assert found.scenario.duration_s == 3.0
    assert found.differences[0].startswith("study.tcl:14: the event at 3.0 s, which fails here")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"after": "$app set rate_ fast", **UDP}, 'study.tcl:13: "fast" is not a rate'),
        ({"after": "$app set rate_ Mb", **UDP}, 'study.tcl:13: "Mb" is not a rate'),
        ({"after": "[$tcp set nothing]"}, "study.tcl:13: a value of the simulation (1) is used as an object"),
        ({"after": "set x {}; $x start"}, "study.tcl:13: a command is empty"),
        ({"after": "proc p {} {\n\n  nonsense\n}\np"}, 'study.tcl:15: "nonsense" is not known here'),
        ({"after": "$tcp set packetSize_ 0"}, "study.tcl:6: the scenario made of this is not valid: "),
        (
            {"BEFORE": "Queue/RED set linterm_ 0.5", "QUEUE": "RED"},
            "study.tcl:5: the scenario made of this is not valid",
        ),
    ],
)
def test_errors_name_the_line_of_the_study(study, words, message):
    with pytest.raises(InputError) as error:
        study(**words)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_flow_whose_ends_share_a_node_passes_no_link(study):
    lines = "set t [new Agent/TCP]; set s [new Agent/TCPSink]; $ns attach-agent $a $t; $ns attach-agent $a $s\n"
    lines += '$ns connect $t $s; set f [$t attach-app FTP]; $ns at 0.1 "$f start"'
    found = study(lines, approximate=False)
    assert len(found.scenario.flows) == 1
    assert found.notes == ("the flow of t, whose ends share a node, passes no link",)


def test_a_link_that_is_made_twice_is_the_last_one(study):
    found = study("$ns duplex-link $a $b 3Mb 20ms DropTail", approximate=False)
    assert {link.rate_bps for link in found.scenario.links} == {3e6}


def test_latin_1_and_classes_and_other_files(tmp_path):
    (tmp_path / "common.tcl").write_bytes(
        b"# caf\xe9\nClass Net\nNet instproc init {rate} {\n  $self instvar ns_ a_ b_\n  set ns_ [new Simulator]\n"
        b"  set a_ [$ns_ node]; set b_ [$ns_ node]\n  $ns_ duplex-link $a_ $b_ $rate 10ms DropTail\n}\n"
    )
    (tmp_path / "study.tcl").write_text(
        "source common.tcl\nClass Run -superclass Net\nRun instproc init {rate args} {\n  eval $self next $rate $args\n"
        "  $self instvar ns_ a_ b_\n  set t [$ns_ create-connection TCP/Newreno $a_ TCPSink $b_ 0]\n"
        '  $ns_ at 1.0 "[$t attach-app FTP] start"\n  $ns_ at 4.0 "$self end"\n}\n'
        "Run instproc end {} { exit 0 }\nnew Run 2Mb\n# new Simulator\n"
    )
    found = import_scenario(tmp_path / "study.tcl")
    assert (found.scenario.duration_s, found.scenario.links[0].rate_bps) == (4.0, 2e6)


@pytest.mark.parametrize("name", ["../secret.tcl", "/etc/passwd", "a\\0b", "link.tcl", "recorder"])
def test_only_files_of_the_folder_are_read(study, tmp_path, name):
    (tmp_path.parent / "secret.tcl").write_text("set secret 1")
    (tmp_path / "link.tcl").symlink_to(tmp_path.parent / "secret.tcl")
    with pytest.raises(InputError, match="source"):
        study(f'source "{name}"')


@pytest.mark.parametrize(
    ("queue", "settings", "expected"),
    [
        ("SFQ", "maxqueue_ 60", {"limit": 60, "buckets": 16, "full": "ns2"}),
        ("DRR", "quantum_ 500", {"limit": "25000B", "buckets": 10, "quantum": 500}),
        ("PI", "qref_ 30", {"limit": 50, "q_ref": 30, "sampling": 170, "a": 1.822e-5}),
        ("REM", "gamma_ 0.01", {"limit": 50, "gamma": 0.01, "target": 20}),
        ("Vq", "gamma_ 0.9", {"limit": "50000B", "gamma": 0.9, "update": "ns2"}),
    ],
)
def test_queues_that_the_program_has(study, queue, settings, expected):
    found = study(QUEUE=queue, BEFORE=f"Queue/{queue} set {settings}")
    assert expected.items() <= found.scenario.links[0].parameters.items()


def test_flows_that_share_a_queue_of_sfq_in_ns2_are_named(study):
    second = "set t [$ns create-connection TCP $a TCPSink $b 1]; set f [$t attach-app FTP]\n"
    found = study(second + '$ns at 1.0 "$f start"', QUEUE="SFQ")
    assert found.differences == ("study.tcl:5: which flows share a queue of sfq, which ns-2 decides by addresses",)
    assert study(QUEUE="SFQ").differences == ()


def test_a_sink_of_two_senders_is_named(study):
    second = "set t [new Agent/TCP]; $ns attach-agent $a $t; $ns connect $t $sink; set f [$t attach-app FTP]\n"
    found = study(second + '$ns at 1.0 "$f start"')
    assert found.differences == ("study.tcl:7: Agent/TCPSink of several senders, which answers the last one",)


def test_two_way_tcp_is_named(study):
    (difference,) = study("$sink listen", SENDER="Agent/TCP/FullTcp", SINK="Agent/TCP/FullTcp").differences
    assert difference == "study.tcl:6: Agent/TCP/FullTcp: the one-way TCP reno stands for it"
