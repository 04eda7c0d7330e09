"""Scenarios in ns-3 compared with aqmlab: where they agree, and by which switch a disagreement goes away.

Every scenario runs as it is. Where that disagrees it runs again with one thing changed at a time, there or here, and
last with all that is needed. Runs that are in ``results/crosscheck`` are not done again, so it can be stopped at any
time.

    python validation/crosscheck_ns3.py [--only NAME]

`report` is the page ``docs/validation/crosscheck-ns3.md``. From nothing it takes about 40 minutes of one core.
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import aqmlab
from aqmlab.errors import ScenarioError
from aqmlab.interop.crosscheck.agreement import Agreement, Line, agreement
from aqmlab.interop.crosscheck.ours import ours
from aqmlab.interop.crosscheck.page import SHOWN, margins
from aqmlab.interop.crosscheck.running import run_seeds
from aqmlab.interop.crosscheck.tool import Measured
from aqmlab.interop.differences import inexpressible
from aqmlab.interop.formatting import file_name
from aqmlab.interop.model import Model
from aqmlab.interop.ns3.tool import Ns3
from aqmlab.runs.runner import run
from aqmlab.scenario.file import Scenario
from crosscheck_ns3_cases import AS_IT_IS, CASES, Case, Switch, tcp

TITLE = "Scenarios in ns-3 compared with aqmlab"
STORE = Path(__file__).resolve().parents[1] / "results" / "crosscheck"
WORKERS = 1
HEAD = f"""`aqmlab crosscheck` writes a scenario as a C++ program, runs it in ns-3 and here with seeds of its own, and
tests every measure for equality. Scenarios run 25 s, of which 5 s are warm-up, unless stated otherwise. The programs
are those of `aqmlab export`, unmodified; the parts of a scenario that they can express are in
[crosscheck-ns3.md](../crosscheck-ns3.md). The scenarios are in `validation/crosscheck_ns3_cases.py`.

{margins(1.0)}
*The same*: equal to five digits in all runs. Undecided: neither; the difference found is reported.

"As it is" is unmodified ns-3. Every further column changes one thing, in ns-3's program ("ns-3: ...", a word of
its command line, or a line of the scenario that is exported) or here ("ours: ..."); the last has all changes that both
need to agree.
"""


@dataclass(frozen=True)
class Program(Ns3):
    """ns-3 with words for a program that is compiled already, in the folder `built`."""

    built: Path = STORE

    def prepare(self, model: Model, folder: Path) -> None:
        """Take the program from there."""
        name = file_name(model, "")
        shutil.copy2(self.built / name, folder / name)


@dataclass(frozen=True)
class Found:
    """A case, and its comparison with each switch, the unmodified one first."""

    case: Case
    columns: dict[str, tuple[Line, ...]]

    @property
    def plain(self) -> tuple[Line, ...]:
        """The unmodified comparison."""
        return self.columns[AS_IT_IS.title]

    @property
    def last(self) -> tuple[Line, ...]:
        """With all that is needed."""
        return tuple(self.columns.values())[-1]


def compare(case: Case) -> Found:
    """Run a case with each of its switches."""
    return Found(case, {switch.title: _column(case, switch) for switch in (AS_IT_IS, *case.switches)})


def _column(case: Case, switch: Switch) -> tuple[Line, ...]:
    scenario = Scenario.from_text(case.text, filename=case.name)
    seeds = list(range(1, case.seeds + 1))
    mine = scenario.with_overrides(dict(switch.ours))
    here = ours(Model.of(mine), run(mine, seeds=seeds, out=STORE, progress=False))
    there = _theirs(scenario.with_overrides(dict(switch.exported)), switch.words, seeds)
    return tuple(agreement(here, there, certain=Model.of(scenario).deterministic))


def _theirs(scenario: Scenario, words: Sequence[str], seeds: list[int]) -> dict[int, Measured]:
    model = Model.of(scenario)
    home = STORE / scenario.label / "crosscheck"
    plain = run_seeds(Ns3(), model, seeds, home / "ns3", workers=WORKERS, progress=False)
    if not words:
        return plain
    folder = home / "-".join(["ns3", *(word.strip("-").replace(":", "") for word in words)])
    return run_seeds(Program(tuple(words), built=home / "ns3"), model, seeds, folder, workers=WORKERS, progress=False)


def section(found: Sequence[Found]) -> Iterator[str]:
    """Write the results of all cases."""
    yield f"## {len(found)} scenarios in ns-3 {Ns3().version()}\n"
    yield f"Measures that are {' / '.join(Agreement)}, as it is and in the last column of the scenario's own table:\n"
    yield "| scenario | description | runs a side | as it is | with switches |"
    yield "|---|---|---:|---:|---:|"
    for one in found:
        last = _counts(one.last) if one.case.switches else ""
        yield f"| `{one.case.name}` | {one.case.about} | {one.case.seeds} | {_counts(one.plain)} | {last} |"
    plain = _counts([line for one in found for line in one.plain])
    last = _counts([line for one in found for line in one.last])
    yield f"| **all** | | | {plain} | {last} |\n"
    yield f"Programs for ns-3 cannot have, of ours, {', '.join(f'`{name}`' for name in _missing())}.\n"
    for one in found:
        yield from _case(one)


def _counts(lines: Sequence[Line]) -> str:
    counts = Counter(line.agreement for line in lines)
    return " / ".join(str(counts[kind]) for kind in Agreement)


def _missing() -> Iterator[str]:
    """Yield the disciplines that ns-3 does not have; those that need classes are among them."""
    for discipline in aqmlab.disciplines():
        case = Case(discipline.name, "", f'aqm = "{discipline.name}"\n', tcp())
        with contextlib.suppress(ScenarioError):
            model = Model.of(Scenario.from_text(case.text, filename=case.name))
            if not inexpressible(Ns3().differences(model)):
                continue
        yield discipline.name


def _case(one: Found) -> Iterator[str]:
    yield f"### `{one.case.name}`: {one.case.about}\n"
    yield f"| measure | here | ns-3 | {' | '.join(one.columns)} |"
    yield "|---" * (len(one.columns) + 3) + "|"
    for place, line in enumerate(one.plain):
        if line.ours.mean or line.theirs.mean:
            title, factor = SHOWN[line.measure]
            cells = [f"{title}, {line.place}", f"{line.ours.mean * factor:.4g}", f"{line.theirs.mean * factor:.4g}"]
            yield f"| {' | '.join([*cells, *(column[place].words for column in one.columns.values())])} |"
    yield f"\n{one.case.why}\n" if one.case.why else ""


def report(only: Sequence[str] = ()) -> tuple[str, bool]:
    """Text for the validation report, and whether no disagreement is left with the switches."""
    if why := Ns3().missing():
        return f"Not compared: {why}.", False
    found = []
    for case in CASES:
        if not only or case.name in only:
            found.append(compare(case))
            for title, lines in found[-1].columns.items():
                told = "; ".join(f"{line.measure} {line.place} {line.words}" for line in lines if line.theirs.mean)
                print(f"{case.name}, {title}: {told}", file=sys.stderr, flush=True)
    shown = all(line.agreement is not Agreement.DIFFERS for one in found for line in one.last)
    return "\n".join([HEAD, *section(found)]), shown


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a scenario")
    options = parser.parse_args(arguments)
    text, shown = report(options.only)
    print(text)
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
