"""The paper's page: Tables 1 to 4 and Figures 1 to 7 beside the runs, the open loop, and the readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pandas as pd

from aqmlab.figures import drop_curves
from aqmlab.figures.chart import Mode
from aqmlab.papers.common import (
    READINGS,
    SEEDS,
    Content,
    Figure,
    Fit,
    Key,
    Line,
    Network,
    P,
    Paper,
    Printed,
    Section,
    Study,
    Table,
    Text,
    parameters,
    pick,
)
from aqmlab.papers.common.open_loop import Averaged
from aqmlab.papers.mred import chain
from aqmlab.papers.mred.claims import BASELINES, CLAIMS
from aqmlab.papers.mred.measure import measure_run
from aqmlab.papers.mred.plan import CASES, DISCIPLINES, FIGURE_N, FILES, HEADLINES, QUEUE, Effort, setups, solutions
from aqmlab.papers.mred.rows import rows

COLORS = {"RED": 0, "gentle RED": 5, "MRED": 1, "ExRED": 3, "NLRED": 4}
OF_THE_LINK = "Throughput (Mb/s at the bottleneck, all packets); ratio is measured / printed."
LOSSES = {
    "loss": "as printed: drops / all enqueue events of the network",
    "loss_data": "drops / packets arriving at the bottleneck",
    "loss_both": "drops / packets arriving at the bottleneck, data and ACKs of both directions",
}
"""Definitions of loss."""


def page(study: Study) -> Iterator[Section]:
    """Make the sections of the page."""
    yield Section(
        "Tables 1 to 4", [*printed_tables(study), *differences(study), *losses(study), parameter_table(study)]
    )
    yield Section("Figures 1 to 7", [curves(study), *by_flows(study), *average_over_time(study), stability(study)])
    yield Section("By the chain", list(by_the_chain(study)))
    points = f"at n = {', '.join(map(str, study.effort.reading_flows))}, {study.effort.reading_seeds} seeds"
    verdicts = study.reading_verdicts(caption=f"How the verdicts move, {points}, against RED.")
    yield Section(READINGS, [readings(study, points), verdicts])


def printed_tables(study: Study) -> Iterator[Table]:
    """Yield Tables 1 to 4, and loss by its printed definition."""
    number = 0
    for case, words in CASES.items():
        for quantity, caption in (
            ("throughput", OF_THE_LINK),
            ("loss", f"Loss ({LOSSES['loss']}); ratio is measured / printed."),
        ):
            number += 1
            yield study.table(
                f"table-{number}",
                {name: study.runs.of(quantity, name) for name in DISCIPLINES},
                rows=["n"],
                of={"case": case},
                beside=True,
                heading=f"Table {number}: {quantity}, {words}",
                caption=caption,
            )


def differences(study: Study) -> Iterator[Table]:
    """Yield MRED less its baselines."""
    for quantity, words in (("throughput", "throughput in Mb/s"), ("loss", "loss")):
        gains = {name: study.runs.of(quantity).less(name) for name in BASELINES}
        yield study.table(
            f"differences-{quantity}",
            {
                "seeds": SEEDS,
                "printed MRED - RED": Printed(gains["RED"]),
                "measured MRED - RED": gains["RED"],
                "p (RED)": P(gains["RED"]),
                "measured MRED - gentle RED": gains["gentle RED"],
                "p (gentle RED)": P(gains["gentle RED"]),
            },
            rows=["case", "n"],
            of={"discipline": "MRED"},
            caption=f"Differences of {words}, paired by seed, with 95 % intervals (Student's, or Hall's if the "
            "differences are skewed) and their two-sided p. Claims rest on the paired t-test alone.",
            digits=3,
        )


def losses(study: Study) -> Iterator[Text | Table]:
    """Yield loss by its other definitions."""
    yield Text(
        "The paper heads its loss columns with % but prints fractions, and divides by something larger than the "
        "bottleneck's arrivals. Counting every enqueue event of the whole network fits (table below).",
        heading="Loss by its other definitions",
    )
    yield study.table(
        "loss-definitions",
        {
            words: Fit("relative", [study.runs.of(quantity)], paper={"discipline": "RED"})
            for quantity, words in LOSSES.items()
        },
        rows=["case", "discipline"],
        of={"discipline": BASELINES},
        caption="Each definition against the printed RED columns: root mean square of measured / printed - 1.",
        digits=3,
    )
    for quantity, name in (("loss_data", "loss-data"), ("loss_both", "loss-both")):
        yield study.table(
            name,
            {discipline: study.runs.of(quantity, discipline) for discipline in DISCIPLINES},
            rows=["case", "n"],
            beside=True,
            caption=f"Tables 2 and 4 with loss as {LOSSES[quantity]}.",
        )


def parameter_table(study: Study) -> Table:
    """Return printed parameters beside the effective ones."""
    plan = pick(study.setups, case="sole", n=FIGURE_N)[-1].plan
    effective = {"duration": plan.duration_s, **plan.link("bottleneck").parameters}
    cells = [cell for cell in FILES.cells() if cell.table == "parameters"]
    found = parameters(cells, lambda cell: effective[cell.quantity])
    caption = "Printed parameters beside the effective ones of the scenario."
    return Table("parameters", found, heading="Parameter table", caption=caption)


def curves(study: Study) -> Figure:
    """Return Figure 1: drop probability against the average queue."""
    found = pick(study.setups, case="sole", n=FIGURE_N)
    bodies = {str(setup.key["discipline"]): setup.plan.queue_table("bottleneck") for setup in found}
    return study.figure(
        drop_curves(bodies, top=100),
        key="figure-1",
        title="Figure 1: drop probability and average queue",
        alt="MRED rises as a parabola to 0.1 at 30 packets, below RED's straight line, then straight to 1 at 60; "
        "classic RED jumps to 1 at 30.",
        caption="From the code that is simulated. MRED is nowhere above RED, and equals gentle RED from 30 packets on.",
        y_range=(0, 1.02),
        command="aqmlab draw paper:mred/sole.toml --set queue.bottleneck.aqm=red",
    )


def by_flows(study: Study) -> Iterator[Figure | Network]:
    """Yield the network, and throughput and loss against the number of flows, measured and printed."""
    yield study.network(
        "figure-2",
        "Figure 2: network",
        caption="n TCP flows and, in the mixed case, two of UDP; each with hosts of its own.",
        case="mixed", n=40, discipline="MRED",
    )  # fmt: skip
    for number, case, quantity, label in (
        (3, "sole", "throughput", "throughput, Mb/s"),
        (4, "mixed", "throughput", "throughput, Mb/s"),
        (5, "mixed", "loss", "loss, share of all enqueue events"),
    ):
        measured = {name: study.runs.of(quantity, name) for name in DISCIPLINES}
        printed = {f"{name}, printed": Line(Printed(measured[name]), mode="dashed") for name in ("RED", "MRED")}
        yield study.chart(
            f"figure-{number}",
            f"Figure {number}: {quantity}, {CASES[case]}",
            {**measured, **printed},
            x="n",
            of={"case": case},
            x_label="TCP flows n",
            y_label=label,
        )


def average_over_time(study: Study) -> Iterator[Figure]:
    """Yield the average queue against time."""
    for number, case in ((6, "sole"), (7, "mixed")):
        yield study.over_time(
            f"figure-{number}",
            f"Figure {number}: average queue against time, n = {FIGURE_N}, {CASES[case]}",
            {name: study.runs.of("average", name) for name in DISCIPLINES},
            samples="queue_samples",
            link="bottleneck",
            of={"case": case, "n": FIGURE_N},
            caption="One run (seed 1). Means and standard deviations over all seeds are in the table below.",
            command=f"aqmlab compare paper:mred/{case}.toml --aqm red,gentle-red,mred --set flow.tcp.count=40 --seeds "
            "1 --out again && aqmlab report again",
            x_label="time, s",
            y_label="average queue, packets",
            panels=True,
            shades=[(3.0, 10.0, "10 Mb/s UDP")] if case == "mixed" else [],
        )


def stability(study: Study) -> Table:
    """Return RED's average over time in numbers."""
    columns = {"mean after 5 s": "average_mean", "s.d. after 5 s": "average_sd", "mean 3-10 s": "burst_mean",
               "s.d. 3-10 s": "burst_sd"}  # fmt: skip
    return study.table(
        "stability",
        {"seeds": SEEDS, **columns},
        rows=["case", "n", "discipline"],
        caption="RED's average over time, in packets: mean and standard deviation, averaged over the seeds.",
        digits=4,
    )


def by_the_chain(study: Study) -> Iterator[Text | Table | Figure]:
    """Yield the open loop: the curves without TCP."""
    averaged = Averaged.read(QUEUE, solutions(study.effort), study.root)
    loop = chain.open_loop(averaged)
    ours = [finding for finding in study.judged[0] if finding.reading == "ns-2's"]
    claims, points = chain.against_tcp(ours, averaged), chain.at_tcp_loads(study.base)
    yield Text(
        "The curves without TCP: Poisson arrivals of a given load into the paper's queue, an open loop, solved "
        "as a Markov chain (that of the ExRED paper, for any curve). At most 100 packets are in the system, the one in "
        "service included; drops are not spaced; packets have 1040 B on average and exponential lengths. MRED is never "
        "above RED at any average, so here it always drops less and carries more; under TCP the load is no longer "
        "given, but made by the drops."
    )
    yield Table(
        "chain-claims",
        claims,
        caption="The paper's claims in the open loop and under TCP. Agree: whether both say the same; open where TCP "
        "left the claim undecided.",
    )
    yield Text(chain.agreement(claims, points))
    yield from chain_figures(study, loop)
    yield study.table(
        "chain",
        {
            "probability of a drop": "p_drop",
            "throughput, Mb/s": "throughput",
            "mean wait, ms": "wait_ms",
            "drops in a row, E(N)": "mean_run",
            "s.d. of the average, packets": "sd_average",
        },
        rows=["load", "discipline"],
        of={"w": QUEUE.w_q},
        runs=loop,
        exact=True,
        caption="Number in system and average together, w = 0.002: the chain that has RED's average.",
        digits=4,
    )
    yield Table(
        "chain-at-tcp-loads",
        points,
        caption="TCP alone beside the chain (w = 1) at the load that TCP offered (arrivals at the bottleneck over what "
        "it can carry). Packets waiting are those not in service.",
        digits=4,
    )


def chain_figures(study: Study, loop: pd.DataFrame) -> Iterator[Figure]:
    """Yield the numbers of both chains against the load, those near each other less RED's."""
    modes: list[tuple[float, Iterable[str], Mode]] = [(1.0, COLORS, "line"), (QUEUE.w_q, DISCIPLINES, "dotted")]
    for quantity, words, label, less in (
        ("p_drop", "drops less RED's", "P_drop less RED's", True),
        ("throughput", "throughput less RED's", "throughput less RED's, Mb/s", True),
        ("wait_ms", "mean wait", "mean wait, ms", False),
        ("mean_run", "drops in a row", "drops in a row, E(N)", False),
    ):
        lines = {}
        for w, names, mode in modes:
            for name in names:
                numbers = study.runs.of(quantity, name, w=w)
                if not less or name != "RED":
                    lines[f"{name}, w = {w:g}"] = Line(numbers.less("RED") if less else numbers, mode=mode)
        yield study.chart(
            f"chain-{quantity.replace('_', '-')}",
            f"By the chain: {words}",
            lines,
            x="load",
            runs=loop,
            caption="An open loop with the paper's parameters. Solid: the number in system for the average (w = 1); "
            "dotted: with RED's average (w = 0.002), where that chain was solved.",
            x_label="offered load λ/μ",
            y_label=label,
        )


def readings(study: Study, points: str) -> Table:
    """Return how much each reading matters."""
    columns: dict[str, Content] = {"seeds": SEEDS}
    for case in CASES:
        red = {key: study.runs.of(key, "RED", case=case) for key in ("throughput", "loss")}
        gain = {key: study.runs.gain(key, "MRED", over="RED", case=case) for key in red}
        columns |= {
            f"rms error of throughput, Mb/s ({CASES[case]})": Fit("difference", [red["throughput"]]),
            f"rms relative error of loss ({CASES[case]})": Fit("relative", [red["loss"]]),
        }
        for key, name in (("throughput", "throughput, Mb/s"), ("loss", "loss")):
            columns[f"rms error of MRED - RED, {name} ({CASES[case]})"] = Fit("difference", [gain[key]])
            columns[f"printed differences in reach, {key} ({CASES[case]})"] = Fit("in reach", [gain[key]])
        columns |= {
            f"MRED - RED, Mb/s ({CASES[case]})": gain["throughput"].mean_over("n"),
            f"MRED - RED, loss ({CASES[case]})": gain["loss"].mean_over("n"),
        }
    return study.by_reading(
        "readings",
        columns,
        caption=f"How much each reading matters, {points}: error against the printed RED columns and against the "
        "printed differences MRED - RED, and MRED - RED averaged over n with its 95 % interval over the seeds. A "
        "printed difference is in reach if it lies where one further run would with 95 % probability.",
        digits=3,
    )


PAPER = Paper(
    FILES,
    name="MRED",
    citation="Zhang, Ma, Wang and Xu, “MRED: An Improved Nonlinear RED Algorithm”",
    claims=CLAIMS,
    effort=Effort,
    setups=setups,
    measure=measure_run,
    page=page,
    rows=rows,
    others=solutions,
    key=Key("figure-3", ours="As measured here, drops spaced by ns-2's wait"),
    quick_note="This is the quick version, with few seeds and a part of the readings. `aqmlab reproduce mred` runs 50 "
    "seeds and all readings.",
    example="aqmlab run paper:mred/sole.toml --set flow.tcp.count=20 --set queue.bottleneck.aqm=mred --seeds {seeds}",
    scenarios=("sole", "mixed"),
    colors=COLORS,
    headlines=HEADLINES,
    compared_on={"discipline": ("RED", "MRED")},
)
