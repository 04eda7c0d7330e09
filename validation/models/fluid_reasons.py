"""Why W^2 p of real flows is below the fluid's 2: from the equation to the packets, one reason at a time."""

from __future__ import annotations

import math

import numpy as np

from aqmlab.theory.fluid.loss_law import LAWS
from fluid_packets import Measured, Setting


def rounds(p: float, *, whole: bool, recovery: bool, flows: int = 4000, times: int = 2500) -> float:
    """W^2 p, with W the mean window, of flows that live in round trips and lose packets independently.

    A flow sends its window, whole packets or not; if any packet is lost it halves the window once, and with `recovery`
    the next round trip neither grows it nor counts a loss.
    """
    random = np.random.default_rng(1)
    window = np.full(flows, 1 / math.sqrt(p))
    recovering = np.zeros(flows, dtype=bool)
    total = 0.0
    for time in range(times):
        sent = np.floor(window) if whole else window
        total += sent.mean() if time >= times // 5 else 0.0
        lost = (random.random(flows) < 1 - (1 - p) ** sent) & ~recovering
        window = np.where(lost, np.maximum(sent / 2, 1), np.where(recovering, window, window + sent / window))
        recovering = lost & recovery
    return p * float(total / (times - times // 5)) ** 2


def reason_settings() -> list[Setting]:
    """One number of flows, the two stable round trips; losses, marks, and NewReno's rival."""
    return [
        Setting(200, rtt, spacing=spacing, transport=transport, ecn=ecn)
        for rtt in (0.05, 0.1)
        for spacing, transport, ecn in (
            ("none", "newreno", True),
            ("none", "newreno", False),
            ("none", "sack", False),
            ("ns2-wait", "newreno", True),
            ("ns2-wait", "newreno", False),
        )
    ]


def reasons(runs: dict[Setting, list[Measured]]) -> str:
    """Return a table of W^2 p from the equation to the packets."""
    lines = [
        "| R, ms | what | p | window | W^2 p | time-outs per flow and minute | retransmitted |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in reason_settings():
        found = runs[setting]
        p = float(np.mean([m.loss for m in found]))
        window = setting.window(float(np.mean([m.queue for m in found])))
        if setting.ecn and setting.spacing == "none":
            steps = (
                ("Misra: E[W^2] = E[W]^2", 2.0),
                ("`random`: the mean window exact", float(1 / LAWS["random"].cut)),
                ("in round trips, one halving a round trip", rounds(p, whole=False, recovery=False)),
                ("the same, with a round trip of recovery", rounds(p, whole=False, recovery=True)),
                ("the same, in whole packets", rounds(p, whole=True, recovery=True)),
                ("`recovery`", float(p * LAWS["recovery"].window(np.array(p)) ** 2)),
            )
            lines += [
                f"| {setting.rtt * 1e3:g} | {name} | {p:.4f} | {math.sqrt(square / p):.2f} | {square:.3f} | | |"
                for name, square in steps
            ]
        name = f"packets: {setting.transport}, {'marks (ECN)' if setting.ecn else 'drops'}, spacing `{setting.spacing}`"
        timeouts, again = (
            np.mean([getattr(m, key) for m in found]) for key in ("timeouts_per_flow_s", "retransmitted")
        )
        lines.append(
            f"| {setting.rtt * 1e3:g} | {name} | {p:.4f} | {window:.2f} | {p * window**2:.3f} "
            f"| {60 * timeouts:.2f} | {again:.2%} |"
        )
    return "\n".join(lines)
