"""``--assert``: verdicts of bounds, their files and exit codes, and the fixture of pytest."""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.runs.assertions import Assertion, _judged, judged, junit, markdown
from aqmlab.runs.bounds import bounds_of
from aqmlab.statistics import Verdict, interval
from conftest import DUMBBELL

pytest_plugins = ["pytester"]

RANDOM = 'start = { uniform = ["0s", "1s"] }'


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("assertions") / "small.toml"
    path.write_text(DUMBBELL.replace('start = "0s"', RANDOM))
    return path


def verdict(text: str, *values: float) -> Verdict:
    (bound,) = bounds_of([text], option="--assert")
    return bound.verdict(interval(list(values)))


def test_a_bound_holds_where_the_whole_interval_keeps_it():
    assert verdict("mean_delay < 20ms", 10, 11, 12) is Verdict.HOLDS
    assert verdict("mean_delay < 11ms", 10, 11, 12) is Verdict.UNDECIDED
    assert verdict("mean_delay < 8ms", 10, 11, 12) is Verdict.FAILS
    assert verdict("mean_delay > 8ms", 10, 11, 12) is Verdict.HOLDS
    assert verdict("mean_delay < 20ms", 10) is Verdict.UNDECIDED, "one run has no interval"


def test_equal_runs_are_judged_by_their_value():
    assert [verdict(f"loss {sign} 1%", 0.01, 0.01) for sign in ("<=", "<", ">=", ">")] == [
        *(Verdict.HOLDS, Verdict.FAILS),
        *(Verdict.HOLDS, Verdict.FAILS),
    ]
    assert verdict("loss < 2%", 0.01, 0.01) is Verdict.HOLDS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("delay.p99 < 0.05s", "delay_p99_ms<50"),
        ("utilization >= 90%", "utilization>=0.9"),
        ("goodput>1500kbps", "goodput_mbps>1.5"),
        ("max_queue <= 40p", "max_queue<=40"),
        ("goodput.web >= 2", "goodput_mbps.web>=2"),
        ("loss@down<1%", "loss@down <1%"),
        ("delay_p99@a->b<20ms", "delay_p99_ms@a->b <20"),
        ("loss@a->b->c >= 0.109", "loss@a->b->c >=10.9%"),
    ],
)
def test_units_of_bounds(text, words):
    assert [bound.words for bound in bounds_of([text], option="--assert")] == [words]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("utilization", '--assert "utilization": write it as METRIC>=VALUE'),
        ("utilization = 1", "write it as METRIC>=VALUE"),
        ("utilization >= 1e", "1e is not a number"),
        ("delay_p99 < 20p", "delay_p99_ms has no unit p (allowed: us, ms, s)"),
        ("delya_p99 < 20ms", 'unknown metric "delya_p99"'),
        ("loss < 2.35", "loss never has the value 235 % (allowed: from 0 to 100 %; a number alone is a fraction)"),
        ("utilization >= 90", "utilization never has the value 90 (allowed: from 0 to 1)"),
        ("delay_p99 > -5ms", "delay_p99_ms never has the value -5 ms (allowed: at least 0 ms)"),
        ("delay_p99 < 1e999", "delay_p99_ms never has the value inf"),
        ("timeouts < 20%", "timeouts has no unit % (allowed: a number alone)"),
    ],
)
def test_bounds_that_cannot_be_judged(file, tmp_path, capsys, text, said):
    assert main(["run", str(file), "--out", str(tmp_path), "--assert", text]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--junit", "x.xml"], "--junit: is for --assert"),
        (["--junit", "-", "--assert", "loss < 1"], '--junit "-": name a file'),
        (["--markdown", ".", "--assert", "loss < 1"], '--markdown ".": name a file'),
        (["--junit", "x", "--markdown", "x", "--assert", "loss < 1"], "both are x"),
    ],
)
def test_files_that_cannot_be_written(file, capsys, words, said):
    assert main(["run", str(file), *words]) == 2
    assert said in capsys.readouterr().err


def test_a_command_that_fails_leaves_no_older_verdicts(tmp_path, capsys):
    old = tmp_path / "verdicts.xml"
    old.write_text("<testsuites/>")
    assert main(["run", str(tmp_path / "none.toml"), "--assert", "loss < 1", "--junit", str(old)]) == 2
    assert "command unfinished" in ElementTree.parse(old).find("testsuite/testcase/error").get("message")


def test_runs_without_the_quantity_decide_nothing(file, tmp_path, capsys):
    assert main(["run", str(file), "--out", str(tmp_path), "--assert", "jain_1s >= 0.9"]) == 3
    said = capsys.readouterr()
    needs = "it needs endless TCP flows and probe.flow_interval (they have"
    assert f"undecided: jain_1s>=0.9: 3 of 3 runs have no jain_1s: {needs}" in " ".join(said.out.split())
    assert "more --seeds" not in said.err
    metrics = pd.DataFrame({"seed": [1, 2, 3], "fct_mean_ms": [10.0, 11.0, math.nan]})
    (bound,) = bounds_of(["fct_mean < 1s"], option="--assert")
    one = _judged(bound, "", metrics, 0.95, "")
    assert one.verdict is Verdict.UNDECIDED
    assert one.line().endswith("1 of 3 runs have no fct_mean_ms")


def test_a_call_without_a_bound_is_an_error(file):
    with pytest.raises(aqmlab.InputError, match="no bound is given"):
        aqmlab.judge(aqmlab.run(file, seeds=2, progress=False), [])
    with pytest.raises(aqmlab.InputError, match="a bound is a text"):
        bounds_of([["loss < 1"]], option="holds")


def test_a_bound_counts_once(file):
    result = aqmlab.run(file, seeds=3, progress=False)
    (one,) = aqmlab.judge(result, ["loss < 1", "loss<100%"])
    assert one.found.level == 0.95


def test_exit_codes_of_run(file, tmp_path, capsys):
    run = ["run", str(file), "--seeds", "5", "--out", str(tmp_path / "results")]
    files = {"--junit": tmp_path / "verdicts.xml", "--markdown": tmp_path / "verdicts.md"}
    options = [word for option, path in files.items() for word in (option, str(path))]
    assert main([*run, "--assert", "utilization >= 0.5", *options]) == 0
    assert "holds: utilization>=0.5: 0." in capsys.readouterr().out
    mean = aqmlab.run(file, seeds=5, progress=False).metrics()["mean_delay_ms"].mean()
    undecided = f"mean_delay < {mean}ms"
    assert main([*run, "--assert", undecided]) == 3
    assert "more --seeds may decide" in capsys.readouterr().err
    assert main([*run, "--assert", undecided, "--assert", "loss <= 0", *options]) == 1
    said = capsys.readouterr()
    assert "fails: loss<=0% (1 of 2 verdicts)" in said.err
    assert "undecided: mean_delay_ms<" in said.out
    suite = ElementTree.fromstring(files["--junit"].read_text()).find("testsuite")
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        **{"tests": "2", "failures": "1", "errors": "1"}
    }
    assert suite.find("testcase[@name='loss<=0%']/failure") is not None
    assert "| fails | loss&lt;=0% |" in files["--markdown"].read_text()


def test_machine_output(file, tmp_path, capsys):
    run = ["run", str(file), "--seeds", "5", "--out", str(tmp_path), "--json"]
    assert main([*run, "--assert", "loss <= 0"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["assertions"]
    assert (found["metric"], found["verdict"], found["n"]) == ("loss", "fails", 5)
    assert main(run) == 0
    assert "assertions" not in json.loads(capsys.readouterr().out)


def test_each_discipline_of_a_comparison_is_judged(file, tmp_path, capsys):
    words = ["--seeds", "5", "--out", str(tmp_path), "--assert", "mean_delay < 60ms", "--assert", "loss <= 0"]
    assert main(["compare", str(file), "--aqm", "red,drop-tail", *words]) == 1
    said = capsys.readouterr()
    assert "fails: loss<=0% (red)" in said.out
    assert "(drop-tail)" in said.out


def test_each_point_of_a_sweep_is_judged(file, tmp_path, capsys):
    words = ["--grid", "flow.tcp.count=1,3", "--seeds", "4", "--out", str(tmp_path), "--assert", "utilization>=0.1"]
    assert main(["sweep", str(file), *words]) == 0
    said = capsys.readouterr().out
    assert "holds: utilization>=0.1 (flow.tcp.count=1)" in said
    assert "holds: utilization>=0.1 (flow.tcp.count=3)" in said
    assert "made at 97.5 %, so that 95 % hold for all of them (Bonferroni)." in " ".join(said.split())


def test_points_that_differ_little_are_judged_each(file, tmp_path, capsys):
    words = ["--grid", "queue.bottleneck.limit=12345671B,12345672B", "--seeds", "3", "--out", str(tmp_path), "--json"]
    assert main(["sweep", str(file), *words, "--assert", "utilization>=0.1"]) == 0
    found = json.loads(capsys.readouterr().out)["assertions"]
    assert [one["of"] for one in found] == [f"queue.bottleneck.limit={limit}" for limit in (12345671, 12345672)]
    assert all(one["level"] == 0.975 for one in found)


def test_intervals_hold_for_all_verdicts_together(file):
    result = aqmlab.run(file, seeds=6, progress=False)
    alone, *_ = aqmlab.judge(result, "mean_delay < 1s")
    among, *_ = aqmlab.judge(result, ["mean_delay < 1s", "utilization > 0", "loss < 1"])
    assert among.found.mean == alone.found.mean
    assert among.found.low < alone.found.low < alone.found.high < among.found.high


def test_another_link_is_judged(file, tmp_path, capsys):
    run = ["run", str(file), "--seeds", "3", "--out", str(tmp_path), "--json"]
    assert main([*run, "--assert", "utilization > 0.5", "--assert", "utilization@left.tcp.0 < 0.5"]) == 0
    bottleneck, access = json.loads(capsys.readouterr().out)["assertions"]
    assert (bottleneck["link"], access["link"]) == (None, "left.tcp.0")
    assert access["mean"] < bottleneck["mean"]
    assert main([*run, "--assert", "loss@none < 1"]) == 2
    assert 'unknown link "none"' in capsys.readouterr().err


def test_runs_in_doubt_decide_nothing(file):
    result = aqmlab.run(file, seeds=3, progress=False)
    (one,) = judged(bounds_of(["utilization > 0"], option="--assert"), result, doubt="a run has no valid certificate")
    assert one.verdict is Verdict.UNDECIDED
    assert one.line().endswith("; a run has no valid certificate")


def test_names_are_data_in_the_files():
    (bound,) = bounds_of(["loss < 1"], option="--assert")
    found = interval([0.1, 0.2])
    one = Assertion(bound, 'a|b<c>&"\n', found, Verdict.FAILS)
    case = ElementTree.fromstring(junit("x<y", [one])).find("testsuite/testcase")
    assert (case.get("classname"), case.get("name")) == ("x<y", 'loss<100% (a|b<c>&"\n)')
    row = markdown("x", [one]).splitlines()[4]
    assert row.startswith('| fails | loss&lt;100% | a\\|b&lt;c>&"  | 15.000 %, interval ')


def test_the_fixture_of_pytest(pytester, file):
    pytester.makepyfile(f"""
        import aqmlab

        FILE = {str(Path(file))!r}

        def test_holds(holds):
            assert holds(FILE, "utilization >= 0.5", seeds=3).seeds == [1, 2, 3]

        def test_fails(holds):
            holds(aqmlab.run(FILE, seeds=3, progress=False), "loss <= 0", "utilization >= 0.5")
    """)
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*fails: loss<=0%: [0-9]**"])
    done.stdout.no_fnmatch_line("*utilization>=0.5: *")
