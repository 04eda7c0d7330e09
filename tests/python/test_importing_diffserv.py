"""ns-2's DiffServ module: the settings of a study's queues, as classes and markers."""

from __future__ import annotations

import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.interop.importing import reading, recording
from aqmlab.interop.importing.diffserv import Commands
from aqmlab.interop.importing.reading import import_scenario

pytest.importorskip("tkinter", reason="Python has no tkinter, which reads Tcl")

STUDY = """\
set ns [new Simulator]
foreach n {s1 s2 e c d} {set $n [$ns node]}
$ns duplex-link $s1 $e 10Mb 5ms DropTail
$ns duplex-link $s2 $e 10Mb 5ms DropTail
$ns simplex-link $e $c 10Mb 5ms dsRED/edge
$ns simplex-link $c $e 10Mb 5ms DropTail
$ns simplex-link $c $d 2Mb 5ms dsRED/core
$ns simplex-link $d $c 2Mb 5ms DropTail
set edge [[$ns link $e $c] queue]
set core [[$ns link $c $d] queue]
foreach q [list $edge $core] {
    $q meanPktSize 1000
    $q set numQueues_ 1
    $q setNumPrec 2
    $q addPHBEntry 10 0 0
    $q addPHBEntry 11 0 1
    $q configQ 0 0 20 40 0.02
    $q configQ 0 1 10 20 0.10
}
$edge addPolicyEntry [$s1 id] [$d id] TokenBucket 10 1000000 3000
$edge addPolicyEntry [$s2 id] [$d id] Null 11
$edge addPolicerEntry TokenBucket 10 11
$edge addPolicerEntry Null 11
MORE
foreach s {s1 s2} {
    set udp($s) [new Agent/UDP]
    $ns attach-agent [set $s] $udp($s)
    $udp($s) set packetSize_ 1000
    set cbr($s) [new Application/Traffic/CBR]
    $cbr($s) attach-agent $udp($s)
    $cbr($s) set packetSize_ 1000
    $cbr($s) set rate_ 1.5Mb
    set null [new Agent/Null]
    $ns attach-agent $d $null
    $ns connect $udp($s) $null
    $ns at 0.0 "$cbr($s) start"
}
$ns at 1.0 {$core printStats}
$ns at 10.0 "$ns halt"
$ns run
"""


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    monkeypatch.setattr(reading, "record", recording.record_here)


@pytest.fixture
def study(tmp_path):
    def work(more="", *, approximate=False, **words):
        text = STUDY.replace("MORE", more)
        for word, value in words.items():
            text = text.replace(word, value)
        (tmp_path / "study.tcl").write_text(text)
        return import_scenario(tmp_path / "study.tcl", approximate=approximate)

    return work


def test_precedences_are_classes_and_policies_markers(study):
    found = study()
    own = {link.name: link for link in found.scenario.links}["c->d"].parameters
    assert (own["averages"], own["spacing"], own["limit"], own["mean_packet"]) == ("coupled", "dsred", 50, 1000)
    assert [own[f"class.p{n}.{key}"] for n in (0, 1) for key in ("min_th", "max_th", "max_p")] == [
        20,
        40,
        0.02,
        10,
        20,
        0.1,
    ]
    assert (own["class.p0.dscp"], own["class.p1.dscp"]) == ("10", "11 default")
    assert 'link = "e->c"\nflows = ["s1"]\nkind = "token-bucket"\ncir = "1Mbps"\ncbs = "3000B"\n' in found.text
    marked, plain = found.scenario.flows
    assert (marked.dscp, plain.dscp) == (0, 11)
    flows = aqmlab.run(found.scenario, seeds=[1]).tables["flows"].set_index("group")
    assert flows.loc["s1", "goodput_bps"] > flows.loc["s2", "goodput_bps"]


@pytest.mark.parametrize(
    ("policy", "policer", "marker"),
    [
        ("TSW2CM 10 1000000", "TSW2CM 10 11", 'kind = "tsw2cm"\ncir = "1Mbps"\ngreen = 10\nred = 11'),
        ("TSW2CM 10 1000000 0.5", "TSW2CM 10 11", 'kind = "tsw2cm"\ncir = "1Mbps"\nwindow = "500ms"'),
        (
            "TSW3CM 10 1e6 2e6",
            "TSW3CM 10 11 11",
            'kind = "tsw3cm"\ncir = "1Mbps"\npir = "2Mbps"\ngreen = 10\nyellow = 11',
        ),
        ("srTCM 10 1e6 2000 3000", "srTCM 10 11 11", 'kind = "srtcm"\ncir = "1Mbps"\ncbs = "2000B"\nebs = "3000B"'),
        ("trTCM 10 1e6 2000 2e6 3000", "trTCM 10 11 11", 'cbs = "2000B"\npir = "2Mbps"\npbs = "3000B"'),
    ],
)
def test_each_policer(study, policy, policer, marker):
    words = {"TokenBucket 10 1000000 3000": policy, "TokenBucket 10 11": policer}
    assert marker in study(**words).text


def test_flows_of_one_policy_share_its_meter(study):
    found = study(**{"[$s1 id] [$d id] TokenBucket": "-1 [$d id] TokenBucket"})
    assert 'flows = ["s1", "s2"]\nper = "group"' in found.text


@pytest.mark.parametrize(
    ("scheduler", "aqm", "named"),
    [
        ("setSchedularMode PRI", "priority", ()),
        ("setSchedularMode PRI; $core addQueueRate 0 100000", "priority", ("addQueueRate",)),
        ("setSchedularMode WRR; $core addQueueWeights 0 3", "wfq", ("WRR of Queue/dsRED takes turns by packets",)),
        ("meanPktSize 1000", "wfq", ("RR of Queue/dsRED takes turns by packets",)),
    ],
)
def test_several_queues_are_children_of_a_scheduler(study, scheduler, aqm, named):
    second = f"$core configQ 1 0 5 15 0.1; $core addPHBEntry 12 1 0; $core {scheduler}"
    found = study(second, approximate=True)
    assert f'[queue.dsred-core]\naqm = "{aqm}"' in found.text
    assert len(found.differences) == len(named)
    assert all(one in found.differences[0] for one in named)


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("$core setMREDMode WRED", None),
        ("$core set ecn_ 1", "ecn_ of Queue/dsRED"),
        ("$core configQ 0 1 10 20 0.1 0.01", "precedences of Queue/dsRED with weights of their own"),
        ("$core configQ 0 1 20 20 0.1", "thresholds 20 and 20 of Queue/dsRED"),
        ('$ns at 3.0 "$core configQ 0 1 1 2 0.1"', "Queue/dsRED/core configQ at 3.0 s"),
        ("$core nonsense", "Queue/dsRED/core nonsense is not carried over"),
    ],
)
def test_what_differs_is_named(study, more, named):
    differences = study(more, approximate=True).differences
    assert [named in one for one in differences] == [True] * (named is not None)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ([["s:1", "addPolicyEntry", "0", "1", "EW", "10"]], "s:1: addPolicyEntry EW of Queue/dsRED is not read"),
        ([["s:2", "configQ", "0", "0", "5"]], 's:2: "configQ 0 0 5" of Queue/dsRED is not complete'),
        ([["s:3", "setSchedularMode", "FAIR"]], "s:3: setSchedularMode FAIR of Queue/dsRED is not read"),
        ([["s:4", "addPHBEntry", "x", "0", "0"]], 's:4: "addPHBEntry x 0 0" of Queue/dsRED is not complete'),
    ],
)
def test_commands_that_are_not_read_are_named_with_their_line(told, message):
    with pytest.raises(InputError) as error:
        Commands.of(told)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"$q addPHBEntry 10 0 0": "", "$q addPHBEntry 11 0 1": ""}, "this dsRED queue has no code points"),
        ({"$q configQ 0 1 10 20 0.10": ""}, "queue 0 of Queue/dsRED has no thresholds of precedence 1"),
        ({"$q setNumPrec 2": "$q setMREDMode DROP"}, "DROP with several precedences"),
    ],
)
def test_queues_that_are_not_complete(study, words, message):
    with pytest.raises(InputError, match=message):
        study(**words)
