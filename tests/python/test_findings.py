"""The finding of a paper, its card, and gaps to printed numbers: numbers come from runs, and words from verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.papers.common import Cell, Claims, Column, Quantity, Runs, Setup, execute_claims, find, literal, strict
from aqmlab.papers.common.cards import card, effort_words, linked, preliminary
from aqmlab.papers.common.gaps import IN_REACH, UNEXPLAINED, gaps, gaps_words, largest_unexplained
from aqmlab.papers.mred import plan
from aqmlab.papers.mred.claims import CLAIMS
from aqmlab.papers.reproduction import other_papers, paper_of, papers


def claims(*, finding=True):
    made = Claims(
        {"n": Column("n", (5, 10)), "aqm": Column(values={"red": "RED", "new": "NEW"})},
        {"rate": Quantity("rate", "Mb/s", printed="rate"), "acted": Quantity("number of decisions")},
        compared="aqm",
    )

    @made.claim("X-a", "NEW carries more", quote="More.")
    def more(runs):
        gain = runs.gain("rate", "new", over="red")
        yield literal(gain.mean_over("n") > 0)
        yield strict((gain.each("n") > 0).where(runs.of("acted") > 0))

    if finding:

        @made.finding("NEW is newer.", holds="NEW is better.", fails="NEW is worse.", undecided="It is open.")
        def found(runs):
            yield literal(runs.gain("rate", "new", over="red").mean_over("n") > 0)

        @found.text
        def _(runs):
            rate, gain = runs.of("rate", "new").each("n"), runs.gain("rate", "new", over="red", n=5).percent()
            return f"{rate} Mb/s at n = {rate.cells} (printed: {rate.on_paper}), {gain} % more."

    return made


def runs(gain, *, acted=(1.0, 1.0)):
    rows = []
    for n, decisions in zip((5, 10), acted, strict=True):
        for seed, noise in enumerate((-0.1, 0.0, 0.1), 1):
            for aqm, more in (("red", 0.0), ("new", gain + noise / 10)):
                row = {"n": n, "aqm": aqm, "seed": seed, "rate": 10 + noise + more}
                rows.append(row | {"acted": decisions})
    return pd.DataFrame(rows)


CELLS = [Cell("1", "rate", "Mb/s", "9.5", 9.5, "", {"n": 5, "aqm": "new"})]


def test_numbers_of_the_finding_by_hand():
    found = find(claims(), runs(2.0), cells=CELLS)
    assert (found.idea, found.says) == ("NEW is newer.", "NEW is better.")
    assert found.shows == "12.00 ± 0.27 and 12.00 ± 0.27 Mb/s at n = 5 and 10 (printed: 9.5), +20.00 ± 0.25 % more."


@pytest.mark.parametrize(("gain", "says"), [(-2.0, "NEW is worse."), (0.0, "It is open.")])
def test_the_verdict_chooses_the_sentence(gain, says):
    assert find(claims(), runs(gain)).says == says


def test_what_was_not_run_is_named():
    few = runs(2.0).query("n == 10")
    assert "not run % more" in find(claims(), few).shows
    assert "at n = 10 (printed: not printed)" in find(claims(), few).shows
    assert find(claims(), few.query("aqm == 'red'")) is None
    assert find(claims(finding=False), runs(2.0)) is None


@pytest.mark.parametrize("paper", [*papers(), *other_papers()])
def test_every_paper_declares_its_finding_without_typed_numbers(paper):
    own = paper_of(paper).claims
    runs = Runs(own.words)
    assert list(own.found.function(runs))
    assert set(own.found.says) == {"holds", "fails", "no effect", "undecided"}
    assert "±" not in own.found.shows(runs)
    assert runs.used


def made(table, *, href=""):
    own = card("X", *execute_claims(claims(), table), find(claims(), table), run="Full run.")
    return linked(own, href) if href else own


def test_the_card_names_what_fails_and_what_was_not_engaged():
    found = made(runs(-2.0, acted=(0.0, 1.0)), href="x/report.html")
    assert [(tally.form, [count for _, count, _ in tally.counts]) for tally in found.tallies] == [
        ("literal", [0, 1, 0, 0, 0]),
        ("strict", [0, 1, 0, 0, 0]),
    ]
    (fails, (own,)), (idle, (part,)) = found.groups
    assert (fails, own.claim, own.href) == ("Fails as the authors state it", "X-a", "x/report.html#claim-X-a")
    assert (idle, part.about) == ("Not engaged, so never tested there", "1 of 3 cells: n = 5")
    assert made(runs(2.0)).groups == []


def test_a_claim_that_was_never_engaged_is_named_without_cells():
    found = made(runs(2.0, acted=(0.0, 0.0)))
    assert [verdict for verdict, count, _ in found.tallies[1].counts if count] == ["not engaged"]
    assert "2 of 3 cells: n = 5, 10" in found.groups[-1][1][0].about


def test_quick_runs_and_few_seeds_are_preliminary():
    quick, full = plan.Effort.of(quick=True), plan.Effort.of(quick=False)
    assert "quick run, a demonstration: 8 seeds a point" in preliminary("mred", quick, (8, 8))
    assert "`aqmlab reproduce mred`" in preliminary("mred", quick, (8, 8))
    assert preliminary("mred", full, (50, 50)) == ""
    assert "fewer than the full 50 seeds" in preliminary("mred", plan.Effort.of(quick=False, seeds=5), (5, 5))
    assert "demonstration: 4 to 11 seeds a point" in preliminary("ddred", quick, (4, 11))


def test_the_effort_in_words_counts_each_run_once():
    setup = plan.setup("sole", 5, "RED", seeds=3)
    again = Setup(key={"case": "again"}, plan=setup.plan, seeds=2)
    words = effort_words(plan.Effort(3, 3, quick=True), [setup, again])
    assert words == "Quick run: 3 seeds a point; 3 simulations, 0.0 h of simulated time."


def blank(claims, value):
    """Every column of a paper's table of runs: selections "", quantities one value."""
    columns = dict.fromkeys(claims.words.columns, "")
    return columns | {one.column: value for one in claims.words.quantities.values() if one.column}


def mred_runs(level):
    """Runs that have the printed numbers but for one cell."""
    rows = []
    for case in plan.CASES:
        for n in plan.FLOWS:
            for discipline in plan.DISCIPLINES:
                for seed in (1, 2, 3):
                    row = {"case": case, "n": n, "discipline": discipline, "reading": "base", "seed": seed}
                    for quantity, column in (("throughput", "throughput"), ("loss", "loss_trace")):
                        where = {"case": case, "n": n, "discipline": discipline.removeprefix("gentle ")}
                        row[column] = plan.FILES.printed(quantity=quantity, **where) * (1 + 1e-5 * (seed - 2))
                    if (case, n, discipline) == ("mixed", 20, "MRED"):
                        row["throughput"] *= level
                    rows.append(blank(CLAIMS, 1.0) | row)
    return pd.DataFrame(rows)


def test_gaps_are_sorted_and_those_held_out_are_marked():
    table = gaps(CLAIMS.words, plan.FILES, mred_runs(0.5))
    assert len(table) == 48
    first = table.iloc[0]
    assert first["cell"] == "Table 3: throughput, Mb/s; TCP and UDP, n = 20, MRED"
    assert (first["factor"], first["held out"], first["explained"]) == (pytest.approx(2.0), "yes", UNEXPLAINED)
    assert set(table["explained"][1:]) == {IN_REACH}
    assert set(table.loc[table["cell"].str.endswith(" RED"), "held out"]) == {""}
    assert (table["held out"] == "yes").sum() == 24
    assert len(largest_unexplained(table)) == 1
    assert f"Largest gaps that are not explained: {first['cell']} (9.862 printed" in gaps_words(table)


def test_a_printed_zero_counts_as_half_a_unit():
    own = paper_of("pc-red")
    row = blank(own.claims, np.nan) | {"case": "30 %"}
    runs_of_0 = pd.DataFrame([row | {"seed": seed, "non_min": non_min} for seed, non_min in enumerate((1.9, 2.0, 2.1))])
    (row,) = gaps(own.claims.words, own.files, runs_of_0).to_dict("records")
    assert (row["printed"], row["factor"]) == ("0", pytest.approx(4.0))


def test_sets_of_printed_numbers_name_numbers_that_are_there():
    """A misspelt column or value in [[used]] or [[explained]] would hold a number out that was used."""
    for paper in ("pc-red", "mred", "ddred"):
        files = paper_of(paper).files
        cells = [{"table": c.table, "quantity": c.quantity, "unit": c.unit, **c.key} for c in files.cells()]
        data = files.toml("readings.toml")
        for entry in [*data.get("used", ()), *data.get("explained", ())]:
            for column, value in entry["of"].items():
                for one in value if isinstance(value, list) else [value]:
                    assert any(cell.get(column) == one for cell in cells), (paper, column, one)


def test_names_are_public():
    assert {"card", "notice"} <= set(aqmlab.Reproduction.__dataclass_fields__)
