"""Figures 1 and 2: PC-RED as a flow chart, and the block diagram of its model. ▪ marks what PC-RED adds to RED."""

from __future__ import annotations

from aqmlab.reporting.flowchart import Arrow, Box, FlowChart


def figure_1() -> FlowChart:
    """Return Figure 1: the router's steps for a packet, as prose and equation (7) describe them."""
    return FlowChart(
        key="figure-1",
        title="Figure 1: PC-RED's working process",
        alt="A packet arrives; its flow is looked up in the priority list or entered with a_d = L/2 and status 0; with "
        "status 1 the packet's QOSA bit is set. RED updates its average and decides whether a packet must go. If so, "
        "the search begins at a random packet and goes on towards the tail past packets with QOSA set; the last packet "
        "ends it. The victim's size updates the a_d of its flow; the status is whether a_d is above L; the packet is "
        "dropped and its time noted.",
        boxes=[
            Box("arrive", "packet arrives", 1, 0, "start"),
            Box("known", "▪ flow in the priority list?", 1, 1, "question"),
            Box("enter", "▪ new entry: last drop = now\na_d = L/2, status = 0", 2, 1),
            Box("status", "▪ status = 1?", 1, 2, "question"),
            Box("alert", "▪ QOSA = 1: not to be dropped", 0, 2),
            Box("average", "RED: update the average queue", 1, 3),
            Box("drop", "RED: must a packet go?", 1, 4, "question"),
            Box("queue", "enqueue at the tail", 0, 4, "end"),
            Box("pick", "▪ enqueue at the tail;\npick a packet at random", 1, 5),
            Box("next", "▪ next packet towards the tail", 2, 6),
            Box("bit", "▪ QOSA = 1, and not the last?", 1, 7, "question"),
            Box("loss", "▪ x = its size\na_d ← (1 - w)^m a_d + w x", 1, 8),
            Box("limit", "▪ a_d > L?", 1, 9, "question"),
            Box("high", "▪ status = 1", 2, 9),
            Box("low", "▪ status = 0", 0, 9),
            Box("end", "drop it; last drop = now", 1, 10, "end"),
        ],
        arrows=[
            Arrow("arrive", "known"), Arrow("known", "enter", "no"), Arrow("known", "status", "yes"),
            Arrow("enter", "average", via="below"), Arrow("status", "alert", "yes"), Arrow("status", "average", "no"),
            Arrow("alert", "average", via="below"), Arrow("average", "drop"), Arrow("drop", "queue", "no"),
            Arrow("drop", "pick", "yes"), Arrow("pick", "bit"), Arrow("bit", "next", "yes"), Arrow("next", "bit"),
            Arrow("bit", "loss", "no"), Arrow("loss", "limit"), Arrow("limit", "high", "yes"),
            Arrow("limit", "low", "no"), Arrow("high", "end", via="below"), Arrow("low", "end", via="below"),
        ],
    )  # fmt: skip


def figure_2() -> FlowChart:
    """Figure 2: the blocks of the model in the order in which a perturbation passes them."""
    return FlowChart(
        key="figure-2",
        title="Figure 2: blocks of the TCP and PC-RED dynamics",
        alt="The TCP windows, with the gain -R C^2/(2 N^2) and the lag 2N/(R^2 C), feed the queue, with the gain N/R "
        "and the lag 1/R; the queue, averaged with L_red and K, gives the change of the dropping probability; three "
        "channels C_p+ (0 or N_p+/(N q)), C_p- and C_n divide it among the kinds of flows; after the round-trip time R "
        "it acts on the windows.",
        boxes=[
            Box("windows", "TCP: windows of the N flows\nδW/δp = -(RC²/2N²)/(s + 2N/R²C)", 1, 0),
            Box("queue", "queue\nδq/δW = (N/R)/(s + 1/R)", 1, 1),
            Box("average", "RED: average and curve\nδp/δq = L_red/(s/K + 1)", 1, 2),
            Box("plus", "▪ C_p+\n= 0 or N_p+/(N q)\nδp_p+, flows with a_d above L", 0, 3),
            Box("minus", "▪ C_p-\n= N_p-/N + d N_p-/(N - N_p+)\nδp_p-, flows with a_d up to L", 1, 3),
            Box("non", "▪ C_n\n= N_n/N + d N_n/(N - N_p+)\nδp_n, flows without priority", 2, 3),
            Box("sum", "sum: δp_p+ + δp_p- + δp_n = δp\nwith d = N_p+/N - C_p+", 1, 4),
            Box("delay", "round trip: e^(-sR)", 1, 5),
        ],
        arrows=[
            Arrow("windows", "queue"), Arrow("queue", "average"), Arrow("average", "plus"), Arrow("average", "minus"),
            Arrow("average", "non"), Arrow("plus", "sum", via="below"), Arrow("minus", "sum"),
            Arrow("non", "sum", via="below"), Arrow("sum", "delay"), Arrow("delay", "windows", via="right"),
        ],
    )  # fmt: skip
