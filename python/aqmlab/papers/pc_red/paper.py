"""The paper's page: Tables I to V and Figures 1 to 5 beside the runs, the model, and the readings."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from aqmlab.papers import common
from aqmlab.papers.common import READINGS, SEEDS, Figure, Line, Section, Study, Table, Text, chosen, measured, pick
from aqmlab.papers.common.contents import Block
from aqmlab.papers.common.paper import CHOSEN
from aqmlab.papers.pc_red import channels, diagrams, loops, measure, plan
from aqmlab.papers.pc_red import figures as drawn
from aqmlab.papers.pc_red import tables as printed
from aqmlab.papers.pc_red.claims import CLAIMS
from aqmlab.papers.pc_red.plan import CASES, CHANNEL_CASES, SWING_CASES
from aqmlab.papers.pc_red.rows import rows
from aqmlab.results import folders
from aqmlab.statistics import Interval
from aqmlab.theory.control.loop import Loop

GENTLE = "gentle RED's curve"
"""Name of the reading without a step at max_th."""
Row = dict[str, str | float | Interval]


def page(study: Study) -> Iterator[Section]:
    """Make the sections of the page."""
    yield Section("Tables I to V", list(printed_tables(study)))
    yield Section("Figures 1, 4 and 5", list(networks_and_queue(study)))
    yield Section("The model", list(model(study)))
    yield Section("Left unmeasured by the paper", [*a_d_and_drops(study), beside(study), *admission_limit(study)])
    yield Section(READINGS, list(compared_readings(study)))


def printed_tables(study: Study) -> Iterator[Block]:
    """Yield Tables I to V and the parameters."""
    yield Text(
        "Throughput is that of one flow in bins of 20 s after the first 100 s, in KB/s of 1000 B. The printed averages "
        "are mid-ranges, (min + max) / 2, in 13 of 14 rows: each is set beside the measured mid-range and beside the "
        "measured mean. The paper heads a_d with bytes/s; it is bytes in an interval g here, and a_d / g is added. "
        "Fluctuation is a standard deviation over time."
    )
    for number in printed.TABLES:
        yield printed.beside(study.base, number)
    duration = study.effort.mesh_duration_s
    yield Text(
        "The links of Network 2 are not in the paper, so the numbers of Tables III and V cannot be expected to return; "
        f"their signs can.{f' Here {duration:g} s were run.' if duration < 3000 else ''}",
        note=True,
    )
    networks = {f"Network {n}": pick(study.setups, case=case)[0] for n, case in ((1, "PC-RED"), (2, "mesh, 10 %"))}
    caption = "Printed parameters beside the effective ones of the scenarios."
    yield Table("parameters", printed.parameters(networks), heading="Parameters", listed=False, caption=caption)


def networks_and_queue(study: Study) -> Iterator[Block]:
    """Yield Figures 1, 4 and 5, and the fluctuation of the queue."""
    yield Figure(diagrams.figure_1(), caption="▪ marks what PC-RED adds to RED (grey in the paper).")
    yield study.network("figure-4", "Figure 4: Network 1", caption="Each flow has hosts of its own.", case="PC-RED")
    torus = "The paper's links are not known; this is a torus of 3 by 4 routers with 40 hosts each."
    yield study.network("figure-5", "Figure 5: Network 2", caption=torus, case="mesh, 10 %")
    yield Text(
        "The paper takes the time that the additional functions need as the cause. The simulated router needs none. "
        "The middle row has PC-RED's victims (a random packet of the queue pays in place of the arriving one) with an "
        "L that no flow ever loses, so that no flow is protected.",
        heading="Why the queue fluctuates more",
    )
    yield study.over_time(
        "average-queue", "Experiment 1: average queue against time",
        {CASES[case].title: study.runs.of("average", case) for case in ("RED", "unprotected", "PC-RED")},
        samples="queue_samples", time_range=(500, 700),
        caption="200 s of one run (seed 1). The table below has all seeds.", x_label="time, s",
        y_label="average queue, packets",
    )  # fmt: skip
    yield study.table(
        "fluctuation",
        {
            "mean of the average": "average_mean", "s.d. of the average": "average_sd",
            "half-range of the average": "average_half_range", "mean of the queue": "queue_mean",
            "s.d. of the queue": "queue_sd", "share of the time at or above max_th": "above_share",
            "drops in a burst": "burst_drops", "flows hit by a burst": "burst_flows",
        },
        rows=["case"], of={"case": ["RED", "decision time", "unprotected", "PC-RED", "w = 5e-3", "10 %", "30 %"]},
        labelled=True, caption="Queue and average in packets, after the first 100 s. With 0.8 ms a decision the link "
        "sends 114 packets/s in place of 125.", digits=4,
    )  # fmt: skip
    for (_, name), runs in study.readings.items():
        if name == GENTLE:
            red, full = (measured(runs, "average_sd", case=case).mean for case in ("RED", "PC-RED"))
            yield Text(
                "Classic RED has a step at max_th, from where on every arrival costs a packet. With gentle RED's "
                f"curve, which has none, the s.d. of the average is {red:.2f} packets under RED and {full:.2f} under "
                "PC-RED."
            )


def model(study: Study) -> Iterator[Block]:
    """Yield the model of section 4: its blocks, Figure 3, the shares of drops, and the loop."""
    yield Figure(
        diagrams.figure_2(),
        caption="▪ marks the three channels that PC-RED puts in the place of RED's one. In equations (2) to (4) they "
        "add up to 1. The gains are those of Hollot et al. and of the paper's equations.",
    )
    for chart in (drawn.figure_3(), drawn.figure_3_surface(), drawn.figure_3_crossing()):
        yield Figure(chart)
    yield Text(
        "Which share of the drops falls to each kind of flow? The priority list was kept again, outside the "
        f"simulator, from the log of every arrival, departure and drop of {plan.BURST_S:g} s, with a_d by equation "
        "(7); at every sample its counts are the simulator's, and a_d differs by "
        f"{float(study.base['replay_gap'].max()):.1g} bytes at most. Equations (2) to (4) are then taken at every "
        f"drop after {plan.CHANNELS_SINCE_S:g} s, with N_p+, N_p- and q of that moment, beside the drops that there "
        "were. These runs have more seeds than a first version had, whose intervals were wider than the effect.",
        heading="Equations (2) to (4) beside the drops",
    )
    shares = channels.shares_table(study.base)
    yield Table("model-channels", shares, caption="Shares of all drops, with 95 % intervals.", digits=3)
    yield Text(left_out(study.base))
    yield study.table(
        "model-state",
        {
            "N_p+": "list_plus", "N_p-": "list_minus", "queue at a drop, packets": "queue_at_drop",
            "share of protected packets in it": "queued_plus", "protected packets in a row at its tail": "tail",
            "C_p+ by (2) with that share and every k": "one_by_one",
        },
        rows=["case"], of={"case": CHANNEL_CASES}, labelled=True,
        caption="Quantities in the equations: means over the same drops.", digits=3,
    )  # fmt: skip
    yield from stability(study)


def left_out(base: pd.DataFrame) -> str:
    """Return the effects that the equations leave out, in sentences."""
    predicted, packets, picks, dropped = (
        measured(base, f"{way}_plus", case="30 %").mean for way in ("eq4", "packets", "picks", "drops")
    )
    return (
        f"With r_p = 30 %, equations (2) and (4) give N_p+ a share of {predicted:.3f} of the drops; it has "
        f"{dropped:.3f}, {dropped / predicted:.0f} times as much. Two things are left out of the equations. Protected "
        "flows send more than others, so that their share of the queue is above N_p+/N; with the queue's packets in "
        f"the place of flows, the equations give {packets:.3f}. And a protected packet is the victim not only if the "
        "pick falls on the last packet: any pick in a row of protected packets at the tail ends at the last one. The "
        "row is long, since packets of a flow arrive in bursts. Counting picks in the queue as it was at each drop "
        f"gives {picks:.3f}."
    )


def stability(study: Study) -> Iterator[Block]:
    """Yield the stability study of section 4.A, and the swings of the queue."""
    yield Text(
        "The paper takes the critical state, in which all high-priority flows are above their limit, and derives the "
        "loop L(jw) and the conditions (5) and (6). Findings on the algebra: the printed gain L_red (RC)^3 / (4 r_p^2 "
        "N^3 q) lacks the gain r_p N of the queue's block; the lag of TCP is written with N_p+ in the place of N, as "
        "if the protected flows had the whole capacity, while N flows share it; the phase at w_g is written without "
        "the lags of TCP and queue. Since the left side of (6) falls with r_p and its right side grows, (6) is a "
        "lower bound on r_p: only (5) bounds it from above, and (5) only says that TCP's lag is slower than the "
        "queue's. For abs(L(j w_g)) below 1, sqrt(w_g^2/K^2 + 1) in the place of w_g/K suffices, as in Hollot et al.",
        heading="The stability study of section 4.A",
    )
    yield Table(
        "model-conditions", loops.conditions_table(),
        caption="Conditions (5) and (6) on Network 1 with q = 33. (6) with r_p N has the gain derived here; the last "
        "but two columns say from which r_p on it holds. Phases in degrees.",
        digits=4,
    )  # fmt: skip
    margins = loops.margins_table()
    yield Table("model-margins", margins, caption="The loop as printed, as derived, and that of plain RED.", digits=4)
    for chart in (*loops.bode_charts(), loops.nyquist_chart()):
        yield Figure(chart)
    yield Text(
        "With R = 0.1 s, that is without the time spent in the queue, 30 % is just below the bound of (5), 31.25 %: "
        "this must be the paper's critical state. With the queue of Table I the bound is above 1, and no share of "
        "high-priority flows can reach it. In every case abs(L) is below 1 at every frequency: the closed loop is "
        "stable by small gain, and the more so the more high-priority flows there are. The model therefore does not "
        "explain what Table IV shows with 30 %. Python-control has the margins, with the exact delay; that the closed "
        "loops are stable was found by Nyquist's count of turns round -1."
    )
    yield Table(
        "model-operating-points", loops.operating_points(),
        caption="Where the model is linearized. A loss probability of 5 is no probability; p above p_max is not on "
        "the part of the curve whose slope is L_red.",
        digits=4,
    )  # fmt: skip
    yield Text(
        "Spectrum and swings of the queue under RED and with 5, 10 and 30 % high-priority flows.",
        heading="Stability as seen in the queue",
    )
    yield Figure(drawn.queue_spectra(study.setups, study.root))
    yield Table(
        "model-swings", swings(study, margins),
        caption="The queue after the first 100 s, in packets; the last column is the share of its variance within a "
        "factor of sqrt(2) of the strongest frequency.",
        digits=3,
    )  # fmt: skip
    yield Text(swings_in_words(study.base))


def swings(study: Study, margins: pd.DataFrame) -> pd.DataFrame:
    """Return how the queue swings beside the model's gain margin, and with gentle RED's curve, if that was run."""
    columns = {
        "s.d. of the queue": "queue_sd",
        "s.d. of the average": "average_sd",
        "strongest at, Hz": "swing_hz",
        "share of the variance around it": "swing_share",
    }

    def row(runs: pd.DataFrame, case: str, under: str = "") -> Row:
        return {"case": CASES[case].title + under, **{k: measured(runs, q, case=case) for k, q in columns.items()}}

    found = [{**row(study.base, case), "gain margin by the model, dB": model_db(margins, case)} for case in SWING_CASES]
    runs = study.frame[study.frame["reading"].str.endswith(GENTLE)]
    gentle = [row(runs, case, f", {GENTLE}") for case in SWING_CASES if case in set(runs["case"])]
    return pd.concat([common.intervals_table(found), common.intervals_table(gentle)], ignore_index=True).fillna("")


def model_db(margins: pd.DataFrame, case: str) -> float:
    """Return the loop's gain margin with the loaded round trip, as derived here; plain RED's for RED."""
    loaded = margins[margins["R"].str.contains(" packets")]
    if case == "RED":
        return float(loaded[loaded["loop"].str.startswith("plain")]["dB"].iloc[0])
    share = dict(zip(CHANNEL_CASES, loops.SHARES, strict=True))[case]
    return float(loaded[(loaded["loop"] == "with r_p N") & (loaded["r_p"] == share)]["dB"].iloc[0])


def swings_in_words(base: pd.DataFrame) -> str:
    """Return the swings of the queue and those of a relay, in sentences."""
    (few, many), (one, other), around, hertz = (
        [measured(base, key, case=case).mean for case in ("10 %", "30 %")]
        for key in ("queue_sd", "average_sd", "swing_share", "swing_hz")
    )
    red = measured(base, "swing_hz", case="RED").mean
    loaded, plain = (loops.loop(rtt, 1.0, "hollot") for rtt in list(loops.round_trips().values())[1:])
    fluid = loops.fluid_swing()
    gentle = loops.gentle_loop(loops.round_trips()[loops.SIMULATED])
    return (
        f"From 10 % to 30 % the s.d. of the queue goes from {few:.2f} to {many:.2f} packets, that of the average from "
        f"{one:.2f} to {other:.2f}. The queue swings at one frequency, under plain RED already: with 10 % and 30 %, "
        f"{around[0]:.0%} and {around[1]:.0%} of its variance lie around {hertz[0]:.2f} and {hertz[1]:.2f} Hz. A loop "
        "whose gain is far below 1 has no such swing. But the queue stands at the step of classic RED's curve at "
        "max_th, from where on every arrival costs a packet, and a step has no slope to be taken for L_red: it acts as "
        "a relay, and a loop with a relay swings where its phase is -180 degrees. In the loop of plain RED that is at "
        f"{_crossover_hz(loaded):.2f} Hz (R with {loops.QUEUE:g} packets) and {_crossover_hz(plain):.2f} Hz (R as "
        f"simulated); measured under RED are {red:.2f} Hz. The fluid, integrated with the curve's step as it is (R as "
        f"simulated, no linearization), swings for ever at {fluid['swing_hz']:.2f} Hz, {fluid['swing_share']:.0%} of "
        "its variance being there. Gentle RED's curve has a slope there, (1 - p_max)/max_th, that is "
        f"{gentle.dc_gain / plain.dc_gain:.1f} times L_red: with it the loop of plain RED (R as simulated) has a gain "
        f"margin of {gentle.margins().gain_margin_db:.1f} dB at {_crossover_hz(gentle):.2f} Hz, and would hardly damp "
        "a swing. The relay was thought of after the spectra had been seen; they support it, and do not prove it."
    )


def _crossover_hz(loop: Loop) -> float:
    """Return where the phase of a loop is -180 degrees, in Hz."""
    return (loop.margins().phase_crossover or math.nan) / (2 * math.pi)


def a_d_and_drops(study: Study) -> Iterator[Block]:
    """Yield a_d and the protected flows against time, and the drop probabilities."""
    of = study.runs.of
    yield study.over_time(
        "a-d-against-time", "a_d of the observed flows against time",
        {w: of("a_d_first_high", w) for w in ("w = 5e-3", "w = 3e-3", "w = 3e-5")}
        | {f"Non, r_p = {share}": of("a_d_first_non", share) for share in ("10 %", "30 %")},
        samples="discipline_samples",
        alt="a_d of the high-priority flow reaches L = 70 within a minute or two with w = 5e-3 and 3e-3 and stays "
        "there; with 3e-5 it creeps up and does not reach it. a_d of the others climbs from 0 for about 1000 s.",
        caption="One run each (seed 1). The climb from 0 is a large part of what Table IV calls Non's fluctuation.",
        x_label="time, s", y_label="a_d, bytes in g", levels=[(70.0, "L = 70")],
    )  # fmt: skip
    yield study.over_time(
        "protected-against-time", "High-priority flows above their limit (N_p+) and below it (N_p-)",
        {
            f"N_p{sign}, r_p = {share}": Line(of(f"n_p_{name}", share), smooth=60)
            for share in ("10 %", "30 %")
            for sign, name in (("+", "plus"), ("-", "minus"))
        },
        samples="discipline_samples",
        alt="Mean over 60 s of the numbers of high-priority flows whose a_d is above L and of those where it is not.",
        caption="One run each (seed 1). The paper calls it the critical state when all of them are N_p+.",
        x_label="time, s", y_label="flows, mean over 60 s",
    )  # fmt: skip
    kinds = {"a_d above L": "p_plus", "a_d up to L": "p_minus", "no priority": "p_non"}
    yield study.chart(
        "drop-probability", "Drop probability of the three kinds of packets",
        {kind: Line(quantity, mode="bar") for kind, quantity in kinds.items()}, x="case", of={"case": CHANNEL_CASES},
        alt="Packets of flows above their limit are dropped least, those of flows without priority most.",
        caption="Means over the seeds with 95 % intervals.", y_label="drops / arrivals",
    )  # fmt: skip
    shares = {f"drops / arrivals, {kind}": quantity for kind, quantity in kinds.items()}
    yield study.table(
        "drop-probabilities", {**shares, "share of high-priority flows above L": "share_plus", "seeds": SEEDS},
        rows=["case"], of={"case": ["PC-RED", "w = 5e-3", "10 %", "30 %", "unprotected"]}, labelled=True,
        caption="Drop probability of data packets by what their flow's status was at arrival.", digits=3,
    )  # fmt: skip


def beside(study: Study) -> Table:
    """Return a w that is too large, separate buffers, and the beginning of a run."""
    return study.table(
        "beside",
        {
            "High, KB/s": "high_class", "Non, KB/s": "non_class", "High, first 100 s": "high_first",
            "Non, first 100 s": "non_first", "mean of the queue, packets": "queue_mean", "utilization": "utilization",
            "share of the time above L": "share_plus",
        },
        rows=["case"], of={"case": ["RED", "PC-RED", "10 %", "10 %, w = 0.1", *plan.SEPARATE, "30 %", "30 %, w = 0.1"]},
        labelled=True, heading="A large w, separate buffers, and the first 100 s",
        caption="Class means. Separate buffers have 25 packets each and the weights 1 (two flows) and 3 (18 flows).",
        digits=4,
    )  # fmt: skip


def admission_limit(study: Study) -> Iterator[Block]:
    """Yield r_p_max as an admission limit."""
    warned, refused = (_warnings(study, case) for case in ("warn", "refuse"))
    yield Text(
        "The paper names r_p_max and leaves its mechanism open. Here the router counts the flows in its list: a flow "
        "that would bring the share of high-priority flows above r_p_max is reported, or rejected, and a rejected flow "
        "is treated as one without priority until there is room. At the end of a run it says, warning: "
        f"{warned}. Rejecting: {refused}.",
        heading="r_p_max as an admission limit",
    )
    yield study.over_time(
        "share-of-priority", "r_p against time, with four more priority flows from 500 s on",
        {CASES[case].title: study.runs.of("r_p", case) for case in ("no limit", "refuse")},
        samples="discipline_samples", time_range=(0, 1000),
        alt="Without a limit r_p rises from 0.125 to 0.3 at 500 s; with the limit it falls to 0.1, since the new flows "
        "count as flows without priority.",
        caption="A limit that only warns changes nothing in this figure.", x_label="time, s", y_label="r_p",
        y_range=(0, 0.4), levels=[(0.13, "r_p_max = 0.13")],
    )  # fmt: skip
    yield study.table(
        "admission",
        {
            "r_p at the end": "r_p", "High, KB/s": "high_class", "asked for priority from 500 s, KB/s": "late_class",
            "Non, KB/s": "non_class", "a_d of High, bytes": "high_a_d",
            "reported or rejected beyond r_p_max": "refused",
        },
        rows={"case": "limit"}, of={"case": ["no limit", "warn", "refuse", "one path", "redirect"]}, labelled=True,
        caption="Two high-priority flows of 16, and four more that ask for priority from 500 s on; after 600 s. The "
        "last column counts flows that were reported, or packets that were denied priority. The second path has the "
        "rate and the delay of the link and carries redirected flows alone.",
        digits=4,
    )  # fmt: skip


def _warnings(study: Study, case: str) -> str:
    """Return the counters of a run at its end."""
    (setup,) = pick(study.setups, case=case)
    summary = folders.read_summary(setup.run_folder(study.root, 1))["summary"]
    return "; ".join(str(line) for line in summary.get("warnings", []))


def compared_readings(study: Study) -> Iterator[Table]:
    """Yield how much each reading matters."""
    of, few = study.runs.of, study.effort.reading_seeds
    yield Table(
        "measurement", measurement(study.base),
        caption="Readings of how the paper measured; they need no runs of their own. Printed averages: RED 3.85, "
        "PC-RED 11.5, w = 5e-3 8.5, 10 % 10.8 and 3, 30 % 8 and 0.5 KB/s; printed a_d 71, 70, 120, 80, 130; printed "
        "fluctuation 8, 2, 23, 4, 45.",
        digits=3,
    )  # fmt: skip
    caption = "How the verdicts on throughputs move with the bins, on all seeds."
    yield Table("verdicts-by-bins", study.verdicts(by_bins(study)), caption=caption)
    shares = {
        f"{share}: {title}": of(f"{group}_{key}", share)
        for name, key in (("a_d {}", "a_d"), ("{}, KB/s", "mid"))
        for share in ("10 %", "30 %")
        for group, title in (("high", name.format("High")), ("non", name.format("Non")))
    }
    table = study.by_reading(
        "readings",
        {
            "RED: average": of("average_mean", "RED"),
            "RED: s.d.": of("average_sd", "RED"),
            "PC-RED: average": of("average_mean", "PC-RED"),
            "PC-RED: s.d.": of("average_sd", "PC-RED"),
            "PC-RED: mid-range, KB/s": of("high_mid", "PC-RED"),
            "w = 3e-5: mid-range, KB/s": of("high_mid", "w = 3e-5"),
            **shares,
            "seeds": common.Count({"case": "RED"}),
        },
        caption=f"Network 1 under each other reading, taken alone, {few} seeds; mid-ranges. The factor is the "
        "root mean square of ln(measured / printed) over Tables I, II and IV, as a factor.",
        digits=3,
    )
    factors = [round(printed.typical_factor(own), 3) for own in study.readings.values()]
    for frame in (table.numbers, table.shown):
        if frame is not None:
            frame.insert(2, "typical factor to the printed", factors)
    yield table
    yield study.reading_verdicts(caption=f"How the verdicts on Network 1 move, {few} seeds.")
    mesh = network_2(study)
    if len(mesh) > 1:
        yield study.by_reading(
            "mesh-readings",
            {
                f"{share}: {group.title()}": of(f"{group}_class", f"mesh, {share}")
                for share in ("10 %", "30 %")
                for group in ("high", "non")
            }
            | {f"{w}: the observed flow": of("high_mean", f"mesh, {w}") for w in ("w = 5e-3", "w = 3e-3")}
            | {"seeds": SEEDS},
            readings=mesh, caption="The readings of Network 2: class means in KB/s.", digits=3,
        )  # fmt: skip


def measurement(runs: pd.DataFrame) -> pd.DataFrame:
    """Readings of how the paper measured, which need no runs: averages, bins, and what counts as fluctuation."""
    observed = {"RED": ("RED", "high"), "PC-RED": ("PC-RED", "high"), "w = 5e-3": ("w = 5e-3", "high")}
    observed |= {f"{share} {group.title()}": (share, group) for share in ("10 %", "30 %") for group in ("high", "non")}
    averages = {
        f"mid-range of {measure.BIN_S:g} s bins (chosen)": "{}_mid",
        "mean": "{}_mean",
        "mean of the class": "{}_class",
    }
    averages |= {f"mid-range of {width:g} s bins": f"{{}}_mid_{width:g}s" for width in measure.OTHER_BINS_S}
    averages |= {"with duplicates": "{}_arrived_mid", f"first {measure.SHORT_S:g} s only": "{}_mid_short"}
    losses = {"after 100 s (chosen)": "{}_a_d", "second half of the run": "{}_a_d_late", "class mean": "{}_a_d_class"}
    spreads = {
        "s.d. after 100 s (chosen)": "{}_a_d_sd",
        "half-range after 100 s": "{}_a_d_half_range",
        "s.d. in the second half": "{}_a_d_late_sd",
    }
    rows: list[Row] = []
    for quantity, ways, without in (
        ("average throughput, KB/s", averages, ()),
        ("a_d, bytes in g", losses, ("RED", "PC-RED")),
        ("fluctuation of a_d, bytes in g", spreads, ("RED", "PC-RED")),
    ):
        for way, key in ways.items():
            row: Row = {"quantity": quantity, "reading": way}
            for title, (case, group) in observed.items():
                name = key.format(group)
                row[title] = common.quantity_interval([], name) if title in without else measured(runs, name, case=case)
            rows.append(row)
    return common.intervals_table(rows)


def by_bins(study: Study) -> dict[tuple[str, str], pd.DataFrame]:
    """Return question and name of the widths of the bins to all runs of the chosen reading."""
    found = {}
    for reading in plan.FILES.readings():
        if width := reading.options.get("bins_s"):
            found[reading.question, reading.chosen] = study.base
            found[reading.question, reading.name] = study.paper.complete(measure.with_bins(study.base, width))
    return found


def network_2(study: Study) -> dict[tuple[str, str], pd.DataFrame]:
    """Return question and name of the readings of Network 2 to its runs."""
    few = study.frame[(study.frame["seed"] <= study.effort.reading_seeds) & (study.frame["network"] == "network2")]
    ran = {setup.reading for setup in study.setups}
    tried = {CHOSEN: chosen(few)}
    tried |= {(r.question, r.name): chosen(few, reading=r.label) for r in plan.readings(study.effort) if r.label in ran}
    return {key: runs for key, runs in tried.items() if len(runs)}


PAPER = common.Paper(
    plan.FILES,
    name="PC-RED",
    citation="Li and Yang, “PC-RED for IPv6: Algorithm and Performance Analysis”",
    claims=CLAIMS,
    effort=plan.Effort,
    setups=plan.setups,
    measure=lambda setup, folder: (
        channels.measure_drops(setup, folder) if setup.reading == plan.BURSTS else measure.measure_run(setup, folder)
    ),
    page=page,
    rows=rows,
    lead="{seeds} seeds of Network 1, {mesh_seeds} of Network 2; every mean with its 95 % interval (Student's, or "
    "Hall's if the runs are skewed), every comparison paired by seed.",
    quick_note="This is the quick version, with few seeds and a part of the readings, and with {mesh_duration_s:g} s "
    "of Network 2 in place of 3000 s. `aqmlab reproduce pc-red` runs all of it.",
    seeds="{seeds} seeds of Network 1, {mesh_seeds} of Network 2",
    example="aqmlab run paper:pc-red/network1.toml --set queue.bottleneck.aqm=red --seeds {seeds}",
    scenarios=("network1", "network2", "admission", "redirect"),
    labels={"case": {name: case.title for name, case in CASES.items()}},
    compared_on={"network": "network1"},
    compared=("A1a", "A1b", "A1c", "A2a", "A2b", "A3a", "A3b", "A3e", "A3c", "A3d", "A7", "A5b", "O2"),
    fill=True,
)
