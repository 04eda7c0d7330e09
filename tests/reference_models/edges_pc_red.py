"""PC-RED at the edges."""

from __future__ import annotations

from reference_models.edges import NEVER, RATE_BPS, Edge, arrivals, packet, word
from reference_models.pc_red import PcRed, Protection
from reference_models.red import Draws, Law, Settings
from reference_models.traffic import Template

HIGH, LOW = packet(flow=1, high=True), packet(flow=2)
HEAD, MIDDLE, TAIL = 0.0, 0.34, 0.99
"""Draws that pick the first, second and last of three candidates."""


def pc_red(
    name: str,
    packets: list[Template | None],
    draws: list[float],
    dropped: list[tuple[int, str]],
    *,
    min_th: float = 1.0,
    max_th: float = 2.0,
    limit: int = 10,
    w_q: float = 1.0,
    guard_one: bool = False,
    scan: str = "to-tail",
    spacing: str = "ns2-wait",
) -> Edge:
    """With `w_q` = 1 the average is the queue: two waiting packets are enough for a forced drop.

    A protected flow may lose one byte in 1000 s: one dropped packet is too much, half a byte at the start is not.
    """
    queue = f"""
aqm = "pc-red"
limit = "{limit}p"
min_th = "{min_th}p"
max_th = "{max_th}p"
max_p = 0.5
w_q = {w_q}
mean_packet = "1000B"
curve = "linear"
spacing = "{spacing}"
guard_one = {word(guard_one)}
loss_limit = "1B"
loss_interval = "1000s"
loss_weight = 0.1
status_refresh = "on-drop"
scan = "{scan}"
loss_decay = "real"
"""
    model = PcRed(
        Settings(w_q, limit, spacing, guard_one),
        Law(min_th, max_th, 0.5),
        Protection(limits=(1.0,), g=1000.0, w=0.1, scan=scan),
        RATE_BPS,
        Draws(draws),
    )
    return Edge(f"pc-red: {name}", queue, model, arrivals(*packets), draws, dropped, [])


PC_RED = [
    # The average is 1 when packet 2 comes: p_b = 0 there, and its uniform number decides nothing.
    pc_red("the head is picked", [LOW] * 4, [NEVER, HEAD], [(1, "forced")]),
    pc_red("the middle is picked", [LOW] * 4, [NEVER, MIDDLE], [(2, "forced")]),
    pc_red("the arriving packet is the last of the queue", [LOW] * 4, [NEVER, TAIL], [(3, "forced")]),
    pc_red("the packet in transmission is safe", [HIGH, LOW, LOW, LOW], [NEVER, HEAD], [(1, "forced")]),
    pc_red(
        # Packet 1 dies, its flow is protected from then on: packets 4 and 5 carry the bit, packet 2 does not.
        "bits are stamped on arrival only",
        [LOW, HIGH, HIGH, LOW, HIGH, HIGH],
        [NEVER, HEAD, HEAD, HEAD],
        [(1, "forced"), (2, "forced"), (3, "forced")],
    ),
    pc_red(
        # After packet 1: 2 low, 3 low, then 4 with the bit. 4 (last) picks itself: no packet is behind it.
        "a protected packet that is the last one dies",
        [LOW, HIGH, LOW, LOW, HIGH],
        [NEVER, HEAD, TAIL],
        [(1, "forced"), (4, "forced")],
    ),
    pc_red(
        # The queue is 2 low, 3 low; packet 4 (bit) goes in as 2 dies; then 3, 4, 5: the pick of 4 walks on to 5.
        "from a protected packet the scan goes towards the tail",
        [LOW, HIGH, LOW, LOW, HIGH, LOW],
        [NEVER, HEAD, HEAD, MIDDLE],
        [(1, "forced"), (2, "forced"), (5, "forced")],
    ),
    pc_red(
        "all from the pick on are protected: the last one, though another is unprotected",
        [LOW, HIGH, LOW, LOW, HIGH, HIGH],
        [NEVER, HEAD, HEAD, MIDDLE],
        [(1, "forced"), (2, "forced"), (5, "forced")],
    ),
    pc_red(
        "the circular scan finds the unprotected one in front",
        [LOW, HIGH, LOW, LOW, HIGH, HIGH],
        [NEVER, HEAD, HEAD, MIDDLE],
        [(1, "forced"), (2, "forced"), (3, "forced")],
        scan="circular",
    ),
    pc_red(
        "all are protected: the last one",
        [LOW, HIGH, LOW, LOW, HIGH, HIGH, HIGH],
        [NEVER, HEAD, HEAD, HEAD, HEAD],
        [(1, "forced"), (2, "forced"), (3, "forced"), (6, "forced")],
    ),
    pc_red(
        "all are protected and the scan is circular: the last one",
        [LOW, HIGH, LOW, LOW, HIGH, HIGH, HIGH],
        [NEVER, HEAD, HEAD, HEAD, MIDDLE],
        [(1, "forced"), (2, "forced"), (3, "forced"), (6, "forced")],
        scan="circular",
    ),
    pc_red(
        "full buffer: the same choice among three and the arriving packet",
        [LOW] * 5,
        [0.5],
        [(3, "overflow")],
        min_th=2.0,
        max_th=2.5,
        limit=3,
        w_q=1e-6,
    ),
    pc_red(
        "full buffer: the arriving packet",
        [LOW] * 5,
        [0.75],
        [(4, "overflow")],
        min_th=2.0,
        max_th=2.5,
        limit=3,
        w_q=1e-6,
    ),
    pc_red("one packet waits and the guard is on", [LOW] * 3, [], [], min_th=0.5, max_th=1.0, guard_one=True),
    pc_red("one packet waits: the head", [LOW] * 3, [0.4], [(1, "forced")], min_th=0.5, max_th=1.0),
    pc_red("one packet waits: the arriving one", [LOW] * 3, [0.6], [(2, "forced")], min_th=0.5, max_th=1.0),
    pc_red(
        # Averages 0, 0.5, 1.25 (p_b = 0.125), 2.125 (forced, packet 1), then the queue drains; at packet 5 the queue
        # is empty and the average 1.0625: p_b = 0.03125.
        "the queue is empty: the arriving packet",
        [LOW, LOW, LOW, LOW, LOW, None, None, None, LOW],
        [NEVER, HEAD, 0.03, NEVER],
        [(1, "forced"), (5, "early")],
        w_q=0.5,
        spacing="floyd93",
    ),
]
