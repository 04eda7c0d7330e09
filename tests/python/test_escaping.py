"""Text of a scenario in generated files: it stays text, whatever it is, for each language and each generator."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab.errors import one_line, printable, shell_word
from aqmlab.interop import escaping
from aqmlab.interop.kernel import export
from aqmlab.interop.kernel.export import kernel_queue, module_files
from aqmlab.runs.comparison_exports import SPECIAL
from aqmlab.runs.comparison_exports import escaped as latex
from aqmlab.scenario.toml_text import inline
from attacks.hostile_names import ATTACKS, CONTROL, hostile_names
from attacks.names import GENERATORS, OTHER, RED, faults, import_fault, scenario_of
from programs import needs, require

NAMES = hostile_names(100)
ANY = st.text(st.characters(blacklist_categories=("Cs",)), max_size=40)
KERNEL = Path(__file__).resolve().parents[1] / "kernel"


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


@needs("bash")
def test_words_of_a_shell():
    names = [*NAMES, *(name for name in CONTROL if "\0" not in name)]
    words = " ".join(map(shell_word, names))
    assert len(words.splitlines()) == 1
    done = subprocess.run(["bash"], input=f"printf '%s\\0' {words}".encode(), capture_output=True, check=True)
    assert done.stdout.decode().split("\0")[:-1] == names


@given(ANY)
def test_strings_and_comments_of_toml(text):
    written = f"a = {inline(text)} # {one_line(text)}\nb = {inline({text: text})}"
    assert tomllib.loads(written) == {"a": text, "b": {text: text}}


@given(ANY)
def test_text_of_latex_has_no_command_of_its_own(text):
    found = latex(text)
    for written in sorted(SPECIAL.values(), key=len, reverse=True):
        found = found.replace(written, "")
    assert not set(found) & set("\\{}%$#&_^~\n\r\0")


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("generator", "queue"),
    [*((generator, RED) for generator in GENERATORS), ("ns2", OTHER), ("ns3", OTHER)],
    ids=[*GENERATORS, "ns2-not-expressible", "ns3-not-expressible"],
)
def test_no_text_of_a_scenario_is_more_than_text(generator, queue):
    require("gcc", "bash", "tclsh")
    assert list(faults(hostile_names(100, control=True), generator, queue)) == []


@needs("gcc", "bash")
@pytest.mark.parametrize("generator", ["kernel", "bpf"])
def test_the_search_finds_text_that_is_not_escaped(generator, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # commands of the texts are carried out
    monkeypatch.setattr(export, "c_comment", str)
    monkeypatch.setattr(export, "shell_word", str)
    found = list(faults(hostile_names(20), generator))
    assert any("parameters.h" in fault for fault in found)
    assert any("README.md" in fault for fault in found)


def test_the_name_of_an_imported_file_is_text(tmp_path):
    assert [fault for name in hostile_names(60, control=True) if (fault := import_fault(name, tmp_path))] == []


@needs("gcc")
def test_a_name_that_tries_to_be_c_does_not_run(tmp_path):
    name = f"{ATTACKS[0]}{ATTACKS[1]}"
    for file, text in module_files(kernel_queue(scenario_of(name))).items():
        (tmp_path / file).write_text(text)
    assert "constructor" in (tmp_path / "parameters.h").read_text().replace("\n *", "")
    program = tmp_path / "traffic"
    run(["gcc", "-std=gnu11", "-w", f"-I{KERNEL}", f"-I{tmp_path}", str(KERNEL / "traffic.c"), "-o", str(program)])
    assert b"HIT" not in subprocess.run([program, "10", "1", "2000000"], capture_output=True, check=True).stdout
