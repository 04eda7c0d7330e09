"""Is the warm-up long enough?"""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import aqmlab
from aqmlab.cli import main
from aqmlab.results.result import Result
from aqmlab.results.warmup_check import settling

STEP_S = 0.1


def result_of(queues, *, warmup_s=1.0):
    """A result that has samples of a queue at one link, a row of `queues` per seed."""
    times = np.arange(queues.shape[1]) * STEP_S
    samples = pd.concat(
        pd.DataFrame({"seed": seed, "t_s": times, "link": "l", "queue_packets": row})
        for seed, row in enumerate(queues, start=1)
    )
    links = pd.DataFrame({"seed": [1], "link": ["l"], "aqm": ["red"]})
    summary = {"summary": {"warmup_s": warmup_s, "duration_s": queues.shape[1] * STEP_S}}
    return Result("made", "0", [1], [summary], {"links": links, "queue_samples": samples})


def transient(rng, runs, height, *, ends=100, length=600):
    queues = rng.normal(10, 2, (runs, length))
    queues[:, :ends] += height
    return queues


def test_a_short_warm_up_is_reported():
    found = settling(result_of(transient(np.random.default_rng(1), 10, 8.0)))
    assert found.warmup_is_short
    assert found.ends_s == pytest.approx(10.0, abs=0.6)
    assert found.excess.mean == pytest.approx(8.0, abs=0.5)
    assert found.lines()[0].startswith("Warm-up: 1 s is too short: by MSER-5 the queue at l settles after 1")


def test_a_long_enough_warm_up_is_not():
    found = settling(result_of(transient(np.random.default_rng(2), 10, 8.0), warmup_s=11.0))
    assert not found.warmup_is_short
    assert found.lines() == []


@pytest.mark.slow
def test_chance_is_seldom_reported():
    rng = np.random.default_rng(3)
    reported = sum(settling(result_of(transient(rng, 10, 0.0))).warmup_is_short for _ in range(100))
    assert reported <= 5


def test_a_queue_that_grows_to_the_end_never_settles():
    rng = np.random.default_rng(4)
    found = settling(result_of(rng.normal(0, 1, (5, 600)) + np.arange(600) / 20))
    assert not found.settled
    assert "does not settle within 60 s" in found.lines()[0]


def test_without_samples_nothing_is_reported(dumbbell, tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(dumbbell.replace('queue_interval = "50ms"', ""))
    assert settling(aqmlab.run(path, seeds=1, progress=False)) is None


def test_command_line_reports_that_one_seed_has_no_interval(small, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["run", "small.toml", "--seeds", "1"]) == 0
    said = capsys.readouterr().out
    assert "1 seed, one run has no interval" in said
    assert "95 %" not in said
    assert main(["run", "small.toml", "--seeds", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["warm_up"]["link"] == "bottleneck"
