"""CHOKe: its settings, the traffic, and faults put in on purpose."""

from __future__ import annotations

from replayed import Case, Discipline, Fault, tcp, udp

USUAL = 'mean_packet = "1000B"\nmin_th = 10\nmax_th = 30\nmax_p = 0.1\nw_q = 0.03125\nlimit = 100\n'
LOW = 'mean_packet = "1000B"\nmin_th = 3\nmax_th = 9\nmax_p = 0.5\nw_q = 0.25\nlimit = 40\n'
CASES = {
    "TCP": Case(queue=USUAL, flows=tcp("plain", 12), seconds=6),
    "TCP with ECN": Case(queue=USUAL + "ecn = true\n", flows=tcp("marked", 12, ecn=True), seconds=6),
    "TCP beside UDP": Case(queue=USUAL, flows=tcp("plain", 8) + udp("load", 1000, 15), seconds=5),
    "overload": Case(
        queue=USUAL + "ecn = true\n",
        flows=tcp("marked", 4, ecn=True) + udp("one", 300, 6, 4) + udp("other", 1100, 6, 2),
        seconds=4,
    ),
    "idle times": Case(queue=LOW, flows=udp("one", 400, 3, 4) + udp("other", 900, 6, 2), seconds=5),
}
FAULTS = {
    "min one packet more": Fault("overload", {"queue.bottleneck.min_th": "11"}),
    "max_p 0.105": Fault("TCP with ECN", {"queue.bottleneck.max_p": "0.105"}),
    "draws from packets": Fault("TCP beside UDP", {"queue.bottleneck.draw_from": '"packets"'}),
    "two draws": Fault("overload", {"queue.bottleneck.candidates": "2"}),
    "no idle rule": Fault("idle times", {"queue.bottleneck.at_idle": '"none"'}),
}
TEXT = """The core has the settings of `red` in packets, and CHOKe's array: a packet is drawn from its slots, of which
dropped packets leave some empty, and after three empty slots the first packet is taken. The three kernels decide alike.
The kernel's hash of addresses and ports stands for a packet's flow.

Outside of the replay: the array has the next power of two above `limit` slots. Where packets and empty slots fill it,
`sch_choke` takes its queue for empty, and no longer sends the packets in it. That happens with a `limit` just below a
power of two (127, 1023) and a queue near the limit; the core's queue stays whole."""
CHOKE = Discipline("choke", ("sch_choke",), CASES, FAULTS, TEXT)
