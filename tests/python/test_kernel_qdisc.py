"""A discipline inside the kernel of the emulated machine: its job, its log, and one whole run."""

from __future__ import annotations

import base64
import gzip
import io
import json
import os
import struct
import subprocess
import tarfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from aqmlab.cli import main
from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import kernel_queue, module_files
from aqmlab.interop.kernel.replay import replay_decisions
from aqmlab.live import running
from aqmlab.live.kernel_backends import Bottleneck
from aqmlab.live.plan import live_plan
from aqmlab.live.tc import module
from aqmlab.live.tc.failure import read_record
from aqmlab.live.tc.job import Options, script
from aqmlab.live.tc.module import KernelModule
from aqmlab.live.tc.outcome import PeerRun, unpacked
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm import archive, headers, kernels, machine
from aqmlab.live.vm import backend as vm
from aqmlab.live.vm.build import Image, cache
from aqmlab.live.vm.suites import Suites
from aqmlab.results.outputs import write_export
from aqmlab.scenario.file import Scenario
from programs import EMULATOR, require

DATA = Path(__file__).parents[1] / "data" / "vm"
RED = {"aqm": "red", "limit": "60p", "min_th": "5p", "max_th": "15p", "max_p": 0.1, "w_q": 0.02}
SHORT = {"run.duration": "3s", "run.warmup": "1s", "queue.bottleneck": RED}
RELEASE = "6.1.0-50-cloud-amd64"


def plan(**overrides):
    """Return a short plan of five TCP flows through RED."""
    return live_plan(Scenario.load(DATA / "red-tcp.toml", overrides=SHORT | overrides), seed=1)


def record(sequence, kind, *, time_ns=0, verdict=0, outcome=0):
    """Return a record of a log."""
    return struct.pack("<QQ10I8B", time_ns, 0, sequence, *[0] * 9, kind, verdict, outcome, *[0] * 5)


def finished(log, lost=0, start_ms=1000):
    """Return a run whose job reported a log, in two parts."""
    text = base64.b64encode(gzip.compress(log)).decode()
    told = (DATA / "red-tcp.jsonl.gz").read_bytes()
    lines = gzip.decompress(told).decode().splitlines()
    lines += [json.dumps({"kind": "start", "data": start_ms}), json.dumps({"kind": "lost", "data": lost})]
    lines += [json.dumps({"kind": "decisions", "data": part}) for part in (text[:12], text[12:])]
    return PeerRun(setting_of(plan()), tuple(lines), {}, 0.1)


class TestJob:
    def test_it_loads_the_module_empties_its_log_and_removes_it(self):
        text = script(setting_of(plan()), Options(module="sch_aqmlab_red"))
        subprocess.run(["sh", "-n"], input=text, text=True, check=True)
        lines = text.splitlines()
        load = lines.index('must insmod "$JOB/sch_aqmlab_red.ko" log=65536')
        attach = next(at for at, line in enumerate(lines) if "parent 1:1 handle 10:" in line)
        assert load < attach
        removed = text.index("tc qdisc del dev rb root")
        assert removed < text.index("must rmmod sch_aqmlab_red")
        assert text.count("/sys/kernel/debug/sch_aqmlab_red/decisions >>") == 2

    def test_without_a_module_it_has_none_of_it(self):
        text = script(setting_of(plan()))
        assert "insmod" not in text
        assert "debugfs" not in text

    def test_data_begin_with_the_time_to_live_that_is_the_scenarios_behind_the_router(self):
        assert "hoplimit" not in script(setting_of(plan()))
        assert " congctl cubic hoplimit 60" in script(setting_of(plan(**{"flow.tcp.ttl": 60})))


class TestOutcome:
    LOG = b"".join([
        record(0, 3),
        record(1, 0, time_ns=1_500_000_000, verdict=1, outcome=2),
        record(2, 0, time_ns=2_500_000_000, verdict=1, outcome=2),
        record(3, 0, time_ns=2_600_000_000, verdict=3, outcome=2),
        record(4, 0, time_ns=2_700_000_000, verdict=1, outcome=1),
        record(5, 0, time_ns=2_800_000_000, verdict=2, outcome=1),
        record(6, 1, time_ns=2_900_000_000),
        record(7, 0, time_ns=3_000_000_000),
    ])  # fmt: skip

    def test_the_log_is_what_was_reported(self):
        assert module.log_of(finished(self.LOG)) == self.LOG

    def test_lost_records_are_an_error_of_one_line(self):
        with pytest.raises(InputError, match=r"^the module's log had no room for 7 records$"):
            module.log_of(finished(self.LOG, lost=7))

    def test_marks_and_drops_are_those_of_the_log_after_the_warm_up(self):
        (links,) = module.tables(finished(self.LOG), self.LOG)["links"].to_pylist()
        counts = ("drops", "drops_early", "drops_forced", "drops_overflow", "marks", "marks_early")
        assert [links[name] for name in counts] == [2, 1, 0, 1, 2, 1]

    def test_a_difference_is_an_error_of_one_line(self):
        queue = kernel_queue(plan().scenario, name="red")
        with pytest.raises(InputError, match=r"^the kernel and the core differ: record 1 \(1\.500000000 s\): "):
            module.replayed(queue, self.LOG)


def test_overrides_are_those_of_a_loaded_scenario_too():
    changed = kernel_queue(plan().scenario, overrides={"queue.bottleneck.limit": "61p"})
    assert "#define AQMLAB_LIMIT" in module_files(changed)["parameters.h"]
    assert changed.scenario.text == plan().scenario.text
    assert (
        module_files(changed)["parameters.h"] != module_files(kernel_queue(plan().scenario, name="red"))["parameters.h"]
    )


class TestPackedLogs:
    def test_a_whole_one_is_unpacked(self, tmp_path):
        (tmp_path / "log.gz").write_bytes(gzip.compress(record(0, 3)))
        assert replay_decisions(plan().scenario, tmp_path / "log.gz").records == 1

    @pytest.mark.parametrize("content", [b"no gzip", gzip.compress(record(0, 3))[:-9]], ids=["no gzip", "cut short"])
    def test_another_is_one_line(self, content, tmp_path):
        (tmp_path / "log.gz").write_bytes(content)
        with pytest.raises(InputError, match=r"log\.gz: is not a whole file of gzip$"):
            replay_decisions(plan().scenario, tmp_path / "log.gz")


class TestRefusals:
    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["--kernel-qdisc"], "--kernel-qdisc: is for --backend tc or vm"),
            (["--kernel", "6.12", "--backend", "tc"], "--kernel: is for --backend vm"),
            (
                ["--backend", "vm", "--kernel-qdisc", "--qdisc", "pie"],
                "--kernel-qdisc and --qdisc: both choose the discipline; give one of them",
            ),
            (
                ["--backend", "vm", "--kernel", "six"],
                '--kernel: "six" is not a version of Linux (for example: 6.1 or 6.12.57)',
            ),
        ],
    )
    def test_what_does_not_go_together_is_one_line(self, words, says, capsys, monkeypatch, tmp_path):
        monkeypatch.setattr("aqmlab.live.rootless.is_privileged", lambda: True)
        assert main(["live", str(DATA / "red-tcp.toml"), *words, "--out", str(tmp_path)]) != 0
        assert capsys.readouterr().err == f"aqmlab: {says}\n"

    def test_a_queue_that_a_module_cannot_have_is_one_line(self, tmp_path, monkeypatch):
        monkeypatch.setattr("aqmlab.live.vm.build.find", lambda: Image(tmp_path, {"kernel": RELEASE}))
        codel = {"queue.bottleneck": {"aqm": "codel"}}
        with pytest.raises(InputError, match=r"queue\.bottleneck: a module cannot express aqm = \"codel\""):
            running.run(DATA / "red-tcp.toml", backend="vm", kernel_qdisc=True, overrides=SHORT | codel, runs=1)

    def test_a_run_that_fails_leaves_no_folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr("aqmlab.live.vm.build.find", lambda: Image(tmp_path, {"kernel": RELEASE}))
        codel = {"queue.bottleneck": {"aqm": "codel"}}
        words = {"backend": "vm", "kernel_qdisc": True, "overrides": SHORT | codel, "runs": 1, "progress": False}
        with pytest.raises(InputError, match="a module cannot express aqm"):
            running.run(DATA / "red-tcp.toml", out=tmp_path / "new" / "results", **words)
        assert list(tmp_path.iterdir()) == []

    def test_a_run_that_fails_leaves_the_results_of_others(self, tmp_path, monkeypatch):
        monkeypatch.setattr("aqmlab.live.vm.build.find", lambda: Image(tmp_path, {"kernel": RELEASE}))
        own = Scenario.load(DATA / "red-tcp.toml", overrides=SHORT | {"queue.bottleneck": {"aqm": "codel"}})
        folder = running.live_folder(tmp_path, own, Bottleneck("vm", in_module=True))
        (folder / "seed-0009").mkdir(parents=True)
        with pytest.raises(InputError, match="a module cannot express aqm"):
            running.run(own, backend="vm", kernel_qdisc=True, runs=1, out=tmp_path, progress=False)
        assert (folder / "seed-0009").is_dir()

    def test_an_error_of_the_compiler_is_one_line(self, tmp_path, monkeypatch):
        require("make")
        (tmp_path / "Makefile").write_text("modules:\n\t@echo 'x.c:1: error: what is this' >&2; exit 1\n")
        monkeypatch.setattr(vm, "headers", lambda release, tell: tmp_path)
        with pytest.raises(InputError, match=rf"^the module cannot be compiled with {tmp_path}: x\.c:1: error: what"):
            vm.compiled(kernel_queue(plan().scenario, name="red"), Image(tmp_path, {"kernel": RELEASE}))


class TestHeaders:
    def package(self, files):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(f"./{name}")
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        data.seek(0)
        return tarfile.open(fileobj=data)

    def test_those_of_this_machine_are_taken(self, tmp_path):
        own = tmp_path / RELEASE / "build"
        own.mkdir(parents=True)
        (own / "Makefile").touch()
        assert headers.headers(RELEASE, tmp_path / "cache", installed=tmp_path) == own

    def test_others_are_fetched_once_and_find_their_other_half(self, tmp_path, monkeypatch):
        name, common = f"linux-headers-{RELEASE}", "linux-headers-6.1.0-50-common"
        asked = []

        @contextmanager
        def fetched(self, names):
            asked.append(list(names))
            makefile = f"include /usr/src/{common}/Makefile\n".encode()
            yield [self_.package({f"usr/src/{name}/Makefile": makefile, "usr/share/doc/x": b""})], []

        self_ = self
        monkeypatch.setattr(Suites, "update", lambda self: None)
        monkeypatch.setattr(Suites, "names", lambda self, beginning: [name])
        monkeypatch.setattr(Suites, "depends", lambda self, name: [common, "linux-kbuild-6.1", "gcc-12"])
        monkeypatch.setattr(Suites, "packages", fetched)
        for _ in range(2):
            place = headers.headers(RELEASE, tmp_path, installed=tmp_path, tell=lambda line: None)
        assert asked == [[name, common, "linux-kbuild-6.1"]]
        root = tmp_path / kernels.FOLDER / "headers" / RELEASE
        assert place == root / "usr/src" / name
        assert (place / "Makefile").read_text() == f"include {root}/usr/src/{common}/Makefile\n"
        assert not (root / "usr/share").exists()
        assert sorted(path.name for path in root.parent.iterdir()) == [RELEASE]

    def test_what_apt_does_not_serve_is_one_line(self, tmp_path, monkeypatch):
        monkeypatch.setattr(Suites, "update", lambda self: None)
        monkeypatch.setattr(Suites, "names", lambda self, beginning: [])
        with pytest.raises(InputError, match=rf"^no headers of Linux {RELEASE}: apt serves no package linux-headers-"):
            headers.headers(RELEASE, tmp_path, installed=tmp_path, tell=lambda line: None)


@pytest.fixture(scope="module")
def bootable() -> tuple[Image, KernelModule]:
    """Return an image and a module for its kernel. Only where AQMLAB_TESTS_FETCH is set are they fetched with apt."""
    require(*EMULATOR, "make")
    if os.environ.get("AQMLAB_TESTS_FETCH"):
        try:
            (image,) = kernels.images(["6.1"])
            return image, vm.compiled(kernel_queue(plan().scenario, name="red"), image)
        except InputError as error:
            # Other machines than Debian's have no such kernel.
            pytest.skip(str(error))
    for image in kernels.in_cache(cache() / kernels.FOLDER):
        place = cache() / kernels.FOLDER / "headers" / image.release
        if place.is_dir() or (headers.INSTALLED / image.release / "build" / "Makefile").is_file():
            try:
                return image, vm.compiled(kernel_queue(plan().scenario, name="red"), image)
            except InputError:
                # The kernel was built by a compiler that this machine lacks.
                continue
    pytest.skip("no kernel of the cache has its headers (aqmlab live --backend vm --kernel 6.12 --kernel-qdisc)")


@pytest.mark.slow
def test_the_kernel_decides_as_the_core_bit_by_bit(bootable):
    image, made = bootable
    run = vm.run(plan(), image=image, module=made)
    found = module.replayed(made.queue, module.log_of(run))
    assert found.decisions > 1500
    assert found.drops > 20


ABUSE = """\
said() {
    text=$(head -n 1 /tmp/said | tr -d '"')
    echo "{\\"kind\\":\\"said\\",\\"what\\":\\"$1\\",\\"code\\":$2,\\"text\\":\\"$text\\"}" >&3
}
try() { what=$1; shift; "$@" > /tmp/said 2>&1; said "$what" $?; }
tc=/usr/sbin/tc
mount -t debugfs debugfs /sys/kernel/debug
$IP link add va address 02:00:00:00:00:01 type veth peer name vb address 02:00:00:00:00:02
$IP netns add far
$IP link set vb netns far
$IP link set va up
$IP -n far link set vb up
$IP addr add 10.9.0.1/24 dev va
$IP -n far addr add 10.9.0.2/24 dev vb
try "more memory than there is" insmod /job/sch_aqmlab_red.ko log=4000000000
try load insmod /job/sch_aqmlab_red.ko log=1000
try options $tc qdisc add dev va root aq_red limit 100
try add $tc qdisc add dev va root handle 1: aq_red
try "change without options" $tc qdisc change dev va root handle 1: aq_red
try "unload in use" rmmod sch_aqmlab_red
$IP netns exec far iperf3 -s -D > /dev/null 2>&1
sleep 0.5
iperf3 -c 10.9.0.2 -u -b 60M -l 300 -t 4 > /dev/null 2>&1 &
iperf3 -c 10.9.0.2 -p 9 -t 1 > /dev/null 2>&1
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
    $tc qdisc replace dev va root handle 1: tbf rate 5mbit burst 3000 limit 1000000
    $tc qdisc replace dev va parent 1: handle 10: aq_red
    sleep 0.2
    arping -c 1 -w 1 -I va 10.9.0.2 > /dev/null 2>&1
    $tc qdisc replace dev va root handle 2: aq_red
    sleep 0.05
done
wait
$tc qdisc replace dev va root handle 1: tbf rate 5mbit burst 3000 limit 1000000
$tc qdisc replace dev va parent 1: handle 10: aq_red
iperf3 -c 10.9.0.2 -u -b 20M -l 300 -t 1 > /dev/null 2>&1
echo "{\\"kind\\":\\"counts\\",\\"data\\":$($tc -j -s qdisc show dev va | tr -d '\\n')}" >&3
cat /sys/kernel/debug/sch_aqmlab_red/lost > /tmp/said; said lost 0
try remove $tc qdisc del dev va root
try unload rmmod sch_aqmlab_red
try again insmod /job/sch_aqmlab_red.ko
try "unload again" rmmod sch_aqmlab_red
dmesg | grep -E "BUG|Oops|WARNING|Call Trace|leak" > /tmp/said; said dmesg 0
"""


@pytest.mark.slow
def test_abuse_ends_in_errors_and_leaves_nothing(bootable):
    image, made = bootable
    files = {"job/sch_aqmlab_red.ko": archive.file(made.program)}
    told = [read_record(line) for line in machine.boot(image, ABUSE, seed=1, files=files).lines]
    found = {one["what"]: one for one in told if one["kind"] == "said"}
    failed = {"more memory than there is", "options", "unload in use"}
    assert {what for what, one in found.items() if one["code"]} == failed, found
    assert "Cannot allocate memory" in found["more memory than there is"]["text"]
    assert "busy" in found["unload in use"]["text"] or "temporarily unavailable" in found["unload in use"]["text"]
    assert found["dmesg"]["text"] == ""
    assert int(found["lost"]["text"]) > 0
    (counts,) = [one["data"] for one in told if one["kind"] == "counts"]
    bucket, own = counts
    assert own["kind"] == "aq_red"
    assert own["drops"] > 0
    # A packet that left the module's queue has left the bucket too.
    assert bucket["packets"] == own["packets"]
    assert bucket["qlen"] == own["qlen"]
    assert bucket["backlog"] == own["backlog"]


DDRED = {"aqm": "ddred", "limit": "60p", "min_th": "5p", "max_th": "15p", "max_p": 0.1, "w_q": 0.02, "ties": "random"}


@pytest.mark.slow
def test_on_two_processors_every_decision_is_the_cores(bootable):
    """The guest's processors run at once; each packet's sender and the link may be on different ones."""
    image, _ = bootable
    one = plan(**{"queue.bottleneck": DDRED})
    made = vm.compiled(kernel_queue(one.scenario), image)
    job = script(setting_of(one, qdisc=made.qdisc), Options(module=made.queue.module))
    job = 'echo "{\\"kind\\":\\"processors\\",\\"data\\":$(nproc)}" >&3\n' + job
    files = {f"job/{made.queue.module}.ko": archive.file(made.program)}
    told = machine.boot(image, job, seed=1, files=files, processors=2)
    run = PeerRun(setting_of(one, qdisc=made.qdisc), told.lines, {}, 0.1)
    assert run.of_kind("processors")[0]["data"] == 2
    found = module.replayed(made.queue, module.log_of(run))
    # The guest runs in real time, so a busy machine offers it fewer packets.
    assert found.decisions > 100
    assert found.drops > 5


@pytest.mark.slow
def test_a_paper_with_a_marker_runs_from_the_command_line(bootable, tmp_path, capsys):
    image, _ = bootable
    shorter = ("run.duration=3s", "run.warmup=1s", 'flow.assured.active=[["500ms", "3s"]]')
    words = ["--backend", "vm", "--kernel", image.release, "--kernel-qdisc", "--runs", "1", "--out", str(tmp_path)]
    words += [word for one in shorter for word in ("--set", one)]
    assert main(["live", "paper:adaptive-rio/live.toml", *words]) == 0
    assert "decisions of the kernel equal bit by bit to the core's" in capsys.readouterr().out
    (log,) = tmp_path.glob("*/seed-0001/decisions.bin.gz")
    content = gzip.decompress(log.read_bytes())
    # The policer leaves some packets of the assured flow their code point, AF11, and takes it from others.
    tos = {content[at + 59] >> 2 for at in range(0, len(content), 64) if content[at + 56] == 0}
    assert tos == {0, 10}


PARAMETERS = """\
try() { what=$1; shift; "$@" > /tmp/said 2>&1
    code=$?; text=$(head -n 1 /tmp/said | tr -d '"')
    echo "{\\"kind\\":\\"$what\\",\\"code\\":$code,\\"text\\":\\"$text\\"}" >&3; }
show() { echo "{\\"kind\\":\\"$1\\",\\"data\\":$($tc -j -s qdisc show dev va | tr -d '\\n')}" >&3; }
tc=/usr/sbin/tc
export TC_LIB_DIR=/job
mount -t debugfs debugfs /sys/kernel/debug
$IP link add va type veth peer name vb
$IP link set va up
$IP link set vb up
$IP addr add 10.9.0.1/24 dev va
$IP neigh add 10.9.0.2 lladdr 02:00:00:00:00:02 dev va
insmod /job/sch_aqmlab_red.ko log=60000
for name in second ex ad rio; do insmod /job/sch_aqmlab_$name.ko; done
try add $tc qdisc add dev va root handle 1: aq_red limit 30 min 4 max 20.5 max_p 0.2
show added
try "of two kinds" $tc qdisc add dev vb root aq_second limit 7
for i in 1 2 3; do iperf3 -c 10.9.0.2 -u -b 1M -t 1 > /dev/null 2>&1; ping -c 3 -i 0.1 10.9.0.2 > /dev/null 2>&1; done
try change $tc qdisc change dev va root handle 1: aq_red limit 20 min 6 max_p 0.05
show changed
try shown $tc qdisc show dev va
try "no word" $tc qdisc change dev va root handle 1: aq_red burst 3
try "min above max" $tc qdisc change dev va root handle 1: aq_red limit 9 min 21
try "no order" $tc qdisc change dev va root handle 1: aq_red min 6 max 6
try "no probability" $tc qdisc change dev va root handle 1: aq_red max_p 1.5
try "too long" $tc qdisc change dev va root handle 1: aq_red max 5000000000
try "no class" $tc qdisc change dev va root handle 1: aq_red max_p 0.5 class 2
try "word without a number" $tc qdisc change dev va root handle 1: aq_red min
try "no number" $tc qdisc change dev va root handle 1: aq_red limit 0
try "built without" $tc qdisc change dev va root handle 1: aq_red ecn
show last
for name in ex ad rio; do
    $tc qdisc del dev vb root
    $tc qdisc add dev vb root handle 2: aq_$name
    try "max_p of $name" $tc qdisc change dev vb root handle 2: aq_$name max_p 0.3
    try "min of $name" $tc qdisc change dev vb root handle 2: aq_$name min 4
done
try "min of a class" $tc qdisc change dev vb root handle 2: aq_rio min 4 max 8 max_p 0.3 class 2
try classes $tc qdisc show dev vb
log=$(gzip -c < /sys/kernel/debug/sch_aqmlab_red/decisions | base64 -w 0)
echo "{\\"kind\\":\\"decisions\\",\\"data\\":\\"$log\\"}" >&3
try "show without plug-in" env TC_LIB_DIR=/nowhere $tc qdisc show dev va
"""


UNCHANGED = {
    "min above max": "min, max: 0 < min < max <= 2^32 is required",
    "no order": "min, max: 0 < min < max <= 2^32 is required",
    "no probability": "aq_red: max_p 1.5 is not allowed (allowed: above 0, up to 1)",
    "too long": "aq_red: max 5000000000 is not allowed (allowed: above 0, up to 2^32)",
    "no class": "class: 1 to the number of classes is required",
    "word without a number": "aq_red: min needs a number (allowed: above 0, up to 2^32)",
    "max_p of ex": "curves of this form are fixed when the module is built",
    "min of ex": "curves of this form are fixed when the module is built",
    "max_p of ad": "max_p: Adaptive RED moves it",
    "max_p of rio": "class: 1 to the number of classes is required",
    "min of rio": "class: 1 to the number of classes is required",
}
"""Commands that change nothing, and their messages."""


@pytest.mark.slow
def test_tc_shows_and_changes_parameters_with_the_plugin(bootable, tmp_path):
    require("gcc")
    image, made = bootable
    adaptive = {key: value for key, value in RED.items() if key != "max_p"} | {"aqm": "adaptive-red"}
    tables = {"second": RED, "ex": RED | {"aqm": "exred"}, "ad": adaptive, "rio": {"aqm": "rio"}}
    more = [
        kernel_queue(plan(**{"queue.bottleneck": table}).scenario, link="bottleneck", name=name)
        for name, table in tables.items()
    ]
    files = {"job/sch_aqmlab_red.ko": archive.file(made.program)}
    files |= {f"job/{queue.module}.ko": archive.file(vm.compiled(queue, image).program) for queue in more}
    for queue in (made.queue, *more):
        write_export(tmp_path / queue.name, module_files(queue))
        subprocess.run(["make", "-s", "plugin"], cwd=tmp_path / queue.name, check=True)
        plugin = f"q_{queue.kind}.so"
        files[f"job/{plugin}"] = archive.file((tmp_path / queue.name / plugin).read_bytes())
    lines = machine.boot(image, PARAMETERS, seed=1, files=files).lines
    found = {one["kind"]: one for one in map(read_record, lines)}
    failed = {"no word", "no number", "built without", *UNCHANGED}
    assert {what for what, one in found.items() if one.get("code")} == failed, found
    assert found["no word"]["text"].startswith("aq_red: unknown option burst (allowed: limit N, ecn, noecn, min N")
    for what, says in UNCHANGED.items():
        assert says in found[what]["text"], found[what]
    assert "built without" in found["built without"]["text"]
    own = {what: found[what]["data"][0] for what in ("added", "changed", "last")}
    expected = {"ecn": False, "w_log": 6}
    first, second = ({"min": a, "max": 20.5, "max_p": pytest.approx(p)} for a, p in ((4, 0.2), (6, 0.05)))
    assert own["added"]["options"] == expected | {"limit": 30, "classes": [first]}
    assert own["changed"]["options"] == own["last"]["options"] == expected | {"limit": 20, "classes": [second]}
    assert own["changed"]["marked"] == 0
    assert "aq_red 1: root refcnt 2 limit 20p noecn w_q 2^-6 min 6p max 20.5p max_p 0.05" in found["shown"]["text"]
    shown = "class 1 min 40p max 70p max_p 0.02 class 2 min 4p max 8p max_p 0.3"
    assert shown in found["classes"]["text"]
    log = unpacked([found["decisions"]["data"]])
    added = {"limit": "30p", "min_th": "4p", "max_th": "20.5p", "max_p": 0.2}
    replayed = replay_decisions(
        plan().scenario, log, overrides={f"queue.bottleneck.{key}": value for key, value in added.items()}
    )
    assert replayed.difference is None
    assert replayed.changed is not None


@pytest.mark.slow
def test_segments_that_the_kernel_cuts_later_are_decided_on_whole(bootable):
    image, made = bootable
    run = vm.run(plan(), image=image, module=made, options=Options(gso=True))
    log = module.log_of(run)
    assert module.replayed(made.queue, log).decisions > 100
    # tbf cuts packets longer than its bucket before the queue, so none is longer than a packet there.
    assert 0 < longest(log) <= 1514


def longest(log):
    """Return the bytes of the longest packet in a log."""
    return max(struct.unpack_from("<I", log, at + 24)[0] for at in range(0, len(log), 64))


@pytest.mark.slow
def test_a_bucket_longer_than_a_packet_passes_segments_whole(bootable):
    """Why recipes have a burst of one packet: each segment counts as one packet."""
    image, made = bootable
    run = vm.run(plan(), image=image, module=made, options=Options(gso=True, burst=10_240))
    log = module.log_of(run)
    assert module.replayed(made.queue, log).decisions > 100
    assert longest(log) > 2 * 1500
