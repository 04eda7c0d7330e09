"""How many seconds of a scenario fit into a budget of time, learned run by run."""

from __future__ import annotations

FIRST_GUESS_S = 1.0 / 2e9
"""Processor seconds a bit, before anything is known."""
MOST_SLOWDOWN = 4.0
MEMORY = 0.6
"""Weight of what was known before in the mean of how busy the machine is."""
STEPS_S = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 200, 300, 500, 700, 1000)


class Pace:
    """Cost of a simulated second.

    The cost is counted in processor time for each bit that the link in question can carry, so that another rate, and a
    moment in which the machine was busy, do not spoil it. How much longer a run takes by the clock on the wall is kept
    beside it.

    >>> pace = Pace()
    >>> pace.learn(cpu_s=0.02, wall_s=0.02, bits=10 * 10e6)  # ten seconds at 10 Mbit/s
    >>> pace.fits(0.1, rate_bps=10e6, asked_s=60), pace.fits(0.1, rate_bps=1e9, asked_s=60)
    (45, 0.5)
    """

    def __init__(self) -> None:
        self._cost_s = FIRST_GUESS_S
        self._slowdown = 1.0

    def learn(self, *, cpu_s: float, wall_s: float, bits: float) -> None:
        """Learn from a run that took so long for so many bits."""
        self._cost_s = max(cpu_s, 1e-5) / bits
        now = min(max(wall_s / max(cpu_s, 1e-5), 1.0), MOST_SLOWDOWN)
        self._slowdown = MEMORY * self._slowdown + (1 - MEMORY) * now

    def fits(self, budget_s: float, *, rate_bps: float, asked_s: float) -> float:
        """Return the longest run that fits, as a round number; all that is asked for if it fits."""
        return fitting(budget_s / (self._cost_s * self._slowdown * rate_bps), asked_s)


def fitting(seconds: float, asked: float) -> float:
    """Return the longest run that fits into so many seconds, as a round number; all that is asked for if it fits.

    >>> fitting(12.3, 30), fitting(31, 30), fitting(0.001, 30)
    (10, 30, 0.1)
    """
    if seconds >= asked:
        return asked
    return max((step for step in STEPS_S if step <= min(seconds, asked)), default=min(STEPS_S[0], asked))
