"""One process of a side: ``python -m aqmlab.live.traffic source|sink``, with an `Order` as a line of JSON on stdin.

It says ``ready`` when connections can come, waits for a line ``start T`` with a time of the monotonic clock, and ends
with a line of JSON.
"""

from __future__ import annotations

import json
import sys

from aqmlab.live.traffic.clock import Agenda
from aqmlab.live.traffic.order import Order
from aqmlab.live.traffic.sink import Sink
from aqmlab.live.traffic.source import Source


def main() -> int:
    """Do what stdin says."""
    role = sys.argv[1]
    order = Order.from_json(json.loads(sys.stdin.readline()))
    try:
        sink = Sink(order) if role == "sink" else None
    except OSError as error:
        print(f"cannot listen ({error.strerror})", file=sys.stderr)
        return 1
    print("ready", flush=True)
    word, _, when = sys.stdin.readline().partition(" ")
    if word != "start":
        return 0
    agenda = Agenda(float(when))
    found = sink.run(agenda) if sink is not None else Source(order, agenda).run()
    print(json.dumps(found), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
