"""ns-2's random numbers: MRG32k3a (L'Ecuyer 1999), as ``tools/rng.cc`` of 2.35 has it."""

from __future__ import annotations

M1, M2 = 4294967087, 4294944443


class Generator:
    """The generator after ``$rng seed N``."""

    def __init__(self, seed: int) -> None:
        self.state = [seed] * 6

    def draw(self) -> float:
        """Return the next number in (0, 1)."""
        s = self.state
        first = (1403580 * s[1] - 810728 * s[0]) % M1
        second = (527612 * s[5] - 1370589 * s[3]) % M2
        self.state = [s[1], s[2], first, s[4], s[5], second]
        difference = first - second if first > second else first - second + M1
        return difference / (M1 + 1.0)
