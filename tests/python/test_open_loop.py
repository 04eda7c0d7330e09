"""A queue in the open loop against an exact chain and against an independent simulation (small samples)."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from aqmlab import _core
from aqmlab.papers.exred import plan
from aqmlab.results.parquet import to_arrow
from aqmlab.scenario.toml_text import entries

DATA = Path(__file__).resolve().parents[1] / "data" / "oracle"
QUEUE = """
aqm = "{aqm}"
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = {w_q}
dialect = "floyd93"
spacing = "none"
in_service_counts = true
"""


@pytest.mark.slow
@pytest.mark.parametrize("aqm", ["red", "gentle-red", "mred", "exred"])
@pytest.mark.parametrize("load", [1.0, 1.5])
def test_weight_one_is_the_chain(aqm: str, load: float) -> None:
    with (DATA / "chain.csv").open() as file:
        exact = {
            row["metric"]: float(row["value"])
            for row in csv.DictReader(file)
            if row["series"] == aqm.replace("-", "_") and float(row["x"]) == load
        }
    result = _core.open_loop(QUEUE.format(aqm=aqm, w_q=1.0), 1000 * load, 1000.0, 3_000_000, 100_000, 1)
    # Three million arrivals: chance is below 1 % in all of these.
    assert result["throughput"] == pytest.approx(exact["throughput"], rel=0.005)
    assert result["p_drop"] == pytest.approx(exact["P_drop"], rel=0.03)
    assert result["mean_wait_s"] == pytest.approx(exact["D"], rel=0.02)


@pytest.mark.parametrize("aqm", ["red", "exred"])
def test_averaging_is_that_of_the_independent_simulation(aqm: str) -> None:
    with (DATA / "exred_open_loop.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["algo"] == aqm and float(row["load"]) == 1.2]
    assert len(rows) == 5
    result = _core.open_loop(QUEUE.format(aqm=aqm, w_q=0.02), 1200.0, 1000.0, 2_000_000, 100_000, 1)
    for theirs, ours in (("P_drop", "p_drop"), ("D_wait", "mean_wait_s"), ("E_N_run", "mean_run")):
        mean = sum(float(row[theirs]) for row in rows) / 5
        # The load realised by two million arrivals alone moves P_drop by 0.5 % (one standard deviation).
        assert result[ours] == pytest.approx(mean, rel=0.02)


def test_runs_of_drops_are_counted() -> None:
    result = _core.open_loop('aqm = "drop-tail"\nlimit = "9p"', 2000.0, 1000.0, 500_000, 10_000, 1)
    # Tail drop: a drop is followed by another with probability rho/(1 + rho), so that a run has 1 + rho drops.
    assert result["mean_run"] == pytest.approx(3.0, rel=0.02)
    runs = result["runs_longer_than"]
    assert runs[1] / runs[0] == pytest.approx(2 / 3, rel=0.02)


def test_bad_queue_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="max_p"):
        _core.open_loop('aqm = "red"\nmax_p = 2', 1000.0, 1000.0, 10, 1, 1)


def open_loop_by_scenario(scheme: str, load: float, *, seconds: float, seeds: int) -> np.ndarray:
    """Loss, packets carried per second and wait in seconds of every seed, from the scenario."""
    queue = plan.queue_of(scheme)
    if scheme != plan.TAIL:
        queue["mean_packet"] = "1000B"
    overrides = {
        "run.duration": f"{seconds + 20:g}s",
        "run.warmup": "20s",
        "flow.udp.rate": f"{8 * load:g}Mbps",
        "queue.bottleneck": queue,
    }
    scenario = plan.FILES.scenario("open-loop", overrides)
    runs = [_core.Scenario(scenario.normalized, "open-loop").run(seed) for seed in range(1, seeds + 1)]
    links = [to_arrow(run["tables"]["links"], seed=0).to_pylist()[0] for run in runs]
    found = [(x["drops"] / x["arrivals"], x["departures"] / seconds, x["mean_delay_s"]) for x in links]
    return np.array(found).T


def open_loop_by_core(scheme: str, load: float, *, seconds: float, seeds: int) -> np.ndarray:
    """The same from the open loop, in which service times are drawn, not lengths."""
    arrivals = round(load * plan.SERVICE_RATE * seconds)
    queue = "\n".join(entries(plan.queue_of(scheme)))
    rates = (load * plan.SERVICE_RATE, plan.SERVICE_RATE)
    runs = [_core.open_loop(queue, *rates, arrivals, 20_000, seed) for seed in range(1, seeds + 1)]
    return np.array([[run[key] for run in runs] for key in ("p_drop", "throughput", "mean_wait_s")])


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [plan.TAIL, plan.RED, plan.EXRED])
@pytest.mark.parametrize("load", [0.9, 1.2, 1.5])
def test_packets_of_exponential_length_are_the_open_loop(scheme: str, load: float) -> None:
    sample = {"seconds": 40.0, "seeds": 8}
    ours, loop = open_loop_by_scenario(scheme, load, **sample), open_loop_by_core(scheme, load, **sample)
    gap = ours.mean(axis=1) - loop.mean(axis=1)
    error = np.sqrt((ours.var(axis=1, ddof=1) + loop.var(axis=1, ddof=1)) / sample["seeds"])
    # Drop-tail at load 0.9 may lose nothing in either.
    assert (np.abs(gap) <= 3 * error + 1e-12).all(), gap / error
