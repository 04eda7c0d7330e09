"""One process of UDP: ``python -m aqmlab.live.udp source|sink``, with an order as a line of JSON on stdin.

It says ``ready`` when its sockets are there, waits for a line ``start T`` with a time of the monotonic clock in s, and
ends with a line of JSON. Its packets, and their times, are those of the simulator's flow of the same name and seed.

The order, for both roles::

    {"seed": 1, "duration_s": 60, "warmup_s": 10, "mtu": 1500, "linger_s": 0.5,
     "flows": [{"name": "udp1", "local": "10.77.2.1", "peer": "10.77.2.2", "port": 5301, "periods_s": [[0, null]],
                "rate_bps": 1000000, "packet": 1000, "pattern": "poisson", "dscp": 0}]}

``packet`` and ``pattern`` are as in the parameters of a flow that ``check`` and ``live_plan`` return. A source
gives of each flow ``sent`` and ``measured`` (packets and bytes, those after the warm-up), ``refused`` by the
kernel, ``lengthened`` to hold their headers, ``shortened`` to the MTU and ``first_sent_s``; and ``lateness_us`` of
all. A sink gives ``received``, ``measured``, ``highest`` (one more than the highest number that came), ``late``
(out of order), ``mean_delay_s`` from when a packet was due to its arrival, and ``last_received_s``.
"""

from __future__ import annotations

import sys

from aqmlab import _core


def main() -> int:
    """Do what stdin says."""
    if sys.argv[1:] not in (["source"], ["sink"]):
        print("usage: python -m aqmlab.live.udp source|sink", file=sys.stderr)
        return 2
    try:
        _core.live_udp(sys.argv[1])
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, ValueError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
