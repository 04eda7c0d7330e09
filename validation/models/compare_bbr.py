"""Compares the share of one BBRv1 flow among CUBIC flows with the model and the findings of Ware et al. 2019.

A page of `make validate`.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from aqmlab import _core
from aqmlab.results.parquet import values
from aqmlab.statistics import Interval, interval

RATE, RTT_S, PACKET_BITS = 10e6, 0.04, 12_000
BDP = RATE * RTT_S / PACKET_BITS
"""Packets; the segment and its headers are 1500 B."""
BUFFERS = (2, 4, 8, 16, 32)
"""Buffers in BDP."""
CUBICS = (1, 2, 4, 8, 16)
DURATION, WARMUP, SEEDS = 400, 40, 5
BOUND = 0.10
"""Largest difference of model and simulation, as a share of the link."""
DEEP, CLAIMED = 8, (0.3, 0.5)
"""From this buffer on "about 40 % whatever the number of CUBIC flows": 40 % within 10 % of the link."""
PROBE_S, PROBE_INTERVAL_S, PROBE_PACKETS = 0.2, 10, 4
WORKERS = 2

SCENARIO = """format = 1
name = "bbr1-cubic"
[run]
duration = "{duration}s"
warmup = "{warmup}s"
[dumbbell]
bottleneck = {{ rate = "10Mbps", delay = "10ms", queue = "bottleneck" }}
left = {{ rate = "1Gbps", delay = "5ms" }}
right = {{ rate = "1Gbps", delay = "5ms" }}
[queue.bottleneck]
aqm = "drop-tail"
limit = "{limit}p"
[[flow]]
name = "bbr"
transport = "tcp"
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ congestion_control = "{control}" }}
[[flow]]
name = "cubic"
count = {cubics}
transport = "tcp"
start = {{ uniform = ["0s", "1s"] }}
tcp = {{ congestion_control = "cubic" }}
"""


def model(buffer: float) -> float:
    """Return the share of one BBRv1 flow behind a full buffer in BDP, by the assumptions of Ware et al. 2019.

    The in-flight cap is 2 (1 - p) c (l + (p q + 4)/c), where p is the share of the others, and fills the share 1 - p
    of q + c l. Therefore p = 1/2 - 1/(2 X) - 4/q. During ProbeRTT, 0.2 s and the time to drain and refill, nothing is
    sent.
    """
    packets = buffer * BDP
    others = 1 / 2 - 1 / (2 * buffer) - PROBE_PACKETS / packets
    probing_s = packets * PACKET_BITS / RATE + PROBE_S + RTT_S
    return (1 - others) * (1 - probing_s / PROBE_INTERVAL_S)


def run(job: tuple[str, int, int, int]) -> float:
    """Return the flow's share of the goodput of all."""
    control, buffer, cubics, seed = job
    limit = round(buffer * BDP)
    text = SCENARIO.format(duration=DURATION, warmup=WARMUP, limit=limit, cubics=cubics, control=control)
    table: dict[str, Any] = _core.Scenario(text, "bbr.toml").run(seed)["tables"]["flows"]
    goodput = values(table["goodput_bps"])
    return float(goodput[0] / goodput.sum())


@dataclass(frozen=True)
class Cell:
    """Shares at a buffer and a number of CUBIC flows."""

    buffer: int
    cubics: int
    share: Interval
    third: Interval

    @property
    def gap(self) -> float:
        """Difference of the model and the simulation, as a share of the link."""
        return model(self.buffer) - self.share.mean

    @property
    def agrees(self) -> bool:
        """Whether the model is within the bound."""
        return abs(self.gap) <= BOUND

    @property
    def is_claimed(self) -> bool:
        """Whether the claim of the abstract is about this cell, and holds."""
        return self.buffer < DEEP or CLAIMED[0] <= self.share.mean <= CLAIMED[1]

    def row(self) -> str:
        """Return the row of the table."""
        claim = "" if self.buffer < DEEP else "yes" if self.is_claimed else "**no**"
        return (
            f"| {self.buffer} | {self.cubics} | {model(self.buffer):.3f} | {self.share.mean:.3f} ± "
            f"{self.share.half_width:.3f} | {self.gap:+.3f} | {'yes' if self.agrees else '**no**'} | {claim} | "
            f"{self.third.mean:.3f} |"
        )


def cells() -> list[Cell]:
    """Run everything."""
    seeds = range(1, SEEDS + 1)
    jobs = [(c, x, n, seed) for c in ("bbr1", "bbr") for x in BUFFERS for n in CUBICS for seed in seeds]
    with ProcessPoolExecutor(WORKERS) as pool:
        shares = dict(zip(jobs, pool.map(run, jobs), strict=True))

    def of(control: str, buffer: int, cubics: int) -> Interval:
        return interval([shares[control, buffer, cubics, seed] for seed in seeds])

    return [Cell(x, n, of("bbr1", x, n), of("bbr", x, n)) for x in BUFFERS for n in CUBICS]


def report() -> tuple[str, bool]:
    """Return the page, and whether everything in it is shown."""
    found = cells()
    agrees, deep = sum(cell.agrees for cell in found), [cell for cell in found if cell.buffer >= DEEP]
    median = float(np.median([abs(cell.gap) for cell in found]))
    text = f"""One BBRv1 flow (`congestion_control = "bbr1"`) among CUBIC flows behind a drop-tail
queue: 10 Mb/s, 40 ms, a BDP of {BDP:.1f} packets; {DURATION} s of which {WARMUP} s are left out, {SEEDS}
seeds. Share: the flow's part of
the goodput of all.

R. Ware, M. K. Mukerjee, S. Seshan and J. Sherry, "Modeling BBR's interactions with loss-based congestion
control", IMC 2019, find that one BBR flow takes about 40 % of the link, whatever the number of loss-based
flows. Claim: a share from {CLAIMED[0]:.0%} to {CLAIMED[1]:.0%} behind {DEEP} BDP and more; it holds in
{sum(cell.is_claimed for cell in deep)} of {len(deep)} cells.

Their model: BBR's window is the limit, two BDPs by the round-trip time that ProbeRTT sees, in which the packets
of the others still wait. Derived again from that, with a buffer of q packets and X BDP that is always full, the
others keep p = 1/2 - 1/(2 X) - 4/q. BBR has 1 - p, less the time of ProbeRTT, q/c + 0.2 s + 40 ms in every 10
s. Model: a difference of at most {BOUND:.0%} of the link; it holds in {agrees} of {len(found)} cells (median
difference {median:.1%} of the link). The simulated shares are below it in {sum(cell.gap > 0 for cell in found)}
cells. The likely reason: CUBIC's reductions empty part of the buffer, so that BBR sees a shorter round-trip
time than that of a full buffer.

The last column has BBRv3 in place of BBRv1.

| buffer, BDP | CUBIC flows | model | share | difference | model holds | claim holds | BBRv3 |
|---|---|---|---|---|---|---|---|
""" + "\n".join(cell.row() for cell in found)
    return text, all(cell.agrees and cell.is_claimed for cell in found)
