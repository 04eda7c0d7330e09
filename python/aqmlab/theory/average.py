"""RED's average as a lag: x' = K (q - x).

A sample every 1/C s with the weight w_q keeps a share 1 - w_q of the old average, as a lag with the rate
K = -ln(1 - w_q) C does (Misra, Gong and Towsley, SIGCOMM 2000).
"""

from __future__ import annotations

import math

from aqmlab.theory.domain import weight


def averaging_rate(w_q: float, capacity: float) -> float:
    """Return K = -ln(1 - w_q) C in rad/s, C in packets/s; infinite for w_q = 1, where there is no average.

    Raises
    ------
    DomainError
        If w_q is not above 0 and at most 1.

    Examples
    --------
    >>> round(averaging_rate(0.004, 125), 4)
    0.501
    """
    return -math.log1p(-weight("w_q", w_q)) * capacity if w_q < 1 else math.inf
