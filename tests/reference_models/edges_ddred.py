"""DDRED at the edges, with RED and with tail drop."""

from __future__ import annotations

from reference_models.ddred import Ddred, DdredTail, Search
from reference_models.edges import NEVER, RATE_BPS, Edge, arrivals, packet, word
from reference_models.red import Draws, Law, Settings
from reference_models.traffic import Template

NEAR, FAR, FARTHER = packet(1), packet(3), packet(5)


def ddred(
    name: str,
    packets: list[Template | None],
    draws: list[float],
    dropped: list[tuple[int, str]],
    marked: list[int] | None = None,
    *,
    search: Search | None = None,
    min_th: float = 1.0,
    max_th: float = 2.0,
    w_q: float = 1.0,
    full: bool = False,
    guard_one: bool = False,
    ecn: bool = False,
    mark_forced: bool = False,
) -> Edge:
    """The gentle curve with max_p = 0.5 and average = queue: p_b is 0 at one, 0.5 at two, 0.75 at three, 1 at four.

    `full`: a buffer of three packets and an average that stays low.
    """
    s = search or Search()
    limit = 10
    if full:
        limit, min_th, max_th, w_q = 3, 2.0, 2.5, 1e-6
    queue = f"""
aqm = "ddred"
limit = "{limit}p"
min_th = "{min_th}p"
max_th = "{max_th}p"
max_p = 0.5
w_q = {w_q}
mean_packet = "1000B"
curve = "gentle"
spacing = "none"
guard_one = {word(guard_one)}
ecn = {word(ecn)}
mark_forced = {word(mark_forced)}
distance = "{s.distance}"
unknown_fraction = 1.0
ties = "{s.ties}"
arrival_is_candidate = {word(s.arrival_is_candidate)}
search = "{s.reach}"
"""
    model = Ddred(
        Settings(w_q, limit, "none", guard_one, ecn, mark_forced),
        Law(min_th, max_th, 0.5, gentle=True),
        s,
        RATE_BPS,
        Draws(draws),
    )
    return Edge(f"ddred: {name}", queue, model, arrivals(*packets), draws, dropped, marked or [])


YES = 0.0
"""A draw that drops wherever p_b is above 0."""
E_NEAR, E_FAR = packet(1, ect=True), packet(3, ect=True)

DDRED = [
    ddred("nearest at the head", [FAR, NEAR, FAR, FARTHER], [NEVER, YES], [(1, "early")]),
    ddred("nearest at the tail", [FAR, FAR, NEAR, FARTHER], [NEVER, YES], [(2, "early")]),
    ddred("the nearer arrival is no candidate", [FAR, FARTHER, FAR, NEAR], [NEVER, YES], [(2, "early")]),
    ddred("the packet in transmission is no candidate", [NEAR, FARTHER, FAR, FARTHER], [NEVER, YES], [(2, "early")]),
    ddred(
        "the nearer arrival as a candidate",
        [FAR, FARTHER, FAR, NEAR],
        [NEVER, YES],
        [(3, "early")],
        search=Search(arrival_is_candidate=True),
    ),
    ddred("equals: the newest", [FAR, FAR, FAR, FARTHER], [NEVER, YES], [(2, "early")]),
    ddred("equals: the oldest", [FAR, FAR, FAR, FARTHER], [NEVER, YES], [(1, "early")], search=Search(ties="oldest")),
    ddred(
        "equals with the arrival as a candidate: the arrival is the newest",
        [FAR, FAR, FAR, FAR],
        [NEVER, YES],
        [(3, "early")],
        search=Search(arrival_is_candidate=True),
    ),
    ddred("one packet waits and the guard is on", [FAR] * 3, [], [], min_th=0.5, max_th=1.0, guard_one=True),
    ddred("one packet waits", [FAR, FARTHER, NEAR], [YES], [(1, "early")], min_th=0.5, max_th=1.0),
    ddred(
        # Averages 0, 0.5, 1.25 (kept), 2.125 (kept), then the queue drains; packet 5 sees 1.0625 and an empty queue.
        "the queue is empty: the arriving packet",
        [FAR, FAR, FAR, FAR, FAR, None, None, None, None, FARTHER],
        [NEVER, NEVER, YES],
        [(5, "early")],
        w_q=0.5,
    ),
    ddred("forced drop: nearest too", [FAR, FAR, NEAR, FAR, FAR, FARTHER], [NEVER] * 3, [(2, "forced")]),
    ddred(
        "forced drop hits the arrival if only early drops search",
        [FAR, FAR, NEAR, FAR, FAR, FARTHER],
        [NEVER] * 3,
        [(5, "forced")],
        search=Search(reach="early"),
    ),
    ddred("full buffer: the nearest waits", [FAR, FAR, NEAR, FAR, FAR], [], [(2, "overflow")], full=True),
    ddred("full buffer: the arrival is nearest", [FAR, FAR, FAR, FAR, NEAR], [], [(4, "overflow")], full=True),
    ddred("full buffer, equals: the arrival is the newest", [FAR] * 5, [], [(4, "overflow")], full=True),
    ddred("full buffer, equals: the oldest", [FAR] * 5, [], [(1, "overflow")], search=Search(ties="oldest"), full=True),
    ddred(
        "full buffer, only early drops search",
        [FAR, FAR, NEAR, FAR, FAR],
        [],
        [(4, "overflow")],
        search=Search(reach="early"),
        full=True,
    ),
    ddred("ECN marks the nearest", [FAR, E_NEAR, FAR, FAR], [NEVER, YES], [], [1], ecn=True),
    ddred(
        "a nearest packet without ECN is dropped though the arrival has it",
        [FAR, NEAR, E_FAR, E_FAR],
        [NEVER, YES],
        [(1, "early")],
        ecn=True,
    ),
    ddred(
        "ECN does not apply to a full buffer",
        [FAR, E_FAR, E_NEAR, E_FAR, E_FAR],
        [],
        [(2, "overflow")],
        ecn=True,
        full=True,
    ),
    ddred(
        "ECN does not apply to a forced drop",
        [FAR, FAR, E_NEAR, FAR, FAR, FAR],
        [NEVER] * 3,
        [(2, "forced")],
        ecn=True,
    ),
    ddred(
        "unless the switch allows it",
        [FAR, FAR, E_NEAR, FAR, FAR, FAR],
        [NEVER] * 3,
        [],
        [2],
        ecn=True,
        mark_forced=True,
    ),
    ddred(
        # 1 of 2 routers is farther than 3 of 9.
        "the smallest fraction is not the smallest distance",
        [FAR, packet(1, way=2), packet(3, way=9), FARTHER],
        [NEVER, YES],
        [(2, "early")],
        search=Search(distance="fraction"),
    ),
    ddred(
        "equal fractions: the newest",
        [FAR, packet(1, way=3), packet(2, way=6), FARTHER],
        [NEVER, YES],
        [(2, "early")],
        search=Search(distance="fraction"),
    ),
    ddred(
        "a packet that does not know its way is protected",
        [FAR, packet(9, way=10), packet(1), FARTHER],
        [NEVER, YES],
        [(1, "early")],
        search=Search(distance="fraction"),
    ),
    ddred(
        "a packet that has come farther than its way counts as arrived",
        [FAR, packet(9, way=7), packet(1), FARTHER],
        [NEVER, YES],
        [(2, "early")],
        search=Search(distance="fraction"),
    ),
]


def ddred_tail(name: str, packets: list[Template | None], dropped: list[tuple[int, str]], n: int = 1) -> Edge:
    queue = f'\naqm = "ddred-tail"\nlimit = "3p"\nlast_n = {n}\ndistance = "ttl"\n'
    model = DdredTail(3, n, Search())
    return Edge(f"ddred-tail: {name}", queue, model, arrivals(*packets), [], dropped, [])


DDRED_TAIL = [
    ddred_tail("nothing before the buffer is full", [FAR, NEAR, NEAR, NEAR], []),
    ddred_tail("the last one is nearer", [FAR, FAR, FAR, NEAR, FAR], [(3, "overflow")]),
    ddred_tail("the arrival is nearer", [FAR, FAR, FAR, FAR, NEAR], [(4, "overflow")]),
    ddred_tail("equals: the arrival", [FAR] * 5, [(4, "overflow")]),
    ddred_tail("who is not among the last is safe", [FAR, NEAR, FAR, FAR, FAR], [(4, "overflow")]),
    ddred_tail("the last two", [FAR, NEAR, NEAR, FAR, FAR], [(2, "overflow")], 2),
    ddred_tail("all of them, equals: the newest", [FAR, NEAR, NEAR, FAR, FAR], [(2, "overflow")], 3),
    ddred_tail("the packet in transmission is safe", [NEAR, FAR, FAR, FAR, FAR], [(4, "overflow")], 3),
]
