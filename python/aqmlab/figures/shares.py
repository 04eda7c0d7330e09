"""Losses by sender: the share of drops against the share of arrivals."""

from __future__ import annotations

import numpy as np

from aqmlab.errors import InputError
from aqmlab.figures.chart import Chart, Series
from aqmlab.figures.runs import Runs, discipline_at, named

MOST_FLOWS = 300
"""With more flows than that, flows with a similar share of arrivals are drawn as one point, their mean."""


def drop_shares(runs: Runs) -> Chart:
    """Every flow's share of the drops against its share of the packets sent, all seeds together.

    A discipline that drops without regard to flows puts them on the diagonal (Floyd and Jacobson 1993, section 8).
    """
    series, words = [], []
    for index, (name, result) in enumerate(named(runs).items()):
        flows = result.flows.groupby("flow", sort=False)[["sent", "drops"]].sum()
        if not flows["drops"].sum():
            raise InputError(f"{result.name}: no packet was dropped, so drops have no shares")
        shares = (flows / flows.sum()).sort_values("sent", kind="stable").to_numpy()
        off = float(np.abs(shares[:, 1] - shares[:, 0]).sum() / 2)
        parts = np.array_split(shares, min(MOST_FLOWS, len(shares)))
        points = np.array([part.mean(axis=0) for part in parts])
        series.append(
            Series(
                name,
                points[:, 0],
                points[:, 1],
                mode="points",
                color=index,
                discipline=discipline_at(result, result.bottleneck),
            )
        )
        words.append(f"{name}: {off:.1%} of the drops are not where the packets are")
    ends = [0.95 * min(float(np.min(one.x)) for one in series), 1.05 * max(float(np.max(one.x)) for one in series)]
    even = Series("in proportion", ends, ends, mode="dashed", color=5)
    return Chart(
        key="drop-shares",
        title="Share of the drops against share of the arrivals",
        alt=f"Each flow's share of the drops against its share of the packets sent. {'; '.join(words)}.",
        x_label="share of the packets sent",
        y_label="share of the drops",
        series=[even, *series],
        caption=f"{'; '.join(words)}. On the dashed line a flow loses in proportion to what it sends.",
    )
