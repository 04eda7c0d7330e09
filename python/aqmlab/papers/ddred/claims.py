"""The claims of the paper. Each run is one draw of transfers, which RED and DDRED share.

So the strict forms about bus and flower ask for the claimed sign in each run too.
"""

from __future__ import annotations

from aqmlab.papers.common import Numbers, Range, Runs, Tests, literal, strict
from aqmlab.papers.common.claim_functions import Claim
from aqmlab.papers.common.expressions import Test
from aqmlab.papers.ddred.claim_words import CLAIMS as CLAIMS
from aqmlab.papers.ddred.claim_words import against, in_networks
from aqmlab.papers.ddred.plan import (
    DISCIPLINES,
    FIGURE_LATENCY,
    LATENCIES,
    METHOD_2,
    NETWORKS,
    ON_TAIL_DROP,
    TABLE_LATENCIES,
    TAIL_DROP,
    WITH_ECN,
)

SMALL = (1, 2, 5)
"""The latencies below 10 ms."""


def by_ddred(runs: Runs, case: str, quantity: str) -> Numbers:
    """Return a quantity under DDRED."""
    return runs.of(quantity, case=case, discipline="DDRED")


def changed(runs: Runs, case: str, quantity: str) -> Numbers:
    """Return a quantity under DDRED less that under RED."""
    return by_ddred(runs, case, quantity).less("RED")


def about_averages(claim: Claim[[]], case: str, quantity: str, title: str) -> None:
    """Add a note on the change of a mean, and the authors' objection to a question about each run."""

    @claim.objection("The text speaks of averages.", fails="strict")
    def _(runs: Runs) -> str:
        change = changed(runs, case, quantity).percent()
        return (
            f"The literal form, which judges the mean, {runs.literal}: {change} % (printed: {change.on_paper}). The "
            "strict form asks for each run, since Figures 3 to 10 show them singly."
        )

    @claim.note()
    def _(runs: Runs) -> str:
        change = changed(runs, case, quantity).percent()
        return f"{title} changes by {change} % (printed: {change.on_paper} %)."


def claim_on_average(case: str, quantity: str, id: str, title: str, quote: str, *, rises: bool = False) -> None:
    """Declare the claim that a mean falls (or rises) under DDRED; its strict form is about each run too."""

    def sign(change: Numbers) -> Test:
        return change > 0 if rises else change < 0

    @CLAIMS.claim(id, title, quote=quote)
    def claim(runs: Runs) -> Tests:
        change = changed(runs, case, quantity)
        yield literal(sign(change))
        yield strict(sign(change), name="mean")
        yield strict(sign(change.each("seed")).exact(), name="each run")

    about_averages(claim, case, quantity, "S/L" if quantity == "d" else quantity)


claim_on_average(
    "bus", "L", "C1a", "Bus: DDRED loses more packets than RED",
    "The average number of lost packets is 2724 with RED and 3160 with DDRED: there are more losses with DDRED "
    "(Figure 3).",
    rises=True,
)  # fmt: skip
claim_on_average(
    "bus", "d", "C1b", "Bus: losses move towards the source",
    "DDRED's lost packets are drawn nearer to the source of the transfer (Figure 4); by the printed means S/L is 1.03 "
    "against 1.99.",
)  # fmt: skip
claim_on_average(
    "bus", "S", "C1c", "Bus: losses weighted by distance fall",
    "The average number of consumed slots S is reduced from 5418 to 3259 (Figure 5).",
)  # fmt: skip
claim_on_average(
    "bus", "T", "C1d", "Bus: transfers are shorter on average",
    "Generally T is smaller, and shows on average a profit of 2.5 % (Figure 6: 3196 s and 3125 s, which is 2.2 %).",
)  # fmt: skip


@CLAIMS.claim(
    "C1e",
    "Saved slots let flows advance faster",
    quote="The saved slots in the DDRED queue on router are free for other flows which advance faster (section V-A).",
)
def savings(runs: Runs) -> Tests:
    """Ask whether runs that save more slots save more time: the mean of the product is the correlation of both."""
    yield literal(by_ddred(runs, "bus", "together") > 0)
    for case in NETWORKS:
        yield strict(by_ddred(runs, case, "together") > 0, name=case)


@savings.objection("Runs that differ in their transfers hide the effect of the slots.")
def _(runs: Runs) -> str:
    slots, times = (changed(runs, case, key).percent() for case, key in (("bus", "S"), ("bus", "T")))
    other, longer = (changed(runs, "flower", key).percent() for key in ("S", "T"))
    return (
        f"S and T change together on average: {slots} and {times} % on the bus, {other} and {longer} % on the flower."
    )


@CLAIMS.claim(
    "C2a",
    "Flower: DDRED loses fewer packets",
    quote="Fewer packets are lost, approximately 22 % (Figure 8: 48083 and 37402).",
)
def flower_losses(runs: Runs) -> Tests:
    """Compare lost packets on the flower, within half of the stated change to either side."""
    lost, under_red = (runs.of("L", case="flower", discipline=name) for name in ("DDRED", "RED"))
    fewer = lost.between(0.67, 0.89, times=under_red)
    yield literal(
        fewer,
        why="Approximately 22 % fewer is read as 11 to 33 % fewer, half of it to either side: the sentence contrasts "
        "the flower with the bus, where more is lost.",
    )
    yield strict(fewer, name="mean")
    yield strict((lost.each("seed") < under_red).exact(), name="each run")


@CLAIMS.claim(
    "C2b",
    "Flower: losses weighted by distance fall",
    quote="S is 152595 on average with RED and 78683 with DDRED (Figure 9); the saved slots can grow up to 50 %.",
)
def flower_slots(runs: Runs) -> Tests:
    """Compare wasted slots on the flower, and the mean distance of losses."""
    slots, distance = (changed(runs, "flower", quantity) for quantity in ("S", "d"))
    yield literal(slots < 0)
    yield strict(slots < 0, name="mean S")
    yield strict((slots.each("seed") < 0).exact(), name="S in each run")
    yield strict((distance.each("seed") < 0).exact(), name="S/L in each run")


@CLAIMS.claim(
    "C2f",
    "Flower: up to half of the slots are saved",
    quote="With DDRED, the saved slots, therefore available for other flows, can grow up to 50% compared to RED "
    "(Figure 9: 152595 to 78683).",
)
def saved_slots(runs: Runs) -> Tests:
    """Compare wasted slots on the flower with half of RED's."""
    slots, red = (runs.of("S", case="flower", discipline=name) for name in ("DDRED", "RED"))
    why = "Up to 50 % less is read as 25 to 75 % less, half of it to either side, as 22 % in claim C2a."
    yield literal(slots.between(0.25, 0.75, times=red), why=why)
    yield strict(slots.between(0.45, 0.55, times=red), why="The printed means are 48 % apart.")


@saved_slots.objection("Up to 50 % names the best run, not the mean.", fails="strict")
def _(runs: Runs) -> str:
    bus, flower = (changed(runs, case, "S").percent() for case in NETWORKS)
    return f"The literal form, which is wider, {runs.literal}. S changes by {flower} %, on the bus by {bus} %."


about_averages(flower_losses, "flower", "L", "L")
about_averages(flower_slots, "flower", "S", "S")
claim_on_average(
    "flower", "T", "C2c", "Flower: transfers are shorter on average",
    "T is on average 6 % smaller (Figure 10: 41383 s and 38945 s).",
)  # fmt: skip


@CLAIMS.claim(
    "C2d",
    "Flower: more transfers gain than lose, and gain more in all",
    quote="In one run 237 flows are better and 214 worse (Figure 11), of 500; the better gain 11362 s, the worse lose "
    "8142 s.",
)
def flower_gains(runs: Runs) -> Tests:
    """Compare better and worse transfers; strictly, all of them, and in each run."""
    better, worse, gained, lost, all_better, all_worse = (
        by_ddred(runs, "flower", quantity)
        for quantity in ("better", "worse", "gained", "lost", "all_better", "all_worse")
    )
    yield literal(better > worse, name="number")
    yield literal(gained > lost, name="time")
    yield strict(better > worse, name="mean number")
    yield strict(gained > lost, name="mean time")
    yield strict((all_better.each("seed") > all_worse).exact(), name="number of all transfers in each run")
    yield strict((gained.each("seed") > lost).exact(), name="time in each run")


@flower_gains.objection("Transfers that hardly change are neither better nor worse.", fails="strict")
def _(runs: Runs) -> str:
    slower, faster, better, worse = (
        by_ddred(runs, "flower", quantity) for quantity in ("even_worse", "even_better", "all_better", "all_worse")
    )
    return (
        f"The literal form leaves out those that change by at most 0.5 s, and {runs.literal}. Of these, {slower} are "
        f"slower and {faster} faster, so that of all transfers {better} are better and {worse} worse."
    )


@flower_gains.note()
def _(runs: Runs) -> str:
    better, worse, gained, lost = (by_ddred(runs, "flower", key) for key in ("better", "worse", "gained", "lost"))
    return (
        f"{better} transfers better and {worse} worse (printed: {better.on_paper} and {worse.on_paper} of 500); "
        f"{gained} s gained and {lost} s lost (printed: {gained.on_paper} and {lost.on_paper})."
    )


@CLAIMS.claim(
    "C2e",
    "Flower: fewer routers are congested",
    quote="Fewer packets are lost on the flower, due to the form of the network which leads to fewer congested routers "
    "(section V-B).",
)
def congested(runs: Runs) -> Tests:
    """Count the routers of the flower that lose data packets."""
    routers, alike = (changed(runs, "flower", quantity) for quantity in ("lossy", "lossy_equal"))
    yield literal(routers < 0)
    yield strict(routers < 0)
    yield strict(alike < 0)


@congested.objection("A router with a few losses is not congested.")
def _(runs: Runs) -> str:
    alike, red = changed(runs, "flower", "lossy_equal"), runs.of("lossy_equal", "RED", case="flower")
    return (
        f"Losses under RED are as concentrated as equal losses of {red} routers would be; DDRED changes this number by "
        f"{alike}."
    )


@congested.note()
def _(runs: Runs) -> str:
    red, ddred = (runs.of("lossy", name, case="flower") for name in DISCIPLINES)
    return f"{ddred} of the 40 routers lose data packets under DDRED, {red} under RED."


@CLAIMS.claim(
    "C3a",
    "Latencies below 10 ms: RED is fairer, DDRED favours the far sender but leaves the near one 15 %",
    quote="Below 10 ms RED has a ratio nearer to 1 (Figure 13). Small differences of RTT are favorable to PCs1, but "
    "PCs2 can still gain 15 % of bandwidth.",
)
def small_latencies(runs: Runs) -> Tests:
    """Compare fairness, both throughputs, and the share of PCs2 below 10 ms."""
    fairness = changed(runs, "pair", "fairness").at(latency=SMALL)
    far, near, share = (by_ddred(runs, "pair", quantity) for quantity in ("PCs1", "PCs2", "near_share"))
    yield literal(fairness.mean_over("latency") < 0, name="fairness")
    yield literal(far.at(latency=1) > near, name="PCs1 ahead")
    yield literal(
        share.at(latency=1).above(0.15, margin=0.02),
        name="PCs2 keeps 15 %",
        why="The text's 15 % is a round number: its own Table I has 16.2 %, so that 13 to 17 % would be called 15 too.",
    )
    yield strict(fairness.each("latency") < 0, name="fairness")
    yield strict(far.at(latency=SMALL).each("latency") > near, name="PCs1 ahead")
    yield strict(share.at(latency=1).each("latency") > 0.15, name="PCs2 keeps 15 %")


@small_latencies.objection("Table I has one run of each cell, and 15 % is a round number.")
def _(runs: Runs) -> str:
    share = runs.of("near_share", "DDRED", case="pair", latency=1)
    fairness = changed(runs, "pair", "fairness").at(latency=SMALL).each("latency")
    return (
        f"At 1 ms the share of PCs2 is {share} (printed: {share.on_paper}); min/max of the throughputs less RED's at "
        f"{fairness.cells} ms: {fairness}."
    )


@CLAIMS.claim(
    "C3b",
    "Latencies from 10 ms on: DDRED is fairer",
    quote="Between 10 and 100 ms DDRED has a ratio nearer to 1 (Figure 13). Above 50 ms the fairness of both is over, "
    "even if DDRED has a better value.",
)
def large_latencies(runs: Runs) -> Tests:
    """Compare fairness from 10 ms on."""
    gain = changed(runs, "pair", "fairness")
    yield literal(gain.at(latency=Range(10, 100)).mean_over("latency") > 0, name="10 to 100 ms")
    yield literal(gain.at(latency=Range(51, 200)).mean_over("latency") > 0, name="above 50 ms")
    yield strict(gain.at(latency=Range(10, 200)).each("latency") > 0)


@large_latencies.objection("Figure 13 is meant as a whole curve.", fails="strict")
def _(runs: Runs) -> str:
    gain = changed(runs, "pair", "fairness").at(latency=[x for x in LATENCIES if x not in SMALL]).each("latency")
    return (
        f"The literal form, which takes means over latencies, {runs.literal}. Min/max less RED's at {gain.cells} ms: "
        f"{gain}."
    )


@CLAIMS.claim(
    "C3c",
    "DDRED favours PCs1 at small latencies and PCs2 at large ones",
    quote="A small difference of RTT is favorable to PCs1; at a high one PCs2 sends even more than PCs1 (section "
    "VI-B). Table I: 1024/198 at 1 ms, 577/625 at 20 ms, 449/686 and 128/1076.",
)
def favoured(runs: Runs) -> Tests:
    """Compare both throughputs at small and at large latencies."""
    far, near = (by_ddred(runs, "pair", name) for name in ("PCs1", "PCs2"))
    yield literal(far.at(latency=Range(1, 10)).mean_over("latency") > near, name="small latencies")
    yield literal(far.at(latency=Range(30, 200)).mean_over("latency") < near, name="large latencies")
    yield strict(far.at(latency=1).each("latency") > near, name="PCs1 ahead as in Table I")
    yield strict(far.at(latency=(20, 50, 100)).each("latency") < near, name="PCs2 ahead as in Table I")


@favoured.objection("Table I has one run of each cell, and 577/625 at 20 ms is nearly equal.", fails="strict")
def _(runs: Runs) -> str:
    far, near = (by_ddred(runs, "pair", name).at(latency=20) for name in ("PCs1", "PCs2"))
    lead = far.less(quantity="PCs2")
    early = lead.under("D-3: is the queue searched when every packet must go (average too high, buffer full): only at "
                       "early drops")  # fmt: skip
    return (
        f"The mean is {far}/{near} KB/s there, PCs1 ahead by {lead}; with DDRED's search at early drops only, which "
        f"the letter of section IV-B allows, by {early}."
    )


@favoured.note()
def _(runs: Runs) -> str:
    lead = by_ddred(runs, "pair", "PCs1").less(quantity="PCs2").at(latency=TABLE_LATENCIES).each("latency")
    return f"PCs1 less PCs2 at {lead.cells} ms: {lead} KB/s (printed: {lead.on_paper})."


@CLAIMS.claim(
    "C3d",
    "Two flows: DDRED has the higher throughput",
    quote="DDRED is not only fairer than RED, but also has a higher throughput (last paragraph of section VI, about "
    "its two flows). The conclusion's sentence on networks is claim C4b.",
)
def throughput(runs: Runs) -> Tests:
    """Compare the sum of both throughputs."""
    gain = changed(runs, "pair", "total")
    yield literal(gain.mean_over("latency") > 0)
    yield strict(gain.each("latency") > 0)


@throughput.objection("The sentence means the favoured flow.")
def _(runs: Runs) -> str:
    far, near, total = (changed(runs, "pair", key).mean_over("latency") for key in ("PCs1", "PCs2", "total"))
    return f"Averaged over the latencies PCs1 changes by {far} KB/s and PCs2 by {near}, their sum by {total}."


@throughput.objection("10 s are short.")
def _(runs: Runs) -> str:
    longer = changed(runs, "pair", "total").mean_over("latency")
    longer = longer.under("D-14: time over which the two flows are counted: 0 to 100 s")
    return f"Over 100 s the sum changes by {longer} KB/s, averaged over the latencies."


@CLAIMS.claim(
    "C3e",
    "At 20 ms the two flows take turns in the lead",
    quote="Intervals in which PCs1 is ahead and intervals in which PCs2 is ahead alternate under DDRED (Figure 12).",
)
def turns(runs: Runs) -> Tests:
    """Count the changes of the lead at 20 ms."""
    changes, second = (
        runs.of(quantity, case="pair", latency=FIGURE_LATENCY, discipline="DDRED")
        for quantity in ("changes", "second_lead")
    )
    yield literal(changes > 2, why="With two changes or fewer, only one flow leads twice.")
    yield strict(second > 0.2, name="both lead", why="One fifth of the time.")
    yield strict(changes.less("RED") > 0, name="changes")


@turns.objection("Figure 12 shows one run.")
def _(runs: Runs) -> str:
    changes, red = (runs.of("changes", name, case="pair", latency=FIGURE_LATENCY) for name in ("DDRED", "RED"))
    second = runs.of("second_lead", "DDRED", case="pair", latency=FIGURE_LATENCY)
    return (
        f"The lead changes {changes} times in 10 s under DDRED and {red} times under RED; the flow that leads less "
        f"often leads in {second} of the bins."
    )


@CLAIMS.claim(
    "C3f",
    "Bursts of losses are between those of RED and of tail drop",
    quote="Unlike tail drop, bursts of losses are avoided, because of the use of RED probability. DDRED can be thought "
    "of as between tail drop and RED (section VI).",
)
def bursts(runs: Runs) -> Tests:
    """Compare the mean number of losses in a burst at the latencies of Table I."""
    length = by_ddred(runs, "pair", "burst").at(latency=TABLE_LATENCIES)
    for form, cells in ((literal, length.mean_over("latency")), (strict, length.each("latency"))):
        yield form(cells > runs.of("burst", "RED", case="pair"), name="longer than under RED")
        yield form(cells < runs.of("burst", TAIL_DROP, case="pair"), name="shorter than under tail drop")


@bursts.objection("The sentence is about the general case.", fails="strict")
def _(runs: Runs) -> str:
    return f"The literal form, which judges the mean over the latencies, {runs.literal}."


@bursts.note()
def _(runs: Runs) -> str:
    red, ddred, tail = (
        runs.of("burst", name, case="pair", latency=TABLE_LATENCIES).each("latency")
        for name in (*DISCIPLINES, TAIL_DROP)
    )
    return (
        f"Losses in a burst of one flow at {ddred.cells} ms: {red} under RED, {ddred} under DDRED, {tail} under tail "
        "drop. DDRED takes the packet of the near flow again and again, as long as one waits."
    )


@CLAIMS.claim(
    "C3g",
    "Losses are correlated: they hit the flow from the nearer source",
    quote="Unlike RED, DDRED does correlate losses, since it always chooses the shortest connection to remove packets "
    "(section VI).",
)
def correlated(runs: Runs) -> Tests:
    """Compare the shares of losses that hit the flow of the loss before, and PCs2."""
    same, near = (changed(runs, "pair", name).at(latency=TABLE_LATENCIES) for name in ("same_flow", "near_losses"))
    yield literal(same.mean_over("latency") > 0)
    yield strict(same.each("latency") > 0, name="same flow")
    yield strict(near.each("latency") > 0, name="nearer flow")


@correlated.objection(
    "With a larger difference of latency RED drops the packets of the faster flow too.", fails="strict"
)
def _(runs: Runs) -> str:
    red, ddred = (
        runs.of("near_losses", name, case="pair", latency=TABLE_LATENCIES).each("latency") for name in DISCIPLINES
    )
    return f"Share of losses that hit PCs2 at {ddred.cells} ms: {red} under RED, {ddred} under DDRED."


@correlated.note()
def _(runs: Runs) -> str:
    red, ddred = (
        runs.of("loss_lag", name, case="pair", latency=TABLE_LATENCIES).each("latency") for name in DISCIPLINES
    )
    return (
        f"Correlation of the flows of successive losses beyond the shares of the flows, at {ddred.cells} ms: {red} "
        f"under RED, {ddred} under DDRED, over the runs in which both flows lose packets."
    )


@CLAIMS.claim(
    "C3h",
    "The flow from the nearer source recovers faster from losses",
    quote="This flow is the fastest in packet loss recovery, which reduces its disadvantage (section VI); by "
    "eliminating the packets from this source, retransmission is faster (section I).",
)
def recovery(runs: Runs) -> Tests:
    """Compare the times from losses at R2 to the arrivals of their retransmissions."""
    far, near = (by_ddred(runs, "pair", f"recovery_{name}").at(latency=TABLE_LATENCIES) for name in ("far", "near"))
    yield literal(near.mean_over("latency") < far)
    yield strict(near.each("latency") < far)


@recovery.objection("NewReno retransmits one packet in a round trip: a burst of losses takes as many.")
def _(runs: Runs) -> str:
    burst, red = (
        runs.of("burst", name, case="pair", latency=TABLE_LATENCIES).each("latency") for name in ("DDRED", "RED")
    )
    return f"Losses in a burst of one flow at {burst.cells} ms: {burst} (under RED {red})."


@recovery.note()
def _(runs: Runs) -> str:
    far, near = (
        by_ddred(runs, "pair", f"recovery_{name}").at(latency=TABLE_LATENCIES).each("latency")
        for name in ("far", "near")
    )
    return f"Time from a loss to its retransmission at {near.cells} ms: PCs2 {near} s, PCs1 {far} s."


@CLAIMS.claim(
    "C4a",
    "Long flows are favoured compared to short flows",
    quote="Simulations with NS2 show that long flows are indeed favored compared to short flows (abstract); packets "
    "from long path flows are favored (section VII).",
)
def by_path(runs: Runs) -> Tests:
    """Compare transfer times on the longest and on the shortest paths."""
    ratio, long = (in_networks(runs, quantity) for quantity in ("long_over_short", "time_long"))
    yield literal(ratio < 0)
    yield strict(ratio < 0, name="ratio")
    yield strict(long < 0, name="longest paths")
    yield strict((in_networks(runs, "long_over_short").each("case", "seed") < 0).exact(), name="each run")


@by_path.objection("The sentence is about flows in general, not about each run.", fails="strict")
def _(runs: Runs) -> str:
    return f"The literal form, which judges the mean, {runs.literal}."


@by_path.note()
def _(runs: Runs) -> str:
    bus, flower = (changed(runs, case, "time").percent().each("routers") for case in NETWORKS)
    return (
        f"Change of the mean transfer time by the number of routers on the path. Bus, {bus.cells} routers: {bus} %. "
        f"Flower, {flower.cells}: {flower} %."
    )


@CLAIMS.claim(
    "C4b",
    "Global bandwidth is higher",
    quote="We globally save network resources. This leads to higher global bandwidth (section VII); higher overall "
    "resource utilisation (abstract).",
)
def global_bandwidth(runs: Runs) -> Tests:
    """Compare the bytes of all transfers over the time until the last one is done."""
    gain = in_networks(runs, "bandwidth")
    yield literal(gain > 0)
    yield strict(gain > 0, name="mean")
    yield strict((gain.each("case", "seed") > 0).exact(), name="each run")


@CLAIMS.claim(
    "C4c",
    "Average bandwidth of a flow is higher",
    quote="This leads to higher global bandwidth, hence higher average flow bandwidth (section VII).",
)
def flow_bandwidth(runs: Runs) -> Tests:
    """Compare the mean over the transfers of bytes over time."""
    gain = in_networks(runs, "flow_mean")
    yield literal(gain > 0)
    yield strict(gain > 0)
    yield strict(in_networks(runs, "flow_median") > 0)


@global_bandwidth.objection("The last transfer alone ends the count.")
def _(runs: Runs) -> str:
    pooled = in_networks(runs, "pooled").percent()
    return f"Bytes of all transfers over the sum of their times change by {pooled} % on the bus and on the flower."


@flow_bandwidth.objection("A mean over transfers is ruled by the few that are fastest.")
def _(runs: Runs) -> str:
    median = in_networks(runs, "flow_median").percent()
    return f"The median bandwidth of a transfer changes by {median} % on the bus and on the flower."


@global_bandwidth.note()
def _(runs: Runs) -> str:
    whole = in_networks(runs, "bandwidth").percent()
    return f"Bytes of all transfers over the time until all are done, on the bus and on the flower: {whole} %."


@flow_bandwidth.note()
def _(runs: Runs) -> str:
    mean = in_networks(runs, "flow_mean").percent()
    return f"Mean bandwidth of a transfer on the bus and on the flower: {mean} %."


@CLAIMS.claim(
    "C4d",
    "Fairness among the transfers is not sacrificed",
    quote="Without sacrificing the TCP fairness (abstract and section VII).",
)
def jain(runs: Runs) -> Tests:
    """Compare Jain's index of the transfers' bandwidths."""
    gain = in_networks(runs, "jain")
    why = "Not sacrificed: at most 0.02 of an index between 0 and 1 are lost."
    yield literal(gain.above(0, margin=0.02), why=why)
    yield strict(gain > 0)


@jain.objection("Not sacrificed does not mean higher.", fails="strict")
def _(runs: Runs) -> str:
    return f"The literal form, which tolerates a small loss, {runs.literal}."


@jain.note()
def _(runs: Runs) -> str:
    return f"Jain's index of the bandwidths changes by {in_networks(runs, 'jain')} on the bus and on the flower."


@CLAIMS.claim(
    "C5",
    "The second method saves work too",
    quote="The paper describes the share of the route as a second method, and runs the first only, as the second "
    "requires more resources (section IV-A). What does the second save?",
    own=True,
)
def second_method(runs: Runs) -> Tests:
    """Compare wasted slots and transfer times of method 2 with RED and with method 1."""
    slots, times = (runs.of(quantity, METHOD_2, case=NETWORKS).each("case") for quantity in ("S", "T"))
    red, first = ([runs.of(quantity, name, case=NETWORKS) for quantity in ("S", "T")] for name in DISCIPLINES)
    yield literal(slots < red[0], name="less than RED wastes")
    yield strict(
        slots < 1.05 * first[0], name="no more than method 1 wastes", why="A twentieth is little beside RED's."
    )
    yield strict(times < red[1], name="shorter transfers than under RED")


@second_method.note()
def _(runs: Runs) -> str:
    slots, times, ratio = (
        runs.of(quantity, METHOD_2, case=NETWORKS).less("RED").percent().each("case")
        for quantity in ("S", "T", "long_over_short")
    )
    first = runs.of("S", METHOD_2, case=NETWORKS).less("DDRED").percent().each("case")
    return (
        f"On the bus and on the flower, against RED: S {slots} %, T {times} %, time on the longest paths over that on "
        f"the shortest {ratio} %. S against method 1: {first} %."
    )


@CLAIMS.claim(
    "C6a",
    "On tail drop, too, long flows are favoured",
    quote="It can be simply integrated on top of tail drop or RED (abstract); the arriving packet and the last N of "
    "the queue are compared, and the one from the nearer source is rejected (section IV-B). N is not printed.",
)
def on_tail_drop(runs: Runs) -> Tests:
    """Compare transfer times of long paths over those of short ones with tail drop's, and strictly wasted slots too."""
    for name in ON_TAIL_DROP:
        words = name.rpartition(", ")[2]
        ratio, slots = (against(runs, quantity, name, TAIL_DROP) for quantity in ("long_over_short", "S"))
        yield literal(ratio < 0, name=f"long flows, {words}")
        yield strict(ratio < 0, name=f"long flows, {words}")
        yield strict(slots < 0, name=f"S, {words}")


@CLAIMS.claim(
    "C6b",
    "With ECN, too, long flows are favoured",
    quote="It can be simply integrated on top of RED with or without ECN (abstract); for ECN flows the same mechanism "
    "applies, by exchanging a dropped packet for a marked packet (section IV-B).",
)
def with_ecn(runs: Runs) -> Tests:
    """Compare transfer times of long paths over those of short ones with RED's, both with ECN, and wasted slots."""
    red, ddred = WITH_ECN
    ratio, slots = (against(runs, quantity, ddred, red) for quantity in ("long_over_short", "S"))
    yield literal(ratio < 0)
    yield strict(ratio < 0, name="long flows")
    yield strict(slots < 0, name="S")


@on_tail_drop.objection("N is free, and a full queue has to reject some packet in any case.", fails="strict")
def _(runs: Runs) -> str:
    last, whole = ([against(runs, key, name, TAIL_DROP).percent() for key in ("L", "S", "T")] for name in ON_TAIL_DROP)
    return (
        f"Against tail drop, on the bus and on the flower, in %: with the last packet L {last[0]}, S {last[1]}, T "
        f"{last[2]}; with the whole queue L {whole[0]}, S {whole[1]}, T {whole[2]}."
    )


@with_ecn.objection("With ECN a packet is lost only where the queue is too long, and S counts these.", fails="strict")
def _(runs: Runs) -> str:
    red, ddred = WITH_ECN
    lost, slots, times = (against(runs, key, ddred, red).percent() for key in ("L", "S", "T"))
    return f"Against RED with ECN, on the bus and on the flower, in %: L {lost}, S {slots}, T {times}."


@CLAIMS.finding(
    "RED that drops the queued packet with the shortest way behind it, so that a loss wastes little of the network's "
    "work.",
    holds="Transfers on the longest paths become faster than under RED and those on the shortest slower, as the paper "
    "says, on the bus and on the flower.",
    fails="Transfers on the longest paths do not become faster while those on the shortest become slower, against the "
    "paper's abstract.",
    undecided="Whether transfers on the longest paths become faster and those on the shortest slower is undecided in "
    "these runs.",
)
def finding(runs: Runs) -> Tests:
    """Compare transfer times on the longest and on the shortest paths."""
    yield literal(in_networks(runs, "time_long") < 0)
    yield literal(in_networks(runs, "time_short") > 0)


@finding.text
def _(runs: Runs) -> str:
    short, long, bandwidth, mean, slots = (
        in_networks(runs, quantity).percent() for quantity in ("time_short", "time_long", "bandwidth", "flow_mean", "S")
    )
    total = changed(runs, "pair", "total").mean_over("latency").percent()
    return (
        f"Changes on the bus and on the flower in %: transfer time on the shortest paths {short}, on the longest "
        f"{long}; work wasted by losses {slots}; global bandwidth {bandwidth}; mean bandwidth of a transfer {mean}. "
        f"Two flows together: {total} %, mean over the latencies."
    )
