"""Hostile ns-2 studies: no memory, no time, no lines of their own in the scenario, one message."""

import time
import tomllib
from pathlib import Path

import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.importing import reading, recording

STUDY = """\
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 1Mb 10ms DropTail
set tcp [new Agent/TCP]
set sink [new Agent/TCPSink]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.0 "$ftp start"
$ns at 5.0 "$ns halt"
%s
$ns run
"""


@pytest.fixture
def imported(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "SECONDS", 1)
    monkeypatch.setattr(recording, "RUNS", 2)  # so many times a second of processor time for all runs, in place of five
    monkeypatch.setattr(recording, "MEMORY_MB", 100)

    def work(lines, **options):
        path = Path(tmp_path) / "study.tcl"
        path.write_text(STUDY % lines)
        return aqmlab.import_scenario(path, **options)

    return work


@pytest.mark.slow
def test_an_ordinary_study_is_read_within_the_limits(imported):
    assert len(imported("").scenario.flows) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        "expr {3**100000000}",
        "while 1 {}",
        "proc p {} {p2}; proc p2 {} {while 1 {}}; p",
        '$ns at 1.0 "while 1 {}"',
    ],
)
def test_one_that_does_not_end(imported, lines):
    begun = time.monotonic()
    with pytest.raises(InputError, match=r"longer than 1 s|limit exceeded|more than 100 MB"):
        imported(lines)
    assert time.monotonic() - begun < 30


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        "set x x; while 1 {append x $x}",
        "for {set i 0} {1} {incr i} {set big($i) [string repeat z 1000000]}",
        "string repeat x 2000000000",
    ],
)
def test_one_that_fills_memory_ends_no_process_but_its_own(imported, lines):
    with pytest.raises(InputError, match=r"more than 100 MB|longer than 1 s|limit exceeded|out of memory"):
        imported(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "proc recorder::dump {} {return nonsense}",
        "proc recorder::dump {} {return {a}}",
        "proc recorder::dump {} {return {objects {} links {} agents {} connections {} actions {} changes {}}}",
        "proc recorder::dump {} {error x}",
        "proc recorder::names {} {return {a b c}}",
        "proc recorder::simulate {n} {return \\{}",
        "namespace delete recorder",
        "set recorder::links {_o99}",
        "set recorder::actions {{x y z w}}",
        "set recorder::connections {{1}}",
        "array set recorder::object {_o1 {class \\{}}",
        "rename set {}",
        "rename expr {}",
        "set recorder::ended x",
        "set recorder::now nan",
        "proc info args {return \\{}",
    ],
)
def test_one_that_changes_what_reads_it_is_one_line(imported, lines, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reading, "record", recording.record_here)  # a process each takes a second
    (tmp_path / "study.tcl").write_text(STUDY % lines)
    code = main(["import", str(tmp_path / "study.tcl")])
    said = capsys.readouterr().err
    assert "internal error" not in said
    assert code == 0 or (code == 2 and said.count("\n") == 1 and "study.tcl" in said), said


@pytest.mark.slow
def test_one_that_would_write_lines_into_the_scenario(imported):
    text = imported('$ns {\n[[flow]]\nname = "x"\nexec = "touch /tmp/owned"\n# }', approximate=True).text
    assert not any("exec" in flow for flow in tomllib.loads(text)["flow"])
    assert "owned" in text
    assert all(line.startswith("#") for line in text.splitlines() if "owned" in line)
