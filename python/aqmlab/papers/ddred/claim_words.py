"""The words of the claims: columns and quantities of the table of runs, and differences that several claims share."""

from __future__ import annotations

from aqmlab.papers.common import Claims, Column, Numbers, Quantity, Runs
from aqmlab.papers.ddred.plan import BESIDE, DISCIPLINES, FORMS, NETWORKS

CLAIMS = Claims(
    columns={
        "case": Column(values={"bus": "the bus", "flower": "the flower", "pair": "the two flows"}),
        "latency": Column("latency in ms"),
        "discipline": Column(values=(*DISCIPLINES, *BESIDE, *FORMS)),
        "routers": Column("routers on the path"),
    },
    quantities={
        "L": Quantity("number of lost data packets L", printed="L"),
        "S": Quantity("sum S of the distances of the losses", "slots", printed="S"),
        "d": Quantity("mean distance S/L of the losses", "routers", formula="S / L"),
        "T": Quantity("sum T of the transfer times", "s", printed="T"),
        "better": Quantity("number of better transfers (faster than under RED by more than 0.5 s)", printed="better"),
        "worse": Quantity("number of worse transfers (slower by more than 0.5 s)", printed="worse"),
        "gained": Quantity("time gained by better transfers", "s", printed="gained"),
        "lost": Quantity("time lost by worse transfers", "s", printed="lost"),
        "all_better": Quantity("number of transfers that are faster at all"),
        "all_worse": Quantity("number of transfers that are slower at all"),
        "even_better": Quantity(
            "number of faster transfers that change by at most 0.5 s", formula="all_better - better"
        ),
        "even_worse": Quantity("number of slower transfers that change by at most 0.5 s", formula="all_worse - worse"),
        "PCs1": Quantity("throughput of PCs1", "KB/s", printed="PCs1"),
        "PCs2": Quantity("throughput of PCs2", "KB/s", printed="PCs2"),
        "total": Quantity("sum of both throughputs", "KB/s", formula="PCs1 + PCs2"),
        "fairness": Quantity("min/max of the throughputs", formula="exp(-abs(log(PCs1 / PCs2)))"),
        "near_share": Quantity("share of PCs2", formula="PCs2 / (PCs1 + PCs2)"),
        "second_lead": Quantity("share of the bins of 0.5 s from 1 s on led by the flow that leads less often"),
        "changes": Quantity("number of changes of the lead, in bins of 0.5 s from 1 s on"),
        "burst": Quantity("mean number of losses in a burst of one flow", "packets"),
        "same_flow": Quantity("share of losses that hit the flow of the loss before"),
        "near_losses": Quantity("share of losses that hit PCs2"),
        "loss_lag": Quantity("correlation of the flows of successive losses"),
        "recovery_far": Quantity("mean time from a loss to its retransmission, PCs1", "s"),
        "recovery_near": Quantity("mean time from a loss to its retransmission, PCs2", "s"),
        "together": Quantity("product of the changes of S and T, each standardized over the runs"),
        "time": Quantity("mean transfer time on paths of this length", "s"),
        "time_short": Quantity("mean transfer time on the shortest paths", "s"),
        "time_long": Quantity("mean transfer time on the longest paths", "s"),
        "long_over_short": Quantity(
            "mean transfer time on the longest paths over that on the shortest", formula="time_long / time_short"
        ),
        "bandwidth": Quantity("global bandwidth (bytes of all transfers over the time until all are done)", "KB/s"),
        "pooled": Quantity("bytes of all transfers over the sum of their times", "KB/s", formula="kilobytes / T"),
        "flow_mean": Quantity("mean bandwidth of a transfer (bytes over time)", "KB/s"),
        "flow_median": Quantity("median bandwidth of a transfer", "KB/s"),
        "jain": Quantity("Jain's index of the transfers' bandwidths"),
        "kilobytes": Quantity("bytes of all transfers", "KB"),
        "lossy": Quantity("number of routers that lose data packets"),
        "lossy_equal": Quantity("number of routers with equal losses that would be as concentrated as these losses"),
    },
)


def in_networks(runs: Runs, quantity: str) -> Numbers:
    """Return a quantity under DDRED less that under RED, on the bus and on the flower."""
    return runs.of(quantity, case=NETWORKS, discipline="DDRED").less("RED").each("case")


def against(runs: Runs, quantity: str, name: str, baseline: str) -> Numbers:
    """Return a quantity of one form less that of its baseline, on the bus and on the flower."""
    return runs.of(quantity, name, case=NETWORKS).less(baseline).each("case")
