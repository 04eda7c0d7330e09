"""The report of a run: title and finding in words, delay against goodput, a compact table, then the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from aqmlab.errors import counted, joined
from aqmlab.figures.runs import slug
from aqmlab.reporting.chosen import of_run
from aqmlab.reporting.provenance import figure_command, run_command
from aqmlab.results.quantities import quantity
from aqmlab.results.summary import level_words
from aqmlab.results.tins import tins_of
from aqmlab.runs.comparison_matrix import Cell
from aqmlab.scenario.file import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from aqmlab.figures.chart import Chart
    from aqmlab.reporting.page import Page
    from aqmlab.results.result import Result

MANY_FLOWS = 2000
"""With more flows than that a page does without what needs the whole scenario laid out: its network, its models."""
MOST_COLUMNS = 6
"""Links or groups of flows that have a column each; more have a row each."""
FIRST = ("ellipses", "queue-")
"""Keys of the figures that a page begins with: the first that there is."""
EVIDENCE = "Evidence"


def run_title(result: Result) -> str:
    """Return a title in words: the discipline, the link and the traffic."""
    rows = result.links[result.links["link"] == result.bottleneck]
    flows = len(result.flows) // max(len(result.seeds), 1)
    traffic = counted(flows, "flow")
    plan = plan_of(result)
    rate = f"{plan.link(result.bottleneck).rate_bps / 1e6:g} Mb/s link" if plan is not None else "link"
    return f"{rows['aqm'].iloc[0]} at a {rate} with {traffic}: {result.name}"


def run_finding(result: Result) -> str:
    """Return the finding in one sentence: delay, loss and goodput at the link in question."""
    rows = {row["metric"]: row for row in result.summary().to_dict("records")}

    def words(key: str) -> str:
        row = rows[key]
        return Cell.of(key, row["mean"], row["low"], row["high"]).estimate

    if "mean_delay_ms" not in rows:
        return f"No packet left link `{result.bottleneck}` after the warm-up."
    parts = [f"packets wait {words('mean_delay_ms')} ms on average"]
    if "delay_p99_ms" in rows:
        parts[0] += f" and 99 % of them at most {words('delay_p99_ms')} ms"
    parts.append(f"{words('loss')} % are dropped")
    if "goodput_mbps" in rows:
        parts.append(f"the TCP flows get {words('goodput_mbps')} Mb/s")
    else:
        parts.append(f"the link carries {words('throughput_mbps')} Mb/s")
    n, distinct = len(result.seeds), result.distinct_runs
    level = level_words(n, result.level, distinct=distinct)
    runs = f"means of {distinct} runs, {level}" if distinct > 1 else level
    return f"At link `{result.bottleneck}` {joined(parts)} ({runs})."


def add_run(page: Page, result: Result, *, title: str = "", alone: bool = False) -> None:
    """Add one scenario's results: finding, first figure and compact table, then the evidence.

    Parameters
    ----------
    page
        The page.
    result
        The runs.
    title
        Of the section; default: the scenario's name.
    alone
        Whether the page is of this scenario alone: then its title and lead have said the finding, and its parts are
        sections.
    """
    plan = plan_of(result)
    command = run_command(page, result)
    begin = page.section if alone else page.heading
    page.section("At a glance" if alone else title or result.name)
    if not alone:
        page.text(run_finding(result))
    charts = list(of_run(result, plan))
    first = add_first(page, charts, command, result.folder)
    summary = result.summary()
    n, distinct = len(result.seeds), result.distinct_runs
    runs = f"{counted(n, 'run')}, {level_words(n, result.level, distinct=distinct)}"
    caption = f"Link `{result.bottleneck}`: means over {runs}."
    page.table(compact(summary), caption=caption)
    with page.folded("Statistics of every metric"):
        page.table(intervals(summary), caption=f"{caption} `method` says how the interval was made.")
    begin(EVIDENCE)
    _network(page, result, plan)
    for chart in charts:
        if chart is not first:
            page.chart(chart, command=figure_command(page, command, result.folder, chart.key))
    begin("Links and flows")
    page.table(
        side_by_side(mean_rows(notable(result.links), "link"), "link"),
        caption="Means over the seeds, per link that has a discipline other than drop-tail or lost a packet.",
    )
    page.table(
        side_by_side(mean_rows(result.flows[result.flows["start_s"].notna()], "group"), "group"),
        caption="Means over flows and seeds, per group of flows; flows that never start do not count.",
    )
    for link, tins in tins_of(result):
        page.table(tins, caption=f"Tins of `{link}` as tc prints them: means over the seeds, counts after the warm-up.")


def _network(page: Page, result: Result, plan: Scenario | None) -> None:
    if plan is not None:
        page.topology(plan, key=slug(f"topology {result.name}"), title="Network")
    elif result.scenario_text:
        flows = len(result.flows) // len(result.seeds)
        page.text(f"The network of {flows:,} flows is not drawn here; `aqmlab draw` with the scenario's file draws it.")


def add_first(page: Page, charts: Sequence[Chart], command: str, folder: Path | None) -> Chart | None:
    """Add the chart with the finding and return it; None without a chart."""
    first = next((chart for start in FIRST for chart in charts if chart.key.startswith(start)), None)
    if first is not None:
        page.chart(first, command=figure_command(page, command, folder, first.key))
    return first


def compact(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a summary for reading: a metric, its mean with its interval, its unit."""
    rows = []
    for row in summary.to_dict("records"):
        what = quantity(row["metric"])
        mean = Cell.of(what.key, *(row[end] for end in ("mean", "low", "high"))).estimate
        rows.append({"metric": what.title, "mean": mean, "unit": what.shown_unit})
    return pd.DataFrame(rows, columns=["metric", "mean", "unit"])


def intervals(summary: pd.DataFrame) -> pd.DataFrame:
    """Give the metrics of a summary table their names for people."""
    table = summary.copy()
    table["metric"] = [quantity(key).title for key in table["metric"]]
    return table


def notable(links: pd.DataFrame) -> pd.DataFrame:
    """Leave out the links at which nothing happens: drop-tail, and never a drop."""
    lossy = links[links["drops"] > 0]["link"].unique()
    return links[(links["aqm"] != "drop-tail") | links["link"].isin(lossy)]


def mean_rows(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Average the numbers of a table per link or group."""
    numbers = [c for c in table.columns if c != "seed" and pd.api.types.is_numeric_dtype(table[c])]
    return table.groupby(by, sort=False)[numbers].mean().reset_index()


def side_by_side(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """Turn a wide table of few rows: a row a quantity, a column for each of its rows.

    >>> side_by_side(pd.DataFrame({"link": ["a", "b"], "drops": [1.0, 2.0]}), "link")
      quantity    a    b
    0    drops  1.0  2.0
    """
    if len(table) > MOST_COLUMNS:
        return table
    turned = table.set_index(by).T.dropna(how="all")
    turned.columns = [str(name) for name in turned.columns]
    return turned.rename_axis(None, axis="columns").rename_axis("quantity").reset_index()


def plan_of(result: Result) -> Scenario | None:
    """Return the scenario of a result; None if the result has no scenario or very many flows."""
    if not result.scenario_text or len(result.flows) > MANY_FLOWS * len(result.seeds):
        return None
    return Scenario.from_text(result.scenario_text, filename="scenario.toml")
