"""Objections of the authors to what fails: every failing claim has one, and the numbers in answers come from runs."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from aqmlab.errors import InputError
from aqmlab.papers.common.claim_file import Objection
from aqmlab.papers.common.claim_reader import read_claims
from aqmlab.papers.common.engine import execute_claims
from aqmlab.papers.common.files import PaperFiles
from aqmlab.papers.common.runs import BASE
from aqmlab.papers.reproduction import papers

TABLE = Path(__file__).parents[2] / "docs" / "validation" / "claims.csv"
CLAIMS = """
[column.n]
title = "n"
values = [5, 10]
[column.aqm]
values = { red = "RED", gentle = "gentle RED", new = "NEW" }
[quantity.rate]
title = "rate"
[[claim]]
id = "X-a"
title = "NEW carries more"
says = "More."
quantity = "rate"
of = { aqm = "new" }
against = { aqm = ["red", "gentle"] }
compare = "above"
[[claim.test]]
form = "literal"
mean_over = ["n"]
[[claim.test]]
form = "strict"
each = ["n"]
[[claim.objection]]
says = "The mean counts."
answer = "It {literal}: {gain}."
fails = "strict"
[claim.objection.number.gain]
quantity = "rate"
of = { aqm = "new" }
against = true
mean_over = ["n"]
[[claim.objection]]
says = "With SACK it is better."
answer = "With SACK: {sack} at n = {sack.at}."
fails = "literal"
against = ["red"]
[claim.objection.number.sack]
quantity = "rate"
of = { aqm = "new" }
than = { aqm = "red" }
each = ["n"]
reading = "TCP: SACK"
[[claim.objection]]
says = "The trace is lost."
unanswered = "no run has it."
fails = "literal"
against = ["gentle"]
"""


def runs(gains, *, reading=BASE):
    """Return runs in which NEW carries more by so much at n = 5 and 10."""
    rows = []
    for n, gain in zip((5, 10), gains, strict=True):
        for seed in (1, 2, 3):
            for aqm, rate in (("red", 0.0), ("gentle", 0.0), ("new", gain + 0.01 * seed)):
                rows.append({"n": n, "aqm": aqm, "seed": seed, "reading": reading, "rate": 10 + rate})
    return pd.DataFrame(rows)


def lines(gains, *, others=None):
    """Return the lines on the objections, by baseline."""
    base = runs(gains)
    experiments = None if others is None else pd.concat([base, runs(others, reading="TCP: SACK")])
    found, _ = execute_claims(read_claims(tomllib.loads(CLAIMS), file="x"), base, experiments=experiments)
    return {finding.against: finding.reasons for finding in found}


def test_nothing_is_objected_to_what_holds():
    assert set(lines((1.0, 1.0)).values()) == {""}


def test_the_difference_from_the_baseline_and_the_verdict_are_filled_in():
    said = "Objection: The mean counts. Answer: It holds: +0.520 ± 0.025."
    assert lines((2.0, -1.0)) == {"red": said, "gentle": said}


def test_an_answer_takes_its_numbers_from_another_reading():
    found = lines((-1.0, -1.0), others=(1.0, 2.0))
    said = "With SACK: +1.020 ± 0.025 and +2.020 ± 0.025 at n = 5 and 10."
    assert found["red"] == f"Objection: With SACK it is better. Answer: {said}"
    assert found["gentle"] == "Objection: The trace is lost. Not answered: no run has it."


def test_an_experiment_that_was_not_run_is_named():
    left_out = "Objection: With SACK it is better. Not answered in these runs, which leave out: TCP: SACK."
    assert lines((-1.0, -1.0))["red"] == left_out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('unanswered = "no run has it."\n', ""), "X-a: objection 3: either answer or unanswered"),
        (("{sack.at}", "{sake.at}"), 'X-a: objection 2: answer: unknown number "sake"'),
        (('fails = "strict"', 'fails = "string"'), 'objection 1: unknown fails "string"'),
        (("against = true", "again = true"), 'objection 1: number gain: unknown key "again"'),
    ],
)
def test_mistakes_are_reported_in_one_line(change, message):
    assert change[0] in CLAIMS
    with pytest.raises(InputError, match=message):
        read_claims(tomllib.loads(CLAIMS.replace(*change)), file="x")


def test_every_claim_that_fails_has_an_objection_and_what_answers_it():
    """In the committed table of verdicts."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        failed = [row for row in csv.DictReader(file) if "fails" in (row["literal"], row["strict"])]
    assert failed
    for row in failed:
        objections = [line for line in row["found"].splitlines() if line.startswith("Objection: ")]
        name = (row["paper"], row["claim"], row["against"], row["reading"])
        assert objections, name
        assert all(" Answer: " in line or " Not answered" in line for line in objections), name


@pytest.mark.parametrize("paper", papers())
def test_answers_name_experiments_that_there_are(paper):
    files = PaperFiles(paper)
    labels = {reading.label for reading in files.readings()}
    for claim in files.claim_file().claims:
        for objection in claim.notes:
            named = {number.reading for number in objection.numbers.values()}
            assert named - {""} <= labels, claim.id
            text = objection.answer if isinstance(objection, Objection) else objection.says
            assert all(f"{{{name}" in text for name in objection.numbers), claim.id
            assert "±" not in text


@pytest.mark.parametrize("paper", papers())
def test_a_threshold_in_a_literal_form_has_its_reason(paper):
    for claim in PaperFiles(paper).claim_file().claims:
        for test in claim.tests if not claim.own else ():
            number = isinstance(test.than, tuple) or (isinstance(test.than, float) and test.than not in (0, 0.5, 1))
            if test.form == "literal" and (number or test.factor or test.margin or test.within):
                reasons = [one.why for one in claim.tests if one.form == "literal" and one.why]
                assert reasons, claim.id
