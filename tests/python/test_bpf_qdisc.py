"""The BPF qdisc that is generated from a queue: its arithmetic, errors of its export, and its decisions in Linux."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

import bpf_machine
from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import text_of
from aqmlab.interop.kernel.export_bpf import bpf_queue, export_bpf, kind_of, name_of, time_of_a_byte
from aqmlab.interop.kernel.replay import replay_decisions
from programs import needs
from test_kernel_module import ADAPTIVE, ARRIVALS, QUEUES, RED, SOURCES, run, scenario

NOT_IN_BPF = ("pc-red", "adaptive-rio", "ecn = true", "mark_forced", '"rio"', '"wred"', "ddred")
OWN = {name: text for name, text in QUEUES.items() if not any(word in text for word in NOT_IN_BPF)}
"""Queues that a BPF qdisc has."""
LINUX = RED + 'dialect = "linux"\n'
OWN |= {"linux": LINUX, "ns2": RED + 'dialect = "ns2-2.35"\n', "bytes": QUEUES["bytes"].replace("ecn = true\n", "")}
TCP = """
[[flow]]
name = "cubic"
count = 5
transport = "tcp"
tcp = { congestion_control = "cubic" }
start = "0s"
"""


@pytest.mark.slow
@needs("gcc")
@pytest.mark.parametrize("name", OWN)
def test_its_arithmetic_decides_as_the_core_bit_by_bit(name, tmp_path):
    file = scenario(tmp_path, OWN[name])
    folder = tmp_path / "bpf"
    export_bpf(file, link="bottleneck", out=folder)
    # The traffic of the module's test may search for victims and protect flows; here it never does.
    for header in ("victim.h", "index.h", "flows.h"):
        (folder / header).write_text(text_of(f"module/{header}"))
    replayed = replay_decisions(file, run(folder, more=("-DSHIM_BPF",)), link="bottleneck")
    assert replayed.difference is None, str(replayed.difference)
    assert replayed.decisions == ARRIVALS
    assert replayed.drops > 500


@needs("gcc")
def test_products_by_halves_are_those_of_128_bits(tmp_path):
    (tmp_path / "arithmetic.h").write_text(text_of("bpf/arithmetic.h"))
    words = ["gcc", "-std=gnu11", "-O1", "-Wall", "-Werror", "-Wno-unused-function", f"-I{tmp_path}", f"-I{SOURCES}"]
    words += ["-fsanitize=undefined", "-fno-sanitize-recover=all", str(SOURCES / "products.c")]
    subprocess.run([*words, "-o", str(tmp_path / "products")], check=True)
    done = subprocess.run([tmp_path / "products"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.slow
# Compiling needs clang, libbpf and the types of a kernel, which tests do not fetch.
@pytest.mark.skipif(bool(bpf_machine.why_not_compiled()), reason=bpf_machine.why_not_compiled())
@pytest.mark.parametrize("name", ["red", "mred", "points", "linux", "bytes", "adaptive-red"])
def test_it_compiles_without_a_warning(name, tmp_path):
    queue = bpf_queue(scenario(tmp_path, OWN[name]), link="bottleneck")
    done = bpf_machine.build(queue, tmp_path / "bpf")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bpf" / f"{name_of(queue)}.bpf.o").stat().st_size > 0


@pytest.mark.slow
# Booting needs QEMU and a fetched kernel of 6.16 or later.
@pytest.mark.skipif(bool(bpf_machine.why_not_booted()), reason=bpf_machine.why_not_booted())
class TestInLinux:
    def test_the_verifier_accepts_every_queue(self, tmp_path):
        built = {}
        for name in OWN:
            (tmp_path / name).mkdir()
            queue = bpf_queue(scenario(tmp_path / name, OWN[name]), link="bottleneck")
            assert bpf_machine.build(queue, tmp_path / name / "bpf").returncode == 0
            built[name] = (queue, tmp_path / name / "bpf")
        assert bpf_machine.verify(built) == dict.fromkeys(OWN, "")

    @pytest.mark.parametrize("name", ["red", "adaptive-red"])
    def test_decisions_about_tcp_are_the_cores_bit_by_bit(self, name, tmp_path):
        text = scenario(tmp_path, OWN[name]).read_text()
        file = tmp_path / "tcp.toml"
        file.write_text(text[: text.index("[[flow]]")] + TCP + text[text.index("[probe]") :])
        queue = bpf_queue(file, link="bottleneck", overrides={"run.duration": "6s"})
        assert bpf_machine.build(queue, tmp_path / "bpf").returncode == 0
        log, _ = bpf_machine.run(queue, tmp_path / "bpf")
        replayed = replay_decisions(file, log, link="bottleneck")
        assert replayed.difference is None, str(replayed.difference)
        assert replayed.decisions > 700
        assert replayed.drops > 10
        # The link is busy: 2 Mbit/s for 6 s, with the 14 bytes of Ethernet's header.
        sent = sum(bytes_ for kind, bytes_ in bpf_machine.records(log) if kind == bpf_machine.DEPARTURE)
        assert sent * 8 / 6 == pytest.approx(2e6, rel=0.05)


@pytest.mark.parametrize(
    ("queue", "message"),
    [
        (RED + "ecn = true\n", "queue.bottleneck.ecn: a BPF qdisc cannot mark packets"),
        ('aqm = "ddred"\n', 'queue.bottleneck.victim: a BPF qdisc cannot express "ddred"'),
        ('aqm = "pc-red"\n', 'queue.bottleneck.victim: a BPF qdisc cannot express "pc-red"'),
        (
            RED + 'adaptation = "adaptive-rio"\n',
            'queue.bottleneck.adaptation: a BPF qdisc cannot express "adaptive-rio"',
        ),
        ('aqm = "ddred-tail"\n', 'queue.bottleneck.aqm: a BPF qdisc cannot express "ddred-tail"'),
        ('aqm = "rio"\n', "queue.bottleneck.class: a BPF qdisc has one class"),
        ('aqm = "codel"\n', 'queue.bottleneck: a BPF qdisc cannot express aqm = "codel" (allowed: RED'),
        (ADAPTIVE.replace("adaptive-red", "feng-red"), 'queue.bottleneck.adaptation: "feng" has no form in integers'),
    ],
)
def test_what_bpf_cannot_do_is_an_error(queue, message, tmp_path):
    with pytest.raises(InputError) as error:
        export_bpf(scenario(tmp_path, queue), link="bottleneck", out=tmp_path / "out")
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "out").exists()


def test_the_files_of_a_qdisc(tmp_path):
    paths, queue = export_bpf(scenario(tmp_path, RED), out=tmp_path / "out", name="red")
    names = {path.name for path in paths}
    assert paths[0].name == "aqmlab_red.bpf.c"
    assert names >= {"parameters.h", "decision.h", "record.h", "arithmetic.h", "load.c", "Makefile", "README.md"}
    for path in paths:
        assert "@" not in path.read_text().replace("$@", ""), path.name
    assert (kind_of(queue), name_of(queue)) == ("bpf_red", "aqmlab_red")
    assert (tmp_path / "out" / "decision.h").read_text() == text_of("module/decision.h")
    double = bpf_queue(scenario(tmp_path, RED.replace('"red"', '"double-slope-red"')))
    assert re.fullmatch("bpf_double_[0-9a-f]{4}", kind_of(double))


@pytest.mark.parametrize("rate_bps", [1e3, 2e6, 1e7, 1e9, 4e11])
def test_the_time_of_a_byte_is_within_a_millionth(rate_bps):
    ns, shift = time_of_a_byte(rate_bps)
    assert ns * 2.0**-shift == pytest.approx(8e9 / rate_bps, rel=1e-6)
    assert ns * 2**23 < 2**64


def test_the_command(tmp_path, capsys):
    from aqmlab.cli import main

    file, out = scenario(tmp_path, RED), tmp_path / "out"
    words = ["export", str(file), "--to", "bpf", "--link", "bottleneck", "--name", "red", "--out", str(out)]
    assert main([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["program"], told["kind"], len(told["files"])) == ("aqmlab_red", "bpf_red", 10)
    assert main(words) == 0
    assert "README.md says how to build, load and remove bpf_red." in capsys.readouterr().out
    assert main([*words, "--set", "queue.bottleneck.ecn=true"]) == 2
    assert "cannot mark packets" in capsys.readouterr().err
