"""Compare disciplines on the same traffic: same seeds, and the test of the differences that suits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from aqmlab.errors import OVERRIDE, StorageError
from aqmlab.results import folders
from aqmlab.results.displays import Shown
from aqmlab.results.evaluation import Evaluation, together
from aqmlab.results.result import Result
from aqmlab.results.summary import ONE_RUN
from aqmlab.runs.arguments import Seeds, as_scenario, seed_list
from aqmlab.runs.comparison_exports import csv_text, latex_text
from aqmlab.runs.comparison_matrix import Matrix, answer, matrix_of
from aqmlab.runs.comparison_settings import (
    DEFINITION,
    Settings,
    baseline_of,
    definition,
    entries_of,
    exchange,
    folder_of,
    lacking,
    managed_queues,
)
from aqmlab.runs.comparison_tables import differences_table, means_table, pairing_lines
from aqmlab.runs.runner import run_plans
from aqmlab.runs.until import Until, run_until_narrow
from aqmlab.scenario.file import Overrides, Scenario
from aqmlab.scenario.toml_text import inline
from aqmlab.statistics.intervals import LEVEL
from aqmlab.statistics.sequential import MOST, Stopping, spent

RECORD = folders.COMPARISON
SHAPE: dict[str, type] = {"name": str, "queue": str, "link": str, "seeds": list, "runs": list, "notes": list}
"""Keys of the record of a comparison, with their types."""


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Disciplines side by side.

    Attributes
    ----------
    name
        The scenario's name.
    queue, link
        The queue whose discipline was exchanged, and the link that is measured.
    aqm
        The labels of the compared entries: names of disciplines, and labels of `settings`. Differences are against
        the first.
    results
        Label to its result.
    means
        Per discipline and metric: mean, sd, n, low, high, and how the interval was made.
    differences
        Per discipline (but the first) and metric: the difference of the means, its interval, relative size in %, p,
        p after correction for many questions, verdict, the test that was chosen, what pairing by seed achieved and
        what share of independent runs it needs, and sizes of the effect (`aqmlab.runs.comparison_tables`).
    notes
        Keys of the queue's table that were left out, since a discipline does not know them, and the effective
        parameters in which each discipline differs from the first.
    folder
        Where the runs are, if they are on disk.
    evaluation
        How the runs of the call that made this were evaluated; None if it was only loaded.
    stopping
        How it ended if it ran until intervals are narrow enough.
    level
        Confidence at which the intervals are made, so that 95 % hold: more if their width ended the runs.
    settings
        The settings that were given: label to the queue's table, without what stays of the scenario's.
    """

    name: str
    queue: str
    link: str
    aqm: list[str]
    results: dict[str, Result]
    means: pd.DataFrame
    differences: pd.DataFrame
    notes: list[str] = field(default_factory=list)
    folder: Path | None = None
    evaluation: Evaluation | None = field(default=None, compare=False, repr=False)
    stopping: Stopping | None = field(default=None, compare=False, repr=False)
    level: float = LEVEL
    settings: Settings = field(default_factory=dict)

    @property
    def seeds(self) -> list[int]:
        """The seeds of every discipline."""
        return next(iter(self.results.values())).seeds

    @property
    def tests(self) -> int:
        """Number of differences that were tested, over which p is corrected."""
        return int(self.differences["p"].notna().sum()) if len(self.differences) else 0

    @property
    def distinct_runs(self) -> int:
        """Number of runs of each discipline that tell something: 1 if no seed changed anything."""
        return max(result.distinct_runs for result in self.results.values())

    def pairing_lines(self) -> list[str]:
        """Say what pairing by seed gained, a line a discipline."""
        return pairing_lines(self.differences)

    def settings_lines(self) -> list[str]:
        """Return a line for each discipline whose own settings were replaced by given ones."""
        own = {label: dict(table) for label, table in self.settings.items() if table["aqm"] == label}
        return [
            f"{label} has the settings of --with, {inline(given)}, in place of the scenario's; under another label "
            "both are compared"
            for label, table in own.items()
            if (given := {key: value for key, value in table.items() if key != "aqm"})
        ]

    @property
    def warnings(self) -> list[str]:
        """Warnings about seeds that change nothing, and about overrides that some of the disciplines lack."""
        overrides = [note for note in self.notes if note.startswith(f"{OVERRIDE} ")]
        return [ONE_RUN, *overrides] if self.distinct_runs < len(self.seeds) else overrides

    def answer(self) -> str:
        """Return a sentence that lists the decided and the undecided differences of queue, loss and goodput."""
        return answer(self.differences)

    def matrix(self) -> Matrix:
        """Return means, half-widths and verdicts, labels by metrics."""
        return matrix_of(self.means, self.differences)

    def csv(self) -> str:
        """Return a row for each label and metric as CSV: mean, interval, difference against the first, verdict."""
        return csv_text(self.means, self.differences)

    def latex(self) -> str:
        r"""Return the matrix as a table for LaTeX (package booktabs): mean \pm half-width, arrows where decided."""
        runs, tests = self.distinct_runs, self.tests
        return latex_text(self.matrix(), name=self.name, link=self.link, runs=runs, level=self.level, tests=tests)

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Read a comparison from its folder."""
        folder = Path(folder)
        record = folders.read_record(folder / RECORD, SHAPE)
        if not _is_record(record):
            raise StorageError(f"{folder / RECORD}: is damaged; delete it and run the same command again")
        results = {name: Result.load(folder / label, seeds=record["seeds"]) for name, label in record["runs"]}
        rest = {"notes": record["notes"], "settings": record.get("settings", {}), "folder": folder}
        level = record.get("level", LEVEL)
        return comparison_of(record["name"], record["queue"], record["link"], results, level=level, **rest)


def compare(
    scenario: str | Path | Scenario,
    *,
    aqm: Sequence[str] = (),
    settings: Settings | None = None,
    baseline: str | None = None,
    queue: str | None = None,
    link: str | None = None,
    seeds: Seeds = None,
    overrides: Overrides = (),
    workers: int | None = None,
    out: str | Path | None = None,
    progress: bool = True,
    engine: str = "auto",
    until: Until | None = None,
    max_runs: int = MOST,
) -> Comparison:
    """Run a scenario with several disciplines in one queue, on the same seeds.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    aqm
        Names of disciplines; with `settings` at least two in all.
    settings
        Settings of disciplines, by label: ``{"red-tight": {"aqm": "red", "max_th": "20p"}}``. Under the name of a
        discipline they are those of that discipline. A table overrides what stays of the scenario's.
    baseline
        The discipline or label against which differences are taken; default: the first.
    queue
        The ``[queue.NAME]`` table whose discipline is exchanged, or several: ``"down,up"``. Their other parameters
        stay, as far as the discipline knows them. Default: ``bottleneck``, or else those of the links ``down`` and
        ``up``.
    link
        The link to measure; default: the first link with the first of these queues.
    seeds, overrides, workers, out, progress, engine
        As for `aqmlab.run`.
    until, max_runs
        As for `aqmlab.run`, but about the differences against the first discipline: ``ci(goodput)=1%`` asks for an
        interval of the difference of half a width of 1 % of the first discipline's mean.
    """
    plan = as_scenario(scenario, overrides=overrides)
    entries = entries_of(aqm, settings or {})
    first = baseline_of(list(entries), baseline)
    entries = {first: entries[first], **entries}
    queues = managed_queues(plan, queue)
    queue = ",".join(queues)
    measured = link or next(one.name for one in plan.links if one.queue == queues[0])
    notes = lacking(plan, queues, entries)
    plans = {
        label: observing(exchange(plan, queues, label, table, notes), measured) for label, table in entries.items()
    }
    notes += _what_differs(plans, measured)
    root = folder = None
    if out is not None:
        text = definition(plan, queue, measured, entries)
        root, folder = Path(out), folder_of(Path(out), plan, list(plans), text)
        folders.prepare(folder, scenario=text, name=DEFINITION)
    places = {label: (own, folder and folder / label) for label, own in plans.items()}
    evaluations: list[Evaluation] = []

    def more(wanted: Sequence[int]) -> dict[str, Result]:
        found, evaluation = run_plans(
            places, list(wanted), root, title="compare", workers=workers, progress=progress, engine=engine
        )
        evaluations.append(evaluation)
        return found

    stopping = None
    if until is None:
        results = more(seed_list(seeds, plan))
    else:
        results, stopping = run_until_narrow(until, more, seeds=seeds, most=max_runs, link=measured)
    level = LEVEL if stopping is None else spent(stopping.level)
    found = comparison_of(
        plan.name, queue, measured, results, level=level, notes=notes, folder=folder,
        settings={label: entries[label] for label in settings or {}},
        evaluation=together(evaluations), stopping=stopping,
    )  # fmt: skip
    if folder is not None:
        _save(found, folder, plan)
    return found


def _save(found: Comparison, folder: Path, plan: Scenario) -> None:
    """Write the record by which `Comparison.load` finds the runs."""
    record: dict[str, Any] = {key: getattr(found, key) for key in ("name", "queue", "link", "seeds", "notes")}
    record["runs"] = [[label, label] for label in found.aqm]
    record |= {"level": found.level} if found.level != LEVEL else {}
    record |= {"settings": found.settings} if found.settings else {}
    folders.save(folder / "scenario.toml", plan.normalized)
    folders.save_record(folder / RECORD, record)


def _is_record(record: dict[str, Any]) -> bool:
    """Whether the values of a record of a comparison can be used; the folders of its runs lie in its own."""
    pairs = record["runs"]
    return (
        all(type(seed) is int and seed >= 0 for seed in record["seeds"])
        and bool(record["seeds"])
        and len(pairs) > 1
        and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
        and all(isinstance(text, str) for text in (*record["notes"], *(text for pair in pairs for text in pair)))
        and all(label not in ("", ".", "..") and "/" not in label and "\0" not in label for _, label in pairs)
        and isinstance(level := record.get("level", LEVEL), float)
        and 0.0 < level < 1.0
        and isinstance(settings := record.get("settings", {}), dict)
        and all(isinstance(table, dict) and isinstance(table.get("aqm"), str) for table in settings.values())
    )


def _what_differs(plans: dict[str, Scenario], link: str) -> list[str]:
    """Name the effective parameters in which each discipline differs from the first, where both have them."""
    settings = {
        name: next(entry.parameters for entry in plan.links if entry.name == link) for name, plan in plans.items()
    }
    (first, base), *others = settings.items()
    notes = []
    for name, own in others:
        changed = [f"{key} {base[key]} -> {own[key]}" for key in base if key in own and own[key] != base[key]]
        notes.append(f"{first} -> {name}: {', '.join(changed) or 'no common parameter differs'}")
    return notes


def comparison_of(
    name: str,
    queue: str,
    link: str,
    results: dict[str, Result],
    *,
    level: float = LEVEL,
    **rest: Any,  # noqa: ANN401 - fields
) -> Comparison:
    """Make a comparison of results over the same seeds; `rest` are further fields."""
    means, differences = (table(results, link, level=level) for table in (means_table, differences_table))
    return Comparison(name, queue, link, list(results), results, means, differences, level=level, **rest)


def observing(plan: Scenario, link: str) -> Scenario:
    """Return the scenario with this link observed, whatever its discipline."""
    observed = plan.probe["links"]
    return plan if link in observed else plan.with_overrides({"probe.links": inline([*observed, link])})
