"""Thresholds and max_p of a module that change while it runs: their integers are those of a module built with them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from aqmlab.interop.kernel.export import export_module, kernel_queue, module_files
from aqmlab.interop.kernel.replay import replay_decisions
from programs import require
from test_kernel_module import ADAPTIVE, QUEUES, RED, SOURCES, run, scenario

pytestmark = pytest.mark.slow

BITS = 16
CHANGES = [
    (20.0, 60.0, 0.1),
    (5.0, 15.0, 0.02),
    (10.0, 11.0, 0.5),
    (0.25, 59.75, 0.001),
    (33.5, 40.125, 0.6),
    (1.0, 1000000.0, 0.3),
]
"""min_th and max_th in packets, and max_p; the thresholds are multiples of 2^-16."""
FORMS = {
    "red": RED,
    "gentle": RED.replace('"red"', '"gentle-red"'),
    "double-slope": RED.replace('"red"', '"double-slope-red"'),
    "mred": RED.replace('"red"', '"mred"'),
    "nlred": RED.replace('"red"', '"nlred"'),
    "linux": QUEUES["linux"],
    "bytes": QUEUES["bytes"],
    "adaptive-red": ADAPTIVE,
}
WIDE = {"queue.bottleneck.limit": "2000000p"}
"""A limit for all of these thresholds; thresholds have 16 bits behind the point there too."""


def in_integers(queue, change, class_=0):
    """Return the arguments of the C programs for a change of a class."""
    min_th, max_th, max_p = change
    packet = queue.link.parameters["mean_packet"] if queue.integers["in_bytes"] else 1
    unit = packet << queue.integers["fraction"]
    return [str(class_), str(int(min_th * unit)), str(int(max_th * unit)), str(int(max_p * 2**63))]


def overrides_of(change):
    """Return the same change of a scenario with one class."""
    min_th, max_th, max_p = change
    own = {"min_th": f"{min_th}p", "max_th": f"{max_th}p", "max_p": max_p}
    return {f"queue.bottleneck.{key}": value for key, value in own.items()}


def curves_after(queue_or_file, folder: Path, words, overrides=()):
    """Export and compile the module's curves; return the curve after each change."""
    require("gcc")
    export_module(queue_or_file, link="bottleneck", out=folder, overrides=overrides)
    program = folder / "curves"
    options = ["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Wno-type-limits", "-Wno-unused-parameter", "-Werror"]
    options += ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", f"-I{SOURCES}", f"-I{folder}"]
    subprocess.run(["gcc", *options, str(SOURCES / "curves.c"), "-o", str(program)], check=True)
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def core_curve(queue, class_=0):
    """Return a curve of the core, with the fields that the C program prints."""
    table = queue.integers["curves"][class_]
    found = {key: table[key] for key in ("begin", "end", "above", "segments", "points")}
    if queue.integers["adaptation"]:
        own = queue.integers["adaptation"]["classes"][class_]
        found["target"] = [own["target_low"], own["target_high"]]
    return found


def others(queue):
    """Return the integers that thresholds and max_p must not change."""
    found = {key: value for key, value in queue.integers.items() if key != "curves"}
    adaptation = queue.integers["adaptation"] or {}
    return found | {"adaptation": {key: value for key, value in adaptation.items() if key != "classes"}}


@pytest.mark.parametrize("name", FORMS)
def test_changed_curves_are_those_of_a_module_built_so(name, tmp_path):
    file = scenario(tmp_path, FORMS[name])
    base = WIDE if name != "linux" else {}
    queue = kernel_queue(file, link="bottleneck", overrides=base)
    # max_p of Adaptive RED moves by itself, and cannot be changed.
    fixed = queue.link.parameters["max_p"]
    changes = [(a, b, fixed if name == "adaptive-red" else p) for a, b, p in CHANGES]
    words = [word for change in changes for word in in_integers(queue, change)]
    found = curves_after(file, tmp_path / "module", words, base)
    for change, curve in zip(changes, found, strict=True):
        built = kernel_queue(file, link="bottleneck", overrides={**base, **overrides_of(change)})
        assert others(built) == others(queue)
        assert curve == core_curve(built), change


def test_a_change_back_is_no_change(tmp_path):
    file = scenario(tmp_path, FORMS["mred"])
    queue = kernel_queue(file, link="bottleneck")
    words = [*in_integers(queue, CHANGES[0]), *in_integers(queue, (10.0, 30.0, 0.1))]
    assert curves_after(file, tmp_path / "module", words)[1] == core_curve(queue)


TWO = """aqm = "rio"
w_q = 0.02
curve = "mred"
[[queue.bottleneck.class]]
name = "in"
dscp = ["AF11"]
min_th = "{}p"
max_th = "{}p"
max_p = {}
[[queue.bottleneck.class]]
name = "out"
min_th = "{}p"
max_th = "{}p"
max_p = {}
"""


def test_of_several_classes_each_has_its_own(tmp_path):
    first, second, changed = (40, 70, 0.02), (5, 15, 0.1), (6.5, 20.25, 0.3)
    file = scenario(tmp_path, TWO.format(*first, *second))
    queue = kernel_queue(file, link="bottleneck")
    words = [*in_integers(queue, changed, 1), *in_integers(queue, first, 0)]
    found = curves_after(file, tmp_path / "module", words)
    built = kernel_queue(scenario(tmp_path, TWO.format(*first, *changed)), link="bottleneck")
    assert found == [core_curve(built, 1), core_curve(built, 0)]


@pytest.mark.parametrize("name", ["red", "gentle", "mred", "adaptive-red"])
def test_decisions_after_a_change_are_the_cores_bit_by_bit(name, tmp_path):
    file = scenario(tmp_path, FORMS[name])
    queue = kernel_queue(file, link="bottleneck")
    change = (3.0, 25.5, queue.link.parameters["max_p"] if name == "adaptive-red" else 0.3)
    folder = tmp_path / "module"
    export_module(file, link="bottleneck", out=folder)
    log = run(folder, 50_000, words=in_integers(queue, change))
    replayed = replay_decisions(file, log, link="bottleneck", overrides=overrides_of(change))
    assert replayed.difference is None, str(replayed.difference)
    assert replayed.drops > 200
    assert replay_decisions(file, log, link="bottleneck").difference is not None


def test_decisions_of_two_classes_after_a_change_of_both(tmp_path):
    first, second = (12, 30.5, 0.2), (4, 18, 0.4)
    file = scenario(tmp_path, TWO.format(40, 70, 0.02, 5, 15, 0.1))
    queue = kernel_queue(file, link="bottleneck")
    export_module(file, link="bottleneck", out=tmp_path / "module")
    log = run(tmp_path / "module", 50_000, words=[*in_integers(queue, first, 0), *in_integers(queue, second, 1)])
    built = scenario(tmp_path, TWO.format(*first, *second))
    replayed = replay_decisions(built, log, link="bottleneck")
    assert replayed.difference is None, str(replayed.difference)
    assert replayed.drops > 500


@pytest.mark.parametrize(
    ("change", "is_allowed"),
    [((10.0, 10.0, 0.1), False), ((0.0, 10.0, 0.1), False), ((20.0, 10.0, 0.1), False), ((1.0, 2.0**32, 1.0), True)],
)
def test_thresholds_out_of_order_are_not_allowed(change, is_allowed, tmp_path):
    file = scenario(tmp_path, FORMS["red"])
    words = in_integers(kernel_queue(file, link="bottleneck"), change)
    if is_allowed:
        assert len(curves_after(file, tmp_path / "module", words)) == 1
        return
    with pytest.raises(subprocess.CalledProcessError):
        curves_after(file, tmp_path / "module", words)


@pytest.mark.parametrize("name", ["adaptive-rio", "adaptive-rio-gentle"])
def test_another_class_of_adaptive_rio_changes(name, tmp_path):
    """The last class, whose thresholds move by themselves, goes on as before."""
    file = scenario(tmp_path, QUEUES[name])
    queue = kernel_queue(file, link="bottleneck")
    export_module(file, link="bottleneck", out=tmp_path / "module")
    # With max_th above max_u: its default is not above that of the first class.
    change = (12.0, 65.0, 0.3)
    log = run(tmp_path / "module", 50_000, words=in_integers(queue, change))
    min_th, max_th, max_p = change
    own = f'name = "in"\nmin_th = "{min_th}p"\nmax_th = "{max_th}p"\nmax_p = {max_p}\n'
    built = scenario(tmp_path, f"{QUEUES[name]}[[queue.bottleneck.class]]\n{own}")
    replayed = replay_decisions(built, log, link="bottleneck")
    assert replayed.difference is None, str(replayed.difference)


@pytest.mark.parametrize(
    ("name", "command", "says"),
    [
        ("red", "min 10 max 30 max_p 0.1", "in packets, 0 < min < max <= 2^32"),
        ("bytes", "min 7000 max 21000 max_p 0.1", "in bytes, 0 < min < max <= 2^32"),
        ("gentle-ecn-forced", "min 10 max 30 max_p 0.1", "`max_p` is above 0 and at most 1."),
        ("nlred", "min 10 max 30 max_p 0.1", "`max_p` is above 0 and at most 2/3."),
        ("adaptive-red", "min 5 max 15", "max_p cannot be set: Adaptive RED moves it."),
        ("adaptive-rio", "min 40 max 70 max_p 0.02 class 1", "Adaptive-RIO moves them."),
        ("exred", "", "Curves of this form are fixed when the module is built."),
        ("ddred-tail", "", "Curves of this form are fixed when the module is built."),
    ],
)
def test_the_readme_has_what_tc_can_change(name, command, says, tmp_path):
    queue = kernel_queue(scenario(tmp_path, QUEUES[name]), link="bottleneck", name="red")
    readme = module_files(queue)["README.md"]
    lines = [
        line for line in readme.splitlines() if line.startswith("    sudo tc qdisc change") and "limit" not in line
    ]
    assert lines == ([f"    sudo tc qdisc change dev eth0 parent 1: aq_red {command}"] if command else [])
    assert says in " ".join(readme.split())
