"""The words of the claims: columns, quantities, and labels of readings from which objections take numbers."""

from __future__ import annotations

from collections.abc import Iterator

from aqmlab.papers.common import Claims, Column, Quantity
from aqmlab.papers.common.vocabulary import Value
from aqmlab.papers.pc_red.plan import CASES

MEANS = ("high_mid", "high_mean")
GROUPS = {"high": ("the high-priority flow", "a high-priority flow"), "non": ("a non-priority flow",) * 2}
"""Class to the words for its observed flow, and for any of its flows."""
OF_PACKETS = {"plus": "with a_d above L", "minus": "with a_d up to L", "non": "without priority"}


def _quantities() -> Iterator[tuple[str, Quantity]]:
    """Yield the quantities of each class and of each kind of packets."""
    for group, (observed, any_flow) in GROUPS.items():

        def quantity(title: str, unit: str, printed: str = "", formula: str = "", group: str = group) -> Quantity:
            on_paper = {"quantity": printed, "group": group} if printed else {}
            return Quantity(title, unit, formula=formula, printed=on_paper)

        for key, title, printed in (
            ("mid", "mid-range", "average"), ("mean", "mean", ""), ("min", "lowest", "min"), ("max", "highest", "max"),
        ):  # fmt: skip
            yield f"{group}_{key}", quantity(f"{title} throughput of {observed}", "KB/s", printed)
        spread = f"{group}_max - {group}_min"
        yield f"{group}_range", quantity(f"range of the throughput of {observed}", "KB/s", formula=spread)
        yield f"{group}_class", quantity(f"class mean of {group.title()}", "KB/s")
        yield f"{group}_first", quantity(f"class mean of {group.title()} in the first 100 s", "KB/s")
        yield f"{group}_a_d", quantity(f"mean a_d of {any_flow}", "bytes", "a_d")
        yield f"{group}_a_d_sd", quantity(f"s.d. over time of a_d of {any_flow}", "bytes", "a_d fluctuation")
    for kind, packets in OF_PACKETS.items():
        measured = f"share of drops {packets}, measured / (2) and (4)"
        yield f"{kind}_ratio", Quantity(measured, formula=f"drops_{kind} / eq4_{kind}")
        yield f"drops_{kind}", Quantity(f"measured share of drops {packets}")
        yield f"eq4_{kind}", Quantity("share by (2) and (4)")


WORDS: dict[Value, str] = {name: case.words or name for name, case in CASES.items()}
CLAIMS = Claims(
    compared="case",
    columns={"case": Column(values={**WORDS, "model": "the model"}), "point": Column(), "w": Column("w")},
    quantities={
        **dict(_quantities()),
        "late_class": Quantity("class mean of the flows that ask later", "KB/s"),
        "gap": Quantity("ratio of the class means, High / Non", formula="high_class / non_class"),
        "late_ratio": Quantity("ratio of the class means, rejected flows / Non", formula="late_class / non_class"),
        "average_mean": Quantity("mean of the average queue", "packets", printed="queue"),
        "average_sd": Quantity("s.d. over time of the average queue", "packets", printed="fluctuation"),
        "queue_mean": Quantity("mean of the queue", "packets"),
        "utilization": Quantity("utilization of the link"),
        "queue_sd": Quantity("s.d. over time of the queue", "packets"),
        "non_a_d_late_sd": Quantity("s.d. over time of a_d of a non-priority flow in the second half", "bytes"),
        "crossing": Quantity("time at which a_d first passes L (3000 s if it never does)", "s"),
        "share_plus": Quantity("share of the time with a_d above L"),
        "packets_plus": Quantity("share of drops with a_d above L by (2), packets for flows"),
        "picks_plus": Quantity("share of drops with a_d above L, every pick followed to the packet that pays"),
        "burst_flows": Quantity("number of different flows hit by a burst of drops"),
        "p_high": Quantity("drops / arrivals of packets with priority"),
        **{f"p_{kind}": Quantity(f"drops / arrivals of packets {OF_PACKETS[kind]}") for kind in ("plus", "minus")},
        "short_rise": Quantity(
            "mean rise of a_d in a short rise of the average queue with losses of the flow", "bytes"
        ),
        "largest_short_rise": Quantity("largest rise of a_d in a short rise of the average queue", "bytes"),
        "new_half": Quantity("time until a_d of a new flow passes L, from L/2", "s"),
        "new_zero": Quantity("time until a_d of a new flow passes L, from 0", "s"),
        "r_p": Quantity("share of high-priority flows at the end"),
        "second_path": Quantity("utilization of the second path"),
        "p_non": Quantity("drops / arrivals of packets without priority"),
        "five_bound": Quantity("bound of (5)"),
        "largest_gain": Quantity("largest L(0)"),
        "intervals": Quantity("number of intervals until a_d is above L"),
        "closed_form": Quantity("a_d by the closed form", "bytes"),
        "phase": Quantity("phase at w_g", "degrees"),
        "phase_bound": Quantity("printed lower bound of the phase at w_g", "degrees"),
        "weight": Quantity("weight w with which a_d passes L"),
        "five_share": Quantity("share r_p / bound of (5)"),
        "six_ratio": Quantity("ratio of the left over the right side of (6), 30 % over 10 %"),
        "conditions": Quantity("number of conditions (5) and (6) that hold"),
        "stable": Quantity("stability of the closed loop by Nyquist's count (1: stable)"),
    },
)

DELAY = '"100ms delay": there and back (50 ms one way)'
NEWRENO = "TCP flavour: NewReno"
TAHOE = "TCP flavour: Tahoe"
SHORT_RTO = "Retransmission time-out: doubled up to 2 s only"
NO_WAIT = "Spacing of the drops: wait off"
INTERVAL_1S = "Standard dropping interval g: 1 s (a_d and L in bytes per second, as the tables head them)"
INTERVAL_450MS = "Standard dropping interval g: 450 ms (the round-trip time of the runs)"
INTERVAL_400MS = "Standard dropping interval g: 400 ms"
AT_ARRIVALS = (
    "When a flow's status is looked at anew: "  # language: keep
    "at each arrival too, with a_d decayed to that instant"
)
BINS_10S = "Bins of minimum and maximum: 10 s"
CIRCULAR = "Search for a victim, from the packet picked: circular; a protected packet pays only if all are protected"
TORUS = "Links of Network 2: a torus of 2 by 6"
HONOURED = (
    "QOSA bit with which a packet comes from an earlier router (P-7): honoured: a packet protected at an earlier "
    "router is protected here too"
)
"""Labels of readings from which objections take numbers."""
