"""Claims as functions: the engine that executes their tests, and the sentences made from them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from aqmlab.errors import InputError
from aqmlab.papers.common import Cell, Claims, Column, Quantity, Range, Runs, execute_claims, literal, strict
from aqmlab.papers.common.claims import findings_table, parts_table, verdicts_by_reading
from aqmlab.papers.common.prose import sentence
from aqmlab.papers.reproduction import other_papers, paper_of, papers
from aqmlab.statistics import paired, runs_needed

COLUMNS = {
    "n": Column("n", (5, 10, 30)),
    "aqm": Column(values={"red": "RED", "new": "NEW", "old": "OLD"}),
}
QUANTITIES = {
    "rate": Quantity("throughput", "Mb/s", printed="rate"),
    "double": Quantity("twice the throughput", formula="2 * rate"),
    "acted": Quantity("number of decisions"),
}


def claims(*tests, against=(), quantities=QUANTITIES, **claim):
    """One claim whose tests are made of functions of the runs (and the baseline)."""
    made = Claims(COLUMNS, quantities, compared="aqm")
    stated = {"quote": "In general more, except at 30 flows.", **claim}

    @made.claim("X-a", "NEW carries more", against=against, **stated)
    def claim(*given):
        for test in tests:
            yield test(*given)

    return made


def general(runs):
    return literal(runs.gain("rate", "new", over="red").drop(n=30).mean_over("n") > 0)


def each(runs):
    return strict(runs.gain("rate", "new", over="red").each("n") > 0)


def runs(gain, *, seeds=8, noise=0.05, acted=1.0):
    """A table of runs in which NEW is `gain[n]` above RED, and OLD is RED bit by bit."""
    rng = np.random.default_rng(3)
    rows = []
    for n in gain:
        for seed in range(1, seeds + 1):
            red = 9 + n / 100 + rng.normal(0, noise)
            new = red + gain[n] + rng.normal(0, noise)
            rows += [
                {"n": n, "aqm": aqm, "seed": seed, "rate": rate, "acted": acted}
                for aqm, rate in (("red", red), ("old", red), ("new", new))
            ]
    return pd.DataFrame(rows)


def judged(made, table, **options):
    findings, parts = execute_claims(made, table, **options)
    return {finding.form: finding for finding in findings}, parts


BETTER = {5: 1.0, 10: 1.0, 30: -0.5}


def test_in_general_is_the_mean_and_strict_is_each_cell():
    found, parts = judged(claims(general, each), runs({5: 1.0, 10: -0.3, 30: 9.0}))
    assert (found["literal"].verdict, found["strict"].verdict) == ("holds", "fails")
    assert [part.at for part in parts if part.form == "strict"] == [{"n": 5}, {"n": 10}, {"n": 30}]
    literal = next(part for part in parts if part.form == "literal")
    assert literal.difference.mean == pytest.approx(0.35, abs=0.1)


@pytest.mark.parametrize("at_30", [-2.0, 2.0])
def test_an_exception_is_left_out_whether_better_or_worse(at_30):
    made = claims(general, lambda runs: strict(runs.gain("rate", "new", over="red").drop(n=30).each("n") > 0))
    found, _ = judged(made, runs({5: 1.0, 10: 1.0, 30: at_30}))
    assert {finding.verdict for finding in found.values()} == {"holds"}


def test_identical_runs_are_not_engaged():
    def same(runs):
        return runs.gain("rate", "old", over="red").each("n")

    found, _ = judged(claims(lambda r: literal(same(r) > 0), lambda r: strict(same(r) > 0)), runs(BETTER))
    assert {finding.verdict for finding in found.values()} == {"not engaged"}
    assert found["literal"].found == "All 3 parts are not engaged."
    # Two equal sides are an answer if the claim is about equality.
    old, red = (lambda runs, aqm=aqm: runs.of("rate", aqm).each("n") if aqm == "old" else runs.of("rate", aqm)
                for aqm in ("old", "red"))  # fmt: skip
    equal = [lambda r, form=form: form(old(r).equals(red(r), within=0.1)) for form in (literal, strict)]
    found, _ = judged(claims(*equal), runs(BETTER))
    assert {finding.verdict for finding in found.values()} == {"holds"}


def test_cells_that_are_not_engaged_are_left_out_and_listed():
    table = runs({5: 1.0, 10: 1.0})
    red = table.loc[(table["aqm"] == "red") & (table["n"] == 5), "rate"].to_numpy()
    table.loc[(table["aqm"] == "new") & (table["n"] == 5), "rate"] = red
    found, _ = judged(claims(general, each), table)
    assert found["strict"].verdict == "holds"
    assert found["strict"].found == "holds at n = 10; not engaged at n = 5."


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        (lambda runs, test: test.where(runs.of("acted") > 0), "not engaged"),
        (lambda runs, test: test.where(runs.of("acted") < 1), "holds"),
        (lambda runs, test: test.where(runs.of("acted") > -1, total=True), "holds"),
        (lambda runs, test: test.where(runs.of("acted", aqm=("red", "new")) > 0), "not engaged"),
    ],
)
def test_a_mechanism_that_never_acts_is_not_engaged(condition, verdict):
    made = claims(*(lambda runs, test=test: condition(runs, test(runs)) for test in (general, each)))
    found, _ = judged(made, runs({5: 1.0}, acted=0.0))
    assert found["strict"].verdict == verdict


def printed(values):
    return [
        Cell("1", "rate", "Mb/s", str(value), value, "", {"n": n, "aqm": aqm}) for (aqm, n), value in values.items()
    ]


def test_printed_numbers_that_contradict_the_text_are_named():
    cells = printed({("red", 5): 9.0, ("new", 5): 9.5, ("red", 10): 9.0, ("new", 10): 8.9, ("red", 30): 1.0})
    found, _ = judged(claims(general, each), runs({5: 1.0, 10: 1.0}), cells=cells)
    assert (found["literal"].printed, found["strict"].printed) == ("agree", "contradict")
    assert "The printed numbers contradict it at n = 10." in found["strict"].found
    assert found["strict"].verdict == "holds"


def test_undecided_names_the_seeds_that_would_decide():
    found, _ = judged(claims(general, each), runs({5: 0.01, 10: 1.0}, noise=0.1))
    assert found["strict"].verdict == "undecided"
    assert "seeds would decide it" in found["strict"].found
    # n = (t(0.975) + t(0.8))^2 (s/d)^2 with s = d is 10 with t's of 9 degrees: (2.262 + 0.883)^2 = 9.9
    pairs = np.tile([0.0, 2.0], 4)
    pairs *= 1 / np.std(pairs, ddof=1)
    assert runs_needed(paired(pairs - np.mean(pairs) + 1, np.zeros(8)).interval, 0.0) == 10
    # A mean at the bound itself is never decided.
    assert runs_needed(paired([0.0, 1.0, 0.0, 1.0], [0.0] * 4).interval, 0.5) == np.inf


def alternating(gains, spread=1.0):
    """Eight runs a cell whose gains are the given mean, less or plus `spread`: the half width is 0.8937 of it.

    The standard deviation is (8/7)^(1/2) spread, t(0.975) of 7 degrees is 2.3646, and 2.3646 / 7^(1/2) = 0.8937.
    """
    return pd.DataFrame(
        {"n": n, "aqm": aqm, "seed": seed, "rate": 90.0 + (aqm == "new") * (gain + (-1) ** seed * spread), "acted": 1.0}
        for n, gain in gains.items()
        for seed in range(1, 9)
        for aqm in ("red", "new")
    )


@pytest.mark.parametrize(
    ("gain", "printed_gain", "verdict"),
    [
        (0.10, 2.0, "no effect"),  # 0.10 + 0.8937 < 1, half of the printed gain
        (0.11, 2.0, "undecided"),  # 0.11 + 0.8937 > 1
        (-0.10, 2.0, "no effect"),
        (0.10, -2.0, "undecided"),  # the printed gain is not on the claimed side
        (0.10, None, "undecided"),
        (0.95, 4.0, "holds"),  # decided: the equivalence test is not asked
        (-0.95, 4.0, "fails"),
    ],
)
def test_no_effect_is_less_than_half_of_the_printed_one(gain, printed_gain, verdict):
    cells = printed({} if printed_gain is None else {("red", 5): 9.0, ("new", 5): 9.0 + printed_gain})
    found, parts = judged(claims(general, each), alternating({5: gain}), cells=cells)
    assert {form: finding.verdict for form, finding in found.items()} == {"literal": verdict, "strict": verdict}
    if verdict == "no effect":
        assert found["strict"].found == "no effect at n = 5.\nNo effect larger than 1 (half of that printed)."
        assert found["strict"].decided_by.endswith("± 0.89 (claimed: above 0; no effect below 1)")
        assert [part.margin for part in parts] == [1.0, 1.0]
        assert found["strict"].seeds_needed == ""


def test_no_effect_must_be_shown_in_every_cell():
    cells = printed({("red", 5): 9.0, ("new", 5): 11.0, ("red", 10): 9.0, ("new", 10): 9.5})
    found, _ = judged(claims(general, each), alternating({5: 0.1, 10: 0.1}), cells=cells)
    # At n = 10 the margin is 0.25, less than the half width; the mean over n has half of that scatter.
    assert found["strict"].verdict == "undecided"
    assert found["strict"].found.startswith("no effect at n = 5; undecided at n = 10.")


def test_a_test_names_its_margin():
    def named(form, margin):
        return lambda runs: form(by_n(runs).less("red").above(0).no_effect_below(margin))

    made = claims(named(literal, 1.0), named(strict, 0.5))
    assert made.sentences(made.all[0], "strict") == (
        "The throughput of NEW is above that of RED, for each n; less than 0.5 Mb/s counts as no effect."
    )
    found, parts = judged(made, alternating({5: 0.1}), cells=printed({("red", 5): 9.0, ("new", 5): 12.0}))
    assert (found["literal"].verdict, found["strict"].verdict) == ("no effect", "undecided")
    assert found["literal"].found == "no effect at n = 5.\nNo effect larger than 1."
    assert list(parts_table(parts)["no effect below"]) == [1.0, 0.5]


def test_thresholds_and_multiples_are_no_effects():
    """Their printed distance from the bound is not the size of an effect."""
    made = claims(lambda r: literal(by_n(r) > 90.0), lambda r: strict(by_n(r) > 1.0 * rate(r, "red")))
    found, _ = judged(made, alternating({5: 0.1}), cells=printed({("red", 5): 9.0, ("new", 5): 300.0}))
    assert {finding.verdict for finding in found.values()} == {"undecided"}


def rate(runs, aqm="new"):
    return runs.of("rate", aqm)


def by_n(runs):
    return rate(runs).each("n")


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        (lambda r: by_n(r) > 8.5, "holds"),
        (lambda r: by_n(r) < 8.5, "fails"),
        (lambda r: by_n(r).between(9.5, 11), "holds"),
        (lambda r: by_n(r).between(1.05, 1.3, times=rate(r, "red")), "holds"),
        (lambda r: by_n(r).between(2, 4, times=rate(r, "red")), "fails"),
        (lambda r: by_n(r) > 1.05 * rate(r, "red"), "holds"),
        (lambda r: by_n(r) > r.of("double", "new"), "fails"),
        (lambda r: by_n(r) < r.of("double", "new"), "holds"),
        (lambda r: by_n(r).below(rate(r, "red"), margin=1.5), "holds"),
        (lambda r: by_n(r).less("red") < 1.5, "holds"),
        (lambda r: by_n(r).less("red") > 1.5, "fails"),
        (lambda r: by_n(r).equals(rate(r, "red"), within=1.5), "holds"),
        (lambda r: rate(r).grows("n"), "holds"),
        (lambda r: rate(r).falls("n", steps="ends"), "fails"),
        (lambda r: rate(r).less("red").grows("n", steps="ends"), "holds"),
        (lambda r: by_n(r).at(n=Range(6, 40)) > 9, "holds"),
    ],
)
def test_comparisons(test, verdict):
    made = claims(lambda runs: literal(by_n(runs) > 0), lambda runs: strict(test(runs)))
    found, _ = judged(made, runs({5: 1.0, 10: 1.2, 30: 1.4}))
    assert found["strict"].verdict == verdict


def test_numbers_without_chance():
    table = pd.DataFrame([{"n": 5, "aqm": "new", "seed": 1, "rate": 3.0, "acted": 0.0}])
    made = claims(*(lambda runs, form=form, than=than: form((rate(runs) > than).exact())
                    for form, than in ((literal, 2), (strict, 3))))  # fmt: skip
    found, _ = judged(made, table)
    assert (found["literal"].verdict, found["strict"].verdict) == ("holds", "fails")


def test_each_run_is_a_cell():
    """One run on the wrong side makes the form fail, wherever the mean lies; printed numbers have no seeds."""
    gain = lambda runs: runs.gain("rate", "new", over="red").at(n=5).each("seed") > 0  # noqa: E731
    made = claims(general, lambda runs: strict(gain(runs).exact()))
    assert made.sentences(made.all[0], "strict") == (
        "The throughput of NEW, at n = 5, is above that of RED, for each seed."
    )
    table = runs({5: 1.0})
    cells = printed({("red", 5): 9.0, ("new", 5): 8.5})
    found, parts = judged(made, table, cells=cells)
    assert found["strict"].verdict == "holds"
    assert [part.at for part in parts if part.form == "strict"] == [{"seed": seed} for seed in range(1, 9)]
    assert found["strict"].found == "All 8 parts hold.\nThe printed numbers contradict it."
    table.loc[(table["aqm"] == "new") & (table["seed"] == 3), "rate"] -= 2
    found, _ = judged(made, table)
    assert (found["literal"].verdict, found["strict"].verdict) == ("holds", "fails")
    assert found["strict"].found == "holds at seed = 1, 2, 4, 5, 6, 7, 8; fails at seed = 3."
    with pytest.raises(InputError, match=r'claim X-a: strict form: each\("seed"\) needs exact\(\)'):
        claims(general, lambda runs: strict(gain(runs))).texts()


def test_each_baseline_gets_a_verdict():
    tests = [lambda runs, over, form=form: form(runs.gain("rate", "new", over=over).each("n") > 0)
             for form in (literal, strict)]  # fmt: skip
    made = claims(*tests, against=("red", "old"))
    findings, _ = execute_claims(made, runs({5: 1.0}))
    assert [(f.against, f.form) for f in findings] == [
        ("red", "literal"), ("red", "strict"), ("old", "literal"), ("old", "strict")
    ]  # fmt: skip
    assert findings[0].test == "The throughput of NEW is above that of RED and of OLD, for each n."
    table = findings_table(findings)
    assert list(table["against"]) == ["red", "old"]
    assert list(table["literal"]) == ["holds", "holds"]
    moved = verdicts_by_reading({("q", "r"): findings})
    assert list(moved["form"]) == ["literal", "strict"]


def test_what_was_not_run_has_no_verdict():
    findings, parts = execute_claims(claims(general, each), runs({5: 1.0}).query("aqm == 'red'"))
    assert (findings, parts) == ([], [])


def test_rows_without_a_quantity_are_no_runs_of_it():
    """A table may hold rows about another quantity, which have the same seeds."""
    table = runs({5: 1.0, 10: 1.0})
    other = table.assign(rate=np.nan, acted=2.0)
    expected, _ = judged(claims(general, each), table)
    found, _ = judged(claims(general, each), pd.concat([table, other]))
    assert {form: f.found for form, f in found.items()} == {form: f.found for form, f in expected.items()}
    assert found["strict"].verdict == "holds"


def test_sentences_are_made_from_the_tests():
    made = claims(general, lambda runs: each(runs).where(runs.of("acted") > 0))
    runs_of = Runs(made.words)
    assert sentence(made.words, general(runs_of)) == (
        "The throughput of NEW, averaged over n, except at n = 30, is above that of RED."
    )
    assert made.sentences(made.all[0], "strict") == (
        "The throughput of NEW is above that of RED, for each n; engaged where the number of decisions is above 0 "
        "in some run."
    )
    several = claims(
        general,
        *(lambda runs, q=q: strict(runs.gain(q, "new", over="red").each("n") > 0) for q in ("rate", "double")),
        lambda runs: strict(runs.gain("rate", "new", over="red") > 0.5),
    )
    assert several.sentences(several.all[0], "strict") == (
        "The throughput and the twice the throughput of NEW are above that of RED, for each n. The throughput of NEW "
        "is above that of RED by more than 0.5 Mb/s."
    )


@pytest.mark.parametrize("paper", [*papers(), *other_papers()])
def test_every_sentence_of_the_papers_can_be_made(paper):
    """No prose on tests is typed; it is made for each claim and both forms."""
    for claim in paper_of(paper).claims.texts():
        assert claim.test.startswith("Literal: The "), claim
        assert " Strict: The " in claim.test


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (lambda runs: runs.of("rte", "new") > 0, 'unknown quantity "rte" .allowed: rate, double, acted'),
        (lambda runs: runs.of("rate", qam="new") > 0, 'unknown column "qam" .allowed: n, aqm'),
        (lambda runs: runs.of("rate", "nwe") > 0, 'unknown aqm "nwe" .allowed: red, new, old'),
        (lambda runs: rate(runs).drop(n=31) > 0, 'unknown n "31" .allowed: 5, 10, 30'),
        (lambda runs: rate(runs).each("m") > 0, 'unknown column "m"'),
        (lambda runs: rate(runs).percent() > 0, "rate: a ratio or a change in per cent needs other runs"),
        (
            lambda runs: rate(runs).less("red").percent() > 5,
            r"rate: no test of ratio\(\) or percent\(\); compare with a",
        ),
        (lambda runs: rate(runs).less("red").ratio().equals(1, within=0.1), r"rate: no test of ratio"),
        (lambda runs: rate(runs).less("red").between(-1, 1), r"rate: between\(low, high\) is not about a difference"),
        (lambda runs: rate(runs) > runs.of("rate", n=5), "rate: the other side must select values of aqm"),
        (lambda runs: rate(runs).equals(3, within=0.0), "rate: equals needs a difference within that is above 0"),
    ],
)
def test_mistakes_are_reported_in_one_line(test, message):
    made = claims(general, lambda runs: strict(test(runs)))
    with pytest.raises(InputError, match=message) as error:
        made.texts()
    assert str(error.value).startswith("claim X-a: ")
    assert "\n" not in str(error.value)


def test_a_claim_has_both_forms_and_no_chained_comparison():
    with pytest.raises(InputError, match="claim X-a: no test of the strict form"):
        claims(general).texts()
    with pytest.raises(TypeError, match="runs decide later; yield it"):
        claims(general, lambda runs: strict(0 < rate(runs) < 3)).texts()
    with pytest.raises(InputError, match="quantity x: either column or formula"):
        claims(general, each, quantities={"x": Quantity("x", column="a", formula="b")})


def test_only_exact_tests_take_infinite_numbers():
    table = runs(BETTER)
    table.loc[(table["aqm"] == "new") & (table["seed"] == 3), "rate"] = np.inf
    with pytest.raises(InputError, match=r"claim X-a, literal form: rate: is infinite in a run \(allowed: a finite .*"):
        execute_claims(claims(general, each), table)
    exact = lambda runs: (rate(runs).each("n", "seed") > 2).exact()  # noqa: E731
    found, _ = judged(claims(lambda runs: literal(exact(runs)), lambda runs: strict(exact(runs))), table)
    assert found["strict"].verdict == "holds"


def test_a_form_undecided_by_the_correction_shows_the_part_that_fails_by_itself():
    """t = 2.5 and -2.6 at 7 degrees of freedom: p = 0.041 and 0.035, which Holm doubles to 0.071 for two parts."""
    noise = np.array([-7.0, -5.0, -3.0, -1.0, 1.0, 3.0, 5.0, 7.0])
    noise /= noise.std(ddof=1)
    table = runs({5: 0.0, 10: 0.0}, noise=0.0)
    for n, t in ((5, 2.5), (10, -2.6)):
        table.loc[(table["aqm"] == "new") & (table["n"] == n), "rate"] += noise + t / np.sqrt(8)
    found, parts = judged(claims(general, each), table)
    own = [part for part in parts if part.form == "strict"]
    assert [str(part.verdict) for part in own] == ["holds", "fails"]
    assert [part.difference.p for part in own] == pytest.approx([0.0410, 0.0354], abs=1e-4)
    assert found["strict"].verdict == "undecided"
    assert "1 part fails by itself, and none after Holm's correction for 2 parts." in found["strict"].found
    assert "n = 10: -0.92 ± 0.84" in found["strict"].decided_by


def test_equal_runs_are_named_where_a_verdict_rests_on_them():
    """The difference is 1 in every run: no interval and no p, as the page reports."""
    table = runs({5: 1.0, 10: 1.0}, noise=0.0)
    found, parts = judged(claims(general, each), table)
    assert {finding.verdict for finding in found.values()} == {"holds"}
    assert found["strict"].found.splitlines() == [
        "All 2 parts hold.",
        "Equal in all runs, and so without an interval: 2 of 2 parts that hold.",
    ]
    assert found["strict"].decided_by.endswith(": 1 (claimed: above 0; equal in all 8 runs)")
    rows = parts_table(parts)
    assert set(rows["remark"]) == {"equal in all 8 runs"}
    assert rows[["p", "95 % low", "95 % high"]].isna().all(axis=None)


def test_a_number_without_chance_has_no_p():
    exact = lambda runs: (rate(runs).at(n=5).each("seed") > 12).exact()  # noqa: E731
    found, parts = judged(claims(lambda r: literal(exact(r)), lambda r: strict(exact(r))), runs(BETTER))
    assert found["strict"].verdict == "fails"
    assert parts_table(parts)["p"].isna().all()
    assert "remark" not in parts_table(parts)


def test_columns_that_the_runs_lack_are_reported():
    with pytest.raises(InputError, match='unknown quantity acted: column "acted"'):
        execute_claims(claims(general, each), runs(BETTER).drop(columns="acted"))


def test_a_cell_with_several_runs_of_a_seed_is_an_error():
    made = claims(general, lambda runs: strict(runs.gain("rate", "new", over="red") > 0))
    with pytest.raises(InputError, match="claim X-a, strict form: several runs of one seed"):
        execute_claims(made, runs(BETTER))
