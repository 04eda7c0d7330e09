"""Vectors that only other implementations need: PIE with the delay of the departure rate and the gains of RFC 8033.

`python validation/peer_cases.py` writes ``peers/vectors``. PIE of others has these gains as constants, and computes in
whole milliseconds; long packets make its probability rise within few events.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from peer_vectors import FORMAT, Case, Event

FOLDER = Path(__file__).resolve().parent / "peers" / "vectors"
RATE_BPS = 8_000_000
LENGTH = 16_000
SLOT_NS = 16_000_000
"""Time of a packet."""
SETTINGS = 'aqm = "pie"\nlimit = "60p"\ntarget = "20ms"\nmean_packet = "16000B"\ndelay = "departure-rate"\n'
CASES = {
    "no burst allowance": 'max_burst = "0ms"',
    "burst allowance": 'max_burst = "150ms"',
    "no burst allowance and decay below half of the target": 'max_burst = "0ms"\ndecay = "half-target"',
    "derandomized": 'max_burst = "0ms"\nderandomize = true',
}


def events(seed: int) -> list[Event]:
    """Return arrivals at twice the rate of the link behind a burst, then a silence, and arrivals again."""
    numbers = random.Random(seed)
    found: list[Event] = []
    packet = 0
    for slot in range(70):
        time = slot * SLOT_NS + 1_000_000
        arrivals = 8 if slot == 0 else 2 if slot < 34 else 0 if slot < 60 else 2
        for _ in range(arrivals):
            event = {"op": "enqueue", "t_ns": time, "id": packet, "length": LENGTH, "flow": 0, "ecn": "not-ect"}
            found.append({**event, "random": [numbers.random()]})
            packet += 1
        found.append({"op": "dequeue", "t_ns": time, "id": None, "random": []})
    return found


def main() -> None:
    """Write the file."""
    start = {"format": FORMAT, "discipline": "pie", "dialect": "default", "rate_bps": RATE_BPS}
    lines = [json.dumps({**start, "source": "RFC 8033", "note": "Delay by the departure rate, gains of the RFC"})]
    for seed, (name, settings) in enumerate(CASES.items()):
        text = SETTINGS + settings
        case = Case("pie-departure-rate", name, RATE_BPS, text, frozenset(), ()).with_events(events(seed))
        lines.append(json.dumps({"op": "new", "case": name, "settings": text, "uses": "", "expect": ""}))
        lines += [json.dumps(event, separators=(",", ":")) for event in case.events]
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "pie-departure-rate.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
