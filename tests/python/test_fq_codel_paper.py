"""The trial of RFC 8290 (FQ-CoDel): its size, its traffic, its formulas at hand-computed points, and its verdicts."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.papers.common.claims import FORMS
from aqmlab.papers.fq_codel import claims, paper
from aqmlab.papers.reproduction import other_papers

MOST_LINES = 400
FOLDER = Path(paper.__file__).parent
TABLE = Path(__file__).parents[2] / "docs" / "validation" / "claims-fq-codel.csv"
EFFORT = paper.Effort.of(quick=True)


def plan_of(traffic, discipline=claims.FQ, reading="base"):
    (found,) = (
        one.plan
        for one in paper.setups(EFFORT)
        if one.key == {"traffic": traffic, "discipline": discipline} and one.reading == reading
    )
    return found


def test_it_is_registered_and_small():
    assert "fq-codel" in other_papers()
    lines = [
        len(one.read_text(encoding="utf-8").splitlines()) for one in FOLDER.iterdir() if one.suffix in (".py", ".toml")
    ]
    assert sum(lines) <= MOST_LINES


def test_every_claim_says_where_its_sentence_stands():
    assert [claim.id for claim in claims.CLAIMS] == list("ABCDEFGHIJKL")
    places = [claim.quote.rpartition("(")[2] for claim in claims.CLAIMS]
    assert places == [
        *["abstract)."] * 3,
        "1.3).",
        "3).",
        *["abstract)."] * 2,
        "5.8).",
        "6.3).",
        "5.3).",
        "8).",
        "5.2.2).",
    ]


def test_no_label_of_a_cell_has_a_comma():
    words = claims.CLAIMS.words.columns["traffic"].values
    assert [name for name in (*words, *claims.QUEUES) if "," in name] == []
    assert len(words) == len(set(words)) == 23


def test_the_path_of_a_packet_by_hand():
    # 200 B take 160 us at 10 Mb/s and 1.6 us at each outer link of 1 Gb/s; 10 + 8 + 2 ms of propagation.
    assert paper.path_ms(plan_of("4 transfers"), "call") == pytest.approx(20 + 0.160 + 2 * 0.0016)
    # 1200 B take 9.6 ms at 1 Mb/s and 9.6 us at 1 Gb/s.
    assert paper.path_ms(plan_of("4 transfers at 1 Mb/s"), "video") == pytest.approx(20 + 9.6 + 2 * 0.0096)


def test_flows_of_a_queue_by_hand():
    # The median is 12: 12 / 6.1 and 12 / 5.9 are about 2, 12 / 4 is 3, and 12 / 3 is 4.
    found = paper.in_queues(np.array([12, 12, 12, 12, 12.2, 6.1, 5.9, 4.0, 11.8, 3.0]))
    assert [found[f"most_{n}"] for n in (1, 2, 3)] == [0, 0, 0]
    assert [found[f"of_{n}"] for n in (1, 2, 3)] == pytest.approx([0.6, 0.8, 0.9])
    alone = paper.in_queues(np.array([1.0, 1.2, 0.9]))
    assert list(alone.values()) == [1.0] * 6


def test_the_printed_probabilities_are_those_of_one_flow():
    # Each of the 99 others is in the queue of a flow with probability 1/1024.
    p = 1 / 1024
    others = [math.comb(99, k) * p**k * (1 - p) ** (99 - k) for k in range(3)]
    assert list(np.cumsum(others)) == pytest.approx(list(claims.COUNTS.values()), abs=0.00005)
    # All 100 flows are alone with a probability below 1 %.
    assert math.prod(1 - k / 1024 for k in range(100)) == pytest.approx(0.00675, abs=0.00001)
    printed = {cell.quantity: cell.value for cell in paper.FILES.cells()}
    assert printed == {f"of_{n}": value for n, value in claims.COUNTS.items()}


def test_traffic_is_as_named():
    both = plan_of("two ways at 10/1 Mb/s", claims.CODEL)
    assert [both.link(name).rate_bps for name in ("down", "up")] == [10e6, 1e6]
    assert [both.link(name).aqm for name in ("down", "up")] == ["codel", "codel"]
    flows = {one["name"]: one for one in plan_of("LEDBAT at 20 Mb/s", claims.TAIL).tables["flow"]}
    assert flows["other"]["tcp"]["congestion_control"] == "ledbat"
    assert flows["bulk"]["tcp"]["congestion_control"] == "cubic"
    assert plan_of(claims.HASH).queue_table("down")["interval"] == "100s"
    slow = plan_of("1 transfer at 1 Mb/s", claims.FREE_RAISED).queue_table("down")
    assert (slow["target"], slow["max_packet"]) == ("15ms", 1)


def test_a_reading_changes_its_discipline_alone():
    own = plan_of("4 transfers", reading=claims.OWN).queue_table("down")
    assert own["occupancy"] == "queue"
    assert "occupancy" not in plan_of("4 transfers").queue_table("down")
    assert plan_of("4 transfers", claims.CODEL, claims.OWN).queue_table("down") == {"aqm": "codel"}
    full = {one.reading for one in paper.setups(paper.Effort())}
    assert len(full) == 6
    assert {one.reading for one in paper.setups(EFFORT)} == {"base", claims.OWN}


def test_the_published_verdicts_are_complete():
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["claim"] for row in rows] == [claim.id for claim in claims.CLAIMS for _ in claim.baselines]
    for row in rows:
        assert row["effort"] == "full"
        assert all(row[form] for form in FORMS)
        if "fails" in (row["literal"], row["strict"]):
            assert "Objection: " in row["found"]
            assert "not run" not in row["found"]


@pytest.mark.slow
def test_a_quick_run_judges_every_claim(tmp_path):
    made = aqmlab.reproduce("fq-codel", quick=True, workers=1, out=tmp_path, progress=False)
    found = made.claims
    assert set(found["claim"]) == set("ABCDEFGHIJKL")
    assert (found[list(FORMS)] != "").all(axis=None)
    by_claim = found.groupby("claim")["literal"].agg(list)
    assert by_claim["A"] == by_claim["E"] == by_claim["K"] == ["holds", "holds"]
    assert by_claim["D"] == by_claim["I"] == ["holds"]
    assert by_claim["B"] == ["fails", "holds"]
    assert by_claim["L"] == ["fails"]
    assert found.set_index("claim")["strict"]["J"] == "fails"
    failing = found[(found["literal"] == "fails") | (found["strict"] == "fails")]
    assert [row for row in failing["found"] if "Objection" not in row] == []
    assert [row for row in found["found"] if "not run" in row] == []
    assert (made.report.parent / "collisions.csv").is_file()
