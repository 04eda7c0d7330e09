"""Numbers, names and distributions in the words of ns-3: all attributes are given as text, as on its command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aqmlab.interop.escaping import c_string
from aqmlab.interop.formatting import number

WIDTH = 112


def seconds(value: float) -> str:
    """Write a time.

    >>> seconds(0.0101), seconds(2)
    ('10.1ms', '2000ms')
    """
    return f"{float(value) * 1e3:.12g}ms"


def read_seconds(text: str) -> float:
    """Read a time.

    >>> read_seconds("10.1ms"), read_seconds("1000000s")
    (0.0101, 1000000.0)
    """
    return float(f"{float(text[:-2]) * 1e-3:.15g}") if text.endswith("ms") else float(text.removesuffix("s"))


def rate(bps: float) -> str:
    """Write a rate.

    >>> rate(1e7)
    '10000000bps'
    """
    return f"{round(bps)}bps"


def distribution(value: Any) -> str:  # noqa: ANN401 - a number, or a distribution in the form of the core
    """Write a number or a distribution as one of ns-3's random variables.

    >>> distribution(5), distribution({"uniform": [1, 2], "unit": "s"})
    ('ns3::ConstantRandomVariable[Constant=5]', 'ns3::UniformRandomVariable[Min=1|Max=2]')
    >>> distribution({"pareto": {"mean": 3, "shape": 1.5}})
    'ns3::ParetoRandomVariable[Scale=1|Shape=1.5]'
    """
    if not isinstance(value, dict):
        return f"ns3::ConstantRandomVariable[Constant={number(value)}]"
    if "uniform" in value:
        low, high = value["uniform"]
        return f"ns3::UniformRandomVariable[Min={number(low)}|Max={number(high)}]"
    if "pareto" in value:
        mean, shape = float(value["pareto"]["mean"]), float(value["pareto"]["shape"])
        return f"ns3::ParetoRandomVariable[Scale={number(mean * (shape - 1) / shape)}|Shape={number(shape)}]"
    return f"ns3::ExponentialRandomVariable[Mean={number(value['exponential'])}]"


def attributes(own: Mapping[str, str], *, indent: str) -> str:
    """Write attributes as pairs of a literal list.

    >>> print(attributes({"MinTh": "5", "MaxTh": "15"}, indent="    "))
        {"MinTh", "5"}, {"MaxTh", "15"}
    """
    return wrapped((f"{{{c_string(name)}, {c_string(value)}}}" for name, value in own.items()), indent=indent)


def wrapped(items: Iterable[str], *, indent: str) -> str:
    """Write items with commas between them, in lines."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= WIDTH:
            lines[-1] += f", {item}"
        else:
            if lines:
                lines[-1] += ","
            lines.append(f"{indent}{item}")
    return "\n".join(lines)
