"""Theory of queue disciplines: queueing, fluid and control models over any drop curve.

Names are loaded when first used, so that a command that analyses nothing stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aqmlab.theory.control.conditions import Condition, condition_5, condition_6, hollot_condition
    from aqmlab.theory.control.linearization import linearize
    from aqmlab.theory.control.loop import Branch, Loop, pc_red_loop, red_loop
    from aqmlab.theory.control.margins import Margins
    from aqmlab.theory.control.stability import Region, StabilityMap, stability_map, stability_maps
    from aqmlab.theory.domain import DomainError
    from aqmlab.theory.drop_curve import DropCurve
    from aqmlab.theory.fluid.model import FluidModel
    from aqmlab.theory.fluid.operating_point import OperatingPoint
    from aqmlab.theory.fluid.parts import Bottleneck, FlowClass
    from aqmlab.theory.fluid.trajectory import Trajectory
    from aqmlab.theory.queueing.averaged_chain import AveragedChain, solve_averaged_chain
    from aqmlab.theory.queueing.best_curve import Outcome, best_map, candidates, outcome
    from aqmlab.theory.queueing.chain import Chain, solve_chain
    from aqmlab.theory.queueing.frontier import best_settings, least_loss
    from aqmlab.theory.queueing.mm1k import MM1K
    from aqmlab.theory.queueing.runs import Runs, consecutive_drops

__all__ = [
    "MM1K",
    "AveragedChain",
    "Bottleneck",
    "Branch",
    "Chain",
    "Condition",
    "DomainError",
    "DropCurve",
    "FlowClass",
    "FluidModel",
    "Loop",
    "Margins",
    "OperatingPoint",
    "Outcome",
    "Region",
    "Runs",
    "StabilityMap",
    "Trajectory",
    "best_map",
    "best_settings",
    "candidates",
    "condition_5",
    "condition_6",
    "consecutive_drops",
    "hollot_condition",
    "least_loss",
    "linearize",
    "outcome",
    "pc_red_loop",
    "red_loop",
    "solve_averaged_chain",
    "solve_chain",
    "stability_map",
    "stability_maps",
]

_HOME = {
    "AveragedChain": "queueing.averaged_chain",
    "Bottleneck": "fluid.parts",
    "Branch": "control.loop",
    "Chain": "queueing.chain",
    "Condition": "control.conditions",
    "DomainError": "domain",
    "DropCurve": "drop_curve",
    "FlowClass": "fluid.parts",
    "FluidModel": "fluid.model",
    "Loop": "control.loop",
    "MM1K": "queueing.mm1k",
    "Margins": "control.margins",
    "OperatingPoint": "fluid.operating_point",
    "Outcome": "queueing.best_curve",
    "Region": "control.stability",
    "Runs": "queueing.runs",
    "StabilityMap": "control.stability",
    "Trajectory": "fluid.trajectory",
    "best_map": "queueing.best_curve",
    "best_settings": "queueing.frontier",
    "candidates": "queueing.best_curve",
    "condition_5": "control.conditions",
    "condition_6": "control.conditions",
    "consecutive_drops": "queueing.runs",
    "hollot_condition": "control.conditions",
    "least_loss": "queueing.frontier",
    "linearize": "control.linearization",
    "outcome": "queueing.best_curve",
    "pc_red_loop": "control.loop",
    "red_loop": "control.loop",
    "solve_averaged_chain": "queueing.averaged_chain",
    "solve_chain": "queueing.chain",
    "stability_map": "control.stability",
    "stability_maps": "control.stability",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - see above
    if name not in _HOME:
        raise AttributeError(f"module 'aqmlab.theory' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"aqmlab.theory.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
