"""The module for Linux that is generated from a queue: its decisions in user space, and their replay."""

from __future__ import annotations

import json
import re
import shutil
import socket
import struct
import subprocess
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from unittest import mock

import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import export_module, kernel_queue, module_files
from aqmlab.interop.kernel.replay import replay_decisions
from aqmlab.live.plan import live_plan
from aqmlab.live.traffic import route_option
from aqmlab.scenario.file import Scenario
from conftest import DUMBBELL
from programs import HEADERS, compiler_of, needs_headers, require

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "tests" / "kernel"
RED = 'aqm = "red"\nlimit = "60p"\nmin_th = "10p"\nmax_th = "30p"\nmax_p = 0.1\nw_q = 0.01\n'
DDRED = 'aqm = "ddred"\nlimit = "40p"\nw_q = 0.02\n'
DDRED_SHARE = DDRED + 'distance = "fraction"\n'
ADAPTIVE = 'aqm = "adaptive-red"\nlimit = "60p"\nmin_th = "5p"\nmax_th = "15p"\nw_q = 0.02\n'
DDRED_LONG = 'aqm = "ddred"\nlimit = "600p"\nmin_th = "30p"\nmax_th = "300p"\nmax_p = 0.9\nw_q = 0.02\n'
RIO = 'aqm = "adaptive-rio"\nw_q = 0.02\nadapt_interval = "50ms"\n'
PC_RED = 'aqm = "pc-red"\nlimit = "30p"\nmax_th = "20p"\nloss_limit = ["20B", "500B"]\nloss_interval = "100ms"\n'
PC_RED_LONG = PC_RED.replace("30p", "600p").replace("20p", "300p") + 'min_th = "30p"\nmax_p = 0.9\n'
PRIORITY = """
[[flow]]
name = "{}"
transport = "newreno"
start = "0s"
dscp = "{}"
priority = {}
"""
QUEUES = {
    "red": RED,
    "red-ecn": RED + "ecn = true\n",
    "gentle-ecn-forced": RED.replace('"red"', '"gentle-red"') + "ecn = true\nmark_forced = true\nmark_up_to = 0.3\n",
    "mred": RED.replace('"red"', '"mred"'),
    "exred": RED.replace('"red"', '"exred"').replace("60p", "100p"),
    "nlred": RED.replace('"red"', '"nlred"'),
    "double-slope": RED.replace('"red"', '"double-slope-red"'),
    "points": 'aqm = "red"\ncurve = "points"\npoints = [[5, 0.0], [15, 0.1], [15, 0.3], [30, 1.0]]\nw_q = 0.02\n',
    "bytes": RED + 'mode = "bytes"\nmean_packet = "700B"\necn = true\n',
    "limit-in-bytes": RED.replace("60p", "40kB"),
    "floyd93": RED + 'dialect = "floyd93"\n',
    "ns2": RED + 'dialect = "ns2-2.35"\necn = true\n',
    "ns2-nowait": RED + 'spacing = "ns2-nowait"\n',
    "dsred": RED + 'dialect = "dsred"\n',
    "linux": RED + 'dialect = "linux"\necn = true\n',
    "linux-bytes": RED + 'dialect = "linux"\nmode = "bytes"\n',
    "no-idle-rule": RED + 'at_idle = "none"\n',
    "integer-idle": RED + 'at_idle = "integer"\nidle_extra_step = true\n',
    "geometric": RED + 'spacing = "none"\n',
    "weight-one": RED.replace("w_q = 0.01", "w_q = 1.0"),
    "rio": 'aqm = "rio"\nw_q = 0.02\n[[queue.bottleneck.class]]\nname = "in"\nmin_th = "10p"\nmax_th = "20p"\n',
    "rio-decoupled": 'aqm = "rio"\nw_q = 0.02\naverages = "decoupled"\n',
    "ddred": DDRED,
    "ddred-ecn": DDRED + "ecn = true\n",
    "ddred-oldest": DDRED + 'ties = "oldest"\n',
    "ddred-random": DDRED + 'ties = "random"\necn = true\narrival_is_candidate = true\n',
    "ddred-early": DDRED + 'search = "early"\n',
    "ddred-full": DDRED.replace("40p", "12p"),
    "ddred-long": DDRED_LONG + 'ties = "random"\n',
    "pc-red-long": PC_RED_LONG + 'scan = "circular"\n',
    "ddred-share": DDRED_SHARE,
    "ddred-share-oldest": DDRED_SHARE + 'ties = "oldest"\nunknown_fraction = 0.0\n',
    "ddred-share-random": DDRED_SHARE + 'ties = "random"\necn = true\narrival_is_candidate = true\n',
    "ddred-share-long": DDRED_LONG + 'distance = "fraction"\nunknown_fraction = 0.3333333333\n',
    "ddred-share-tail": 'aqm = "ddred-tail"\nlimit = "12p"\nlast_n = 5\ndistance = "fraction"\n',
    "ddred-tail": 'aqm = "ddred-tail"\nlimit = "12p"\nlast_n = 5\n',
    "ddred-tail-bytes": 'aqm = "ddred-tail"\nlimit = "12kB"\nlast_n = 100\n',
    "adaptive-red": ADAPTIVE,
    "adaptive-red-ns2": ADAPTIVE + 'dialect = "ns2-2.35"\necn = true\n',
    "adaptive-linear": ADAPTIVE + 'curve = "linear"\n',
    "wred": 'aqm = "wred"\nw_q = 0.02\necn = true\n',
    "ddred-full-first": DDRED.replace("40p", "12p") + "full_first = true\n",
    "pc-red": PC_RED,
    "pc-red-ecn": PC_RED + 'ecn = true\nscan = "circular"\n',
    "pc-red-on-arrival": PC_RED + 'status_refresh = "on-arrival"\nloss_decay = "floor"\nlist_timeout = "2s"\n',
    "pc-red-limits": PC_RED
    + 'list_size = 9\nr_p_max = 0.2\nover_r_p_max = "refuse"\nfull_first = true\n',  # language: keep
    "adaptive-rio": RIO + 'tsw_window = "1s"\n',
    "adaptive-rio-gentle": RIO + 'curve = "gentle"\necn = true\ntrend = "rate"\ntsw_window = "100ms"\n',
    "adaptive-rio-either": RIO + 'trend = "either"\nabsence = "5ms"\ntsw_window = "10s"\n',
    "adaptive-rio-one-class": RED + 'adaptation = "adaptive-rio"\ntsw_window = "1s"\nmode = "bytes"\n',
}
ARRIVALS = 100_000
RECORD = 64
CHECKED = (
    *("-O1", "-Wall", "-Wextra", "-Wno-type-limits", "-Wno-unused-parameter", "-Werror"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
UNCHECKED = ("-O0",)
"""Options of gcc for tests of the log alone: sanitizers and warnings take most of the compiler's time."""


def scenario(tmp_path: Path, queue: str) -> Path:
    """Write a scenario with this queue before its bottleneck."""
    before, after = DUMBBELL.index("aqm ="), DUMBBELL.index("[queue.access]")
    path = tmp_path / "scenario.toml"
    flows = PRIORITY.format("first", "AF11", "true") + PRIORITY.format("second", "EF", "2") if "pc-red" in queue else ""
    path.write_text(f"{DUMBBELL[:before]}{queue}\n{DUMBBELL[after:]}{flows}")
    return path


def run(
    folder: Path,
    arrivals: int = ARRIVALS,
    seed: int = 1,
    more: tuple[str, ...] = (),
    words: Sequence[str] = (),
    source: str = "traffic.c",
    options: Sequence[str] = CHECKED,
) -> bytes:
    """Compile the decisions of a module in user space, and return the log of random traffic.

    `words` change curves before the first arrival (`traffic.c`).
    """
    require("gcc")
    program = folder / "traffic"
    command = [
        "gcc",
        "-std=gnu11",
        *options,
        f"-I{SOURCES}",
        f"-I{folder}",
        *more,
        str(SOURCES / source),
        "-o",
        str(program),
    ]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    # Packets that still wait at the end are not freed.
    done = subprocess.run(
        [program, str(arrivals), str(seed), "2000000", *words],
        capture_output=True,
        check=False,
        env={"ASAN_OPTIONS": "detect_leaks=0"},
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("name", QUEUES)
def test_the_c_of_a_module_decides_as_the_core_bit_by_bit(name, tmp_path):
    file = scenario(tmp_path, QUEUES[name])
    folder = tmp_path / "module"
    export_module(file, link="bottleneck", out=folder)
    replayed = replay_decisions(file, run(folder), link="bottleneck")
    assert replayed.difference is None, str(replayed.difference)
    assert replayed.decisions == ARRIVALS
    assert replayed.drops > 500
    assert (replayed.marks > 0) == ("ecn" in QUEUES[name])


FAULTS = {
    "average": (RED, "decision.h", "- (scaled >> AQMLAB_W_LOG)", "- (scaled >> (AQMLAB_W_LOG + 1))"),
    "p_b": (RED, "decision.h", "((u64)(point[1] - point[0]) * z)", "((u64)(point[1] - point[0]) * (z >> 1))"),
    "verdict": (RED, "decision.h", "draw * divisor < (u64)p_b << 32", "draw * divisor < (u64)p_b << 31"),
    "count": (
        RED,
        "decision.h",
        "class->count = 0;\n\t\tdecision->verdict = AQMLAB_EARLY",
        "decision->verdict = AQMLAB_EARLY",
    ),
    "waiting": (
        RED.replace("60p", "20p"),
        "decision.h",
        "q->packets + serving >= q->settings.limit",
        "q->packets + serving > q->settings.limit",
    ),
    "loss": (PC_RED, "flows.h", "bytes * AQMLAB_LOSS_WEIGHT", "bytes / 2 * AQMLAB_LOSS_WEIGHT"),
    "ties": (DDRED + 'ties = "random"\n', "victim.h", "victim->draw * ties) >> 32", "victim->draw * ties) >> 33"),
    "share": (DDRED_SHARE, "victim.h", "(u64)hops << 31", "(u64)hops << 3"),
    "TTL_f": (DDRED_SHARE, "victim.h", "packet->flow & ~255U) | packet->ttl_final", "packet->flow & ~255U)"),
    "tied": (DDRED_SHARE, "index.h", "return aqmlab_packets_before(index, share + 1);", "return 1;"),
    "protection": (PC_RED, "flows.h", "return flow->level && a_d >", "return flow->level > 1 && a_d >"),
    "thresholds": (RIO + 'tsw_window = "1s"\n', "adaptation.h", "max_th += AQMLAB_DELTA_T", "max_th += 1"),
    "rate": (RIO + 'tsw_window = "1s"\n', "adaptation.h", "return u - (((u", "return u / 2 - (((u"),
}
SEEN_AS = {"waiting": "verdict", "ties": "victim", "loss": "victim", "protection": "victim"}
SEEN_AS |= {"share": "victim", "TTL_f": "victim", "tied": "victim"}
SEEN_AS |= {"thresholds": "p_b", "rate": "p_b"}
"""The replay's first finding, if not the fault itself: a packet too many is seen as a drop that is missing."""


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_in_the_c_is_found(what, tmp_path):
    queue, name, right, wrong = FAULTS[what]
    file = scenario(tmp_path, queue)
    folder = tmp_path / "module"
    export_module(file, link="bottleneck", out=folder)
    text = (folder / name).read_text()
    assert right in text
    (folder / name).write_text(text.replace(right, wrong))
    difference = replay_decisions(file, run(folder, options=UNCHECKED), link="bottleneck").difference
    assert difference is not None
    assert difference.what == SEEN_AS.get(what, what)


COMPILED = (
    "red-ecn", "linux-bytes", "rio", "ddred-random", "ddred-share", "ddred-tail", "adaptive-red", "adaptive-rio",
    "pc-red-ecn",
)  # fmt: skip


def test_the_compiler_of_headers_is_the_one_that_the_kernel_was_built_with(tmp_path):
    assert compiler_of(tmp_path) == "gcc"
    (tmp_path / "include/config").mkdir(parents=True)
    for text in ("CONFIG_CC_VERSION_TEXT=gcc-12 (Debian 12.2.0) 12.2.0", 'CONFIG_CC_VERSION_TEXT="gcc-12 (x) 12"'):
        (tmp_path / "include/config/auto.conf").write_text(f"CONFIG_A=y\n{text}\n")
        assert compiler_of(tmp_path) == "gcc-12"


@needs_headers
def test_modules_compile_without_a_warning(tmp_path):
    """One call of the kernel's make for all: most of its time is its own start and end."""
    require("make", compiler_of(HEADERS[-1].parent))
    folder, modules = tmp_path / "modules", []
    for number, name in enumerate(COMPILED):
        file = scenario(tmp_path, QUEUES[name])
        paths, queue = export_module(file, link="bottleneck", out=folder / name, name=f"compiled{number}")
        assert paths[0].stem == queue.module
        modules.append(folder / name / f"{queue.module}.ko")
    (folder / "Kbuild").write_text(f"obj-m := {' '.join(f'{name}/' for name in COMPILED)}\n")
    checked = int(bool(shutil.which("sparse")))
    words = ["make", "-j2", "-C", str(HEADERS[-1].parent), f"M={folder}", "W=1", f"C={checked}", "modules"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    own = [line for line in (done.stdout + done.stderr).splitlines() if str(folder) in line and ": warning" in line]
    assert own == []
    assert all(module.stat().st_size for module in modules)


@needs_headers
def test_the_makefile_of_a_module_compiles_it(tmp_path):
    require("make", compiler_of(HEADERS[-1].parent))
    folder = tmp_path / "module"
    _, queue = export_module(scenario(tmp_path, RED), link="bottleneck", out=folder)
    words = ["make", "-C", str(folder), f"KERNEL={HEADERS[-1].parent}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / f"{queue.module}.ko").stat().st_size > 0


IPV4, IPV6 = "4{:x}" + 19 * "00", "6" + 11 * "0" + "{:02x}" + 66 * "0"
OPTION, HOP_BY_HOP = "9e044026", "06001e024026"
PACKETS = {
    IPV4.format(6) + OPTION: "64 38",
    IPV4.format(7) + "0101" + OPTION + "9e04" + "0101": "64 38",
    IPV4.format(8) + OPTION + "9e04ffff" + "00000000": "64 38",
    IPV4.format(7) + "94040000" + OPTION: "64 38",
    IPV4.format(7) + "00000000" + OPTION: "-",
    IPV4.format(7) + "9e064026" + "00000000": "-",
    IPV4.format(7) + "94000000" + OPTION: "-",
    IPV4.format(7) + "94010000" + OPTION: "-",
    IPV4.format(6) + "94050000": "-",
    IPV4.format(6) + "01019e04": "-",
    IPV4.format(6) + "0101019e": "-",
    IPV4.format(6) + OPTION[:6]: "-",
    IPV4.format(5) + OPTION: "-",
    IPV4.format(4) + OPTION: "-",
    IPV6.format(0) + HOP_BY_HOP + "0100": "64 38",
    IPV6.format(0) + "06010502000001001e02402600000100": "64 38",
    IPV6.format(0) + "060000001e024026": "64 38",
    IPV6.format(0) + "060005021e02402601": "-",
    IPV6.format(0) + "06001e0340260000": "-",
    IPV6.format(0) + "06000505" + "1e024026": "-",
    IPV6.format(0) + "06000000000000" + "1e" + "024026": "-",
    IPV6.format(0) + HOP_BY_HOP: "-",
    IPV6.format(0) + "06011e0240260100": "-",
    IPV6.format(6) + HOP_BY_HOP + "0100": "-",
    "": "-",
    "5" + 47 * "0": "-",
}
"""Packets from their IP header, and TTL_i and TTL_f of their option; - without one."""


def test_a_module_reads_the_option_of_the_live_link(tmp_path):
    """Also options that are cut, and packets that end early."""
    require("gcc")
    program = tmp_path / "route"
    options = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    module = resources.files("aqmlab.interop.kernel") / "module"
    built = ["gcc", *options, f"-I{SOURCES}", f"-I{module}", str(SOURCES / "route.c"), "-o", str(program)]
    subprocess.run(built, check=True)
    found = subprocess.run([program], input="".join(f"{one}\n" for one in PACKETS), capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert dict(zip(PACKETS, found.stdout.splitlines(), strict=True)) == PACKETS


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_module_reads_what_a_sender_writes(family):
    """The option of `carry` is the one in the tests of the module."""
    connection = mock.Mock(family=family)
    route_option.carry(connection, 64, 38)
    written = connection.setsockopt.call_args[0][2].hex()
    assert written == (OPTION if family == socket.AF_INET else "00" + HOP_BY_HOP[2:] + "0100")


def test_an_altered_or_cut_log_is_found(tmp_path):
    file = scenario(tmp_path, RED)
    folder = tmp_path / "module"
    export_module(file, link="bottleneck", out=folder)
    log = run(folder, 2000, options=UNCHECKED)

    def difference(log: bytes) -> str:
        found = replay_decisions(file, log).difference
        return "" if found is None else found.what

    assert difference(log) == ""
    assert difference(log[:-1]) == "length"
    assert difference(log[RECORD:]) == "sequence"
    assert difference(log[: 10 * RECORD] + log[11 * RECORD :]) == "sequence"
    number = next(i for i in range(len(log) // RECORD) if log[i * RECORD + 56] == 0)
    for offset, what in ((8, "average"), (32, "p_b"), (20, "packet"), (44, "victim"), (57, "verdict")):
        place = number * RECORD + offset
        altered = bytes([log[place] ^ 1])
        assert difference(log[:place] + altered + log[place + 1 :]) == what
    assert struct.unpack_from("<I", log, 16) == (0,)


def test_the_files_of_a_module(tmp_path):
    file = scenario(tmp_path, RED)
    paths, queue = export_module(file, out=tmp_path / "out", name="red")
    names = {path.name for path in paths}
    assert paths[0].name == "sch_aqmlab_red.c"
    assert names >= {"parameters.h", "decision.h", "record.h", "log.h", "Kbuild", "Makefile", "dkms.conf", "README.md"}
    for path in paths:
        assert "@" not in path.read_text().replace("@cpu", "").replace("$@", ""), path.name
    assert queue.kind == "aq_red"
    assert queue.largest_error < 2e-6
    long = kernel_queue(scenario(tmp_path, RED.replace('"red"', '"double-slope-red"')))
    assert re.fullmatch("sch_aqmlab_double_[0-9a-f]{4}", long.module)
    assert long.kind == long.module.replace("sch_aqmlab_", "aq_")


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        (
            'aqm = "codel"\n',
            'a module cannot express aqm = "codel" (allowed: RED and its descendants, ddred-tail, dualpi2)',
        ),
        ('aqm = "choke"\n', 'queue.bottleneck.victim: a module cannot express victim = "choke"'),
        (RED + 'adaptation = "feng"\n', 'queue.bottleneck.adaptation: "feng" has no form in integers'),
        (RED + 'mode = "bytes"\nbyte_scaling = "after-spacing"\n', '"after-spacing" has no form in integers'),
        (RED.replace("w_q = 0.01", "w_q = 0.000001"), "is too small a weight"),
        (PC_RED + 'qosa = "honoured"\n', 'queue.bottleneck.qosa: a module cannot express qosa = "honoured"'),
        (PC_RED + "loss_weight = 0.000001\n", "queue.bottleneck.loss_weight: 0.000001 is too small a weight"),
        (RIO + 'tsw_window = "1ns"\n', "queue.bottleneck.tsw_window: 0.000000001 s has no form in integers"),
    ],
)
def test_what_a_module_cannot_do_is_an_error(queue, message, tmp_path):
    with pytest.raises(InputError) as error:
        export_module(scenario(tmp_path, queue), link="bottleneck", out=tmp_path / "out")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_priority_needs_a_code_point_for_each_level(tmp_path):
    file = scenario(tmp_path, PC_RED)
    levels = kernel_queue(file, link="bottleneck").levels
    assert {dscp: level for dscp, level in enumerate(levels) if level} == {10: 1, 46: 2}
    with pytest.raises(
        InputError, match=r"flow\.first\.dscp: a module tells priority by the code point, and flow\.tcp"
    ):
        kernel_queue(file, link="bottleneck", overrides={"flow.first.dscp": "BE"})


def test_the_command(tmp_path, capsys):
    from aqmlab.cli import main

    file = scenario(tmp_path, RED)
    out = tmp_path / "out"
    words = ["export", str(file), "--to", "kernel", "--link", "bottleneck", "--name", "red", "--out", str(out)]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["module"], told["kind"], len(told["files"])) == ("sch_aqmlab_red", "aq_red", 18)
    log = run(out, 3000, options=UNCHECKED)
    (tmp_path / "decisions.bin").write_bytes(log)
    assert main(["replay", str(file), str(tmp_path / "decisions.bin"), "--link", "bottleneck"]) == 0
    assert "3,000 decisions" in capsys.readouterr().out
    (tmp_path / "decisions.bin").write_bytes(log[:-1])
    assert main(["replay", str(file), str(tmp_path / "decisions.bin")]) == 1
    assert "length" in capsys.readouterr().err


def test_queues_of_one_machine_have_names_of_their_own(tmp_path):
    file = scenario(tmp_path, RED)
    one = kernel_queue(file, link="bottleneck")
    other = kernel_queue(Scenario.from_text(file.read_text(), filename="other.toml", overrides={"name": "other"}))
    assert len({one.module, other.module}) == len({one.kind, other.kind}) == 2
    assert len(one.kind) <= 15
    assert re.fullmatch("[a-z_][a-z0-9_]*", one.module)
    named = kernel_queue(file, link="bottleneck", name="uplink")
    assert (named.module, named.kind) == ("sch_aqmlab_uplink", "aq_uplink")
    assert 'BUILT_MODULE_NAME[0]="sch_aqmlab_uplink"' in module_files(named)["dkms.conf"]


@pytest.mark.parametrize("name", ["", "Up", "1up", "a-b", "*/ int x; /*", "x" * 12, "a\nb", "ä"])
def test_a_name_that_is_no_identifier_is_an_error_of_one_line(name, tmp_path, capsys):
    from aqmlab.cli import main

    words = ["--link", "bottleneck", "--name", name, "--out", str(tmp_path / "out")]
    for to in ("kernel", "bpf"):
        assert main(["export", str(scenario(tmp_path, RED)), "--to", to, *words]) == 2
        said = capsys.readouterr().err
        assert said.startswith("aqmlab: --name: ")
        assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


TWO = """
[[link]]
name = "{0}"
from = "x"
to = "y"
rate = "10Mbps"
delay = "1ms"
queue = "q"
[[link]]
name = "{1}"
from = "y"
to = "z"
rate = "10Mbps"
delay = "1ms"
queue = "{2}"
[queue.q]
aqm = "red"
limit = "50p"
min_th = "5p"
max_th = "15p"
mean_packet = "1000B"
[queue.tail]
aqm = "drop-tail"
limit = "100p"
[[flow]]
name = "tcp"
from = "x"
to = "z"
transport = "tcp"
start = "0s"
"""


class TestLink:
    def loaded(self, *words, live=""):
        return Scenario.from_text('format = 1\nname = "two"\n[run]\nduration = "5s"\n' + TWO.format(*words) + live)

    def test_it_is_the_only_one_with_aqm(self):
        assert kernel_queue(self.loaded("a", "b", "tail")).link.name == "a"
        assert kernel_queue(self.loaded("a", "bottleneck", "tail")).link.name == "a"

    def test_several_are_an_error_that_lists_them_unless_one_is_chosen(self):
        with pytest.raises(InputError, match=r"--link is required: 2 links have AQM \(allowed: a, b\)$"):
            kernel_queue(self.loaded("a", "b", "q"))
        with pytest.raises(InputError, match=r"live\.link: is required: 2 links have AQM \(allowed: a, b\)"):
            live_plan(self.loaded("a", "b", "q"), seed=1)
        assert kernel_queue(self.loaded("a", "b", "q"), link="b").link.name == "b"
        assert kernel_queue(self.loaded("a", "b", "q", live='[live]\nlink = "b"\n')).link.name == "b"

    def test_none_is_an_error_that_lists_all(self):
        plain = self.loaded("a", "b", "tail").with_overrides({"queue.q": {"aqm": "drop-tail", "limit": "9p"}})
        with pytest.raises(InputError, match=r"--link is required: no link has AQM \(allowed: a, a\.reverse, b, "):
            kernel_queue(plain)


@pytest.mark.parametrize("to", ["kernel", "bpf"])
def test_export_and_readme_tell_of_long_segments(to, tmp_path, capsys):
    from aqmlab.cli import main

    file = scenario(tmp_path, RED)
    assert main(["export", str(file), "--to", to, "--link", "bottleneck", "--out", str(tmp_path / "out")]) == 0
    assert "note: long segments (GSO) count as one packet" in capsys.readouterr().err
    readme = (tmp_path / "out" / "README.md").read_text()
    assert ("burst 1600 " in readme) == (to == "kernel")
    assert "sudo ip link set dev eth0 gso_max_segs 1" in readme


def test_recipes_have_a_bucket_of_one_packet():
    """With a larger burst tbf passes segments whole (docs/kernel.md)."""
    texts = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "python").rglob("*.md")]
    bursts = [word for path in texts for word in re.findall(r"\btc qdisc .*\btbf .*?burst (\S+)", path.read_text())]
    assert set(bursts) == {"1600", "@BURST@"}


def test_the_command_takes_an_example(tmp_path):
    from aqmlab.cli import main

    words = ["export", "example:dumbbell-red", "--to", "kernel", "--name", "red", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert "example" not in (tmp_path / "out" / "Kbuild").read_text()
    assert (tmp_path / "out" / "sch_aqmlab_red.c").exists()


def test_the_queue_in_integers_is_near_the_exact_one(tmp_path):
    """A run differs by the noise of its draws: the draws of both arithmetics begin with the same numbers."""
    file = scenario(tmp_path, RED)
    exact, integer = (
        aqmlab.run(
            file,
            seeds=3,
            workers=1,
            progress=False,
            out=tmp_path / word,
            overrides={"queue.bottleneck.arithmetic": word},
        )
        for word in ("exact", "integer")
    )
    exact_links, integer_links = exact.links, integer.links
    for column in ("departed_bytes", "mean_queue"):
        a, b = (links[links["link"] == "bottleneck"][column].mean() for links in (exact_links, integer_links))
        assert abs(a - b) < 0.1 * a, column
