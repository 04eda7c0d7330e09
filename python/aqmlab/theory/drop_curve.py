"""The curve p(x) that every model takes: drop probability against the average queue, in packets.

A discipline's curve is computed by the code that is simulated (``aqmlab._core.curve``); a curve that no discipline has
is any function of an array.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aqmlab import _core
from aqmlab.scenario.parts import packets
from aqmlab.theory.domain import DomainError, reject

Array = NDArray[np.float64]
_CURVE_KEYS = ("curve", "min_th", "max_th", "max_p", "limit", "mean_packet", "points")
_SPACING_RATES: dict[str, Callable[[Array], Array]] = {
    "none": lambda p: p,
    "floyd93": lambda p: 2 * p / (1 + p),
    "ns2-nowait": lambda p: 2 * p / (1 + p),
    "linux": lambda p: 2 * p / (1 + p),
    "dsred": lambda p: 2 * p / (1 + p),
}


@dataclass(frozen=True)
class DropCurve:
    """A drop function.

    Attributes
    ----------
    name
        Its name in figures and messages.
    function
        Drop probabilities in [0, 1] at an array of averages in packets.
    min_th, max_th
        Where the curve begins, and where its first part ends, in packets; infinite for drop-tail.
    knots
        Averages in packets at which its value or its slope may jump, ascending.
    limit
        Packets the queue holds, or infinite if the curve does not know.

    Examples
    --------
    >>> red = DropCurve.of("red", min_th=10, max_th=30, max_p=0.1, limit=100)
    >>> red([10, 20, 29.99, 30]).round(6).tolist()
    [0.0, 0.05, 0.09995, 1.0]
    >>> red.jumps
    (30.0,)
    """

    name: str
    function: Callable[[Array], Array]
    min_th: float
    max_th: float
    knots: tuple[float, ...] = ()
    limit: float = np.inf

    def __call__(self, x: ArrayLike) -> Array:
        """Return p at these averages, with their shape."""
        points = np.asarray(x, dtype=float)
        return np.asarray(self.function(points.ravel()), dtype=float).reshape(points.shape)

    @classmethod
    def of(
        cls, aqm: str, *, limit: float, min_th: float = 0.0, max_th: float = 0.0, max_p: float = 0.0, name: str = ""
    ) -> DropCurve:
        """Return the curve of a discipline; thresholds and limit in packets.

        Raises
        ------
        DomainError
            If the discipline cannot have these parameters.
        """
        if aqm == "drop-tail":
            return cls.none(limit=limit, name=name or "drop-tail")
        body = {"aqm": aqm, "min_th": float(min_th), "max_th": float(max_th), "max_p": max_p, "limit": float(limit)}
        return cls.of_queue(body, name=name or aqm)

    @classmethod
    def none(cls, *, limit: float, name: str = "drop-tail") -> DropCurve:
        """Return the curve of a queue that drops only what does not fit."""
        return cls(name, np.zeros_like, np.inf, np.inf, (), float(limit))

    @classmethod
    def of_queue(cls, parameters: Mapping[str, Any], *, name: str) -> DropCurve:
        """Return the curve of a queue from its effective parameters (`aqmlab.scenario.file.Link.parameters`)."""
        own = {key: parameters[key] for key in _CURVE_KEYS if parameters.get(key) is not None}
        body = json.dumps({"aqm": parameters.get("aqm", "red"), **own})

        def function(x: Array) -> Array:
            try:
                return np.array(_core.curve(body, x.tolist()))
            except ValueError as error:
                raise DomainError(f"{name}: {_first_problem(str(error))}") from None

        low, high = float(own["min_th"]), float(own["max_th"])
        limit = packets(own.get("limit", np.inf), own.get("mean_packet", 1000))
        # The middle is the bend of two slopes; twice max_th is the end of gentle RED's slope.
        places = {low, (low + high) / 2, high, 2 * high, *(float(point[0]) for point in own.get("points", ()))}
        if np.isfinite(limit):
            places.add(limit)
        function(np.zeros(1))
        return cls(name, function, low, high, tuple(sorted(places)), limit)

    def renamed(self, name: str) -> DropCurve:
        """Return the same curve under another name."""
        return replace(self, name=name)

    @property
    def jumps(self) -> tuple[float, ...]:
        """Averages at which p jumps: RED's max_th."""
        if not self.knots:
            return ()
        at = np.array(self.knots)
        gap = np.maximum(at, 1.0) * 1e-9
        return tuple(float(x) for x in at[np.abs(self(at + gap) - self(at - gap)) > 1e-6])

    def slope(self, x: float) -> float:
        """Return dp/dx at x per packet, from both sides; at a knot the mean of its sides."""
        gap = max(abs(x), 1.0) * 1e-6
        low, high = self([max(x - gap, 0.0), x + gap])
        return float((high - low) / (x + gap - max(x - gap, 0.0)))

    def table(self, *, top: float, points: int = 4001) -> tuple[Array, Array]:
        """Return averages from 0 to `top` and p at them, jumps kept sharp, for `numpy.interp` in a tight loop."""
        jumps = np.array([x for x in self.jumps if x < top])
        x = np.concatenate([np.linspace(0.0, top, points), jumps - 1e-9, jumps])
        x = np.unique(np.append(x, [k for k in self.knots if k < top]))
        return x, self(x)


def drop_rate(p_b: ArrayLike, spacing: str) -> Array:
    """Return the long-run share of packets dropped while the curve says p_b, by the rule that spaces drops.

    The gaps between drops are uniform on 1 .. 1/p_b packets (``floyd93``, ``ns2-nowait``, ``linux``, ``dsred``), on
    1/p_b .. 2/p_b (``ns2-wait``), or geometric (``none``); the rate is the inverse of their mean. Rounding of gaps to
    whole packets is left out.

    >>> drop_rate([0.01, 1.0], "none").tolist(), drop_rate(0.01, "ns2-wait").round(6).item()
    ([0.01, 1.0], 0.006667)
    """
    p = np.asarray(p_b, dtype=float)
    if spacing == "ns2-wait":
        return np.where(p >= 1, 1.0, p / 1.5)
    if spacing not in _SPACING_RATES:
        reject("spacing", spacing, ", ".join(["ns2-wait", *_SPACING_RATES]))
    return _SPACING_RATES[spacing](p)


def _first_problem(text: str) -> str:
    return text.splitlines()[0].removeprefix("queue:1:1: ")
