"""Adaptive-RIO: RIO whose thresholds for packets out of profile follow the load.

C.-H. Chien, W. Liao, A Self-Configuring RED Gateway for Quality of Service (QoS) Networks: section 3. Its figure 3 is
rebuilt from the prose: without assured traffic the thresholds rise; with it they fall while the arrival rate is above
the reference point C' and growing, and rise while it is below and falling. C' moves the other way.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference_models.red import PS, Decision, Draws, Law, Packet, Settings
from reference_models.rio import Rio


@dataclass(frozen=True)
class Adaptation:
    """Table 1 of the paper, and what it leaves open."""

    max_l: float = 15.0
    max_u: float = 60.0
    beta: float = 0.02  # Delta T / max_U
    alpha: float = 3.0  # max_out / min_out
    c_init: float = 0.9  # C_init / C
    delta_c: float = 0.0002  # Delta C / C
    epsilon: float = 0.025  # epsilon / C'
    interval: float = 0.2  # seconds
    absence: float = 1.0  # seconds without a packet in profile
    window: float = 5.0  # seconds
    clock: str = "arrival"  # steps at the first arrival after an interval; or "timer", every interval
    trend: str = "both"  # the rate is beyond the reference point and moves away from it; or "either"


class AdaptiveRio(Rio):
    """Two classes, in profile and out of profile, in this order."""

    def __init__(
        self,
        settings: Settings,
        laws: list[Law],
        code_points: dict[int, int],
        adaptation: Adaptation,
        rate_bps: float,
        draws: Draws,
    ) -> None:
        super().__init__(settings, laws, code_points, rate_bps, draws)
        self.adaptation = adaptation
        self.capacity = rate_bps
        self.reference = adaptation.c_init * rate_bps  # C'
        self.rate = 0.0
        self.rate_before = 0.0
        self.front = 0
        self.last_in = 0
        self.interval = round(adaptation.interval / PS)
        self.next_update = self.interval
        self.set_max_out(adaptation.max_l)

    def enqueue(self, now: int, packet: Packet) -> Decision:
        self.catch_up(now)
        return super().enqueue(now, packet)

    def dequeue(self, now: int) -> Packet | None:
        self.catch_up(now)
        return super().dequeue(now)

    def catch_up(self, now: int) -> None:
        """Take the steps of the timer, before anything else that happens at their time."""
        while self.adaptation.clock == "timer" and self.next_update <= now:
            self.adapt(self.next_update)
            self.next_update += self.interval

    def after_arrival(self, now: int, packet: Packet) -> None:
        self.slide_window(now, packet)
        if self.class_of(packet) == 0:
            self.last_in = now
        if self.adaptation.clock == "arrival" and now >= self.next_update:
            self.adapt(now)
            self.next_update = now + self.interval

    def slide_window(self, now: int, packet: Packet) -> None:
        """Arrival rate in bit/s, over all packets: time sliding window of Clark and Fang."""
        window = self.adaptation.window
        self.rate = (self.rate * window + 8.0 * packet.bytes) / ((now - self.front) * PS + window)
        self.front = now

    def adapt(self, now: int) -> None:
        epsilon = self.adaptation.epsilon * self.reference
        needed = all if self.adaptation.trend == "both" else any
        building_up = needed([self.rate > self.reference + epsilon, self.rate > self.rate_before])
        easing_off = needed([self.rate < self.reference - epsilon, self.rate < self.rate_before])
        if self.absent(now):
            self.loosen()
        elif building_up:
            self.tighten()
        elif easing_off:
            self.loosen()
        self.rate_before = self.rate

    def absent(self, now: int) -> bool:
        """No packet in profile has come for long."""
        return (now - self.last_in) * PS > self.adaptation.absence

    def loosen(self) -> None:
        a = self.adaptation
        self.set_max_out(min(self.laws[1].max_th + a.beta * a.max_u, a.max_u))
        self.reference = max(self.reference - a.delta_c * self.capacity, a.c_init * self.capacity)

    def tighten(self) -> None:
        a = self.adaptation
        self.set_max_out(max(self.laws[1].max_th - a.beta * a.max_u, a.max_l))
        self.reference = min(self.reference + a.delta_c * self.capacity, self.capacity)

    def set_max_out(self, max_th: float) -> None:
        self.laws[1].max_th = max_th
        self.laws[1].min_th = max_th / self.adaptation.alpha

    def gauges(self, now: int) -> dict[str, float]:
        return {
            "max_th_out": self.laws[1].max_th,
            "c_threshold_bps": self.reference,
            "rate_bps": self.rate,
            "absent": float(self.absent(now)),
        }
