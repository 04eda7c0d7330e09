"""The paper on PI2 and DualPI2: its size, its claims and formulas, and a quick run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.papers import dualpi2
from aqmlab.papers.dualpi2.paper import ALL, CLAIMS, NETWORKS, Effort, path_ms, setups, unsettled
from aqmlab.papers.reproduction import other_papers

FOLDER = Path(dualpi2.__file__).parent


def test_it_is_registered_and_small():
    assert "dualpi2" in other_papers()
    lines = [len(path.read_text().splitlines()) for path in FOLDER.iterdir() if path.suffix in (".py", ".toml")]
    assert sum(lines) <= 400


def test_every_claim_says_where_its_sentence_stands():
    assert [claim.id for claim in CLAIMS] == list("ABCDEFG")
    assert [claim.id for claim in CLAIMS if "abstract)" not in claim.quote] == []


def test_the_path_of_a_packet_by_hand():
    # 12112 bits take 1211.2 us at 10 Mb/s and 12.112 us at each of the outer links of 1 Gb/s.
    assert path_ms("10 Mb/s, 80 ms") == pytest.approx(40 + 1.2112 + 2 * 0.012112)
    assert path_ms("100 Mb/s, 20 ms") == pytest.approx(10 + 0.12112 + 2 * 0.012112)


def test_distances_after_a_change_by_hand():
    t_s = np.array([49.99, 50.0, 52.0, 54.99, 55.0])
    assert unsettled(t_s, np.array([100.0, 50.0, 20.0, 0.0, 100.0])) == pytest.approx((30 + 0 + 20) / 3)


def test_networks_have_their_rates_and_round_trips():
    plans = {one.key["traffic"]: one.plan for one in setups(Effort.of(quick=True)) if one.key["traffic"] in NETWORKS}
    for name, plan in plans.items():
        mbps, _, ms, _ = name.split()
        assert f'rate = "{mbps}Mbps"' in plan.normalized
        assert f'delay = "{int(ms) // 2 - 2}ms"' in plan.normalized
    assert len(ALL) == len({int(name.split()[0]) for name in ALL}) == 4


@pytest.mark.slow
def test_a_quick_run_judges_every_claim(tmp_path):
    found = aqmlab.reproduce("dualpi2", quick=True, workers=1, out=tmp_path, progress=False).claims
    by_claim = found.groupby("claim")["literal"].first()
    assert set(by_claim.index) == set("ABCDEFG")
    assert [by_claim[claim] for claim in "CDFG"] == ["holds"] * 4
    assert by_claim["E"] == "fails"
    failing = found[(found["literal"] == "fails") | (found["strict"] == "fails")]
    assert [row for row in failing["found"] if "Objection" not in row] == []
    assert [row for row in found["found"] if "not run" in row] == []
