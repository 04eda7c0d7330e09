"""DualPI2 as a module for Linux: its decisions in user space equal those of the core, and faults are found."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import export_module, kernel_queue, module_files
from aqmlab.interop.kernel.export_bpf import export_bpf
from aqmlab.interop.kernel.replay import replay_decisions
from aqmlab.live.tc import module
from aqmlab.live.tc.failure import read_record
from aqmlab.live.tc.outcome import unpacked
from aqmlab.live.vm import archive, machine
from aqmlab.live.vm import backend as vm
from aqmlab.results.outputs import write_export
from programs import HEADERS, compiler_of, needs, needs_headers, require
from test_kernel_module import ARRIVALS, UNCHECKED, run, scenario
from test_kernel_qdisc import bootable, plan  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow

DUALPI2 = 'aqm = "dualpi2"\ndialect = "linux"\n'
SLOW = "alpha = 0.01\nbeta = 0.1\n"
"""Gains with which the probability stays between 0 and 1 for long."""
QUEUES = {
    "defaults": DUALPI2,
    "slow": DUALPI2 + SLOW + 'limit = "150p"\n',
    "other settings": DUALPI2
    + SLOW
    + 'limit = "600p"\ntarget = "5ms"\nt_update = "10ms"\nl4s_min_th = "0.5ms"\nl4s_min_packets = 2\ncoupling = 3\n'
    + 'classic_share = 0.25\nmax_packet = "9014B"\n',
    "overflow": DUALPI2 + SLOW + 'limit = "200p"\noverload = "overflow"\n',
    "arriving": DUALPI2 + SLOW + 'limit = "200kB"\ndecide = "arriving"\n',
    "memory": DUALPI2 + 'memlimit = "300kB"\nmax_packet = "0B"\nalpha = 0.004\n',
}
SOURCE = "dualpi2.c"


def exported(tmp_path, queue):
    """Export a queue's module; return the scenario's file and the folder."""
    file, folder = scenario(tmp_path, queue), tmp_path / "module"
    export_module(file, link="bottleneck", out=folder)
    return file, folder


@pytest.mark.parametrize("name", QUEUES)
def test_the_c_decides_as_the_core_bit_by_bit(name, tmp_path):
    file, folder = exported(tmp_path, QUEUES[name])
    replayed = replay_decisions(file, run(folder, source=SOURCE), link="bottleneck")
    assert replayed.difference is None, str(replayed.difference)
    # Packets are decided about as they arrive and as they leave.
    assert replayed.decisions > 1.5 * ARRIVALS
    assert replayed.drops > 1000
    assert replayed.marks > 1000


FAULTS = {
    "base probability": ("q->delay) * AQMLAB_BETA", "q->delay) * (AQMLAB_BETA + 1)"),
    "delay of the last step in ns": ("now - q->fifo[i].oldest > delay)", "now - q->fifo[i].oldest > delay + 1000)"),
    "draws": ("(u64)q->p * AQMLAB_COUPLING", "(u64)q->p * (AQMLAB_COUPLING + 1)"),
    "packets dropped as they left": ("draw <= p;", "draw / 2 <= p;"),
    "verdict": ("packet->arrival > AQMLAB_STEP_NS", "packet->arrival > AQMLAB_STEP_NS + 1000000"),
    "credit": ("(u32)weight * bytes", "(u32)weight * (bytes + 1)"),
    "departure": ("q->credit <= 0", "q->credit < 1000"),
    "outcome": ("!overload && (tos & 3)", "(tos & 3)"),
    "limit": ("aqmlab_packets(q) >= q->limit", "aqmlab_packets(q) > q->limit"),
}
SEEN_AS = {"limit": {"verdict"}, "packets dropped as they left": {"draws"}}
SEEN_AS |= {"outcome": {"outcome", "packets dropped as they left", "departure"}, "draws": {"draws", "verdict"}}
"""The replay's first finding, if not the fault itself."""


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_in_the_c_is_found(what, tmp_path):
    file, folder = exported(tmp_path, QUEUES["slow"])
    text = (folder / "dualpi2.h").read_text()
    right, wrong = FAULTS[what]
    assert right in text
    (folder / "dualpi2.h").write_text(text.replace(right, wrong))
    difference = replay_decisions(
        file, run(folder, 20_000, source=SOURCE, options=UNCHECKED), link="bottleneck"
    ).difference
    assert difference is not None
    assert difference.what in SEEN_AS.get(what, {what})


@needs_headers
def test_the_module_compiles_without_a_warning(tmp_path):
    require("make", compiler_of(HEADERS[-1].parent))
    _, folder = exported(tmp_path, DUALPI2)
    words = ["make", "-C", str(folder), f"KERNEL={HEADERS[-1].parent}", "W=1", f"C={int(bool(shutil.which('sparse')))}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in (done.stdout + done.stderr).splitlines() if ": warning" in line] == []


@needs("make", "cc")
def test_the_plugin_of_tc_compiles_without_a_warning(tmp_path):
    _, folder = exported(tmp_path, DUALPI2)
    done = subprocess.run(["make", "-C", str(folder), "plugin"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr


def test_the_files_of_the_module(tmp_path):
    file = scenario(tmp_path, DUALPI2 + 'target = "5ms"\n')
    paths, queue = export_module(file, link="bottleneck", out=tmp_path / "out", name="l4s")
    assert (paths[0].name, queue.kind) == ("sch_aqmlab_l4s.c", "aq_l4s")
    files = module_files(queue)
    assert {"dualpi2.h", "shared.h", "record.h", "log.h", "options.h", "README.md"} <= set(files)
    assert "decision.h" not in files
    assert "#define AQMLAB_TARGET_NS        5000000ULL" in files["parameters.h"]
    assert "#define AQMLAB_ALPHA            44U" in files["parameters.h"]
    for name, text in files.items():
        assert "@" not in text.replace("$@", ""), name
    assert "idle_when" not in files["README.md"]
    assert "limit 50\n" in files["README.md"]


def test_another_dialect_and_bpf_are_errors_of_one_line(tmp_path, capsys):
    file = scenario(tmp_path, 'aqm = "dualpi2"\n')
    with pytest.raises(InputError) as error:
        export_module(file, link="bottleneck", out=tmp_path / "out")
    assert str(error.value).endswith(
        'queue.bottleneck.dialect: a module computes DualPI2 in the integers of Linux (allowed: "linux")'
    )
    with pytest.raises(InputError, match=r'a BPF qdisc cannot express aqm = "dualpi2" \(allowed: RED and'):
        export_bpf(file, link="bottleneck", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    words = ["export", str(file), "--to", "kernel", "--link", "bottleneck", "--out", str(tmp_path / "out")]
    assert main([*words, "--set", "queue.bottleneck.dialect=linux", "--name", "l4s"]) == 0
    assert "sch_aqmlab_l4s.c" in capsys.readouterr().out


JOB = """\
try() { what=$1; shift; "$@" > /tmp/said 2>&1
    code=$?; text=$(head -n 1 /tmp/said | tr -d '"')
    echo "{\\"kind\\":\\"$what\\",\\"code\\":$code,\\"text\\":\\"$text\\"}" >&3; }
show() { echo "{\\"kind\\":\\"$1\\",\\"data\\":$($tc -j -s qdisc show dev va | tr -d '\\n')}" >&3; }
tc=/usr/sbin/tc
export TC_LIB_DIR=/job
mount -t debugfs debugfs /sys/kernel/debug
$IP link add va address 02:00:00:00:00:01 type veth peer name vb address 02:00:00:00:00:02
$IP netns add far
$IP link set vb netns far
$IP link set va up
$IP -n far link set vb up
$IP addr add 10.9.0.1/24 dev va
$IP -n far addr add 10.9.0.2/24 dev vb
for port in 1 2; do $IP netns exec far iperf3 -s -D -p $port > /dev/null 2>&1; done
sleep 0.5
load() {
    iperf3 -c 10.9.0.2 -p 1 -u -b 2M -l 300 -t $1 -S 1 > /dev/null 2>&1 &
    one=$!
    iperf3 -c 10.9.0.2 -p 2 -u -b 2M -l 500 -t $1 -S 2 > /dev/null 2>&1 &
    wait $one $!
}
must() { "$@" > /dev/null 2> /tmp/said || try "must $*" false; }
must insmod /job/sch_aqmlab_l4s.ko log=60000
for parent in tbf htb; do
    [ $parent = tbf ] && must $tc qdisc add dev va root handle 1: tbf rate 3mbit burst 1600 limit 1000000
    [ $parent = htb ] && must $tc qdisc add dev va root handle 1: htb default 1
    [ $parent = htb ] && must $tc class add dev va parent 1: classid 1:1 htb rate 3mbit
    must $tc qdisc add dev va parent 1:1 handle 10: aq_l4s limit 400
    load 1
    show "busy $parent"
    sleep 2
    show "idle $parent"
    [ $parent = tbf ] || break
    must $tc qdisc del dev va root
done
log=$(gzip -c < /sys/kernel/debug/sch_aqmlab_l4s/decisions | base64 -w 0)
echo "{\\"kind\\":\\"decisions\\",\\"data\\":\\"$log\\"}" >&3
try change $tc qdisc change dev va parent 1:1 handle 10: aq_l4s limit 90
try shown sh -c "$tc qdisc show dev va | tail -n 1"
try "min" $tc qdisc change dev va parent 1:1 handle 10: aq_l4s min 4
load 1
try remove $tc qdisc del dev va root
try unload rmmod sch_aqmlab_l4s
dmesg | grep -E "BUG|Oops|WARNING|Call Trace|non-work" > /tmp/said
try dmesg cat /tmp/said
"""


def test_in_a_kernel_below_tbf_and_htb(bootable, tmp_path):  # noqa: F811 - the fixture
    """Parents count the packets that the queue has, also where it drops while they dequeue; tc shows and changes it."""
    require("gcc")
    image, _ = bootable
    slow = {"aqm": "dualpi2", "dialect": "linux", "limit": "400p"}
    queue = kernel_queue(plan(**{"queue.bottleneck": slow}).scenario, link="bottleneck", name="l4s")
    files = {f"job/{queue.module}.ko": archive.file(vm.compiled(queue, image).program)}
    write_export(tmp_path / "l4s", module_files(queue))
    subprocess.run(["make", "-s", "plugin"], cwd=tmp_path / "l4s", check=True)
    files["job/q_aq_l4s.so"] = archive.file((tmp_path / "l4s" / "q_aq_l4s.so").read_bytes())
    found = {one["kind"]: one for one in map(read_record, machine.boot(image, JOB, seed=1, files=files).lines)}
    assert {what for what, one in found.items() if one.get("code")} == {"min"}, found
    assert "limit can be set, the rest is built in" in found["min"]["text"]
    assert found["dmesg"]["text"] == ""
    shown = "limit 90p target 15ms tupdate 16ms alpha 0.160156 beta 3.19922 step_thresh 1ms min_qlen_step 0p"
    assert f"{shown} coupling_factor 2 classic_protection 10% memlimit " in found["shown"]["text"]
    assert found["shown"]["text"].endswith("drop_on_overload drop_dequeue ")
    for parent in ("tbf", "htb"):
        busy, idle = ({one["kind"]: one for one in found[f"{when} {parent}"]["data"]} for when in ("busy", "idle"))
        for told in (busy, idle):
            for count in ("packets", "qlen", "backlog"):
                assert told[parent][count] == told["aq_l4s"][count], (parent, count)
        assert busy["aq_l4s"]["early"] > 0
        assert idle["aq_l4s"]["qlen"] == idle["aq_l4s"]["packets_l"] == idle["aq_l4s"]["packets_c"] == 0
    replayed = module.replayed(queue, unpacked([found["decisions"]["data"]]))
    assert replayed.drops > 100
    assert replayed.marks > 100
