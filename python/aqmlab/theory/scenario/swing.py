"""Does a queue swing, how far and how fast? The same measure for the fluid and for packets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aqmlab.theory.drop_curve import Array

SEGMENTS = 3
"""Pieces, each half over its neighbours', whose spectra are averaged (Welch)."""
CLEAR = 0.5
"""Share of the variance within a third of an octave either side of the peak from which on it is a clear tone."""
THIRD = 2.0 ** (1 / 3)
LEAST = 0.05
"""Packets; a queue that moves less has no frequency."""


@dataclass(frozen=True)
class Swing:
    """How a queue moves around its mean.

    Attributes
    ----------
    sd
        Standard deviation in packets.
    frequency_hz
        Where its spectrum is highest; None if it does not move.
    share
        Share of the variance within a third of an octave of that frequency, 0 to 1.
    """

    sd: float
    frequency_hz: float | None
    share: float

    @property
    def clear(self) -> bool:
        """Whether it is one tone."""
        return self.share >= CLEAR


def swing_of(runs: Sequence[Array], *, step_s: float) -> Swing:
    """Return the swing of runs sampled every `step_s`; below `LEAST` packets it has no frequency.

    >>> t = np.arange(0, 60, 0.05)
    >>> found = swing_of([20 + 5 * np.sin(2 * np.pi * 0.5 * t)], step_s=0.05)
    >>> round(found.sd, 2), round(found.frequency_hz, 2), found.clear
    (3.54, 0.5, True)
    """
    usable = [np.asarray(run, dtype=float) for run in runs if len(run) >= 8 * SEGMENTS]
    if not usable:
        return Swing(math.nan, None, 0.0)
    sd = float(np.mean([run.std() for run in usable]))
    if sd < LEAST:
        return Swing(sd, None, 0.0)
    length = min(len(run) for run in usable)
    size = 2 * length // (SEGMENTS + 1)
    window = np.hanning(size)
    power = np.zeros(size // 2 + 1)
    for run in usable:
        for index in range(SEGMENTS):
            piece = run[index * size // 2 : index * size // 2 + size]
            power += np.abs(np.fft.rfft((piece - piece.mean()) * window)) ** 2
    frequency = np.fft.rfftfreq(size, step_s)
    power[0] = 0.0
    peak = int(np.argmax(power))
    near = (frequency > frequency[peak] / THIRD) & (frequency < frequency[peak] * THIRD)
    near |= np.abs(np.arange(len(power)) - peak) <= 1
    return Swing(sd, float(frequency[peak]), float(power[near].sum() / power.sum()))
