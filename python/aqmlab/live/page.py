"""One page on live runs: their certificates, and simulation and reality one over the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from aqmlab.figures import delay_distribution, thin
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import has_average, slug, warmup, warmup_end
from aqmlab.figures.scale import steady_scale
from aqmlab.live.agreement import DELAY_WITHIN, GOODPUT_WITHIN, Line
from aqmlab.reporting.page import Page
from aqmlab.reporting.provenance import add_provenance, run_command
from aqmlab.reporting.run import add_run

if TYPE_CHECKING:
    from aqmlab.live.agreement import Agreement
    from aqmlab.live.checks import Trouble
    from aqmlab.results.result import Result

LIVE, SIMULATED = "live", "simulation"
NUMBERS = {
    "lateness p50, us": ("lateness_us", "p50"),
    "p99, us": ("lateness_us", "p99"),
    "p99.9, us": ("lateness_us", "p999"),
    "stalls": ("stalls",),
    "rate / configured": ("rate",),
    "queue not empty": ("queue_not_empty_share",),
    "steal": ("cpu_steal_share",),
    "scheduler": ("scheduler",),
}
"""Columns of the table of certificates, and where their numbers are."""


class Runs(Protocol):
    """Live runs: `aqmlab.live.running.LiveRuns`."""

    @property
    def result(self) -> Result:
        """Measurements of the runs."""

    @property
    def certificates(self) -> dict[int, dict[str, Any]]:
        """The certificate of each seed."""

    @property
    def troubles(self) -> list[Trouble]:
        """Conditions that might spoil the runs."""

    @property
    def simulation(self) -> Result | None:
        """The simulated runs."""

    @property
    def agreement(self) -> Agreement | None:
        """How simulation and reality agree."""


def page_of(runs: Runs) -> Page:
    """Make the page of live runs, not yet written."""
    live = runs.result
    n = len(live.seeds)
    beside = " beside the simulation of the same file" if runs.simulation is not None else ""
    page = Page(live.name, f"{n} live run{'' if n == 1 else 's'} with real TCP{beside}; link `{live.bottleneck}`.")
    _add_certificates(page, runs)
    if runs.simulation is not None:
        _add_agreement(page, runs)
        page.section("Live and simulated runs")
        for chart in overlays(live, runs.simulation):
            page.chart(chart)
    shown = [(live.name, "live", live)]
    if runs.simulation is not None:
        shown.append((f"{runs.simulation.name} (simulation)", "run", runs.simulation))
    for title, _, result in shown:
        add_run(page, result, title=title)
    made = [(title, run_command(page, result, command=command), [result]) for title, command, result in shown]
    add_provenance(page, made)
    return page


def overlays(live: Result, simulated: Result) -> Iterator[Chart]:
    """Yield the figures in which both worlds are: queue, average, delay, goodput, drops and marks."""
    both = {LIVE: live, SIMULATED: simulated}
    place = live.bottleneck
    if all(_has(one, "queue_samples", place) for one in both.values()):
        yield against_time(both, place, "queue_packets", "Queue", "queue, packets")
        yield distribution(both, place, "queue_packets", "Queue", "queue, packets")
        if all(has_average(one.queue_samples["average"]) for one in both.values()):
            yield against_time(both, place, "average", "Average queue", "average, packets")
            yield distribution(both, place, "average", "Average queue", "average, packets")
    if all(_has(one, "delay_histogram", place) for one in both.values()):
        yield delay_distribution(both, link=place)


def against_time(both: dict[str, Result], place: str, column: str, title: str, label: str) -> Chart:
    """Draw a column of the queue's samples against time, in one run of each world with the same seed."""
    seed = next(seed for seed in both[LIVE].seeds if seed in both[SIMULATED].seeds)
    series = []
    for index, (name, result) in enumerate(both.items()):
        samples = result.queue_samples
        rows = thin(samples[(samples["link"] == place) & (samples["seed"] == seed)])
        series.append(Series(name, rows["t_s"].to_numpy(), rows[column].to_numpy(dtype=float), color=index))
    return Chart(
        key=f"live-{column.replace('_', '-')}-{slug(place)}",
        title=f"{title} at {place}, seed {seed}",
        alt=f"{title} against time at link {place}, {_means(both, place, column)}.",
        x_label="time, s",
        y_label=label,
        series=series,
        shades=warmup(both[SIMULATED]),
        **steady_scale(series, warmup_end(both[SIMULATED]), "packets"),
    )


def distribution(both: dict[str, Result], place: str, column: str, title: str, label: str) -> Chart:
    """Draw the distribution of a column of the queue's samples after the warm-up, all runs of a world together."""
    series = []
    for index, (name, result) in enumerate(both.items()):
        values = _after_warmup(result, place)[column].dropna().sort_values()
        share = (pd.Series(range(1, len(values) + 1)) / max(len(values), 1)).to_numpy()
        kept = thin(pd.DataFrame({"x": values.to_numpy(dtype=float), "share": share}), most=400)
        series.append(Series(name, kept["x"].to_numpy(), kept["share"].to_numpy(), color=index))
    return Chart(
        key=f"live-{column.replace('_', '-')}-distribution-{slug(place)}",
        title=f"Distribution: {title.lower()} at {place}",
        alt=f"Share of samples at or below a value at link {place}, {_means(both, place, column)}.",
        x_label=label,
        y_label="share of the time",
        series=series,
        y_range=(0, 1.02),
    )


def bars(lines: list[Line], *, key: str, title: str, label: str) -> Chart:
    """Draw quantities of both worlds side by side, with their intervals."""
    names = [line.what for line in lines]
    series = []
    for index, world in enumerate((LIVE, SIMULATED)):
        found = [line.live if world == LIVE else line.simulated for line in lines]
        series.append(
            Series(
                world,
                names,
                [one.mean for one in found],
                low=[one.low for one in found],
                high=[one.high for one in found],
                mode="bar",
                color=index,
            )
        )
    words = "; ".join(f"{line.what} {line.live.mean:.4g} live, {line.simulated.mean:.4g} simulated" for line in lines)
    return Chart(key=key, title=title, alt=f"{words}.", x_label="", y_label=label, series=series)


def certificates_table(certificates: dict[int, dict[str, Any]]) -> pd.DataFrame:
    """Return the certificates as a table, a row a run."""
    return pd.DataFrame(
        [
            {
                "seed": seed,
                "valid": "holds" if one["valid"] else "fails",
                **{name: _number(one["measured"], *where) for name, where in NUMBERS.items()},
                "TUN drops": sum((one["measured"].get("tun_dropped") or {}).values()),
                "why not": "; ".join(one["breaches"]),
            }
            for seed, one in certificates.items()
        ]
    )


def _add_certificates(page: Page, runs: Runs) -> None:
    page.section("Certificates")
    invalid = sum(not one["valid"] for one in runs.certificates.values())
    page.text(
        f"{len(runs.certificates) - invalid} of {len(runs.certificates)} runs are within the limits."
        + (" What the others show may be the machine's doing." if invalid else "")
    )
    page.table(certificates_table(runs.certificates), caption="What the link measured of itself, a row a run.")
    for trouble in runs.troubles:
        page.text(f"Before the first run: {trouble.text}.", note=True)


def _add_agreement(page: Page, runs: Runs) -> None:
    agreement = runs.agreement
    if agreement is None:
        return
    page.section("Simulation and reality")
    page.text(
        f"Goodput is to be within {GOODPUT_WITHIN:.0%} and the queueing delay within {DELAY_WITHIN:.0%} of the live "
        "runs'. A verdict is on the whole interval of the difference, relative to the live mean (Welch, 95 %)."
    )
    page.table(agreement.table(), caption="Each quantity in both worlds.", digits=4)
    goodput = [line for line in agreement.lines if line.unit == "Mb/s" and "oodput" in line.what]
    if goodput:
        page.chart(bars(goodput, key="live-goodput", title="Goodput", label="goodput, Mb/s"))
    shares = [line for line in agreement.lines if line.what in ("Loss", "Marks")]
    if shares:
        page.chart(bars(shares, key="live-drops", title="Drops and marks", label="share of packets"))


def _after_warmup(result: Result, place: str) -> pd.DataFrame:
    samples = result.queue_samples
    warmup_s = warmup_end(result)
    return samples[(samples["link"] == place) & (samples["t_s"] >= warmup_s)]


def _means(both: dict[str, Result], place: str, column: str) -> str:
    return ", ".join(f"mean {name} {_after_warmup(one, place)[column].mean():.1f}" for name, one in both.items())


def _has(result: Result, table: str, link: str) -> bool:
    return table in result.tables and bool((result.tables[table]["link"] == link).any())


def _number(measured: dict[str, Any], first: str, *more: str) -> Any:  # noqa: ANN401 - a number or a word
    value = measured.get(first)
    if first == "rate":
        rate = value or {}
        configured, achieved = rate.get("configured_bps"), rate.get("achieved_bps")
        return achieved / configured if configured and achieved else float("nan")
    for key in more:
        value = (value or {}).get(key)
    return float("nan") if value is None else value
