"""BLUE, SFB's bins, SRED, REM, AVQ, CoDel and COBALT."""

from __future__ import annotations

from math import sqrt

from reference_models.non_red import Packet, ReferenceModel
from reference_models.red import EARLY, Draws


class Blue(ReferenceModel):
    """Feng et al. 2002: d1 at a loss, d2 when the link falls idle, both at most once in a freeze time."""

    freeze_time, d1, d2 = 0.1, 0.02, 0.002

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        super().__init__(draws, rate_bps)
        self.p_m = self.last_update = 0.0
        self.is_idle = True

    def move(self, now: float, by: float) -> None:
        if now - self.last_update > self.freeze_time:
            self.p_m = min(1.0, max(0.0, self.p_m + by))
            self.last_update = now

    def arrives(self, now: float, packet: Packet) -> None:
        self.is_idle = False
        if not self.has_room(packet):
            self.move(now, self.d1)
        elif self.draws.uniform() < self.p_m and not self.mark(packet):
            self.drop(packet)
        else:
            self.queue.append(packet)

    def leaves(self, now: float) -> Packet | None:
        packet = super().leaves(now)
        if packet is None and not self.is_idle:
            self.move(now, -self.d2)
            self.is_idle = True
        return packet


class OneBin(ReferenceModel):
    """SFB with a single bin, in which all flows are: SFB without its hash (Linux `sch_sfb.c`)."""

    bin_size, increment, decrement, rate, burst = 20, 0.05, 0.001, 10, 20

    def __init__(self, draws: Draws, rate_bps: float, *, drops_full: bool) -> None:
        super().__init__(draws, rate_bps)
        self.drops_full = drops_full
        self.p_m = self.filled = 0.0
        self.tokens = float(self.burst)

    def arrives(self, now: float, packet: Packet) -> None:
        q = len(self.queue)
        self.p_m += -self.decrement if q == 0 else self.increment if q > self.bin_size else 0.0
        self.p_m = min(1.0, max(0.0, self.p_m))
        if not self.has_room(packet):
            return
        if q > self.bin_size and self.drops_full:
            self.drop(packet, "full-bin")
        elif self.p_m >= 1.0:
            self.tokens = min(self.burst, self.tokens + (now - self.filled) * self.rate)
            self.filled = now
            if self.tokens < 1:
                self.drop(packet, "penalty-box")
            else:
                self.tokens -= 1
                self.queue.append(packet)
        elif self.draws.uniform() < self.p_m and not self.mark(packet):
            self.drop(packet, EARLY)
        else:
            self.queue.append(packet)


class Sred(ReferenceModel):
    """Ott et al. 1999, equations (3.2) and (4.3), (4.4), (5.1); alpha = 1/M."""

    zombies_most, overwrite, p_max = 50, 0.25, 0.15

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        super().__init__(draws, rate_bps)
        self.zombies: list[int] = []
        self.frequency = 0.0

    def arrives(self, now: float, packet: Packet) -> None:
        hit = False
        if len(self.zombies) < self.zombies_most:
            self.zombies.append(packet.flow)
        else:
            place = self.draws.below(self.zombies_most)
            hit = self.zombies[place] == packet.flow
            if not hit and self.draws.uniform() < self.overwrite:
                self.zombies[place] = packet.flow
        alpha = 1 / self.zombies_most
        self.frequency = (1 - alpha) * self.frequency + alpha * hit
        q = len(self.queue)
        p = self.p_max if q >= self.limit / 3 else self.p_max / 4 if q >= self.limit / 6 else 0.0
        if self.frequency > 0:
            p *= min(1.0, 1 / (256 * self.frequency) ** 2) * (1 + hit / self.frequency)
        if self.has_room(packet):
            if self.draws.uniform() < p and not self.mark(packet):
                self.drop(packet)
            else:
                self.queue.append(packet)


class Rem(ReferenceModel):
    """Athuraliya et al. 2001 with the constants of ns-2's `queue/rem.cc`."""

    period = 0.002

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        super().__init__(draws, rate_bps)
        self.price = self.p = 0.0
        self.arrived = 0

    def step(self, now: float) -> None:
        capacity = self.period * self.rate_bps / 8000
        excess = self.arrived + 0.1 * (len(self.queue) - 20) - capacity
        self.price = max(0.0, self.price + 0.001 * excess)
        self.p = 1 - 1.001**-self.price
        self.arrived = 0

    def arrives(self, now: float, packet: Packet) -> None:
        self.arrived += 1
        if self.has_room(packet):
            if self.draws.uniform() < self.p and not self.mark(packet):
                self.drop(packet)
            else:
                self.queue.append(packet)


class Avq(ReferenceModel):
    """Kunniyur and Srikant 2001, or ns-2's `queue/vq.cc`: lengths in packets."""

    gamma, alpha = 0.98, 0.15

    def __init__(self, draws: Draws, rate_bps: float, *, ns2: bool = False) -> None:
        super().__init__(draws, rate_bps)
        self.ns2 = ns2
        self.c = rate_bps / 8000
        self.virtual, self.virtual_rate = 0.0, 0.8 * self.c
        self.served: float | None = None
        self.moved = 0.0

    def arrives(self, now: float, packet: Packet) -> None:
        if self.served is None:
            self.served = self.moved = now
        self.virtual = max(0.0, self.virtual - self.virtual_rate * (now - self.served))
        self.served = now
        over = self.virtual + 1 > self.limit
        if not over:
            self.virtual += 1
        room = self.has_room(packet)
        dropped = over and not (room and self.mark(packet))
        if not (dropped and self.ns2):
            rate = self.virtual_rate + self.alpha * self.gamma * self.c * (now - self.moved)
            rate = min(rate - self.alpha, self.c) if self.ns2 else min(rate, self.c) - self.alpha
            self.virtual_rate = max(0.0, rate)
            self.moved = now
        if room:
            if dropped:
                self.drop(packet, "virtual-overflow")
            else:
                self.queue.append(packet)


class CoDel(ReferenceModel):
    """RFC 8289, section 5."""

    limit = 1000
    target, interval, max_packet = 0.005, 0.1, 1514

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        super().__init__(draws, rate_bps)
        self.first_above = self.drop_next = 0.0
        self.count = self.last_count = 0
        self.dropping = False

    def take(self, now: float) -> tuple[Packet | None, bool]:
        packet = super().leaves(now)
        if packet is None or now - packet.arrival < self.target or self.backlog() <= self.max_packet:
            self.first_above = 0.0
            return packet, False
        if self.first_above == 0:
            self.first_above = now + self.interval
            return packet, False
        return packet, now >= self.first_above

    def law(self, t: float) -> float:
        return t + self.interval / sqrt(self.count)

    def leaves(self, now: float) -> Packet | None:
        packet, may_drop = self.take(now)
        if self.dropping:
            self.dropping = may_drop
            while self.dropping and now >= self.drop_next:
                self.count += 1
                if self.mark(packet):
                    self.drop_next = self.law(self.drop_next)
                    break
                self.drop(packet, "control-law")
                packet, self.dropping = self.take(now)
                if self.dropping:
                    self.drop_next = self.law(self.drop_next)
        elif may_drop:
            if not self.mark(packet):
                self.drop(packet, "sojourn")
                packet, _ = self.take(now)
            self.dropping = True
            gained = self.count - self.last_count
            soon = now - self.drop_next < 16 * self.interval
            self.count = gained if gained > 1 and soon else 1
            self.drop_next = self.law(now)
            self.last_count = self.count
        return packet


class Cobalt(ReferenceModel):
    """Linux `sch_cake.c`, functions `cobalt_*`; a full buffer drops the arriving packet."""

    limit = 1000
    target, interval = 0.005, 0.1

    def __init__(self, draws: Draws, rate_bps: float) -> None:
        super().__init__(draws, rate_bps)
        self.count = 0
        self.dropping = False
        self.drop_next = self.blue_timer = self.p_drop = 0.0

    def law(self, t: float) -> float:
        return t + self.interval / sqrt(max(1, self.count))

    def blue(self, now: float, by: float) -> None:
        if now - self.blue_timer > self.target:
            self.p_drop = min(1.0, max(0.0, self.p_drop + by))
            self.blue_timer = now

    def arrives(self, now: float, packet: Packet) -> None:
        if self.has_room(packet):
            self.queue.append(packet)
            return
        self.blue(now, 1 / 256)
        self.dropping, self.drop_next, self.count = True, now, max(1, self.count)

    def leaves(self, now: float) -> Packet | None:
        while self.queue:
            packet = self.queue.pop(0)
            reason = self.drop_reason(now, packet)
            if reason is None:
                return packet
            self.drop(packet, reason)
        if self.p_drop:
            self.blue(now, -1 / 4096)
        self.dropping = False
        if self.count and now >= self.drop_next:
            self.count -= 1
            self.drop_next = self.law(self.drop_next)
        return None

    def drop_reason(self, now: float, packet: Packet) -> str | None:
        delay = now - packet.arrival
        schedule = now - self.drop_next
        over = delay > self.target and delay > 4 * 8 * 1514 / self.rate_bps
        due = self.count > 0 and schedule >= 0
        if over:
            if not self.dropping:
                self.drop_next = self.law(now)
            self.count = max(1, self.count)
        self.dropping = over
        signals = due and over
        if signals:
            self.count += 1
            self.drop_next = self.law(self.drop_next)
            schedule = now - self.drop_next
        while due and not over:
            self.count -= 1
            self.drop_next = self.law(self.drop_next)
            schedule = now - self.drop_next
            due = self.count > 0 and schedule >= 0
        by_blue = self.p_drop > 0 and self.draws.uniform() < self.p_drop
        drop = by_blue or (signals and not self.mark(packet))
        if self.count == 0:
            self.drop_next = now + self.interval
        elif schedule > 0 and not drop:
            self.drop_next = now
        if not drop:
            return None
        return "blue" if by_blue else "control-law"
