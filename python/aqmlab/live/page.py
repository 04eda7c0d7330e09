"""One page on live runs: agreement of simulation and real TCP, both against time, and the runs' certificates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from aqmlab.errors import counted
from aqmlab.figures import delay_distribution, thin
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import has_average, has_rows, slug, warmup, warmup_end
from aqmlab.figures.scale import steady_scale
from aqmlab.live.agreement import DELAY_WITHIN, GOODPUT_WITHIN, Line, in_percent
from aqmlab.reporting.page import Page
from aqmlab.reporting.provenance import add_provenance, run_command
from aqmlab.reporting.run import add_run, run_finding

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
    headline = "" if runs.agreement is None else runs.agreement.headline()
    count = f"{counted(n, 'live run')} with real TCP; link `{live.bottleneck}`."
    page = Page(live.name, f"{headline or run_finding(live)} {count}")
    if runs.simulation is not None:
        _add_agreement(page, runs)
    _add_certificates(page, runs)
    if runs.simulation is not None:
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
    if all(has_rows(one, "queue_samples", place) for one in both.values()):
        yield against_time(both, place, "queue_packets", "Queue", "queue, packets")
        yield distribution(both, place, "queue_packets", "Queue", "queue, packets")
        if all(has_average(one.queue_samples["average"]) for one in both.values()):
            yield against_time(both, place, "average", "Average queue", "average, packets")
            yield distribution(both, place, "average", "Average queue", "average, packets")
    if all(has_rows(one, "delay_histogram", place) for one in both.values()):
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


def differences_chart(lines: Sequence[Line]) -> Chart:
    """Draw the difference of each quantity, relative to the live mean, with its interval and the allowed difference."""
    found = [line for line in lines if math.isfinite(line.relative.mean)]
    judged = [line for line in found if line.within is not None]
    percent = [[100 * value for value in (r.mean, r.low, r.high)] for r in (line.relative for line in found)]
    bounds = [100 * (line.within or 0.0) for line in judged]
    names = [line.what for line in judged]
    series = [
        Series("allowed", names, [0.0] * len(bounds), [-one for one in bounds], bounds, mode="points", color=5),
        Series(
            "simulation - live",
            [line.what for line in found],
            [mean for mean, _, _ in percent],
            [low for _, low, _ in percent],
            [high for _, _, high in percent],
            mode="points",
            color=1,
        ),
    ]
    words = "; ".join(
        f"{line.what} {in_percent(mean / 100, '+')} %{'' if line.verdict is None else f', {line.verdict}'}"
        for line, (mean, _, _) in zip(found, percent, strict=True)
    )
    return Chart(
        key="live-differences",
        title="Difference of simulation and real TCP",
        alt=f"Difference relative to the live mean, with 95 % intervals: {words}.",
        x_label="difference, % of the live mean",
        y_label="",
        series=series,
        flat=True,
        caption="Orange: simulation minus live, with 95 % intervals. Grey: the allowed difference where one is set.",
    )


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
    page.table(certificates_table(runs.certificates), caption="Measurements of the link itself, a row per run.")
    for trouble in runs.troubles:
        page.text(f"Before the first run: {trouble.text}.", note=True)


def _add_agreement(page: Page, runs: Runs) -> None:
    agreement = runs.agreement
    if agreement is None:
        return
    page.section("Simulation and reality")
    page.chart(differences_chart(agreement.judged + [line for line in agreement.lines if line.within is None]))
    page.text(
        f"Allowed: {100 * GOODPUT_WITHIN:g} % of difference in goodput, {100 * DELAY_WITHIN:g} % in mean delay. "
        "A verdict is on the whole interval of the difference, relative to the live mean (Welch, 95 %)."
    )
    page.table(agreement.differences(), caption="Each quantity live and simulated, with 95 % intervals.")


def _after_warmup(result: Result, place: str) -> pd.DataFrame:
    samples = result.queue_samples
    warmup_s = warmup_end(result)
    return samples[(samples["link"] == place) & (samples["t_s"] >= warmup_s)]


def _means(both: dict[str, Result], place: str, column: str) -> str:
    return ", ".join(f"mean {name} {_after_warmup(one, place)[column].mean():.1f}" for name, one in both.items())


def _number(measured: dict[str, Any], first: str, *more: str) -> Any:  # noqa: ANN401 - a number or a word
    value = measured.get(first)
    if first == "rate":
        rate = value or {}
        configured, achieved = rate.get("configured_bps"), rate.get("achieved_bps")
        return achieved / configured if configured and achieved else float("nan")
    for key in more:
        value = (value or {}).get(key)
    return float("nan") if value is None else value
