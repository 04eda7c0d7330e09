"""RIO and WRED at the edges."""

from __future__ import annotations

from reference_models.edges import NEVER, RATE_BPS, Edge, arrivals, packet, word
from reference_models.red import Draws, Law, Settings
from reference_models.rio import AF11, Rio, RioDecoupled
from reference_models.traffic import Template
from reference_models.wred import Wred

IN, OUT = packet(assured=True), packet()


def classes(
    name: str,
    averages: str,
    packets: list[Template | None],
    dropped: list[tuple[int, str]],
    *,
    limit: int = 10,
    out_max: float = 2.0,
    guard_one: bool = False,
) -> Edge:
    """Out: forced drops from an average of `out_max`; in: from 4. Average = queue, and p_b = 0 at both min_th."""
    kind = {"coupled": Rio, "decoupled": RioDecoupled, "shared": Wred}[averages]
    queue = f"""
aqm = "rio"
averages = "{averages}"
limit = "{limit}p"
w_q = 1.0
mean_packet = "1000B"
curve = "linear"
spacing = "floyd93"
guard_one = {word(guard_one)}
[[class]]
name = "in"
dscp = ["AF11"]
min_th = "3p"
max_th = "4p"
max_p = 0.5
[[class]]
name = "out"
default = true
min_th = "0.5p"
max_th = "{out_max}p"
max_p = 0.5
"""
    draws = [NEVER] * 20
    laws = [Law(3.0, 4.0, 0.5), Law(0.5, out_max, 0.5)]
    model = kind(Settings(1.0, limit, "floyd93", guard_one), laws, {AF11: 0}, RATE_BPS, Draws(draws))
    return Edge(f"{averages}: {name}", queue, model, arrivals(*packets), draws, dropped, [])


CLASSES = [
    classes("the queue is empty", "coupled", [IN, OUT], []),
    classes("one packet waits", "coupled", [IN, IN, OUT], [(2, "forced")], out_max=1.0),
    classes("one packet waits and the guard is on", "coupled", [IN, IN, OUT], [], out_max=1.0, guard_one=True),
    classes("out is judged by the whole queue", "coupled", [IN, IN, IN, OUT, IN], [(3, "forced")]),
    classes("out is judged by what is out", "decoupled", [IN, IN, IN, OUT, OUT, OUT], [(5, "forced")]),
    classes("in is judged by what is in", "coupled", [OUT, OUT, OUT, IN, IN, IN, IN, IN], [(7, "forced")]),
    classes(
        "in is judged by the whole queue", "shared", [OUT, OUT, OUT, IN, IN, IN, IN], [(5, "forced"), (6, "forced")]
    ),
    classes("a full buffer has no classes", "decoupled", [OUT, IN, IN, OUT, OUT, IN], [(5, "overflow")], limit=4),
]
