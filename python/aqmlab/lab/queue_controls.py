"""Controls of a queue: its discipline, its curve and its parameters, as the core's registry describes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from aqmlab.lab.control import Control
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.registry import Discipline, Parameter, discipline, disciplines
from aqmlab.scenario.toml_text import inline

GROUP = "Queue"
FIRST = ("min_th", "max_th", "max_p", "w_q", "limit")
"""Parameters that the page always shows; the other parameters of a discipline are folded."""
LABELS = {"min_th": "min_th", "max_th": "max_th", "max_p": "max_p", "w_q": "w_q", "limit": "Buffer"}
NO_OTHER = "nothing"
"""Compare with nothing."""


def exchanged(plan: Scenario, queue: str, aqm: str) -> tuple[tuple[str, str], ...]:
    """Return the overrides that put another discipline into a queue; what it knows of the other parameters stays.

    As `aqmlab.compare` does it: the curve of the file is that of its discipline, and goes with it.
    """
    table = plan.queue_table(queue)
    if aqm == table.get("aqm", "drop-tail"):
        return ()
    known = {parameter.key for parameter in discipline(aqm).parameters} - {"curve"}
    if table.keys() - {"aqm"} <= known:
        return ((f"queue.{queue}.aqm", aqm),)
    kept = {key: value for key, value in table.items() if key in known}
    return ((f"queue.{queue}", inline({"aqm": aqm, **kept})),)


def discipline_controls(aqm: str) -> Iterator[Control]:
    """Return the lists of disciplines."""
    names = tuple(entry.name for entry in disciplines())
    doc = "; ".join(part for part in (discipline(aqm).doc, discipline(aqm).paper) if part)
    yield Control("aqm", "Discipline", GROUP, "choice", aqm, choices=names, doc=doc)
    others = (NO_OTHER, *names)
    yield Control("beside", "Compare with", GROUP, "choice", NO_OTHER, choices=others, doc="same traffic, same seed")


def queue_controls(plan: Scenario, link: str) -> Iterator[Control]:
    """Return the controls of the parameters that the discipline at a link has in this scenario."""
    found = plan.link(link)
    known = discipline(found.aqm)
    own = {parameter.key: parameter for parameter in known.own_parameters}
    prefix = f"queue.{found.queue}"
    curve = found.parameters.get("curve")
    if curve is not None:
        words = tuple(word for word in own["curve"].choices if word != "points" or curve == word)
        yield Control(f"{prefix}.curve", "Curve", GROUP, "choice", curve, (f"{prefix}.curve",), choices=words)
    for one in found.classes:
        inside = f"{prefix}.class.{one['name']}"
        yield from _numbers(inside, one, own, _shared(known), group=f"Class {one['name']}", chosen=FIRST)
    yield from _numbers(prefix, found.parameters, own, own, group=GROUP, chosen=FIRST)
    if "ecn" in found.parameters:
        yield _ecn(plan, prefix, found.parameters)
    others = tuple(key for key in own if key not in FIRST)
    yield from _numbers(prefix, found.parameters, own, own, group=f"More of {found.aqm}", chosen=others)


def _shared(known: Discipline) -> Mapping[str, Parameter]:
    """Parameters of a class have the ranges of RED's."""
    return {p.key: p for p in (*discipline("red").parameters, *known.parameters)}


def _numbers(
    prefix: str,
    values: Mapping[str, Any],
    own: Mapping[str, Parameter],
    ranges: Mapping[str, Parameter],
    *,
    group: str,
    chosen: tuple[str, ...],
) -> Iterator[Control]:
    """Return a slider for each of the parameters that is a number here."""
    for key in chosen:
        value, parameter = values.get(key), ranges.get(key)
        if parameter is None or parameter.unit not in ("packets", "s", "B", "1"):
            continue
        suffix = {"packets": "p", "s": "s", "B": "B", "1": ""}[parameter.unit]
        unit = {"packets": "packets", "s": "s", "B": "bytes", "1": ""}[parameter.unit]
        if isinstance(value, str) and value.endswith("B"):  # in bytes, whatever the unit of the parameter
            value, suffix, unit = float(value.removesuffix("B")), "B", "bytes"
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        low, high, log = _ends(parameter, float(value))
        yield Control(
            key=f"{prefix}.{key}",
            label=LABELS.get(key, key),
            group=group,
            kind="number",
            value=float(value),
            targets=(f"{prefix}.{key}",),
            low=low,
            high=high,
            least=parameter.low if parameter.low is not None else 0.0,
            most=min(parameter.high if parameter.high is not None else 1e6, 1e9) if unit != "bytes" else 1e9,
            log=log,
            step=1.0 if key in ("limit", "list_size", "last_n") else 0.0,
            unit=unit,
            suffix=suffix,
            below=f"{prefix}.max_th" if key == "min_th" else "",
            doc="; ".join(part for part in (parameter.doc, parameter.source) if part),
        )


def _ends(parameter: Parameter, value: float) -> tuple[float, float, bool]:
    """Return the ends of the slider, and whether it is logarithmic."""
    if parameter.key in ("min_th", "max_th"):
        return 1.0, max(100.0, 3 * value), False
    if parameter.key == "w_q":
        return 1e-5, 1.0, True
    if parameter.key == "max_p":
        return 1e-3, 1.0, True
    if parameter.key == "limit":
        return 2.0, max(1000.0, 5 * value), True
    if parameter.low is not None and parameter.high is not None and parameter.high <= 1:
        return (min(1e-6, value) or 1e-6, 1.0, True) if 0 < value < 0.01 else (parameter.low, parameter.high, False)
    low = max(value / 20, parameter.low or 0.0) if value else parameter.low or 0.0
    return low, max(20 * value, low + 1), low > 0


def _ecn(plan: Scenario, prefix: str, parameters: Mapping[str, Any]) -> Control:
    """Marking takes both sides: the queue and the ends of the TCP flows."""
    groups = dict.fromkeys(flow.group for flow in plan.flows if flow.transport != "udp")
    ends = [flow.parameters.get("ecn") for flow in plan.flows if flow.transport != "udp"]
    targets = (f"{prefix}.ecn", *(f"flow.{group}.tcp.ecn" for group in groups))
    value = bool(parameters["ecn"]) and all(ends)
    return Control(
        f"{prefix}.ecn", "ECN", GROUP, "switch", value, targets, doc="queue marks, TCP flows react; RFC 3168"
    )
