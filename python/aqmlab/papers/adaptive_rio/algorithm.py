"""Figure 3: the adaptation as it is simulated; the paper's own chart is read from its text."""

from __future__ import annotations

from aqmlab.reporting.flowchart import Arrow, Box, FlowChart

FIGURE_3 = FlowChart(
    key="figure-3",
    title="Figure 3: adaptive parameter setting",
    alt="After RIO's decision on an arriving packet the rate A is estimated. Once in every update interval: if no "
    "packet in profile came for the absence period, max_th of best effort rises and C' falls; else if A is above "
    "C' + epsilon and rising, max_th falls and C' rises; else if A is below C' - epsilon and falling, max_th rises and "
    "C' falls; else both stay. Then min_th is max_th / alpha.",
    boxes=[
        Box("arrival", "packet arrives", 0, 0, kind="start"),
        Box("rio", "RIO: averages, drop or enqueue", 0, 1),
        Box("rate", "A = rate of all arrivals (TSW)", 0, 2),
        Box("due", "UI since the last update?", 0, 3, kind="question"),
        Box("absent", "no packet in profile for T_abs?", 0, 4, kind="question"),
        Box("above", "A > C' + ε\nand A > A_prev?", 0, 5, kind="question"),
        Box("below", "A < C' - ε\nand A < A_prev?", 0, 6, kind="question"),
        Box("up", "max_th + ΔT, at most max_U\nC' - ΔC, at least C_init", 1, 4),
        Box("down", "max_th - ΔT, at least max_L\nC' + ΔC, at most C", 1, 5),
        Box("more", "max_th + ΔT, at most max_U\nC' - ΔC, at least C_init", 1, 6),
        Box("set", "min_th = max_th / α\nA_prev = A", 0, 7),
        Box("done", "wait for the next packet", 0, 8, kind="end"),
    ],
    arrows=[
        Arrow("arrival", "rio"),
        Arrow("rio", "rate"),
        Arrow("rate", "due"),
        Arrow("due", "absent", "yes"),
        Arrow("due", "done", "no", via="left"),
        Arrow("absent", "up", "yes"),
        Arrow("absent", "above", "no"),
        Arrow("above", "down", "yes"),
        Arrow("above", "below", "no"),
        Arrow("below", "more", "yes"),
        Arrow("below", "set", "no"),
        Arrow("up", "set", via="right"),
        Arrow("down", "set", via="right"),
        Arrow("more", "set", via="below"),
        Arrow("set", "done"),
    ],
)
