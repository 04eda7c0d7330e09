"""The page of a tuning: the commands to copy, delay against goodput of all candidates, the cost of a wrong rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from aqmlab import _core
from aqmlab.errors import capitalized, counted, minus
from aqmlab.figures.chart import Chart, Series
from aqmlab.reporting.page import Page
from aqmlab.results.quantities import Quantity, difference_of, interval_of, quantity
from aqmlab.statistics import LEVEL, Interval
from aqmlab.tuning.decision import side_by_side, with_settings
from aqmlab.tuning.goals import intervals_named, shown
from aqmlab.tuning.measurements import Measured
from aqmlab.tuning.outcome import Rerun, Tuned, short
from aqmlab.tuning.ranges import Point, at_rate, at_round_trip
from aqmlab.tuning.verification import fresh_seeds

WRONG = (0.9, 1.1)
"""Shares of the rate, and of the round trip, that the settings are run at although they were tuned for the whole."""
DELAY, GOODPUT = "mean_delay_ms", "goodput_mbps"


def write_page(
    answers: Sequence[Tuned], best: Tuned, lines: Sequence[str], path: Path, *, why: str, command: str = ""
) -> Path:
    """Write the page of a tuning of one or more disciplines.

    Parameters
    ----------
    answers
        The tuned disciplines.
    best
        The one to use.
    lines
        Its commands for a shell; empty if Linux has none.
    path
        The page, ``.html``.
    why
        The reason for it, as `aqmlab.tuning.decision.reason` writes it.
    command
        The command that makes it again; "" for none.

    Returns
    -------
    Path
        The page. It runs `best` at rates and round trips that are 10 % off, on the fresh seeds.
    """
    page = Page(f"Use {best.aqm} {with_settings(best)}: {best.name}", capitalized(why), folder=path.parent)
    page.section("Use this")
    if lines:
        page.code("\n".join(lines), copied=True)
        if any(" DEV " in line for line in lines):
            page.text("Replace `DEV` by the name of the interface to the link.")
    page.code(best.scenario_text, fold="The queue in a scenario file")
    for line in best.warnings:
        page.text(f"{capitalized(line)}.", note=True)
    _candidates(page, answers, best)
    if best.rerun is not None:
        _wrong_conditions(page, best, best.rerun)
    _evidence(page, answers)
    page.section("Provenance")
    again = f" Command: `{command}`" if command else ""
    page.text(f"{best.name}: aqmlab {_core.version()}, scenario hash `{best.hash}`.{again}")
    page.code(best.tuned.normalized, fold=f"The tuned scenario, with {best.aqm}")
    return page.write(path.parent, pictures=False, name=path.name, progress=True)


def _candidates(page: Page, answers: Sequence[Tuned], best: Tuned) -> None:
    """Add the table of the disciplines, and the chart of all trials."""
    page.section("All disciplines")
    asked = " and ".join([answers[0].task.goal.words, *(f"keep {one.words}" for one in answers[0].task.bounds)])
    table = side_by_side(answers, best)
    table.insert(1, "settings", [short(found.body).partition(", ")[2] or "defaults" for found in answers])
    points = len(answers[0].points) + len(answers[0].fresh_points)
    intervals = intervals_named(table[best.task.goal.metric.label])
    page.table(
        table, caption=f"{asked}: on fresh seeds at {counted(points, 'point')}, worst point of each seed, {intervals}."
    )
    chart = candidates_chart(answers)
    if chart is not None:
        page.chart(chart)


def candidates_chart(answers: Sequence[Tuned]) -> Chart | None:
    """Draw goodput against delay, means over the points of the search: all trials, and the answers on fresh seeds.

    None for runs without TCP.
    """
    series: list[Series] = []
    words = []
    for color, found in enumerate(answers):
        rerun = found.rerun
        if rerun is None:
            continue
        own = [trial for trial in found.trials if np.isfinite(trial.goal)]
        tried = [rerun.bench.measure([t.body], rerun.search, range(1, t.seeds + 1), title="trials")[0] for t in own]
        means = [[float(np.nanmean(one[key])) for key in (DELAY, GOODPUT) if key in one] for one in tried]
        if not means or any(len(pair) < 2 for pair in means):
            return None
        x, y = zip(*means, strict=True)
        series.append(Series(f"{found.aqm}, trials", x, y, mode="points", color=color, discipline=found.aqm))
        series += _confirmed(found, rerun, color)
        words.append(f"{found.aqm} {series[-1].x[0]:.3g} ms and {series[-1].y[0]:.4g} Mb/s")
    if not series:
        return None
    return Chart(
        key="candidates",
        title="Delay against goodput of all candidates",
        alt=f"TCP goodput against mean queueing delay of every trial; confirmed on fresh seeds: {'; '.join(words)}.",
        x_label=quantity(DELAY).label,
        y_label=quantity(GOODPUT).label,
        series=series,
        caption="Better is up and to the left. Means over the points of the search; a ring is the answer of a "
        f"discipline, on fresh seeds with 95 % intervals: {'; '.join(words)}.",
    )


def _confirmed(found: Tuned, rerun: Rerun, color: int) -> list[Series]:
    """Return the answer on fresh seeds: a ring with the interval of the goodput, and a line for that of the delay."""
    (values,) = rerun.bench.measure([found.body], rerun.search, _fresh(found), title="fresh seeds")
    delay, goodput = (interval_of(key, np.nanmean(values[key], axis=0))[0] for key in (DELAY, GOODPUT))
    name, own = f"{found.aqm}, the answer", found.aqm
    across = Series(name, [delay.low, delay.high], [goodput.mean] * 2, color=color, listed=False, discipline=own)
    low, high = [goodput.low], [goodput.high]
    return [
        across,
        Series(name, [delay.mean], [goodput.mean], low, high, mode="ring", color=color, discipline=own),
    ]


def _fresh(found: Tuned) -> range:
    return fresh_seeds(len(found.confirmed.per_seed))


def _wrong_conditions(page: Page, best: Tuned, rerun: Rerun) -> None:
    """Add the answer's cost where the rate, or the round trip, is 10 % off: runs on the fresh seeds, paired."""
    table, chart = wrong_conditions(best, rerun)
    if table is None:
        return
    page.section("If the rate is 10 % wrong")
    page.text(
        f"The settings of {best.aqm} stay as tuned, and the link has another rate, or its users other round trips. "
        "The commands shape to 95 % of the given rate: on a link that is slower than that, the queue stands in the "
        "modem, which these runs do not simulate."
    )
    intervals = intervals_named(table[best.task.goal.metric.title])
    page.table(table, caption=f"Fresh seeds, worst point of each seed, {intervals}; changes are paired by seed.")
    if chart is not None:
        page.chart(chart)


def wrong_conditions(best: Tuned, rerun: Rerun) -> tuple[pd.DataFrame | None, Chart | None]:
    """Run the answer at `WRONG` shares of the rate and of the round trip; return a table, and a chart over the rate."""
    plan, link = rerun.bench.place.plan, best.link
    rate = plan.link(link).rate_bps
    cases: list[tuple[str, float | None, list[Point | None]]] = [("as tuned", 1.0, list(rerun.points))]
    cases += [
        (f"rate {_percent(share)}", share, [at_rate(point, plan, link, share) for point in rerun.points])
        for share in WRONG
    ]
    cases += [
        (f"round trip {_percent(share)}", None, [at_round_trip(point, share) for point in rerun.points])
        for share in WRONG
    ]
    rows: list[dict[str, str]] = []
    over_rate: list[tuple[float, Interval]] = []
    as_tuned: np.ndarray | None = None
    for name, share, places in cases:
        points = [point for point in places if point is not None]
        if len(points) < len(places):
            continue
        (values,) = rerun.bench.measure([best.body], points, _fresh(best), title=name)
        per_seed = best.task.goal.over_points(values[best.task.goal.metric.key], best.task.share)
        as_tuned = per_seed if as_tuned is None else as_tuned
        rows.append(_row(best, name, values, per_seed, as_tuned))
        if share is not None:
            over_rate.append((share * rate / 1e6, interval_of(best.task.goal.metric.key, per_seed)[0]))
    return (pd.DataFrame(rows) if len(rows) > 1 else None), (
        _over_rate(best, over_rate) if len(over_rate) > 1 else None
    )


def _percent(share: float) -> str:
    """Write the difference from the whole.

    >>> _percent(0.9), _percent(1.1)
    ('−10 %', '+10 %')
    """
    return minus(f"{100 * (share - 1):+.0f} %")


def _row(best: Tuned, name: str, values: Measured, per_seed: np.ndarray, as_tuned: np.ndarray) -> dict[str, str]:
    metric = best.task.goal.metric
    row = {"condition": name, metric.title: shown(metric, interval_of(metric.key, per_seed)[0])}
    if per_seed is as_tuned:
        row["change"] = ""
    else:
        compared = difference_of(metric.key, per_seed, as_tuned).difference
        row["change"] = shown(metric, compared.interval) if compared.p < 1 - LEVEL else "undecided"
    for bound in best.task.bounds:
        worst = bound.sign * np.min(bound.sign * values[bound.metric.key], axis=0)
        found = interval_of(bound.metric.key, worst)[0]
        row[bound.words] = bound.judged(bound.verdict(found), found.mean)
    for key in ("delay_p95_ms", GOODPUT):
        if key in values and key != metric.key:
            row[quantity(key).label] = shown(quantity(key), interval_of(key, np.nanmean(values[key], axis=0))[0])
    return row


def _readable_range(metric: Quantity, intervals: Sequence[Interval]) -> tuple[float, float] | None:
    """Return a range in which a difference that users notice is at most a quarter; None where the data span that.

    >>> low, high = _readable_range(quantity("mos"), [Interval(4.38, 0.0, 5, 4.37, 4.39)])
    >>> round(low, 2), round(high, 2)
    (4.18, 4.5)
    """
    ends = [end for one in intervals for end in (one.low, one.mean, one.high) if math.isfinite(end)]
    least = 4 * metric.notable
    if not ends or max(ends) - min(ends) >= least:
        return None
    middle = (min(ends) + max(ends)) / 2
    low, high = max(middle - least / 2, metric.bounds[0]), min(middle + least / 2, metric.bounds[1])
    return metric.scale * low, metric.scale * high


def _over_rate(best: Tuned, found: list[tuple[float, Interval]]) -> Chart:
    metric = best.task.goal.metric
    found = sorted(found, key=lambda pair: pair[0])
    rates, intervals = [rate for rate, _ in found], [one for _, one in found]
    words = "; ".join(f"{metric.scale * one.mean:.4g} at {rate:.4g} Mb/s" for rate, one in found)
    series = Series(
        best.aqm,
        rates,
        [metric.scale * one.mean for one in intervals],
        [metric.scale * one.low for one in intervals],
        [metric.scale * one.high for one in intervals],
        discipline=best.aqm,
    )
    return Chart(
        key="wrong-rate",
        title=f"{metric.title} at other rates than the one tuned for",
        alt=f"{metric.title} of {best.aqm} against the link's rate: {words}.",
        x_label="rate of the link, Mb/s",
        y_label=metric.label,
        y_range=_readable_range(metric, intervals),
        series=[series],
        caption=f"Worst point of each fresh seed, with 95 % intervals: {words}.",
    )


def _evidence(page: Page, answers: Sequence[Tuned]) -> None:
    """Add for each discipline its trials and tests, folded."""
    page.section("Evidence")
    for found in answers:
        with page.folded(
            f"{found.aqm}: {counted(len(found.trials), 'trial')}, {counted(found.seeds[2], 'fresh seed')}"
        ):
            page.table(found.settings_table(), caption="Worst points, 95 % intervals.")
            if found.against:
                page.table(
                    found.differences_table(), caption="Tuned minus reference; p by Holm, for three looks.", digits=3
                )
            page.chart(found.chart())
            for line in found.notes:
                page.text(line, note=True)
