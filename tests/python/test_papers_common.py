"""Common parts of all reproductions: resumed runs, claims out of parts, published beside measured, flow charts."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from aqmlab import Scenario, StorageError
from aqmlab.figures.chart import Chart, Series
from aqmlab.papers import common
from aqmlab.papers.common import (
    Claims,
    Column,
    Computation,
    Effort,
    Finding,
    PaperFiles,
    Part,
    Quantity,
    Setup,
    execute_claims,
    literal,
    strict,
)
from aqmlab.papers.common.runs import Reader
from aqmlab.reporting import Page, flowchart
from aqmlab.reporting.flowchart import Arrow, Box, FlowChart
from aqmlab.results import folders
from aqmlab.runs.jobs import missing
from aqmlab.runs.scheduler import Workers, execute
from aqmlab.statistics import Difference, Interval, Verdict


def square(*, x, seed):
    """A computation of the tests."""
    return {"square": x * x, "seed": seed, "none": math.nan}


def moved_square(*, x, seed):
    """The same computation at another place."""
    return square(x=x, seed=seed)


def computation(x=3.0, seeds=3):
    return Computation({"x": x}, "square", square, {"x": x}, seeds)


def run_all(points, root):
    todo = []
    for batch in common.batches(points, root):
        left = missing(batch.jobs)
        if left:
            batch.prepare()
        todo += left
    execute(todo, workers=1, progress=False)
    return len(todo)


def test_a_computation_is_run_once_and_read_back(tmp_path):
    points = [computation(3.0), computation(4.0)]
    assert run_all(points, tmp_path) == 6
    assert run_all(points, tmp_path) == 0
    runs = common.measure(points, tmp_path, lambda _, found: {"square": found["square"]})
    assert list(runs.columns) == ["x", "reading", "seed", "square"]
    assert common.values(runs, "square", x=4.0).tolist() == [16.0, 16.0, 16.0]
    assert points[0].read(tmp_path, common.answers_of(tmp_path))[1] == {"square": 9.0, "seed": 2, "none": None}


def test_more_seeds_ask_for_the_new_ones_only(tmp_path):
    run_all([computation(seeds=2)], tmp_path)
    assert run_all([computation(seeds=5)], tmp_path) == 3


def test_an_answer_of_another_version_or_name_is_another_run(tmp_path):
    run_all([computation(seeds=1)], tmp_path)
    (job,) = computation(seeds=1).batch(tmp_path, common.answers_of(tmp_path)).jobs
    assert job.is_done()
    assert not replace(job, key=replace(job.key, version="another")).is_done()
    assert run_all([replace(computation(seeds=1), name="another")], tmp_path) == 1


def test_a_function_that_moves_keeps_its_answers(tmp_path):
    run_all([computation(seeds=2)], tmp_path)
    assert run_all([replace(computation(seeds=2), function=moved_square)], tmp_path) == 0


def test_points_that_mean_the_same_are_run_once(tmp_path):
    twice = [computation(seeds=2), Computation({"x": 3.0}, "square", square, {"x": 3.0}, 4, reading="another name")]
    assert run_all(twice, tmp_path) == 4


@pytest.mark.slow
def test_tasks_can_be_sent_to_workers(tmp_path):
    (batch,) = common.batches([computation()], tmp_path)
    job = batch.jobs[0]
    sent = pickle.loads(pickle.dumps(job))
    assert (replace(sent, store=None), sent.store.place) == (replace(job, store=None), job.store.place)
    batch.prepare()
    execute(batch.jobs, workers=2, progress=False)
    assert all(job.is_done() for job in batch.jobs)


def test_scenarios_and_computations_go_together(tmp_path, dumbbell):
    plan = Scenario.from_text(dumbbell, overrides={"run.duration": "1s"})
    setup = Setup({"n": 3}, plan, seeds=2, tables=("links",))
    assert run_all([setup, computation(seeds=1)], tmp_path) == 3
    assert run_all([setup, computation(seeds=1)], tmp_path) == 0
    assert {path.name for path in setup.run_folder(tmp_path, 1).iterdir()} == {
        "SHA256SUMS",
        "links.parquet",
        "summary.json",
    }
    assert common.pick([setup], n=3) == [setup]
    assert common.pick([setup], n=4) == []


def test_runs_are_read_once_and_as_soon_as_they_are_finished(tmp_path, dumbbell):
    plan = Scenario.from_text(dumbbell, overrides={"run.duration": "1s"})
    # Two points that mean the same runs.
    points = [Setup({"n": n}, plan, seeds=seeds, tables=("links",)) for n, seeds in ((3, 2), (4, 3))]
    read, ahead = [], []

    def numbers(point, folder):
        read.append((point.key["n"], folder.name))
        return {"drops": sum(folders.read_table(folder, "links")["drops"].to_pylist())}

    reader = Reader(points, tmp_path, numbers)
    (batch,) = common.batches(points, tmp_path)
    batch.prepare()

    def finished(number):
        reader.finished(batch.jobs[number])
        ahead.append(len(read))

    with Workers(1, progress=False) as workers:
        workers.execute(batch.jobs, finished=finished)
    assert ahead == [2, 4, 5]
    table = reader.table()
    assert sorted(read) == [(3, "seed-0001"), (3, "seed-0002"), *((4, f"seed-000{seed}") for seed in (1, 2, 3))]
    assert table.equals(common.measure(points, tmp_path, numbers))


def test_what_cannot_be_read_early_is_an_error_of_the_table(tmp_path, dumbbell):
    plan = Scenario.from_text(dumbbell, overrides={"run.duration": "1s"})
    point = Setup({}, plan, seeds=1, tables=("links",))
    reader = Reader([point], tmp_path, lambda point, folder: folders.read_summary(folder))
    (batch,) = common.batches([point], tmp_path)
    reader.finished(batch.jobs[0])
    with pytest.raises(StorageError, match="seed-0001"):
        reader.table()


def test_effort_goes_through_json():
    class Own(Effort):
        @classmethod
        def of(cls, *, quick, seeds=None):
            return cls(seeds or 4, 2, quick)

    effort = Own(seeds=4, reading_seeds=2, quick=True)
    assert Own.from_json(json.loads(json.dumps(effort.to_json()))) == effort


RNG = np.random.default_rng(1)
HIGH = 10 + RNG.normal(0, 0.1, 8)
LOW = 9 + RNG.normal(0, 0.1, 8)


def part_of(test, a, b):
    """Return the part of a test about discipline a, and b beside it, in runs with these numbers."""
    claims = Claims({"discipline": Column(values=("a", "b"))}, {"x": Quantity("number")})

    @claims.claim("c", "title", quote="says")
    def claim(runs):
        yield literal(test(runs.of("x", "a"), runs.of("x", "b")))
        yield strict(runs.of("x", "a") > 0)

    rows = [
        {"discipline": name, "seed": seed, "x": x} for name, of in (("a", a), ("b", b)) for seed, x in enumerate(of)
    ]
    _, parts = execute_claims(claims, pd.DataFrame(rows))
    return parts[0]


ZERO = np.zeros(8)


@pytest.mark.parametrize(
    ("test", "a", "b", "verdict"),
    [
        (lambda a, b: a > b, HIGH, LOW, "holds"),
        (lambda a, b: a < b, HIGH, LOW, "fails"),
        (lambda a, b: a > 9.5, HIGH, LOW, "holds"),
        (lambda a, b: a.above(b, margin=2.0), LOW, HIGH, "holds"),
        (lambda a, b: a.below(b, margin=0.5), HIGH, LOW, "fails"),
        (lambda a, b: a.above(0, margin=0.1), ZERO, ZERO, "holds"),
        (lambda a, b: a > 0, ZERO, ZERO, "undecided"),
        (lambda a, b: a.between(1.0, 1.3), HIGH / LOW, LOW, "holds"),
        (lambda a, b: a.between(1.3, 2.0), HIGH / LOW, LOW, "fails"),
        (lambda a, b: (a > 2).exact(), [3.0], [0.0], "holds"),
        (lambda a, b: (a > 3).exact(), [3.0], [0.0], "fails"),
    ],
)
def test_parts(test, a, b, verdict):
    part = part_of(test, a, b)
    assert part.verdict == verdict
    assert not (part.verdict is Verdict.FAILS and not part.difference.p < 0.05)


def test_the_margin_is_not_in_the_difference_shown():
    part = part_of(lambda a, b: a.above(b, margin=2.0), LOW, HIGH)
    assert part.difference.mean == pytest.approx(np.mean(LOW - HIGH))


def exact(claim, what, value, *, holds, **place):
    """Return a part by hand."""
    found = Difference(Interval(value, 0.0, 1, value, value), math.nan if holds else 0.0)
    return Part(claim, what, found, Verdict.HOLDS if holds else Verdict.FAILS, **place)


def test_findings_and_parts_as_tables():
    parts = [
        exact("X-a", "one", 1.0, holds=True, at={"n": 5}, case="alone"),
        exact("X-a", "two", 1.0, holds=False, at={"n": 9}, case="alone"),
        exact("X-b", "three", 1.0, holds=True, against="RED"),
        exact("X-b", "four", 1.0, holds=False, against="gentle RED"),
    ]
    assert common.describe(parts[:2]) == "alone: holds at n = 5; fails at n = 9."
    findings = [
        Finding("X-b", "second", "RED", Verdict.HOLDS, "", "says", "test", own=True),
        Finding("X-b", "second", "gentle RED", Verdict.FAILS, "", "says", "test", own=True),
        Finding("X-a", "first", "", Verdict.FAILS, common.describe(parts[:2]), "says", "test"),
    ]
    table = common.findings_table(findings)
    assert list(table["own"]) == [True, True, False]
    assert list(common.parts_table(parts)["n"]) == [5, 9, "", ""]
    moved = common.verdicts_by_reading({("chosen", "all"): findings, ("q", "other"): findings[2:]})
    assert list(moved["X-a"]) == ["fails", "fails"]
    assert list(moved["X-b (RED)"]) == ["holds", ""]


def test_many_places_are_written_as_ranges():
    parts = [exact("c", "w", 1.0, holds=i != 4, at={"load": i / 10}) for i in range(1, 13)]
    assert common.describe(parts) == "holds at load = 0.1, 0.2, 0.3, 0.5 to 1.2; fails at load = 0.4."


def test_published_beside_measured():
    from aqmlab.statistics import interval

    printed = {("a", "RED"): 10.0, ("b", "RED"): 0.0}
    table = common.beside(
        [{"row": "a"}, {"row": "b"}],
        ["RED", "new"],
        measured=lambda row, column: interval([10.0, 11.0, 12.0]),
        printed=lambda row, column: printed.get((str(row["row"]), column)),
    )
    assert table["RED ratio"].tolist() == pytest.approx([1.1, math.nan], nan_ok=True)
    assert "new printed" not in table
    shown = common.beside_text(table, ["RED", "new"], keys=["row"])
    assert list(shown.columns) == ["row", "seeds", "RED printed", "RED measured", "RED ratio", "new measured"]
    assert shown["RED measured"][0] == "11.0 ± 2.5"


def test_files_of_a_paper():
    files = PaperFiles("mred")
    assert files.printed(table="1", n=5, discipline="MRED") == 9.682
    with pytest.raises(KeyError):
        files.printed(table="1", n=5)
    assert len(files.readings(quick=True)) < len(files.readings())


CHART = FlowChart(
    "c",
    "Title",
    "a choice",
    [
        Box("a", "arrive", 0, 0, kind="start"),
        Box("q", "a question that is long enough for two lines?", 0, 1, kind="question"),
        Box("b", "do it", 1, 1),
        Box("e", "end", 0, 2, kind="end"),
    ],
    [Arrow("a", "q"), Arrow("q", "b", "yes"), Arrow("q", "e", "no"), Arrow("b", "e"), Arrow("e", "a", via="left")],
)


def test_flow_chart():
    assert flowchart.clashes(CHART) == []
    assert len(CHART.boxes[1].lines) > 1
    boxes = [*CHART.boxes, Box("f", "f", 2, 1)]
    assert flowchart.clashes(FlowChart("c", "", "", boxes, [Arrow("q", "f", via="side")])) == ["q -> f runs through b"]


def test_flow_chart_on_a_page(tmp_path):
    page = Page("t", "l")
    page.flowchart(CHART, caption="In words.")
    page.heading("Table I", listed=True)
    path = page.write(tmp_path)
    text = path.read_text()
    assert page.contents == [("item-0", "Title"), ("item-1", "Table I")]
    assert "<figure class=drawing id=item-0><h3>Title</h3>" in text
    assert "currentColor" in text
    assert {p.name for p in (tmp_path / "figures").iterdir()} == {"c.png", "c.svg"}
    assert page.html() == text


@pytest.mark.slow
def test_pictures_by_workers_are_those_drawn_here(tmp_path):
    page = Page("t", "l")
    page.flowchart(CHART)
    for key, level in (("rising", 1.0), ("flat", 0.0)):
        page.chart(Chart(key, key, "a line", "x", "y", [Series("s", [0, 1], [0, level])]))
    page.write(tmp_path / "here")
    with Workers(2, progress=False) as workers:
        page.write(tmp_path / "there", workers=workers)
    pictures = [{p.name: p.read_bytes() for p in (tmp_path / name / "figures").iterdir()} for name in ("here", "there")]
    assert sorted(pictures[0]) == [f"{key}.{ending}" for key in ("c", "flat", "rising") for ending in ("png", "svg")]
    assert pictures[0] == pictures[1]


def test_verdicts_in_any_column_are_badges():
    page = Page("t", "l")
    page.table(pd.DataFrame({"reading": ["a", "b"], "D-a": ["holds", ""], "word": ["holds", "x"]}), caption="c")
    text = page.html()
    assert text.count('<span class="badge holds">') == 1
