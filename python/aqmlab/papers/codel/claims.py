"""The claims of the article. In parentheses: words of the heading of a quotation's section."""

from __future__ import annotations

from aqmlab.papers.common import Claims, Column, Quantity, Runs, Tests, literal, strict

DISCIPLINES = ("CoDel", "RED", "drop-tail")
RATES, RTTS, TARGETS = (3, 10, 45, 100), (10, 30, 100, 200, 500), (1, 2, 5, 10, 20)
PARTS = {"static": "constant rate", "target": "other targets", "dynamic": "dynamic link", "edge": "consumer edge"}
SACK = "TCP of the transfers: SACK of ns-2"

CLAIMS = Claims(
    columns={
        **{name: Column(name) for name in ("rate", "rtt", "target", "buffer")},
        "part": Column(values=PARTS),
        "discipline": Column(values=DISCIPLINES),
        "load": Column(values={"one": "one transfer", "ten": "ten transfers", "web": "transfers and Web", "": "other"}),
        "way": Column(),
    },
    quantities={
        **{f"wait_{q}": Quantity(f"{q} % quantile of the wait", "ms", printed=f"wait_{q}") for q in (50, 75, 95, 100)},
        "utilization": Quantity("utilization"),
        "loss": Quantity("loss", printed="loss"),
        "delay_median_ms": Quantity("median delay", "ms", printed="delay_median_ms"),
        "delay_p95_ms": Quantity("95 % quantile of the delay", "ms"),
        "mbytes": Quantity("data in 300 s", "MB", printed="mbytes"),
        "fairness": Quantity("Jain's index of drops / packets by source", printed="fairness"),
        "first_drop_ms": Quantity("time from a fall of the rate to the next drop", "ms"),
        "recovery_s": Quantity("time from a fall of the rate to a wait of at most 5 ms", "s"),
    },
)


@CLAIMS.claim("S-a", "The median delay approaches 5 ms", quote="“should approach this target” (Static Link Rates).")
def near_target(runs: Runs) -> Tests:
    delay = runs.of("delay_median_ms", "CoDel", part="static").drop(load="web")
    yield literal(delay.mean_over("rtt", "load").each("rate").between(2.5, 10), why="Near: half of 5 ms to twice that.")
    yield strict(delay.each("rate", "rtt", "load").between(2.5, 10))


@near_target.objection("Ten transfers overload a slow link, and one cannot fill a long path.")
def _(runs: Runs) -> str:
    delay = runs.of("delay_median_ms", "CoDel", part="static").at(rtt=30).each("rate")
    one, ten = delay.at(load="one"), delay.at(load="ten")
    return f"At an RTT of 30 ms and {one.cells} Mb/s: {one} ms with one transfer, {ten} ms with ten."


@CLAIMS.claim("S-b", "Below a target of 5 ms utilization suffers", quote="“suffers for some conditions” (No Knobs).")
def below_target(runs: Runs) -> Tests:
    gain = runs.of("utilization", part="target", target=5).less(target=1)
    yield literal(gain.mean_over("rate", "rtt", "load") > 0.01, why="It suffers: at least 0.01, as in S-c.")
    yield strict(gain.mean_over("rate", "rtt").each("load") > 0.01)


@CLAIMS.claim("S-c", "Above 5 ms it hardly improves", quote="“very little or no improvement” (No Knobs).")
def above_target(runs: Runs) -> Tests:
    gain = runs.of("utilization", part="target", target=10).less(target=5)
    yield literal(gain.mean_over("rate", "rtt", "load").below(0, margin=0.01), why="Very little: less than 0.01.")
    yield strict(gain.each("rate", "rtt", "load").below(0, margin=0.01))


@below_target.objection("A bottleneck is shared by several transfers.")
@above_target.objection("A bottleneck is shared by several transfers.")
def _(runs: Runs) -> str:
    used = runs.of("utilization", part="target").at(target=[1, 5, 10]).mean_over("rate", "rtt").each("load", "target")
    return f"Utilization is {used} with {used.cells}."


@CLAIMS.claim("R-a", "Use near drop-tail's, RTTs up to 200 ms", quote="“very close … much less delay” (Right Packets).")
def close(runs: Runs) -> Tests:
    used = runs.gain("utilization", "CoDel", over="drop-tail", part="static").drop(rtt=500)
    delay = runs.of("delay_median_ms", "CoDel", part="static").drop(rtt=500)
    half = 0.5 * runs.of("delay_median_ms", "drop-tail", part="static")
    yield literal(used.mean_over("rate", "rtt", "load").above(0, margin=0.05), why="Very close: less than 0.05 below.")
    yield literal(delay.mean_over("rate", "rtt", "load") < half, why="Much less delay: less than half.")
    yield strict(used.each("rate", "rtt", "load").above(0, margin=0.05))
    yield strict(delay.each("rate", "rtt", "load") < half)


@close.objection("One transfer has difficulty keeping a large pipe full.")
def _(runs: Runs) -> str:
    used = runs.gain("utilization", "CoDel", over="drop-tail", part="static").mean_over("rate").each("rtt")
    one, ten = used.at(load="one"), used.at(load="ten")
    return f"At RTTs of {one.cells} ms: {one} with one transfer, {ten} with ten."


@CLAIMS.claim("R-b", "Utilization and fairness beat RED's", quote="“higher … and better …” (Right Packets).")
def above_red(runs: Runs) -> Tests:
    used = runs.gain("utilization", "CoDel", over="RED", part="static")
    fair = runs.gain("fairness", "CoDel", over="RED", part="static").drop(load="one")
    for numbers, name in ((used, "Is utilization higher?"), (fair, "Are drops shared more fairly?")):
        yield literal(numbers.mean_over("rate", "load").each("rtt") > 0, name=name)
        yield strict(numbers.each("rate", "rtt", "load") > 0, name=name)


@above_red.objection("RED's settings are not printed.")
def _(runs: Runs) -> str:
    fair = runs.of("fairness", part="static").drop(load="one").mean_over("rate", "rtt", "load").each("discipline")
    red = fair.at(discipline="RED").under("RED: mean packet 1500 B")
    return f"Jain's index is {fair} with {fair.cells}, and {red} with a mean packet of 1500 B in RED."


@CLAIMS.claim("D-a", "For 95 % of the time the wait is below 90 ms", quote="“less than 90ms 95%” (Dynamic Links).")
def short_waits(runs: Runs) -> Tests:
    yield literal(runs.of("wait_95", "CoDel", part="dynamic").at(buffer=830) < 90, why="The authors' number.")
    yield strict(runs.of("wait_75", "CoDel", part="dynamic").at(buffer=830) < 5)


@short_waits.objection("Packets may have been counted in place of time.")
def _(runs: Runs) -> str:
    packets, wait = (runs.of(q, "CoDel", part="dynamic").at(buffer=830) for q in ("delay_p95_ms", "wait_95"))
    return f"95 % of packets wait {packets} ms, of the time {wait} ms, with ns-2's SACK {wait.under(SACK)} ms."


@CLAIMS.claim("D-b", "CoDel transfers nearly as much as drop-tail", quote="“almost the same total” (Dynamic Links).")
def as_much(runs: Runs) -> Tests:
    data, tail = (runs.of("mbytes", d, part="dynamic", buffer=830) for d in ("CoDel", "drop-tail"))
    yield literal(data > 0.95 * tail, why="Almost the same: 5 % less.")
    yield strict(data > 0.98 * tail)


@CLAIMS.claim("D-c", "A new control point is found within 100 ms", quote="“computes … within 100 ms” (Dynamic Links).")
def new_control_point(runs: Runs) -> Tests:
    drop, back = (runs.of(q, "CoDel", part="dynamic", buffer=830) for q in ("first_drop_ms", "recovery_s"))
    yield literal(drop < 100, name="Is there a drop?", why="A new control point begins with a drop.")
    yield strict(drop < 100, name="Is there a drop?")
    yield strict(back < 0.2, name="Is the wait back at the target?")  # sampled every 0.1 s


@new_control_point.objection("The sentence is about drops; the backlog has to leave first.")
def _(runs: Runs) -> str:
    drop, back = (runs.of(q, part="dynamic", buffer=830).each("discipline") for q in ("first_drop_ms", "recovery_s"))
    why = f"The next drop comes after {drop} ms: CoDel counts 100 ms from a wait of 5 ms on, and a packet takes 12 ms."
    return f"{why} The wait is at most 5 ms after {back} s, in this order: {back.cells}."


@CLAIMS.claim("D-d", "10 packets of buffer transfer 75 % less", quote="“about 75% less for all” (Dynamic Links).")
def ten_packets(runs: Runs) -> Tests:
    few, many = (runs.of("mbytes", part="dynamic", buffer=n).each("discipline") for n in (10, 830))
    yield literal(few.between(0.15, 0.35, times=many), why="About 75 % less: 65 to 85 %.")
    yield strict(few.between(0.2, 0.3, times=many))


@as_much.objection("The article's TCP is older.")
@ten_packets.objection("The article's TCP is older.")
def _(runs: Runs) -> str:
    less = runs.gain("mbytes", "CoDel", over="drop-tail", part="dynamic").at(buffer=830).percent().under(SACK)
    few = runs.of("mbytes", part="dynamic", buffer=10).less(buffer=830).percent().each("discipline").under(SACK)
    return f"With ns-2's SACK: CoDel less drop-tail {less} %, 10 packets less 830 {few} % ({few.cells})."


@CLAIMS.claim("E-a", "Fewer drops, less delay, similar data", quote="“never … at a higher rate” (Consumer Edge).")
def edge(runs: Runs) -> Tests:
    loss = runs.gain("loss", "CoDel", over="drop-tail", part="edge").each("way")
    yield literal(loss.below(0, margin=0.005), why="Half a per cent: 8 % is printed.")
    yield strict(loss < 0)
    delay, tail = (runs.of("delay_median_ms", d, part="edge") for d in ("CoDel", "drop-tail"))
    yield literal(delay.mean_over("way") < 0.5 * tail, why="A much smaller queue: half the delay.")
    yield strict(delay.each("way") < 0.5 * tail)
    data, tail = (runs.of("mbytes", d, part="edge") for d in ("CoDel", "drop-tail"))
    yield literal(data.mean_over("way") > 0.9 * tail, why="Similar: 10 % less; 8 % is printed.")
    yield strict(data.each("way") > 0.9 * tail)


@edge.objection("Drop-tail's buffer is not printed.")
def _(runs: Runs) -> str:
    words = []
    for q in ("loss", "delay_median_ms"):
        own, tail = (runs.of(q, d, part="edge").mean_over("way") for d in ("CoDel", "drop-tail"))
        half, two = (tail.under(f"Edge buffer of drop-tail: {bdp} BDP") for bdp in ("half a", "two"))
        words.append(f"{own} with CoDel, and {half}, {tail} and {two} with drop-tail and half a BDP, one and two")
    return "Loss: {}. Median delay in ms: {}.".format(*words)


@CLAIMS.finding(
    "The least delay of an interval tells a standing queue from a burst, at any rate.",
    holds="Averaged over rates, RTTs to 200 ms, CoDel's utilization is within 0.05 of drop-tail's, at half its delay.",
    fails="CoDel's short delay costs utilization.",
    undecided="Whether CoDel's short delay costs utilization is undecided in these runs.",
)
def finding(runs: Runs) -> Tests:
    yield from (test for test in close.tests(runs, "") if test.form == "literal")


@finding.text
def _(runs: Runs) -> str:
    used = runs.gain("utilization", "CoDel", over="drop-tail", part="static").drop(rtt=500)
    used = used.mean_over("rtt", "load").each("rate")
    return f"Utilization less drop-tail's: {used} at {used.cells} Mb/s."
