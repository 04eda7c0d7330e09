"""Gain of pairing by seed on real runs; the page `docs/validation/statistics.md` has it in full."""

from __future__ import annotations

from pathlib import Path

import pytest

import aqmlab
from aqmlab.statistics.pairing import Gain
from pairing_gain import gains, loop_numbers

pytestmark = pytest.mark.slow

BUS = Path(__file__).resolve().parents[2] / "examples" / "bus.toml"
SEEDS = 40


@pytest.mark.parametrize("load", [0.9, 1.2, 2.0])
def test_open_loop_needs_at_most_half_the_runs(load):
    runs = {name: [loop_numbers(name, load, seed) for seed in range(1, 2 * SEEDS + 1)] for name in ("RED", "ExRED")}
    found = {one.quantity: one for one in gains("", runs["RED"], runs["ExRED"], SEEDS)}
    for quantity in ("P_drop", "throughput"):
        assert found[quantity].halved
        assert found[quantity].compared.pairing.gain is Gain.YES
        assert found[quantity].apart > 1.4


def test_finite_transfers_need_at_most_half_the_runs():
    overrides = {"run.duration": "20s"}
    found = aqmlab.compare(
        BUS, aqm=["gentle-red", "ddred"], queue="router", link="r3->r4", seeds=25, overrides=overrides,
        progress=False,
    )  # fmt: skip
    rows = found.differences.set_index("metric").loc[["loss", "mean_queue", "mean_delay_ms"]]
    assert (rows["gain"] == Gain.YES).all()
    assert (rows["runs_share"] <= 0.5).all()
    assert rows["test"].str.startswith("paired").all()
    assert "needs fewer runs than independent ones for" in found.pairing_lines()[0]


def test_greedy_tcp_gains_nothing_and_it_is_reported(small):
    found = aqmlab.compare(
        small, aqm=["red", "mred"], seeds=40, overrides={"run.duration": "6s", "run.warmup": "2s"}, progress=False
    )
    assert list(found.differences["gain"]).count(Gain.YES) <= 1
    assert "gains nothing that shows for" in found.pairing_lines()[0]
    assert "Welch" in set(found.differences["test"])
