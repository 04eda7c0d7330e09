"""The paper's page: Table 1 and Figures 1 to 7 beside the runs, what it leaves unmeasured, and the readings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Unpack

import pandas as pd

from aqmlab.papers import common
from aqmlab.papers.adaptive_rio.algorithm import FIGURE_3
from aqmlab.papers.adaptive_rio.claims import ACTIVE, CLAIMS, IDLE, active, assured, utilization_gain
from aqmlab.papers.adaptive_rio.measure import CIR_MBPS, FIRST, LINK, PERIODS, read_run
from aqmlab.papers.adaptive_rio.plan import ADAPTIVE, AT_MAX_U, CASES, FILES, RIO, Effort, delays, setups
from aqmlab.papers.adaptive_rio.rows import rows
from aqmlab.papers.common import (
    READINGS,
    SEEDS,
    Content,
    Figure,
    Key,
    Line,
    Paper,
    Section,
    Study,
    Table,
    parameters,
    pick,
)
from aqmlab.papers.common.figures import Look
from aqmlab.papers.common.paper import LEAD

LOAD: Mapping[str, Content] = {
    "utilization": "utilization",
    "as goodput": "utilization_delivered",
    "loss": "loss",
    "mean queue, packets": "mean_queue",
    "seeds": SEEDS,
}
MEANS = "Means with 95 % intervals."
COMMITTED = [(CIR_MBPS, "committed")]
EXAMPLE = "aqmlab run paper:adaptive-rio/experiment1.toml --set queue.core.aqm=adaptive-rio --seeds {seeds}"


def page(study: Study) -> Iterator[Section]:
    """Make the sections of the page."""
    network = study.network(
        "figure-1",
        "Figure 1: network",
        caption="`aqmlab draw paper:adaptive-rio/experiment1.toml`",
        case="experiment1",
        discipline=ADAPTIVE,
    )
    algorithm = "The paper's text as an algorithm; what it leaves open is in the readings A-1 to A-13."
    best_effort = throughput(study, "best-effort-throughput", "Best-effort throughput", "best-effort")
    further = [classes(study), more_flows(study), delays_of_classes(study)]
    yield Section("Table 1", [table_1(study)])
    yield Section(
        "Figures 1 to 7",
        [network, *figure_2(study), Figure(FIGURE_3, algorithm), *throughputs(study), *by_off_time(study)],
    )
    yield Section("Left unmeasured by the paper", [*min_th(study), best_effort, *gauges(study), *further])
    yield Section(READINGS, list(readings(study)))


def table_1(study: Study) -> Table:
    """Return Table 1 beside the effective parameters of the preset."""
    (setup,) = pick(study.setups, case="experiment1", discipline=ADAPTIVE)
    effective = setup.plan.link(LINK).parameters
    cells = [cell for cell in FILES.cells() if cell.quantity in effective]
    found = parameters(cells, lambda cell: effective[cell.quantity], found="in the preset")
    printed = found.rename(columns={"printed": "value"}).assign(printed=[cell.printed for cell in cells])
    return Table(
        "table-1",
        printed[["parameter", "printed", "unit", "value", "in the preset", "same", "note"]],
        heading="Table 1: initial setting",
        caption="Printed beside the effective parameters of the preset `adaptive-rio`; α is printed in the text.",
    )


def figure_2(study: Study) -> Iterator[Figure | Table]:
    """Yield utilization against max_th."""
    of = {"case": "figure2"}
    yield study.chart(
        "figure-2",
        "Figure 2: utilization against max_th",
        {"arriving bytes": Line("utilization", color=0), "goodput": Line("utilization_delivered", color=5)},
        x="max_th",
        of=of,
        alt="Utilization of the bottleneck by ten best-effort flows against max_th, with min_th a third of it: "
        "{lines}.",
        caption=MEANS,
        x_label="max_th, packets",
        y_label="utilization U",
    )
    yield study.table("figure-2", LOAD, rows=["max_th", "min_th"], of=of, caption="Figure 2 in numbers.", digits=3)


def min_th(study: Study) -> Iterator[Figure | Table]:
    """Yield utilization against min_th, both thresholds moved together and min_th alone."""
    yield study.chart(
        "figure-2-min-th",
        "Figure 2 over min_th",
        {
            "max_th = 3 min_th": Line(study.runs.of("utilization", case="figure2"), color=0),
            "max_th = 45 packets": Line(study.runs.of("utilization", case="min_th alone"), color=2),
        },
        x="min_th",
        caption="Left out of the paper for want of space. The second line moves min_th alone.",
        x_label="min_th, packets",
        y_label="utilization U",
    )
    yield study.table(
        "figure-2-min-th-alone",
        LOAD,
        rows={"x": "min_th"},
        of={"case": "min_th alone"},
        caption="The lower threshold moved alone, in numbers.",
        digits=3,
    )


def throughputs(study: Study) -> Iterator[Figure | Table]:
    """Yield the throughputs of the first experiment."""
    command = EXAMPLE.format(seeds=study.effort.seeds)
    yield throughput(study, "figure-4", "Figure 4: assured throughput", "assured", command, levels=COMMITTED)
    yield throughput(study, "figure-5", "Figure 5: total throughput", "total", command)
    yield study.table(
        "experiment-1",
        {"assured": "assured", "best effort": "best_effort", "total": "total", "seeds": SEEDS},
        rows=["discipline", "period"],
        of={"case": "experiment1", "period": PERIODS},
        labelled=True,
        caption="The first experiment by period, in Mb/s. The last three disciplines are ours (claims E-g and E-h).",
    )


def throughput(study: Study, name: str, title: str, group: str, command: str = "", **look: Unpack[Look]) -> Figure:
    """Return the throughput of a group of flows of the first experiment against time."""
    look = {"y_label": f"{group} throughput, Mb/s", "y_range": (0, 10.2), **look}
    return against_time(study, name, title, both(study, group), "throughput", "Bins of 5 s, mean", command, **look)


def gauges(study: Study) -> Iterator[Figure]:
    """Yield the state of Adaptive-RIO against time."""
    for name, title, label, lines in (
        ("thresholds", "max_th of best effort", "packets", {"max_th": Line("max_th_out", color=0)}),
        (
            "reference-point",
            "Reference point and rate",
            "Mb/s",
            {
                "C'": Line("c_threshold_bps", scale=1e-6, color=0),
                "A, rate of all arrivals": Line("rate_bps", scale=1e-6, color=1),
            },
        ),
        (
            "averages",
            "Averages",
            "packets",
            {"packets in profile": Line("average_0", color=0), "all packets": Line("average_1", color=1)},
        ),
    ):
        yield against_time(study, name, f"{title} in Adaptive-RIO", lines, "discipline_samples", "Mean", y_label=label)


def against_time(
    study: Study,
    name: str,
    title: str,
    lines: Mapping[str, Line],
    samples: str,
    mean: str,
    command: str = "",
    **look: Unpack[Look],
) -> Figure:
    """Return samples of the first experiment against time, the mean of all runs."""
    look = {"x_label": "time, s", "shades": [(100, 200, "assured flow active"), (300, 400, "")], **look}
    return study.over_time(
        name,
        title,
        lines,
        samples=samples,
        of={"case": "experiment1", "discipline": ADAPTIVE},
        link=LINK,
        seed="all",
        caption=f"{mean} of {study.effort.first_seeds} runs.",
        command=command,
        **look,
    )


def by_off_time(study: Study) -> Iterator[Figure | Table]:
    """Yield best-effort utilization and assured throughput of the second experiment against the off time."""
    of = {"case": "experiment2"}
    yield study.chart(
        "figure-6",
        "Figure 6: best-effort utilization",
        both(study, "u_be"),
        x="off",
        of=of,
        caption=MEANS,
        x_label="mean off time, s",
        y_label="best-effort utilization U_BE",
        y_range=(0, 1),
    )
    yield study.chart(
        "figure-7",
        "Figure 7: committed rate",
        both(study, "on"),
        x="off",
        of=of,
        caption=MEANS,
        x_label="mean off time, s",
        y_label="assured throughput while on, Mb/s",
        y_range=(3.5, 4.5),
        levels=COMMITTED,
    )
    columns: dict[str, Content] = {}
    for quantity, words in (("u_be", "U_BE"), ("on", "assured while on, Mb/s")):
        columns |= {f"{words}, {name}": study.runs.of(quantity, name) for name in (RIO, ADAPTIVE)}
        columns[f"{words}, difference"] = study.runs.gain(quantity, ADAPTIVE, over=RIO)
    yield study.table(
        "experiment-2", columns, rows={"off": "off time, s"}, of=of, caption="Figures 6 and 7 in numbers."
    )


def both(study: Study, quantity: str) -> dict[str, Line]:
    """Return the lines of Adaptive-RIO and RIO."""
    return {ADAPTIVE: Line(study.runs.of(quantity, ADAPTIVE)), RIO: Line(study.runs.of(quantity, RIO), mode="dashed")}


def classes(study: Study) -> Table:
    """Return loss and queueing delay of both classes."""
    return study.table(
        "classes",
        {
            "drops in profile": "drops_in",
            "loss in profile": "loss_in",
            "drops out of profile": "drops_out",
            "loss out of profile": "loss_out",
            "mean queue, packets": "mean_queue",
            "mean queueing delay, ms": "mean_delay",
        },
        rows=["experiment", "discipline"],
        of={"case": ("experiment1", "experiment2"), "period": ("", "whole run"), "discipline": (RIO, ADAPTIVE)},
        heading="Loss and queueing delay of both classes",
        caption="Drops at the bottleneck by code point, and its queue, under RIO and Adaptive-RIO.",
        digits=4,
    )


def more_flows(study: Study) -> Table:
    """Return the assured throughput beside more best-effort flows."""
    of = {name: assured(study.runs, name, case=FIRST) for name in (RIO, AT_MAX_U, ADAPTIVE)}
    return study.table(
        "more-flows",
        {**of, "RIO at max_U less Adaptive-RIO": of[AT_MAX_U].less(ADAPTIVE), "seeds": SEEDS},
        rows={"flows": "best-effort flows"},
        of={"case": FIRST, "period": ACTIVE},
        heading="Thresholds fixed at max_U, beside more best-effort flows",
        caption="Assured throughput in Mb/s while the flow is active in the first experiment (committed: 4 Mb/s).",
        digits=3,
    )


def delays_of_classes(study: Study) -> Table:
    """Return the queueing delays of both classes: a row per discipline and state of the assured flow."""
    found = common.measure(delays(study.effort), study.root, lambda _, numbers: numbers)
    by_state = [
        found.rename(columns=lambda name, end=f"_{state}": name.removesuffix(end)).assign(state=state)  # type: ignore[misc]
        for state in ("idle", "active")
    ]
    return study.table(
        "delays",
        {
            "mean, in profile, ms": "mean_in",
            "mean, out of profile, ms": "mean_out",
            "99 %, in profile, ms": "p99_in",
            "99 %, out of profile, ms": "p99_out",
            "seeds": SEEDS,
        },
        rows={"discipline": "discipline", "state": "assured flow"},
        runs=pd.concat(by_state, ignore_index=True),
        caption="Queueing delay at the bottleneck in the first experiment, without a packet's own transmission.",
        digits=3,
    )


def readings(study: Study) -> Iterator[Table]:
    """Yield the verdicts under each reading, and the effects behind them."""
    effort, runs = study.effort, study.runs
    max_th, off_s = (", ".join(map(str, values)) for values in (effort.reading_max_th, effort.reading_off_s))
    yield study.reading_verdicts(
        caption=f"How the verdicts move with each reading, at fewer points (max_th = {max_th}; off time {off_s} s; "
        f"{effort.reading_seeds} seeds)."
    )
    idle = runs.gain("total", ADAPTIVE, over=RIO, case="experiment1", period=IDLE).mean_over("period")
    yield study.by_reading(
        "effects",
        {
            **{f"utilization, max_th {at}": runs.of("utilization", case="figure2", max_th=at) for at in (6, 90)},
            "total gain while idle, Mb/s": idle,
            "total gain while active, Mb/s": active(runs, "total").less(RIO).mean_over("period"),
            "assured while active, Mb/s": assured(runs),
            "assured, share of RIO's": assured(runs).less(RIO).ratio(),
            **{f"gain of U_BE, off {at} s": utilization_gain(runs).at(off=at) for at in (0, 40)},
            "assured while on, off 40 s, Mb/s": runs.of("on", ADAPTIVE, case="experiment2", off=40),
        },
        caption="The effects behind them (gain is Adaptive-RIO less RIO), at the same points.",
        digits=3,
    )


PAPER = Paper(
    FILES,
    name="Adaptive-RIO",
    citation="Chien and Liao, “A Self-Configuring RED Gateway for Quality of Service (QoS) Networks”",
    claims=CLAIMS,
    effort=Effort,
    setups=setups,
    measure=read_run,
    page=page,
    rows=rows,
    others=delays,
    key=Key("figure-6", paper=""),
    lead=f"{LEAD} The paper prints no measured number: its results are Figures 2 and 4 to 7, and their sentences.",
    quick_note="This is the quick version, with few seeds, shorter runs of the second experiment and a part of the "
    "readings. `aqmlab reproduce adaptive-rio` runs 20 seeds, 1000 s each, and all readings.",
    seeds="{seeds} seeds a point (times {first_times} in the first experiment, {buffer_seeds} with other buffers)",
    example=EXAMPLE,
    scenarios=CASES,
    labels={"period": {name: f"{name}, {'active' if name in ACTIVE else 'idle'}" for name in PERIODS}},
    colors={ADAPTIVE: 1, RIO: 0, "RED": 0},
    compared=("E-a", "E-b", "E-c", "E-d", "E-e", "E-f"),
)
