"""Helpers for the folder of every report: its figures, its runs, and the table over several scenarios."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aqmlab.errors import InputError, counted, unknown
from aqmlab.figures import averages_against_time
from aqmlab.figures.runs import has_average
from aqmlab.reporting import plots
from aqmlab.reporting.across import across, differing
from aqmlab.reporting.chosen import of_comparison, of_run
from aqmlab.reporting.provenance import program
from aqmlab.reporting.run import plan_of
from aqmlab.reporting.sweep import of_sweep, sweeps_in
from aqmlab.results import folders
from aqmlab.results.quantities import in_order, quantity, shown_in
from aqmlab.results.result import Result
from aqmlab.runs import comparison
from aqmlab.runs.comparison import Comparison

if TYPE_CHECKING:
    from aqmlab.figures.chart import Chart
    from aqmlab.reporting.page import Page

REPRODUCTION = folders.REPRODUCTION
MOST_SETTINGS = 6
"""Settings in which scenarios differ that have a column each."""
MANY_SCENARIOS = 20
"""With more scenarios than that a page has a table of them, and each has a page of its own."""


def figure(folder: str | Path, key: str, *, out: str | Path | None = None, size: str | None = None) -> list[Path]:
    """Draw one figure of a results folder's page.

    Parameters
    ----------
    folder
        As for `aqmlab.report`; for a reproduction, that draws all figures.
    key
        The figure's key, which its place on the page names.
    out
        The file: ``.png``, ``.svg`` or ``.pdf``. Default: PNG and SVG in ``figures/`` of the folder.
    size
        ``column`` (88 mm wide) or ``wide`` (180 mm), for a paper: smaller letters, no title. Default: for the screen.

    Returns
    -------
    list of Path
        The files.
    """
    folder = Path(folder)
    must_exist(folder)
    plots.look(size)  # an unknown one is an error before any work
    if (folder / REPRODUCTION).exists():
        raise InputError(f"{folder}: is of a reproduction; its figures are drawn together: aqmlab report {folder}")
    known = []
    for chart in itertools.chain(charts_of(folder), _further(folder)):
        if chart.key == key:
            break
        known.append(chart.key)
    else:
        known = list(dict.fromkeys(known))
        raise InputError(unknown("figure", key, known, most=len(known)))  # no other place lists them
    if out is None:
        return plots.save(chart, folder / "figures", size=size)
    return [plots.save_as(chart, Path(out), size=size)]


def _further(folder: Path) -> Iterator[Chart]:
    """Yield the figures that a page leaves out: other metrics of sweeps, samples and averages of compared queues."""
    if (folder / comparison.RECORD).exists():
        found = Comparison.load(folder)
        results = list(found.results.values())
        if all("queue_samples" in one.tables for one in results):
            yield averages_against_time(found, quantity="queue")
            if all(has_average(one.queue_samples["average"]) for one in results):
                yield averages_against_time(found, quantity="average")
        return
    for sweep in sweeps_in(folder):
        yield from of_sweep(sweep, [key for key in sweep.metrics if key not in shown_in("sweep-report")])


def charts_of(folder: Path) -> Iterator[Chart]:
    """Yield the figures of a run, of a comparison, or over the sweeps and the scenarios in a folder."""
    if (folder / comparison.RECORD).exists():
        yield from of_comparison(Comparison.load(folder))
        return
    if folders.finished_seeds(folder):
        result = Result.load(folder)
        yield from of_run(result, plan_of(result))
        return
    sweeps = sweeps_in(folder)
    runs = [run for run in runs_below(folder) if not (run / comparison.RECORD).exists()]
    if not runs and not sweeps:
        inside = [run.name for run in runs_below(folder)]
        if inside:
            raise InputError(f"{folder}: a figure is of one folder in it ({', '.join(inside[:4])})")
        raise folders.without_runs(folder)
    for sweep in sweeps:
        yield from of_sweep(sweep)
    yield from across([Result.load(run) for run in runs])


def add_scenarios(page: Page, results: list[Result], folder: Path) -> None:
    """Add what several scenarios are together: a table of their means, figures over what they differ in."""
    page.section("Scenarios")
    names = pd.DataFrame([{"scenario": one.name, "hash": one.hash[:8], "n": len(one.seeds)} for one in results])
    means = pd.DataFrame([one.metrics().drop(columns="seed").mean() for one in results])
    for key in in_order(means.columns):
        means[key] *= quantity(key).scale
    means = means.rename(columns={key: quantity(key).label for key in in_order(means.columns)})
    settings = differing(results)
    if len(settings.columns) > MOST_SETTINGS:
        page.text(f"The scenarios differ in {counted(len(settings.columns), 'setting')}.")
        settings = settings.iloc[:, :0]
    page.table(
        pd.concat([names, settings, means], axis="columns"),
        caption=f"Means over the seeds at each scenario's link, {counted(len(results), 'scenario')}.",
    )
    for chart in across(results):
        page.chart(chart, command=f"{program(page)} report {page.path_to(folder)} --figure {chart.key}")
    versions = ", ".join(sorted({str(one.summaries[0]["version"]) for one in results}))
    page.text(f"aqmlab {versions}. The folder of each scenario ends in its hash and holds its `scenario.toml`.")
    if len(results) > MANY_SCENARIOS:
        labels = ", ".join(one.folder.name for one in results[:3] if one.folder is not None)
        page.text(f"Each has a page of its own: `aqmlab report` with its folder in `{folder.name}` ({labels}, ...).")


def must_exist(folder: Path) -> None:
    """Raise an error unless a folder is there."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such results folder")


def runs_below(folder: Path) -> list[Path]:
    """List the folders of runs and of comparisons in a folder."""
    found = []
    for entry in sorted(p for p in folder.iterdir() if p.is_dir()):
        if (entry / comparison.RECORD).exists() or folders.finished_seeds(entry):
            found.append(entry)
    return found
