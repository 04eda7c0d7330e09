"""A paper's page: tables and figures of runs that are made up, and readings beside the chosen one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from aqmlab.errors import InputError, StorageError
from aqmlab.papers import common
from aqmlab.papers.common import (
    BASE,
    SEEDS,
    Cell,
    Claims,
    Column,
    Fit,
    Line,
    P,
    Paper,
    PaperFiles,
    Printed,
    Quantity,
    Setup,
    Study,
    parameters,
)
from aqmlab.papers.common.paper import CHOSEN
from aqmlab.papers.common.recorded import samples
from aqmlab.papers.common.tables import plain_number

CLAIMS = Claims(
    {"case": Column(values={"a": "alone", "b": "with UDP"}), "n": Column("n"), "discipline": Column()},
    {"loss": Quantity("loss", printed="loss"), "queue": Quantity("queue")},
)
CELLS = [
    Cell("1", "loss", "1", str(value), value, "", {"n": n, "discipline": d})
    for d, n, value in (("RED", 5, 0.2), ("RED", 9, 0.4), ("MRED", 5, 0.1), ("MRED", 9, 0.5))
]


@dataclass(frozen=True)
class Files(PaperFiles):
    """MRED's files with other printed numbers."""

    def cells(self):
        return CELLS


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


def study(rows=None, *, setups=(), root=Path(), **options):
    """A study of MRED's files with runs that are made up."""
    paper = Paper(
        Files("mred"), "made", "by hand", CLAIMS, common.Effort, lambda _: [], lambda *_: {}, lambda _: [],
        colors={"RED": 4}, **options,
    )  # fmt: skip
    return Study(paper, common.Effort(2, 1), root, setups, runs() if rows is None else rows)


def made(columns, **stated):
    return study().table("t", columns, **stated)


def table(columns, **stated):
    return made(columns, **stated).numbers


OF = study().runs.of
LOSS = OF("loss", case="a")
LESS = OF("loss", "MRED", case="a").less("RED")


def test_rows_come_in_the_order_of_the_runs_or_as_stated():
    columns = {"seeds": SEEDS, "mean": "loss"}
    found = table(columns, rows=["n"], of={"case": "a", "discipline": "RED"})
    assert found["n"].tolist() == [9, 5]
    assert found["mean"].tolist() == pytest.approx([0.905, 0.505])
    assert found["seeds"].tolist() == [2, 2]
    assert list(found.columns) == ["n", "seeds", "mean", "mean low", "mean high"]
    stated = table(columns, rows={"n": "flows"}, of={"n": (5, 9), "case": "a", "discipline": "RED"})
    assert stated["flows"].tolist() == [5, 9]


def test_columns_over_values_and_differences_by_seed():
    columns = {
        "alone": OF("loss", "RED", case="a"),
        "with UDP": OF("loss", "RED", case="b"),
        "less": LESS,
        "%": OF("loss", "MRED", case="a").less(case="b").percent(),
        "share": OF("queue", "RED", case="a").less(case="b").ratio(),
        "p": P(LESS),
    }
    shown = made(columns, rows=["n"])
    found = shown.numbers.iloc[0]
    assert [found["alone"], found["with UDP"]] == pytest.approx([0.905, 0.905])
    ends = found["less"], found["less low"], found["less high"]
    assert ends == pytest.approx((-0.45, math.nan, math.nan), nan_ok=True)
    assert (found["%"], found["share"]) == pytest.approx((0.0, 1.0))
    assert shown.for_reading["less"][0].startswith("-0.45")
    assert shown.for_reading["share"][0] == "1"


def test_a_mean_over_columns_is_taken_seed_by_seed():
    found = table({"queue": OF("queue").mean_over("n")}, rows=["discipline"], of={"case": "a"}, exact=True)
    assert found["queue"].tolist() == pytest.approx([(21 + 42) / 2] * 2)
    with pytest.raises(InputError, match=r"table t: column queue: several runs of one seed"):
        table({"queue": "queue"}, rows=["discipline"], of={"case": "a"})


def test_printed_numbers_stand_beside_measured_ones():
    columns = {name: OF("loss", name) for name in ("RED", "MRED")}
    found = made(columns, rows=["n"], of={"case": "a"}, beside=True)
    assert found.numbers["MRED printed"].tolist() == [0.5, 0.1]
    assert found.numbers["MRED ratio"].tolist() == pytest.approx([0.455 / 0.5, 0.255 / 0.1])
    assert list(found.for_reading.columns)[:4] == ["n", "seeds", "RED printed", "RED measured"]
    difference = Printed(OF("loss", "MRED").less("RED"))
    assert table({"d": difference}, rows=["n"])["d"].tolist() == pytest.approx([0.1, -0.1])
    with pytest.raises(InputError, match="a column beside printed numbers is a quantity, not 2"):
        made({"seeds": SEEDS}, rows=["n"], beside=True)


def test_fits_to_the_printed_numbers_by_hand():
    red = OF("loss", "RED", case="a")
    columns = {
        "difference": Fit("difference", [red]),
        "relative": Fit("relative", [red]),
        "log": Fit("log", [red]),
        "reach": Fit("in reach", [red]),
        "less": Fit("difference", [LESS]),
        "elsewhere": Fit("log", [OF("loss", "MRED", case="a")], paper={"discipline": "RED"}),
    }
    found = study().by_reading("t", columns, readings={CHOSEN: runs()}).numbers.iloc[0]
    measured, paper = np.array([0.505, 0.905]), np.array([0.2, 0.4])
    rms = lambda errors: math.sqrt(np.mean(np.square(errors)))  # noqa: E731
    assert found["difference"] == pytest.approx(rms(measured - paper))
    assert found["relative"] == pytest.approx(rms(measured / paper - 1))
    assert found["log"] == pytest.approx(rms(np.log(measured / paper)))
    assert found["less"] == pytest.approx(rms(np.array([-0.25 + 0.1, -0.45 - 0.1])))
    assert found["elsewhere"] == pytest.approx(rms(np.log(np.array([0.255, 0.455]) / paper)))
    assert found["reach"] == "0 of 2"


def test_words_for_values_are_on_the_page_and_where_asked_for_in_the_file():
    stated = {"columns": {"loss": "loss"}, "rows": ["case"], "of": {"n": 5, "discipline": "RED"}}
    found = made(**stated)
    assert found.numbers["case"].tolist() == ["a", "b"]
    assert found.for_reading["case"].tolist() == ["alone", "with UDP"]
    assert table(**stated, labelled=True)["case"].tolist() == ["alone", "with UDP"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("los", r'table t: column x: unknown quantity "los".*did you mean loss'),
        (OF("loss", cas="a"), r'column x: unknown column "cas"'),
    ],
)
def test_errors_name_what_the_runs_do_not_have(content, message):
    with pytest.raises(InputError, match=message):
        table({"x": content}, rows=["n"], of={"case": "a", "discipline": "RED"})
    with pytest.raises(InputError, match=r'table t: unknown column "m"'):
        table({"x": "loss"}, rows=["m"])


def test_lines_against_a_column_measured_and_printed():
    lines = {
        "RED": OF("loss", "RED"),
        "MRED": OF("loss", "MRED"),
        "printed": Line(Printed(OF("loss", "RED")), mode="dashed", scale=0.5),
    }
    look = {"levels": [(1.0, "all")], "y_range": (0, 1)}
    chart = study().chart("f", "T", lines, x="n", of={"case": "a"}, caption="C", **look).chart
    red, mred, paper = chart.series
    assert (red.name, red.color, mred.color, paper.color, paper.mode) == ("RED", 4, 1, 4, "dashed")
    assert red.x.tolist() == [9, 5]
    assert red.y.tolist() == pytest.approx([0.905, 0.505])
    assert (red.low < red.y).all()
    assert (paper.x.tolist(), paper.y.tolist()) == ([2.5, 4.5], [0.2, 0.4])
    assert (chart.title, chart.caption, chart.levels, chart.y_range) == ("T", "C", [(1.0, "all")], (0, 1))
    assert "RED 0.905 at 9.0, 0.505 at 5.0" in chart.alt


def test_bars_for_each_run():
    line = Line(OF("queue", "RED", n=5, case="a"), mode="bar")
    (series,) = study().chart("f", "T", {"RED": line}, x="seed").chart.series
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
    lines = {"average": "average", "max_th": Line("max_th", samples="discipline_samples", scale=2.0, smooth=2)}
    for seed, mean in ((1, 1.0), (2, 2.0), ("all", 1.5)):
        figure = study(setups=[setup], root=tmp_path).over_time(
            "f", "T", lines, samples="queue_samples", link="x", seed=seed, time_range=(0, 2)
        )
        average, max_th = figure.chart.series
        assert (average.x.tolist(), average.y.tolist()) == ([0.0, 1.0], [mean, mean])
        assert max_th.y.tolist() == [6.0, 7.0]
    with pytest.raises(InputError, match=r"figure f: line average: 0 scenarios have {'case': 'b'}; it takes one"):
        study(setups=[setup]).over_time("f", "T", lines, samples="queue_samples", of={"case": "b"})
    with pytest.raises(StorageError, match=r'unknown name "queue" \(allowed: t_s, link, average'):
        samples(setup.run_folder(tmp_path, 1), "queue_samples", "queue")
    with pytest.raises(StorageError, match="holds no table flows"):
        samples(setup.run_folder(tmp_path, 1), "flows", "queue")


def under_readings(rows, **options):
    """A study whose runs are of several readings."""
    setups = [Setup({}, Plan(), seeds=1, reading=label) for label in rows["reading"].unique()]
    return study(rows, setups=setups, **options).readings


def test_readings_stand_beside_the_chosen_one_at_their_own_points():
    label = "TCP flavour: Reno"
    rows = runs().rename(columns={"case": "was"}).assign(case="sole")
    rows = rows[rows["was"] == "a"]
    other = rows[(rows["n"] == 5) & (rows["seed"] == 1)].assign(reading=label)
    found = under_readings(pd.concat([rows, other], ignore_index=True))
    assert list(found)[:2] == [CHOSEN, ("TCP flavour", "Reno")]
    assert {tuple(at) for at in found[CHOSEN][["n", "seed"]].to_numpy().tolist()} == {(5, 1)}
    assert set(found[CHOSEN]["reading"]) == {BASE}
    few = other[other["discipline"] == "RED"]
    filled = under_readings(
        pd.concat([rows, other.assign(reading="TCP flavour: SACK"), few], ignore_index=True), fill=True
    )
    assert len(filled["TCP flavour", "Reno"]) == len(filled[CHOSEN]) == 2


def test_another_discipline_may_stand_for_the_baseline():
    rows = runs().query("case == 'a'").assign(case="sole")
    gentle = rows[rows["discipline"] == "RED"].assign(discipline="gentle RED", loss=7.0)
    other = rows.assign(reading="TCP flavour: Reno")
    found = under_readings(pd.concat([rows, gentle, other], ignore_index=True))
    own = found["Which RED is MRED compared with", "gentle RED"]
    assert set(own.loc[own["discipline"] == "RED", "loss"]) == {7.0}


def test_parameters_beside_the_effective_ones():
    cells = [Cell("text", name, "s", "", value, "", {}) for name, value in (("a", 0.2), ("b", 5.0))]
    found = parameters(cells, lambda cell: {"a": "200ms", "b": 6.0}[cell.quantity], found="in the runs")
    assert found["in the runs"].tolist() == [0.2, 6.0]
    assert found["same"].tolist() == ["yes", "no"]
    assert math.isnan(plain_number("auto"))
