"""The CoDel article: its size, its scenarios, its formulas at hand-computed points, and its verdicts."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.papers.codel import claims, paper
from aqmlab.papers.common import Setup
from aqmlab.papers.common.claims import FORMS

LINES = 400
"""Most lines of Python and TOML in the folder of a paper like this one."""
FOLDER = Path(paper.__file__).parent
TABLE = Path(__file__).parents[2] / "docs" / "validation" / "claims-codel.csv"
EFFORT = paper.Effort.of(quick=True)


def test_the_paper_is_short():
    files = [one for one in FOLDER.iterdir() if one.suffix in (".py", ".toml")]
    assert sum(len(one.read_text(encoding="utf-8").splitlines()) for one in files) <= LINES


def found(reading="base", **key):
    return [one for one in paper.setups(EFFORT) if one.reading == reading and key.items() <= one.key.items()]


def test_buffers_and_delays():
    (one,) = found(part="static", discipline="CoDel", rate=45, rtt=200, load="one")
    # 8 BDP = 8 * 45e6 * 0.2 / 8 bytes; 200 ms there and back is 98 ms + 1 ms + 1 ms each way.
    assert one.plan.queue_table("bottleneck")["limit"] == "9000000B"
    assert one.plan.link("bottleneck").delay_s == pytest.approx(0.098)


def test_other_readings_run_their_parts_alone():
    others = {one.reading for one in paper.setups(EFFORT)} - {"base"}
    assert others == {claims.SACK}
    assert {one.key["part"] for one in paper.setups(EFFORT) if one.reading == claims.SACK} == {"dynamic"}
    full = paper.setups(paper.Effort())
    assert {one.key["discipline"] for one in full if one.reading == "RED: mean packet 1500 B"} == {"RED"}
    buffers = {}
    for one in full:
        if one.key["part"] == "edge":
            limit = one.plan.queue_table("down")["limit"]
            buffers.setdefault((one.reading, one.key["discipline"], one.key["way"]), limit)
    # A BDP of 512 kb/s and 100 ms has 6400 bytes. The readings leave CoDel's buffer of 8 BDP as it is.
    for reading, limit in (("base", "6400B"), ("two BDP", "12800B"), ("half a BDP", "3200B")):
        label = reading if reading == "base" else f"Edge buffer of drop-tail: {reading}"
        assert buffers[label, "drop-tail", "512 kb/s up"] == limit
        assert buffers[label, "CoDel", "512 kb/s up"] == "51200B"


def test_waits_follow_the_rate_before_a_time():
    # 12500 bytes need 1 ms at 100 Mb/s, 10 ms at 10, 100 ms at 1, 2 ms at 50.
    times = np.array([0.0, 50.0, 50.1, 150.0, 150.1, 299.0])
    assert paper.waits_ms(times, np.full(6, 12500)).tolist() == [1.0, 1.0, 10.0, 100.0, 2.0, 1.0]


def test_times_after_falls(monkeypatch):
    # The rate falls at 50, 100 and 200 s. Waits in ms: 10 at 10 Mb/s, 4 at 10, 5 at 1, 6 at 1, 3 at 1.
    samples = pd.DataFrame({"t_s": [51.0, 53.0, 104.0, 201.0, 206.0], "queue_bytes": [12500, 5000, 625, 750, 375]})
    drops = pd.DataFrame({"t_s": [10.0, 50.1, 50.2, 100.3, 200.2]})
    monkeypatch.setattr(paper, "table_of", lambda folder, name: {"queue_samples": samples, "losses": drops}[name])
    numbers = paper.over_time(Path())
    assert numbers["recovery_s"] == pytest.approx((3 + 4 + 6) / 3)
    assert numbers["first_drop_ms"] == pytest.approx((100 + 300 + 200) / 3)
    assert (numbers["wait_50"], numbers["wait_75"], numbers["wait_100"]) == (5.0, 6.0, 10.0)
    assert numbers["wait_95"] == pytest.approx(6 + 0.8 * 4)  # rank 0.95 * 4 = 3.8


@pytest.mark.parametrize(
    ("way", "fairness"),
    [
        # Transfers lose 0.1 and 0.3, all Web connections 2 of 20: 0.5^2 / (3 (0.01 + 0.09 + 0.01)) = 0.7576.
        ("", 0.25 / 0.33),
        ("1.5 Mb/s down", 0.25 / 0.33),
        ("1.5 Mb/s up", 1.0),
    ],
)
def test_fairness_is_that_of_drops_by_source(monkeypatch, way, fairness):
    rows = [
        ("ftp.0", "ftp", "left.ftp.0", 1, 10),
        ("ftp.1", "ftp", "left.ftp.1", 3, 10),
        ("web.0", "web", "left.web.0", 2, 12),
        ("web.1", "web", "left.web.1", 0, 8),
        ("web.2", "web", "left.web.2", 0, 0),
        ("up", "up", "right.up", 5, 10),
    ]
    flows = pd.DataFrame(rows, columns=["flow", "group", "from", "drops", "sent"])
    links = []

    def quantities(folder, link):
        links.append(link)
        return {"throughput_mbps": 8.0}

    monkeypatch.setattr(paper, "table_of", lambda folder, name: flows)
    monkeypatch.setattr(paper.common, "quantities_of", quantities)
    numbers = paper.measure(Setup({"part": "static", "way": way}, None, 1), Path())
    assert numbers["fairness"] == pytest.approx(fairness)
    assert numbers["mbytes"] == 300.0
    assert links == [way.rpartition(" ")[2] or "bottleneck"]


def test_printed_numbers_are_measured():
    words = paper.CLAIMS.words
    assert {cell.quantity for cell in paper.FILES.cells()} <= set(words.quantities)
    assert {cell.key["way"] for cell in paper.FILES.cells()} == {*paper.WAYS, ""}


def test_the_published_verdicts_are_complete():
    with TABLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["claim"] for row in rows] == [claim.id for claim in claims.CLAIMS]
    for row in rows:
        assert row["effort"] == "full"
        assert all(row[form] for form in FORMS)
        if "fails" in (row["literal"], row["strict"]):
            assert "Objection: " in row["found"]
            assert " Answer: " in row["found"]
            assert "not run" not in row["found"]


@pytest.mark.slow
def test_the_quick_version_judges_every_claim(tmp_path):
    made = aqmlab.reproduce("codel", quick=True, workers=1, seeds=2, out=tmp_path, progress=False)
    assert list(made.claims["claim"]) == [claim.id for claim in claims.CLAIMS]
    assert (made.claims[list(FORMS)] != "").all(axis=None)
    assert (made.report.parent / "edge.csv").is_file()
