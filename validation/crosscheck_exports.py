"""Every exported script runs unmodified: all scenarios of the cross-checks, written for every program, and run once.

`report` is the page ``docs/validation/crosscheck-exports.md``. Runs that are in ``results/crosscheck`` are not done
again, so it can be stopped at any time.

    python validation/crosscheck_exports.py [--only NAME] [--to ns3]
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import crosscheck_cases
import crosscheck_ns3_cases
from aqmlab.interop.crosscheck.running import run_seeds
from aqmlab.interop.crosscheck.tool import Tool, ToolError
from aqmlab.interop.crosscheck.tools import HOME, tool
from aqmlab.interop.differences import inexpressible
from aqmlab.interop.model import Model
from aqmlab.scenario.file import Scenario

TITLE = "Exported scripts run unmodified"
STORE = Path(__file__).resolve().parents[1] / "results" / "crosscheck"
CASES: list[crosscheck_cases.Case | crosscheck_ns3_cases.Case] = [*crosscheck_cases.NS2, *crosscheck_ns3_cases.CASES]
RUNS = "runs"
NOT_RUN = "not run"
HEAD = """Every scenario of the cross-checks with [ns-2](crosscheck.md) and [ns-3](crosscheck-ns3.md) is exported for
all three programs by `aqmlab export`, and each script runs once, unmodified, with seed 1. If a program cannot express
a scenario, its script names the reason and ends with an error; the table has that reason.
"""


@dataclass(frozen=True)
class Outcome:
    """Result of a scenario in a program: "runs", the name of the inexpressible part, or an error."""

    words: str
    failed: bool = False


def outcome(own: Tool, scenario: Scenario) -> Outcome:
    """Write a scenario for a program, and run it once."""
    model = Model.of(scenario)
    if lacking := inexpressible(own.differences(model)):
        return Outcome(f"no: {lacking[0].name}")
    if own.missing():
        return Outcome(NOT_RUN, failed=True)
    try:
        run_seeds(own, model, [1], STORE / scenario.label / "crosscheck" / own.name, workers=1, progress=False)
    except ToolError as error:
        return Outcome(f"**{error}**", failed=True)
    return Outcome(RUNS)


def section(names: Sequence[str], found: dict[str, dict[str, Outcome]]) -> Iterator[str]:
    """Write the table of all results."""
    tools = [tool(name) for name in names]
    yield f"| scenario | {' | '.join(' '.join(filter(None, (own.title, own.version()))) for own in tools)} |"
    yield "|---" * (len(tools) + 1) + "|"
    for name, outcomes in found.items():
        yield f"| `{name}` | {' | '.join(one.words for one in outcomes.values())} |"
    sums = [Counter(outcomes[own.name].words for outcomes in found.values()) for own in tools]
    yield f"| **{len(found)}** | {' | '.join(f'{sum_[RUNS]} run' for sum_ in sums)} |"
    yield from (f"\nNot run: {why}." for own in tools if (why := own.missing()))


def report(names: Sequence[str] = tuple(HOME), only: Sequence[str] = ()) -> tuple[str, bool]:
    """Text for the validation report, and whether everything that can be expressed has run."""
    found: dict[str, dict[str, Outcome]] = {}
    for case in CASES:
        if only and case.name not in only:
            continue
        scenario = Scenario.from_text(case.text, filename=case.name)
        found[scenario.name] = {name: outcome(tool(name), scenario) for name in names}
        told = ", ".join(f"{name} {one.words}" for name, one in found[scenario.name].items())
        print(f"{scenario.name}: {told}", file=sys.stderr, flush=True)
    shown = not any(one.failed for outcomes in found.values() for one in outcomes.values())
    return "\n".join([HEAD, *section(names, found)]), shown


def main(arguments: list[str] | None = None) -> int:
    """Command line entry; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="a scenario")
    parser.add_argument("--to", dest="names", action="append", choices=list(HOME), help="a program")
    options = parser.parse_args(arguments)
    text, shown = report(options.names or tuple(HOME), options.only)
    print(text)
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
