"""Pages, videos and calls from a scenario to their scores; the E-model by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab.errors import InputError
from aqmlab.results import voip
from aqmlab.results.delay_variation import delay_variation

EXAMPLE = Path(__file__).parents[2] / "examples" / "applications.toml"


@pytest.fixture(scope="module")
def result():
    return aqmlab.run(EXAMPLE, seeds=[1], overrides={"run.duration": "14s", "run.warmup": "1s"})


def test_ratings_by_hand():
    # 150 ms and no loss: 94.2 - 3.6. 277.3 ms: 0.024 * 277.3 + 0.11 * 100 = 17.6552.
    assert voip.rating(0.15, 0.0) == pytest.approx(90.6)
    assert voip.rating(0.2773, 0.0) == pytest.approx(94.2 - 17.6552)
    # 1 % of loss: 95 / (1 + 25.1), 95 / (1 + 4.3), 30 ln(1.15).
    assert voip.loss_impairment(0.01) == pytest.approx(95 / 26.1)
    assert voip.loss_impairment(0.01, "g107-no-concealment") == pytest.approx(95 / 5.3)
    assert voip.loss_impairment(0.01, "cole-rosenbluth") == pytest.approx(30 * math.log(1.15))
    # Twice as bursty: 95 / (1/2 + 25.1).
    assert voip.loss_impairment(0.01, burst_ratio=2.0) == pytest.approx(95 / 25.6)
    # R = 80: 1 + 2.8 + 7e-6 * 80 * 20 * 20.
    assert voip.opinion(80.0) == pytest.approx(1 + 2.8 + 0.224)
    with pytest.raises(InputError, match="g107, g107-no-concealment, cole-rosenbluth"):
        voip.loss_impairment(0.01, "g108")


def test_a_direction_by_hand():
    # Packet 2 is lost; the buffer plays 60 ms after the first arrival, which packet 3 misses.
    found = voip.score([0, 1, 3, 4], [0.030, 0.090, 0.091, 0.025], 5, playout="fixed")
    assert (found.sent, found.received, found.late) == (5, 4, 1)
    assert found.mean_delay_s == pytest.approx(0.059)
    assert found.mouth_to_ear_s == pytest.approx(0.02 + 0.03 + 0.06)
    assert found.loss == pytest.approx(0.4)
    assert found.r == pytest.approx(94.2 - 0.024 * 110 - 95 * 40 / 65.1)
    # Two of five in a row, where 1 / 0.6 are expected: 2 * 0.6.
    assert voip.burst_ratio_of([False, False, True, True, False]) == pytest.approx(1.2)
    assert voip.score([], [], 5).mos == 1.0


def test_an_adaptive_buffer_by_hand():
    # A talkspurt of two packets. The first one has the buffer's own 60 ms.
    delays = [0.100, 0.200, 0.150, 0.150, 0.150]
    playing = voip.playout_delays(range(5), delays, 5, frame_s=1e-4, talkspurt_s=2e-4)
    # n_1 > d: d = 0.75 * 0.1 + 0.25 * 0.2, v = (1 - alpha) * |d - 0.2|.
    d, v = 0.125, 0.001998 * 0.075
    assert playing[:2] == pytest.approx([0.16, 0.16])
    assert playing[2:4] == pytest.approx([d + 4 * v] * 2)
    # Twice 0.15 > d: 0.75 * 0.125 + 0.25 * 0.15 = 0.13125, then 0.1359375.
    v = 0.998002 * v + 0.001998 * (0.15 - 0.13125)
    v = 0.998002 * v + 0.001998 * (0.15 - 0.1359375)
    assert playing[4] == pytest.approx(0.1359375 + 4 * v)
    # A lower delay counts with 1 - alpha: d = 0.2 - 0.001998 * 0.1, v = 0.001998 * (d - 0.1).
    falls = voip.playout_delays([0, 1], [0.2, 0.1], 3, frame_s=1e-4, talkspurt_s=2e-4)
    assert falls[2] == pytest.approx(0.1998002 + 4 * 0.001998 * 0.0998002)
    # Without variation a frame is held: 0.1 + 0.02 in the second talkspurt of 50 packets, in which 0.13 is late.
    found = voip.score(range(60), [0.1] * 59 + [0.13], 60)
    assert found.late == 1
    assert found.mouth_to_ear_s == pytest.approx(0.02 + (50 * 0.16 + 10 * 0.12) / 60)
    with pytest.raises(InputError, match="adaptive, fixed"):
        voip.score([0], [0.1], 1, playout="none")


def test_an_adaptive_buffer_follows_a_queue_that_builds_up():
    # A call that starts on an empty queue, which is full a second later: 30 ms, then 330 ms.
    delays = np.concatenate([np.full(50, 0.03), np.full(950, 0.33)])
    fixed, adaptive = (voip.score(range(1000), delays, 1000, playout=one) for one in voip.PLAYOUTS[::-1])
    assert fixed.loss == pytest.approx(0.95)
    assert adaptive.loss < 0.06
    assert adaptive.mouth_to_ear_s < 0.36
    # R = 94.2 - 2.6 - 95 * 95 / 120.1 against 94.2 - 8.3 - 18 - 95 * 5 / 30.1.
    assert fixed.mos < 1.2 < 2.5 < adaptive.mos


def test_scores_fall_with_delay_and_loss():
    ratings = [voip.rating(d, e) for d in (0.0, 0.1, 0.2, 0.4) for e in (0.0, 0.01, 0.1)]
    by_delay = np.array(ratings).reshape(4, 3)
    assert (np.diff(by_delay, axis=0) < 0).all()
    assert (np.diff(by_delay, axis=1) < 0).all()
    assert (np.diff([voip.opinion(r) for r in range(7, 100)]) > 0).all()


def test_pages_and_objects(result):
    pages = result.pages
    assert list(pages["page"]) == [f"web.{i}" for i in range(6)]
    loaded = pages[pages["load_s"].notna()]
    assert len(loaded)
    assert (loaded["finished_objects"] == 50).all()
    assert loaded["load_s"].to_numpy() == pytest.approx((loaded["finish_s"] - loaded["start_s"]).to_numpy())
    objects = result.objects[result.objects["flow"].str.startswith("web.0.")]
    assert len(objects) == 50
    assert objects["finish_s"].max() == pages["finish_s"].iloc[0]
    assert objects["bytes"].sum() == pages["bytes"].iloc[0]
    assert objects["bytes"].between(1000, 20_000).all()


def test_a_free_connection_takes_the_next_object(result):
    changed = {"run.duration": "14s", "run.warmup": "1s", "flow.web.web.dispatch": "first-free"}
    shared = aqmlab.run(EXAMPLE, seeds=[1], overrides=changed)
    in_turn, first_free = (one.objects[one.objects["flow"].str.startswith("web.0.")] for one in (result, shared))
    # The same objects, in the order in which they are asked for.
    place = in_turn["object"] * 6 + in_turn["flow"].str.removeprefix("web.0.").astype(int)
    dealt = in_turn.assign(place=place).sort_values("place")["bytes"].tolist()
    assert first_free.sort_values(["requested_s", "flow"])["bytes"].tolist() == dealt
    assert first_free["flow"].value_counts().to_dict() != in_turn["flow"].value_counts().to_dict()


def test_segments(result):
    segments = result.segments
    assert (segments["bytes"] == segments["bitrate_bps"] * 4 / 8).all()
    assert (segments["buffer_s"] <= 16).all()
    assert segments["bitrate_bps"].iloc[0] == 235_000
    done = segments[segments["finish_s"].notna()]
    assert done["download_s"].to_numpy() == pytest.approx((done["finish_s"] - done["requested_s"]).to_numpy())


def test_calls(result):
    scores = voip.calls(result)
    assert list(scores["flow"]) == ["call.there", "call.back"]
    there, back = scores.to_dict("records")
    # Nothing but the call goes back: 20 ms and twice 5 ms, and 200 B over three links.
    assert back["mean_delay_s"] == pytest.approx(0.030 + 200 * 8 * (1e-7 + 2e-8), abs=1e-4)
    assert back["loss"] == 0.0
    assert there["mos"] < back["mos"] < 4.5


def test_applications_are_among_the_metrics(result):
    found = result.metrics().iloc[0]
    scores = voip.calls(result)
    assert found["mos"] == pytest.approx(scores["mos"].mean())
    assert found["page_load_s"] == pytest.approx(result.pages["load_s"].mean())
    assert 0.0 <= found["stalled"] < 1.0
    assert 0.235 <= found["video_mbps"] <= 5.8
    flows = result.flows.set_index("flow")
    bulk = flows[flows["group"] == "bulk"]["goodput_bps"]
    assert found["goodput_mbps.bulk"] == pytest.approx(bulk.sum() / 1e6)
    assert found["jain"] == pytest.approx(bulk.sum() ** 2 / (5 * (bulk**2).sum())), "of the bulk transfers alone"


def test_delays_and_losses(result):
    delays = delay_variation(result).set_index("flow")
    assert (delays["pdv_p99_s"].dropna() >= 0).all()
    assert delays.loc["call.back", "pdv_p99_s"] < 0.001 < delays.loc["call.there", "pdv_p99_s"]
    counted = result.links.set_index("link").loc["bottleneck", "drops"]
    measured = result.losses[(result.losses["link"] == "bottleneck") & (result.losses["t_s"] >= 1.0)]
    assert len(measured) == counted
