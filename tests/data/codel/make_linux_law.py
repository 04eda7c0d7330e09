"""Make `linux_law.csv`: which packets CoDel drops in the arithmetic of Linux, computed with Python's integers.

It knows nothing of the project. The rules are those of Linux 6.1, `include/net/codel.h` and `codel_impl.h`: time in
units of 2^10 ns and 32 bits, one over the root of count in 16 bits, a Newton step in 32 bits when count changes.

The traffic: packets of 1000 B, numbered from 0, in phases of (end, time between arrivals, time between dequeues) in ns;
both clocks go on through a change of phase, and an arrival comes before a dequeue of the same instant. Dequeues also
happen when nothing waits.

    python tests/data/codel/make_linux_law.py > tests/data/codel/linux_law.csv
"""

from collections import deque

U32 = (1 << 32) - 1
TARGET = 5_000_000 >> 10
INTERVAL = 100_000_000 >> 10
MTU = 1514
BYTES = 1000
PHASES = [
    (4_000_000_000, 900_007, 1_000_003),
    (4_600_000_000, 2_000_001, 1_000_003),
    (7_000_000_000, 800_011, 1_000_003),
    (10_000_000_000, 3_000_017, 1_000_003),
    (12_000_000_000, 700_001, 1_000_003),
]


def after(a, b):
    """Whether the time `a` of 32 bits is after `b`."""
    return 0 < ((a - b) & U32) < 1 << 31


class Codel:
    """A queue under the control law."""

    def __init__(self):
        self.queue = deque()
        self.count = self.last_count = 0
        self.rec_inv_sqrt = 0
        self.first_above = self.drop_next = 0
        self.dropping = False
        self.rows = []

    def pop(self, now):
        """The packet at the head, and whether it may be dropped."""
        if not self.queue:
            self.first_above = 0
            return None, False
        number, stamp = self.queue.popleft()
        waited = (now - stamp) & U32
        if after(TARGET, waited) or len(self.queue) * BYTES <= MTU:
            self.first_above = 0
            return number, False
        if self.first_above == 0:
            self.first_above = (now + INTERVAL) & U32
            return number, False
        return number, after(now, self.first_above)

    def step(self):
        """One Newton step towards one over the root of count."""
        r = self.rec_inv_sqrt << 16
        squared = (r * r) >> 32
        rest = (((3 << 32) - self.count * squared) & ((1 << 64) - 1)) >> 2
        self.rec_inv_sqrt = ((((rest * r) & ((1 << 64) - 1)) >> 31) >> 16) & 0xFFFF

    def law(self, t):
        """When the next drop is due, from `t` on."""
        return (t + ((INTERVAL * (self.rec_inv_sqrt << 16)) >> 32)) & U32

    def dequeue(self, ns):
        """Serve a packet at `ns`; drops are written down."""
        now = (ns >> 10) & U32
        number, ok = self.pop(now)
        if number is None:
            self.dropping = False
            return
        if self.dropping:
            if not ok:
                self.dropping = False
            while self.dropping and not after(self.drop_next, now):
                self.count += 1
                self.step()
                dropped = number
                number, ok = self.pop(now)
                if ok:
                    self.drop_next = self.law(self.drop_next)
                else:
                    self.dropping = False
                self.rows.append((ns, dropped, self.count))
        elif ok:
            dropped = number
            number, _ = self.pop(now)
            self.dropping = True
            gained = self.count - self.last_count
            if gained > 1 and after((16 * INTERVAL) & U32, (now - self.drop_next) & U32):
                self.count = gained
                self.step()
            else:
                self.count = 1
                self.rec_inv_sqrt = 0xFFFF
            self.last_count = self.count
            self.drop_next = self.law(now)
            self.rows.append((ns, dropped, self.count))


def main():
    """Run the phases and print the drops."""
    codel, number, arrival, departure = Codel(), 0, 0, 0
    for end, between_arrivals, between_dequeues in PHASES:
        while min(arrival, departure) < end:
            if arrival <= departure:
                codel.queue.append((number, (arrival >> 10) & U32))
                number += 1
                arrival += between_arrivals
            else:
                codel.dequeue(departure)
                departure += between_dequeues
    print("time_ns,packet,count")
    for row in codel.rows:
        print(*row, sep=",")


if __name__ == "__main__":
    main()
