"""Sections of a report: of a run, of a comparison, of several scenarios."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from aqmlab.errors import InputError, unknown
from aqmlab.execution import comparison
from aqmlab.execution.comparison import Comparison
from aqmlab.execution.comparison_settings import words_again
from aqmlab.execution.comparison_tables import DIFFERENCE_COLUMNS
from aqmlab.plotting import plots
from aqmlab.plotting.figures.runs import slug
from aqmlab.reporting.across import across, differing
from aqmlab.reporting.chosen import of_comparison, of_run
from aqmlab.reporting.page import Page
from aqmlab.results.metrics import in_order, metric
from aqmlab.results.result import Result
from aqmlab.results.summary import level_words
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.toml_text import inline
from aqmlab.storage import folders

if TYPE_CHECKING:
    from aqmlab.plotting.chart import Chart

REPRODUCTION = "reproduction.json"
MANY_FLOWS = 2000
"""With more flows than that a page does without what needs the whole scenario laid out: its network, its models."""
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
    for chart in charts_of(folder):
        if chart.key == key:
            break
        known.append(chart.key)
    else:
        raise InputError(unknown("figure", key, known))
    if out is None:
        return plots.save(chart, folder / "figures", size=size)
    return [plots.save_as(chart, Path(out), size=size)]


def charts_of(folder: Path) -> Iterator[Chart]:
    """Yield the figures of a run, of a comparison, or over the scenarios in a folder."""
    if (folder / comparison.RECORD).exists():
        yield from of_comparison(Comparison.load(folder))
    elif folders.finished_seeds(folder):
        result = Result.load(folder)
        yield from of_run(result, _plan(result))
    else:
        runs = [run for run in runs_below(folder) if not (run / comparison.RECORD).exists()]
        if not runs:
            raise InputError(f"{folder}: holds no finished run")
        yield from across([Result.load(run) for run in runs])


def add_scenarios(page: Page, results: list[Result], folder: Path) -> None:
    """Add what several scenarios are together: a table of their means, figures over what they differ in."""
    page.section("Scenarios")
    names = pd.DataFrame([{"scenario": one.name, "hash": one.hash[:8], "n": len(one.seeds)} for one in results])
    means = pd.DataFrame([one.metrics().drop(columns="seed").mean() for one in results])
    means = means.rename(columns={key: metric(key).label for key in in_order(means.columns)})
    settings = differing(results)
    if len(settings.columns) > MOST_SETTINGS:
        page.text(f"The scenarios differ in {len(settings.columns)} settings.")
        settings = settings.iloc[:, :0]
    page.table(
        pd.concat([names, settings, means], axis="columns"),
        caption=f"Means over the seeds at each scenario's link, {len(results)} scenarios.",
    )
    for chart in across(results):
        page.chart(chart, command=f"aqmlab report {folder.name} --figure {chart.key}")
    versions = ", ".join(sorted({str(one.summaries[0]["version"]) for one in results}))
    page.text(f"aqmlab {versions}. The folder of each scenario ends in its hash and holds its `scenario.toml`.")
    if len(results) > MANY_SCENARIOS:
        labels = ", ".join(one.folder.name for one in results[:3] if one.folder is not None)
        page.text(f"Each has a page of its own: `aqmlab report` with its folder in `{folder.name}` ({labels}, ...).")


def add_run(page: Page, result: Result, *, title: str = "") -> None:
    """Add one scenario's results: figures with intervals, links, flows, charts, scenario, provenance.

    The section has the scenario's name for a title unless another is given.
    """
    plan = _plan(result)
    described = tomllib.loads(result.scenario_text).get("description", "")
    command = f"aqmlab run {scenario_file(result.folder)} --seeds {seeds_text(result.seeds)}"
    page.section(title or result.name)
    page.text(described or f"{len(result.seeds)} runs.")
    page.table(
        intervals(result.summary()),
        caption=f"Link `{result.bottleneck}`: means over the seeds, {level_words(len(result.seeds), result.level)}.",
    )
    if plan is not None:
        page.topology(plan, key=slug(f"topology {result.name}"))
    elif result.scenario_text:
        flows = len(result.flows) // len(result.seeds)
        page.text(f"The network of {flows:,} flows is not drawn here; `aqmlab draw` with the scenario's file draws it.")
    for chart in of_run(result, plan):
        page.chart(chart, command=_again(command, result.folder, chart.key))
    page.heading("Links")
    page.table(
        mean_rows(notable(result.links), "link"),
        caption="Means over the seeds, per link that has a discipline other than drop-tail or lost a packet.",
    )
    page.heading("Flows")
    page.table(mean_rows(result.flows, "group"), caption="Means over flows and seeds, per group of flows.")
    _provenance(page, result, command)


def add_comparison(page: Page, found: Comparison) -> None:
    """Add a comparison: means, paired differences, charts."""
    page.section(f"{found.name}: {', '.join(found.aqm)}")
    n = len(next(iter(found.results.values())).seeds)
    page.text(
        f"The same {n} seed{'s' if n > 1 else ''} for every discipline in queue `{found.queue}`; "
        f"measured at link `{found.link}`. "
        f"Differences are against {found.aqm[0]}, paired by seed where that helps."
    )
    for label, table in found.settings.items():
        page.text(f"{label}: `{inline(table)}`, the rest as in the scenario.", note=True)
    for note in found.notes:
        page.text(note, note=True)
    words = level_words(n, found.level)
    shown = found.differences[list(DIFFERENCE_COLUMNS)]
    page.table(shown, caption=f"Differences against {found.aqm[0]}, {words}; verdicts by Holm's p.", digits=4)
    for line in found.pairing_lines():
        page.text(line, note=True)
    page.table(found.means, caption=f"Means, {words}.")
    command = f"aqmlab compare {scenario_file(found.folder)} {_options(found)}"
    for chart in of_comparison(found):
        page.chart(chart, command=_again(command, found.folder, chart.key))
    for result in found.results.values():
        _provenance(page, result, command)


def _options(found: Comparison) -> str:
    """Return the options of `aqmlab compare` that make this comparison again."""
    plain, settings = words_again(found.aqm, found.settings)
    words = ["--aqm", ",".join(plain)] if plain else []
    for text in settings:
        words += ["--with", text]
    return shlex.join([*words, "--queue", found.queue, "--seeds", seeds_text(found.seeds)])


def intervals(summary: pd.DataFrame) -> pd.DataFrame:
    """Give the metrics of a summary table their names for people."""
    table = summary.copy()
    table["metric"] = [metric(key).title for key in table["metric"]]
    return table


def notable(links: pd.DataFrame) -> pd.DataFrame:
    """Leave out the links at which nothing happens: drop-tail, and never a drop."""
    lossy = links[links["drops"] > 0]["link"].unique()
    return links[(links["aqm"] != "drop-tail") | links["link"].isin(lossy)]


def mean_rows(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Average the numbers of a table per link or group."""
    numbers = [c for c in table.columns if c != "seed" and pd.api.types.is_numeric_dtype(table[c])]
    return table.groupby(by, sort=False)[numbers].mean().reset_index()


def scenario_file(folder: Path | None) -> str:
    """Where the scenario of a results folder lies; it has the overrides in it, so it repeats the runs by itself."""
    return "scenario.toml" if folder is None else f"{folder.name}/scenario.toml"


def seeds_text(seeds: list[int]) -> str:
    """Write seeds as the command line takes them.

    >>> seeds_text([1, 2, 3]), seeds_text([4, 7])
    ('3', '4,7')
    """
    return str(len(seeds)) if seeds == list(range(1, len(seeds) + 1)) else ",".join(map(str, seeds))


def _again(command: str, folder: Path | None, key: str) -> str:
    """Return the commands that run a scenario again and draw one of its figures."""
    return command if folder is None else f"{command} && aqmlab report {folder.name} --figure {key}"


def _plan(result: Result) -> Scenario | None:
    """Return the scenario of a result, unless there is none or it has very many flows."""
    if not result.scenario_text or len(result.flows) > MANY_FLOWS * len(result.seeds):
        return None
    return Scenario.from_text(result.scenario_text, filename="scenario.toml")


def must_exist(folder: Path) -> None:
    """Raise an error unless a folder is there."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such results folder")


def _provenance(page: Page, result: Result, command: str) -> None:
    page.heading("Provenance")
    first = result.summaries[0]
    page.text(
        f"aqmlab {first['version']}, scenario `{result.name}` with hash `{result.hash}`, "
        f"seeds {seeds_text(result.seeds)}. Run it again: `{command}`"
    )
    if result.scenario_text:
        page.code(result.scenario_text, fold="Scenario")
    page.code(folders.to_json(first["readings"]), fold="Readings: effective parameters of every queue")


def runs_below(folder: Path) -> list[Path]:
    """List the folders of runs and of comparisons in a folder."""
    found = []
    for entry in sorted(p for p in folder.iterdir() if p.is_dir()):
        if (entry / comparison.RECORD).exists() or folders.finished_seeds(entry):
            found.append(entry)
    return found
