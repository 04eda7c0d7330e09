"""The claims of the paper, and our own questions about its admission limit."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.papers.common import Claims, Column, Quantity, Runs, Tests, literal, strict
from aqmlab.papers.common.vocabulary import Value
from aqmlab.papers.pc_red.measure import KINDS
from aqmlab.papers.pc_red.plan import CASES, CHANNEL_CASES

MEANS = ("high_mid", "high_mean")
GROUPS = {"high": ("the high-priority flow", "a high-priority flow"), "non": ("a non-priority flow",) * 2}
"""Class to the words for its observed flow, and for any of its flows."""
OF_PACKETS = {"plus": "with a_d above L", "minus": "with a_d up to L", "non": "without priority"}


def _quantities() -> Iterator[tuple[str, Quantity]]:
    """Yield the quantities of each class and of each kind of packets."""
    for group, (observed, any_flow) in GROUPS.items():

        def quantity(title: str, unit: str, printed: str = "", formula: str = "", group: str = group) -> Quantity:
            on_paper = {"quantity": printed, "group": group} if printed else {}
            return Quantity(title, unit, formula=formula, printed=on_paper)

        for key, title, printed in (
            ("mid", "mid-range", "average"), ("mean", "mean", ""), ("min", "lowest", "min"), ("max", "highest", "max"),
        ):  # fmt: skip
            yield f"{group}_{key}", quantity(f"{title} throughput of {observed}", "KB/s", printed)
        spread = f"{group}_max - {group}_min"
        yield f"{group}_range", quantity(f"range of the throughput of {observed}", "KB/s", formula=spread)
        yield f"{group}_class", quantity(f"class mean of {group.title()}", "KB/s")
        yield f"{group}_a_d", quantity(f"mean a_d of {any_flow}", "bytes", "a_d")
        yield f"{group}_a_d_sd", quantity(f"s.d. over time of a_d of {any_flow}", "bytes", "a_d fluctuation")
    for kind, packets in OF_PACKETS.items():
        measured = f"share of drops {packets}, measured / (2) and (4)"
        yield f"{kind}_ratio", Quantity(measured, formula=f"drops_{kind} / eq4_{kind}")
        yield f"drops_{kind}", Quantity(f"measured share of drops {packets}")
        yield f"eq4_{kind}", Quantity("share by (2) and (4)")


WORDS: dict[Value, str] = {name: case.words or name for name, case in CASES.items()}
CLAIMS = Claims(
    compared="case",
    columns={"case": Column(values={**WORDS, "model": "the model"}), "point": Column()},
    quantities={
        **dict(_quantities()),
        "late_class": Quantity("class mean of the flows that ask later", "KB/s"),
        "gap": Quantity("ratio of the class means, High / Non", formula="high_class / non_class"),
        "late_ratio": Quantity("ratio of the class means, rejected flows / Non", formula="late_class / non_class"),
        "average_mean": Quantity("mean of the average queue", "packets", printed="queue"),
        "average_sd": Quantity("s.d. over time of the average queue", "packets", printed="fluctuation"),
        "queue_sd": Quantity("s.d. over time of the queue", "packets"),
        "non_a_d_late_sd": Quantity("s.d. over time of a_d of a non-priority flow in the second half", "bytes"),
        "crossing": Quantity("time at which a_d first passes L (3000 s if it never does)", "s"),
        "share_plus": Quantity("share of the time with a_d above L"),
        "packets_plus": Quantity("share of drops with a_d above L by (2), packets for flows"),
        "picks_plus": Quantity("share of drops with a_d above L, every pick followed to the packet that pays"),
        "burst_flows": Quantity("number of different flows hit by a burst of drops"),
        "p_non": Quantity("drops / arrivals of packets without priority"),
        "five_bound": Quantity("bound of (5)"),
        "largest_gain": Quantity("largest L(0)"),
        "intervals": Quantity("number of intervals until a_d is above L"),
        "weight": Quantity("weight w with which a_d passes L"),
        "five_share": Quantity("share r_p / bound of (5)"),
        "six_ratio": Quantity("ratio of the left over the right side of (6), 30 % over 10 %"),
        "conditions": Quantity("number of conditions (5) and (6) that hold"),
        "stable": Quantity("stability of the closed loop by Nyquist's count (1: stable)"),
    },
)

DELAY = '"100ms delay": there and back (50 ms one way)'
NEWRENO = "TCP flavour: NewReno"
SHORT_RTO = "Retransmission time-out: doubled up to 2 s only"
NO_WAIT = "Spacing of the drops: wait off"
INTERVAL_1S = "Standard dropping interval g: 1 s (a_d and L in bytes per second, as the tables head them)"
INTERVAL_400MS = "Standard dropping interval g: 400 ms"
AT_ARRIVALS = (
    "When a flow's status is looked at anew: "  # language: keep
    "at each arrival too, with a_d decayed to that instant"
)
BINS_10S = "Bins of minimum and maximum: 10 s"
CIRCULAR = "Search for a victim, from the packet picked: circular; a protected packet pays only if all are protected"
TORUS = "Links of Network 2: a torus of 2 by 6"
HONOURED = (
    "QOSA bit with which a packet comes from an earlier router (P-7): honoured: a packet protected at an earlier "
    "router is protected here too"
)
"""Labels of readings from which objections take numbers."""


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
        yield literal(mid[0] > mid[1], name=name)
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
    "A4",
    "w between 0.003 and 0.03 answers within 50 to 100 intervals",
    quote="To respond within 50 to 100 standard intervals, w should be in the range of approximately 0.003 to 0.03 "
    "(Figure 3: L = 300, X = 500).",
)
def answers(runs: Runs) -> Tests:
    weight, intervals = (runs.of(name, "model").each("point") for name in ("weight", "intervals"))
    why = (
        "Who wants an answer within 50 to 100 intervals is to choose w from this approximate range, so the weights "
        "that give it must lie there. That every w of the range gives it, the sentence does not say. Until first "
        "results were seen this form asked for 25 to 200 intervals at both ends."
    )
    yield literal(weight.between(0.003, 0.03).exact(), why=why)
    yield strict(intervals.between(50, 100).exact(), why="Both ends of the range answer so.")


@answers.objection("The range is called approximate, and it contains the weights that are asked for.")
def _(runs: Runs) -> str:
    weight, ends = (runs.of(name, "model").each("point") for name in ("weight", "intervals"))
    return (
        f"The literal form, which asks for just that, {runs.literal}: the weights are {weight}. But the ends of the "
        f"range answer after {ends} intervals, so that w alone does not give what the sentence promises."
    )


@answers.note()
def _(runs: Runs) -> str:
    return f"a_d passes L after 50 and 100 intervals with w = {runs.of('weight', 'model').each('point')}."


@CLAIMS.claim(
    "A5a",
    "With 30 % high-priority flows, (5) and (6) say that the system is in its critical state",
    quote="Based on (5) and (6), the system has reached its critical state due to the large r_p (Experiment 3).",
)
def critical(runs: Runs) -> Tests:
    five, six = (runs.of(name, "model") for name in ("five_share", "six_ratio"))
    why = "Critical: near the bound, or beyond it. R is the printed delay."
    yield literal((five.at(point="R without queueing") > 0.9).exact(), name="(5)", why=why)
    why = "A larger share brings the system nearer to the bound."
    yield literal((six.at(point="R without queueing") > 1).exact(), name="(6)", why=why)
    why = "Near the bound, and within it, with and without the time in the queue."
    yield strict(five.each("point").between(0.9, 1.0).exact(), name="(5)", why=why)
    yield strict((six.each("point") > 1).exact(), name="(6)")


@critical.objection("R is the round-trip time under load, with the time in the queue.")
def _(runs: Runs) -> str:
    five, six = (runs.of(name, "model").each("point") for name in ("five_share", "six_ratio"))
    return (
        f"r_p over the bound of (5) is {five} ({five.cells}), so the longer R is, the farther the system is from its "
        f"critical state; and from 10 % to 30 % the quotient of both sides of (6) changes by a factor of {six}: a "
        "larger r_p makes (6) easier to meet."
    )


@critical.note()
def _(runs: Runs) -> str:
    bound = runs.of("five_bound", "model").each("point")
    return f"The bound of (5) is {bound} ({bound.cells}). (6), whose left side falls with r_p, bounds r_p from below."


@CLAIMS.claim(
    "A5b",
    "In the critical state all high-priority flows are above their limit",
    quote="All of N_p has become N_p+ due to the lack of control (section 4.A).",
)
def all_above(runs: Runs) -> Tests:
    share = runs.of("share_plus", "30 %")
    yield literal(share > 0.95, why="The entire N_p: all but 5 %, since a flow at its limit swings around it.")
    yield strict(share > 0.99)


@all_above.objection("That all are above L is the limit of a growing r_p, not the state at 30 %.")
def _(runs: Runs) -> str:
    five, ten, thirty = (runs.of("share_plus", case) for case in CHANNEL_CASES)
    a_d = runs.of("high_a_d", "30 %").under(INTERVAL_1S)
    return (
        f"The share of the time above L is {five} with one high-priority flow of 20, {ten} with 10 % and {thirty} with "
        f"30 %, where the paper says that the state is reached. With g = 1 s it is {thirty.under(INTERVAL_1S)} with 30 "
        f"%, but then a_d is {a_d} bytes (printed: {a_d.on_paper})."
    )


@all_above.note()
def _(runs: Runs) -> str:
    ten, thirty = (runs.of("share_plus", case) for case in ("10 %", "30 %"))
    return f"Share of the time above L: {ten} with 10 %, {thirty} with 30 %."


@CLAIMS.claim(
    "A5c",
    "The share of drops that each kind of flow bears is that of equations (2) to (4)",
    quote="C_p+ = 0 or N_p+/(N q), and C_p-, C_n as what remains.",
)
def shares_of_drops(runs: Runs) -> Tests:
    for kind, name in KINDS.items():
        measured, predicted = (runs.of(f"{way}_{kind}", case=CHANNEL_CASES).each("case") for way in ("drops", "eq4"))
        why = (
            "One drop of twenty: the model counts flows where the router drops packets, and is meant to show which "
            "kind bears the drops, not to predict a share to one in a hundred, which was the bound until first results "
            "were seen."
        )
        yield literal(measured.equals(predicted, within=0.05), name=name, why=why if kind == "non" else "")
        yield strict(runs.of(f"{kind}_ratio", case=CHANNEL_CASES).each("case").between(0.9, 1.1))


@shares_of_drops.objection(
    "The equations count flows; protected flows have more packets in the queue, and with packets in place of flows the "
    "equations hold."
)
def _(runs: Runs) -> str:
    measured, flows, packets, picks = (
        runs.of(f"{way}_plus", case=CHANNEL_CASES).each("case") for way in ("drops", "eq4", "packets", "picks")
    )
    return (
        f"Share of drops with a_d above L at 5, 10 and 30 %: {measured} measured, {flows} by (2) with flows, {packets} "
        "by (2) with the packets in the queue. With every pick followed from where it falls to the packet that pays it "
        f"is {picks}: (2) leaves out picks in the row of protected packets at the tail."
    )


@shares_of_drops.note()
def _(runs: Runs) -> str:
    predicted, measured = (runs.of(f"{way}_plus", case=CHANNEL_CASES).each("case") for way in ("eq4", "drops"))
    return (
        f"Share of N_p+ with 5, 10 and 30 %: {predicted} predicted, {measured} measured. Reason found: protected flows "
        "send more than others, and any pick in the row of protected packets at the tail ends at the last of them, not "
        "only the pick of the last."
    )


@CLAIMS.claim(
    "A5d",
    "The loop of the model is stable where (5) and (6) hold",
    quote="Thus, from Bode Plots, a stable system is achieved.",
)
def stable(runs: Runs) -> Tests:
    found = runs.of("stable", "model").each("point")
    printed = [f"R without queueing, r_p = {share}, as printed" for share in ("5 %", "10 %", "30 %")]
    for form, points in ((literal, found.at(point=printed)), (strict, found)):
        yield form((points > 0.5).exact().where(runs.of("conditions") > 1))


@stable.note()
def _(runs: Runs) -> str:
    return f"L(0) is {runs.of('largest_gain', 'model')} at most: stable by small gain, with or without (5) and (6)."


@CLAIMS.claim(
    "O1",
    "As an admission limit, r_p_max works",
    quote="The paper names a largest share r_p_max but no mechanism. Here four more flows ask for priority in Network "
    "1 once two of 16 have it; the router rejects them, since the share would pass 0.13.",
    own=True,
)
def admission(runs: Runs) -> Tests:
    at_limit = runs.of("high_a_d", "refuse").between(63, 77)
    gains = runs.of("non_class", "refuse") > runs.of("non_class", "no limit")
    yield literal(at_limit, name="a_d at L", why="L and a tenth of it.")
    yield literal(gains, name="Non gains")
    yield strict(at_limit, name="a_d at L")
    yield strict(gains, name="Non gains")
    yield strict(runs.of("late_ratio", "refuse").between(0.9, 1.1), name="rejected flows are as Non")


@CLAIMS.claim(
    "O2",
    "Without the limit, the first high-priority flows have less",
    quote="Above r_p_max the paper expects difficulties to keep high-priority flows at a high throughput.",
    own=True,
)
def without_limit(runs: Runs) -> Tests:
    whole, mean = (runs.of(name, "refuse") > runs.of(name, "no limit") for name in ("high_class", "high_mean"))
    yield literal(whole)
    yield strict(whole)
    yield strict(mean)


@without_limit.objection("The limit costs the flows that it rejects, not those that it admits.")
def _(runs: Runs) -> str:
    high, late, non = (runs.gain(f"{group}_class", "refuse", over="no limit") for group in ("high", "late", "non"))
    return (
        f"Class means with the limit less those without: {high} KB/s for the first high-priority flows, {late} for "
        f"those that ask later, {non} for the others."
    )


@without_limit.note()
@admission.note()
def _(runs: Runs) -> str:
    none, warn, refuse = (
        "{}, {} and {}".format(*(runs.of(f"{group}_class", case) for group in ("high", "late", "non")))
        for case in ("no limit", "warn", "refuse")
    )
    return (
        f"Class means in KB/s of High, late and Non: {none} without a limit; {warn} with one that warns; {refuse} with "
        "one that rejects."
    )


@CLAIMS.finding(
    "RED that spares high-priority flows: a packet of such a flow is dropped only while the flow has lost less than "
    "its limit L, otherwise a random packet of the queue pays.",
    holds="The queue swings more than under RED because random packets of it pay, not because of the processing time "
    "that the paper names: it swings as much when no flow is protected.",
    fails="Random victims alone do not make the queue swing more, so that they are not the reason for PC-RED's larger "
    "fluctuation.",
    undecided="Whether random victims, and not processing time, make the queue swing more is undecided in these runs.",
)
def victims(runs: Runs) -> Tests:
    red, full, alone = (runs.of("average_sd", case) for case in ("RED", "PC-RED", "unprotected"))
    yield literal(alone > red)
    yield literal(alone > 0.9 * full)


@victims.text
def _(runs: Runs) -> str:
    red, full, alone = (runs.of("average_sd", case) for case in ("RED", "PC-RED", "unprotected"))
    return (
        f"S.d. over time of the average queue in packets (printed: {red.on_paper} and {full.on_paper}): {red} under "
        f"RED, {full} under PC-RED, {alone} with PC-RED's random victims but no flow protected. The simulated router "
        "needs no time for its decisions."
    )
