"""TCP and a queue as a fluid: delay-differential equations for classes of flows over any drop curve.

Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows with an application to
RED", SIGCOMM 2000. Windows and the queue are means; for class i with N_i flows

    dW_i/dt = 1/R_i(t) - (W_i(t)/2) W_i(t-R_i)/R_i(t-R_i) p(t-R_i)       1 <= W_i <= the class's limit
    dq/dt   = sum_i N_i W_i/R_i + u (1 - p(t)) - C                       0 <= q <= limit
    dx/dt   = K (q - x),                       K = -ln(1 - w_q) C         the average, sampled every 1/C s
    R_i     = propagation_i + q/C

| symbol | field | unit |
|---|---|---|
| C | `Bottleneck.capacity` | packets/s |
| u | `Bottleneck.unresponsive` | packets/s |
| w_q, K | `Bottleneck.w_q`, `.averaging_rate` | 1, rad/s |
| p_b(x) | `Bottleneck.curve` | 1 |
| N_i | `FlowClass.flows` | 1 |
| propagation_i | `FlowClass.propagation` | s |
| W_i | `Trajectory.windows` | packets |

Readings: p is the rate at which packets are dropped, `drop_rate(p_b, spacing)`, not p_b; what does not fit at the limit
is lost and counts in p. Early drops thin the load that does not react, but not W/R, which in the paper is what gets
through.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from aqmlab.theory.domain import DomainError
from aqmlab.theory.drop_curve import Array
from aqmlab.theory.fluid.loss_law import loss_law
from aqmlab.theory.fluid.operating_point import OperatingPoint, solve
from aqmlab.theory.fluid.parts import Bottleneck, FlowClass
from aqmlab.theory.fluid.trajectory import Trajectory, integrate


@dataclass(frozen=True)
class FluidModel:
    """Classes of flows at a bottleneck.

    Attributes
    ----------
    bottleneck, classes
        The link, and the flows that share it.
    loss_law
        How windows answer losses (`aqmlab.theory.fluid.loss_law`); ``misra`` is the paper's.

    Examples
    --------
    Hollot's example, with the propagation delay that gives his round trip of 0.246 s:

    >>> from aqmlab.theory.drop_curve import DropCurve
    >>> red = DropCurve.of("red", min_th=150, max_th=700, max_p=0.1, limit=800)
    >>> model = FluidModel(Bottleneck(3750, red, 1.33e-6, limit=800), (FlowClass("tcp", 60, 0.2),))
    >>> point = model.operating_point()
    >>> round(point.queue, 1), round(point.windows[0], 2), round(point.p, 5)
    (194.4, 15.74, 0.00807)
    """

    bottleneck: Bottleneck
    classes: tuple[FlowClass, ...]
    loss_law: str = "misra"

    def __post_init__(self) -> None:
        if not self.classes:
            raise DomainError("classes: at least one class of flows is needed")
        loss_law(self.loss_law)

    @property
    def flows(self) -> Array:
        """Flows of each class."""
        return np.array([c.flows for c in self.classes], dtype=float)

    @property
    def propagation(self) -> Array:
        """Round trip of each class without queueing, s."""
        return np.array([c.propagation for c in self.classes], dtype=float)

    @property
    def window_limits(self) -> Array:
        """Largest window of each class, packets."""
        return np.array([c.window_limit for c in self.classes], dtype=float)

    def operating_point(self) -> OperatingPoint:
        """Return the equilibrium."""
        return solve(self)

    def integrate(
        self, duration: float, *, step: float | None = None, start: OperatingPoint | None = None
    ) -> Trajectory:
        """Return what happens in time.

        Parameters
        ----------
        duration
            s.
        step
            s, at most the shortest propagation delay; default: a tenth of it.
        start
            The state at and before time 0: its queue, which the average knows, its windows and its p; default: an
            empty queue, windows of one packet and no losses.
        """
        return integrate(self, duration, step=step, start=start)
