"""Which class of a queue with classes the flows over a link meet."""

from __future__ import annotations

from dataclasses import dataclass

from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Flow, Link
from aqmlab.theory.scenario.link_traffic import Traffic


@dataclass(frozen=True)
class Split:
    """Classes that a flow's packets are in; more than one if a marker colours them."""

    flow: Flow
    classes: tuple[str, ...]
    weight: float


def class_split(scenario: Scenario, link: Link, traffic: Traffic) -> list[Split]:
    """Return the classes of every flow that is counted; none if the queue has no classes."""
    if not link.classes:
        return []
    counts = {name: c.count / len(c.flows) for c in traffic.greedy for name in c.flows}
    counts |= {load.flow.name: 0.0 for load in traffic.loads}
    marked = {name: marker for marker in scenario.markers for name in marker["flows"]}
    found = []
    for flow in scenario.flows:
        if flow.name not in counts:
            continue
        marker = marked.get(flow.name)
        codes = [flow.dscp] if marker is None else [code for code in marker["dscp"].values() if code is not None]
        names = tuple(dict.fromkeys(_class_of(link, int(code)) for code in codes))
        found.append(Split(flow, names, counts[flow.name]))
    return found


def class_met(link: Link, split: list[Split]) -> str:
    """Return the class that carries most of the flows, the default one if several carry as many; "" without classes."""
    if not link.classes:
        return ""
    weights = {str(c["name"]): 1e-6 * bool(c["default"]) for c in link.classes}
    for part in split:
        for name in part.classes:
            weights[name] += part.weight / len(part.classes)
    return max(weights, key=lambda name: weights[name])


def _class_of(link: Link, code: int) -> str:
    """Return the class of a code point."""
    own = [c for c in link.classes if code in c["dscp"]]
    default = [c for c in link.classes if c["default"]]
    return str((own or default or list(link.classes))[0]["name"])
