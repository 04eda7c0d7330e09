"""The page of an analysis: one picture of everything, then theory over simulation figure by figure, and the gaps."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab import _core
from aqmlab.errors import capitalized, minus
from aqmlab.figures import agreement
from aqmlab.reporting.fragments import bounded, mean_text, number
from aqmlab.reporting.page import Page
from aqmlab.reporting.provenance import program, seeds_text
from aqmlab.statistics.text import interval_text
from aqmlab.theory.scenario.agreement import DROP_PROBABILITY
from aqmlab.theory.scenario.model import bottleneck_of

if TYPE_CHECKING:
    from aqmlab.reporting.analysis.outcome import Analysis
    from aqmlab.theory.scenario.agreement import Measured

NAMES = {
    "propagation_ms": "propagation, ms",
    "window": "window, packets",
    "rtt_ms": "RTT, ms",
    "flow_mbps": "Mb/s a flow",
    "simulated rtt_ms": "simulated RTT, ms",
    "gain_margin_db": "gain margin, dB",
    "phase_crossover_rad_s": "at, rad/s",
    "phase_margin_deg": "phase margin, degrees",
    "gain_crossover_rad_s": "at, rad/s ",
    "delay_margin_ms": "delay margin, ms",
    "active": "active transfers",
    "mean_queue": "mean queue, packets",
    "mean_delay_ms": "mean queueing delay, ms",
    "throughput_mbps": "throughput, Mb/s",
    "sd": "s.d. of the queue, packets",
    "frequency_hz": "frequency, Hz",
}


GAPS = (
    "In brackets: by how much a model is above what was measured, and `within` if it lies in the 95 % interval. "
    "`fluid` is Misra's equation at rest."
)
REFINED = (
    "`fluid, refined` counts the round trip that recovery from a loss takes, and delayed acknowledgements, in the law "
    "that gives the window (equilibrium only)."
)
IN_TIME = "`fluid, in time` is the mean over the fluid's course, which swings or has no point to rest at."


def page_of(found: Analysis) -> Page:
    """Make the page."""
    model = found.model
    page = Page(
        f"{found.name}: theory over simulation",
        f"Link `{found.link}`, {model.link.rate_bps / 1e6:.5g} Mb/s = {model.capacity:.5g} packets/s of "
        f"{model.packet_bytes:.5g} B, discipline {model.curve.name}.",
    )
    page.section("Everything in one picture")
    page.text(headline(found))
    if found.theory.columns:
        page.drawing(
            "one-picture",
            partial(agreement.paint, models=found.theory.columns, measured=found.measured),
            agreement.SIZE_IN,
            title="",
            alt=headline(found),
            caption=f"Each panel: what a model says, and what was measured{_interval(found)}. The dotted line is "
            "the first model's value.",
        )
        names = [model.name for model in found.theory.columns]
        page.table(
            readable_gaps(found, shares=False), caption=GAPS if found.theory.point else GAPS.split(" `fluid`")[0]
        )
        for name, words in (("fluid, refined", REFINED), ("fluid, in time", IN_TIME)):
            if name in names:
                page.text(words, note=True)
    elif found.measured:
        page.table(readable_gaps(found), caption=f"Measurements{_interval(found)}.")
    _shares(page, found)
    page.section("Why they differ" if found.theory.columns else "Why there is no model")
    _assumptions(page, found)
    _figures(page, found)
    _provenance(page, found)
    return page


def _interval(found: Analysis) -> str:
    return " with its 95 % interval" if len(found.seeds) > 1 else " (one run, which has no interval)"


def headline(found: Analysis) -> str:
    """Say in a sentence or two what came out."""
    if found.reason:
        return f"No model covers this link: {found.reason}. Only measurements are shown."
    words = []
    for model in found.theory.columns[:1]:
        said = {"p": "drop probability {:.4g}", "mean_queue": "mean queue {:.4g} packets"}
        words.append(f"{model.name}: " + ", ".join(text.format(model.values[key]) for key, text in said.items()))
    for column in found.measured:
        p, queue = column.values["p"], column.values["mean_queue"]
        words.append(f"{column.name}: drop probability {mean_text(p)}, mean queue {mean_text(queue)} packets")
    return "; ".join([*words, _violations(found)]) + "."


def _violations(found: Analysis) -> str:
    n = len(found.violated)
    if not n:
        return "no assumption of the model is violated"
    return f"{n} of {len(found.assumptions)} assumptions {'is' if n == 1 else 'are'} violated"


def _shares(page: Page, found: Analysis) -> None:
    shares = found.theory.shares
    if shares.reason:
        page.text(f"{capitalized(shares.reason)}.", note=True)
    if shares.columns:
        page.section("Shares by class")
        page.table(readable_gaps(found, shares=True), caption=f"{shares.about}{_interval(found)}.")
    if found.theory.by_seed:
        page.table(_named(found.tables["by_seed"]), caption="Theory of each seed's transfers.")


def answer(found: Analysis) -> str:
    """Say in one sentence how far the first model is from the simulation, and how many assumptions are violated."""
    model, column = next(iter(found.theory.columns), None), next(iter(found.measured), None)
    if found.reason or model is None or column is None:
        return headline(found)
    words = []
    for key, name in (("p", "drop probability"), ("mean_queue", "mean queue")):
        value, mean = model.values[key], column.values[key].mean
        gap = minus(f"{100 * (value - mean) / mean:+.3g} %") if mean else f"{value:.3g} (measured: 0)"
        words.append(f"{name} {gap}")
    return f"Model {model.name} against the {column.name} queue: {', '.join(words)}; {_violations(found)}."


def readable_gaps(found: Analysis, *, shares: bool | None = None, short: bool = False) -> pd.DataFrame:
    """Return a row for each quantity: the measurements, then each model with the gap to the first measurement.

    Parameters
    ----------
    found
        The analysis.
    shares
        True: quantities by class only; False: those of the whole queue only; default: both.
    short
        Whether the table is for a terminal: the drop probability in %, as tables of runs have the loss, only the digits
        that intervals support, and four digits of models.
    """
    rows: dict[str, dict[str, str]] = {}
    by_class = {quantity.title for quantity in found.theory.shares.quantities}
    for record in found.gaps.to_dict("records"):
        if shares is not None and (record["quantity"] in by_class) != shares:
            continue
        scale, unit = (100.0, "%") if short and record["quantity"] == DROP_PROBABILITY.title else (1.0, record["unit"])
        name = record["quantity"] if unit == "1" else f"{record['quantity']}, {unit}"
        row = rows.setdefault(name, {"quantity": name})
        for column in found.measured:
            if pd.isna(record.get(f"{column.name}", math.nan)):
                continue
            mean, low, high = (scale * float(record[f"{column.name}{end}"]) for end in ("", " low", " high"))
            row[column.name] = (interval_text if short else bounded)(mean, low, high)
        if record["model"]:
            value = scale * float(record["analysed"])
            text = f"{value:.4g}" if short else number(value)
            row[record["model"]] = text + _gap(record, found.measured, short=short)
    return pd.DataFrame(list(rows.values())).fillna("")


def _gap(record: Mapping[Hashable, Any], measured: Sequence[Measured], *, short: bool) -> str:
    """Return the gap to the first measurement as text, and whether the model lies in its interval."""
    if not measured or pd.isna(record[f"{measured[0].name} gap %"]):
        return ""
    gap, within = float(record[f"{measured[0].name} gap %"]), record[f"{measured[0].name} within"]
    words = [minus(f"{gap:+.{0 if short and abs(gap) >= 10 else 1}f} %")] if gap == gap else []
    words += ["within"] if within == "yes" else []
    return f" ({', '.join(words)})" if words else ""


def _assumptions(page: Page, found: Analysis) -> None:
    if not found.assumptions:
        page.text(f"{capitalized(found.reason)}.")
        return
    page.table(
        pd.DataFrame(
            {
                "verdict": ["fails" if one.violated else "holds" for one in found.assumptions],
                "the model takes for granted": [one.text for one in found.assumptions],
                "here": [one.how for one in found.assumptions],
            }
        ).sort_values("verdict", kind="stable"),
        caption="Assumptions of the model, and whether this scenario and its simulation keep to them.",
    )


def _figures(page: Page, found: Analysis) -> None:
    made = {chart.key: chart for chart in found.charts}
    command = _command(page, found)
    if "curve" in made:
        page.section("The curve")
        page.chart(made["curve"], command=command)
    if "queue-in-time" in made:
        page.section("The queue in time")
        page.chart(made["queue-in-time"], command=command)
        page.table(_named(found.swings), caption="How the queue moves around its mean once it has settled.")
        page.table(
            _readable_classes(found.classes),
            caption="Classes of flows: a group, and within it those with the same round trip.",
        )
    if "nyquist" in made:
        page.section("Is the loop stable?")
        page.table(_named(found.loop), caption="Margins of the loop, linearized at the operating point.")
        for key in ("bode-magnitude", "bode-phase", "nyquist"):
            page.chart(made[key], command=command)
    if "law-of-queue" in made:
        page.section("The law of the queue")
        page.chart(made["law-of-queue"], command=command)


def _readable_classes(classes: pd.DataFrame) -> pd.DataFrame:
    """Return the classes with the simulated rate and its interval in one column."""
    table = classes.copy()
    if "simulated flow_mbps" in table:
        low, high = table.pop("simulated flow_mbps low"), table.pop("simulated flow_mbps high")
        means = table.pop("simulated flow_mbps")
        table["simulated Mb/s a flow"] = [bounded(*one) for one in zip(means, low, high, strict=True)]
    return _named(table)


def _named(table: pd.DataFrame) -> pd.DataFrame:
    return table.rename(columns=NAMES)


def _command(page: Page, found: Analysis) -> str:
    seeds = f" --seeds {seeds_text(found.seeds)}" if found.seeds else " --no-simulation"
    other = f" --link {found.link}" if found.link != bottleneck_of(found.model.scenario).name else ""
    return f"{program(page)} analyze scenario.toml{other}{seeds}"


def _provenance(page: Page, found: Analysis) -> None:
    page.section("Provenance")
    runs = f"seeds {seeds_text(found.seeds)}" if found.seeds else "not simulated"
    page.text(
        f"aqmlab {_core.version()}, scenario `{found.name}` with hash `{found.hash}`, {runs}. Command: "
        f"`{_command(page, found)}`"
    )
    page.code(found.model.scenario.normalized, fold="Scenario")
