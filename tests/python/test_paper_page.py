"""``page.toml``: the reader, tables and figures of runs that are made up, and readings beside the chosen one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aqmlab.errors import InputError, StorageError
from aqmlab.papers import common
from aqmlab.papers.common import BASE, PaperFiles, Setup
from aqmlab.papers.common.cells import Printed
from aqmlab.papers.common.claim_reader import read_claims
from aqmlab.papers.common.figures import drawn, dressed, samples
from aqmlab.papers.common.files import Cell
from aqmlab.papers.common.page_file import read_page
from aqmlab.papers.common.paper import CHOSEN, Paper, Study
from aqmlab.papers.common.tables import made, parameters, plain_number, shown

HEAD = dict.fromkeys(("name", "citation", "lead", "quick_note", "example"), "") | {"scenarios": ["sole"]}
LABELS = {"labels": {"case": {"a": "alone", "b": "with UDP"}}}
CLAIMS = read_claims(
    {
        "column": {"case": {}, "n": {"title": "n"}, "discipline": {}},
        "quantity": {"loss": {"column": "lost", "printed": "loss"}, "queue": {}},
    },
    file="made/claims.toml",
)
CELLS = [
    Cell("1", "loss", "1", str(value), value, "", {"n": n, "discipline": d})
    for d, n, value in (("RED", 5, 0.2), ("RED", 9, 0.4), ("MRED", 5, 0.1), ("MRED", 9, 0.5))
]
PRINTED = Printed(CLAIMS, CELLS)


def runs(**more):
    """Two seeds a point; the loss is 0.1 n under RED and 0.05 n under MRED, plus 0.01 with the second seed."""
    rows = [
        {"case": case, "n": n, "discipline": d, "seed": seed, "reading": BASE}
        | {"loss": share * n + 0.01 * (seed - 1), "queue": 3.0 * seed * n}
        for case in ("a", "b")
        for n in (9, 5)
        for d, share in (("RED", 0.1), ("MRED", 0.05))
        for seed in (2, 1)
    ]
    return pd.DataFrame(rows).assign(**more)


def page(**tables):
    return read_page({**HEAD, **LABELS, **tables}, file="made/page.toml")


def table(readings=None, **stated):
    return made("t", page(table={"t": stated}), runs(), readings or {}, PRINTED)


def test_rows_come_in_the_order_of_the_runs_or_as_stated():
    columns = {"seeds": "seeds", "mean": "loss"}
    found = table(rows=["n"], of={"case": "a", "discipline": "RED"}, columns=columns)
    assert found["n"].tolist() == [9, 5]
    assert found["mean"].tolist() == pytest.approx([0.905, 0.505])
    assert found["seeds"].tolist() == [2, 2]
    assert list(found.columns) == ["n", "seeds", "mean", "mean low", "mean high"]
    stated = table(rows={"n": "flows"}, of={"n": [5, 9], "case": "a", "discipline": "RED"}, columns=columns)
    assert stated["flows"].tolist() == [5, 9]


def test_columns_over_values_and_differences_by_seed():
    over = {"case": ["a", "b"]}
    columns = {
        "{case}": {"quantity": "loss", "of": {"discipline": "RED"}, "over": over},
        "less": {"quantity": "loss", "of": {"discipline": "MRED", "case": "a"}, "than": {"discipline": "RED"}},
        "%": {"quantity": "loss", "of": {"discipline": "MRED", "case": "a"}, "than": {"case": "b"}, "relative": True},
        "share": {"quantity": "queue", "of": {"discipline": "RED", "case": "a"}, "than": {"case": "b"}, "ratio": True},
    }
    found = table(rows=["n"], columns=columns).iloc[0]
    assert [found["alone"], found["with UDP"]] == pytest.approx([0.905, 0.905])
    ends = found["less"], found["less low"], found["less high"]
    assert ends == pytest.approx((-0.45, math.nan, math.nan), nan_ok=True)
    assert (found["%"], found["share"]) == pytest.approx((0.0, 1.0))


def test_a_mean_over_columns_is_taken_seed_by_seed():
    found = table(
        rows=["discipline"], of={"case": "a"}, columns={"queue": {"quantity": "queue", "mean_over": ["n"]}}, exact=True
    )
    assert found["queue"].tolist() == pytest.approx([(21 + 42) / 2] * 2)
    with pytest.raises(InputError, match=r"made/page.toml: table t: column queue: several runs of one seed"):
        table(rows=["discipline"], of={"case": "a"}, columns={"queue": "queue"})


def test_printed_numbers_stand_beside_measured_ones():
    columns = {"{discipline}": {"quantity": "loss", "over": {"discipline": ["RED", "MRED"]}}}
    found = table(rows=["n"], of={"case": "a"}, columns=columns, beside=True)
    assert found["MRED printed"].tolist() == [0.5, 0.1]
    assert found["MRED ratio"].tolist() == pytest.approx([0.455 / 0.5, 0.255 / 0.1])
    stated = page(table={"t": {"rows": ["n"], "of": {"case": "a"}, "columns": columns, "beside": True}})
    text = shown("t", stated, found)
    assert list(text.columns)[:4] == ["n", "seeds", "RED printed", "RED measured"]
    difference = {"quantity": "loss", "of": {"discipline": "MRED"}, "than": {"discipline": "RED"}, "printed": True}
    assert table(rows=["n"], columns={"d": difference})["d"].tolist() == pytest.approx([0.1, -0.1])


def test_fits_to_the_printed_numbers_by_hand():
    own = {"quantity": "loss", "of": {"discipline": "RED", "case": "a"}}
    less = {"quantity": "loss", "of": {"discipline": "MRED", "case": "a"}, "than": {"discipline": "RED"}}
    columns = {
        "difference": own | {"fit": "difference"},
        "relative": own | {"fit": "relative"},
        "log": own | {"fit": "log"},
        "reach": own | {"fit": "in reach"},
        "less": less | {"fit": "difference"},
        "elsewhere": {**own, "of": {"discipline": "MRED", "case": "a"}, "paper": {"discipline": "RED"}, "fit": "log"},
    }
    found = table(rows="readings", columns=columns, readings={CHOSEN: runs()}).iloc[0]
    measured, paper = np.array([0.505, 0.905]), np.array([0.2, 0.4])
    rms = lambda errors: math.sqrt(np.mean(np.square(errors)))  # noqa: E731
    assert found["difference"] == pytest.approx(rms(measured - paper))
    assert found["relative"] == pytest.approx(rms(measured / paper - 1))
    assert found["log"] == pytest.approx(rms(np.log(measured / paper)))
    assert found["less"] == pytest.approx(rms(np.array([-0.25 + 0.1, -0.45 - 0.1])))
    assert found["elsewhere"] == pytest.approx(rms(np.log(np.array([0.255, 0.455]) / paper)))
    assert found["reach"] == "0 of 2"


def test_words_for_values_are_on_the_page_and_where_asked_for_in_the_file():
    stated = {"rows": ["case"], "of": {"n": 5, "discipline": "RED"}, "columns": {"loss": "loss"}}
    assert table(**stated)["case"].tolist() == ["a", "b"]
    assert table(**stated, labelled=True)["case"].tolist() == ["alone", "with UDP"]
    assert shown("t", page(table={"t": stated}), table(**stated))["case"].tolist() == ["alone", "with UDP"]


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"tabel": {}}, r'made/page.toml: unknown key "tabel" \(allowed: .*did you mean table\?\)'),
        ({"table": {"t": {"row": ["n"]}}}, r'table t: unknown key "row"'),
        ({"table": {"t": {"rows": ["n"]}}}, r"table t: rows and columns go together"),
        ({"table": {"t": {"rows": "n", "columns": {}}}}, r'table t: rows = "n"'),
        ({"table": {"t": {"rows": ["n"], "columns": {"x": {"fit": "log"}}}}}, r"column x: the key quantity is missing"),
        (
            {"table": {"t": {"rows": ["n"], "columns": {"x": {"quantity": "q", "fit": "ln"}}}}},
            r'column x: unknown fit "ln" \(allowed: difference, relative, log, in reach',
        ),
        ({"table": {"t": {"rows": ["n"], "columns": {"x": {"quantity": "q", "p": True}}}}}, r"column x: .* need than"),
        ({"table": {"t": {"rows": ["n"], "columns": {"{d}": {"quantity": "q"}}}}}, r"column {d}: {d} is none"),
        ({"figure": {"f": {"lines": {"x": "q"}}}}, r"figure f: lines need either x or samples"),
        ({"section": [{"title": "A", "show": ["tables:t"]}]}, r'section A: show: tables:t: unknown kind "tables"'),
        ({"section": [{"title": "A"}]}, r"section A: the key show is missing"),
        ({"text": {"why": {"say": ""}}}, r'text why: unknown key "say"'),
        ({"readings": {"shows": []}}, r'readings: unknown key "shows"'),
    ],
)
def test_errors_name_the_file_and_the_key(stated, message):
    with pytest.raises(InputError, match=message):
        page(**stated)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": "los"}, r'table t: column x: unknown quantity "los".*did you mean loss'),
        ({"x": {"quantity": "loss", "of": {"cas": "a"}}}, r'column x: unknown column "cas"'),
    ],
)
def test_errors_name_what_the_runs_do_not_have(columns, message):
    with pytest.raises(InputError, match=message):
        table(rows=["n"], of={"case": "a", "discipline": "RED"}, columns=columns)
    with pytest.raises(InputError, match=r'made/page.toml: table t: unknown column "m"'):
        table(rows=["m"], columns={"x": "loss"})


def figure(**stated):
    own = page(figure={"f": {"title": "T", **stated}}, colors={"RED": 4})
    chart = drawn("f", own, runs(), PRINTED, [], Path())
    return dressed("f", chart, own.figures["f"], own.colors, "C")


def test_lines_against_a_column_measured_and_printed():
    lines = {
        "{discipline}": {"quantity": "loss", "over": {"discipline": ["RED", "MRED"]}},
        "printed": {"quantity": "loss", "of": {"discipline": "RED"}, "printed": True, "mode": "dashed", "scale": 0.5},
    }
    chart = figure(x="n", of={"case": "a"}, lines=lines, levels=[[1.0, "all"]], y_range=[0, 1])
    red, mred, paper = chart.series
    assert (red.name, red.color, mred.color, paper.color, paper.mode) == ("RED", 4, 1, 4, "dashed")
    assert red.x.tolist() == [9, 5]
    assert red.y.tolist() == pytest.approx([0.905, 0.505])
    assert (red.low < red.y).all()
    assert (paper.x.tolist(), paper.y.tolist()) == ([2.5, 4.5], [0.2, 0.4])
    assert (chart.title, chart.caption, chart.levels, chart.y_range) == ("T", "C", [(1.0, "all")], (0, 1))
    assert "RED 0.905 at 9.0, 0.505 at 5.0" in chart.alt


def test_bars_for_each_run():
    line = {"quantity": "queue", "of": {"n": 5, "case": "a", "discipline": "RED"}, "mode": "bar"}
    (series,) = figure(x="seed", lines={"RED": line}).series
    assert (series.x.tolist(), series.y.tolist()) == ([1, 2], [15, 30])


@dataclass(frozen=True)
class Plan:
    """The attributes of a scenario that a figure reads."""

    warmup_s: float = 0.0
    label: str = "one"


def stored(tmp_path):
    """A scenario of two seeds with samples of a queue and of a discipline."""
    setup = Setup({"case": "a"}, Plan(), seeds=2)
    for seed in (1, 2):
        folder = setup.run_folder(tmp_path, seed)
        folder.mkdir(parents=True)
        time = [0.0, 1.0, 2.0]
        pd.DataFrame(
            {"t_s": time * 2, "link": ["x"] * 3 + ["y"] * 3, "average": [seed * 1.0] * 3 + [9.0] * 3}
        ).to_parquet(folder / "queue_samples.parquet")
        pd.DataFrame({"t_s": time, "link": "x", "name": "max_th", "value": [3.0, 4.0, 5.0]}).to_parquet(
            folder / "discipline_samples.parquet"
        )
    return setup


def test_samples_against_time_of_one_run_and_of_all(tmp_path):
    setup = stored(tmp_path)
    stated = {"samples": "queue_samples", "link": "x", "lines": {"average": "average", "max_th": {}}}
    stated["lines"]["max_th"] = {"quantity": "max_th", "samples": "discipline_samples", "scale": 2.0, "smooth": 2}
    for seeds, mean in ((1, 1.0), (2, 2.0), ("all", 1.5)):
        own = page(figure={"f": {**stated, "seeds": seeds, "time_range": [0, 2]}})
        average, max_th = drawn("f", own, runs(), PRINTED, [setup], tmp_path).series
        assert (average.x.tolist(), average.y.tolist()) == ([0.0, 1.0], [mean, mean])
        assert max_th.y.tolist() == [6.0, 7.0]
    with pytest.raises(StorageError, match=r'unknown name "queue" \(allowed: t_s, link, average'):
        samples(setup.run_folder(tmp_path, 1), "queue_samples", "queue")
    with pytest.raises(StorageError, match="holds no table flows"):
        samples(setup.run_folder(tmp_path, 1), "flows", "queue")


def study(rows, **readings):
    """A study of MRED's files with runs that are made up."""
    paper = Paper(PaperFiles("mred"), setups=lambda _: [], read=lambda *_: {})
    object.__setattr__(paper, "page", page(readings=readings))
    setups = [Setup({}, Plan(), seeds=1, reading=label) for label in rows["reading"].unique()]
    return Study(paper, common.Effort(2, 1), Path(), setups, rows)


def test_readings_stand_beside_the_chosen_one_at_their_own_points():
    label = "TCP flavour: Reno"
    rows = runs().rename(columns={"case": "was"}).assign(case="sole")
    rows = rows[rows["was"] == "a"]
    other = rows[(rows["n"] == 5) & (rows["seed"] == 1)].assign(reading=label)
    found = study(pd.concat([rows, other], ignore_index=True)).readings
    assert list(found)[:2] == [CHOSEN, ("TCP flavour", "Reno")]
    assert {tuple(at) for at in found[CHOSEN][["n", "seed"]].to_numpy().tolist()} == {(5, 1)}
    assert set(found[CHOSEN]["reading"]) == {BASE}
    few = other[other["discipline"] == "RED"]
    filled = study(
        pd.concat([rows, other.assign(reading="TCP flavour: SACK"), few], ignore_index=True), fill=True
    ).readings
    assert len(filled["TCP flavour", "Reno"]) == len(filled[CHOSEN]) == 2


def test_another_discipline_may_stand_for_the_baseline():
    rows = runs().query("case == 'a'").assign(case="sole")
    gentle = rows[rows["discipline"] == "RED"].assign(discipline="gentle RED", loss=7.0)
    other = rows.assign(reading="TCP flavour: Reno")
    found = study(pd.concat([rows, gentle, other], ignore_index=True)).readings
    own = found["Which RED is MRED compared with", "gentle RED"]
    assert set(own.loc[own["discipline"] == "RED", "loss"]) == {7.0}


def test_parameters_beside_the_effective_ones():
    cells = [Cell("text", name, "s", "", value, "", {}) for name, value in (("a", 0.2), ("b", 5.0))]
    found = parameters(cells, lambda cell: {"a": "200ms", "b": 6.0}[cell.quantity], found="in the runs")
    assert found["in the runs"].tolist() == [0.2, 6.0]
    assert found["same"].tolist() == ["yes", "no"]
    assert math.isnan(plain_number("auto"))
