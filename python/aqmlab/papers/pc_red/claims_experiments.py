"""The claims of section 5: the experiments."""

from __future__ import annotations

from aqmlab.papers.common import Runs, Tests, literal, strict
from aqmlab.papers.pc_red.claim_words import (
    AT_ARRIVALS,
    BINS_10S,
    CIRCULAR,
    CLAIMS,
    DELAY,
    HONOURED,
    INTERVAL_1S,
    INTERVAL_400MS,
    INTERVAL_450MS,
    MEANS,
    NEWRENO,
    NO_WAIT,
    SHORT_RTO,
    TAHOE,
    TORUS,
)
from aqmlab.papers.pc_red.plan import FILES, FLOWS, SEPARATE


@CLAIMS.claim(
    "A1a",
    "The high-priority flow gets about three times its throughput under RED",
    quote="Nearly 3 times of it in RED (Table I: 11.5 against 3.85 KB/s, both mid-ranges).",
)
def three_times(runs: Runs) -> Tests:
    why = "Nearly 3 times: 3 with less than one to either side."
    mid, mean = (runs.of(name, "PC-RED").between(2, 4, times=runs.of(name, "RED")) for name in MEANS)
    yield literal(mid, why=why)
    yield strict(mid)
    yield strict(mean)


@three_times.note()
def _(runs: Runs) -> str:
    mid, red_mid, mean, red_mean = (runs.of(name, case) for name in MEANS for case in ("PC-RED", "RED"))
    return f"Throughput of the flow: mid-range {mid} against {red_mid} KB/s; mean {mean} against {red_mean} KB/s."


@CLAIMS.claim("A1b", "The average queue is the same as under RED", quote="33 packets in both rows of Table I.")
def same_average(runs: Runs) -> Tests:
    both = runs.of("average_mean", case=["RED", "PC-RED"]).each("case")
    yield literal(both.equals(33, within=0.5), why="It rounds to the printed 33 packets.")
    same = runs.of("average_mean", "PC-RED").equals(runs.of("average_mean", "RED"), within=0.5)
    yield strict(same, why="Half a packet is the precision of the printed numbers.")


@same_average.objection("Both averages depend on the delay and on TCP, which are not printed in full.")
def _(runs: Runs) -> str:
    gain = runs.gain("average_mean", "PC-RED", over="RED")
    return (
        f"PC-RED's average less RED's: {gain} packets; {gain.under(DELAY)} with 100 ms there and back, "
        f"{gain.under(NEWRENO)} with NewReno, {gain.under(SHORT_RTO)} with time-outs of at most 2 s, "
        f"{gain.under(NO_WAIT)} without ns-2's wait. With NewReno it is "
        f"{runs.of('average_mean', 'PC-RED').under(NEWRENO)} packets under PC-RED."
    )


@same_average.note()
def _(runs: Runs) -> str:
    return f"Average {runs.of('average_mean', 'PC-RED')} against {runs.of('average_mean', 'RED')} packets."


@same_average.note()
def _(runs: Runs) -> str:
    red, full = (runs.of("average_mean", case).under(TAHOE) for case in ("RED", "PC-RED"))
    return f"With Tahoe the averages are {red} packets under RED and {full} under PC-RED."


@CLAIMS.claim(
    "A1c",
    "The queue fluctuates more than under RED",
    quote="5 packets instead of 2 (Table I), explained by the time that the additional processing takes.",
)
def fluctuation(runs: Runs) -> Tests:
    average, queue = (runs.of(name, "PC-RED") > runs.of(name, "RED") for name in ("average_sd", "queue_sd"))
    yield literal(average)
    yield strict(average)
    yield strict(queue)


@fluctuation.note()
def _(runs: Runs) -> str:
    red, full, victim = (runs.of("average_sd", case) for case in ("RED", "PC-RED", "unprotected"))
    return (
        f"S.d. of the average: RED {red}, PC-RED {full} packets. Reason found: not processing time, of which the "
        "simulated router needs none, but the victim: a random packet of the queue in place of the arriving one makes "
        f"it {victim} without any protection."
    )


@fluctuation.note()
def _(runs: Runs) -> str:
    red, full = (runs.of("burst_flows", case) for case in ("RED", "PC-RED"))
    return (
        f"A burst of drops hits {red} different flows under RED, whose victims arrive back to back, and {full} under "
        "PC-RED: flows that back off together."
    )


TABLES_W, TEXT_W = "w = 3e-3 (tables)", "w = 3e-5 (text)"
HALF_GAIN = {"Network 1": 3.0, "Network 2": 2.05}
"""Half of the printed gains by a larger w, in KB/s: 8.5 less 2.5 (Table II), 7.6 less 3.5 (Table III)."""


@CLAIMS.claim(
    "A2a",
    "A larger w gives the high-priority flow more throughput",
    quote="A large w ensures a higher rank of throughput: 8.5 against 2.5 KB/s in Network 1 (Table II); the higher w "
    "can help the source to achieve a better throughput: 7.6 against 3.5 KB/s in Network 2 (Table III). The smaller w "
    "is 3e-3 in the tables, 3e-5 in the text.",
    against=(TABLES_W, TEXT_W),
)
def larger_weight(runs: Runs, baseline: str) -> Tests:
    small = baseline.partition(" (")[0]
    for prefix, name in (("", "Network 1"), ("mesh, ", "Network 2")):
        mid, mean = ([runs.of(quantity, f"{prefix}{w}") for w in ("w = 5e-3", small)] for quantity in MEANS)
        half = HALF_GAIN[name]
        yield literal((mid[0] > mid[1]).no_effect_below(half), name=name, why="No effect: half of the printed gain.")
        why = "A tenth more is little beside the printed factors of 3.4 and 2.2." if prefix else ""
        for large, other in (mid, mean):
            yield strict(large > 1.1 * other, name=name, why=why)


@larger_weight.objection(
    "How fast a_d follows depends on g and on when the status is looked at, which are not printed.", against=(TABLES_W,)
)
def _(runs: Runs, _: str) -> str:
    gain = runs.gain("high_mid", "w = 5e-3", over="w = 3e-3")
    return (
        f"Mid-range with w = 5e-3 less that with 3e-3 in Network 1: {gain} KB/s; {gain.under(INTERVAL_1S)} with g = 1 "
        f"s, {gain.under(AT_ARRIVALS)} with the status looked at on arrivals too, {gain.under(SHORT_RTO)} with "
        f"time-outs of at most 2 s, {gain.under(BINS_10S)} with bins of 10 s."
    )


@larger_weight.note()
def _(runs: Runs, baseline: str) -> str:
    weights = ("w = 5e-3", baseline.partition(" (")[0])
    one, mesh = ([runs.of("high_mean", f"{prefix}{w}") for w in weights] for prefix in ("", "mesh, "))
    return f"Mean: {one[0]} against {one[1]} KB/s in Network 1, {mesh[0]} against {mesh[1]} in Network 2."


@larger_weight.note()
def _(runs: Runs, _: str) -> str:
    mesh, one = (runs.of("share_plus", case) for case in ("mesh, 10 %", "10 %"))
    return (
        "A router counts only its own drops: with 10 % high-priority flows they are above L for a share of "
        f"{mesh} of the time at the observed link of Network 2, and of {one} in Network 1."
    )


@larger_weight.note(against=(TABLES_W,))
def _(runs: Runs, _: str) -> str:
    large, small = (runs.of("crossing", case) for case in ("w = 5e-3", "w = 3e-3"))
    return (
        f"Reason found: with either weight a_d passes L soon (after {large} and {small} s), and from then on the flow "
        "is protected just so much that it loses L bytes in g, whatever w is."
    )


@CLAIMS.claim(
    "A2b",
    "With a small w, a_d stays below L for about the whole run, and the flow is treated as any other",
    quote="Under L until 2700 s of 3000 s (Table II); PC-RED cannot help the flow to achieve a satisfying throughput "
    "in a long scale of time.",
)
def small_weight(runs: Runs) -> Tests:
    below = runs.of("crossing", "w = 3e-5") > 2700
    yield literal(below, name="below L", why="The printed time.")
    yield literal(runs.of("high_mid", "w = 3e-5") < runs.of("high_mid", "w = 5e-3"), name="throughput")
    yield strict(below, name="below L")
    mean = runs.of("high_mean", "w = 3e-5")
    yield strict(mean.between(0.9, 1.1, times=runs.of("high_mean", "unprotected")), name="as unprotected")


@small_weight.note()
def _(runs: Runs) -> str:
    crossing, mid, mean = (runs.of(name, "w = 3e-5") for name in ("crossing", *MEANS))
    return f"a_d passes L after {crossing} s (3000: never in a run). Throughput: mid-range {mid}, mean {mean} KB/s."


@CLAIMS.claim(
    "A3a",
    "With 10 % high-priority flows, they have about three times the throughput of the others",
    quote="About 3.2 times (Table IV: 10.8 and 3 KB/s are 3.6 times).",
)
def three_times_non(runs: Runs) -> Tests:
    mid, mean = (
        runs.of(f"high_{name}", "10 %").between(2, 4, times=runs.of(f"non_{name}", "10 %")) for name in ("mid", "mean")
    )
    why = "About 3.2 times in the text, 3.6 in the table: 3 with less than one to either side."
    yield literal(mid, why=why)
    yield strict(mid)
    yield strict(mean)


@three_times_non.objection(
    "Which throughput is meant is not said; the table gives mid-ranges of bins that are not printed."
)
def _(runs: Runs) -> str:
    mid, mean = (runs.of(f"high_{name}", "10 %").less(quantity=f"non_{name}") for name in ("mid", "mean"))
    return (
        f"High less Non with 10 %: {mid} KB/s as mid-ranges, {mean} as means, {mid.under(BINS_10S)} as mid-ranges of "
        f"bins of 10 s; Non alone: {runs.of('non_mid', '10 %')} KB/s as mid-range."
    )


@three_times_non.note()
def _(runs: Runs) -> str:
    mid, mean, whole = (
        f"{runs.of(f'high_{name}', '10 %')} and {runs.of(f'non_{name}', '10 %')}" for name in ("mid", "mean", "class")
    )
    return f"High and Non with 10 %: mid-range {mid}, mean {mean}, class mean {whole} KB/s."


@CLAIMS.claim(
    "A3b",
    "a_d of the high-priority flows is held at L with 10 % of them, and is above L with 30 %",
    quote="With 10 %, a_d is under L as well; with 30 % the checking function is unable to control it under L (Table "
    "IV: 70 and 80 with L = 70).",
)
def held_at_limit(runs: Runs) -> Tests:
    ten, thirty = (runs.of("high_a_d", case) for case in ("10 %", "30 %"))
    why = "2 bytes are the printed fluctuation; the printed mean is L itself."
    yield literal(ten.below(70, margin=2), name="held with 10 %", why=why)
    yield literal(thirty > 70, name="above L with 30 %")
    yield strict(ten.equals(70, within=0.5), name="held with 10 %", why="It rounds to the printed 70.")
    yield strict(thirty > 70, name="above L with 30 %")
    yield strict(thirty > ten, name="higher with 30 %")


@held_at_limit.objection("The printed 70 is a number of one run, read to whole bytes.")
def _(runs: Runs) -> str:
    ten, thirty = (runs.of("high_a_d", case) for case in ("10 %", "30 %"))
    return (
        f"a_d of High: {ten} bytes with 10 %, {thirty} with 30 % (printed: {ten.on_paper} and {thirty.on_paper}); with "
        f"g = 400 ms {ten.under(INTERVAL_400MS)}."
    )


@held_at_limit.note()
def _(runs: Runs) -> str:
    ten, thirty = ([runs.of(name, case) for name in ("high_a_d", "high_a_d_sd")] for case in ("10 %", "30 %"))
    return (
        f"a_d of High: {ten[0]} with s.d. {ten[1]} with 10 %, {thirty[0]} with s.d. {thirty[1]} with 30 %, in bytes in "
        "g."
    )


@held_at_limit.note()
def _(runs: Runs) -> str:
    ten, thirty = (runs.of("high_a_d", case) for case in ("10 %", "30 %"))
    return (
        "The interval g = 360 ms goes with 100 ms there and back and the queue, while the runs have 100 ms one way. "
        f"With 450 ms, about their own round-trip time, a_d of High is {ten.under(INTERVAL_450MS)} bytes with 10 % and "
        f"{thirty.under(INTERVAL_450MS)} with 30 %."
    )


@CLAIMS.claim(
    "A3e",
    "With 10 % high-priority flows, a_d is under L, to the letter",
    quote="When r_p is 10 %, ... a_d is under L as well (section 5; Table IV prints 70 with L = 70).",
)
def under_limit(runs: Runs) -> Tests:
    yield literal(runs.of("high_a_d", "10 %") < 70, why="The printed L.")
    yield strict(runs.of("high_a_d", "10 %") < 70)
    yield strict(runs.of("share_plus", "10 %") < 0.5, why="Under L more often than above it.")


@under_limit.objection("A flow at its limit swings around it.")
def _(runs: Runs) -> str:
    share, spread = (runs.of(name, "10 %") for name in ("share_plus", "high_a_d_sd"))
    return (
        f"It is above L for a share of {share} of the time, with an s.d. of {spread} bytes. "
        "Claim A3b, which tolerates 2 bytes, is the reading in which the sentence may hold."
    )


@CLAIMS.claim(
    "A3c",
    "With 30 % high-priority flows the others starve",
    quote="a_d of the non-priority flow oscillates more acutely than previously, which leads to an extremely low level "
    "of throughput (0 to 1 KB/s); the throughput of the high-priority flow is also lower than with 10 % (Table IV).",
)
def starve(runs: Runs) -> Tests:
    non = runs.of("non_mid", "30 %")
    yield literal(non < 1.0, name="Non starved", why="Twice the printed 0.5 KB/s.")
    swings = [runs.of(name, "30 %") > runs.of(name, "10 %") for name in ("non_a_d_sd", "non_a_d_late_sd")]
    lower = [runs.of(name, "30 %") < runs.of(name, "10 %") for name in MEANS]
    yield literal(swings[0], name="a_d of Non swings more")
    yield literal(lower[0], name="High lower")
    yield strict(non < 0.55, name="Non starved", why="It rounds to the printed 0.5 KB/s or less.")
    for test in (*swings, *lower):
        yield strict(test)


@starve.objection("A TCP whose time-outs do not double up to 60 s keeps sending, so that a_d of Non rises as printed.")
def _(runs: Runs) -> str:
    a_d, mid = (runs.of(name, "30 %") for name in ("non_a_d", "non_mid"))
    return (
        f"With time-outs of at most 2 s a_d of Non with 30 % is {a_d.under(SHORT_RTO)} bytes (printed: {a_d.on_paper}; "
        f"here {a_d}), but its mid-range is {mid.under(SHORT_RTO)} KB/s (printed: {mid.on_paper}; here {mid}). With a "
        f"circular search it is {mid.under(CIRCULAR)}."
    )


@starve.note()
def _(runs: Runs) -> str:
    low, high, mid, mean, whole = (runs.of(f"non_{name}", "30 %") for name in ("min", "max", "mid", "mean", "class"))
    ten, ten_late, thirty, thirty_late = (
        runs.of(name, case) for case in ("10 %", "30 %") for name in ("non_a_d_sd", "non_a_d_late_sd")
    )
    return (
        f"Non with 30 %: {low} to {high} KB/s, mid-range {mid}, mean {mean}, class mean {whole}. S.d. of a_d of Non: "
        f"{ten} with 10 %, {thirty} with 30 %; in the second half of the run, when its climb from 0 is over, "
        f"{ten_late} and {thirty_late}."
    )


@starve.note()
def _(runs: Runs) -> str:
    ten, thirty, ten_p, thirty_p = (runs.of(name, case) for name in ("non_a_d", "p_non") for case in ("10 %", "30 %"))
    return (
        f"Reason found: a_d of Non goes from {ten} to {thirty} (printed: {ten.on_paper} and {thirty.on_paper}) while "
        f"the share of its packets that are dropped goes from {ten_p} to {thirty_p}: flows that wait in time-outs that "
        "double up to 60 s send less and so lose less."
    )


@starve.note()
def _(runs: Runs) -> str:
    printed = {
        share: high * FILES.printed(table="IV", row=f"{share} High", quantity="average")
        + (FLOWS - high) * FILES.printed(table="IV", row=f"{share} Non", quantity="average")
        for share, high in (("10 %", 2), ("30 %", 6))
    }
    used = runs.of("utilization", "30 %")
    return (
        f"The printed averages of all 20 flows add up to {printed['30 %']:g} KB/s with 30 %, and to "
        f"{printed['10 %']:g} with 10 %, on a link of 62.5: mid-ranges are no shares of a link. Here the utilization "
        f"with 30 % is {used}."
    )


@CLAIMS.claim(
    "A3d",
    "In Network 2 a larger share reduces the throughput and makes it oscillate more",
    quote="A large r_p leads to an obvious reduction and a larger oscillation of the throughput (Table V: 6.5 and 3.15 "
    "KB/s with 10 %, 5.9 and 2.25 with 30 %).",
)
def mesh_shares(runs: Runs) -> Tests:
    for quantity in ("high_mid", "non_mid"):
        yield literal(runs.of(quantity, "mesh, 30 %") < runs.of(quantity, "mesh, 10 %"))
    for quantity in ("high_range", "non_range"):
        yield literal(runs.of(quantity, "mesh, 30 %") > runs.of(quantity, "mesh, 10 %"))
    for quantity in ("high_class", "non_class"):
        yield strict(runs.of(quantity, "mesh, 30 %") < runs.of(quantity, "mesh, 10 %"))
    high, non = (runs.of(f"{group}_class", case=["mesh, 10 %", "mesh, 30 %"]) for group in ("high", "non"))
    yield strict(high.each("case") > non, name="High above Non")
    for share in ("10 %", "30 %"):
        smaller = runs.of("gap", f"mesh, {share}") < runs.of("gap", share)
        yield strict(smaller, name=f"smaller gap than in Network 1 with {share}")


@mesh_shares.objection("The links of Network 2 are not the authors'.")
def _(runs: Runs) -> str:
    high, non = (runs.gain(f"{group}_class", "mesh, 30 %", over="mesh, 10 %") for group in ("high", "non"))
    return (
        f"They are not printed. From 10 % to 30 % the class mean of High changes by {high} KB/s and that of Non by "
        f"{non} on the torus of 3 by 4, by {high.under(TORUS)} and {non.under(TORUS)} on a torus of 2 by 6, and by "
        f"{high.under(HONOURED)} and {non.under(HONOURED)} where routers honour each other's QOSA."
    )


@mesh_shares.note()
def _(runs: Runs) -> str:
    ten, thirty = (
        f"{runs.of('high_class', case)} and {runs.of('non_class', case)}" for case in ("mesh, 10 %", "mesh, 30 %")
    )
    return f"Class means of High and Non in Network 2: {ten} with 10 %, {thirty} with 30 %, in KB/s."


@CLAIMS.claim(
    "A6",
    "Separate buffers are used less well than PC-RED's one buffer",
    quote="Using separate buffers for different QoS levels ... there is a high probability that the buffer utilization "
    "is inferior throughout the whole transmission (section 2).",
)
def separate_buffers(runs: Runs) -> Tests:
    for case in SEPARATE:
        queue, link = (runs.gain(name, case, over="10 %") for name in ("queue_mean", "utilization"))
        yield literal(queue < 0, name=case)
        yield strict(queue < 0, name=f"{case}: buffer")
        yield strict(link < 0, name=f"{case}: link")


@separate_buffers.objection("Buffers of another size, or other weights, would show it.")
def _(runs: Runs) -> str:
    link, one = (runs.of("utilization", case=case).each("case") for case in (SEPARATE, "10 %"))
    return (
        f"They have half of PC-RED's buffer each, and the weights 1 and 3 give High about its throughput under PC-RED. "
        f"The link is used to {link} with {link.cells}, to {one} by PC-RED."
    )


@separate_buffers.note()
def _(runs: Runs) -> str:
    high, non, queue = (
        runs.of(name, case=(*SEPARATE, "10 %")).each("case") for name in ("high_class", "non_class", "queue_mean")
    )
    return (
        f"{high.cells}: class means of High {high} KB/s, of Non {non} KB/s, mean queue {queue} packets. A weighted "
        "fair queue gives High its share without a list of flows."
    )


@CLAIMS.claim(
    "A7",
    "PC-RED helps the high-priority flow from the beginning",
    quote="The PC-RED has ... helped the data source to achieve desirable transient performance (section 6).",
)
def transient(runs: Runs) -> Tests:
    first, red = (runs.of("high_first", case) for case in ("PC-RED", "RED"))
    yield literal(first > red)
    yield strict(first > 2 * red, why="The claimed factor is nearly 3 over the whole run.")


@transient.objection("a_d begins at L / 2, and 100 s are short.")
def _(runs: Runs) -> str:
    crossing, late = (runs.of(name, "PC-RED") for name in ("crossing", "high_mean"))
    return f"a_d passes L after {crossing} s; until then no packet is protected. After 100 s the mean is {late} KB/s."


@transient.note()
def _(runs: Runs) -> str:
    red, small, large = (runs.of("high_first", case) for case in ("RED", "PC-RED", "w = 5e-3"))
    return (
        f"Mean throughput of the high-priority flow in the first 100 s: {red} KB/s under RED, {small} with w = 3e-3, "
        f"{large} with w = 5e-3."
    )


@CLAIMS.claim(
    "A7b",
    "a_d that starts at L/2 protects a new flow sooner",
    quote="In case the dataflow is switched to one route due to the transmission failure in the other routes, a higher "
    "start point of the average drop rate could help to notify the router with the QoS level more rapidly (section 2).",
)
def start_at_half(runs: Runs) -> Tests:
    half, zero = (runs.of(name, "unprotected") for name in ("new_half", "new_zero"))
    yield literal(half < zero)
    yield strict(half < 0.5 * zero, why="L/2 is half of the way.")


@start_at_half.objection("Sooner does not mean in half of the time.", fails="strict")
def _(runs: Runs) -> str:
    half, zero = (runs.of(name, "unprotected") for name in ("new_half", "new_zero"))
    return (
        f"The literal form, which asks for no factor, {runs.literal}: {half} s from L/2, {zero} s from 0. An EWMA "
        "rises ever more slowly, so that the first half of the way takes less time than the second."
    )


@start_at_half.note()
def _(runs: Runs) -> str:
    return (
        "The literal form can hardly fail: over the same drops an EWMA from L/2 is never below that from 0. A list for "
        "the observed flow was kept again, with w = 3e-3 from 100 s on, over the drops of runs in which no "
        "flow is protected: up to L they are those of PC-RED."
    )
