"""Scenarios in ns-3 beside ours: where they agree, and by which switch a disagreement goes away.

Every scenario runs as it is; where ns-3's TCP has a rule of its own, its program runs again without that rule
(`--growthAtExit=false`, `--beyondThreshold=false`), all else unchanged. What then agrees came from that rule alone.

    python tests/crosscheck_ns3.py [--only NAME]

writes ``docs/validation/crosscheck-ns3.md``. Runs that are in ``results/crosscheck`` are not done again. About ten
minutes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aqmlab.crosscheck.agreement import Agreement, Line, agreement
from aqmlab.crosscheck.model import Model
from aqmlab.crosscheck.ns3 import Ns3, program_name
from aqmlab.crosscheck.ours import ours
from aqmlab.crosscheck.page import SHOWN, margins
from aqmlab.crosscheck.running import run_seeds
from aqmlab.crosscheck.tool import Key
from aqmlab.errors import Problem, ScenarioError
from aqmlab.runner import run
from aqmlab.scenario import Scenario

TITLE = "Scenarios in ns-3 beside ours"
ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "results" / "crosscheck"
PAGE = ROOT / "docs" / "validation" / "crosscheck-ns3.md"
SEEDS = 6
WORKERS = 4
COUNTING = {"flow.tcp.tcp.rack": "false"}
GROWTH = ("--growthAtExit=false",)
BOTH = ("--growthAtExit=false", "--beyondThreshold=false")
RENO = (
    "ns-3's window grows by the acknowledgement that ends a recovery, which acknowledges a whole window at once: "
    "Reno goes "
    "on with a segment more than half of its window. At windows of some ten segments that is a third more drops."
)
ECN = (
    "ns-3's flows answer marks more weakly: with a fifth more marks their windows, and the queue, are a tenth larger. "
    "It is ns-3's PRR in the reduction without losses (`EnterCwr`): with `TcpClassicRecovery` in its place "
    "(`prr = false` in the scenario that is exported) ns-3 has 3.33 % marks and 20.7 packets, beside our 3.36 % and "
    "20.5 with PRR."
)
CUBIC = (
    "Slow start of ns-3's CUBIC grows by all that an acknowledgement acknowledges, beyond its threshold. Behind "
    "a time-out that is a whole window at once: a burst, losses, the next time-out. Some seeds fall into it, with "
    "many times the loss."
)
HEAD = """`aqmlab crosscheck` writes a scenario as a C++ program, runs it in ns-3 {version} and here with seeds of its
own, and tests every measure for equality. All scenarios run 25 s, of which 5 s are warm-up. The programs are those of
`aqmlab export`, unmodified; what they have of a scenario is in [crosscheck-ns3.md](../crosscheck-ns3.md). The
scenarios are in `tests/crosscheck_ns3.py`, which makes this page.

{margins}

"As it is" is ns-3 as everyone has it. "Without its rule" is the same program with a switch that leaves out one rule of
ns-3's TCP, named below; nothing of ours is changed. In the last column ours finds losses by counting, as ns-3 does
(`rack = false`): RACK finds more of them, and lost repairs too, without a time-out, and so loads the queue more.
"""
NETWORK = """format = 1
name = "ns3-{name}"

[run]
duration = "25s"
warmup = "5s"

[dumbbell]
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "100Mbps", delay = "5ms", queue = "access" }}
right = {{ rate = "100Mbps", delay = "7ms", queue = "access" }}

[queue.access]
limit = "1000p"

[queue.bottleneck]
"""
RED = """aqm = "{aqm}"
dialect = "ns2-2.35"
p_one_is_early = false
mark_up_to = 1
limit = "100p"
min_th = "10p"
max_th = "30p"
max_p = 0.1
w_q = 0.002
mean_packet = "1500B"
"""
TAIL = 'limit = "60p"\n'
CODEL = 'aqm = "codel"\nlimit = "1000p"\n'
TCP = """
[[flow]]
name = "tcp"
count = {count}
transport = "tcp"
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ congestion_control = "{control}"{further} }}
"""
UDP = """
[[flow]]
name = "udp"
transport = "udp"
rate = "{rate}"
packet_size = "1000B"
start = "0.5s"
pattern = {pattern}
"""


@dataclass(frozen=True)
class Case:
    """A scenario.

    Attributes
    ----------
    name, about
        Its name, and what it is.
    queue, flows
        Sections of the scenario.
    switches
        Words of ns-3's program that leave out a rule of its own.
    why
        What that rule is.
    seeds
        Runs a side.
    """

    name: str
    about: str
    queue: str
    flows: str
    switches: tuple[str, ...] = ()
    why: str = ""
    seeds: int = SEEDS

    @property
    def text(self) -> str:
        """The scenario file."""
        return NETWORK.format(name=self.name) + self.queue + self.flows


def red(aqm: str = "red", further: str = "") -> str:
    """Return a RED queue with ns-3's rules."""
    return RED.format(aqm=aqm) + further


def tcp(control: str = "reno", *, count: int = 10, further: str = "") -> str:
    """Return greedy flows."""
    return TCP.format(control=control, count=count, further=f", {further}" if further else "")


CASES = (
    Case(
        "poisson",
        "RED, Poisson UDP at 1.1 times the rate",
        red(),
        UDP.format(rate="11Mbps", pattern='"poisson"'),
        seeds=20,
    ),
    Case(
        "bursts",
        "drop-tail, bursts of UDP",
        TAIL,
        UDP.format(rate="30Mbps", pattern='{ on = { exponential = "50ms" }, off = { exponential = "150ms" } }'),
        seeds=20,
    ),
    Case("tail-reno", "drop-tail, ten Reno", TAIL, tcp(), GROWTH, RENO),
    Case("red-reno", "RED, ten Reno", red(), tcp(), GROWTH, RENO),
    Case("gentle-reno", "gentle RED, 30 Reno", red("gentle-red"), tcp(count=30), GROWTH, RENO),
    Case("nlred-reno", "NLRED, ten Reno", red("nlred"), tcp(), GROWTH, RENO),
    Case("feng-reno", "Feng's self-configuring RED, 20 Reno", red("feng-red"), tcp(count=20), GROWTH, RENO),
    Case("adaptive-reno", "Adaptive RED, ten Reno", red("adaptive-red"), tcp(), GROWTH, RENO),
    Case("red-ecn", "RED that marks, ten Reno", red(further="ecn = true\n"), tcp(further="ecn = true"), GROWTH, ECN),
    Case(
        "gentle-cubic",
        "gentle RED, ten CUBIC",
        red("gentle-red"),
        tcp("cubic", further="tcp_friendly = false"),
        BOTH,
        CUBIC,
    ),
    Case(
        "red-mixed",
        "RED, five Reno and 3 Mb/s of UDP",
        red(),
        tcp(count=5) + UDP.format(rate="3Mbps", pattern='"poisson"'),
        GROWTH,
        RENO,
    ),
    Case("codel-reno", "CoDel, ten Reno", CODEL, tcp(), GROWTH, RENO),
)


@dataclass(frozen=True)
class Switched(Ns3):
    """ns-3 with switches of a program that is compiled already, in the folder `built`."""

    built: Path = STORE

    def prepare(self, model: Model, folder: Path) -> None:
        """Take the program from there."""
        name = program_name(model).removesuffix(".cc")
        shutil.copy2(self.built / name, folder / name)


@dataclass(frozen=True)
class Found:
    """A case: as it is, without the rule of ns-3's own, and then with losses found by counting here too."""

    case: Case
    plain: tuple[Line, ...]
    without: tuple[Line, ...] = ()
    counting: tuple[Line, ...] = ()


def compare(case: Case) -> Found:
    """Run a case."""
    scenario = Scenario.from_text(case.text, filename=case.name)
    model = Model.of(scenario)
    seeds = list(range(1, case.seeds + 1))
    home = STORE / scenario.label / "crosscheck"
    here = _ours(scenario, seeds)
    there = run_seeds(Ns3(), model, seeds, home / "ns3", workers=WORKERS, progress=False)
    plain = tuple(agreement(here, there, certain=model.deterministic))
    if not case.switches:
        return Found(case, plain)
    tool = Switched(switches=case.switches, built=home / "ns3")
    folder = home / "-".join(["ns3", *(word.strip("-") for word in case.switches)])
    there = run_seeds(tool, model, seeds, folder, workers=WORKERS, progress=False)
    without = tuple(agreement(here, there, certain=model.deterministic))
    counting = _ours(scenario.with_overrides(COUNTING), seeds)
    return Found(case, plain, without, tuple(agreement(counting, there, certain=model.deterministic)))


def _ours(scenario: Scenario, seeds: list[int]) -> dict[int, dict[Key, float]]:
    return ours(Model.of(scenario), run(scenario, seeds=seeds, out=STORE, progress=False))


def page(found: Sequence[Found]) -> str:
    """Write the page."""
    return "\n".join(_page(found)) + "\n"


def _page(found: Sequence[Found]) -> Iterator[str]:
    yield f"# {TITLE}\n"
    yield HEAD.format(version=Ns3().version(), margins=margins(1.0))
    yield (
        "| scenario | what it is | runs a side | measure | here | ns-3 | as it is | without its rule "
        "| and without RACK here |"
    )
    yield "|---|---|---:|---|---:|---:|---|---|---|"
    for one in found:
        for place, line in enumerate(one.plain):
            if not (line.ours.mean or line.theirs.mean):
                continue
            title, factor = SHOWN[line.measure]
            cells = [f"`{one.case.name}`" if place == 0 else "", one.case.about if place == 0 else ""]
            cells.append(str(one.case.seeds) if place == 0 else "")
            cells += [f"{title}, {line.place}", f"{line.ours.mean * factor:.4g}", f"{line.theirs.mean * factor:.4g}"]
            cells.append(line.words)
            cells += [column[place].words if column else "" for column in (one.without, one.counting)]
            yield f"| {' | '.join(cells)} |"
    yield "\n## What the disagreements come from\n"
    for why in dict.fromkeys(one.case.why for one in found if one.case.why):
        names = ", ".join(f"`{one.case.name}`" for one in found if one.case.why == why)
        words = next(" ".join(one.case.switches) for one in found if one.case.why == why)
        yield f"* {names}: {why} Switches in the column: `{words}`.\n"
    yield _total(found)


def _total(found: Sequence[Found]) -> str:
    plain = [line for one in found for line in one.plain]
    without = [line for one in found for line in one.without or one.plain]
    last = [line for one in found for line in one.counting or one.plain]
    counts = [
        ", ".join(f"{sum(line.agreement is kind for line in lines)} {kind}" for kind in Agreement)
        for lines in (plain, without, last)
    ]
    return f"In all: as it is {counts[0]}; without the rule {counts[1]}; and without RACK here {counts[2]}."


def report() -> tuple[str, bool]:
    """Text for the validation report, and whether every disagreement has gone with the rules that it came from."""
    if why := Ns3().missing():
        return f"Not compared: {why}.", False
    found = [compare(case) for case in cases()]
    last = [line for one in found for line in one.counting or one.plain]
    return page(found).partition("\n\n")[2], all(line.agreement is not Agreement.DIFFERS for line in last)


def cases(names: Sequence[str] = ()) -> Iterator[Case]:
    """Return the cases that this version of the core knows."""
    for case in CASES:
        if names and case.name not in names:
            continue
        try:
            Scenario.from_text(case.text, filename=case.name)
        except ScenarioError as error:
            problems: list[Problem] = error.problems
            print(f"{case.name} left out: {problems[0].message}", file=sys.stderr)
            continue
        yield case


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a scenario")
    options = parser.parse_args(arguments)
    if why := Ns3().missing():
        print(why, file=sys.stderr)
        return 2
    found = []
    for case in cases(options.only):
        found.append(compare(case))
        columns = {"as it is": found[-1].plain, "without its rule": found[-1].without, "counting": found[-1].counting}
        for label, lines in columns.items():
            told = "; ".join(f"{line.measure} {line.words}" for line in lines if line.ours.mean or line.theirs.mean)
            print(f"{case.name}, {label}: {told}", file=sys.stderr, flush=True)
    if not options.only:
        PAGE.write_text(page(found), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
