"""Each quantity appears in every place that shows quantities, unless its entry hides it there."""

from __future__ import annotations

import html
from dataclasses import replace
from pathlib import Path

import pytest

import aqmlab
from aqmlab.live.agreement import Agreement
from aqmlab.live.telemetry.metrics import METRICS
from aqmlab.live.telemetry.snapshot import Snapshot
from aqmlab.reporting.across import across
from aqmlab.reporting.chosen import of_comparison
from aqmlab.reporting.notebook import html as notebook
from aqmlab.reporting.sweep import sweeps_in
from aqmlab.results.frames import described
from aqmlab.results.quantities import QUANTITIES, quantity, shown_in
from aqmlab.rfc7928 import tables as rfc7928
from aqmlab.runs.bounds import bounds_of
from aqmlab.runs.comparison_exports import escaped
from aqmlab.runs.until import metric_named
from aqmlab.tuning.goals import goal_of
from browser_core import page_answers
from builder import quantity_reference
from conftest import Shell
from test_live_statistics import snapshot

pytestmark = pytest.mark.slow
FILE = str(Path(__file__).parents[1] / "data/everywhere.toml")
"""A scenario with all quantities: endless and sized TCP flows, calls, pages, videos, RED, outages; losses: `SHORT`."""
SHORT = {"run.duration": "14s", "run.warmup": "1s", "dumbbell.bottleneck.loss": "0.0001"}
COMMANDS = {
    "run": [FILE, "--seeds", "2", "--details"],
    "compare": [FILE, "--aqm", "red,codel", "--queue", "main", "--seeds", "3", "--details"],
    "sweep": [FILE, "--grid", "flow.bulk.count=2,5", "--seeds", "2", "--details"],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("everywhere")


@pytest.fixture(scope="module")
def shell(place):
    return Shell(place)


@pytest.fixture(scope="module")
def printed(shell):
    """Return the output of each command."""
    sets = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
    found = {}
    for name, words in COMMANDS.items():
        answer = shell(name, *words, *sets, "--workers", "1", "--quiet", "--out", name)
        assert answer.code == 0, answer.err
        found[name] = answer.out
    return found


@pytest.fixture(scope="module")
def reports(printed, place):
    """Return the text of each command's report."""
    pages = {name: aqmlab.report(place / name, pictures=False) for name in printed}
    return {name: html.unescape(page.read_text(encoding="utf-8")) for name, page in pages.items()}


@pytest.fixture(scope="module")
def result(printed, place):
    return aqmlab.Result.load(next(path for path in (place / "run").iterdir() if path.is_dir()))


@pytest.fixture(scope="module")
def comparison(printed, place):
    return aqmlab.Comparison.load(next(path for path in (place / "compare").iterdir() if path.is_dir()))


@pytest.fixture(scope="module")
def study(printed, place):
    [found] = sweeps_in(place / "sweep")
    return found


def test_run_its_report_and_its_notebook(printed, reports, result):
    assert set(result.metrics()) >= set(QUANTITIES)
    in_notebook = html.unescape(notebook(result))
    for key, one in QUANTITIES.items():
        assert f"\n{key} " in printed["run"]
        assert described(key) == {"units": one.unit, "long_name": one.title}
        assert f">{one.title}<" in reports["run"]
        assert f">{one.title}<" in in_notebook


def test_compare_its_exports_and_its_report(printed, reports, comparison):
    shown = shown_in("compare")
    assert set(comparison.means["metric"]) >= set(shown)
    assert set(comparison.differences["metric"]) >= set(shown)
    csv, latex = comparison.csv(), comparison.latex()
    for one in (QUANTITIES[key] for key in shown):
        assert all(line in printed["compare"] for line in one.head)
        assert f",{one.key},{one.unit}," in csv
        assert escaped(one.title) in latex
        assert one.title in reports["compare"]
    figures = {chart.key for chart in of_comparison(comparison)}
    assert figures >= {f"spread-{key.replace('_', '-')}" for key in shown_in("spread")}


def test_sweep_its_exports_its_report_and_its_notebook(printed, reports, study, shell):
    assert shell("results", "export", "sweep", "--table", "points", "--out", "points.csv").code == 0
    exported = (shell.folder / "points.csv").read_text(encoding="utf-8")
    assert all(f'"{key}"' in exported for key in QUANTITIES)
    # Sweeps are printed in the layout of comparisons.
    assert all(line in printed["sweep"] for key in shown_in("compare") for line in QUANTITIES[key].head)
    assert all(f">{QUANTITIES[key].label}<" in reports["sweep"] for key in shown_in("sweep-report"))
    in_notebook = html.unescape(notebook(study))
    assert all(f">{QUANTITIES[key].label}<" in in_notebook for key in shown_in("notebook"))


def test_reports_of_several_scenarios(study):
    results = [study.result(point) for point in (0, 1)]
    figures = {chart.key for chart in across(results)}
    assert figures >= {f"over-{key}" for key in shown_in("scenarios")}


@pytest.mark.parametrize("key", QUANTITIES)
def test_goals_of_tune_and_until(key):
    assert metric_named(key) == key
    assert goal_of(key, None).metric.key == key
    assert bounds_of([f"{key}>=1"], option="keep")[0].metric.key == key


def test_agreement_of_live_and_simulated_runs(result):
    titles = {line.what for line in Agreement.of(result, result).lines}
    assert titles >= {QUANTITIES[key].title for key in shown_in("agreement")}


def test_the_report_of_rfc_7928():
    own = [key for key in shown_in("rfc7928") if QUANTITIES[key].group == "link"]
    assert "max_queue" in own
    assert set(own) <= set(rfc7928.LINK_COLUMNS)


def test_the_statistics_of_live_links():
    data = snapshot()
    for direction in data["directions"]:
        direction["quantities"] = dict.fromkeys(shown_in("telemetry"), 1.0)
    [metric] = [one for one in METRICS if one.name == "aqmlab_quantity"]
    assert {labels[-1] for labels, _ in metric.read(Snapshot.from_json(data))} == set(QUANTITIES)


def test_views_of_a_chosen_few():
    assert shown_in("answer") == ["mean_queue", "loss", "goodput_mbps", "throughput_mbps", "fct_mean_ms"]
    assert shown_in("finding") == ["mean_delay_ms", "goodput_mbps", "loss"]
    assert shown_in("until") == ["goodput_mbps", "throughput_mbps"]


def test_the_laboratory():
    [answer] = page_answers(FILE, [{"seconds": 14}])
    assert isinstance(answer, dict), answer
    rows = [row["key"] for row in answer["numbers"]]
    shown = shown_in("laboratory")
    whole = [key for key in rows if "." not in key]
    assert whole == [key for key in shown if key in whole]
    of_groups = rows[len(whole) :]
    assert "goodput_mbps.bulk" in of_groups
    assert all(quantity(key).compared in ("tested", "shown") or quantity(key).group == "delay" for key in of_groups)
    assert set(rows) >= {key for key in shown if not QUANTITIES[key].is_seldom}
    assert {"mos", "page_load_s"} <= set(rows)


def test_the_documentation():
    [page] = quantity_reference.pages()
    for key, one in QUANTITIES.items():
        assert f"| `{key}` | {one.title} |" in page.text
        assert one.doc in page.text


def test_a_result_without_a_column_lacks_the_quantity(result):
    older = replace(result, tables={**result.tables, "links": result.links.drop(columns="max_queue")})
    found = result.metrics()
    due = result.links.loc[result.links["link"] == result.bottleneck, "max_queue"]
    assert found["max_queue"].tolist() == due.tolist()
    assert older.metrics().equals(found.drop(columns="max_queue"))
    assert "max_queue" not in set(older.summary()["metric"])
