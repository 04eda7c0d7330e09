"""Text of a scenario in generated files: it stays text, whatever it is, for each language and each generator."""

from __future__ import annotations

import json
import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.errors import printable
from aqmlab.interop import escaping
from aqmlab.interop.crosscheck.tools import tools
from aqmlab.interop.kernel.export import kernel_queue, module_files
from aqmlab.interop.kernel.export_bpf import bpf_files, bpf_queue
from aqmlab.interop.model import Model
from aqmlab.scenario.file import Scenario
from hostile_names import hostile_names
from programs import needs

NAMES = hostile_names(100)
ANY = st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)
SCENARIO = """
format = 1
name = {name}
description = {name}
[run]
duration = "1s"
[dumbbell]
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "100Mbps", delay = "5ms" }}
right = {{ rate = "100Mbps", delay = "5ms" }}
[queue.bottleneck]
aqm = "red"
min_th = "5p"
max_th = "15p"
limit = "50p"
[[flow]]
name = "tcp"
count = 2
transport = "newreno"
"""


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def hostile(name):
    """A scenario with this name, description and file name; names of its parts are letters, digits, _ and - alone."""
    return Scenario.from_text(SCENARIO.format(name=quoted(name)), filename=f"{name}.toml")


def run(words, text=""):
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


@given(ANY)
def test_one_line_is_visible_and_one_line(text):
    found = escaping.one_line(text)
    assert len(found.splitlines()) <= 1
    assert found == printable(found)
    assert escaping.one_line(found) == found


@given(ANY)
def test_a_block_comment_neither_ends_nor_nests(text):
    found = f"/*{escaping.c_comment(text)}*/"
    assert "*/" not in found[:-2]
    assert "/*" not in found[2:]
    assert "??" not in found


@given(ANY)
def test_a_line_comment_does_not_continue(text):
    found = escaping.line_comment(text)
    assert not found.endswith(("\\", "??/"))
    assert not set(found) & set("{}\\")


@given(ANY)
def test_inline_code_of_markdown_does_not_end(text):
    assert "`" not in escaping.markdown_code(text)


@needs("gcc")
def test_strings_and_comments_of_c_by_a_compiler(tmp_path):
    lines = ["#include <stdio.h>", "int main(void) {"]
    for name in NAMES:
        lines += [f"/*{escaping.c_comment(name)}*/ fputs({escaping.c_string(name)}, stdout); putchar(0);"]
        lines += [f"// {escaping.line_comment(name)}"]
    source = tmp_path / "a.c"
    source.write_text("\n".join([*lines, "return 0; }"]), encoding="utf-8")
    flags = ["-std=c99", "-trigraphs", "-Wall", "-Wcomment", "-Werror"]
    run(["gcc", *flags, str(source), "-o", str(tmp_path / "a")])
    assert run([str(tmp_path / "a")]).split("\0")[:-1] == NAMES


def test_words_of_a_shell():
    words = " ".join(escaping.shell_word(name) for name in NAMES)
    found = run(["sh", "-c", f"printf '%s\\0' {words}"]).split("\0")[:-1]
    assert found == [escaping.one_line(name) for name in NAMES]


def tcl(text):
    """Run a script in UTF-8."""
    plain = {"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}
    done = subprocess.run(["tclsh"], input=text, capture_output=True, encoding="utf-8", check=True, env=plain)
    assert done.stderr == ""
    return done.stdout


@needs("tclsh")
def test_words_and_comments_of_tcl():
    lines = ["set all {}", "proc body {} {", *(f"    # {escaping.line_comment(name)}" for name in NAMES)]
    lines += ["    return ok", "}", "body"]
    for number, name in enumerate(NAMES):
        word = escaping.tcl_word(name)
        lines += [f"lappend all {word}"]
        lines += [f"if {{[lindex {{{word} x}} 0] ne [lindex $all {number}]}} {{ error {number} }}"]
    lines += ["foreach one $all { puts -nonewline $one; puts -nonewline \\0 }"]
    assert tcl("\n".join(lines)).split("\0")[:-1] == NAMES


@pytest.fixture(scope="module")
def scenarios():
    return {name: hostile(name) for name in NAMES}


def code_of(files):
    """Return the C of files without comments, as the compiler reads it."""
    text = "\n".join(text for name, text in files.items() if name.endswith((".c", ".h")))
    return run(["gcc", "-fpreprocessed", "-dD", "-E", "-P", "-"], text)


@needs("gcc")
@pytest.mark.parametrize("form", ["kernel", "bpf"])
def test_a_scenarios_names_are_no_code_of_a_module(form, scenarios):
    def files(plan):
        if form == "kernel":
            return module_files(kernel_queue(plan, name="same"))
        return bpf_files(bpf_queue(plan, name="same"))

    plain = files(hostile("plain"))
    expected = code_of(plain)
    for number, (name, plan) in enumerate(scenarios.items()):
        made = files(plan)
        for file in set(made) - {"README.md"}:
            if not file.endswith((".c", ".h")):
                assert made[file] == plain[file], (name, file)
        assert "HIT" not in "\n".join(line for line in made["README.md"].splitlines() if line.startswith("#"))
        # The compiler sees each of the attacks; the others differ in nothing that the first test does not show.
        if number < 20:
            assert code_of(made) == expected, name


@pytest.mark.parametrize("program", ["ns2", "ns3"])
def test_programs_of_other_simulators_have_names_as_words_only(program, scenarios):
    (tool,) = tools([program])
    mark = "#" if program == "ns2" else "//"
    plain = [line for text in tool.files(Model.of(hostile("plain"))).values() for line in text.splitlines()]
    for name, plan in scenarios.items():
        lines = [line for text in tool.files(Model.of(plan)).values() for line in text.splitlines()]
        assert len([one for one in lines if not one.startswith(mark)]) == len(
            [one for one in plain if not one.startswith(mark)]
        ), name


@needs("tclsh")
def test_scripts_for_ns2_are_complete_commands(scenarios, tmp_path):
    (tool,) = tools(["ns2"])
    texts = [text for plan in scenarios.values() for text in tool.files(Model.of(plan)).values()]
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.tcl").write_text(text, encoding="utf-8")
    body = f"set f [open {tmp_path}/$n.tcl]; if {{![info complete [read $f]]}} {{ puts $n }}; close $f"
    assert tcl(f"for {{set n 0}} {{$n < {len(texts)}}} {{incr n}} {{ {body} }}") == ""


@needs("g++")
def test_programs_for_ns3_are_whole_tokens(scenarios):
    (tool,) = tools(["ns3"])
    for name, plan in list(scenarios.items())[:20]:
        text = "\n".join(tool.files(Model.of(plan)).values())
        kept = run(["g++", "-x", "c++", "-fpreprocessed", "-E", "-P", "-"], text)
        strings_gone = "".join(kept.split(escaping.c_string(name)))
        assert "HIT" not in strings_gone, name
