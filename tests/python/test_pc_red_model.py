"""PC-RED's list kept again from events, the shares of drops, and the report's calculated tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from aqmlab.papers.pc_red import channels, loops, measure, paper, plan, replay
from aqmlab.runs import runner
from aqmlab.theory.control.pc_red import step

RULES = replay.Rules(high=1, limit=70.0, interval=0.36, weight=0.1)
SECOND = 10**12


def log(*events):
    """Events as (s, kind, flow, seq), packets of 500 bytes."""
    columns = {"t_ps": [round(t * SECOND) for t, *_ in events], "bytes": [500] * len(events)}
    return pa.table(columns | {name: [e[i] for e in events] for i, name in ((1, "kind"), (2, "flow"), (3, "seq"))})


def test_a_list_by_hand():
    """Flow 0 has L = 70: from 35, a drop after 0.72 s makes a_d 0.9^2 35 + 50 = 78.35, and what comes then is PLUS."""
    events = log(
        (0.0, "+", 0, 1), (0.1, "+", 1, 1), (0.2, "-", 0, 1), (0.3, "+", 0, 2), (0.72, "d", 0, 2), (0.8, "+", 0, 3),
        (0.9, "+", 0, 4), (1.0, "d", 0, 4), (1.1, "d", 1, 1),
    )  # fmt: skip
    found = replay.replay(events, RULES, at=np.array([0.0, 0.5, 0.75, 2.0]))
    assert found.kind.tolist() == [replay.MINUS, replay.PLUS, replay.NON]
    assert found.listed.tolist() == [[0, 1, 1], [1, 0, 1], [1, 0, 1]]
    assert found.queue.tolist() == [2, 3, 2]
    assert found.tail.tolist() == [0, 2, 1]
    assert found.behind.tolist() == [[0, 1, 1], [2, 0, 1], [1, 0, 1]]
    one = step(35.0, w=0.1, intervals=2, dropped=500)
    two = step(one, w=0.1, intervals=0.28 / 0.36, dropped=500)
    assert found.gauges["a_d_first_high"].tolist() == pytest.approx([np.nan, 35.0, one, two], nan_ok=True)
    assert found.gauges["n_p_plus"].tolist() == [0, 0, 1, 1]
    assert found.gauges["drops_plus"].tolist() == [0, 0, 0, 1]


@pytest.fixture(scope="module")
def run():
    """A minute and a half with 30 % high-priority flows; a large w makes the list move at once."""
    overrides = {
        **plan.CASES["30 %"].overrides, "queue.bottleneck.loss_weight": 0.02, "probe.events": True,
        "run.duration": "90s", "run.warmup": "10s", "run.seeds": 1,
    }  # fmt: skip
    scenario = plan.FILES.scenario("network1", overrides)
    result = runner.run(scenario)
    table = result.discipline_samples.pivot_table(index="t_s", columns="name", values="value", dropna=False)
    rules = replay.Rules.of(scenario)
    return rules, table, replay.replay(pa.Table.from_pandas(result.events), rules, at=table.index.to_numpy())


def test_the_simulators_list_is_kept_again(run):
    """Every count is the simulator's, at every sample, and a_d is to the last digits."""
    rules, table, found = run
    assert rules == replay.Rules(high=6, limit=70.0, interval=0.36, weight=0.02)
    assert len(found.gauges) == 12
    for name, values in found.gauges.items():
        expected = table[name].to_numpy()
        assert np.isnan(values).tolist() == np.isnan(expected).tolist()
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=0)
    assert found.gauges["n_p_plus"].max() > 2


def test_shares_of_drops(run):
    """Picks add up to the queue, shares to 1, and drops fall as the picks in the queue say."""
    _, _, found = run
    assert (found.behind.sum(axis=1) == found.queue).all()
    assert (found.queued.sum(axis=1) == found.queue).all()
    assert (found.behind[:, 0] == found.tail).all()
    shares = channels.shares_of(found, since=20.0)
    for way in channels.WAYS:
        assert sum(shares[f"{way}_{kind}"] for kind in measure.KINDS) == pytest.approx(1)
    late = found.t_s >= 20.0
    for place, kind in enumerate(measure.KINDS):
        p = found.behind[late][:, place] / found.queue[late]
        away = 4 * float(np.sqrt(np.sum(p * (1 - p)))) / len(p)
        assert shares[f"drops_{kind}"] == pytest.approx(float(np.mean(p)), abs=away)


def test_network_1_is_the_papers():
    assert loops.network() == {
        "flows": 20, "capacity": 125, "max_p": 0.1, "min_th": 10, "max_th": 35, "w_q": 0.004
    }  # fmt: skip
    assert list(loops.round_trips().values()) == pytest.approx([0.1, 0.364, 0.468])


def test_the_stability_study():
    """The table of the study, by numbers calculated elsewhere (R = 0.1 and 0.364 s, r_p = 5, 10 and 30 %)."""
    table = loops.conditions_table().iloc[:6]
    assert table["(5): R C/2N"].tolist() == pytest.approx([0.3125] * 3 + [1.1375] * 3)
    assert table["(6) left, printed"].tolist() == pytest.approx(
        [0.00296, 0.00074, 0.00008, 0.1427, 0.0357, 0.0040], abs=5e-5
    )
    assert table["left, with r_p N"].tolist() == pytest.approx(
        [0.00296, 0.00148, 0.00049, 0.1427, 0.0714, 0.0238], abs=5e-5
    )
    assert table["right, w_g/K"].tolist() == pytest.approx([0.319, 0.639, 1.916, 0.024, 0.048, 0.145], abs=6e-4)
    assert table["(6), printed"].tolist() == ["holds"] * 3 + ["fails", "holds", "holds"]
    assert table["(6), with r_p N"].tolist() == ["holds"] * 3 + ["fails", "fails", "holds"]
    assert set(table["sufficient"]) == {"holds"}
    assert table["phase at w_g"].tolist() == pytest.approx([-25.3, -41.9, -79.1, -7.6, -9.5, -17.0], abs=0.06)
    margins = loops.margins_table()
    assert (margins["G = L(0)"] < 1).all()
    assert set(margins["abs(L) = 1 at"]) == {"nowhere"}
    assert set(margins["closed loop"]) == {"stable"}
    printed = margins[(margins["loop"] == "printed")]["gain margin"].iloc[:6]
    assert printed.round().tolist() == [5041, 19209, 192406, 113, 279, 1526]


def test_the_operating_point_is_outside_the_model():
    table = loops.operating_points().iloc[:2]
    assert table["W0 = R C/N, packets"].tolist() == pytest.approx([0.625, 2.275])
    assert table["p0 = 2/W0^2"].tolist() == pytest.approx([5.12, 0.3864], rel=1e-3)
    assert table["note of the fluid model"].str.contains("the queue sits at the jump").all()


def test_gentle_reds_slope_leaves_a_small_margin():
    found = loops.gentle_loop(0.468).margins()
    assert found.gain_margin_db == pytest.approx(3.05, abs=0.01)


@pytest.mark.slow
def test_the_fluid_swings_at_reds_step_as_a_loop_with_a_relay_does():
    """Near the frequency at which the loop's phase is -180 degrees, of which 0.27 Hz are measured under RED."""
    found = loops.fluid_swing()
    assert found["swing_share"] > 0.9
    crossover = loops.loop(0.468, 1.0, "hollot").margins().phase_crossover
    assert found["swing_hz"] == pytest.approx(crossover / (2 * np.pi), rel=0.3)


def test_a_swing_is_found():
    time = np.arange(0, 600, 0.1)
    found = measure.swings(30 + np.sin(2 * np.pi * 0.17 * time) + 0.01 * np.cos(2 * np.pi * 3 * time), 0.1)
    assert found["swing_hz"] == pytest.approx(0.17)
    assert found["swing_share"] > 0.95


def test_the_gain_margin_beside_the_swings_is_the_loaded_one():
    margins = loops.margins_table()
    assert paper.model_db(margins, "RED") == pytest.approx(27.2, abs=0.05)
    assert paper.model_db(margins, "30 %") == pytest.approx(48.1, abs=0.05)
