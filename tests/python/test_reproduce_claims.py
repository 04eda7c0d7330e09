"""The page of all claims: which effort made it, how long its runs took, and every verdict with its interval."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import reproduce_claims
from aqmlab.papers.outcome import Overview, Reproduction
from aqmlab.reporting.fragments import PaperCard

LOG = """\
T1 vm reproduce {paper} Effort(seeds=2, quick=True): 9 runs to do
T2 vm done after 100.00 s, 190.00 s of processor time
T3 vm reproduce {paper} Effort(seeds=50): 9 runs to do
T4 vm reproduce {paper} Effort(seeds=50): 5 runs to do
T5 vm done after 40.50 s, 80.25 s of processor time
T6 vm reproduce {paper} Effort(seeds=50): 0 runs to do
T7 vm done after 3.00 s, 0.00 s of processor time
"""


def made(folder: Path, paper: str) -> Reproduction:
    """Return a reproduction with one claim that fails in its strict form."""
    folder.mkdir()
    (folder / "log.txt").write_text(LOG.format(paper=paper), encoding="utf-8")
    row = {"claim": "X-a", "title": "More", "against": "RED", "literal": "undecided", "strict": "fails", "own": False}
    row |= {
        "literal: by": "rate: 0.1 ± 0.2 (claimed: above 0)",
        "strict: by": "rate; n = 5: -1.0 ± 0.2 (claimed: above 0)",
    }
    row |= {"literal: seeds": "35 (holds)", "strict: seeds": "", "found": "Objection: No. Answer: Yes."}
    readings = pd.DataFrame(
        [
            {"question": question, "reading": "a", "form": "strict", "X-a (RED)": verdict}
            for question, verdict in (("chosen", "fails"), ("TCP", "fails"), ("window", "holds"))
        ]
    )
    gaps = pd.DataFrame(
        [["Table 1: rate; n = 5", "2", "1.0 ± 0.1", 2.0, "yes", "not explained"]],
        columns=["cell", "printed", "measured", "factor", "held out", "explained"],
    )
    claims = pd.DataFrame([row])
    card = PaperCard(paper, "", "", "", "", [], [], run="Full run: 50 seeds a point.")
    return Reproduction(
        paper, paper.upper(), "", {"reading-verdicts": readings, "gaps": gaps}, claims, readings, folder, folder / "r",
        seeds=50, card=card,
    )  # fmt: skip


def overview(folder: Path) -> Overview:
    """Return two papers."""
    papers = [made(folder / paper, paper) for paper in ("one", "two")]
    claims = pd.concat([one.claims.assign(paper=one.paper) for one in papers], ignore_index=True)
    return Overview(papers, claims, folder / "r")


def test_the_time_is_that_of_all_calls_of_the_last_effort(tmp_path):
    found = overview(tmp_path)
    logs = [one.folder / "log.txt" for one in found.papers]
    assert reproduce_claims.time_taken(logs) == (40.5, 80.25, 1)
    logs[1].write_text(logs[1].read_text().replace("T5", "T8"), encoding="utf-8")  # another call
    assert reproduce_claims.time_taken(logs) == (81.0, 160.5, 1)


@pytest.mark.parametrize(("full", "words"), [(True, "the full form, with all seeds"), (False, "the quick form")])
def test_the_page_says_which_effort_made_it(tmp_path, full, words):
    found = overview(tmp_path)
    text = reproduce_claims.page(found, full=full)
    assert f"Made by {words}" in " ".join(text.split())
    assert "40 s by the log of the store, 80 s of processor time, without 1 interrupted call" in " ".join(text.split())
    assert ("--quick" in text) is not full
    assert set(reproduce_claims.table(found, full=full)["effort"]) == {reproduce_claims.EFFORTS[full]}


def test_every_verdict_has_its_interval_seeds_and_other_readings(tmp_path):
    text = reproduce_claims.page(overview(tmp_path), full=True)
    assert (
        "| X-a | against RED | strict | fails | rate; n = 5: -1.0 ± 0.2 (claimed: above 0) |  | 1 / 1 / 0 / 0 / 0 |"
        in text
    )
    assert "| X-a | against RED | literal | undecided | rate: 0.1 ± 0.2 (claimed: above 0) | 35 (holds) |  |" in text
    assert "| ONE | Full run: 50 seeds a point. | 0 / 0 / 0 / 1 / 0 | 0 / 1 / 0 / 0 / 0 |" in text
    assert "Objection: No. Answer: Yes." in text


def test_gaps_are_named_largest_first(tmp_path):
    text = reproduce_claims.page(overview(tmp_path), full=True)
    assert "| ONE | Table 1: rate; n = 5 | 2 | 1.0 ± 0.1 | 2 | yes | not explained |" in text
    assert "Largest gaps that are not explained: Table 1: rate; n = 5 (2 printed, 1.0 ± 0.1 measured)." in text


def test_one_paper_has_its_own_page_and_table(tmp_path):
    text = " ".join(reproduce_claims.page(overview(tmp_path), full=True, paper="codel").split())
    assert "(`aqmlab reproduce codel`)" in text
    assert "The table is `claims-codel.csv` next to this page." in text
    assert "claim-readings.csv" not in text
    assert reproduce_claims.table_of("codel") == reproduce_claims.TABLE.with_name("claims-codel.csv")
    assert reproduce_claims.table_of("all") == reproduce_claims.TABLE
