"""Objections of the authors to what fails: every failing claim has one, and the numbers in answers come from runs."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from aqmlab.errors import InputError
from aqmlab.papers.common import BASE, Claims, Column, Quantity, Runs, execute_claims, literal, strict
from aqmlab.papers.common.claim_functions import called
from aqmlab.papers.reproduction import other_papers, paper_of, papers

TABLE = Path(__file__).parents[2] / "docs" / "validation" / "claims.csv"
CLAIMS = Claims(
    {"n": Column("n", (5, 10)), "aqm": Column(values={"red": "RED", "gentle": "gentle RED", "new": "NEW"})},
    {"rate": Quantity("rate")},
    compared="aqm",
)


@CLAIMS.claim("X-a", "NEW carries more", quote="More.", against=("red", "gentle"))
def more(runs, baseline):
    gain = runs.gain("rate", "new", over=baseline)
    yield literal(gain.mean_over("n") > 0)
    yield strict(gain.each("n") > 0)


@more.objection("The mean counts.", fails="strict")
def _(runs, baseline):
    return f"It {runs.literal}: {runs.gain('rate', 'new', over=baseline).mean_over('n')}."


@more.objection("With SACK it is better.", fails="literal", against=("red",))
def _(runs, baseline):
    sack = runs.gain("rate", "new", over="red").each("n").under("TCP: SACK")
    return f"With SACK: {sack} at n = {sack.cells}."


@more.note(under=("another",))
def _(runs, baseline):
    return "Never shown here."


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
    found, _ = execute_claims(CLAIMS, base, experiments=experiments)
    return {finding.against: finding.reasons for finding in found}


def test_a_mistake_in_a_text_names_its_claim():
    made = Claims(CLAIMS.words.columns, CLAIMS.words.quantities, compared="aqm")

    @made.claim("X-b", "NEW carries more", quote="More.")
    def claim(runs):
        yield literal(runs.gain("rate", "new", over="red").mean_over("n") < 0)
        yield strict(runs.gain("rate", "new", over="red").mean_over("n") < 0)

    claim.objection("No.")(lambda runs: f"{runs.of('rate', 'new')}")
    with pytest.raises(InputError, match="claim X-b, objection: rate: several runs of one seed"):
        execute_claims(made, runs((1.0, 1.0)))


def test_nothing_is_objected_to_what_holds():
    assert set(lines((1.0, 1.0)).values()) == {""}


def test_the_difference_from_the_baseline_and_the_verdict_are_filled_in():
    said = "Objection: The mean counts. Answer: It holds: +0.520 ± 0.025."
    assert lines((2.0, -1.0)) == {"red": said, "gentle": said}


def test_an_answer_takes_its_numbers_from_another_reading():
    found = lines((-1.0, -1.0), others=(1.0, 2.0))
    said = "With SACK: +1.020 ± 0.025 and +2.020 ± 0.025 at n = 5 and 10."
    assert found["red"] == f"Objection: With SACK it is better. Answer: {said}"
    assert found["gentle"] == ""


def test_an_experiment_that_was_not_run_is_named():
    left_out = "Objection: With SACK it is better. Not answered in these runs, which leave out: TCP: SACK."
    assert lines((-1.0, -1.0))["red"] == left_out


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


@pytest.mark.parametrize("paper", [*papers(), *other_papers()])
def test_answers_name_experiments_that_there_are(paper):
    own = paper_of(paper)
    labels = {reading.label for reading in own.files.readings()}
    for claim in own.claims:
        for note in claim.notes:
            for baseline in note.against or claim.baselines:
                runs = Runs(own.claims.words)
                text = called(note.text, runs, baseline)
                assert {numbers.reading for numbers in runs.used} - {""} <= labels, claim.id
                assert "±" not in text, claim.id
                if "not run" in text:
                    assert runs.used, claim.id


@pytest.mark.parametrize("paper", [*papers(), *other_papers()])
def test_a_threshold_in_a_literal_form_has_its_reason(paper):
    own = paper_of(paper)
    for claim in own.claims:
        runs = Runs(own.claims.words)
        tests = [test for baseline in claim.baselines for test in claim.tests(runs, baseline)]
        for test in tests if not claim.own else ():
            number = len(test.bound) > 1 or (test.bound and test.bound[0] not in (0, 0.5, 1))
            if test.form == "literal" and (number or test.factor or test.margin or test.within):
                reasons = [one.why for one in tests if one.form == "literal" and one.why]
                assert reasons, claim.id
