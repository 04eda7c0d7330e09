"""Each command on a terminal of 80 columns: an answer, a short table, nothing cut, no two heads alike."""

from pathlib import Path

import pandas as pd
import pytest

import aqmlab
from aqmlab.arena.evaluation import METRICS
from terminal import check_screen

CLAIMS = Path(__file__).parents[2] / "docs" / "validation" / "claims.csv"


@pytest.fixture(autouse=True)
def eighty(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal with colours: heads are plain all the same


@pytest.fixture(scope="module")
def result(small_file):
    return aqmlab.run(small_file, seeds=2, progress=False, workers=1)


@pytest.fixture(scope="module")
def small_file(tmp_path_factory):
    from conftest import DUMBBELL

    path = tmp_path_factory.mktemp("small") / "small.toml"
    path.write_text(DUMBBELL.replace('"3s"', '"2s"'))
    return path


def printed(capsys):
    return capsys.readouterr().out


@pytest.mark.parametrize(("details", "most"), [(False, 16), (True, 56)])
def test_run_and_live(result, capsys, details, most):
    from aqmlab.cli.runs import show_run

    show_run(result, details=details)
    check_screen(printed(capsys), most=most)


def test_live_compares_with_the_simulation(result, capsys):
    from types import SimpleNamespace

    from aqmlab.live.agreement import Agreement
    from aqmlab.live.cli.live import _print

    certificate = {"measured": {"lateness_us": {"p99": 63}}, "valid": True, "breaches": []}
    runs = SimpleNamespace(result=result, agreement=Agreement.of(result, result), certificates={1: certificate})
    for details, most in ((False, 16), (True, 90)):
        _print(runs, None, details=details)
        text = printed(capsys)
        assert text.startswith("Simulation against real TCP: ")
        check_screen(text, most=most)


def test_compare_of_wide_numbers(result):
    from aqmlab.results.quantities import in_order
    from aqmlab.runs.comparison_matrix import Cell, Matrix, left_out, lines_of

    keys = in_order(result.metrics().columns)
    keys += ["goodput_mbps.interactive-down", "goodput_mbps.interactive-up"]
    cells = {(label, key): Cell(8.3e-6, 0.0, 4.6e-5, "lower", 2) for label in ("red", "fq-codel") for key in keys}
    matrix = Matrix(["red", "fq-codel"], keys, cells)
    check_screen("\n".join(lines_of(matrix)), most=80)
    short = list(lines_of(matrix, most=24))
    assert len(short) <= 24
    assert left_out(matrix, most=24)


@pytest.mark.parametrize(("details", "most"), [(False, 24), (True, 100)])
def test_sweep(small_file, tmp_path, capsys, details, most):
    from aqmlab.cli.sweeps import print_study

    grid = {"queue.bottleneck.max_th": "10p,15p", "queue.access.limit": "50p,100p", "flow.tcp.count": "1,2"}
    study = aqmlab.sweep(small_file, grid=grid, seeds=1, out=tmp_path / "store", workers=1, progress=False)
    print_study(study, details=details)
    text = printed(capsys)
    assert text.startswith("Over 8 points of max_th, limit and count: mean queue "), "one seed has no intervals"
    check_screen(text, most=most)


def reproductions():
    from aqmlab.papers.outcome import Reproduction

    claims = pd.read_csv(CLAIMS, keep_default_na=False)
    for paper, own in claims.groupby("paper", sort=False):
        yield Reproduction(
            paper, paper.upper(), "", {}, own.reset_index(), pd.DataFrame(), Path("r"), Path("r/report.html")
        )


def test_reproduce(capsys):
    from aqmlab.papers.cli import _print_overview, _print_reproduction
    from aqmlab.papers.outcome import Overview

    papers = list(reproductions())
    for one in papers:
        _print_reproduction(one, details=False)
        text = printed(capsys)
        assert text.replace("\n", " ").startswith(f"Claims of {one.name} as their authors state them: of ")
        check_screen(text, most=34)
    overview = Overview(papers, pd.concat([one.claims for one in papers]), Path("report.html"))
    _print_overview(overview, as_json=False, details=False)
    check_screen(printed(capsys), most=24, labels=2)
    _print_overview(overview, as_json=False, details=True)
    check_screen(printed(capsys), most=400, labels=3)


def test_rfc7928(capsys):
    from aqmlab.rfc7928.cli import _print
    from aqmlab.rfc7928.suite import Characterization

    rows = [
        {
            "section": f"8.2.{number}",
            "scenario": "a long NewReno flow, then short ones of 50 packets, one every 5 s; IW 3",
            "discipline": name,
            **{f"{what}, %{end}": value for what in ("delay", "goodput") for end, value in ENDS.items()},
            **{"delay, p": 1e-9, "delay is": "less", "goodput, p": 0.2, "goodput is": "undecided"},
        }
        for number in range(38)
        for name in ("red", "codel", "pie")
    ]
    requirements = pd.DataFrame({"level": ["must", "may"], "status": ["not run", "answered"]})
    tables = {"against": pd.DataFrame(rows)}
    found = Characterization([], requirements, tables, Path("f"), Path("f/report.html"), {}, quick=True, seconds=9.0)
    _print(found, details=False)
    text = printed(capsys)
    assert text.startswith("Against drop-tail, of 38 scenarios: red has less delay in 38, no decided\ndifference in ")
    assert "Requirements of RFC 7928: 1 answered, 1 not run." in text
    check_screen(text, most=20, labels=2)
    _print(found, details=True)
    check_screen(printed(capsys), most=1000, labels=3)


ENDS = {"": -93.6123456, " low": -94.5, " high": -92.7}


def test_analyze(small_file, capsys):
    from aqmlab.cli.analyses import _print

    found = aqmlab.analyze(small_file, seeds=2, progress=False, workers=1)
    for details, most in ((False, 16), (True, 60)):
        _print(found, details=details)
        check_screen(printed(capsys), most=most)


def test_arena(capsys):
    from types import SimpleNamespace

    from aqmlab.arena.cli import _show

    rows = [
        {"scenario": scenario, "baseline": baseline, "metric": key, "percent": -1234.56, "verdict": "lower"}
        for scenario in ("rfc7928-changing", "lte")
        for baseline in ("red", "codel", "pie")
        for key in METRICS
    ]
    _show(SimpleNamespace(policy="policy.toml", table=pd.DataFrame(rows), seeds=[1, 2]))
    text = printed(capsys)
    assert text.startswith("policy.toml, of 6 comparisons with a tuned baseline: ")
    check_screen(text, most=20, labels=2)


@pytest.mark.parametrize(
    ("words", "most"),
    [
        (["list"], 24),
        (["list", "red"], 32),
        (["list", "cake"], 40),
        (["list", "red", "--details"], 300),
        (["list", "quantities"], 60),
        (["list", "--details"], 260),
        (["arena", "list"], 20),
        (["init"], 60),
    ],
)
def test_lists(words, most, capsys):
    from aqmlab.cli import main

    assert main(words) == 0
    check_screen(printed(capsys), most=most, labels=2)


def test_an_unknown_metric_gets_one_short_line(small_file, capsys):
    from aqmlab.cli import main

    assert main(["run", str(small_file), "--assert", "delya_p99<20ms"]) == 2
    err = capsys.readouterr().err
    assert err == 'aqmlab: unknown metric "delya_p99" (did you mean delay_p99_ms? All: aqmlab list quantities)\n'


@pytest.mark.parametrize(
    "text",
    [
        "a  b\n─────\n" + "1" * 81,
        "name  goo…\n──────────\nred   1",
        "    good-  good-\n    put    put\n────────────────\nred  1      2",
        "metric      mean\n────────────────\ndelay_p9    1\ndelay_p9    2",
    ],
)
def test_the_rules_find_what_was_wrong(text):
    with pytest.raises(AssertionError):
        check_screen(text, most=9)
