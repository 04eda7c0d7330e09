"""Every command once, as a user calls it, with its output for people and for machines."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from pathlib import Path

import pytest
import typer
import yaml

import aqmlab
from aqmlab.cli import app, main
from aqmlab.cli.manual import roff_text, walk
from aqmlab.cli.output import warn
from aqmlab.results.quantities import QUANTITIES
from aqmlab.runs.progress import Talk, talking
from aqmlab.scenario.registry import discipline

pytestmark = pytest.mark.slow


def test_version(shell):
    answer = shell("--version")
    assert (answer.code, answer.out) == (0, f"aqmlab {aqmlab.__version__}\n")


def test_citations_agree(shell):
    file = yaml.safe_load((Path(__file__).parents[2] / "CITATION.cff").read_text())
    answer = shell("--cite")
    assert answer.code == 0
    assert file["version"] == aqmlab.__version__
    year = file["date-released"].year
    for line in (
        f"  author  = {{{{{file['authors'][0]['name']}}}}},",
        f"  title   = {{{file['title']}}},",
        f"  year    = {{{year}}},",
        f"  version = {{{file['version']}}},",
    ):
        assert line in answer.out.splitlines()


def test_help_names_every_command(shell):
    answer = shell("--help")
    assert answer.code == 0
    for command in ("run", "compare", "analyze", "reproduce", "report", "list", "check", "draw"):
        assert command in answer.out


def test_run(shell):
    answer = shell("run", "small.toml", "--seeds", "2", "--workers", "1")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("red at link bottleneck: mean queue ")
    assert "small: means at link bottleneck, 2 seeds, 95 % intervals" in answer.out
    assert "\nTransport: newreno (profile ns2-2.35).\n" in answer.out
    assert len(answer.out.splitlines()) < 20
    (folder,) = (path for path in (shell.folder / "results").iterdir() if path.is_dir())
    assert answer.out.endswith(f"Results: results/{folder.name}\n")


def test_details_of_a_run_are_all_quantities(shell):
    words = ("run", "small.toml", "--seeds", "2")
    assert "capacity_used" not in shell(*words).out
    assert "capacity_used" in shell(*words, "--details").out


def test_run_json_is_json_and_nothing_else(shell):
    answer = shell("run", "small.toml", "--seeds", "1,3", "--set", "run.duration=2s", "--out", "o", "--json")
    data = json.loads(answer.out)
    assert data["seeds"] == [1, 3]
    assert {row["metric"] for row in data["metrics"]} >= {"throughput_mbps", "loss", "mean_queue"}
    assert answer.err == ""


def test_compare(shell):
    words = ("compare", "small.toml", "--aqm", "red,drop-tail", "--seeds", "2")
    answer = shell(*words)
    assert answer.code == 0
    assert answer.out.startswith("Against red: ")
    assert "Differences against red" not in answer.out
    assert "Differences against red, 95 % intervals" in shell(*words, "--details").out
    data = json.loads(shell(*words, "--json").out)
    assert data["aqm"] == ["red", "drop-tail"]
    assert {row["n"] for row in data["differences"]} == {2}
    assert set(data) == {
        "scenario", "queue", "link", "aqm", "folder", "notes", "means", "differences", "pairing", "warm_up",
        "inactive", "stopping", "evaluation", "warnings", "tests",
    }  # fmt: skip


def test_compare_of_six_fits_into_80_columns(shell):
    names = ["drop-tail", "red", "mred", "codel", "fq-codel", "pie"]
    answer = shell("compare", "small.toml", "--aqm", ",".join(names), "--seeds", "3")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert max(len(line) for line in lines if not line.startswith("Results: ")) <= 80
    head = next(index for index, line in enumerate(lines) if line.startswith("─"))
    rows = lines[head + 1 : next(index for index, line in enumerate(lines) if line.startswith("↑"))]
    assert [line.split()[0] for line in rows if not line.startswith(" ")] == names
    assert all(set(line) <= set(" ±+−.0123456789") for line in rows if line.startswith(" "))
    assert len(lines) <= 40


def test_compare_of_settings(shell):
    words = ("compare", "small.toml", "--seeds", "2", "--aqm", "red", "--with")
    answer = shell(*words, "red-tight={ aqm = 'red', max_th = '10p' }")
    assert (answer.code, answer.err) == (0, "")
    assert "\nred-tight " in answer.out
    assert "Results: results/small-compare-red-red-tight\n" in answer.out
    data = json.loads(shell(*words, "red-tight={ aqm = 'red', max_th = '10p' }", "--json").out)
    assert data["aqm"] == ["red", "red-tight"]
    assert data["settings"] == {"red-tight": {"aqm": "red", "max_th": "10p"}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tight", "aqmlab: --with tight: write it as NAME={ aqm = 'red', min_th = '5p', ... }\n"),
        (
            "x={ aqm = 'red', max_p = inf }",
            "aqmlab: --with x max_p: inf is out of range (allowed: finite numbers)\n",
        ),
        (
            "tight={ max_th = '20p' }",
            "aqmlab: settings \"tight\": the discipline is missing; add aqm, for example aqm = 'red'\n",
        ),
        ("red={ aqm = 'codel' }", 'has aqm = "codel" under the name of another discipline; rename it'),
        ("tight={ aqm = 'rde' }", "did you mean red?"),
        ("a/b={ aqm = 'red' }", 'settings "a/b": cannot be a label (allowed: 1 to 24 of the characters'),
        (
            "tight={ aqm = 'red', max_p = 7 }",
            'settings "tight": queue.bottleneck.max_p: 7 is out of range (allowed: 0 <= x <= 1)\n',
        ),
    ],
)
def test_settings_that_cannot_be_compared_are_reported_in_one_line(shell, text, message):
    answer = shell("compare", "small.toml", "--aqm", "red,mred", "--with", text)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_compare_writes_latex_and_csv(shell):
    words = ("compare", "small.toml", "--aqm", "red,drop-tail", "--seeds", "2")
    answer = shell(*words, "--latex", "paper/table.tex", "--csv", "-")
    assert answer.code == 0
    rows = list(csv.DictReader(io.StringIO(answer.out)))
    assert {row["aqm"] for row in rows} == {"red", "drop-tail"}
    assert {row["verdict"] for row in rows if row["aqm"] == "red"} == {""}
    text = (shell.folder / "paper" / "table.tex").read_text()
    assert r"\toprule" in text
    assert text == shell(*words, "--latex", "-").out
    answer = shell(*words, "--latex", "-", "--json")
    message = "aqmlab: --latex -, --csv - and --json: one of them prints; name a file for the others\n"
    assert (answer.code, answer.err) == (2, message)
    answer = shell(*words, "--csv", "paper")
    assert (answer.code, answer.err) == (2, "aqmlab: --csv paper: is a folder; name a file, or - to print\n")


def test_check(shell):
    answer = shell("check", "small.toml")
    assert (answer.code, answer.out) == (0, "small.toml: valid (small, 14 links, 3 flows, 3 s)\n")
    assert json.loads(shell("check", "small.toml", "--json").out)["ok"] is True


def test_check_json_lists_the_errors(shell):
    answer = shell("check", "small.toml", "--set", "queue.bottleneck.aqm=rde", "--json")
    data = json.loads(answer.out)
    assert answer.code == 2
    assert data["ok"] is False
    assert {"key": "queue.bottleneck.aqm", "suggestion": "red"}.items() <= data["errors"][-1].items()


def test_list(shell):
    answer = shell("list")
    assert answer.code == 0
    # Other tests of this process may have registered plug-ins, which the command does not know.
    assert all(discipline.name in answer.out for discipline in aqmlab.disciplines() if not discipline.foreign)
    shown = shell("list", "pc-red").out
    assert "loss_limit" in shown
    assert "ared_alpha" not in shown
    assert "[average, p_b]" not in shown
    assert "[average, p_b]" in shell("list", "pc-red", "--details").out
    data = json.loads(shell("list", "red", "--json").out)
    assert {"key", "unit", "default"} <= set(data["parameters"][0])
    own = {parameter.key for parameter in discipline("red").own_parameters}
    assert {parameter["key"] for parameter in data["parameters"]} == own
    assert len(json.loads(shell("list", "red", "--all", "--json").out)["parameters"]) == len(own) + 43
    whole = {entry["name"]: entry for entry in json.loads(shell("list", "--json").out)["disciplines"]}
    assert whole["red"] == data
    assert "43 more parameters have an effect with another part" in shell("list", "red").out
    assert "ared_alpha" in shell("list", "pc-red", "--all").out
    details = shell("list", "--details").out
    assert "BBRv3, draft-ietf-ccwg-bbr-06" in details
    assert "TCP by the RFCs" in details
    quantities = json.loads(shell("list", "quantities", "--json").out)
    assert [one["key"] for one in quantities] == list(QUANTITIES)
    assert all(key in shell("list", "quantities").out for key in QUANTITIES)
    assert "99th percentile" in shell("list", "fct_p99_ms.short").out
    assert "congestion_control" in shell("list", "tcp").out
    shown = shell("list", "tcp", "--details").out
    assert "RFC 6928" in shown
    assert json.loads(shell("list", "tcp", "--json").out)["profile"] == "rfc"


def test_run_names_the_version_of_its_congestion_control(shell):
    text = (shell.folder / "small.toml").read_text().replace('transport = "newreno"', 'transport = "tcp"')
    (shell.folder / "bbr.toml").write_text(text + "\n")
    words = ["--set", "flow.tcp.tcp.congestion_control=bbr", "--seeds", "1"]
    answer = shell("run", "bbr.toml", *words)
    assert "\nTransport: tcp-bbr (profile rfc, BBRv3, draft-ietf-ccwg-bbr-06).\n" in answer.out


def test_more_priority_than_allowed_is_reported(shell):
    words = ["--set", "queue.bottleneck.aqm=pc-red", "--set", "queue.bottleneck.r_p_max=0.4"]
    answer = shell("run", "small.toml", *words, "--set", "flow.tcp.priority=true")
    assert answer.code == 0
    assert "ask for priority, more than r_p_max = 0.4 allows" in answer.err
    assert answer.err.startswith("aqmlab: warning: link bottleneck: ")
    assert shell("run", "small.toml", *words).err == ""


def test_schema(shell):
    assert json.loads(shell("schema").out) == json.loads(json.dumps(aqmlab.schema()))


def test_draw(shell):
    answer = shell("draw", "small.toml", "--out", "pictures")
    assert answer.code == 0
    assert answer.out.split() == ["pictures/small-topology.svg", "pictures/small-drop-curve.svg"]
    assert sorted(p.name for p in (shell.folder / "pictures").iterdir()) == [
        "small-drop-curve.svg",
        "small-topology.svg",
    ]
    svg = (shell.folder / "pictures" / "small-topology.svg").read_text()
    assert "left.tcp × 3" in svg
    assert "currentColor" in svg


def test_report(shell):
    shell("run", "small.toml", "--seeds", "2")
    answer = shell("report", "results")
    assert (answer.code, answer.out) == (0, "Report: results/report.html\n")
    assert (shell.folder / "results" / "report.html").stat().st_size > 500_000


def test_a_scenario_of_a_paper_comes_with_the_package(shell):
    answer = shell("check", "paper:mred/sole.toml", "--set", "flow.tcp.count=5")
    assert (answer.code, answer.out) == (0, "paper:mred/sole.toml: valid (mred-sole, 22 links, 5 flows, 50 s)\n")


@pytest.mark.parametrize("name", aqmlab.__all__)
def test_every_public_name_exists(name):
    assert getattr(aqmlab, name) is not None


def test_importing_a_part_does_not_hide_a_function():
    import aqmlab.papers.reproduction
    import aqmlab.runs.comparison
    import aqmlab.runs.runner

    assert callable(aqmlab.run)
    assert callable(aqmlab.compare)
    assert callable(aqmlab.reproduce)


def test_every_command_is_in_a_group_of_the_help(shell):
    out = shell("-h").out
    assert "\nSimulate:\n  run " in out
    assert "Other:" not in out, "a command that no group has"
    assert "..." not in out.partition("Simulate:")[2]
    assert "Usage: aqmlab run" in shell("run", "-h").out


def test_examples_come_with_the_package(shell):
    listed = shell("init").out
    assert "dumbbell-red" in listed
    assert shell("check", "example:dumbbell-red").code == 0
    assert shell("init", "chain").out.startswith("chain.toml: Long and short TCP flows")
    assert shell("check", "chain.toml").code == 0
    again = shell("init", "chain")
    assert (again.code, again.err) == (2, "aqmlab: chain.toml: is there already (another name: --out FILE)\n")
    assert "did you mean chain?" in shell("run", "example:chian").err


@pytest.mark.parametrize("words", ["", *(words for words, _ in walk(typer.main.get_command(app)))])
def test_each_help_is_a_screen_with_an_example(words, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main([*words.split(), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 50
    assert max(len(line) for line in lines) <= 80
    assert not [line for line in lines if "--" in line and "<str>" in line], "a value of an option has a name"
    examples = lines[lines.index("Examples:" if "Examples:" in lines else "Example:") + 1 :]
    assert all("aqmlab" in line for line in examples)


def test_examples_of_helps_use_commands_and_options_that_exist():
    commands = dict(walk(typer.main.get_command(app)))
    for words, command in commands.items():
        for line in (command.epilog or "").splitlines():
            typed = shlex.split(line.removeprefix("sudo ").partition(" > ")[0])
            assert typed[1 : 1 + len(words.split())] == words.split(), line
            known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)}
            assert {word for word in typed if word.startswith("-")} <= known, line


def test_quiet_commands_print_no_warning(capsys):
    warn("a queue of 0 packets")
    with talking(Talk.QUIET):
        warn("a queue of 1 packet")
    assert capsys.readouterr().err == "aqmlab: warning: a queue of 0 packets\n"


def test_verbose_commands_tell_of_finished_runs(shell):
    answer = shell("run", "small.toml", "--seeds", "2", "-v")
    assert answer.code == 0
    assert re.fullmatch(r"(aqmlab: small: \d of 2 done after \d+\.\d s\n)+", answer.err)
    assert "aqmlab: small: 2 of 2 done" in answer.err
    assert shell("run", "small.toml", "-q", "-v").err == "aqmlab: --quiet, --verbose: give one of them\n"


def test_the_manual_has_every_command_and_option(shell):
    page = shell("--man").out
    assert page.startswith('.TH AQMLAB 1 "" "aqmlab')
    for words, command in walk(typer.main.get_command(app)):
        assert f".SS {roff_text(words)}\n" in page
        for option in (one.opts[-1] for one in command.params if not getattr(one, "hidden", False)):
            assert roff_text(option) in page or option.islower()


def test_results_ls_lists_runs_comparisons_tunings_and_sweeps(shell):
    assert shell("run", "small.toml", "--seeds", "1").code == 0
    assert shell("compare", "small.toml", "--aqm", "red,codel", "--seeds", "2").code == 0
    assert shell("sweep", "small.toml", "--grid", "flow.tcp.count=1,2", "--seeds", "1").code == 0
    tuned = shell.folder / "results" / "small-tune"
    tuned.mkdir()
    (tuned / "tune.json").write_text('{"aqm": "red", "goal": "minimize loss", "seeds": {"fresh": 20}}')
    answer = shell("results", "ls", "results")
    assert (answer.code, answer.err) == (0, "")
    found = {line.split()[0]: line.split() for line in answer.out.splitlines() if line.strip()}
    assert found["run"][1].startswith("small-")
    assert found["comparison"][2:] == ["2", "red,", "codel"]
    assert found["tuning"] == ["tuning", "small-tune", "20", "red,", "minimize", "loss"]
    assert found["sweep"][1] == "small"
    held = "results: 1 comparison, 1 run, 1 tuning, 1 sweep with 2 runs in 1 block"
    assert answer.out.splitlines()[-1] == held
    kinds = [one["kind"] for one in json.loads(shell("results", "ls", "results", "--json").out)["folders"]]
    assert sorted(kinds) == ["comparison", "run", "tuning"]
