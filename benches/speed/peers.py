"""aqmlab, ns-2 and other simulators in turn on one machine: whole processes and packet-hops a second.

The programs of the other simulators are built from `benches/peers`, whose README names versions and differences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from speed.cases import Case
from speed.pairs import MIB
from speed.process import LimitError, Limits, ProcessError, Run, measure, ours, theirs
from speed.table import MISSING, count, percent, table

FULL_S = {"d10m": 500.0, "d1g": 10.0, "chain": 20.0}
"""Simulated seconds of each case, as its scenario file has them."""
SHORT_S = {"d10m": 100.0, "d1g": 5.0, "chain": 4.0}
"""Simulated seconds with slow simulators."""
HEADER = (
    "case",
    "simulator",
    "cores",
    "simulated s",
    "packet-hops",
    "to ours",
    "M packet-hops/s (range)",
    "ns a hop",
    "ours to theirs (range)",
    "peak MiB",
)
RATE = HEADER.index("M packet-hops/s (range)")
OURS = "aqmlab"
Measure = Callable[..., Run]
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Peer:
    """A simulator with a program of its own in `benches/peers`.

    Attributes
    ----------
    name, program
        Its name in tables, and that of its program's file.
    cores
        The threads it runs on.
    seconds
        Simulated seconds by case.
    """

    name: str
    program: str
    cores: int = 1
    seconds: Mapping[str, float] = field(default_factory=lambda: FULL_S)

    def command(self, folder: Path, case: str) -> list[str]:
        """Make the command that runs a case."""
        words = [str(folder / self.program), f"case={case}", f"seconds={self.seconds[case]:g}"]
        return words if self.cores == 1 else [*words, f"threads={self.cores}"]


PEERS = (
    Peer("htsim with RED added", "htsim"),
    Peer("ns-3", "ns3", seconds=SHORT_S),
    Peer("Unison", "unison", cores=2, seconds=SHORT_S),
)


@dataclass(frozen=True)
class Timed:
    """The runs of one simulator in one case.

    Attributes
    ----------
    name, cores, seconds
        The simulator, its threads and the simulated seconds.
    hops, our_hops
        Its packet-hops, and ours in the same simulated time.
    runs
        One of each round.
    """

    name: str
    cores: int
    seconds: float
    hops: int
    our_hops: int
    runs: Sequence[Run]

    def rates(self) -> list[float]:
        """Packet-hops a second, from the start of the process to its exit."""
        return [self.hops / run.process_s for run in self.runs]

    def row(self, case: str, reference: Timed) -> list[str]:
        """Return its row of the table; ratios are taken of each round, to our runs on as many cores."""
        rates = [rate / 1e6 for rate in self.rates()]
        ratios = [mine / rate for mine, rate in zip(reference.rates(), self.rates(), strict=True)]
        other = self.name != OURS
        return [
            case.upper(),
            self.name,
            str(self.cores),
            f"{self.seconds:g}",
            count(self.hops),
            percent(self.hops, self.our_hops) if other else MISSING,
            spread(rates, 2),
            f"{1e3 / median(rates):,.1f}",
            spread(ratios, 1) if other else MISSING,
            f"{median(run.peak_kib for run in self.runs) / MIB:.1f}",
        ]


def spread(values: Sequence[float], digits: int) -> str:
    """Write a median and a range.

    >>> spread([3.0, 1.0, 2.0], 1)
    '2.0 (1.0 to 3.0)'
    """
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def built(folder: Path) -> tuple[list[Peer], list[str]]:
    """Return the peers with a program in the folder, and the names of the missing programs."""
    found = [peer for peer in PEERS if (folder / peer.program).is_file()]
    missing = {peer.program: None for peer in PEERS if peer not in found}
    return found, list(missing)


@dataclass(frozen=True)
class Runner:
    """A simulator in one case, before its timed runs."""

    name: str
    cores: int
    seconds: float
    hops: int
    command: Sequence[str]


def runners(case: Case, folder: Path, peers: Iterable[Peer], limits: Limits, run: Measure) -> tuple[list[Runner], str]:
    """Count the packets of each simulator in a run of its own.

    Returns
    -------
    tuple
        The simulators, ours first, and the reasons why others are left out.
    """
    full = FULL_S[case.name]
    single, double = ours(case.scenario, engine="windows"), ours(case.scenario, engine="parallel")
    found = [
        Runner(OURS, cores, full, run(command).packet_hops, command) for cores, command in ((1, single), (2, double))
    ]
    others = [("ns-2", 1, full, theirs(case.script, *case.arguments))]
    others += [(peer.name, peer.cores, peer.seconds[case.name], peer.command(folder, case.name)) for peer in peers]
    notes = ""
    for name, cores, seconds, command in others:
        try:
            found.append(Runner(name, cores, seconds, run([*command, "count=1"], limits).packet_hops, command))
        except LimitError as stopped:
            notes += f"{case.name.upper()}: {name} is left out; {stopped}.\n"
    return found, notes


def compare(
    case: Case, folder: Path, peers: Iterable[Peer], repeats: int, limits: Limits, run: Measure = measure
) -> tuple[list[list[str]], str]:
    """Run all simulators in turn, `repeats` times; gives the rows of the case and its notes."""
    todo, notes = runners(case, folder, peers, limits, run)
    rounds = [[run(runner.command) for runner in todo] for _ in range(repeats)]
    if {done[i].packet_hops for done in rounds for i in (0, 1)} != {todo[0].hops}:
        raise ProcessError(f"{case.name}: our runs of one seed differ in their packet-hops")
    durations = {runner.seconds for runner in todo}
    our_hops = {s: run(ours(case.scenario, [f"run.duration={s:g}s"])).packet_hops for s in durations}
    timed = [
        Timed(runner.name, runner.cores, runner.seconds, runner.hops, our_hops[runner.seconds], [r[i] for r in rounds])
        for i, runner in enumerate(todo)
    ]
    reference = {one.cores: one for one in timed if one.name == OURS}
    return [one.row(case.name, reference[one.cores]) for one in timed], notes


def report(cases: Sequence[Case], folder: Path, repeats: int, limits: Limits, tell: Tell) -> str:
    """Compare the simulators in the cases that all have; a table in Markdown."""
    peers, missing = built(folder)
    if missing:
        tell(f"peers: no program {', '.join(missing)} in {folder}; see benches/peers/README.md")
    rows, notes = [], "".join(f"Not measured: {program} (no program).\n" for program in missing)
    for case in cases:
        if case.name not in FULL_S:
            continue
        found, why = compare(case, folder, peers, repeats, limits)
        rows += found
        notes += why
        for row in found:
            tell(" | ".join(row))
    text = f"Medians of {repeats} rounds, whole processes.\n\n" + table(HEADER, rows)
    return text + (f"\n{notes}" if notes else "")


def summary(text: str) -> str:
    """Return the medians of packet-hops a second of a report, in millions: a row for each simulator.

    >>> line = "| D1G | ns-2 | 1 | 10 | 6,725,362 | +0.37 % | 2.63 (2.60 to 2.70) | 380.2 | 20.6 (20.1 to 21.0) | 29 |"
    >>> print(summary(line), end="")
    | simulator | cores | D1G |
    |---|---|---|
    | ns-2 | 1 | 2.63 |
    """
    found: dict[tuple[str, str], dict[str, str]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == len(HEADER) and cells[0].lower() in FULL_S:
            case, simulator, cores = cells[:3]
            found.setdefault((simulator, cores), {})[case] = cells[HEADER.index("M packet-hops/s (range)")].split(" ")[
                0
            ]
    cases = list(dict.fromkeys(case for rates in found.values() for case in rates))
    rows = [[*key, *(rates.get(case, MISSING) for case in cases)] for key, rates in found.items()]
    return table(("simulator", "cores", *cases), rows)
