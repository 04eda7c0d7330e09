"""The paper's page: Figures 1 to 8, the simulation beside the chains, the best curve, TCP, and the readings."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.errors import capitalized
from aqmlab.papers.common import PROVENANCE, READINGS, Code, Content, Figure, Key, Paper, Section, Study, Table, Text
from aqmlab.papers.exred import best_page, figures, tables
from aqmlab.papers.exred.algorithm import ALGORITHM
from aqmlab.papers.exred.best_curve_charts import COLORS
from aqmlab.papers.exred.claims import CLAIMS
from aqmlab.papers.exred.measure import measure_run
from aqmlab.papers.exred.plan import EXRED, FILES, RED, RUN_LOADS, SCHEMES, Effort, loops, others, tcps
from aqmlab.papers.exred.rows import rows

JUDGED_FROM = 1.0
"""From this load on every scheme drops often enough for gaps of a few per cent to be seen in short runs too."""
POINTS = "{seeds} seeds a point, {arrivals:,} arrivals each"


def page(study: Study) -> Iterator[Section]:
    """Make the sections of the page."""
    yield Section("Figures 1 to 8", [*introduction(), *figures.open_loop(study)])
    yield Section("Numbers", list(numbers(study)))
    yield Section("Which curve is best at which load", list(best_page.blocks(study)))
    ours = Text(
        "The paper argues from TCP: consecutive drops make it slow down and leave the link idle. It measured no TCP. "
        "Here n greedy flows share a link of the paper's rate, with the paper's thresholds; gentle RED, which also has "
        "no step at k_h, is there too. Figures, tables and the claims D-g to D-j of this section are ours."
    )
    yield Section(
        "Left unmeasured by the paper: TCP",
        [ours, *figures.under_tcp(study), tables.under_tcp(study), tables.tcp_differences(study)],
    )
    yield Section(READINGS, list(readings(study)))
    queues = [f"# {point.key['scheme']}\n{point.arguments['queue']}" for point in loops(study.effort)[: len(SCHEMES)]]
    yield Section(PROVENANCE, [Code("\n\n".join(queues), fold="Queues of the open loop")])


def introduction() -> list[Text | Figure]:
    """Describe the model of the figures, and the algorithm."""
    floors = [f"at load {load} it stays above {figures.printed_floor(load):.2g}" for load in RUN_LOADS]
    return [
        Text(
            "Poisson arrivals, exponential service at 1000 packets/s, at most 100 packets in the system: an open loop, "
            "in which sources do not slow down. The paper prints no table; its figures hold its results. Beside the "
            "simulation stand two chains, which are solved here: the paper's own, in which the number in the system "
            "stands for the average (w = 1), and the chain of number and average (w = 0.02), which the paper leaves "
            "out."
        ),
        Text(
            "What (10) and (11) leave out: they drop all packets of a run with the p_d of one state, so departures "
            "between arrivals are ignored, against the paper's own (3), which counts them. For RED they have no use: "
            f"its chain visits k_h, where p_d = 1, so that (11) is infinite and (10) does not fall to 0. "
            f"{'; '.join(floors)}. RED's curves in the printed Figures 6 and 7 cannot come from them; exact runs, "
            "which count departures, are drawn beside."
        ),
        Figure(
            ALGORITHM,
            caption="The steps of section 3.2 and (14). The paper's Figure 1 is the analytical model described above. "
            "μ is the service rate, K the buffer; q counts the packet in service.",
        ),
    ]


def numbers(study: Study) -> Iterator[Text | Table]:
    """Yield parameters, the parabola's coefficients, and each quantity by load beside both chains."""
    yield Table(
        "parameters",
        tables.parameters(),
        heading="Parameters",
        caption="Printed parameters beside those of the runs.",
    )
    yield Table(
        "coefficients",
        tables.coefficients(),
        heading="The parabola's coefficients",
        caption="Below (14), a_0 is printed with the other sign; only the one chosen meets the paper's three "
        "conditions.",
    )
    for quantity, (name, title) in tables.QUANTITIES.items():
        found = tables.beside(study.runs, quantity)
        yield Table("", None, heading=f"{capitalized(title)} by load")
        yield Text(tables.largest_gaps(found, low=JUDGED_FROM))
        yield Table(
            f"by-load-{name}",
            found,
            tables.beside_text(found),
            caption="Both chains beside the simulation (w = 0.02) with its 95 % interval; a gap is measured / chain - "
            "1. A dash: that chain was not solved there, or nothing was dropped.",
        )


def readings(study: Study) -> Iterator[Table]:
    """Yield how verdicts and numbers of the open loop move with the readings."""
    yield study.reading_verdicts(
        caption=f"How the verdicts move from reading to reading, at some loads and {study.effort.reading_seeds} seeds; "
        "what a reading does not touch is left empty, and the chain's numbers are left out.",
    )
    of = study.runs.of
    columns: dict[str, Content] = {f"P_drop at load 1, {s}": of("p_drop", s, load=1.0) for s in (RED, EXRED)}
    columns["throughput at 1.05, ExRED - RED"] = study.runs.gain("throughput", EXRED, over=RED, load=1.05)
    columns |= {f"E(N) at 1.2, {s}": of("mean_run", s, load=1.2) for s in (RED, EXRED)}
    columns |= {f"wait at 1.2, {s}, ms": of("wait_ms", s, load=1.2) for s in (RED, EXRED)}
    yield study.by_reading(
        "reading-numbers",
        columns,
        of={"model": "simulated"},
        caption="Numbers behind them, with 95 % intervals.",
    )


PAPER = Paper(
    FILES,
    name="ExRED",
    citation="Prabhavat and Varakulsiripunth, “Performance Improvement on RED Based Gateway in TCP Communication "
    "Network”",
    claims=CLAIMS,
    effort=Effort,
    setups=tcps,
    measure=measure_run,
    page=page,
    rows=rows,
    others=others,
    key=Key("figure-7", paper="chain w = 1", beside="By the paper's equations"),
    lead=f"{POINTS}; every mean with its 95 % interval (Student's, or Hall's if the runs are skewed), every "
    "comparison paired by seed.",
    quick_note="This is the quick version, with few and short runs and a part of the readings. `aqmlab reproduce "
    "exred` runs 10 seeds of 2,000,000 arrivals and all readings.",
    seeds=POINTS,
    example="aqmlab run paper:exred/tcp.toml --set flow.tcp.count=20 --seeds {seeds}",
    scenarios=("tcp",),
    colors=COLORS,
)
