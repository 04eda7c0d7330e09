"""The environments of Gymnasium: an episode is the run of the scenario, to the byte."""

import warnings

import numpy as np
import pytest

import aqmlab
from aqmlab.arena.episodes import COLUMN, Episodes, controlled
from aqmlab.errors import InputError
from aqmlab.results.tables import TABLES
from aqmlab.runs.comparison_settings import exchange
from aqmlab.scenario.file import Scenario

gymnasium = pytest.importorskip("gymnasium", reason="needs gymnasium (pip install aqmlab[gym])")
from aqmlab.gym import ENV_ID, Curve, Parameters, Probability, QueueEnv, QueueVectorEnv, Reward, run_seed  # noqa: E402

SHORT = {"run.duration": "4s", "run.warmup": "1050ms"}
ACTIONS = [
    (Probability(), np.array([0.03])),
    (Curve((2.0, 8.0, 30.0)), np.array([0.01, 0.05, 0.5])),
    (Curve((2.0, 8.0), unit="ms"), np.array([0.01, 0.3])),
    (Parameters("gentle-red", {"min_th": (2, 20), "max_p": (0.01, 0.5)}), np.array([3.5, 0.2])),
    (Parameters("codel", {"target": (0.001, 0.05), "interval": (0.06, 0.5)}), np.array([0.0123, 0.2])),
    (Parameters("pie", {"target": (0.001, 0.05), "alpha": (0.01, 1)}), np.array([0.0051, 0.3])),
]


def tables_of(result):
    return {name: result.tables[name] for name in TABLES if name in result.tables}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name, table in first.items():
        for column in table.columns:
            if name == "links" and column == "aqm":
                continue
            own, other = table[column].to_numpy(), second[name][column].to_numpy()
            same = own.tobytes() == other.tobytes() if own.dtype.kind in "if" else own.tolist() == other.tolist()
            assert same, (name, column)


@pytest.mark.parametrize("flows", [1, 10])  # the link of a single flow is evaluated ahead elsewhere
@pytest.mark.parametrize(("action", "numbers"), ACTIONS, ids=lambda value: type(value).__name__)
def test_a_constant_action_gives_the_tables_of_the_fixed_setting(action, numbers, flows):
    overrides = SHORT | {"flow.tcp.count": flows}
    env = QueueEnv("example:dumbbell-red", action=action, overrides=overrides)
    _, info = env.reset(seed=5)
    is_over = False
    while not is_over:
        _, _, terminated, is_over, _ = env.step(numbers)
        assert not terminated
    plan = Scenario.load("example:dumbbell-red", overrides=overrides)
    fixed = exchange(plan, ["bottleneck"], "x", env.control.action.table(numbers), [])
    wanted = aqmlab.run(fixed, seeds=[info["run_seed"]], progress=False)
    assert_same(tables_of(env.result()), tables_of(wanted))


def test_the_checker_of_gymnasium_accepts_it():
    from gymnasium.utils.env_checker import check_env

    for action in ("probability", "curve", Parameters("codel", {"target": (0.001, 0.05)})):
        env = gymnasium.make(ENV_ID, scenario="example:dumbbell-red", action=action, overrides=SHORT)
        with warnings.catch_warnings():
            # Recommendations: a space of actions from -1 to 1, finite observations.
            warnings.filterwarnings("ignore", message=".*(symmetric and normalized|infinity).*")
            check_env(env.unwrapped)


def test_observations_and_reward():
    env = QueueEnv("example:dumbbell-red", overrides=SHORT, reward=Reward(0.5, 2.0, 20.0))
    first, _ = env.reset(seed=1)
    assert not first.any()
    seen = [env.step([0.01])[:2] for _ in range(40)]
    queue, mean_queue, delay, throughput, arrivals, drops, marks = np.mean([one for one, _ in seen[10:]], axis=0)
    assert queue == pytest.approx(mean_queue, rel=0.2)
    assert delay == pytest.approx(1e3 * mean_queue * 8000 / 10e6, rel=0.1)  # Little's law
    assert throughput == pytest.approx(10, rel=0.02)
    assert 0 < drops < 0.03 * arrivals
    assert marks == 0
    counts, reward = seen[-1]
    assert reward == pytest.approx(1 - 0.5 * counts[2] / 20 - 2 * counts[5] / counts[4], abs=0.01)


def test_actions_act_at_once():
    env = QueueEnv("example:dumbbell-red", overrides=SHORT)
    env.reset(seed=1)
    seen = [env.step([p])[0] for p in (0.0, 0.0, 1.0, 0.0)]
    arrivals, drops = np.array(seen)[:, 4:6].T
    assert arrivals[2] > 10
    assert drops.tolist() == [0, 0, arrivals[2], 0]


def test_runs_of_a_vector_are_those_of_single_environments():
    named = {"scenario": "example:dumbbell-red", "action": "curve", "overrides": SHORT}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*precision lowered.*")
        vector = gymnasium.make_vec(ENV_ID, num_envs=3, vectorization_mode="vector_entry_point", **named)
    _, info = vector.reset(seed=7)
    assert info["run_seed"].tolist() == [7, 8, 9]
    rng = np.random.default_rng(1)
    actions = rng.uniform(0, 0.2, (40, 3, 4))
    steps = [vector.step(action) for action in actions]
    assert steps[-1][3].all()
    assert not steps[-2][3].any()
    single = gymnasium.make(ENV_ID, disable_env_checker=True, **named)
    for place in range(3):
        single.reset(seed=7 + place)
        for action, (observation, reward, _, truncated, _) in zip(actions, steps, strict=True):
            own = single.step(action[place])
            assert np.array_equal(own[0], observation[place])
            assert (own[1], own[3]) == (reward[place], truncated[place])
    observation, reward, _, truncated, info = vector.step(actions[0])  # the next episode begins
    assert not observation.any()
    assert not reward.any()
    assert not truncated.any()
    assert len(set(info["run_seed"].tolist())) == 3


def test_threads_change_nothing():
    control = controlled("example:dumbbell-red", overrides=SHORT)
    rows = []
    for threads in (1, 2, 5):
        episodes = Episodes(control, [1, 2, 3, 4, 5], threads=threads)
        rows.append([episodes.step(np.full((5, 1), 0.02)).tobytes() for _ in range(10)])
    assert rows[0] == rows[1] == rows[2]


def test_counts_of_all_intervals_are_those_of_the_run():
    control = controlled("example:dumbbell-red", interval_s=0.07, overrides=SHORT | {"run.warmup": "0s"})
    episodes = Episodes(control, [1])
    rows = [episodes.step(np.array([[0.02]]))[0] for _ in range(control.steps)]
    assert episodes.is_over
    sums = dict(zip(COLUMN, np.sum(rows, axis=0).tolist(), strict=True))
    links = episodes.finish().links
    own = links[links["link"] == "bottleneck"].iloc[0]
    for column in ("arrivals", "departures", "departed_bytes"):
        assert sums[column] == own[column], column
    assert sums["length_s"] == pytest.approx(4)


def test_a_small_agent_learns_a_curve():
    pytest.importorskip("cmaes", reason="needs cmaes (pip install aqmlab[gym])")
    from importlib import resources

    source = resources.files("aqmlab").joinpath("examples/gym_train.py").read_text()
    example = {"__name__": "gym_train"}
    exec(compile(source, "gym_train.py", "exec"), example)
    best = example["train"](generations=6)
    assert np.array_equal(best, example["train"](generations=6)), "deterministic"
    fresh = [example["returns"](np.array([example["START"], best]), seed) for seed in range(101, 106)]
    gains = [after - before for before, after in fresh]
    assert min(gains) > 0.2, gains


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"link": "b"}, 'unknown link "b" (allowed: bottleneck'),
        ({"action": "curves"}, 'unknown action "curves" (allowed: probability, curve;'),
        ({"action": Parameters("codel", {"max_packet": (1, 2)}), "interval_s": 0.0}, "interval_s: 0.0 is out of range"),
        ({"action": Parameters("red", {"w_q": (0.001, 0.1)})}, '"w_q" cannot change while a run lasts'),
        ({"action": Parameters("sfq", {"limit": (10, 100)})}, "sfq cannot change while a run lasts"),
        ({"scenario": "example:dumbbell"}, 'unknown example "dumbbell"'),
    ],
)
def test_errors_are_one_line(named, message):
    with pytest.raises(aqmlab.Error) as raised:
        QueueEnv(**{"scenario": "example:dumbbell-red", **named})
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def stepped(env, action, times=1):
    """Reset an environment and take the same action at each step."""
    env.reset(seed=1)
    for _ in range(times):
        env.step(action)


def test_bad_arguments():
    for make in (
        lambda: Curve((5.0,)),
        lambda: Curve((5.0, 4.0)),
        lambda: Curve(unit="s"),
        lambda: Probability(0.0),
        lambda: Parameters("codel", {"targets": (1, 2)}),
        lambda: Parameters("codel", {"target": (2, 1)}),
        lambda: Reward(target_ms=0),
        lambda: Reward(delay_weight=-1),
        lambda: QueueVectorEnv(0),
        lambda: QueueEnv().step([0.1]),
        lambda: QueueEnv(action=5),
        lambda: QueueEnv(action=Probability),
        lambda: QueueEnv(action=Parameters("red", {"max_p": (0.0, 2.0)})),
        lambda: QueueEnv("example:parking-lot"),
        lambda: Curve((float("nan"), 5.0)),
        lambda: QueueVectorEnv(2, threads=-1),
        lambda: QueueVectorEnv(2).reset(seed=[-1, 1]),
        lambda: stepped(QueueEnv(), []),
        lambda: stepped(QueueEnv(), [0.0, 0.9]),
        lambda: stepped(QueueEnv(), [float("nan")]),
        lambda: stepped(QueueVectorEnv(2, action="curve"), np.full((1, 8), 0.1)),
        lambda: stepped(QueueEnv(interval_s=20.0), [0.0], times=3),
    ):
        with pytest.raises(InputError):
            make()
    assert run_seed(1_000_001) == 1


def test_without_gymnasium_one_line_names_the_extra(tmp_path):
    import subprocess
    import sys

    (tmp_path / "gymnasium.py").write_text("raise ImportError")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import aqmlab.gym"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert found.stderr.splitlines()[-1].endswith("gymnasium is not installed: pip install aqmlab[gym]")
