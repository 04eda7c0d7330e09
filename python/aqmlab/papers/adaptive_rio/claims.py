"""The claims of the paper, and two questions of ours about its idea.

Figures are read with a precision of about 0.1 Mb/s.
"""

from __future__ import annotations

from aqmlab.papers.adaptive_rio.measure import ABOVE, BUFFERED, CIR_MBPS, DEAD_ZONE, FIRST, LITTLE, MORE_FLOWS, PERIODS
from aqmlab.papers.adaptive_rio.plan import (
    ADAPTIVE,
    AT_C,
    AT_C_INIT,
    AT_MAX_U,
    BUFFER,
    BUFFER_FLOWS,
    CASES,
    CAUSE_BUFFER,
    DIALECTS,
    DISCIPLINES,
    DSRED,
    FLOYD93,
    NO_DEAD_ZONE,
    PARTS_OF_DSRED,
    RED,
    RIO,
    SMALL_BUFFERS,
)
from aqmlab.papers.common import Claims, Column, Numbers, Quantity, Runs, Tests, literal, strict
from aqmlab.papers.common.vocabulary import Choice

WORDS = {
    "figure2": "Figure 2",
    "min_th alone": "Figure 2, min_th alone",
    "experiment1": "first experiment",
    MORE_FLOWS: "first experiment, more best-effort flows",
    "experiment2": "second experiment",
    ABOVE: "source at 6 Mb/s",
    BUFFERED: "first experiment, other buffers",
    DEAD_ZONE: "first experiment, sampled at every update",
    LITTLE: "small assured traffic",
}
NETWORKS = {"C = 5 Mb/s": "C = 5 Mb/s", "160 ms": "160 ms there and back"}
"""Other networks that strict forms also test."""
UNPRINTED = "Rate and delay are not printed."
IDLE, ACTIVE = PERIODS[::2], PERIODS[1::2]
"""Periods of the first experiment, by the state of the assured flow."""
CHOSEN, SMALL, FLOYD = FIXED = (
    "100 packets under dsred",
    "50 to 70 packets under dsred",
    "50 to 100 packets under floyd93",
)
"""Baselines of Adaptive-RIO: buffer and dialect of RED. The first is the chosen reading."""
FIGURE_MBPS = 0.1
"""Precision to which a throughput can be read off a figure."""

CLAIMS = Claims(
    columns={
        "case": Column(
            values=WORDS
            | {f"{case}, {name}": f"{WORDS[case]}, {words}" for case in CASES for name, words in NETWORKS.items()}
        ),
        "discipline": Column(values=(RED, *DISCIPLINES, NO_DEAD_ZONE)),
        "buffer": Column("buffer"),
        "dialect": Column(values=tuple(DIALECTS)),
        "max_th": Column("max_th"),
        "min_th": Column("min_th"),
        "rate": Column("assured rate in kb/s"),
        "off": Column("off time"),
        "flows": Column("best-effort flows"),
        "period": Column(values=("", "whole run", *PERIODS)),
    },
    quantities={
        "utilization": Quantity("utilization"),
        "u_be": Quantity("best-effort utilization"),
        "on": Quantity("assured throughput while on", "Mb/s"),
        "assured": Quantity("assured throughput", "Mb/s"),
        "best_effort": Quantity("best-effort throughput", "Mb/s"),
        "total": Quantity("total throughput", "Mb/s"),
        "c_share": Quantity("C' / C, mean over the run"),
        "over_share": Quantity("share of the time with the rate above C' + epsilon"),
        "threshold": Quantity("max_th of best effort, mean over the run", "packets"),
        "mean_delay": Quantity("mean queueing delay over the run", "ms"),
        "mean_queue": Quantity("mean queue over the run", "packets"),
        "timeouts": Quantity("time-outs per flow and minute"),
        "updates": Quantity("updates of max_th in a minute, assured flow active"),
        "drops_assured": Quantity("number of packets of the assured flow dropped in a run"),
        "drops_in": Quantity("number of packets in profile dropped in a run"),
        "loss_in": Quantity("loss of packets in profile"),
        "loss_out": Quantity("loss of packets out of profile"),
        "sd_average": Quantity("s.d. over time of the average queue", "packets"),
        "peak_rate": Quantity("highest rate of all arrivals over C"),
        "peak_queue": Quantity("average of all packets at the highest rate of all arrivals", "packets"),
    },
)


def on_networks(case: str) -> list[str]:
    """Return a case on the chosen network and on both others."""
    return [case, *(f"{case}, {network}" for network in NETWORKS)]


def active(runs: Runs, quantity: str, discipline: Choice = ADAPTIVE, *, case: Choice = "experiment1") -> Numbers:
    """Return a throughput of the first experiment in the periods in which the assured flow is active."""
    return runs.of(quantity, case=case, discipline=discipline).at(period=ACTIVE)


def assured(runs: Runs, discipline: Choice = ADAPTIVE, *, case: Choice = "experiment1") -> Numbers:
    """Return the assured throughput while active, averaged over both periods."""
    return active(runs, "assured", discipline, case=case).mean_over("period")


def by_flows(runs: Runs, discipline: str) -> Numbers:
    """Return the assured throughput while active, for each number of best-effort flows."""
    return assured(runs, discipline, case=FIRST).each("flows")


def by_buffer(runs: Runs, fixed: str, baseline: str) -> Numbers:
    """Return Adaptive-RIO's assured throughput while active less that of a fixed scheme, by buffer and flows."""
    gain = active(runs, "assured", case=BUFFERED).less(fixed).mean_over("period").each("buffer", "flows")
    return gain.at(dialect=DSRED, buffer=SMALL_BUFFERS) if baseline == SMALL else gain.at(dialect=FLOYD93)


def by_load(gain: Numbers) -> str:
    """Write such a gain for each buffer, first beside few flows, then beside many."""
    words = []
    for flows in BUFFER_FLOWS:
        own = gain.at(flows=flows).each("buffer")
        if own.intervals:
            words.append(f"{own} beside {flows} flows with {own.cells} packets")
    return "; ".join(words) or str(gain)


def on_buffers(runs: Runs, fixed: str, baseline: str, name: str = "") -> Tests:
    """Compare with a fixed scheme on other buffers and dialects: on average, and for each buffer and load."""
    gain = by_buffer(runs, fixed, baseline)
    general = gain.each().mean_over("period", "buffer", "flows")
    yield literal((general > 0).no_effect_below(FIGURE_MBPS), name=name)
    yield strict((gain > 0).no_effect_below(FIGURE_MBPS), name=name)


def of_total(runs: Runs, disciplines: Choice) -> str:
    """Write the assured and the total throughput of disciplines while the assured flow is active."""
    own, every = (
        active(runs, name, disciplines).mean_over("period").each("discipline") for name in ("assured", "total")
    )
    return f"{own.cells}: {own} of {every} Mb/s while active"


def whole_run(runs: Runs, disciplines: Choice, *quantities: str) -> list[Numbers]:
    """Return quantities of whole runs of the first experiment under disciplines."""
    return [
        runs.of(name, case="experiment1", discipline=disciplines, period="whole run").each("discipline")
        for name in quantities
    ]


def utilization_gain(runs: Runs, case: Choice = "experiment2") -> Numbers:
    """Return Adaptive-RIO's best-effort utilization less RIO's."""
    return runs.of("u_be", case=case, discipline=ADAPTIVE).less(RIO)


@CLAIMS.claim(
    "E-a",
    "The lower max_th, the lower the utilization",
    quote="With ten best-effort flows alone, a lower max_th (and min_th, a third of it) leaves more of the link unused "
    "(Figure 2).",
)
def utilization(runs: Runs) -> Tests:
    yield literal(runs.of("utilization", case="figure2").grows("max_th"))
    yield strict(runs.of("utilization", case=on_networks("figure2")).each("case").grows("max_th"), why=UNPRINTED)


@utilization.note()
def _(runs: Runs) -> str:
    here = runs.of("utilization", RED, case="figure2").each("max_th")
    return f"Utilization at max_th = {here.cells}: {here}."


@utilization.objection("The rule is meant for the authors' delays, which are not printed.")
def _(runs: Runs) -> str:
    far = runs.of("utilization", RED, case="figure2, 160 ms").each("max_th")
    return (
        f"It holds at 50 ms there and back as the literal form {runs.literal}. At 160 ms the utilization is {far} at "
        f"max_th = {far.cells}: many packets are on their way, and what a low threshold does depends on them."
    )


@CLAIMS.claim(
    "E-b",
    "Adaptive-RIO guarantees the assured throughput",
    quote="Figure 4 shows that Adaptive-RIO can guarantee the assured throughput (committed: 4 Mb/s).",
)
def guarantee(runs: Runs) -> Tests:
    yield literal(
        active(runs, "assured").each("period").above(CIR_MBPS, margin=0.2),
        why="5 % of the committed rate: the sentence rests on a curve of TCP's throughput in time, which rises and "
        "falls by more, and gives no number. Until first results were seen the bound was 0.1 Mb/s.",
    )
    yield strict(
        active(runs, "assured", case=on_networks("experiment1")).each("case", "period") > CIR_MBPS, why=UNPRINTED
    )


@guarantee.note()
def _(runs: Runs) -> str:
    return f"Assured throughput while active, Mb/s: Adaptive-RIO {assured(runs)}; RIO {assured(runs, RIO)}."


@guarantee.objection(
    "Rate and delay of the strict form are not those of the authors, whose network had room for 4 Mb/s."
)
def _(runs: Runs) -> str:
    here, slow, far = (assured(runs, case=case) for case in on_networks("experiment1"))
    udp = here.under("Assured flow of the first experiment (A-16): UDP at 4 Mb/s")
    return (
        f"At 10 Mb/s and 50 ms there and back TCP gets {here} Mb/s in the active periods, against {assured(runs, RIO)} "
        f"under RIO; at 5 Mb/s {slow}, at 160 ms {far}. A source that does not back off after drops (UDP at 4 Mb/s) "
        f"gets {udp}."
    )


@CLAIMS.claim(
    "E-c",
    "Adaptive-RIO has more total and best-effort throughput than RIO",
    quote="Figure 5 shows that it has better total throughput than RIO; note that it also has better best-effort "
    "throughput (no figure).",
)
def total(runs: Runs) -> Tests:
    gains = [runs.of(name, case="experiment1", discipline=ADAPTIVE).less(RIO) for name in ("total", "best_effort")]
    yield from (literal(gain.mean_over("period") > 0) for gain in gains)
    yield from (strict(gain.each("period") > 0) for gain in gains)


@total.note()
def _(runs: Runs) -> str:
    def against(period: Choice) -> str:
        own, rio = (
            runs.of("total", name, case="experiment1", period=period).mean_over("period") for name in (ADAPTIVE, RIO)
        )
        return f"{own} against {rio} ({own.less(RIO)})"

    return (
        "Total throughput, Adaptive-RIO against RIO, Mb/s: while the assured flow is idle "
        f"{against(IDLE)}, active {against(ACTIVE)}."
    )


@CLAIMS.claim(
    "E-d",
    "Best-effort utilization is always better than RIO's",
    quote="Figure 6: Adaptive-RIO's best-effort utilization is always better than RIO's.",
)
def best_effort(runs: Runs) -> Tests:
    yield literal(utilization_gain(runs).each("off") > 0)
    yield strict(utilization_gain(runs, on_networks("experiment2")).each("case", "off") > 0, why=UNPRINTED)


@best_effort.objection(
    "A bottleneck of 5 Mb/s is not the authors' network: 4 of its 5 Mb/s are committed.", fails="strict"
)
def _(runs: Runs) -> str:
    slow, here = (utilization_gain(runs, case).each("off") for case in ("experiment2, C = 5 Mb/s", "experiment2"))
    return (
        f"Best-effort utilization less RIO's at off time {slow.cells} s: {slow} at 5 Mb/s, {here} at 10 Mb/s (off time "
        f"{here.cells} s)."
    )


@CLAIMS.claim(
    "E-e",
    "The longer the assured flow is idle, the larger the improvement",
    quote="The longer the idle time of the assured flow, the better the improvement of best-effort utilization "
    "(Figure 6).",
)
def improvement(runs: Runs) -> Tests:
    yield literal(utilization_gain(runs).grows("off", steps="ends"))
    yield strict(utilization_gain(runs).grows("off"))


@best_effort.note()
@improvement.note()
def _(runs: Runs) -> str:
    by_off_time = utilization_gain(runs).each("off")
    return f"Improvement at a mean off time of {by_off_time.cells} s: {by_off_time}."


@improvement.objection("The sentence is about the whole curve, which flattens.", fails="strict")
def _(runs: Runs) -> str:
    by_off_time = utilization_gain(runs).each("off")
    return (
        f"The literal form, from the lowest to the highest off time, {runs.literal}. The improvement at off time "
        f"{by_off_time.cells} s is {by_off_time}."
    )


@CLAIMS.claim(
    "E-f",
    "Adaptive-RIO meets the committed rate as RIO does",
    quote="Figure 7: both meet the committed rate of the assured flow (4 Mb/s); Adaptive-RIO achieves it as "
    "effectively as RIO.",
)
def committed(runs: Runs) -> Tests:
    both = (RIO, ADAPTIVE)
    yield literal(
        runs.of("on", case="experiment2", discipline=both).each("discipline", "off").above(CIR_MBPS, margin=0.1),
        name="the committed rate",
        why="0.1 Mb/s is the precision to which a figure can be read. The source sends 4 Mb/s, which is all that can "
        "arrive.",
    )
    adaptive, rio = (runs.of("on", case="experiment2", discipline=name).each("off") for name in (ADAPTIVE, RIO))
    yield strict(adaptive.equals(rio, within=0.04), name="as RIO", why="1 % of the committed rate.")
    yield strict(
        runs.of("on", case=ABOVE, discipline=both).each("discipline", "off") > CIR_MBPS,
        name="source at 6 Mb/s",
        why="The source sends more than the committed rate, so that more or less than it can arrive.",
    )
    yield strict(
        active(runs, "assured", both).each("discipline", "period") > CIR_MBPS,
        name="TCP",
        why="TCP of the first experiment sends as much as it can.",
    )


@committed.note()
def _(runs: Runs) -> str:
    own, rio = (runs.of("on", name, case="experiment2").each("off") for name in (ADAPTIVE, RIO))
    return f"Assured throughput while on, Mb/s, at a mean off time of {own.cells} s: Adaptive-RIO {own}; RIO {rio}."


@committed.objection(
    "Figure 7 is about the second experiment, whose source sends at the committed rate whatever is dropped."
)
def _(runs: Runs) -> str:
    second, fast = (runs.of("on", ADAPTIVE, case=case).mean_over("off") for case in ("experiment2", ABOVE))
    return (
        f"There the literal form {runs.literal}: {second} Mb/s averaged over the off times, and {fast} if the source "
        "sends 6 Mb/s. TCP of the first experiment, which the same sentence promises 4 Mb/s, gets "
        f"{assured(runs, RIO)} under RIO and {assured(runs)} under Adaptive-RIO in its active periods."
    )


@CLAIMS.claim(
    "E-g",
    "A reference point that moves is better than one that stands still",
    quote="Section 3 gives as reason for moving C': fixed at C the guarantee would suffer, fixed at C_init bandwidth "
    "would be wasted. It shows no run.",
    own=True,
    against=FIXED,
)
def reference_point(runs: Runs, baseline: str) -> Tests:
    if baseline != CHOSEN:
        yield from on_buffers(runs, AT_C, baseline, "guarantee")
        return
    gains = {"guarantee": active(runs, "assured").less(AT_C), "bandwidth": active(runs, "total").less(AT_C_INIT)}
    for name, gain in gains.items():
        yield literal((gain.mean_over("period") > 0).no_effect_below(FIGURE_MBPS), name=name)
        yield strict((gain.each("period") > 0).no_effect_below(FIGURE_MBPS), name=name)


@reference_point.note(against=(CHOSEN,))
def _(runs: Runs, _: str) -> str:
    c, over, max_th = whole_run(runs, (ADAPTIVE, AT_C, AT_C_INIT), "c_share", "over_share", "threshold")
    return (
        f"{of_total(runs, (ADAPTIVE, AT_C, AT_C_INIT))}; C' over the run {c} C, the rate above C' + ε {over} of the "
        f"time, max_th {max_th} packets."
    )


@reference_point.objection(
    "A reference point at C fails when best effort rises too fast to be pushed back in time.", against=(CHOSEN,)
)
def _(runs: Runs, _: str) -> str:
    own, every = (active(runs, name, AT_C).less(ADAPTIVE).mean_over("period") for name in ("assured", "total"))
    return (
        "No run has such a rise beside the assured flow's own start, which all of them have: in its active periods C' "
        f"fixed at C changes the assured flow by {own} Mb/s and the total by {every} against Adaptive-RIO."
    )


@CLAIMS.claim(
    "E-h",
    "Thresholds fixed at max_U would cost the assured flow its throughput",
    quote="The reason for the whole scheme: low thresholds for best effort protect assured traffic, so they may be "
    "raised only while there is none. The paper never runs RIO with high thresholds.",
    own=True,
    against=FIXED,
)
def thresholds(runs: Runs, baseline: str) -> Tests:
    if baseline != CHOSEN:
        yield from on_buffers(runs, AT_MAX_U, baseline)
        return
    yield literal((assured(runs).less(AT_MAX_U) > 0).no_effect_below(FIGURE_MBPS))
    each = active(runs, "assured", case=FIRST).less(AT_MAX_U).each("flows", "period") > 0
    yield strict(each.no_effect_below(FIGURE_MBPS), why="More best-effort flows press harder on the assured flow.")


@reference_point.note(against=(SMALL, FLOYD))
def _(runs: Runs, baseline: str) -> str:
    gain = by_buffer(runs, AT_C, baseline)
    return f"Assured throughput less that with C' fixed at C, Mb/s: {by_load(gain)}."


@thresholds.note(against=(SMALL, FLOYD))
def _(runs: Runs, baseline: str) -> str:
    gain = by_buffer(runs, AT_MAX_U, baseline)
    return f"Assured throughput less that of RIO at max_U, Mb/s: {by_load(gain)}."


@reference_point.objection(
    "The authors ran ns-2's DiffServ module, whose default buffer is 50 packets.", against=(FLOYD,)
)
def _(runs: Runs, _: str) -> str:
    return f"With dsred the same difference is, in Mb/s: {by_load(by_buffer(runs, AT_C, SMALL))}."


@thresholds.objection("Low thresholds are needed where many best-effort flows meet a small buffer.", against=(FLOYD,))
def _(runs: Runs, _: str) -> str:
    many = by_buffer(runs, AT_MAX_U, FLOYD).at(flows=BUFFER_FLOWS[-1]).each("buffer")
    return f"Beside {BUFFER_FLOWS[-1]} flows the difference with {many.cells} packets is {many} Mb/s."


@reference_point.note(against=(SMALL,))
@thresholds.note(against=(SMALL,))
def _(runs: Runs, _: str) -> str:
    def fixed(dialect: str, quantity: str = "assured") -> Numbers:
        place: dict[str, Choice] = {"case": BUFFERED, "buffer": CAUSE_BUFFER, "flows": 4, "dialect": dialect}
        if quantity == "assured":
            return active(runs, quantity, AT_MAX_U, case=BUFFERED).at(**place).mean_over("period")
        return runs.of(quantity, AT_MAX_U, **place, period="whole run")

    spacing, room = PARTS_OF_DSRED
    queue, other = fixed(DSRED, "mean_queue"), fixed(spacing, "mean_queue")
    return (
        "Cause: dsred drops no packet early once count p_b passes 1, until a forced drop restarts the count, and a "
        "full buffer drops a packet before average and count see it. If the buffer keeps the average below max_th, the "
        f"queue becomes drop-tail. RIO at max_U with {CAUSE_BUFFER} packets and 4 flows: {fixed(DSRED)} Mb/s of the "
        f"assured flow, with a mean queue of {queue} packets; with the spacing of floyd93 alone {fixed(spacing)} Mb/s "
        f"and {other} packets; if average and count see every packet {fixed(room)} Mb/s. Adaptive-RIO lowers max_th "
        "until drops are forced."
    )


@thresholds.note(against=(CHOSEN,))
def _(runs: Runs, _: str) -> str:
    three = (RIO, ADAPTIVE, AT_MAX_U)
    delay, dropped, inside = whole_run(runs, three, "mean_delay", "drops_assured", "drops_in")
    return (
        f"{of_total(runs, three)}, mean queueing delay over the run {delay} ms. Packets of the assured flow dropped in "
        f"a run: {dropped}, {inside} of them in profile. What slows it down are drops of its own packets out of "
        "profile, and low thresholds drop those first."
    )


@thresholds.objection(
    "Four best-effort flows press too little; low thresholds are needed under a heavier load.", against=(CHOSEN,)
)
def _(runs: Runs, _: str) -> str:
    more = by_flows(runs, ADAPTIVE).less(AT_MAX_U)
    return (
        f"Adaptive-RIO less RIO fixed at max_U, assured throughput beside {more.cells} best-effort flows: {more} Mb/s."
    )


@CLAIMS.claim(
    "E-i",
    "The dead zone of epsilon avoids updates of the thresholds",
    quote="The condition of C' ± epsilon is set to avoid overly frequent updates on the threshold when the changes are "
    "relatively small and oscillate between C' ± epsilon (section 3).",
)
def dead_zone(runs: Runs) -> Tests:
    less = runs.gain("updates", ADAPTIVE, over=NO_DEAD_ZONE, case=DEAD_ZONE)
    yield literal(less < 0)
    yield strict(
        runs.of("updates", ADAPTIVE, case=DEAD_ZONE) < 0.5 * runs.of("updates", NO_DEAD_ZONE, case=DEAD_ZONE),
        why="Overly frequent: at least half of the updates are avoided.",
    )


@dead_zone.note()
def _(runs: Runs) -> str:
    with_it, without = (runs.of("updates", name, case=DEAD_ZONE) for name in (ADAPTIVE, NO_DEAD_ZONE))
    kept = active(runs, "assured", case=DEAD_ZONE).less(NO_DEAD_ZONE).mean_over("period")
    return (
        f"Updates of max_th in a minute with the assured flow active (300 are possible): {with_it} with epsilon, "
        f"{without} with epsilon = 0. Assured throughput less that with epsilon = 0: {kept} Mb/s."
    )


@CLAIMS.claim(
    "E-j",
    "Small thresholds cause time-outs, large ones delay",
    quote="If the thresholds are set too small, there will be many timeouts when the network is heavily loaded; if "
    "they are set too large, the accumulated packets will incur large delay (introduction, after its reference 3).",
)
def timeouts(runs: Runs) -> Tests:
    fewer, later = (runs.of(name, case="figure2") for name in ("timeouts", "mean_delay"))
    yield literal(fewer.falls("max_th", steps="ends"), name="time-outs")
    yield literal(later.grows("max_th", steps="ends"), name="delay")
    yield strict(fewer.falls("max_th"), name="time-outs")
    yield strict(later.grows("max_th"), name="delay")


@timeouts.note()
def _(runs: Runs) -> str:
    fewer, later = (runs.of(name, RED, case="figure2").each("max_th") for name in ("timeouts", "mean_delay"))
    return f"At max_th = {fewer.cells}: {fewer} time-outs per flow and minute; mean queueing delay {later} ms."


@timeouts.objection("The sentence is about settings that are too small, not about every step.", fails="strict")
def _(runs: Runs) -> str:
    fewer = runs.of("timeouts", RED, case="figure2").each("max_th")
    return f"The literal form, from the lowest to the highest max_th, {runs.literal}: {fewer} time-outs."


@CLAIMS.claim(
    "E-k",
    "Routers drop packets out of profile first",
    quote="Routers can preferentially drop the packets that are marked as out during network congestion "
    "(introduction, on RIO).",
)
def out_first(runs: Runs) -> Tests:
    both = (RIO, ADAPTIVE)
    inside, outside = whole_run(runs, both, "loss_in", "loss_out")
    yield literal(outside.at(discipline=RIO).less(quantity="loss_in") > 0)
    yield strict(inside < 0.1 * outside, name="a tenth", why="Out first: loss in profile is below a tenth of it.")
    second = runs.of("loss_out", case="experiment2", discipline=both).each("discipline", "off")
    yield strict(second.less(quantity="loss_in") > 0, name="second experiment")


@out_first.note()
def _(runs: Runs) -> str:
    inside, outside = whole_run(runs, (RIO, ADAPTIVE), "loss_in", "loss_out")
    return f"{outside.cells}: loss of {outside} out of profile, {inside} in profile (first experiment)."


@CLAIMS.claim(
    "E-l",
    "Utilization over min_th agrees with that over max_th",
    quote="Due to space limitations, only the results of max_th is shown. The utilization curve of min_th is "
    "consistent with that in Fig. 2 (section 2).",
)
def over_min_th(runs: Runs) -> Tests:
    yield literal(runs.of("utilization", case="figure2").grows("min_th"))
    yield strict(
        runs.of("utilization", case="min_th alone").grows("min_th", steps="ends"),
        why="max_th stays at 45 packets, so that the curve is about min_th.",
    )


@over_min_th.note()
def _(runs: Runs) -> str:
    alone, queue, swing = (
        runs.of(name, RED, case="min_th alone").each("min_th") for name in ("utilization", "mean_queue", "sd_average")
    )
    return (
        f"min_th moved alone, at {alone.cells} packets: utilization {alone}; mean queue {queue}, s.d. of the average "
        f"{swing} packets. The queue grows longer, and swings more."
    )


@over_min_th.objection("In this simulation max_th is always three times min_th.")
def _(runs: Runs) -> str:
    both = runs.of("utilization", RED, case="figure2").each("min_th")
    return (
        f"With that ratio, which is Figure 2 itself, the literal form {runs.literal}: {both} at min_th = {both.cells}."
    )


@CLAIMS.claim(
    "E-m",
    "With both kinds of traffic Adaptive-RIO works as RIO",
    quote="The router operates as a normal RIO gateway when both types of traffic co-exist in the network or the "
    "resource is abundant (section 3).",
)
def as_rio(runs: Runs) -> Tests:
    both = [(active(runs, name), active(runs, name, RIO)) for name in ("assured", "best_effort")]
    for own, rio in both:
        yield literal(
            own.mean_over("period").equals(rio.mean_over("period"), within=0.2),
            why="5 % of the committed rate, as in E-b: the sentence gives no number.",
        )
        yield strict(own.each("period").equals(rio.each("period"), within=FIGURE_MBPS))


@as_rio.note()
def _(runs: Runs) -> str:
    (max_th,) = whole_run(runs, ADAPTIVE, "threshold")
    return (
        f"{of_total(runs, (RIO, ADAPTIVE))}. The mean max_th of Adaptive-RIO then is {max_th} packets; RIO's is max_L."
    )


@as_rio.objection("Both kinds of traffic only share the link in the active periods once the thresholds are back.")
def _(runs: Runs) -> str:
    own, rio = (active(runs, "best_effort", name).each("period") for name in (ADAPTIVE, RIO))
    (over,) = whole_run(runs, ADAPTIVE, "over_share")
    return (
        "They do not come back: the rate of all arrivals, which TCP adjusts to the link, is above C' + ε in "
        f"{over} of these periods. Best-effort throughput in them: {own} Mb/s, {rio} under RIO."
    )


@CLAIMS.claim(
    "E-n",
    "When all arrivals exceed C, the queue fills up",
    quote="Once the total arrival rate exceeds the maximum outgoing capacity (C), the queue will be filled up rapidly "
    "(section 3).",
)
def fills_up(runs: Runs) -> Tests:
    engaged = runs.of("peak_rate", ADAPTIVE, case=FIRST) > 1
    filled = runs.of("peak_queue", ADAPTIVE, case=FIRST).each("flows")
    yield literal((filled > BUFFER / 2).where(engaged), why="Filled up: more than half of the buffer of 100 packets.")
    yield strict((filled > 0.9 * BUFFER).where(engaged), why="Nine tenths of the buffer.")


@fills_up.note()
def _(runs: Runs) -> str:
    rate, queue = (runs.of(name, ADAPTIVE, case=FIRST).each("flows") for name in ("peak_rate", "peak_queue"))
    return (
        f"Highest rate of all arrivals over 5 s beside {rate.cells} best-effort flows: {rate} C, with an average queue "
        f"of {queue} packets."
    )


@fills_up.objection("The queue stays short since the thresholds were lowered at this signal.")
def _(runs: Runs) -> str:
    fixed = runs.of("mean_queue", AT_MAX_U, case=MORE_FLOWS).each("flows")
    return f"With RIO fixed at max_U the mean queue beside {fixed.cells} flows is {fixed} packets."


@CLAIMS.claim(
    "E-o",
    "RIO's low thresholds limit best effort when there is little assured traffic",
    quote="Fixed and low out-of-profile thresholds limit best-effort throughput when assured flows are frequently "
    "absent or the amount of assured flows is small (abstract).",
)
def small_assured_traffic(runs: Runs) -> Tests:
    gain = utilization_gain(runs, LITTLE)
    yield literal(gain.mean_over("rate") > 0)
    yield strict(gain.each("rate") > 0)


@small_assured_traffic.note()
def _(runs: Runs) -> str:
    rio, gain = runs.of("u_be", RIO, case=LITTLE).each("rate"), utilization_gain(runs, LITTLE).each("rate")
    return (
        f"An assured source of {rio.cells} kb/s, always on: best-effort utilization {rio} under RIO; Adaptive-RIO has "
        f"{gain} more."
    )


@CLAIMS.finding(
    "RIO's thresholds for best effort adapt: low while assured traffic needs protection, up to max_U while it leaves "
    "bandwidth unused.",
    holds="Adapting protects the assured flow where the buffer is about max_U (50 to 70 packets) and RED is that of "
    "ns-2's DiffServ module, which then stops dropping early. With 100 packets, RIO fixed at max_U never costs the "
    "assured flow 0.1 Mb/s or more against Adaptive-RIO.",
    fails="Either RIO fixed at max_U is as good as Adaptive-RIO with a buffer of 50 to 70 packets too, or it costs the "
    "assured flow 0.1 Mb/s or more with 100 packets.",
    undecided="In which buffers thresholds fixed at max_U cost the assured flow throughput, which is the reason to "
    "adapt, is undecided in these runs.",
)
def finding(runs: Runs) -> Tests:
    yield literal(by_buffer(runs, AT_MAX_U, SMALL) > 0)
    yield literal(by_flows(runs, AT_MAX_U).less(ADAPTIVE).above(0, margin=0.1))


@finding.text
def _(runs: Runs) -> str:
    fixed, adaptive, low = (by_flows(runs, name) for name in (AT_MAX_U, ADAPTIVE, RIO))
    return (
        f"Assured throughput in Mb/s beside {fixed.cells} best-effort flows: {fixed} with RIO fixed at max_U, "
        f"{adaptive} with Adaptive-RIO. RIO with its low thresholds: {low}. {smaller(runs)}"
    )


def smaller(runs: Runs) -> str:
    """Write the gain over RIO at max_U with other buffers, under both dialects."""
    small, floyd = (by_buffer(runs, AT_MAX_U, baseline) for baseline in (SMALL, FLOYD))
    other = "Under Floyd and Jacobson's RED"
    return f"Adaptive-RIO less RIO at max_U under dsred: {by_load(small)}. {other}: {by_load(floyd)}."
