"""Gain, phase and delay margins of a loop with delay, by python-control, and its stability by Nyquist's count.

python-control gets the exact response (`FrequencyResponseData`), not a Padé approximation of the delay, on a grid that
is fine at every crossover. It looks between the points by splines; there they are so near that 10 digits are right.

Stability does not rest on the margins: a loop that is stable when open is stable when closed if and only if 1 + L(jw)
does not turn round 0 as w goes from 0 to infinity (Nyquist 1932).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from aqmlab.theory.domain import DomainError

Floats = NDArray[np.float64]
Response = Callable[[Floats], NDArray[np.complex128]]
MOST_POINTS = 1_000_000
"""Points of a grid beyond which a loop is rejected: its gain crossover is thousands of turns of phase away."""
MOST_NEAR = 50_000
"""Points between the first and the last crossover beyond which python-control takes minutes."""
ROUNDING = 1e-6
"""A gain margin that is so near to 1 is 1, whatever the count says."""
APART = 1e-12
"""Relative distance of two frequencies below which a spline takes them for one and fails."""


@dataclass(frozen=True)
class Margins:
    """How far a closed loop is from instability.

    Attributes
    ----------
    gain_margin
        Factor by which the gain may grow, below 1 if it must shrink; infinite if the phase never reaches -180 degrees.
    phase_crossover
        rad/s at which the phase is -180 degrees, or whole turns less; None without such a frequency.
    phase_margin
        Degrees by which the phase may fall at the gain crossover; infinite without a crossover, and -180 or less if the
        phase has turned so far.
    gain_crossover
        rad/s at which abs(L) = 1; None without such a frequency.
    delay_margin
        Further delay, in s, that the loop bears: phase margin / gain crossover; negative if it has too much.
    stable
        Whether the closed loop is stable, by Nyquist's count.

    Of several crossovers the one with the smallest margin counts; of a stable loop, only gain margins above 1.
    """

    gain_margin: float
    phase_crossover: float | None
    phase_margin: float
    gain_crossover: float | None
    delay_margin: float
    stable: bool

    @property
    def gain_margin_db(self) -> float:
        """Return the gain margin in dB."""
        return 20 * math.log10(self.gain_margin) if math.isfinite(self.gain_margin) else math.inf

    @property
    def small_gain(self) -> bool:
        """Return whether abs(L) is below 1 at every frequency, so that no phase can make the loop unstable."""
        return self.gain_crossover is None


def margins_of(response: Response, dc_gain: float, poles: tuple[float, ...], delays: tuple[float, ...]) -> Margins:
    """Return the margins of a loop that is stable when open and falls off at high frequencies.

    Parameters
    ----------
    response
        L(j omega) at an array of rad/s.
    dc_gain
        L(0), 0 or more.
    poles, delays
        Rates (rad/s) and delays (s) that set the scale of the grid.
    """
    if dc_gain == 0:
        return Margins(math.inf, None, math.inf, None, math.inf, True)
    omega = _grid(response, poles, delays)
    values = response(omega)
    stable = encirclements(values) == 0
    edges = _crossovers(values)
    fine = [np.linspace(omega[max(i - 1, 0)], omega[min(i + 2, len(omega) - 1)], 151) for i in edges]
    near = np.unique(np.concatenate([_around(omega, edges), *fine])) if len(edges) else omega
    near = near[np.append(True, np.diff(near) > APART * near[1:])]
    if len(near) > MOST_NEAR:
        raise DomainError("loop: its gain is so high that abs(L) = 1 lies hundreds of turns of phase away")
    gains, phases, at_phase, at_gain = _by_python_control(response, near)
    # python-control counts phases within one turn.
    turned = 180 + np.interp(at_gain, omega, np.degrees(np.unwrap(np.angle(values))))
    phases = phases + 360 * np.round((turned - phases) / 360)
    gains = np.where((gains < 1 - ROUNDING) & stable, np.inf, gains)
    gain, phase_crossover = _least(gains, at_phase)
    phase, gain_crossover = _least(phases, at_gain)
    delay = math.radians(phase) / gain_crossover if gain_crossover else math.inf
    return Margins(gain, phase_crossover, phase, gain_crossover, delay, stable)


def encirclements(values: NDArray[np.complex128]) -> int:
    """Count how often L(jw), w from -infinity to infinity, turns clockwise round -1."""
    turned = np.unwrap(np.angle(1 + values))
    return -round(float(turned[-1]) / math.pi)


def _by_python_control(response: Response, omega: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return all gain margins, all phase margins in degrees, and their crossovers in rad/s."""
    import control  # takes seconds to load

    unit = float(np.sqrt(omega[0] * omega[-1]))  # python-control's root finder has an absolute tolerance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        data = control.FrequencyResponseData(response(omega), omega / unit, smooth=True)
        gains, phases, _, at_phase, at_gain, _ = control.stability_margins(data, returnall=True)
    return gains, phases, at_phase * unit, at_gain * unit


def _least(margins: Floats, at: Floats) -> tuple[float, float | None]:
    """Return the smallest margin and where it is; infinite and None without a finite margin."""
    if not np.isfinite(margins).any():
        return math.inf, None
    i = int(np.argmin(margins))
    return float(margins[i]), float(at[i])


def _grid(response: Response, poles: tuple[float, ...], delays: tuple[float, ...]) -> Floats:
    """Return rad/s from far below the slowest lag to where L has no more weight, fine against every turn of phase."""
    longest = max(delays)
    rates = [*poles, *(1 / delay for delay in delays if delay > 0)]
    low, top = 1e-4 * min(rates), 20 * max(rates)
    linear = 0.0 if longest == 0 else 20 / min(delay for delay in delays if delay > 0)
    while float(np.abs(response(np.array([top])))[0]) > 0.1:
        top *= 2
        linear = top
    decades = np.geomspace(low, top, 4000)
    if longest == 0:
        return decades
    if linear * longest / 0.05 > MOST_POINTS:
        raise DomainError("loop: its gain is so high that abs(L) = 1 lies thousands of turns of phase away")
    return np.unique(np.concatenate([decades, np.arange(low, linear, 0.05 / longest)]))


def _crossovers(values: NDArray[np.complex128]) -> NDArray[np.intp]:
    """Return points just before abs(L) = 1, and before -180 degrees of phase where abs(L) is largest or near 1."""
    gain = np.flatnonzero(_changes(np.abs(values) - 1))
    phase = np.flatnonzero(_changes(values.imag) & (values.real[:-1] < 0))
    size = np.log(np.abs(values[phase]))
    high, far = np.max(size, initial=-math.inf), np.min(np.abs(size), initial=math.inf)
    return np.unique(np.concatenate([gain, phase[(size >= high - 1) | (np.abs(size) <= far + 1)]]))


def _changes(values: Floats) -> NDArray[np.bool_]:
    """Return where the sign changes between a point and the next."""
    return np.asarray(np.diff(np.sign(values)) != 0)


def _around(omega: Floats, edges: NDArray[np.intp]) -> Floats:
    """Return the grid from the first to the last crossover, with some points on both sides."""
    return omega[max(int(edges[0]) - 20, 0) : int(edges[-1]) + 20]
