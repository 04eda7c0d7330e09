"""A custom discipline: RED whose drop probability is quadratic. See docs/extending.md."""

from aqmlab.scenario import plugins
from aqmlab.scenario.plugins import Discipline, number, packets


@plugins.discipline("my-red", title="My RED")
class MyRed(Discipline):
    """RED whose drop probability grows with the square of the average, and is never 1."""

    min_th = packets(5, "average from which packets are dropped")
    max_th = packets(15, "average at which the probability is max_p")
    max_p = number(0.1, "probability at max_th", low=0, high=1)
    w_q = number(0.002, "weight of one queue sample in the average", low=0, high=1)

    def start(self):
        self.count = -1  # packets since the last drop

    def enqueue(self, now, packet, queue):
        if queue.idle_s > 0:  # as if packets of 1000 bytes had passed an empty queue
            self.average *= (1 - self.w_q) ** (queue.idle_s * queue.rate_bps / 8000)
        else:
            self.average += self.w_q * (len(queue) - self.average)
        x = (self.average - self.min_th) / (self.max_th - self.min_th)
        self.p_b = min(self.max_p * max(x, 0) ** 2, 1)
        self.count = self.count + 1 if self.p_b > 0 else -1
        is_dropped = queue.uniform() * max(1 - self.count * self.p_b, 0) < self.p_b
        if is_dropped:
            self.count = 0
        return "drop" if is_dropped else "accept"
