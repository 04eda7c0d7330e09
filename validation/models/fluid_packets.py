"""One network twice: as packets (a scenario for the simulator) and as a fluid, scaled with the number of flows.

Everything is Hollot's example (60 flows, 3750 packets/s, RED 150 to 700 packets with max_p = 0.1) per flow, but for the
average, which follows in 5 s (K = 0.2 rad/s) instead of 200 s: so a run of 150 s leaves the start behind, and the
linear loop is stable with a wide margin at 50 and 100 ms and unstable at 250 ms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import welch

import aqmlab
from aqmlab.theory.drop_curve import DropCurve
from aqmlab.theory.fluid.model import FluidModel
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass

PER_FLOW = 62.5
"""Packets/s of link for each flow."""
MIN_TH, MAX_TH, LIMIT = 2.5, 35 / 3, 40.0
"""Packets for each flow. The limit is so large that nothing is lost but by RED."""
MAX_P = 0.1
PACKET = 1000
"""Bytes on the wire: 960 of payload and 40 of header."""
PERIOD = 0.02
"""Seconds between two samples of the queue."""
WARMUP = 50.0
"""Seconds that are left out: ten times the 5 s in which the average follows."""
SEGMENT = 100.0
"""Seconds of a piece whose spectrum is taken; the spectrum is the mean over pieces that overlap by half."""
WORKERS = 2

SCENARIO = """\
format = 1
name = "fluid"

[run]
duration = "{duration}s"
warmup = "{warmup}s"
seeds = 1

[dumbbell]
bottleneck = {{ rate = "{rate}bps", delay = "{delay}us", queue = "red" }}
left = {{ rate = "1Gbps", delay = "0ms" }}
right = {{ rate = "1Gbps", delay = "0ms" }}

[queue.red]
aqm = "red"
limit = "{limit}p"
min_th = "{min_th}p"
max_th = "{max_th}p"
max_p = {max_p}
w_q = {w_q}
spacing = "{spacing}"
ecn = {ecn}

[queue.default]
limit = "1000000p"

[probe]
links = ["bottleneck"]
queue_interval = "{period}s"
"""
GROUP = """
[[flow]]
name = "{name}"
count = {flows}
transport = "{transport}"
packet_size = "{payload}B"
start = {{ uniform = ["0s", "10s"] }}
tcp = {{ window = "100000p", ecn = {ecn} }}
left = {{ delay = "{further}us" }}
"""


@dataclass(frozen=True)
class Setting:
    """A point of a comparison.

    `flows` share a link and thresholds that are made for `room` flows (default: as many); `rtt` is the round trip
    without queueing in s, `averaging` is K in rad/s. Each entry of `farther` adds as many flows at another round trip.
    """

    flows: int
    rtt: float
    averaging: float = 0.2
    spacing: str = "none"
    transport: str = "newreno"
    ecn: bool = False
    room: int = 0
    farther: tuple[float, ...] = ()

    @property
    def classes(self) -> dict[str, float]:
        """Name and round trip of each class."""
        return {f"rtt{rtt * 1e3:.0f}ms": rtt for rtt in (self.rtt, *self.farther)}

    @property
    def size(self) -> int:
        """The flows that the link is made for."""
        return self.room or self.flows * len(self.classes)

    @property
    def capacity(self) -> float:
        """Packets/s."""
        return PER_FLOW * self.size

    @property
    def w_q(self) -> float:
        """The weight that gives K."""
        return -math.expm1(-self.averaging / self.capacity)

    def scenario(self, *, duration: float, warmup: float) -> str:
        """The file that the simulator gets."""
        ecn = "true" if self.ecn else "false"
        groups = [
            GROUP.format(
                name=name,
                flows=self.flows,
                transport=self.transport,
                payload=PACKET - 40,
                ecn=ecn,
                further=round((rtt - self.rtt) / 2 * 1e6),
            )
            for name, rtt in self.classes.items()
        ]
        network = SCENARIO.format(
            duration=duration,
            warmup=warmup,
            rate=round(self.capacity * PACKET * 8),
            delay=round(self.rtt / 2 * 1e6),
            limit=round(LIMIT * self.size),
            min_th=MIN_TH * self.size,
            max_th=round(MAX_TH * self.size, 6),
            max_p=MAX_P,
            w_q=self.w_q,
            spacing=self.spacing,
            ecn=ecn,
            period=PERIOD,
        )
        return network + "".join(groups)

    def model(self, law: str = "misra") -> FluidModel:
        """The fluid; a packet's own transmission is no queueing: only others are waited for."""
        size = self.size
        red = DropCurve.of("red", min_th=MIN_TH * size, max_th=MAX_TH * size, max_p=MAX_P, limit=LIMIT * size)
        link = Bottleneck(self.capacity, red, self.w_q, limit=LIMIT * size, spacing=self.spacing)
        own = 1 / self.capacity
        return FluidModel(link, tuple(FlowClass(n, self.flows, rtt + own) for n, rtt in self.classes.items()), law)

    def window(self, queue: float) -> float:
        """Packets that a flow has on the way when the link is full, by Little's law."""
        return (self.capacity * self.rtt + 1 + queue) / self.flows


@dataclass(frozen=True)
class Measured:
    """Result of a run: means over time; the queue's standard deviation, packets, and strongest frequency, rad/s."""

    queue: float
    utilization: float
    loss: float
    timeouts_per_flow_s: float
    retransmitted: float
    sd: float
    frequency: float


def strongest(queue: NDArray[np.float64], period: float) -> float:
    """The frequency at which a queue swings most, rad/s, between 0.1 and 20."""
    f, power = welch(queue, fs=1 / period, nperseg=min(round(SEGMENT / period), len(queue)))
    kept = (2 * np.pi * f > 0.1) & (2 * np.pi * f < 20)
    return float(2 * np.pi * f[kept][np.argmax(power[kept])])


def simulate(setting: Setting, seed: int, duration: float, warmup: float) -> aqmlab.Result:
    """One run of the packets, as the simulator gives it."""
    scenario = aqmlab.Scenario.from_text(setting.scenario(duration=duration, warmup=warmup))
    return aqmlab.run(scenario, seeds=[seed], workers=1, progress=False)


def shares(setting: Setting, seed: int, duration: float, warmup: float = WARMUP) -> tuple[float, list[float]]:
    """The mean queue of a run in packets, and each class's share of the delivered packets."""
    result = simulate(setting, seed, duration, warmup)
    delivered = result.flows.groupby("group")["goodput_bps"].sum()
    of_class = [float(delivered[name]) for name in setting.classes]
    return float(result.metrics()["mean_queue"].iloc[0]), [part / sum(of_class) for part in of_class]


def run(setting: Setting, seed: int, duration: float, warmup: float = WARMUP) -> Measured:
    """One run of the packets."""
    result = simulate(setting, seed, duration, warmup)
    row = result.metrics().iloc[0]
    samples = result.queue_samples
    queue = samples.loc[samples["t_s"] >= warmup, "queue_packets"].to_numpy(dtype=float)
    return Measured(
        queue=float(row["mean_queue"]),
        utilization=float(row["utilization"]),
        loss=float(row["loss"] + row["marks"]),
        timeouts_per_flow_s=float(row["timeouts"]) / setting.flows / duration,
        retransmitted=float(row["retransmitted"]),
        sd=float(queue.std()),
        frequency=strongest(queue, PERIOD),
    )


def fluid(model: FluidModel, duration: float, warmup: float = WARMUP) -> Measured:
    """The same of the fluid's trajectory from an empty queue."""
    path = model.integrate(duration)
    moments = np.arange(warmup, duration, PERIOD)
    queue = np.interp(moments, path.t, path.queue)
    return Measured(
        queue=path.mean_queue(since=warmup),
        utilization=path.mean_utilization(since=warmup),
        loss=path.mean_p(since=warmup),
        timeouts_per_flow_s=0.0,
        retransmitted=0.0,
        sd=float(queue.std()),
        frequency=strongest(queue, PERIOD),
    )


def run_all(wanted: Iterable[tuple[Setting, int]], duration: float) -> dict[Setting, list[Measured]]:
    """Runs of so many seeds of each setting; the long ones first."""
    jobs = [(setting, seed) for setting, seeds in wanted for seed in range(1, seeds + 1)]
    jobs.sort(key=lambda job: -job[0].capacity)
    found: dict[Setting, list[Measured]] = {}
    with ProcessPoolExecutor(WORKERS) as pool:
        running = [(setting, pool.submit(run, setting, seed, duration)) for setting, seed in jobs]
        for setting, future in running:
            found.setdefault(setting, []).append(future.result())
    return found
