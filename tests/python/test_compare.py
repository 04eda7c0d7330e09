"""Comparisons: the same seeds on each side, differences taken seed by seed."""

from __future__ import annotations

import html
import io
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.reporting.chosen import of_comparison
from aqmlab.results.folders import temporary_path
from aqmlab.results.quantities import QUANTITIES, quantity, shown_in
from aqmlab.runs.comparison import Comparison
from aqmlab.runs.comparison_exports import latex_text
from aqmlab.runs.comparison_matrix import Cell, answer, legend, lines_of, matrix_of
from aqmlab.runs.comparison_settings import DEFINITION, folder_of
from aqmlab.runs.comparison_tables import verdict
from aqmlab.statistics import benjamini_hochberg, compare_means, holm, paired

pytestmark = pytest.mark.slow


@pytest.fixture
def found(small, tmp_path):
    return aqmlab.compare(small, aqm=["red", "mred", "drop-tail"], out=tmp_path / "out", workers=2, progress=False)


def test_the_discipline_of_the_scenario_keeps_its_curve(small, tmp_path):
    curved = tmp_path / "curved.toml"
    curved.write_text(small.read_text().replace('aqm = "red"', 'aqm = "red"\ncurve = "gentle"'))
    found = aqmlab.compare(curved, aqm=["red", "mred"], seeds=1, out=tmp_path / "two", progress=False)
    alone = aqmlab.run(curved, seeds=1, out=tmp_path / "one", progress=False)
    assert found.results["red"].links.equals(alone.links)
    assert 'mred: with its own curve in place of curve = "gentle"' in found.notes


def test_differences_are_paired_by_seed(found):
    red = found.results["red"].metrics()["throughput_mbps"].to_numpy()
    mred = found.results["mred"].metrics()["throughput_mbps"].to_numpy()
    rows = found.differences.set_index(["aqm", "metric"])
    expected = paired(mred, red)
    row = rows.loc[("mred", "throughput_mbps")]
    assert row["difference"] == pytest.approx(np.mean(mred - red))
    assert row["p"] == pytest.approx(expected.p)
    assert (row["low"], row["high"]) == pytest.approx((expected.interval.low, expected.interval.high))
    assert row["against"] == "red"


def test_every_discipline_has_the_same_seeds(found):
    assert {tuple(r.seeds) for r in found.results.values()} == {(1, 2, 3)}
    assert set(found.differences["aqm"]) == {"mred", "drop-tail"}


def test_the_discipline_is_exchanged_and_the_rest_stays(found):
    for name, result in found.results.items():
        readings = result.summaries[0]["readings"]
        assert readings["bottleneck"]["aqm"] == name
        assert readings["access"]["aqm"] == "drop-tail"


def test_unknown_keys_of_a_discipline_are_reported(found):
    assert found.notes[0].startswith("drop-tail: without ")
    assert "min_th" in found.notes[0]


def test_an_override_that_some_disciplines_lack_is_named(small):
    overrides = {"queue.bottleneck.max_p": 0.3, "queue.bottleneck.limit": "40p", "run.duration": "1s"}
    found = aqmlab.compare(small, aqm=["red", "codel", "pie"], overrides=overrides, seeds=2, progress=False)
    line = "--set queue.bottleneck.max_p: codel and pie do not have max_p; it changes red"
    assert found.warnings == [line]
    assert found.notes[0] == line


def test_a_table_of_overrides_is_looked_at_key_by_key(small):
    table = {"aqm": "red", "limit": "40p", "min_th": "5p", "max_th": "15p"}
    found = aqmlab.compare(
        small, aqm=["red", "drop-tail"], overrides={"queue.bottleneck": table, "run.duration": "1s"}, seeds=2
    )
    assert [line.split(":")[1].split(";")[0] for line in found.warnings] == [
        " drop-tail does not have min_th", " drop-tail does not have max_th",
    ]  # fmt: skip


def test_an_override_that_no_discipline_has_is_an_error(small):
    expected = r"^--set queue\.bottleneck\.max_p: none of codel, pie takes max_p from the scenario$"
    with pytest.raises(aqmlab.InputError, match=expected):
        aqmlab.compare(small, aqm=["codel", "pie"], overrides={"queue.bottleneck.max_p": 0.3}, seeds=2)


def test_the_command_warns_of_overrides_that_are_dropped(shell):
    words = ("--aqm", "red,codel", "--set", "queue.bottleneck.max_p=0.3", "--set", "run.duration=1s", "--seeds", "2")
    answer = shell("compare", "small.toml", *words)
    line = "--set queue.bottleneck.max_p: codel does not have max_p; it changes red"
    assert f"aqmlab: warning: {line}\n" in answer.err


def test_differences_are_reported(found):
    assert found.notes[1:] == [
        "red -> mred: curve linear -> mred",
        "red -> drop-tail: no common parameter differs",
    ]


def test_a_comparison_is_read_back(found):
    loaded = Comparison.load(found.folder)
    assert loaded.means.equals(found.means)
    assert loaded.differences.equals(found.differences)


def is_described(rows):
    """Say of each row of differences whether its quantity is described and not tested."""
    return rows["metric"].map(lambda key: not quantity(key).is_tested)


def test_a_discipline_against_itself_differs_by_nothing(small):
    from aqmlab.runs.comparison_tables import differences_table

    result = aqmlab.run(small, workers=1, progress=False)
    table = differences_table({"a": result, "b": result}, "bottleneck")
    assert (table["difference"] == 0).all()
    assert (table["verdict"] == "equal").all()
    assert (table.loc[~is_described(table), "p"] == 1).all()


def test_described_quantities_have_intervals_and_are_no_tests(found):
    rows = found.differences[is_described(found.differences)]
    assert set(rows["metric"]) == {"max_queue", "delayed_20ms", "delayed_100ms", "jain_all"}
    assert rows.loc[rows["aqm"] == "mred", "low"].notna().all()
    assert rows[["p", "p_holm", "p_fdr"]].isna().all(axis=None)
    assert set(rows["verdict"]) == {"not tested"}
    text = legend(found.matrix(), level=0.95, tests=found.tests)
    names = ", ".join(QUANTITIES[key].in_sentence for key in QUANTITIES if key in set(rows["metric"]))
    assert f"; {names}: not tested." in text
    assert f"no arrow: undecided, or not tested ({names})" in found.latex()


def test_one_discipline_is_no_comparison(small):
    with pytest.raises(aqmlab.InputError, match="give at least two disciplines"):
        aqmlab.compare(small, aqm=["red"])
    with pytest.raises(aqmlab.InputError, match='unknown discipline "rde"'):
        aqmlab.compare(small, aqm=["red", "rde"])
    with pytest.raises(aqmlab.InputError, match=r'unknown queue "botleneck".*did you mean bottleneck'):
        aqmlab.compare(small, aqm=["red", "mred"], queue="botleneck")


def test_uncorrelated_pairs_are_compared_by_welch_with_a_note(small):
    found = aqmlab.compare(small, aqm=["red", "mred"], seeds=20, workers=2, progress=False)
    rows = found.differences.set_index("metric")
    for key, row in rows.iterrows():
        a, b = (found.results[name].metrics()[key].to_numpy() for name in ("mred", "red"))
        expected = compare_means(a, b)
        assert row["test"] == expected.test
        assert (row["low"], row["high"]) == (expected.difference.interval.low, expected.difference.interval.high)
        if quantity(key).is_tested:
            assert row["verdict"] == verdict(row["difference"], row["p_holm"])
    (line,) = found.pairing_lines()
    assert line.startswith("Pairing mred with red by seed")
    assert all(str(key) in line for key in rows.index[rows["r_low"].notna()])


def test_few_seeds_are_too_noisy_to_call(small):
    found = aqmlab.compare(small, aqm=["red", "mred"], seeds=2, workers=2, progress=False)
    assert "undecided" in set(found.differences["verdict"])
    tested = found.differences[~is_described(found.differences)]
    assert not set(tested["verdict"]) - {"higher", "lower", "equal", "undecided"}


def test_a_single_seed_has_no_interval_and_no_verdict(small):
    found = aqmlab.compare(small, aqm=["red", "mred"], seeds=1, workers=1, progress=False)
    differ = found.differences[found.differences["difference"] != 0]
    assert set(differ["verdict"]) == {"undecided"}
    assert found.differences["low"].isna().all()
    assert found.pairing_lines() == []


def test_a_screen_is_corrected_over_the_whole_table(found):
    assert found.differences["p_fdr"].to_list() == pytest.approx(
        benjamini_hochberg(list(found.differences["p"])), nan_ok=True
    )


TIGHT = {"red-tight": {"aqm": "red", "max_th": "10p"}}


@pytest.fixture
def settings_found(small, tmp_path):
    return aqmlab.compare(small, aqm=["red"], settings=TIGHT, out=tmp_path / "out", workers=2, progress=False)


def test_settings_of_one_discipline_are_compared(settings_found):
    assert settings_found.aqm == ["red", "red-tight"]
    plain, tight = (settings_found.results[name].summaries[0]["readings"]["bottleneck"] for name in settings_found.aqm)
    assert (plain["aqm"], tight["aqm"]) == ("red", "red")
    assert (plain["parameters"]["max_th"], tight["parameters"]["max_th"]) == (15.0, 10.0)
    assert plain["parameters"]["min_th"] == tight["parameters"]["min_th"] == 5.0
    assert settings_found.notes == ["red -> red-tight: max_th 15 -> 10"]
    (own,) = (chart for chart in of_comparison(settings_found) if chart.key == "compare-mean-queue")
    assert [series.name for series in own.series] == ["red", "red-tight"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({1: {"aqm": "red"}}, 'settings "1": cannot be a label'),
        ({"figures": {"aqm": "red"}}, 'settings "figures": cannot be a label'),
        ({"..": {"aqm": "red"}}, 'settings "..": cannot be a label'),
        ({"tight": "red"}, 'settings "tight": write a table'),
        ({"tight": {"aqm": ["red"]}}, 'settings "tight": unknown discipline'),
        ({"tight": {"aqm": "red"}}, "compare: give at least two disciplines"),
    ],
)
def test_settings_that_cannot_be_compared(small, settings, message):
    with pytest.raises(aqmlab.InputError, match=re.escape(message)):
        aqmlab.compare(small, settings=settings)


def test_equal_settings_under_two_labels_have_equal_results(small, tmp_path):
    settings = {"a": {"aqm": "red"}, "b": {"aqm": "red"}}
    found = aqmlab.compare(small, settings=settings, seeds=2, out=tmp_path, workers=1, progress=False)
    assert set(found.differences["verdict"]) == {"equal"}
    assert "queue, loss and TCP goodput equal" in found.answer()


def test_settings_are_read_back(settings_found):
    loaded = Comparison.load(settings_found.folder)
    assert (loaded.aqm, loaded.settings) == (settings_found.aqm, TIGHT)
    assert loaded.means.equals(settings_found.means)


def test_a_report_makes_settings_again(settings_found):
    page = html.unescape(aqmlab.report(settings_found.folder, pictures=False).read_text())
    command = '--aqm red --with \'red-tight={ aqm = "red", max_th = "10p" }\' --queue bottleneck --seeds 3'
    assert command in page
    assert 'red-tight: <code>{ aqm = "red", max_th = "10p" }</code>, the rest as in the scenario.' in page


def test_settings_under_a_discipline_s_name_are_its_own(small):
    found = aqmlab.compare(
        small, aqm=["red", "mred"], settings={"red": {"max_th": "10p"}}, seeds=1, workers=1, progress=False
    )
    assert found.aqm == ["red", "mred"]
    assert found.results["red"].summaries[0]["readings"]["bottleneck"]["parameters"]["max_th"] == 10.0
    assert found.results["mred"].summaries[0]["readings"]["bottleneck"]["parameters"]["max_th"] == 15.0


def test_settings_in_place_of_a_discipline_are_named(shell, settings_found):
    assert settings_found.settings_lines() == []
    asked = ("--aqm", "red,codel", "--seeds", "1", "--set", "run.duration=2s", "--with", "red={ max_th = '10p' }")
    text = " ".join(shell("compare", "small.toml", *asked).out.split())
    said = 'red has the settings of --with, { max_th = "10p" }, in place of the scenario\'s; under another'
    assert said in text
    page = html.unescape(aqmlab.report(shell.folder / "results", pictures=False).read_text())
    assert said in re.sub("</?code>", "", page)


def test_differences_may_be_taken_against_a_label(shell, small):
    asked = ("--aqm", "red,codel", "--seeds", "2", "--set", "run.duration=2s")
    asked += ("--with", "tight={ aqm = 'red', max_th = '9p' }")
    assert shell("compare", "small.toml", *asked, "--baseline", "tight").out.startswith("Against tight: ")
    page = html.unescape(aqmlab.report(shell.folder / "results", pictures=False).read_text())
    assert """--aqm red,codel --with 'tight={ aqm = "red", max_th = "9p" }' --baseline tight""" in page
    message = 'unknown compared discipline "tigt" (allowed: red, codel, tight; did you mean tight?)'
    assert shell("compare", "small.toml", *asked, "--baseline", "tigt").err == f"aqmlab: --baseline: {message}\n"
    found = aqmlab.compare(small, aqm=["red", "codel"], baseline="codel", seeds=1, workers=1, progress=False)
    assert (found.aqm, set(found.differences["against"])) == (["codel", "red"], {"codel"})


def test_the_folder_is_named_by_what_is_compared(small, tmp_path):
    def folder(*aqm: str, **more: Any) -> str:
        found = aqmlab.compare(small, aqm=aqm, seeds=1, out=tmp_path / "out", workers=1, progress=False, **more)
        assert found.folder is not None
        assert Comparison.load(found.folder).aqm == found.aqm
        return found.folder.name

    assert folder("red", "codel") == "small-compare-red-codel"
    assert folder("red", "mred") == "small-compare-red-mred"
    assert folder("mred", "red") == "small-compare-mred-red"
    shorter = folder("red", "codel", overrides={"run.duration": "2s"})
    assert re.fullmatch(r"small-compare-red-codel-[0-9a-f]{8}", shorter)
    tight = folder("red", "codel", settings={"red": {"max_th": "10p"}})
    assert re.fullmatch(r"small-compare-red-codel-[0-9a-f]{8}", tight)
    assert tight != shorter
    assert folder("red", "codel", overrides={"run.duration": "2s"}) == shorter
    assert folder("red", "codel") == "small-compare-red-codel"
    assert Comparison.load(tmp_path / "out" / "small-compare-red-codel").settings == {}


def test_a_definition_that_is_being_written_takes_the_folder_from_nobody(small, tmp_path):
    """Another process writes it, or was killed while it did; a file that somebody else put there is a result."""
    plan = aqmlab.Scenario.load(small)
    folder = tmp_path / "small-compare-red-codel"
    folder.mkdir()
    temporary_path(folder / DEFINITION).touch()
    assert folder_of(tmp_path, plan, ["red", "codel"], "text") == folder
    (folder / DEFINITION).write_text("text")
    assert folder_of(tmp_path, plan, ["red", "codel"], "text") == folder
    (folder / DEFINITION).write_text("another")
    assert folder_of(tmp_path, plan, ["red", "codel"], "text") != folder
    (folder / DEFINITION).rename(folder / "notes.txt")
    assert folder_of(tmp_path, plan, ["red", "codel"], "text") != folder


def test_a_long_folder_name_is_cut(small, tmp_path):
    settings = {f"red-with-a-long-label-{n}": {"aqm": "red", "max_p": 0.1 + n / 100} for n in range(6)}
    found = aqmlab.compare(small, settings=settings, seeds=1, out=tmp_path, workers=1, progress=False)
    assert found.folder is not None
    assert len(found.folder.name) <= 130


def test_the_same_comparison_runs_nothing_again(small, tmp_path):
    first, again, more = (
        aqmlab.compare(small, aqm=["red", "mred"], seeds=n, out=tmp_path, workers=1, progress=False) for n in (2, 2, 3)
    )
    assert first.folder == again.folder == more.folder
    runs = [len(one.evaluation.runs) for one in (first, again, more) if one.evaluation is not None]
    assert runs == [4, 0, 2]


def _tables(*rows: tuple[str, str, float, float, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Make the two tables of a comparison of (label, metric, mean, half-width, verdict)."""
    bases = {key: mean for label, key, mean, _, _ in rows if label == rows[0][0]}
    means = [{"aqm": a, "metric": k, "mean": m, "low": m - h, "high": m + h, "n": 5} for a, k, m, h, _ in rows]
    differences = [
        {"aqm": a, "against": rows[0][0], "metric": k, "percent": 100 * (m / bases[k] - 1), "verdict": v}
        for a, k, m, _, v in rows
        if a != rows[0][0]
    ]
    return pd.DataFrame(means), pd.DataFrame(differences)


def test_the_legend_of_one_run_says_what_to_do():
    none = float("nan")
    matrix = matrix_of(*_tables(("red", "loss", 0.02, none, ""), ("mred", "loss", 0.03, none, "undecided")))
    said = legend(matrix, level=0.95, tests=0)
    assert "--seeds 10" in said
    assert "0 tests" not in said


def test_the_legend_says_why_a_mean_has_no_interval():
    none = float("nan")
    means, differences = _tables(("red", "loss", 0.02, 0.001, ""), ("red", "max_queue", 34.0, none, ""))
    assert legend(matrix_of(means, differences), level=0.95, tests=0).endswith(" No ±: equal in all runs.")
    means.loc[1, "n"] = 2
    assert legend(matrix_of(means, differences), level=0.95, tests=0).endswith("equal in all runs with the quantity.")
    means.loc[1, "n"] = 1
    assert legend(matrix_of(means, differences), level=0.95, tests=0).endswith(" No ±: of one run.")
    means.loc[1, ["low", "high"]] = [30.0, 38.0]
    assert "No ±" not in legend(matrix_of(means, differences), level=0.95, tests=0)


@pytest.mark.parametrize("place", [0, 2])
def test_the_legend_of_equal_differences_names_the_runs_that_have_the_quantity(place):
    means, differences = _tables(
        ("red", "loss", 0.02, 0.001, ""),
        ("red", "jain", 0.9, 0.01, ""),
        ("mred", "loss", 0.02, 0.001, "equal"),
        ("mred", "jain", 0.8, 0.01, "lower"),
    )
    assert "=: equal in every run." in legend(matrix_of(means, differences), level=0.95, tests=1)
    means.loc[place, "n"] = 2
    assert "=: equal in every run with the quantity." in legend(matrix_of(means, differences), level=0.95, tests=1)


def test_titles_tell_equal_runs_from_one_run(shell):
    fixed = ("small.toml", "--set", "flow.tcp.start=0s", "--set", "queue.bottleneck={ aqm = 'codel' }")
    assert "2 seeds, equal runs have no interval" in shell("run", *fixed, "--seeds", "2").out
    assert "1 seed, one run has no interval" in shell("run", *fixed, "--seeds", "1").out


def test_the_matrix_has_an_arrow_where_a_difference_is_decided():
    means, differences = _tables(
        ("red", "loss", 0.02, 0.001, ""),
        ("red", "mean_queue", 20.0, 0.3, ""),
        ("mred", "loss", 0.03, 0.0012, "higher"),
        ("mred", "mean_queue", 20.4, 0.6, "undecided"),
        ("codel", "loss", 0.02, 0.001, "equal"),
        ("codel", "mean_queue", 9.0, 0.04, "lower"),
    )
    matrix = matrix_of(means, differences)
    assert list(lines_of(matrix)) == [
        "                   mean",
        "        loss      queue",
        "           %    packets",
        "───────────────────────",
        "red     2.00     20.0",
        "       ±0.10     ±0.3",
        "mred    3.00 ↑   20.4",
        "       ±0.12     ±0.6",
        "codel   2.00 =   9.00 ↓",
        "       ±0.10    ±0.04",
    ]
    assert answer(differences) == (
        "Against red: codel has a shorter queue (−55 %); mred has more loss (+50 %); queue undecided for mred; "
        "loss equal for codel."
    )
    assert "↑ higher, ↓ lower than red: decided" in legend(matrix, level=0.95, tests=8)
    text = latex_text(matrix, name="a_b", link="x", runs=3, level=0.95, tests=8)
    assert r"Loss, \% & $2.00 \pm 0.10$ & $3.00 \pm 0.12\,\uparrow$ & $2.00 \pm 0.10\,=$ \\" in text
    assert r"a\_b, link x: mean $\pm$ half-width of the 95\,\% interval over 3 runs" in text


def test_several_queues_change_together_and_are_those_of_both_directions_by_default(tmp_path):
    asymmetric = {"run": {"duration": "3s", "warmup": "1s"}}
    found = aqmlab.compare("example:asymmetric", aqm=["red", "codel"], seeds=1, overrides=asymmetric, progress=False)
    assert (found.queue, found.link) == ("down,up", "down")
    for name, result in found.results.items():
        assert {result.summaries[0]["readings"][queue]["aqm"] for queue in ("down", "up")} == {name}
    assert "link down:" in found.latex()
    one = aqmlab.compare(
        "example:asymmetric", aqm=["red", "codel"], queue="up", seeds=1, overrides=asymmetric, progress=False
    )
    readings = one.results["codel"].summaries[0]["readings"]
    assert (readings["down"]["aqm"], readings["up"]["aqm"], one.link) == ("drop-tail", "codel", "up")
    with pytest.raises(aqmlab.InputError, match=r'^--queue: unknown queue "sideways" \(allowed: '):
        aqmlab.compare("example:asymmetric", aqm=["red", "codel"], queue="up,sideways", seeds=1, progress=False)
    with pytest.raises(aqmlab.InputError, match=r"^--queue: choose the queues, with commas"):
        aqmlab.compare("example:chain", aqm=["red", "codel"], seeds=1, progress=False)


def test_equal_runs_have_neither_interval_nor_verdict(small):
    overrides = {"flow.tcp.start": "0s", "run.duration": "2s", "run.warmup": "0s"}
    found = aqmlab.compare(small, aqm=["drop-tail", "codel"], overrides=overrides, seeds=3, workers=1, progress=False)
    assert found.distinct_runs == 1
    assert "one distinct run: nothing in this scenario is random" in found.warnings[0]
    assert found.means["low"].isna().all()
    assert set(found.differences["verdict"]) <= {"not tested", "equal"}
    assert "not tested, since the difference is the same in every run" in found.answer()
    assert not np.isinf(found.differences["hedges_g"]).any()
    text = "\n".join(lines_of(found.matrix()))
    assert not set("±↑↓") & set(text)
    assert "one distinct run." in found.latex()
    assert "arrow" not in found.latex()


def test_a_constant_quantity_beside_one_that_varies_is_compared():
    means = {"timeouts": [0.0] * 10, "loss": [0.1] * 10}
    varied = {"timeouts": [1.0, 2.0, 3.0, 1.0, 2.0, 4.0, 2.0, 1.0, 3.0, 2.0], "loss": [0.2] * 10}
    rows = {key: compare_means(varied[key], means[key]) for key in means}
    assert rows["timeouts"].difference.p < 0.001
    assert rows["loss"].constant
    assert np.isnan(rows["loss"].difference.p)
    assert verdict(0.1, float("nan"), constant=True) == "not tested"


def test_the_correction_is_over_all_disciplines_and_quantities(found):
    tested = found.differences["p"].notna()
    assert found.tests == tested.sum()
    assert found.differences["aqm"].nunique() == 2
    own = found.differences[tested]
    assert list(own["p_holm"]) == pytest.approx(holm(list(own["p"])))
    assert f"over {found.tests} tests" in legend(found.matrix(), level=0.95, tests=found.tests)
    assert f"over {found.tests} tests" in found.latex()


@pytest.mark.parametrize(
    ("mean", "low", "high", "digits", "texts"),
    [
        (4.33, -525.7, 534.3, 2, ("4.33", "±530")),
        (0.9301, 0.8, 1.0, 4, ("0.930", "+0.07−0.13")),
        (84.56, 84.559, 84.561, 2, ("84.5600", "±0.0010")),
        (7.0, 0.0, 24.2, 1, ("7.0", "+17−7")),
    ],
)
def test_means_keep_their_digits_and_intervals_their_ends(mean, low, high, digits, texts):
    cell = Cell(mean, low, high, "", digits)
    assert (cell.texts[0], cell.spread) == texts


def test_signs_stand_for_holm_s_verdicts(found):
    matrix = found.matrix()
    for row in found.differences.to_dict("records"):
        cell = matrix.cells[row["aqm"], row["metric"]]
        constant = "" if not QUANTITIES[row["metric"]].is_tested else "*"
        signs = {"higher": "↑", "lower": "↓", "equal": "=", "undecided": "", "not tested": constant}
        expected = signs[row["verdict"]]
        assert cell.sign == expected
        scale = QUANTITIES[row["metric"]].scale
        own = found.means[(found.means["aqm"] == row["aqm"]) & (found.means["metric"] == row["metric"])].iloc[0]
        assert cell.mean == pytest.approx(scale * own["mean"])
        assert (cell.low, cell.high) == pytest.approx((scale * own["low"], scale * own["high"]), nan_ok=True)


MAIN = [key for key in shown_in("compare") if QUANTITIES[key].compared == "main"]


def test_many_disciplines_and_long_labels_fit_into_80_columns():
    names = ["drop-tail", "a-label-of-24-characters", *(f"red-{n}" for n in range(10))]
    rows = [(name, key, 12.345 * (n + 1), 0.123, "higher") for name in names for n, key in enumerate(MAIN)]
    assert max(len(line) for line in lines_of(matrix_of(*_tables(*rows)))) <= 80


def test_applications_and_groups_stand_below_within_80_columns():
    names = ["drop-tail", "a-label-of-24-characters"]
    groups = ["downloads", "a-group-of-many-characters", "web", "call.there", "video", "upload"]
    keys = [*shown_in("compare"), *(f"goodput_mbps.{group}" for group in groups), "mos.web"]
    rows = [(name, key, 0.345 * (n + 1), 0.123, "higher") for name in names for n, key in enumerate(keys)]
    matrix = matrix_of(*_tables(*rows))
    lines = list(lines_of(matrix))
    assert max(len(line) for line in lines) <= 80
    blocks = "\n".join(lines).split("\n\n")
    assert len(blocks) > 2
    assert "MOS" not in blocks[0]
    assert any("loaded" in block for block in blocks[1:])
    shown = " ".join(lines)
    assert all(group[:13] in shown for group in groups)
    assert shown.count("goodput of") == len(groups)
    cells = matrix.cells["drop-tail", "stalled"]
    assert (cells.mean, matrix.unit("stalled")) == (pytest.approx(100 * 0.345 * (keys.index("stalled") + 1)), "%")


def test_the_measured_link_is_observed_whatever_its_discipline(tmp_path):
    text = """\
format = 1
[run]
duration = "3s"
warmup = "1s"
[[link]]
from = "a"
to = "b"
rate = "2Mbps"
delay = "5ms"
[queue.default]
aqm = "red"
limit = "50p"
[[flow]]
name = "tcp"
transport = "newreno"
from = "a"
to = "b"
"""
    file = tmp_path / "plain.toml"
    file.write_text(text)
    found = aqmlab.compare(file, aqm=["drop-tail", "red"], queue="default", seeds=2, workers=1, progress=False)
    measured = found.means[found.means["metric"] == "delay_p99_ms"]
    assert list(measured["aqm"]) == ["drop-tail", "red"]


def test_without_tcp_the_answer_is_about_throughput(small):
    text = small.read_text().replace('transport = "newreno"', 'transport = "udp"\nrate = "1Mbps"')
    small.write_text(text)
    found = aqmlab.compare(small, aqm=["red", "codel"], seeds=2, workers=1, progress=False)
    assert "throughput" in found.answer()
    assert "goodput" not in found.answer() + "".join(lines_of(found.matrix()))


def test_the_csv_has_means_and_differences(found):
    table = pd.read_csv(io.StringIO(found.csv()), keep_default_na=True)
    rows = table.set_index(["aqm", "metric"])
    means = found.means.set_index(["aqm", "metric"])
    assert len(table) == len(found.means)
    assert rows.loc[("mred", "loss"), "mean"] == pytest.approx(means.loc[("mred", "loss"), "mean"])
    own = found.differences.set_index(["aqm", "metric"]).loc[("mred", "loss")]
    assert rows.loc[("mred", "loss"), "difference_low"] == pytest.approx(own["low"])
    assert rows.loc[("mred", "loss"), "verdict"] == own["verdict"]
    assert rows.loc["red", "verdict"].isna().all()
