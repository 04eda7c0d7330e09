"""A mean with its interval as text: the mean keeps its digits, and an asymmetric interval shows both bounds."""

from __future__ import annotations

import math

ASYMMETRIC = 0.05
"""Bounds whose distances from the mean differ by more than this share of the width are both shown."""
KEPT = 2
"""Significant digits that a mean keeps however wide its interval is."""
MOST_PLACES = 9


def interval_text(
    mean: float, low: float, high: float, *, significant: int = 0, digits: int = MOST_PLACES, signed: bool = False
) -> str:
    """Return ``mean ± half width``, ``mean (low to high)`` if asymmetric, or the mean alone without an interval.

    Parameters
    ----------
    mean, low, high
        The mean and the bounds of its interval, in the same unit; NaN bounds for none.
    significant
        Digits of the half-width; 0 for one, or two if the first is 1.
    digits
        Most decimal places.
    signed
        Whether a positive mean gets a plus.

    >>> interval_text(9.53573, 9.50363, 9.56783), interval_text(4.33, -526, 534), interval_text(4.33, 3.84, 4.43)
    ('9.54 ± 0.03', '4.3 ± 530', '4.33 (3.84 to 4.43)')
    >>> interval_text(5.0, float("nan"), float("nan"))
    '5'
    """
    sign = "+" if signed else ""
    half = (high - low) / 2
    if not math.isfinite(half) or half <= 0:
        return f"{mean:{sign}.5g}"
    apart = asymmetric(mean, low, high)
    finest = min((one for one in (mean - low, high - mean) if one > 0), default=half) if apart else half
    own = min(half_places(finest, significant), digits)
    places = min(max(own, mean_places(mean)), digits)
    if apart:
        return f"{mean:{sign}.{places}f} ({low:{sign}.{places}f} to {high:{sign}.{places}f})"
    return f"{mean:{sign}.{places}f} ± {half:.{own}f}"


def asymmetric(mean: float, low: float, high: float) -> bool:
    """Whether a half-width alone would misstate the interval.

    >>> asymmetric(1.0, 0.9, 1.1), asymmetric(1.0, 0.9, 1.0)
    (False, True)
    """
    return abs((high - mean) - (mean - low)) > ASYMMETRIC * (high - low)


def half_places(half: float, significant: int = 0) -> int:
    """Return the decimal places of a half-width: `significant` digits; if 0, one, or two if the first is 1.

    >>> half_places(0.2388), half_places(0.0127), half_places(12.5), half_places(0.0), half_places(0.2388, 2)
    (1, 3, 0, 2, 2)
    """
    if half <= 0:
        return 2
    exponent = math.floor(math.log10(half))
    shown = significant or (2 if half / 10**exponent < 2 else 1)
    return max(0, shown - 1 - exponent)


def mean_places(mean: float, kept: int = KEPT) -> int:
    """Return the decimal places that show `kept` significant digits of a mean.

    >>> mean_places(4.33), mean_places(95.2, 3), mean_places(1234.5), mean_places(0.0)
    (1, 1, 0, 0)
    """
    if mean == 0 or not math.isfinite(mean):
        return 0
    return min(MOST_PLACES, max(0, kept - 1 - math.floor(math.log10(abs(mean)))))
