"""The part of `compare` with ``--tuned``: disciplines at their defaults and at their best."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from aqmlab.cli.output import (
    WIDTH,
    lines_of,
    print_json,
    print_screen,
    print_table,
    print_wrapped,
    say,
    warn,
)
from aqmlab.errors import InputError, counted

if TYPE_CHECKING:
    from aqmlab.scenario.file import Overrides
    from aqmlab.tuning.tuned_outcome import TunedComparison

Tuned = Annotated[
    str | None,
    typer.Option(
        "--tuned",
        help="Tune each first: min delay_p99_ms while loss<=2%.",
        metavar="GOAL",
    ),
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        "--over",
        help="--tuned: a varied condition.",
        metavar="KEY=LOW:HIGH",
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option("--vary", help="--tuned: searched range, [AQM:]KEY=LOW:HIGH.", metavar="RANGE"),
]
Trials = Annotated[
    int | None, typer.Option("--trials", help="--tuned: settings to try of each; 40.", min=1, metavar="N")
]
TrialSeeds = Annotated[
    int | None, typer.Option("--trial-seeds", help="--tuned: seeds of a trial; 3.", min=1, metavar="N")
]
SearchSeed = Annotated[
    int | None,
    typer.Option("--search-seed", help="--tuned: a second search, 2 to 90.", metavar="N"),
]
Report = Annotated[Path | None, typer.Option("--report", help="--tuned: also write a page.", metavar="PAGE")]


def check_without(options: Mapping[str, object]) -> None:
    """Raise if options that need ``--tuned`` are given without it."""
    given = [option for option, value in options.items() if value]
    if given:
        raise InputError(f"{given[0]}: needs --tuned GOAL")


def compare_tuned(
    file: Path,
    goal: str,
    *,
    names: list[str],
    excluded: Mapping[str, object],
    seeds: int | list[int] | None,
    overrides: Overrides,
    trials: int | None,
    trial_seeds: int | None,
    report: Path | None,
    out: Path,
    details: bool,
    as_json: bool,
    how: Mapping[str, Any],
) -> None:
    """Run the comparison and print it.

    Parameters
    ----------
    file, goal, names, overrides, out
        As for `aqmlab.compare_tuned`.
    excluded
        Options that contradict ``--tuned``, with their values.
    seeds
        Number of fresh seeds; None for 20.
    trials, trial_seeds
        The budget; None for the defaults.
    report
        The page to write; None for none.
    details, as_json
        Whether to print all settings, and whether to print JSON instead.
    how
        Further arguments of `aqmlab.compare_tuned`.
    """
    from aqmlab.tuning.tuned_comparison import compare_tuned as work

    given = [option for option, value in excluded.items() if value]
    if given:
        raise InputError(f"--tuned and {given[0]}: cannot be combined")
    if isinstance(seeds, list):
        raise InputError("--seeds: with --tuned it is the number of fresh seeds, not a list")
    if report is not None:
        from aqmlab.reporting.reports import page_file

        page_file(report)
    budget = {"trials": trials, "seeds": trial_seeds, "fresh": seeds}
    asked: dict[str, Any] = {key: value for key, value in budget.items() if value is not None}
    found = work(file, aqm=names, goal=goal, overrides=overrides, out=out, **asked, **how)
    pages: dict[str, str] = {}
    if report is not None:
        from aqmlab.tuning.tuned_page import write_page

        pages = {"report": str(write_page(found, report))}
    if as_json:
        print_json({**found.data(), "folder": str(found.folder), **pages})
        return
    for line in found.notes:
        warn(line)
    _show(found, details=details)
    for path in pages.values():
        say(f"Report: {path}")


def _show(found: TunedComparison, *, details: bool) -> None:
    """Print the answer, a row for each discipline, and the budget; with details all settings."""
    print_screen(
        found.answer(),
        f"{found.name}: {found.goal_words}; {counted(found.seeds[2], 'fresh seed')}",
        lines_of(found.table(), width=WIDTH),
        f"±: the larger half of the 95 % interval. Bounds kept: default, tuned; ?: undecided. Verdicts with Holm's "
        f"correction over {len(found.others)}.{'' if details else ' --details prints all settings.'}",
        found.lines(),
    )
    if details:
        print()
        every = found.settings_table()
        shown = every.drop(columns="queue")
        print_table(shown, title="")
        for row in every.to_dict("records"):
            print_wrapped(f"{row['discipline']}, {row['settings']}: {row['queue']}")
    say(f"Results: {found.folder}")
