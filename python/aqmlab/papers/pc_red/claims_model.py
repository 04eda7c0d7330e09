"""The claims of sections 3 and 4: the model, and the choice of parameters."""

from __future__ import annotations

from aqmlab.papers.common import Runs, Tests, literal, strict
from aqmlab.papers.pc_red.claim_words import CLAIMS, INTERVAL_1S, INTERVAL_450MS
from aqmlab.papers.pc_red.measure import KINDS
from aqmlab.papers.pc_red.plan import CHANNEL_CASES


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
    "A4b",
    "A w that is too large favours the high-priority flows and sacrifices the others",
    quote="If w is too large ... this might be propitious to the transmission of high-priority dataflows. However, "
    "this might also lead to a complete sacrifice of non-priority dataflows' transmission (section 4.B).",
)
def too_large(runs: Runs) -> Tests:
    for share in ("10 %", "30 %"):
        high, non = (runs.gain(f"{group}_class", f"{share}, w = 0.1", over=share) for group in ("high", "non"))
        yield literal(high > 0, name=f"High gains with {share}")
        yield literal(non < 0, name=f"Non loses with {share}")
        sacrificed = runs.of("non_class", f"{share}, w = 0.1") < 0.31
        yield strict(sacrificed, name=f"Non sacrificed with {share}", why="A tenth of the fair share of 3.1 KB/s.")


@too_large.objection("w = 0.1 may not be large enough for a complete sacrifice.", fails="strict")
def _(runs: Runs) -> str:
    ten, thirty = (runs.of("share_plus", f"{share}, w = 0.1") for share in ("10 %", "30 %"))
    return (
        f"With w = 0.1 and 10 or 30 % the high-priority flows are above L for a share of {ten} or {thirty} of the "
        "time: most drops fall on the others already."
    )


@too_large.note()
def _(runs: Runs) -> str:
    cases = [f"{share}{w}" for share in ("10 %", "30 %") for w in ("", ", w = 0.1")]
    high, non = (runs.of(f"{group}_class", case=cases).each("case") for group in ("high", "non"))
    return (
        f"Class means with w = 1e-3 and 0.1, first with 10, then with 30 % high-priority flows: High {high}, Non {non} "
        "KB/s."
    )


@CLAIMS.claim(
    "A4c",
    "a_d rises evidently more with a larger w",
    quote="It is shown that the ascending extent of a_d increases evidently to the increase of the weight factor w "
    "(Figure 3: L = 300, X = 500).",
)
def rises_with_weight(runs: Runs) -> Tests:
    a_d = runs.of("closed_form", "model").each("point")
    answered = a_d.at(point=["50 intervals", "100 intervals"])
    yield literal(answered.grows("w").exact())
    yield strict(a_d.grows("w").exact())


@rises_with_weight.note()
def _(runs: Runs) -> str:
    small, large = (
        runs.of("closed_form", "model", w=w, point=["50 intervals", "100 intervals"]).each("point")
        for w in (0.003, 0.03)
    )
    return (
        "The literal form can hardly fail: the closed form grows with w. "
        f"a_d after {small.cells}: {small} bytes with w = 0.003, {large} with w = 0.03."
    )


@CLAIMS.claim(
    "A4d",
    "A short rise of the queue does not raise a_d much",
    quote="The packet droppings caused by a short-term increase of the average queue size will not result in a "
    "significant increase in the average-dropping rate (section 4.B).",
)
def low_pass(runs: Runs) -> Tests:
    why = (
        "Significant: a tenth of L. The average queue rises shortly while it is above its mean by one standard "
        "deviation for at most 10 s."
    )
    for w in ("w = 5e-3", "w = 3e-3"):
        yield literal(runs.of("short_rise", w) < 7, name=w, why=why if w == "w = 5e-3" else "")
        yield strict(runs.of("largest_short_rise", w) < 7, name=w)


@low_pass.objection("The largest rise of a run has many losses of one flow.", fails="strict")
def _(runs: Runs) -> str:
    mean, largest, small = (
        runs.of(name, case)
        for name, case in (
            ("short_rise", "w = 3e-3"),
            ("largest_short_rise", "w = 3e-3"),
            ("largest_short_rise", "10 %"),
        )
    )
    return (
        f"One loss of 500 bytes adds w times that, 1.5 bytes with w = 3e-3. The mean rise is {mean} bytes there, the "
        f"largest of a run {largest}; with w = 1e-3 the largest is {small}."
    )


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
    loaded = runs.of("high_a_d", "30 %").under(INTERVAL_450MS)
    return (
        f"The share of the time above L is {five} with one high-priority flow of 20, {ten} with 10 % and {thirty} with "
        f"30 %, where the paper says that the state is reached. With g = 1 s it is {thirty.under(INTERVAL_1S)} with 30 "
        f"%, but then a_d is {a_d} bytes (printed: {a_d.on_paper}). With g = 450 ms, about the round-trip time of the "
        f"runs, it is {thirty.under(INTERVAL_450MS)}, with an a_d of {loaded} bytes."
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
    "A5e",
    "The phase of the loop at ω_g is above -180°",
    quote="∠L(jω_g) ≥ ∠(L_red (RC)³/(4 r_p² N³ q) / (jω_g/K + 1)) - ω_g R ≥ -90° - 0.1 180°/π > -180° (section 4.A).",
)
def phase(runs: Runs) -> Tests:
    at_slow = runs.of("phase", "model").each("point")
    yield literal((at_slow > -180).exact(), why="The printed conclusion, at the printed r_p and both R.")
    yield strict((at_slow > runs.of("phase_bound", "model")).exact(), name="first printed inequality")


@phase.objection("Only -180° matters for the stability.", fails="strict")
def _(runs: Runs) -> str:
    exact, bound = (runs.of(name, "model").each("point") for name in ("phase", "phase_bound"))
    return (
        f"The literal form, which asks for just that, {runs.literal}: {exact} degrees. The printed bound of the phase, "
        f"{bound}, leaves out the lags of TCP and queue, which only lower the phase."
    )


@CLAIMS.claim(
    "A5f",
    "With 30 % high-priority flows, a larger share of their packets is dropped than with 10 %",
    quote="When r_p rises up to 30%, since the ratio of N_p to N is larger, according to (4), the dropping probability "
    "of the high-priority dataflow would also increase.",
)
def more_drops(runs: Runs) -> Tests:
    larger = runs.of("p_high", "30 %") > runs.of("p_high", "10 %")
    yield literal(larger)
    yield strict(larger, name="Network 1")
    yield strict(runs.of("p_high", "mesh, 30 %") > runs.of("p_high", "mesh, 10 %"), name="Network 2")


@more_drops.objection("(4) is about flows up to their limit.")
def _(runs: Runs) -> str:
    ten, thirty = ([runs.of(f"p_{kind}", case) for kind in ("minus", "plus")] for case in ("10 %", "30 %"))
    return (
        f"Their packets are dropped at {ten[0]} with 10 % and {thirty[0]} with 30 %, those of flows above L at "
        f"{ten[1]} and {thirty[1]}."
    )


@more_drops.note()
def _(runs: Runs) -> str:
    one, mesh = (
        runs.of("p_high", case=[f"{prefix}{share}" for share in ("10 %", "30 %")]).each("case")
        for prefix in ("", "mesh, ")
    )
    return f"Drops / arrivals of high-priority packets with 10 and 30 %: {one} in Network 1, {mesh} in Network 2."


@CLAIMS.claim(
    "A8",
    "Flows above r_pmax take another path, and the others keep a high throughput",
    quote="When the mechanism detects the percentage of high-priority dataflows N_p has exceeded the ideal limit "
    "r_pmax, it would redirect the packet to another path in the network (section 4.A). Here four more flows ask for "
    "priority once two of 16 have it.",
)
def redirected(runs: Runs) -> Tests:
    why = "r_pmax of the scenario: room for two flows of 16 to 20."
    yield literal(runs.of("r_p", "redirect") < 0.13, name="share of priority held", why=why)
    yield literal(runs.of("second_path", "redirect") > 0, name="second path used")
    for group, name in (("high", "High gains"), ("late", "redirected flows gain"), ("non", "Non gains")):
        yield strict(runs.of(f"{group}_class", "redirect") > runs.of(f"{group}_class", "one path"), name=name)


@redirected.objection("The limit keeps a_d at L; it promises no gain of throughput.", fails="strict")
def _(runs: Runs) -> str:
    held, free = (runs.of("high_a_d", case) for case in ("redirect", "one path"))
    high, non = (runs.gain(f"{group}_class", "redirect", over="one path") for group in ("high", "non"))
    return (
        f"a_d of High is {held} bytes with redirection and {free} without (L: 70). The class mean of High changes by "
        f"{high} KB/s, that of Non by {non}: the room goes to the flows without priority."
    )


@redirected.note()
def _(runs: Runs) -> str:
    none, held = (
        "{}, {} and {}".format(*(runs.of(f"{group}_class", case) for group in ("high", "late", "non")))
        for case in ("one path", "redirect")
    )
    return (
        "The literal form asks whether the limit is kept, which the router enforces; the strict form asks for the "
        "effect. "
        f"High, late and Non: {none} KB/s on one path, {held} with redirection."
    )
