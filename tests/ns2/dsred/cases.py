"""The cases of the markers: a policy, its parameters and the traffic it meets."""

from __future__ import annotations

from dataclasses import dataclass, field

COLORS = {"token-bucket": 2, "tsw2cm": 2, "tsw3cm": 3, "srtcm": 3, "trtcm": 3}
"""Kind and its number of colours."""
NS2_POLICY = {
    "token-bucket": ("TokenBucket", ("cir", "cbs")),
    "tsw2cm": ("TSW2CM", ("cir", "window")),
    "tsw3cm": ("TSW3CM", ("cir", "pir")),
    "srtcm": ("srTCM", ("cir", "cbs", "ebs")),
    "trtcm": ("trTCM", ("cir", "cbs", "pir", "pbs")),
}
"""Kind, ns-2's name for it, and the order of its parameters there."""


@dataclass(frozen=True)
class Case:
    """`traffic`: commands of markers.tcl. Rates in bit/s, sizes in bytes, times in seconds."""

    name: str
    kind: str
    parameters: dict[str, float]
    traffic: tuple[str, ...]
    seed: int
    seconds: float = field(default=10.5)


STEADY = ("constant 2.91e6 1000 0.113", "constant 1.07e6 210 0.271", "on_off 6.13e6 1499 0.05 0.07 0.031")
"""About 6 Mb/s and 1,200 packets a second: two constant flows, one in bursts."""
BURSTS = ("on_off 7.03e6 1000 0.08 0.1 0.017", "on_off 5.11e6 577 0.2 0.3 0.4", "on_off 2.93e6 91 0.1 0.9 0.2")
"""About 5 Mb/s in bursts of three sizes of packets, with gaps."""

CASES = (
    Case("token-bucket-steady", "token-bucket", {"cir": 4e6, "cbs": 25000}, STEADY, 11),
    Case("token-bucket-bursts", "token-bucket", {"cir": 2.5e6, "cbs": 3100}, BURSTS, 12),
    Case("srtcm-steady", "srtcm", {"cir": 5.4e6, "cbs": 4000, "ebs": 30000}, STEADY, 13),
    Case("srtcm-bursts", "srtcm", {"cir": 4.7e6, "cbs": 6000, "ebs": 39989}, BURSTS, 14),
    Case("trtcm-steady", "trtcm", {"cir": 2e6, "cbs": 10000, "pir": 5e6, "pbs": 15000}, STEADY, 15),
    Case("trtcm-bursts", "trtcm", {"cir": 1.5e6, "cbs": 20000, "pir": 4e6, "pbs": 5000}, BURSTS, 16),
    Case("tsw2cm-steady", "tsw2cm", {"cir": 4e6, "window": 1.0}, STEADY, 17),
    Case("tsw2cm-bursts", "tsw2cm", {"cir": 3e6, "window": 0.12}, BURSTS, 18, 12.0),
    Case("tsw3cm-steady", "tsw3cm", {"cir": 2e6, "pir": 4e6, "window": 1.0}, STEADY, 19),
    Case("tsw3cm-bursts", "tsw3cm", {"cir": 2.5e6, "pir": 4.5e6, "window": 1.0}, BURSTS, 20, 13.0),
)


@dataclass(frozen=True)
class QueueCase:
    """A coupled queue. `rate` in bit/s, `limit` in packets, `mean_packet` in bytes; thresholds from the most precious
    class on: min_th, max_th in packets, max_p, w_q. `traffic`: commands of queue.tcl."""

    name: str
    rate: int
    limit: int
    mean_packet: int
    thresholds: tuple[tuple[int, int, float, float], ...]
    traffic: tuple[str, ...]
    seed: int
    seconds: float


QUEUE_CASES = (
    QueueCase(
        "rio-two",
        10_000_000,
        100,
        1000,
        ((15, 60, 0.05, 0.002), (10, 30, 0.1, 0.002)),
        (
            "on_off 0 9.07319e6 1000 0.5 0.3 0.113",
            "on_off 1 7.13273e6 1000 0.3 0.3 0.031",
            "on_off 1 5.30171e6 613 0.2 0.5 0.7",
        ),
        31,
        7.9,
    ),
    QueueCase(
        "rio-three",
        8_000_000,
        45,
        1000,
        ((20, 40, 0.02, 0.01), (10, 25, 0.05, 0.01), (4, 14, 0.1, 0.01)),
        (
            "on_off 0 6.07291e6 1000 0.1 0.2 0.113",
            "on_off 1 8.13113e6 801 0.1 0.2 0.031",
            "on_off 2 9.30287e6 613 0.1 0.2 0.7",
            "on_off 2 3.70123e6 97 0.2 0.5 0.21",
        ),
        32,
        4.7,
    ),
    QueueCase(
        "rio-short",
        10_000_000,
        60,
        500,
        ((12, 40, 0.1, 0.02), (5, 30, 0.3, 0.02)),
        ("on_off 0 12.07361e6 700 0.03 0.04 0.113", "on_off 1 14.13049e6 699 0.03 0.04 0.031"),
        33,
        5.4,
    ),
)
