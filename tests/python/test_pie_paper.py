"""The paper on PIE: its size, its claims and formulas, and a quick run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.papers import pie
from aqmlab.papers.pie.paper import ALL, BURSTS, CLAIMS, QUEUES, Effort, recovery, setups
from aqmlab.papers.reproduction import other_papers

FOLDER = Path(pie.__file__).parent
MOST_LINES = 400
"""Lines of Python and TOML of a paper that a stranger adds."""


def test_it_is_registered_and_small():
    assert "pie" in other_papers()
    lines = [len(path.read_text().splitlines()) for path in FOLDER.iterdir() if path.suffix in (".py", ".toml")]
    assert sum(lines) <= MOST_LINES


def test_every_claim_says_where_its_sentence_stands():
    claims = list(CLAIMS)
    assert [claim.id for claim in claims] == list("ABCDEFGHI")
    assert [claim.id for claim in claims if "(abstract)" not in claim.quote and "(draft, " not in claim.quote] == []
    assert [claim.id for claim in claims if claim.own] == ["I"]


def test_recovery_by_hand():
    # 50 kB take 20 ms at 20 Mb/s, 250 kB at 100 Mb/s; the new rates begin at 50 s and 100 s.
    t_s = np.array([49.99, 50, 50.5, 51, 59.99, 60, 99.99, 100, 110, 149.99, 150])
    kilobytes = np.array([250, 250, 50.01, 50, 75, 100, 50, 250, 250, 500, 2500])
    found = recovery(t_s, kilobytes * 1e3)
    assert found == pytest.approx({"recovery": 1.0, "delay_slow": (40 + 20) / 2, "delay_fast": (20 + 40) / 2})


def test_the_delay_may_be_at_the_reference_at_once():
    assert recovery(np.array([50.0, 60, 110]), np.array([50e3, 25e3, 125e3])) == pytest.approx(
        {"recovery": 0.0, "delay_slow": 10.0, "delay_fast": 10.0}
    )


def test_disciplines_differ_from_pie_in_one_thing():
    plans = {one.key["discipline"]: one.plan for one in setups(Effort.of(quick=True)) if one.key["traffic"] == ALL[0]}
    assert list(plans) == list(QUEUES)
    assert len({plan.normalized for plan in plans.values()}) == len(QUEUES)


def test_bursts_end_within_their_lengths():
    assert [traffic["flow.udp.stop"] for traffic in BURSTS.values()] == ["1050ms", "1100ms", "1200ms"]


@pytest.mark.slow
def test_a_quick_run_judges_every_claim(tmp_path):
    made = aqmlab.reproduce("pie", quick=True, workers=1, out=tmp_path, progress=False)
    assert not (made.report.parent / "figures").exists()
    found = made.claims
    assert set(found["claim"]) == set("ABCDEFGHI")
    assert set(found["literal"]) <= {"holds", "fails", "undecided"}
    by_claim = found.groupby("claim")["literal"].first()
    assert list(by_claim[list("ABCDEF")]) == ["holds"] * 6
    failing = found[(found["literal"] == "fails") | (found["strict"] == "fails")]
    assert [row for row in failing["found"] if "Objection" not in row] == []
    assert [row for row in found["found"] if "not run" in row] == []
