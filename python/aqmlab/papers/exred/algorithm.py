"""ExRED's algorithm as a flow chart, after section 3.2 and (14); Figure 1 of the paper is its analytical model."""

from __future__ import annotations

from aqmlab.reporting.flowchart import Arrow, Box, FlowChart

ALGORITHM = FlowChart(
    key="algorithm",
    title="ExRED's algorithm",
    alt="A packet arrives; the average is updated; below k_l the packet is queued; between k_l and k_h the drop "
    "probability is RED's straight line, from k_h to K a parabola; the packet is dropped with that probability, and "
    "always if the buffer is full.",
    boxes=[
        Box("arrive", "packet arrives", 0, 0, kind="start"),
        Box("busy", "anybody in the system?", 0, 1, kind="question"),
        Box("step", "q̂ ← (1 - w) q̂ + w q", 0, 2),
        Box("idle", "q̂ ← (1 - w)^(μ × idle time) q̂", 1, 2),
        Box("low", "q̂ < k_l?", 0, 3, kind="question"),
        Box("middle", "q̂ < k_h?", 0, 4, kind="question"),
        Box("line", "p = max_p (q̂ - k_l)\n/ (k_h - k_l)", 1, 4),
        Box("parabola", "p = a₂ q̂² + a₁ q̂ + a₀", 0, 5),
        Box("full", "buffer full, or\ndrawn < p?", 1, 5, kind="question"),
        Box("drop", "drop the packet", 2, 5, kind="end"),
        Box("queue", "enqueue the packet", 1, 6, kind="end"),
    ],
    arrows=[
        Arrow("arrive", "busy"),
        Arrow("busy", "step", "yes"),
        Arrow("busy", "idle", "no"),
        Arrow("step", "low"),
        Arrow("idle", "low", via="below"),
        Arrow("low", "queue", "yes", via="left"),
        Arrow("low", "middle", "no"),
        Arrow("middle", "line", "yes"),
        Arrow("middle", "parabola", "no"),
        Arrow("line", "full"),
        Arrow("parabola", "full"),
        Arrow("full", "drop", "yes"),
        Arrow("full", "queue", "no"),
    ],
)
