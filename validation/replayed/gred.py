"""GRED: its virtual queues, the traffic, and faults put in on purpose."""

from __future__ import annotations

from aqmlab.interop.tc.red import burst_for
from replayed import Case, Discipline, Fault, tcp, udp

QUEUES = ((10, 30_000, 60_000, 0.02, 90_000), (12, 20_000, 50_000, 0.05, 80_000), (0, 10_000, 40_000, 0.1, 60_000))
"""Code point and number of a virtual queue, min, max, probability and limit, from the most precious."""
FLOWS = tcp("first", 3, 10, ecn=True) + tcp("second", 3, 12) + tcp("rest", 3) + udp("load", 500, 3, 1, 10)
OVERLOAD = udp("first", 300, 9, 1, 10) + udp("second", 900, 9, 1, 12) + udp("rest", 700, 9) + tcp("plain", 2)
NEAR_CAPACITY = udp("first", 400, 4, 2, 10) + udp("second", 900, 4, 2, 12) + udp("rest", 600, 4, 2)


def queue(averages: str, *, scale: int = 1, w_q: float = 2**-7, ecn: bool = False) -> str:
    """Write the virtual queues in the words of a scenario; thresholds and limits are divided by `scale`."""
    head = f'mode = "bytes"\nmean_packet = "1000B"\naverages = "{averages}"\nw_q = {w_q}\nlimit = "10000000B"\n'
    lines = [head + f"ecn = {str(ecn).lower()}\n"]
    for number, low, high, p, limit in QUEUES:
        points = "default = true" if number == 0 else f"dscp = [{number}]"
        lines.append(
            f'[[queue.bottleneck.class]]\nname = "q{number}"\n{points}\nmin_th = "{low // scale}B"\n'
            f'max_th = "{high // scale}B"\nmax_p = {p}\nlimit = "{limit // scale}B"\n'
        )
    return "".join(lines)


def words(mode: str, wlog: int, *, scale: int = 1, ecn: bool = False) -> str:
    """Write the virtual queues in tc's words, with a weight of 2^-wlog."""
    setup = f"gred setup vqs 16 default 0 {'grio' if mode else ''} limit 10000000"
    lines = [" ".join(setup.split())]
    for place, (number, low, high, p, limit) in enumerate(QUEUES):
        burst, found = burst_for(wlog, low // scale, 1000)
        assert found == wlog
        prio = {"": "", "grio": f"prio {place + 1}", "equal": "prio 1"}[mode]
        own = (
            f"gred vq {number} {prio} limit {limit // scale} min {low // scale} max {high // scale} avpkt 1000 "
            f"burst {burst} probability {p} bandwidth 25mbit {'ecn' if ecn else ''}"
        )
        lines.append(" ".join(own.split()))
    return "; ".join(lines)


def case(averages: str, mode: str, flows: str, *, low: bool = False, ecn: bool = False, seconds: int = 5) -> Case:
    """Return a run; `low` has small thresholds and a large weight."""
    scale, wlog = (5, 2) if low else (1, 7)
    return Case(
        queue=queue(averages, scale=scale, w_q=2**-wlog, ecn=ecn),
        flows=flows,
        seconds=seconds,
        words=words(mode, wlog, scale=scale, ecn=ecn),
    )


CASES = {
    "own averages": case("decoupled", "", FLOWS, ecn=True),
    "own averages, overload": case("decoupled", "", OVERLOAD, seconds=3),
    "grio": case("summed", "grio", FLOWS, ecn=True),
    "grio, overload": case("summed", "grio", OVERLOAD, seconds=3),
    "grio, idle times": case("summed", "grio", NEAR_CAPACITY, low=True),
    "equal priorities": case("shared", "equal", FLOWS),
    "equal priorities, idle times": case("shared", "equal", NEAR_CAPACITY, low=True),
}
FAULTS = {
    "averages are not added": Fault("grio, overload", {"queue.bottleneck.averages": '"decoupled"'}),
    "one average": Fault("own averages", {"queue.bottleneck.averages": '"shared"'}),
    "idle while the link is free": Fault("grio, idle times", {"queue.bottleneck.idle_when": '"free"'}),
    "the next weight": Fault("equal priorities, idle times", {"queue.bottleneck.w_q": "0.125"}),
}
TEXT = """GRED (`sch_gred`) is the core's `rio` in the dialect `linux`. Its virtual queues are classes with a `limit` of
their own; the tap takes the number of a packet's virtual queue from its code point. `averages` is `"decoupled"` without
`grio`, `"summed"` with it, and `"shared"` where two virtual queues have the same priority.

Peculiarities, which the core follows:

* An idle time begins with the departure of a virtual queue's last packet. Any arrival ends it, also one that is
  dropped. After that the average falls by arrivals alone, until a packet of the virtual queue departs.
* With `grio` a virtual queue is judged by the sum of its own average and those of better priorities that are not idle.

A weight of its own for each virtual queue is not in the core: the runs give all of them one."""
GRED = Discipline("rio", ("sch_gred",), CASES, FAULTS, TEXT)
