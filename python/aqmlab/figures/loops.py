"""Bode and Nyquist plots of loops, as charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aqmlab.figures.chart import Chart, Series
from aqmlab.theory.control.loop import Loop
from aqmlab.theory.control.margins import Margins
from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import Array

POINTS = 400
LEAST_DEGREES = -360.0
"""Where the phase's axis ends: beyond a turn the delay alone winds on."""


def frequencies(loops: Sequence[Loop]) -> Array:
    """Return rad/s from well below the slowest lag of all loops to beyond the crossovers."""
    if not loops:
        raise DomainError("loops: at least one is needed")
    low = 0.03 * min(min(loop.poles) for loop in loops)
    found = [loop.margins() for loop in loops]
    high = max(max(margins.phase_crossover or 0.0, margins.gain_crossover or 0.0) for margins in found)
    return np.geomspace(low, 3 * (high or max(max(loop.poles) for loop in loops)), POINTS)


def bode(loops: Sequence[Loop], *, key: str = "bode", title: str = "Bode plot") -> tuple[Chart, Chart]:
    """Draw magnitude and phase against frequency.

    Returns
    -------
    tuple
        The magnitude's chart and the phase's.

    Examples
    --------
    >>> from aqmlab.theory.control.loop import red_loop
    >>> loop = red_loop(flows=60, capacity=3750, rtt=0.246, max_p=0.1, min_th=150, max_th=700, w_q=1.33e-6)
    >>> magnitude, phase = bode([loop])
    >>> magnitude.alt
    'Magnitude of the loop against frequency. RED: abs(L) = 1 at 0.049 rad/s, phase margin 89.1 degrees, ...'
    """
    omega = frequencies(loops)
    decibel = [Series(loop.name, omega, 20 * np.log10(loop.magnitude(omega)), color=i) for i, loop in enumerate(loops)]
    degrees = []
    for i, loop in enumerate(loops):
        phase = loop.phase(omega)
        shown = phase >= LEAST_DEGREES
        degrees.append(Series(loop.name, omega[shown], phase[shown], color=i))
    words = " ".join(f"{loop.name}: {describe(loop.margins())}" for loop in loops)
    magnitude = Chart(
        key=f"{key}-magnitude",
        title=f"{title}: magnitude",
        alt=f"Magnitude of the loop against frequency. {words}",
        x_label="frequency, rad/s",
        y_label="abs(L), dB",
        series=decibel,
        x_log=True,
        levels=[(0.0, "0 dB")],
        caption=words,
    )
    phase_chart = Chart(
        key=f"{key}-phase",
        title=f"{title}: phase",
        alt=f"Phase of the loop against frequency. {words}",
        x_label="frequency, rad/s",
        y_label="phase, degrees",
        series=degrees,
        x_log=True,
        levels=[(-180.0, "-180 degrees")],
        y_range=(LEAST_DEGREES, 0.0),
    )
    return magnitude, phase_chart


def nyquist(loops: Sequence[Loop], *, key: str = "nyquist", title: str = "Nyquist plot", reach: float = 1.5) -> Chart:
    """Draw L(jw) in the complex plane for w > 0, as far as `reach` from the origin, and the point -1."""
    omega = frequencies(loops)
    series = []
    for i, loop in enumerate(loops):
        values = loop.response(np.geomspace(omega[0], omega[-1], 4 * POINTS))
        inside = np.abs(values) <= reach
        series.append(Series(loop.name, values.real[inside], values.imag[inside], color=i))
    series.append(Series("-1", [-1.0], [0.0], mode="points", color=5))
    stable = [loop.name for loop in loops if loop.margins().stable]
    others = [loop.name for loop in loops if loop.name not in stable]
    counts = [f"no encirclement of -1 by {', '.join(stable)}"] if stable else []
    counts += [f"encirclement by {', '.join(others)} (unstable)"] if others else []
    found = "; ".join(counts)
    found = found[0].upper() + found[1:]
    return Chart(
        key=key,
        title=title,
        alt=f"The loops in the complex plane with the point -1. {found}.",
        x_label="real part of L",
        y_label="imaginary part of L",
        series=series,
        x_range=(-reach, reach),
        y_range=(-reach, reach),
        caption=f"A loop that turns round -1 is unstable when closed. {found}.",
    )


def describe(margins: Margins) -> str:
    """Put margins into one sentence.

    >>> describe(Margins(5041.0, 3.17, float("inf"), None, float("inf"), True))
    'abs(L) is below 1 at every frequency, gain margin 74.1 dB at 3.17 rad/s; stable.'
    """
    words = []
    if margins.gain_crossover is None:
        words.append("abs(L) is below 1 at every frequency")
    else:
        words.append(
            f"abs(L) = 1 at {margins.gain_crossover:.3g} rad/s, phase margin {margins.phase_margin:.1f} degrees"
        )
        words.append(f"delay margin {margins.delay_margin:.3g} s")
    if margins.phase_crossover is not None:
        words.append(f"gain margin {margins.gain_margin_db:.1f} dB at {margins.phase_crossover:.3g} rad/s")
    return f"{', '.join(words)}; {'stable' if margins.stable else 'unstable'}."
