"""Disciplines, curves and victim rules in Python; plug-ins."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import aqmlab
from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.figures.curves import scenario_curves
from aqmlab.scenario import plugins
from aqmlab.theory.scenario.link_curve import curve_of, is_modelled
from aqmlab.theory.scenario.model import bottleneck_of
from conftest import DUMBBELL

NUMBERS = itertools.count()
EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins" / "my_red.py"


def named(idea: str) -> str:
    """Return a name that no other test has."""
    return f"{idea}-{next(NUMBERS)}"


def bottleneck(aqm: str, **parameters: object) -> str:
    """Return the scenario of the tests with another queue at the bottleneck."""
    head, tail = DUMBBELL.split("[queue.bottleneck]")
    rest = tail.partition("\n\n")[2]
    lines = [f'aqm = "{aqm}"', *(f"{key} = {value}" for key, value in parameters.items())]
    text = "\n".join([head + "[queue.bottleneck]", *lines, "", rest])
    return text.replace('duration = "3s"', 'duration = "1s"')


def run(aqm: str, seed: int = 1, **parameters: object) -> dict[str, dict[str, list[float]]]:
    """Return the tables of a run."""
    scenario = aqmlab.Scenario.from_text(bottleneck(aqm, **parameters))
    return aqmlab.run(scenario, seeds=[seed], progress=False)


def test_drop_tail_in_python_is_drop_tail():
    name = named("python-tail")

    @plugins.discipline(name)
    class Tail(plugins.Discipline):
        """First in, first out."""

    mine, theirs = run(name, limit='"20p"'), run("drop-tail", limit='"20p"')
    columns = ["arrivals", "departures", "drops_overflow", "mean_delay_s"]
    assert mine.links[columns].equals(theirs.links[columns])
    assert (mine.links["drops_overflow"] > 0).any()


def test_a_discipline_sees_whether_the_link_transmits():
    """A packet that finds the link busy waits; one that finds it free with an empty queue is sent at once."""
    name = named("python-busy")
    seen: dict[str, set[tuple[bool, bool]]] = {"enqueue": set(), "dequeue": set()}

    @plugins.discipline(name)
    class Busy(plugins.Discipline):
        """Record the events of the link."""

        def start(self):
            self.free_at = 0.0

        def enqueue(self, now, packet, queue):
            if abs(now - self.free_at) > 1e-9:  # else the end of the service may come first or not
                seen["enqueue"].add((queue.busy, now < self.free_at))
                assert queue.idle_s == pytest.approx(max(now - self.free_at, 0), abs=1e-9)
            return "accept"

        def dequeue(self, now, queue):
            seen["dequeue"].add((queue.busy, False))
            self.free_at = now + 8 * queue[0].bytes / queue.rate_bps
            return 0

    assert (run(name, limit='"20p"').links["departures"] > 0).any()
    assert seen == {"enqueue": {(True, True), (False, False)}, "dequeue": {(False, False)}}


@pytest.mark.slow
def test_red_in_python_decides_as_red_does_without_spacing():
    """The same law of drops: the share that RED with the same curve and no spacing drops, at the same traffic."""
    name = named("python-red")

    @plugins.discipline(name)
    class Red(plugins.Discipline):
        min_th = plugins.packets(5)
        max_th = plugins.packets(15)

        def enqueue(self, now, packet, queue):
            self.average += 1.0 * (len(queue) - self.average)
            self.p_b = min(max((self.average - self.min_th) / (self.max_th - self.min_th) * 0.1, 0), 1)
            return "drop" if self.average >= self.max_th or queue.uniform() < self.p_b else "accept"

    def rate(body: str) -> float:
        arrivals = [(10**9 * i, {"bytes": 1000}) for i in range(12)]
        draws = np.random.default_rng(1).uniform(size=200_000).tolist()
        dropped, asked = 0, 0
        for start in range(0, 4000, 10):
            out = _core.replay(body, 1e6, 0.01, arrivals, draws[start:])
            dropped += sum(bool(o["dropped"]) for o in out)
            asked += len(out)
        return dropped / asked

    mine = rate(f'aqm = "{name}"')
    theirs = rate('aqm = "red"\nw_q = 1.0\nspacing = "none"\nguard_one = false')
    # 4800 arrivals, of which about one in 60 is dropped: two standard errors of the difference are 0.005.
    assert mine == pytest.approx(theirs, abs=0.008)


def test_drops_marks_order_and_timers():
    name = named("python-lifo")
    seen = []

    @plugins.discipline(name)
    class Lifo(plugins.Discipline):
        """Last in, first out; marks the head at each arrival, drops the head every 10 ms."""

        every = 0.01
        gauges = ("timers",)
        timers = 0

        def enqueue(self, now, packet, queue):
            if len(queue):
                seen.append(queue.mark(0))
            return "accept"

        def dequeue(self, now, queue):
            return -1

        def on_timer(self, now, queue):
            self.timers += 1
            if len(queue):
                queue.drop(0, "forced")

    # 1000 bytes at 1 Mb/s take 8 ms; the timer is called before what happens at 10 ms.
    operations = [(0, {"ect": True, "bytes": 1000}), (1, {"bytes": 500}), (2, {"ect": True}), (3, {"bytes": 1500})]
    operations += [(4, None), (10**10, None), (10**10 + 1, None), (10**10 + 2, None)]
    answers = _core.replay(f'aqm = "{name}"', 1e6, 0.01, operations, [0.5], True)
    assert seen == [True, True, True]
    assert [a["marked"] for a in answers[:4]] == [[], [0], [0], [0]]
    assert answers[4]["departed"] == 3
    assert answers[5]["dropped"] == [(0, "forced")]
    assert [a["departed"] for a in answers[5:]] == [2, 1, None]
    assert answers[5]["gauges"]["timers"] == 1


def quadratic(average, red):
    """Return a p_b that grows with the square of the average."""
    x = (average - red.min_th) / (red.max_th - red.min_th)
    return 0.0 if x < 0 else red.max_p * x * x if x < 1 else 1.0


def test_a_curve_in_python_is_tabulated():
    name = named("quadratic-red")
    plugins.curve(name)(quadratic)
    body = f'aqm = "{name}"\nmin_th = "5p"\nmax_th = "15p"\nmax_p = 0.2\nlimit = "100p"'
    p_b = _core.curve(body, [0.0, 5.0, 10.0, 14.9, 15.1, 99.0])
    # The table has a step of a 40th of a packet.
    assert p_b[:2] == pytest.approx([0.0, 0.0], abs=1e-6)
    assert p_b[2] == pytest.approx(0.05, abs=1e-4)
    assert p_b[3] == pytest.approx(0.2 * 0.99**2, rel=1e-3)
    assert p_b[4:] == [1.0, 1.0]


def test_a_curve_in_python_has_figures_and_theory():
    name = named("quadratic-theory")
    plugins.curve(name)(quadratic)
    scenario = aqmlab.Scenario.from_text(bottleneck(name, min_th='"5p"', max_th='"15p"', max_p=0.2))
    chart = scenario_curves(scenario)
    assert chart is not None
    link = bottleneck_of(scenario)
    assert is_modelled(link)
    assert curve_of(scenario, link, packet_bytes=1000).p_b([5.0, 10.0]) == pytest.approx([0.0, 0.05], abs=1e-4)


def test_a_discipline_in_python_with_thresholds_has_no_model():
    name = named("python-thresholds")

    @plugins.discipline(name)
    class Thresholds(plugins.Discipline):
        min_th = plugins.packets(5)

    scenario = aqmlab.Scenario.from_text(bottleneck(name))
    link = bottleneck_of(scenario)
    assert not is_modelled(link)
    assert not curve_of(scenario, link, packet_bytes=1000).drops_early


def test_victim_rule_picks():
    name = named("largest-red")

    @plugins.victim(name)
    def largest(waiting, u):
        """Drop the largest packet."""
        return max(range(len(waiting)), key=lambda i: waiting[i].bytes)

    body = f'aqm = "{name}"\nlimit = "3p"'
    operations = [(i, {"bytes": size}) for i, size in enumerate([100, 900, 300, 200])]
    answers = _core.replay(body, 1e6, 0.01, operations, [0.9] * 10)
    assert answers[3]["dropped"] == [(1, "overflow")]


def test_the_same_seed_gives_the_same_bytes_and_another_text_another_hash(tmp_path):
    text = EXAMPLE.read_text()
    hashes = []
    for i, factor in enumerate(("** 2", "** 3")):
        file = tmp_path / f"idea{i}.py"
        file.write_text(text.replace("** 2", factor).replace('"my-red"', '"my-own-red"'))
        plugins._load(str(file))
        scenario = aqmlab.Scenario.from_text(bottleneck("my-own-red"))
        hashes.append(scenario.hash)
        first, second = (aqmlab.run(scenario, seeds=[1, 2], progress=False, workers=n) for n in (1, 2))
        assert first.links.equals(second.links)
        assert first.queue_samples.equals(second.queue_samples)
    assert hashes[0] != hashes[1]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return 1 / (len(queue) - len(queue))", "ZeroDivisionError: division by zero"),
        ("return 1", "Bad: enqueue returns"),
        ('return "drop:soon"', '"soon" is not a reason of a drop'),
        ("queue.drop(len(queue))", "IndexError: place"),
    ],
)
def test_an_exception_of_python_ends_the_run_with_one_line(tmp_path, body, message):
    name = named("bad")
    file = tmp_path / f"{name}.py"
    file.write_text(
        "from aqmlab import plugins\n"
        f'@plugins.discipline("{name}")\n'
        "class Bad(plugins.Discipline):\n"
        "    def enqueue(self, now, packet, queue):\n"
        f"        {body}\n"
    )
    plugins._load(str(file))
    with pytest.raises(InputError) as raised:
        run(name)
    assert message in str(raised.value)
    assert re.search(r" \(at [\d.]+ s, when a packet of \d+ B arrives\)$", str(raised.value))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "curve", "message"),
    [
        ("red", lambda a, r: 0.0, "a built-in discipline is named red"),
        ("My Red", lambda a, r: 0.0, "not a valid name of a discipline"),
    ],
)
def test_names(name, curve, message):
    with pytest.raises(InputError, match=message):
        plugins.curve(name)(curve)


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (lambda a, r: 1 - a / 1000, "p_b falls from 1 at 0p"),
        (lambda a, r: a, r"p_b\(1\.\d+p\) = 1"),
        (lambda a, r: r.nothing, "AttributeError"),
        (lambda a, r: float("nan"), "NaN"),
    ],
)
def test_curves_that_are_none(curve, message):
    name = named("wrong-red")
    plugins.curve(name)(curve)
    with pytest.raises(aqmlab.ScenarioError, match=message):
        aqmlab.Scenario.from_text(bottleneck(name))


def test_parameters_are_checked_like_all_others():
    plugins.load_plugins()
    name = named("ranged-red")

    @plugins.discipline(name)
    class Ranged(plugins.Discipline):
        gain = plugins.number(0.5, low=0, high=1)
        wait = plugins.seconds(0.1)

        def start(self):
            assert self.wait == 0.25

    assert aqmlab.Scenario.from_text(bottleneck(name, gain="0.25", wait='"250ms"'))
    with pytest.raises(aqmlab.ScenarioError, match=r"gain.*out of range \(allowed: 0 <= x <= 1\)"):
        aqmlab.Scenario.from_text(bottleneck(name, gain="1.25"))
    with pytest.raises(aqmlab.ScenarioError, match=r"gian.*gain"):
        aqmlab.Scenario.from_text(bottleneck(name, gian="0.25"))
    with pytest.raises(aqmlab.ScenarioError, match="AssertionError"):
        aqmlab.Scenario.from_text(bottleneck(name))


def command(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aqmlab", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.mark.slow
def test_the_command_line_takes_a_plug_in(tmp_path):
    (tmp_path / "s.toml").write_text(DUMBBELL)
    options = ["--seeds", "2", "--set", "run.duration=1s"]
    done = command("--plugin", str(EXAMPLE), "compare", "s.toml", "--aqm", "red,my-red", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "my-red" in done.stdout
    # Workers of a study are processes of their own.
    (tmp_path / "mine.toml").write_text(bottleneck("my-red"))
    sweep = ["sweep", "mine.toml", "--grid", "queue.bottleneck.max_p=0.1,0.2", *options, "--workers", "2"]
    done = command("--plugin", str(EXAMPLE), *sweep, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    done = command("--plugin", "none.py", "list", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "none.py: unknown plug-in" in done.stderr


@pytest.mark.slow
def test_an_installed_package_brings_disciplines_by_its_entry_point(tmp_path):
    (tmp_path / "their_red.py").write_text(EXAMPLE.read_text().replace('"my-red"', '"their-red"'))
    info = tmp_path / "their_red-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-red\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[aqmlab.plugins]\ntheirs = their_red\n")
    (tmp_path / "s.toml").write_text(bottleneck("their-red"))
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = command("run", "s.toml", "--seeds", "1", cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "their_red.py").write_text("import nothing_of_this_name\n")
    done = command("list", cwd=tmp_path, PYTHONPATH=path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "plug-in theirs" in done.stderr


def test_live_runs_reject_disciplines_in_python():
    name = named("slow")
    plugins.discipline(name)(type("Slow", (plugins.Discipline,), {}))
    from aqmlab.scenario.registry import compiled

    with pytest.raises(InputError, match=f"x.toml: link b: {name} is written in Python"):
        compiled(name, "x.toml: link b")
    assert compiled("red", "") == "red"


def test_the_page_shows_the_example() -> None:
    page = (EXAMPLE.parents[2] / "docs" / "extending.md").read_text(encoding="utf-8")
    listing = "".join(
        f"    {line}" if line.strip() else line for line in EXAMPLE.read_text(encoding="utf-8").splitlines(True)
    )
    assert listing in page
