"""Claims as data: the format of ``claims.toml``, the engine that executes it, and the sentences made from it."""

from __future__ import annotations

import tomllib

import numpy as np
import pandas as pd
import pytest

from aqmlab.errors import InputError
from aqmlab.papers.common.claim_prose import form_sentences, sentence
from aqmlab.papers.common.claim_reader import read_claims
from aqmlab.papers.common.claims import findings_table, verdicts_by_reading
from aqmlab.papers.common.engine import execute_claims
from aqmlab.papers.common.files import Cell, PaperFiles
from aqmlab.statistics import paired, runs_needed

HEAD = """
[column.n]
title = "n"
values = [5, 10, 30]
[column.aqm]
values = { red = "RED", new = "NEW", old = "OLD" }
[quantity.rate]
title = "throughput"
unit = "Mb/s"
printed = "rate"
[quantity.double]
title = "twice the throughput"
formula = "2 * rate"
[quantity.acted]
title = "number of decisions"
"""
CLAIM = """
[[claim]]
id = "X-a"
title = "NEW carries more"
says = "In general more, except at 30 flows."
quantity = "rate"
of = { aqm = "new" }
compare = "above"
"""
GENERAL = 'form = "literal"\nthan = { aqm = "red" }\nmean_over = ["n"]\nexcept = { n = 30 }'
EACH = 'form = "strict"\nthan = { aqm = "red" }\neach = ["n"]'


def claims(*tests, claim=CLAIM, head=HEAD):
    text = head + claim + "".join(f"[[claim.test]]\n{test}\n" for test in tests)
    return read_claims(tomllib.loads(text), file="x/claims.toml")


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


def judged(file, table, **options):
    findings, parts = execute_claims(file, table, **options)
    return {finding.form: finding for finding in findings}, parts


BETTER = {5: 1.0, 10: 1.0, 30: -0.5}


def test_in_general_is_the_mean_and_strict_is_each_cell():
    found, parts = judged(claims(GENERAL, EACH), runs({5: 1.0, 10: -0.3, 30: 9.0}))
    assert (found["literal"].verdict, found["strict"].verdict) == ("holds", "fails")
    assert [part.at for part in parts if part.form == "strict"] == [{"n": 5}, {"n": 10}, {"n": 30}]
    literal = next(part for part in parts if part.form == "literal")
    assert literal.difference.mean == pytest.approx(0.35, abs=0.1)


@pytest.mark.parametrize("at_30", [-2.0, 2.0])
def test_an_exception_is_left_out_whether_better_or_worse(at_30):
    file = claims(GENERAL, EACH + "\nexcept = { n = 30 }")
    found, _ = judged(file, runs({5: 1.0, 10: 1.0, 30: at_30}))
    assert {finding.verdict for finding in found.values()} == {"holds"}


def test_identical_runs_are_not_engaged():
    same = 'than = { aqm = "red" }\nof = { aqm = "old" }'
    found, _ = judged(claims(f'form = "literal"\neach = ["n"]\n{same}', f'form = "strict"\n{same}\neach = ["n"]'),
                      runs(BETTER))  # fmt: skip
    assert {finding.verdict for finding in found.values()} == {"not engaged"}
    assert found["literal"].found == "All 3 parts are not engaged."
    # Two equal sides are an answer if the claim is about equality.
    equal = f'{same}\ncompare = "equal"\nwithin = 0.1\neach = ["n"]'
    found, _ = judged(claims(f'form = "literal"\n{equal}', f'form = "strict"\n{equal}'), runs(BETTER))
    assert {finding.verdict for finding in found.values()} == {"holds"}


def test_cells_that_are_not_engaged_are_left_out_and_listed():
    table = runs({5: 1.0, 10: 1.0})
    red = table.loc[(table["aqm"] == "red") & (table["n"] == 5), "rate"].to_numpy()
    table.loc[(table["aqm"] == "new") & (table["n"] == 5), "rate"] = red
    found, _ = judged(claims(GENERAL, EACH), table)
    assert found["strict"].verdict == "holds"
    assert found["strict"].found == "holds at n = 10; not engaged at n = 5."


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("above = 0", "not engaged"),
        ("below = 1", "holds"),
        ("total = true, above = -1", "holds"),
        ('of = { aqm = ["red", "new"] }, above = 0', "not engaged"),
    ],
)
def test_a_mechanism_that_never_acts_is_not_engaged(condition, verdict):
    mechanism = f'\nmechanism = {{ quantity = "acted", {condition} }}'
    found, _ = judged(claims(GENERAL + mechanism, EACH + mechanism), runs({5: 1.0}, acted=0.0))
    assert found["strict"].verdict == verdict


def printed(values):
    return [
        Cell("1", "rate", "Mb/s", str(value), value, "", {"n": n, "aqm": aqm}) for (aqm, n), value in values.items()
    ]


def test_printed_numbers_that_contradict_the_text_are_named():
    cells = printed({("red", 5): 9.0, ("new", 5): 9.5, ("red", 10): 9.0, ("new", 10): 8.9, ("red", 30): 1.0})
    found, _ = judged(claims(GENERAL, EACH), runs({5: 1.0, 10: 1.0}), cells=cells)
    assert (found["literal"].printed, found["strict"].printed) == ("agree", "contradict")
    assert "The printed numbers contradict it at n = 10." in found["strict"].found
    assert found["strict"].verdict == "holds"


def test_undecided_names_the_seeds_that_would_decide():
    found, _ = judged(claims(GENERAL, EACH), runs({5: 0.01, 10: 1.0}, noise=0.1))
    assert found["strict"].verdict == "undecided"
    assert "seeds would decide it" in found["strict"].found
    # n = (t(0.975) + t(0.8))^2 (s/d)^2 with s = d is 10 with t's of 9 degrees: (2.262 + 0.883)^2 = 9.9
    pairs = np.tile([0.0, 2.0], 4)
    pairs *= 1 / np.std(pairs, ddof=1)
    assert runs_needed(paired(pairs - np.mean(pairs) + 1, np.zeros(8)).interval, 0.0) == 10


@pytest.mark.parametrize(
    ("test", "verdict"),
    [
        ('compare = "above"\nthan = 8.5', "holds"),
        ('compare = "below"\nthan = 8.5', "fails"),
        ('compare = "between"\nthan = [9.5, 11]', "holds"),
        ('compare = "between"\nthan = { aqm = "red" }\nfactor = [1.05, 1.3]', "holds"),
        ('compare = "between"\nthan = { aqm = "red" }\nfactor = [2, 4]', "fails"),
        ('compare = "above"\nthan = { aqm = "red" }\nfactor = 1.05', "holds"),
        ('compare = "above"\nthan = { quantity = "double" }', "fails"),
        ('compare = "below"\nthan = { quantity = "double" }', "holds"),
        ('compare = "below"\nthan = { aqm = "red" }\nmargin = 1.5', "holds"),
        ('compare = "equal"\nthan = { aqm = "red" }\nwithin = 1.5', "holds"),
        ('compare = "grows"\nalong = "n"\neach = []', "holds"),
        ('compare = "falls"\nalong = "n"\nsteps = "ends"\neach = []', "fails"),
        ('compare = "grows"\nalong = "n"\nthan = { aqm = "red" }\nsteps = "ends"\neach = []', "holds"),
        ('compare = "above"\nthan = 9\nat = { n = { from = 6, to = 40 } }', "holds"),
    ],
)
def test_comparisons(test, verdict):
    strict = 'form = "strict"\n' + test + ("" if "each" in test else '\neach = ["n"]')
    literal = 'form = "literal"\ncompare = "above"\nthan = 0\neach = ["n"]'
    found, _ = judged(claims(literal, strict), runs({5: 1.0, 10: 1.2, 30: 1.4}))
    assert found["strict"].verdict == verdict


def test_numbers_without_chance():
    table = pd.DataFrame([{"n": 5, "aqm": "new", "seed": 1, "rate": 3.0, "acted": 0.0}])
    exact = 'statistic = "exact"\ncompare = "above"\nthan = '
    found, _ = judged(claims(f'form = "literal"\n{exact}2', f'form = "strict"\n{exact}3'), table)
    assert (found["literal"].verdict, found["strict"].verdict) == ("holds", "fails")


def test_each_run_is_a_cell():
    """One run on the wrong side makes the form fail, wherever the mean lies; printed numbers have no seeds."""
    each_run = 'form = "strict"\nthan = { aqm = "red" }\nat = { n = 5 }\neach = ["seed"]\nstatistic = "exact"'
    file = claims(GENERAL, each_run)
    assert form_sentences(file, file.claims[0], "strict") == (
        "The throughput of NEW, at n = 5, is above that of RED, for each seed."
    )
    table = runs({5: 1.0})
    cells = printed({("red", 5): 9.0, ("new", 5): 8.5})
    found, parts = judged(file, table, cells=cells)
    assert found["strict"].verdict == "holds"
    assert [part.at for part in parts if part.form == "strict"] == [{"seed": seed} for seed in range(1, 9)]
    assert found["strict"].found == "All 8 parts hold.\nThe printed numbers contradict it."
    table.loc[(table["aqm"] == "new") & (table["seed"] == 3), "rate"] -= 2
    found, _ = judged(file, table)
    assert (found["literal"].verdict, found["strict"].verdict) == ("holds", "fails")
    assert found["strict"].found == "holds at seed = 1, 2, 4, 5, 6, 7, 8; fails at seed = 3."
    with pytest.raises(InputError, match='test 2: each = "seed" needs statistic = "exact"'):
        claims(GENERAL, each_run.replace('"exact"', '"paired t"'))


def test_each_baseline_gets_a_verdict():
    each = 'each = ["n"]\nagainst = { aqm = ["red", "old"] }'
    findings, _ = execute_claims(claims(f'form = "literal"\n{each}', f'form = "strict"\n{each}'), runs({5: 1.0}))
    assert [(f.against, f.form) for f in findings] == [
        ("red", "literal"), ("red", "strict"), ("old", "literal"), ("old", "strict")
    ]  # fmt: skip
    table = findings_table(findings)
    assert list(table["against"]) == ["red", "old"]
    assert list(table["literal"]) == ["holds", "holds"]
    moved = verdicts_by_reading({("q", "r"): findings})
    assert list(moved["form"]) == ["literal", "strict"]


def test_what_was_not_run_has_no_verdict():
    findings, parts = execute_claims(claims(GENERAL, EACH), runs({5: 1.0}).query("aqm == 'red'"))
    assert (findings, parts) == ([], [])


def test_rows_without_a_quantity_are_no_runs_of_it():
    """A table may hold rows about another quantity, which have the same seeds."""
    table = runs({5: 1.0, 10: 1.0})
    other = table.assign(rate=np.nan, acted=2.0)
    expected, _ = judged(claims(GENERAL, EACH), table)
    found, _ = judged(claims(GENERAL, EACH), pd.concat([table, other]))
    assert {form: f.found for form, f in found.items()} == {form: f.found for form, f in expected.items()}
    assert found["strict"].verdict == "holds"


def test_sentences_are_made_from_the_data():
    file = claims(GENERAL, EACH + '\nmechanism = { quantity = "acted", above = 0 }')
    assert sentence(file, file.claims[0].tests[0]) == (
        "The throughput of NEW, averaged over n, except at n = 30, is above that of RED."
    )
    assert form_sentences(file, file.claims[0], "strict") == (
        "The throughput of NEW is above that of RED, for each n; engaged where the number of decisions is above 0 "
        "in some run."
    )
    several = claims(GENERAL, f'{EACH}\nquantity = ["rate", "double", "acted"]')
    assert form_sentences(several, several.claims[0], "strict").startswith(
        "The throughput, the twice the throughput and the number of decisions of NEW are above that of RED"
    )


def test_every_sentence_of_the_papers_can_be_made():
    """Prose on tests stands in no claims.toml that is data; it is made for each claim and both forms."""
    for paper in ("mred", "pc-red", "ddred", "adaptive-rio"):
        for claim in PaperFiles(paper).claims():
            assert claim.test.startswith("Literal: The "), claim
            assert " Strict: The " in claim.test
        assert all(isinstance(entry["test"], list) for entry in PaperFiles(paper).toml("claims.toml")["claim"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("mean_over", "mean_ovr"), 'claim X-a: test 1: unknown key "mean_ovr" .*did you mean mean_over'),
        (('form = "strict"', 'form = "exact"'), 'test 2: unknown form "exact" .allowed: literal, strict'),
        (('quantity = "rate"', 'quantity = "rte"'), 'unknown quantity "rte" .allowed: rate, double, acted'),
        (('of = { aqm = "new" }', 'of = { qam = "new" }'), 'test 1: of: unknown column "qam" .allowed: n, aqm'),
        (('of = { aqm = "new" }', 'of = { aqm = "nwe" }'), 'of: unknown aqm "nwe" .allowed: red, new, old'),
        (("except = { n = 30 }", "except = { n = 31 }"), 'except: unknown n "31" .allowed: 5, 10, 30'),
        (('than = { aqm = "red" }\neach', "each"), 'compare = "above" needs than'),
        (('form = "strict"', 'form = "literal"'), 'claim X-a: no test with form = "strict"'),
        (('id = "X-a"', 'id = "X-a"\nown = false\ntst = 3'), 'claim X-a: unknown key "tst"'),
        (('title = "NEW carries more"\n', ""), "claim X-a: the key title is missing"),
        (('compare = "above"', 'compare = "above"\nwithin = 3'), "within belongs to"),
    ],
)
def test_mistakes_are_reported_in_one_line(change, message):
    text = HEAD + CLAIM + f"[[claim.test]]\n{GENERAL}\n[[claim.test]]\n{EACH}\n"
    assert change[0] in text
    with pytest.raises(InputError, match=message) as error:
        read_claims(tomllib.loads(text.replace(*change)), file="x/claims.toml")
    assert str(error.value).startswith("x/claims.toml: ")
    assert "\n" not in str(error.value)


def test_columns_that_the_runs_lack_are_reported():
    with pytest.raises(InputError, match='unknown quantity acted: column "acted"'):
        execute_claims(claims(GENERAL, EACH), runs(BETTER).drop(columns="acted"))


def test_a_cell_with_several_runs_of_a_seed_is_an_error():
    file = claims(GENERAL, 'form = "strict"\nthan = { aqm = "red" }')
    with pytest.raises(InputError, match="claim X-a, strict form: several runs of one seed"):
        execute_claims(file, runs(BETTER))
