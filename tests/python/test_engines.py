"""All engines give the same bytes, and so does the event queue without shortcuts: on random scenarios of all kinds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from aqmlab import _core, errors
from aqmlab.scenario.file import Scenario
from compare_engines import compared, difference, jobs, report, run_in_parallel, values
from random_scenarios import ALL_KINDS, Drawn, scenarios

pytestmark = pytest.mark.slow

SCENARIOS = 1200
DIFFERENT = 1000
"""So many of the random scenarios must differ: some are drawn twice."""
OFTEN = 50
"""Number of runs in which each event of `HAPPENS` must occur."""
IN_WINDOWS = 0.6
"""At least this share of the random scenarios must run in windows."""
PARALLEL = 0.5
"""At least this share of them must be divided between two threads."""
REFUSED = 0.1
"""At most this share of the random texts may be no valid scenario."""
HAPPENS = {
    "drops": ("links", "drops"),
    "marks": ("links", "marks"),
    "time-outs": ("flows", "timeouts"),
    "retransmissions": ("flows", "retransmissions"),
}
"""Events that must occur in many of the runs, by table and column."""
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def run_in_all_ways(text: str, seed: int) -> dict:
    """Run a scenario in all ways and compare; return the run as it is by itself."""
    scenario = _core.Scenario(text, "random.toml")
    by_events = scenario.run(seed, engine="events")
    by_itself = scenario.run(seed)
    plain = scenario.run(seed, shortcuts=False, engine="events")
    others = [(by_itself["engine"], by_itself), ("events without shortcuts", plain)]
    parallel = run_in_parallel(scenario, seed)
    by_itself["parallel"] = parallel is not None
    if parallel:
        others.append(("two threads", parallel))
    for name, found in others:
        differs = difference(by_events, found)
        assert not differs, f"events and {name} differ with seed {seed}, {differs}\n{text}"
    return by_itself


@pytest.fixture
def one_processor() -> Iterator[None]:
    """A processor of this test process on which the threads of a run take turns.

    On several, each waits for the other's turn among the processes of other tests: runs of 1 ms then take 100 ms.
    """
    allowed = sorted(os.sched_getaffinity(0))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    os.sched_setaffinity(0, {allowed[worker % len(allowed)]})
    yield
    os.sched_setaffinity(0, allowed)


@pytest.mark.usefixtures("one_processor")
def test_all_ways_agree_on_random_scenarios():
    engines: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    happens: Counter[str] = Counter()
    texts: set[str] = set()
    refused = 0

    @settings(
        max_examples=SCENARIOS,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(scenarios())
    def check(drawn: Drawn) -> None:
        nonlocal refused
        try:
            Scenario.from_text(drawn.text)
        except errors.ScenarioError:
            refused += 1
            assume(False)
        texts.add(drawn.text)
        found = run_in_all_ways(drawn.text, drawn.seed)
        engines[found["engine"]] += 1
        engines["parallel"] += found["parallel"]
        kinds.update(drawn.kinds)
        happens.update(what for what, (table, column) in HAPPENS.items() if any(values(found["tables"][table], column)))
        happens["packet-hops"] += found["summary"]["packet_hops"]

    check()
    print(f"{engines}, {len(texts)} different, {refused} rejected, {happens}")
    assert len(texts) >= DIFFERENT
    runs = engines["windows"] + engines["events"]
    assert engines["windows"] >= IN_WINDOWS * runs
    assert engines["parallel"] >= PARALLEL * runs
    assert engines["events"] > 0
    assert refused <= REFUSED * SCENARIOS
    assert not sorted(ALL_KINDS - kinds.keys())
    assert min(happens[what] for what in HAPPENS) >= OFTEN


@pytest.fixture(scope="module")
def other_process() -> Iterator[Executor]:
    """A process without the plugins that other tests have registered in this one.

    Where there are any, a queue with classes may hold one of them, and its network is not divided between threads.
    """
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        yield executor


def engine_and_parallel(text: str) -> tuple[str, bool]:
    """Compare all ways to run a scenario. Return its engine, and whether it can be divided between two threads."""
    found = run_in_all_ways(text, seed=1)
    return found["engine"], found["parallel"]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_all_ways_agree_on_the_examples(path, other_process):
    seconds = "2s" if path.stem == "datacentre" else "11s"  # 1 Gb/s has 100 times the packets of the others
    plan = Scenario.load(path, overrides={"run.warmup": "1s", "run.duration": seconds, "probe.events": True})
    found = other_process.submit(engine_and_parallel, plan.normalized).result()
    assert found == ("windows", True)


def test_papers_are_compared():
    """Compare three scenarios of the papers as `make validate` compares all of them."""
    todo = [(paper, job) for paper, job in jobs(quick=True, papers=["mred", "exred"]) if job.cost < 0.1]
    text, equal = report([compared(*one) for one in todo[:3]])
    assert equal
    assert "| mred | 3 | " in text
    assert "| all |" in text


def test_a_difference_is_reported(dumbbell):
    one, other = (_core.Scenario(dumbbell, "x").run(seed) for seed in (1, 2))
    assert difference(one, one) == ""
    assert difference(one, other).startswith("summary: ")
    assert difference(one, {**other, "summary": one["summary"]}).startswith("links: ('link', ")
