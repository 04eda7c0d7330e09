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

    def enqueue(self, now, packet, queue):
        self.average += self.w_q * (len(queue) - self.average)
        x = (self.average - self.min_th) / (self.max_th - self.min_th)
        self.p_b = min(self.max_p * max(x, 0) ** 2, 1)
        return "drop" if queue.uniform() < self.p_b else "accept"
