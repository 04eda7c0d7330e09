"""What a report holds, for each kind of results folder."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from aqmlab import comparison, figures, store
from aqmlab.chart import Chart
from aqmlab.comparison import Comparison
from aqmlab.errors import InputError
from aqmlab.metrics import BY_KEY
from aqmlab.reporting.page import Page
from aqmlab.result import Result
from aqmlab.scenario import Scenario

REPRODUCTION = "reproduction.json"


def report(folder: str | Path, *, pictures: bool = True) -> Path:
    """Build the HTML page of a results folder.

    Parameters
    ----------
    folder
        What `aqmlab run`, `compare` or `reproduce` wrote, or a folder that holds several of these; if reproductions
        are among them, the page begins with the overview over those.
    pictures
        Also write every figure as PNG and SVG into ``figures/`` beside the page.

    Returns
    -------
    Path
        The page, ``report.html`` in that folder.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such results folder")
    if (folder / REPRODUCTION).exists():
        from aqmlab.reproduction import page_of

        return page_of(folder, pictures=pictures)
    if (folder / comparison.RECORD).exists():
        page = Page(f"{folder.name}", "Disciplines side by side on the same traffic.")
        add_comparison(page, Comparison.load(folder))
        return page.write(folder, pictures=pictures)
    reproductions = [entry for entry in sorted(folder.iterdir()) if (entry / REPRODUCTION).exists()]
    runs = [folder] if store.finished_seeds(folder) else _runs_below(folder)
    if not runs and not reproductions:
        raise InputError(f"{folder}: holds no finished run")
    if reproductions:
        from aqmlab.reproduction import overview_of

        page = overview_of(reproductions, folder, pictures=pictures)
    else:
        page = Page(
            folder.name,
            f"{len(runs)} scenario{'s' if len(runs) > 1 else ''}, each figure with its n and 95 % interval.",
        )
    for run in runs:
        if (run / comparison.RECORD).exists():
            add_comparison(page, Comparison.load(run))
        else:
            add_run(page, Result.load(run))
    return page.write(folder, pictures=pictures)


def add_run(page: Page, result: Result) -> None:
    """Add one scenario's results: figures with intervals, links, flows, charts, scenario, provenance."""
    plan = Scenario.from_text(result.scenario_text, filename="scenario.toml") if result.scenario_text else None
    command = f"aqmlab run {scenario_file(result.folder)} --seeds {seeds_text(result.seeds)}"
    page.section(result.name)
    page.text(plan.description if plan and plan.description else f"{len(result.seeds)} runs.")
    page.table(
        intervals(result.summary()),
        caption=f"Link `{result.bottleneck}`: means over {len(result.seeds)} seeds with 95 % Student intervals.",
    )
    if plan is not None:
        page.topology(plan, key=f"topology-{result.name}")
    for chart in _charts(result, plan):
        page.chart(chart, command=command)
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
        f"Differences are taken seed by seed against {found.aqm[0]}."
    )
    for note in found.notes:
        page.text(note, note=True)
    page.table(found.differences, caption="Paired differences with 95 % intervals.", digits=4)
    page.table(found.means, caption="Means with 95 % intervals.")
    disciplines = f"--aqm {','.join(found.aqm)} --queue {found.queue}"
    seeds = seeds_text(next(iter(found.results.values())).seeds)
    command = f"aqmlab compare {scenario_file(found.folder)} {disciplines} --seeds {seeds}"
    for key in found.means["metric"].drop_duplicates():
        page.chart(figures.compared(found, str(key)), command=command)
    if all("queue_samples" in result.tables for result in found.results.values()):
        page.chart(figures.averages_against_time(found), command=command)
    for key in ("throughput_mbps", "loss") if n > 1 else ():
        page.chart(figures.spread(found, key), command=command)
    for result in found.results.values():
        _provenance(page, result, command)


def intervals(summary: pd.DataFrame) -> pd.DataFrame:
    """Give the metrics of a summary table their names for people."""
    table = summary.copy()
    table["metric"] = [BY_KEY[key].title for key in table["metric"]]
    return table.rename(columns={"low": "95 % low", "high": "95 % high"})


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


def _charts(result: Result, plan: Scenario | None) -> list[Chart]:
    found = []
    if "queue_samples" in result.tables:
        found.append(figures.queue_against_time(result))
    if "delay_histogram" in result.tables:
        found.append(figures.delay_distribution(result))
    if "cwnd_samples" in result.tables:
        found.append(figures.windows_against_time(result))
    curves = figures.scenario_curves(plan) if plan is not None else None
    return found if curves is None else [*found, curves]


def _provenance(page: Page, result: Result, command: str) -> None:
    page.heading("Provenance")
    first = result.summaries[0]
    page.text(
        f"aqmlab {first['version']}, scenario `{result.name}` with hash `{result.hash}`, "
        f"seeds {seeds_text(result.seeds)}. Run it again: `{command}`"
    )
    if result.scenario_text:
        page.code(result.scenario_text, fold="Scenario")
    page.code(store.to_json(first["readings"]), fold="Readings: effective parameters of every queue")


def _runs_below(folder: Path) -> list[Path]:
    found = []
    for entry in sorted(p for p in folder.iterdir() if p.is_dir()):
        if (entry / comparison.RECORD).exists() or store.finished_seeds(entry):
            found.append(entry)
    return found
