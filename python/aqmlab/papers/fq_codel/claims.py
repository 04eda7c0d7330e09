"""Traffic and queues of the runs, and the claims of RFC 8290; in parentheses the section of a quotation."""

from __future__ import annotations

from aqmlab.papers.common import Claims, Column, Quantity, Runs, Tests, literal, strict
from aqmlab.papers.common.claim_functions import Claim
from aqmlab.scenario.toml_text import Value

Changes = dict[str, Value]
QUIET: Changes = {f"flow.{name}.start": "1000s" for name in ("call", "video", "web")}
LOADS: dict[str, Changes] = {f"{n} transfer{'s'[: n > 1]}": {"flow.bulk.count": n} for n in (1, 4, 16)}
FEW = {name: own for name, own in LOADS.items() if name != "16 transfers"}
FLOODS = {f"{name} and a flood": {**own, "flow.flood.start": "5s"} for name, own in LOADS.items()}
PAIRS: Changes = {**QUIET, "flow.bulk.count": 2, "flow.other.start": "1s"}
SIZES = {f"segments of {size} B": {**PAIRS, "flow.other.tcp.mss": f"{size}B"} for size in (100, 300, 500)}
BACKGROUND: Changes = {**PAIRS, "run.duration": "60s", "flow.other.tcp.congestion_control": "ledbat"}
LEDBAT = {f"LEDBAT at {mbps} Mb/s": {**BACKGROUND, "dumbbell.down.rate": f"{mbps}Mbps"} for mbps in (5, 20)}
ONE_WAY: dict[str, Changes] = {
    f"one way at {down}/{up} Mb/s": {**QUIET, "dumbbell.down.rate": f"{down}Mbps", "dumbbell.up.rate": f"{up}Mbps"}
    for down, up in ((5, 5), (10, 1), (20, 2))
}
BACK: Changes = {"flow.other.from": "right", "flow.other.to": "left", "flow.other.count": 4, "flow.other.start": "1s"}
TWO_WAYS = {name.replace("one way", "two ways"): {**own, **BACK} for name, own in ONE_WAY.items()}
AFTER: Changes = {"run": {"duration": "22s", "warmup": "20s"}}  # the 2 s after a change are measured
FALL: Changes = {"dumbbell.down.rate": "50Mbps", "change": [{"at": "20s", "link": "down", "rate": "10Mbps"}]}
START: Changes = {"flow.bulk.count": 2, "flow.other.count": 8, "flow.other.start": "20s"}
CHANGES: dict[str, Changes] = {"8 transfers start": {**AFTER, **START}, "50 to 10 Mb/s": {**AFTER, **FALL}}
MEGABIT: Changes = {**{f"dumbbell.{way}.rate": "1Mbps" for way in ("down", "up")}, "flow.video.rate": "100kbps"}
SLOW = {f"{name} at 1 Mb/s": {**own, **MEGABIT, "flow.web.start": "1000s"} for name, own in LOADS.items()}
SPREAD: Changes = {"flow.hashed.start": {"uniform": ["0s", "40ms"]}, "queue.down.interval": "100s"}
HASHED: Changes = {**QUIET, **SPREAD, "flow.bulk.start": "1000s"}  # no drops by CoDel: all queues are busy
FQ, CODEL, TAIL, RAISED = "FQ-CoDel", "CoDel", "drop-tail", "target of 15 ms"
FREE, FREE_RAISED, HASH = "5 ms to the last packet", "15 ms to the last packet", "100 floods"
QUEUES: dict[str, Changes] = {
    FQ: {"aqm": "fq-codel"},
    CODEL: {"aqm": "codel"},
    **{name: {"aqm": name.lower(), "limit": "1000p"} for name in (TAIL, "DRR", "SFQ")},
    RAISED: {"aqm": "fq-codel", "target": "15ms"},
    FREE: {"aqm": "fq-codel", "max_packet": 1},
    FREE_RAISED: {"aqm": "fq-codel", "max_packet": 1, "target": "15ms"},
}
PARTS: dict[str, tuple[dict[str, Changes], tuple[str, ...]]] = {  # traffic and disciplines
    "loads": (LOADS, (FQ, CODEL, TAIL, "DRR")),
    "floods": (FLOODS, (FQ, CODEL, TAIL)),
    "sizes": (SIZES, (FQ, CODEL, "SFQ")),
    "ways": (ONE_WAY | TWO_WAYS, (FQ, CODEL, TAIL)),
    "changes": (CHANGES, (FQ, CODEL)),
    "LEDBAT": (LEDBAT, (FQ, TAIL)),
    "slow": (SLOW, (FQ, RAISED, FREE, FREE_RAISED)),
    "hash": ({HASH: HASHED}, (FQ,)),
}
COUNTS = {1: 0.9078, 2: 0.9957, 3: 0.9999}  # printed probabilities of at most so many flows in a queue
CLAIMS = Claims(
    columns={"traffic": Column(values=[name for of, _ in PARTS.values() for name in of]), "discipline": Column()},
    quantities={
        "call": Quantity("mean wait of the call", "ms"),
        "video": Quantity("mean wait of the video", "ms"),
        "page": Quantity("mean load time of pages", "s"),
        "delay": Quantity("mean wait of all packets", "ms"),
        "used": Quantity("utilization of links with data"),
        "bulk": Quantity("goodput of the transfers", "Mb/s"),
        "small": Quantity("bytes on the link of small segments over those of 1448 B"),
        "ledbat": Quantity("goodput of LEDBAT over that of CUBIC"),
        **{f"most_{n}": Quantity(f"probability of at most {n} in each queue") for n in COUNTS},
        **{f"of_{n}": Quantity(f"share of flows in queues with at most {n}", printed=f"of_{n}") for n in COUNTS},
    },
)
ISOLATED = "“isolation for low-rate traffic such as DNS, web, and videoconferencing traffic” (abstract)."
PRIORITY = "“it will effectively get priority over queues that do not empty out each round” (1.3)."
EQUAL = "“flows that send small packets are not penalised by the difference in packet sizes” (3)."
USE = "“It improves utilisation across the networking fabric, especially for bidirectional traffic” (abstract)."
TRANSIENT = "“flow isolation radically improves the transient behaviour of the network” (5.8)."
FAIR = "“these delay-based algorithms […] will consume the fair share of bandwidth afforded to them” (6.3)."
ODDS = "“no collision is 90.78%; […] no more than two […] will be involved in any given collision = 99.57%” (5.3)."
HARM = "“some vulnerabilities of FIFO systems are reduced with FQ-CoDel (e.g., simple minded packet floods)” (8)."
AGGRESSIVE = "“transmission time of a single MTU-sized packet […] prevents CoDel from being too aggressive” (5.2.2)."
OWN = "Bytes left at a drop: of the flow's own queue"


def shown(runs: Runs, quantity: str, baseline: str, traffic: dict[str, Changes]) -> str:
    """Write FQ-CoDel's means and those of a baseline."""
    own, other = (runs.of(quantity, name, traffic=tuple(traffic)).each("traffic") for name in (FQ, baseline))
    words = CLAIMS.words.quantity(quantity)
    return f"{words.title.capitalize()} with {own.cells}: {own} {words.unit}; with {baseline} {other} {words.unit}."


def compared(key: str, title: str, quote: str, quantity: str, traffic: dict[str, Changes], sign: int) -> Claim[[str]]:
    """Add the claim that FQ-CoDel's quantity is below (sign -1) or above (1) that of one queue."""
    against = (CODEL,) if traffic is ONE_WAY else (CODEL, TAIL)  # one way a full queue is never idle

    @CLAIMS.claim(key, title, quote=quote, against=against)
    def tests(runs: Runs, baseline: str) -> Tests:
        gain = runs.gain(quantity, FQ, over=baseline, traffic=tuple(traffic))
        for numbers, form in ((gain.mean_over("traffic"), literal), (gain.each("traffic"), strict)):
            yield form(numbers < 0 if sign < 0 else numbers > 0)

    return tests


call = compared("A", "A call is isolated", ISOLATED, "call", LOADS, -1)
web = compared("B", "Web pages are isolated", ISOLATED, "page", LOADS, -1)
video = compared("C", "A video is isolated", ISOLATED, "video", FEW, -1)


@web.objection("Which queue keeps a packet at a drop is open: if any may, as here, a short flow may lose its last.")
def _(runs: Runs, baseline: str) -> str:
    own = runs.of("page", FQ, traffic=tuple(LOADS)).each("traffic").under(OWN)
    return f"{shown(runs, 'page', baseline, LOADS)} If the flow's own queue keeps one: {own} s."


@video.note()
def _(runs: Runs, baseline: str) -> str:
    return f"Beside 16 transfers 1 Mb/s is more than a share of 10 Mb/s. {shown(runs, 'video', baseline, LOADS)}"


@CLAIMS.claim("D", "A sparse flow goes before its turn", quote=PRIORITY, against=("DRR",))
def priority(runs: Runs, baseline: str) -> Tests:
    wait, turn = (runs.of("call", name, traffic=tuple(LOADS)) for name in (FQ, baseline))
    yield literal(wait.mean_over("traffic") < 0.5 * turn, why="Priority: half of the wait for a turn.")
    yield strict(wait.each("traffic") < 0.5 * turn)


@priority.objection("Beside one transfer the turn comes after one packet.")
def _(runs: Runs, baseline: str) -> str:
    return f"{shown(runs, 'call', baseline, LOADS)} A packet of a transfer takes 1.2 ms."


@CLAIMS.claim("E", "Small packets cost no share of the link", quote=EQUAL, against=("SFQ", CODEL))
def sizes(runs: Runs, baseline: str) -> Tests:
    own, control = (runs.of("small", name, traffic=tuple(SIZES)) for name in (FQ, baseline))
    yield literal(own.mean_over("traffic").between(0.9, 1.1), name="equal shares", why="Not penalised: a tenth.")
    yield strict(own.each("traffic").between(0.9, 1.1), name="equal shares")
    yield literal(control.mean_over("traffic") < 0.9, name="unequal in the control")
    yield strict(control.each("traffic") < 0.9, name="unequal in the control")


one_way = compared("F", "Utilization improves with traffic one way", USE, "used", ONE_WAY, 1)
two_ways = compared("G", "Utilization improves with traffic both ways", USE, "used", TWO_WAYS, 1)


@one_way.objection("A full queue keeps a link busy: the sentence is above all about traffic both ways.")
def _(runs: Runs, baseline: str) -> str:
    one, two = (runs.gain("used", FQ, over=baseline, traffic=tuple(t)).each("traffic") for t in (ONE_WAY, TWO_WAYS))
    return f"Utilization less that of {baseline}, {one.cells}: {one}; {two.cells}: {two}."


@CLAIMS.claim("H", "Transients are radically better", quote=TRANSIENT, against=(CODEL,))
def transients(runs: Runs, baseline: str) -> Tests:
    for quantity, name in (("call", "a call"), ("delay", "all packets")):
        own, other = (runs.of(quantity, one, traffic=tuple(CHANGES)) for one in (FQ, baseline))
        yield literal(own.mean_over("traffic") < 0.5 * other, name=name, why="Radically: half.")
        yield strict(own.each("traffic") < 0.5 * other, name=name)


@transients.objection("Flows that were there before a change have to empty their own queues.")
def _(runs: Runs, baseline: str) -> str:
    return " ".join(shown(runs, quantity, baseline, CHANGES) for quantity in ("call", "delay"))


@CLAIMS.claim("I", "LEDBAT takes a fair share", quote=FAIR, against=(TAIL,))
def ledbat(runs: Runs, baseline: str) -> Tests:
    own, control = (runs.of("ledbat", name, traffic=tuple(LEDBAT)) for name in (FQ, baseline))
    yield literal(own.mean_over("traffic").between(0.8, 1.25), name="a fair share", why="Fair: a quarter.")
    yield strict(own.each("traffic").between(0.8, 1.25), name="a fair share")
    yield literal(control.mean_over("traffic") < 0.5, name="yielding in the control", why="Yielding: half.")
    yield strict(control.each("traffic") < 0.5, name="yielding in the control")


@CLAIMS.claim("J", "100 flows collide rarely", quote=ODDS)
def collisions(runs: Runs) -> Tests:
    for n, printed in COUNTS.items():
        one, every = (runs.of(f"{q}_{n}", FQ, traffic=HASH) for q in ("of", "most"))
        yield literal(one.equals(printed, within=0.01), name=f"at most {n} in a flow's queue", why="Of one flow: 0.01.")
        if n < 3:  # all runs agree on 3
            yield strict(every.equals(printed, within=0.05), name=f"at most {n} in each queue")


@collisions.objection("The printed numbers are those of each flow alone.", fails="strict")
def _(runs: Runs) -> str:
    every, each = (", ".join(str(runs.of(f"{q}_{n}", FQ, traffic=HASH)) for n in COUNTS) for q in ("most", "of"))
    return f"Probabilities that no queue has more than 1, 2, 3 flows: {every}; shares of flows in such queues: {each}."


compared("K", "A flood harms transfers less", HARM, "bulk", FLOODS, 1)


@CLAIMS.claim("L", "At 1 Mb/s a target of 5 ms is too aggressive", quote=AGGRESSIVE)
def target(runs: Runs) -> Tests:
    gain = runs.gain("used", RAISED, over=FQ, traffic=tuple(SLOW))
    yield literal(gain.mean_over("traffic") > 0.01, why="Too aggressive: 1 % of the link is lost.")
    yield strict(gain.each("traffic") > 0.01)


@target.objection("CoDel does not drop the last packet, which keeps a slow link busy with any target.")
def _(runs: Runs) -> str:
    pairs = ((RAISED, FQ), (FREE_RAISED, FREE))
    gain, free = (runs.gain("used", one, over=two, traffic=tuple(SLOW)).each("traffic") for one, two in pairs)
    return f"Utilization gained by 15 ms with {gain.cells}: {gain}; with drops to the last packet {free}."


@CLAIMS.finding(
    "A queue for each flow, sparse ones first, each under CoDel, isolates low-rate traffic.",
    holds="Behind FQ-CoDel a call waits less than behind CoDel, at every load.",
    fails="Behind FQ-CoDel a call does not wait less than behind CoDel at every load.",
    undecided="Whether a call waits less behind FQ-CoDel than behind CoDel at every load is undecided.",
)
def finding(runs: Runs) -> Tests:
    yield literal(runs.gain("call", FQ, over=CODEL, traffic=tuple(LOADS)).each("traffic") < 0)


@finding.text
def _(runs: Runs) -> str:
    return " ".join(shown(runs, quantity, CODEL, LOADS) for quantity in ("call", "page"))
