"""Names of files that are not UTF-8 or have a newline: every command takes them, and prints each on one line."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from aqmlab.cli import main
from aqmlab.errors import one_line, shell_word

NAMES = {"bytes that are not UTF-8": "\udcff", "a newline": "a\nb"}
SHORT = ("--set", "run.duration=1s", "--set", "run.warmup=0.2s", "--seeds", "2", "-q")


@pytest.fixture(params=NAMES)
def name(request, tmp_path, monkeypatch, dumbbell):
    """A name, and a scenario file that has it in the current directory."""
    monkeypatch.chdir(tmp_path)
    name = NAMES[request.param]
    Path(f"{name}.toml").write_text(dumbbell)
    return name


def done(capsys, *words):
    """Run a command that succeeds, and return the lines it printed."""
    assert main([*words]) == 0, capsys.readouterr().err
    printed = capsys.readouterr()
    assert "internal error" not in printed.err
    return (printed.out + printed.err).splitlines()


@pytest.mark.slow
def test_commands_on_a_scenario(name, capsys):
    file = f"{name}.toml"
    assert done(capsys, "check", file)[-1].startswith(f"{one_line(file)}: valid")
    done(capsys, "draw", file, "--out", f"{name}d")
    done(capsys, "export", file, "--to", "tc", "--out", f"{name}t")
    assert done(capsys, "run", file, *SHORT, "--out", f"{name}r")[-1].startswith(f"Results: {one_line(name)}r/")
    printed = done(capsys, "sweep", file, "--grid", "flow.tcp.count=2,3", *SHORT, "--out", f"{name}s")
    assert any(line.startswith("Study ") and one_line(f"{name}s") in line for line in printed)
    assert done(capsys, "results", "ls", f"{name}s")[-1].startswith(f"{one_line(name)}s: 1 sweep with 4 runs")
    done(capsys, "results", "gc", f"{name}s")


@pytest.mark.slow
def test_a_comparison_its_tables_and_its_page(name, capsys):
    words = ("--out", f"{name}c", "--csv", f"{name}.csv", "--latex", f"{name}.tex")
    printed = done(capsys, "compare", f"{name}.toml", "--aqm", "red,codel", *SHORT, *words)
    assert f"csv: {one_line(name)}.csv" in printed
    (folder,) = Path(f"{name}c").glob("*-compare-*")
    page = f"{name}.html"
    assert done(capsys, "report", str(folder), "--out", page, "-q")[-1] == f"Report: {one_line(page)}"
    text = Path(page).read_text(encoding="utf-8")
    assert "\udcff" not in text


def test_imported_files(name, capsys):
    Path(f"{name}.tc").write_text("tc qdisc add dev eth0 root fq_codel\n")
    assert f"Imported: {one_line(name)}.out.toml" in done(capsys, "import", f"{name}.tc", "--out", f"{name}.out.toml")
    done(capsys, "check", f"{name}.out.toml")


@pytest.mark.parametrize(
    "words",
    [
        ("check", "{}none.toml"), ("run", "{}.toml", "--set", "run.duration={}"), ("compare", "{}.toml", "--aqm", "{}"),
        ("list", "{}"), ("report", "{}"), ("results", "ls", "{}"), ("replay", "{}.toml", "{}"), ("reproduce", "{}"),
        ("--plugin", "{}.py", "check", "{}.toml"), ("{}",),
    ],
)  # fmt: skip
def test_messages_are_one_line(name, words, capsys, monkeypatch):
    monkeypatch.setenv("AQMLAB_PLUGINS", "")
    assert main([word.format(name) for word in words]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1, message
    assert "internal error" not in message


def test_an_override_that_is_no_text_is_named(name, capsys):
    assert main(["run", f"{name}.toml", "--set", f"{name}=1"]) == 2
    assert one_line(name) in capsys.readouterr().err


@pytest.mark.parametrize("text", ["plain", "two words", "it's", *NAMES.values(), "\x1b[2J", "back\\slash\n"])
def test_a_shell_reads_its_word_again(text):
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    script = f"printf %s {shell_word(text)}"
    assert subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout == os.fsencode(text)


def test_names_of_parts_are_rejected_on_one_line(name, capsys, dumbbell):
    text = dumbbell.replace('name = "tcp"', 'name = "t\\ncp"').replace('name = "small"', 'name = "sm\\nall"')
    Path("parts.toml").write_text(text)
    assert main(["check", "parts.toml"]) == 2
    message = capsys.readouterr().err
    assert all(line.startswith("parts.toml:") for line in message.splitlines()), message
