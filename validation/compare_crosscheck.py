"""Comparison of scenarios with other simulators: agreements, and causes of differences.

`report` is the page ``docs/validation/crosscheck.md``. Runs that are in ``results/crosscheck`` already are not done
again, so it can be stopped at any time. About half an hour on two cores.

    python validation/compare_crosscheck.py [--only NAME] [--with ns2]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aqmlab.interop.crosscheck.agreement import Agreement, Line, agreement
from aqmlab.interop.crosscheck.checking import cross_check
from aqmlab.interop.crosscheck.ours import ours
from aqmlab.interop.crosscheck.outcome import CrossCheck, Side
from aqmlab.interop.crosscheck.page import SHOWN, margins
from aqmlab.interop.crosscheck.tools import tool
from aqmlab.interop.model import Model
from aqmlab.runs.runner import run
from aqmlab.scenario.file import Scenario
from crosscheck_cases import CASES, Case

TITLE = "The same scenarios in other simulators"
STORE = Path(__file__).resolve().parents[1] / "results" / "crosscheck"
RUNS = (20, 60, 180, 540)
"""Runs a side; each further number only where the one before leaves something undecided."""
HEAD = f"""`aqmlab crosscheck` writes a scenario for another simulator, runs it there and here with seeds of its own,
and tests every measure for equality. All scenarios run 30 s, of which 5 s are warm-up; {RUNS[0]} runs a side, and
{", ".join(map(str, RUNS[1:-1]))} or {RUNS[-1]} where these leave something undecided ({RUNS[1]} where rules differ
anyway). The scripts are those of `aqmlab export`, unmodified. The scenarios are in `validation/crosscheck_cases.py`.

{margins(1.0)}
*The same*: equal to five digits in all runs. Undecided: neither; the difference found is reported.
"""


@dataclass(frozen=True)
class Found:
    """A case, its comparison, and its comparison with the other simulator's rules."""

    case: Case
    check: CrossCheck
    controlled: tuple[Line, ...]
    singles: Mapping[str, tuple[Line, ...]]

    @property
    def side(self) -> Side:
        """The other simulator."""
        return self.check.sides[0]

    @property
    def shown(self) -> bool:
        """Whether it agrees: unmodified, or with the other simulator's rules if these differ."""
        if self.case.other:
            return all(line.agreement is not Agreement.DIFFERS for line in self.controlled)
        return self.side.agrees


def compare(case: Case, name: str) -> Found:
    """Run a case, and again with the other's rules if it has other ones."""
    check = _check(case, name, {})
    controlled: tuple[Line, ...] = ()
    if case.control and check.sides[0].lines:
        controlled = _check(case, name, case.control).sides[0].lines
    theirs = check.sides[0].measured
    singles = {}
    if theirs:
        for title, overrides in case.singles.items():
            scenario = _scenario(case, overrides)
            model = Model.of(scenario)
            result = run(scenario, seeds=len(check.seeds), out=STORE, progress=False)
            singles[title] = tuple(agreement(ours(model, result), theirs, certain=model.deterministic))
    return Found(case, check, controlled, singles)


def _check(case: Case, name: str, overrides: Mapping[str, Any]) -> CrossCheck:
    scenario = _scenario(case, overrides)
    for runs in RUNS[:2] if case.other else RUNS:
        check = cross_check(scenario, programs=name, seeds=runs, out=STORE, progress=False)
        if all(line.agreement is not Agreement.UNDECIDED for line in check.sides[0].lines):
            break
    return check


def _scenario(case: Case, overrides: Mapping[str, Any]) -> Scenario:
    return Scenario.from_text(case.text, filename=case.name, overrides=dict(overrides))


def section(name: str, found: Sequence[Found]) -> Iterator[str]:
    """Write the results of all cases of one simulator."""
    title = f"{found[0].side.title} {found[0].side.version}"
    same = [one for one in found if not one.case.other]
    other = [one for one in found if one.case.other]
    yield f"## {title}\n"
    yield f"{len(same)} scenarios that it can express exactly:\n"
    yield from _table(same)
    for one in same:
        yield from _unequal(one)
    if other:
        yield f"\n### Scenarios for which {found[0].side.title} has other rules, or no counterpart\n"
        for one in other:
            yield from _other(one)


def _table(found: Sequence[Found]) -> Iterator[str]:
    yield "| scenario | description | runs a side | the same | equal | undecided | differs |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    total: Counter[Agreement] = Counter()
    for one in found:
        counts = Counter(line.agreement for line in one.side.lines)
        total += counts
        cells = " | ".join(str(counts[kind]) for kind in _KINDS)
        yield f"| `{one.case.name}` | {one.case.about} | {len(one.check.seeds)} | {cells} |"
    yield f"| **all** | | | {' | '.join(str(total[kind]) for kind in _KINDS)} |"


def _unequal(one: Found) -> Iterator[str]:
    lines = [line for line in one.side.lines if line.agreement in (Agreement.UNDECIDED, Agreement.DIFFERS)]
    if lines or one.side.differences:
        yield f"\n`{one.case.name}`:"
        for line in lines:
            yield f"- {_told(line)}"
        for difference in one.side.differences:
            yield f"- known, {difference.name}: {difference.text}"
    if one.case.why and lines:
        yield f"- {one.case.why}"


def _other(one: Found) -> Iterator[str]:
    yield f"**`{one.case.name}`**, {one.case.about}. `crosscheck` reports:\n"
    for difference in one.side.differences:
        yield f"- {difference.name} ({difference.kind}): {difference.text}"
    if one.side.why_not:
        yield f"\nNot run. {one.case.why}\n"
        return
    heads = ["as it is", *one.singles, *(["with all rules of the other"] if one.controlled else [])]
    columns = [one.side.lines, *one.singles.values(), *([one.controlled] if one.controlled else [])]
    yield f"\n| measure | {' | '.join(heads)} |"
    yield "|---" * (len(heads) + 1) + "|"
    for place, line in enumerate(one.side.lines):
        if line.ours.mean or line.theirs.mean:
            cells = " | ".join(column[place].words for column in columns)
            yield f"| {SHOWN[line.measure][0].partition(',')[0]}, {line.place} | {cells} |"
    yield f"\n{one.case.why}\n" if one.case.why else ""


def _told(line: Line) -> str:
    title, factor = SHOWN[line.measure]
    own, other = line.ours.mean * factor, line.theirs.mean * factor
    return f"{title}, {line.place}: {own:.5g} here, {other:.5g} there; {line.words}"


_KINDS = (Agreement.SAME, Agreement.EQUAL, Agreement.UNDECIDED, Agreement.DIFFERS)


def report(names: Sequence[str] = tuple(CASES), only: Sequence[str] = ()) -> tuple[str, bool]:
    """Text for the validation report, and whether everything in it is shown."""
    parts = [HEAD]
    shown = True
    for name in names:
        if why := tool(name).missing():
            parts.append(f"Not compared: {why}.")
            shown = False
            continue
        found = []
        for case in CASES[name]:
            if not only or case.name in only:
                found.append(compare(case, name))
                print(f"{name} {case.name}: {_short(found[-1])}", file=sys.stderr, flush=True)
        shown = shown and all(one.shown for one in found)
        parts.append("\n".join(section(name, found)))
    return "\n".join(parts), shown


def _short(one: Found) -> str:
    counts = Counter(line.agreement for line in one.side.lines)
    return one.side.why_not or ", ".join(f"{n} {kind}" for kind, n in counts.items())


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a scenario")
    parser.add_argument("--with", dest="names", action="append", choices=list(CASES), help="a simulator")
    options = parser.parse_args(arguments)
    text, shown = report(options.names or tuple(CASES), options.only)
    print(text)
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
