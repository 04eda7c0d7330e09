"""RED of ns.py (PyPI: ns.py) as an adapter; ns.py and simpy must be importable.

The process of the port would send packets by itself: here a packet leaves at the time of the vector, as the process
takes it. Random numbers are those of the vector.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import simpy
from ns.packet.packet import Packet
from ns.port import red_port


class Port(red_port.REDPort):
    """A port whose packets leave by `leave`."""

    def run(self):
        """Send nothing."""
        yield self.env.event()

    def leave(self) -> int | None:
        """Take the next packet, as `ns.port.port.Port.run` does with rate 0."""
        if not self.store.items:
            return None
        packet = self.store.items.pop(0)
        self.byte_size -= packet.size
        return packet.packet_id


class Numbers:
    """Random numbers of the current event."""

    def __init__(self) -> None:
        self.left: list[float] = []
        self.drawn = 0

    def uniform(self, low: float, high: float) -> float:
        """Return the next number, or the middle once they are used up."""
        self.drawn += 1
        return low + (high - low) * (self.left.pop(0) if self.left else 0.5)


def exponent(weight: float) -> float:
    """Return the exponent n of a weight 2^-n."""
    n = 0.0
    while weight < 0.75:
        weight, n = weight * 2, n + 1
    return n


def main() -> None:
    """Answer the events of standard input."""
    numbers = Numbers()
    red_port.random = SimpleNamespace(uniform=numbers.uniform)
    for line in sys.stdin:
        op, *words = line.split()
        if op == "new":
            s = {key: value for key, _, value in (word.partition("=") for word in words)}
            env = simpy.Environment()
            thresholds = (float(s["max_th"]), float(s["min_th"]), float(s["max_p"]))
            port = Port(env, 0, *thresholds, weight_factor=exponent(float(s["w_q"])), qlimit=int(float(s["limit"])))
            print("ok", flush=True)
            continue
        numbers.left, numbers.drawn, dropped = [float(word) for word in words[5 if op == "enqueue" else 1 :]], 0, ""
        if op == "enqueue":
            before = port.packets_dropped
            port.put(Packet(env.now, int(words[2]), int(words[1]), flow_id=int(words[3])))
            is_dropped = port.packets_dropped > before
            dropped = f" {words[1]}" if is_dropped else ""
            answer = "drop" if is_dropped else "enqueue"
        else:
            left = port.leave()
            answer = "none" if left is None else str(left)
        print(f"{answer} dropped{dropped} marked drawn {numbers.drawn}", flush=True)


if __name__ == "__main__":
    main()
