"""PI, PIE, PI2 and DualPI2: controllers that step in time."""

from __future__ import annotations

from math import ceil

from reference_models.non_red import CE, ECT1, NOT_ECT, Packet, ReferenceModel, sojourn
from reference_models.red import OVERFLOW, Draws


def within(p: float, most: float = 1.0) -> float:
    return min(most, max(0.0, p))


class Pi(ReferenceModel):
    """Hollot et al. 2001, with the constants of ns-2's `queue/pi.cc`: the queue in packets, 170 samples a second."""

    period = 1e-12 * round(1e12 / 170)

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        super().__init__(draws, rate_bps)
        self.p = 0.0
        self.old = 0

    def step(self, now: float) -> None:
        q = len(self.queue)
        self.p = within(1.822e-5 * (q - 50) - 1.816e-5 * (self.old - 50) + self.p)
        self.old = q

    def arrives(self, now: float, packet: Packet) -> None:
        if self.has_room(packet):
            if self.p > 0 and self.draws.uniform() < self.p and not self.mark(packet):
                self.drop(packet)
            else:
                self.queue.append(packet)


class Pie(ReferenceModel):
    """RFC 8033, appendix A, with the cap of section 5.5 and ECN of section 5.1; appendix B on demand."""

    limit = 1000
    period = target = 0.015
    alpha, beta = 0.125, 1.25
    burst_steps = 10
    """MAX_BURST in steps of T_UPDATE."""
    TABLE = ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (1e-1, 2))
    """Below a probability the gains are divided by a number: in all, the last two (Linux 3.14) or no ranges."""

    def __init__(
        self,
        draws: Draws,
        rate_bps: float,
        *,
        derandomizes: bool = False,
        appendix_b: bool = False,
        ranges: int = len(TABLE),
    ) -> None:
        super().__init__(draws, rate_bps)
        self.derandomizes, self.appendix_b = derandomizes, appendix_b
        self.table = self.TABLE[len(self.TABLE) - ranges :]
        self.p = self.delay = self.old = self.accumulated = 0.0
        self.burst = self.burst_steps

    def step(self, now: float) -> None:
        change = self.alpha * (self.delay - self.target) + self.beta * (self.delay - self.old)
        change /= next((divisor for below, divisor in self.table if self.p < below), 1)
        if self.p >= 0.1 and change > 0.02:
            change = 0.02
        self.p += change
        longest = max(self.delay, self.old)
        quiet = longest < self.target / 2 if self.appendix_b else longest == 0
        self.p = within(self.p * 0.98 if quiet else self.p)
        self.old = self.delay
        self.burst = max(0, self.burst - 1)

    def arrives(self, now: float, packet: Packet) -> None:
        if not self.has_room(packet):
            self.accumulated = 0.0
            return
        if self.p == 0 and self.delay < self.target / 2 and self.old < self.target / 2:
            self.burst = self.burst_steps
        if self.burst == 0 and self.drop_early():
            self.accumulated = 0.0
            if self.p > 0.1 or not self.mark(packet):
                self.drop(packet)
                return
        self.queue.append(packet)

    def drop_early(self) -> bool:
        if (self.old < self.target / 2 and self.p < 0.2) or self.backlog() <= 2 * 1000:
            return False
        if self.derandomizes:
            self.accumulated = 0.0 if self.p == 0 else self.accumulated + self.p
            if self.accumulated < 0.85:
                return False
            if self.accumulated >= 8.5:
                return True
        return self.draws.uniform() < self.p

    def leaves(self, now: float) -> Packet | None:
        packet = super().leaves(now)
        if packet is not None:
            self.delay = now - packet.arrival if self.queue else 0.0
        return packet


class Pi2(ReferenceModel):
    """De Schepper et al. 2016, constants of the authors' `sch_pi2.c`; a packet's fate is decided at either end."""

    limit = 1000
    period = 0.032
    target, alpha, beta, most = 0.02, 0.3125, 3.125, 0.5
    two_mtu = 2 * 1514

    def __init__(self, draws: Draws, rate_bps: float, *, arriving: bool = False) -> None:
        super().__init__(draws, rate_bps)
        self.arriving = arriving
        self.p = self.old = 0.0

    def step(self, now: float) -> None:
        delay = self.delay(now)
        self.p = within(self.p + self.alpha * (delay - self.target) + self.beta * (delay - self.old), self.most)
        self.old = delay

    def delay(self, now: float) -> float:
        return sojourn(self.queue, now)

    def is_hit(self, packet: Packet) -> bool:
        scalable = self.ecn and packet.ecn in (ECT1, CE)
        p = min(1.0, 2 * self.p) if scalable else self.p**2
        return self.backlog() >= self.two_mtu and p > 0 and self.draws.uniform() < p

    def goes(self, packet: Packet) -> bool:
        if self.is_hit(packet) and not self.mark(packet):
            self.drop(packet)
            return False
        return True

    def arrives(self, now: float, packet: Packet) -> None:
        if self.has_room(packet) and (not self.arriving or self.goes(packet)):
            self.queue.append(packet)

    def leaves(self, now: float) -> Packet | None:
        while self.queue:
            packet = self.queue.pop(0)
            if self.arriving or self.goes(packet):
                return packet
        return None


class DualPi2(Pi2):
    """RFC 9332, figures 2 to 5, 7 and 8, with Linux's weighted round robin and its two MTU that are spared."""

    period = 0.015
    target, alpha, beta, most = 0.015, 0.15, 3.0, 1.0
    ecn = True
    k = 2

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        super().__init__(draws, rate_bps)
        self.limit = ceil(0.25 * rate_bps / (8 * 1500))
        self.l: list[Packet] = []
        self.c: list[Packet] = []
        self.count = {"l": 0.0, "c": 0.0}
        self.credit = 1514 * (10 - 90)

    def delay(self, now: float) -> float:
        return max(sojourn(self.l, now), sojourn(self.c, now))

    def arrives(self, now: float, packet: Packet) -> None:
        if len(self.l) + len(self.c) >= self.limit:
            self.drop(packet, OVERFLOW)
        else:
            (self.l if packet.ecn % 2 == 1 else self.c).append(packet)

    def recur(self, queue: str, likelihood: float) -> bool:
        self.count[queue] += likelihood
        if self.count[queue] > 1:
            self.count[queue] -= 1
            return True
        return False

    def leaves(self, now: float) -> Packet | None:
        while self.l or self.c:
            if self.l and (not self.c or self.credit <= 0):
                packet = self.l.pop(0)
                change = 10 * packet.bytes if self.c else 0
                goes = self.leaves_l(now, packet)
            else:
                packet = self.c.pop(0)
                change = -90 * packet.bytes if self.l else 0
                goes = self.leaves_c(packet)
            if goes:
                self.credit += change
                return packet
        self.credit = 1514 * (10 - 90)
        return None

    def base(self) -> float:
        left = sum(packet.bytes for packet in self.l + self.c)
        return 0.0 if left < self.two_mtu else self.p

    def leaves_l(self, now: float, packet: Packet) -> bool:
        p = self.base()
        p_l = self.k * p
        if p_l >= 1:
            if self.recur("l", p * p):
                self.drop(packet, "overload")
                return False
            p_l = 1.0
        elif self.l:
            p_l = max(self.ramp(now - packet.arrival), p_l)
        if self.recur("l", p_l):
            self.mark(packet)
        return True

    def ramp(self, delay: float) -> float:
        return 1.0 if delay >= 1.2e-3 else max(0.0, (delay - 0.8e-3) / 0.4e-3)

    def leaves_c(self, packet: Packet) -> bool:
        p_c = self.base() ** 2
        if not self.recur("c", p_c):
            return True
        if packet.ecn == NOT_ECT or p_c >= min(1 / self.k**2, 1):
            self.drop(packet)
            return False
        return self.mark(packet)
