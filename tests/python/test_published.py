"""Published behaviour as data: the scenarios run, and the committed page agrees with the claims."""

from __future__ import annotations

from pathlib import Path

import pytest

import compare_published
from aqmlab.statistics import Interval, verdict_between

DATA = compare_published.claims()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "validation" / "published.md"
SHORT = {"pie": "3s", "dctcp-queue": "20ms", "dctcp-hops": "20ms", "dctcp-short": "300ms"}
"""Durations of the tests' runs; 2 s for the others, and the whole runs of RFC 8867, which are short."""


@pytest.mark.parametrize("name", DATA["run"])
def test_every_run_has_the_quantities_of_its_claims(name):
    entry = DATA["run"][name]
    seconds = SHORT.get(entry["scenario"], "2s")
    sizes = {"flow.short.start": '"10ms"'} if name in ("short", "short-tcp") else {}
    short = {"run.duration": seconds, "run.warmup": "0s", **sizes}
    is_whole = entry["scenario"].startswith("rmcat")
    found = compare_published.run(entry, seeds=1, short={} if is_whole else short)
    asked = [part for claim in DATA["claim"] for part in (claim["of"], claim.get("over")) if part and part[0] == name]
    assert asked
    for _, key in asked:
        assert (
            len(compare_published.values(found, key.partition(".")[0] + ".0-1" if key.startswith("wait_ms") else key))
            == 1
        )


def test_the_page_has_every_claim_with_the_verdict_of_its_number():
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if " | " in line]
    found = {cells[0]: cells for cells in rows if cells[0] != "published"}
    assert list(found) == list(dict.fromkeys(claim["published"] for claim in DATA["claim"]))
    assert len(found) == len(DATA["claim"])
    for claim in DATA["claim"]:
        _, number, allowed, bounds, word = found[claim["published"]]
        mean, _, half = number.partition(" ± ")
        width = float(half or 0.0)
        own = Interval(float(mean), width, 5, float(mean) - width, float(mean) + width)
        assert word.strip("*") == verdict_between(own, *claim["between"]), claim["published"]
        assert (allowed, bounds) == (compare_published.allowed(claim), claim["bounds"])


def test_every_claim_names_a_paper_and_runs_that_exist():
    for claim in DATA["claim"]:
        assert claim["paper"] in DATA["paper"]
        assert {claim["of"][0], claim.get("over", claim["of"])[0]} <= set(DATA["run"])
