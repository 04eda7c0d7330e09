"""Hostile ns-2 studies."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from aqmlab.interop.importing import reading, recording
from attacks.tally import Tally, command

STUDY = """\
set ns [new Simulator]
set a [$ns node]
set b [$ns node]
$ns duplex-link $a $b 1Mb 10ms RED
Queue/RED set thresh_ 5
set tcp [new Agent/TCP/Newreno]
$tcp set window_ 40
set sink [new Agent/TCPSink]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
set ftp [new Application/FTP]
$ftp attach-agent $tcp
$ns at 0.5 "$ftp start"
proc finish {} { global ns; exit 0 }
$ns at 5.0 "finish"
$ns run
"""


HOSTILE = [
    *("while 1 {}", "set x x; while 1 {append x $x}", "expr {3**100000000}", "expr {9**9**9}"),
    *("string repeat x 1000000000", "exec touch /tmp/owned-by-a-study", "open /etc/passwd", "source /etc/passwd"),
    *("load /lib/x.so", "socket localhost 1", "interp alias {} exec {} exec", "interp create x", "cd /", "glob /*"),
    *("package require http", "file delete /tmp/x", "proc recorder::dump {} {return {a b}}", "proc p {} {p}; p"),
    *("proc recorder::text {} {}", "namespace delete recorder", "rename puts {}", "set recorder::links _o1"),
    *("set recorder::connections {{_o1 _o2 _o3}}", "set recorder::now -1", "unset ns", "error {\x1b[31m}", "vwait x"),
    *("foreach v [info vars ::recorder::*] {set $v {}}", "set recorder::end 1e400", 'error "a\\nb"', "after 1e9"),
    *("Class {\n[run]\n}", "for {set i 0} {$i<1e5} {incr i} {new Agent/TCP}", "$ns at nan {}", "$ns at 1e400 {puts x}"),
    *("set n [new Node]; $ns duplex-link $a $n -5Mb 1ms RED", "$ns duplex-link $a $a 1Mb 1ms RED"),
    "regexp (a*)*b [string repeat a 40]",
]


def studies(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Hostile and mutated ns-2 studies; those that would end the interpreter in a process of their own."""
    owned = Path("/tmp/owned-by-a-study")
    recording.SECONDS = 2
    recording.MEMORY_MB = 200
    dangerous = ("while 1", "**", "append", "string repeat", "p {} {p}", "regexp", "1e5", "after", "vwait")
    whole, here = reading.record, recording.record_here
    while left():
        lines = STUDY.split("\n")
        for _ in range(chance.randint(1, 3)):
            lines.insert(chance.randrange(len(lines)), chance.choice(HOSTILE))
        text = "\n".join(lines)
        if chance.random() < 0.3:
            data = bytearray(text.encode())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(7)
            text = data.decode(errors="replace")
        if "new Simulator" not in text:
            continue
        apart = any(word in text for word in dangerous)
        if apart and chance.random() < 0.8:
            continue  # a process takes seconds; most cases are quick ones
        reading.record = whole if apart else here
        (folder / "study.tcl").write_text(text)
        with tally.case(text):
            code = command(tally, ["import", str(folder / "study.tcl"), "--out", str(folder / "study.toml")], text)
            tally.note(f"code {code}{', own process' if apart else ''}")
            if code == 0 and "exec" in (folder / "study.toml").read_text().replace("# ", ""):
                scenario = (folder / "study.toml").read_text()
                if any(line.startswith("exec") for line in scenario.splitlines()):
                    tally.find(f"a command in the scenario: {text}")
        if owned.exists():
            tally.find(f"a study has run a program: {text}")
            return
