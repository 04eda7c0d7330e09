"""A laboratory for active queue management.

>>> import aqmlab
>>> [discipline.name for discipline in aqmlab.disciplines()][:2]
['drop-tail', 'red']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aqmlab.analysis.scenario.analysis import Analysis, analyze
    from aqmlab.comparison import Comparison, compare
    from aqmlab.crosscheck.checking import CrossCheck, cross_check, export_scenario
    from aqmlab.drawing import draw
    from aqmlab.errors import Error, InputError, Interrupted, Problem, ScenarioError, StorageError
    from aqmlab.exporting import export
    from aqmlab.importing import Imported, import_scenario
    from aqmlab.lab import Lab, open_lab
    from aqmlab.registry import Discipline, Parameter, disciplines, schema
    from aqmlab.reporting import report
    from aqmlab.reproduction import Overview, Reproduction, reproduce, reproduce_all
    from aqmlab.result import Result
    from aqmlab.rfc7928.suite import Characterization, characterize
    from aqmlab.runner import run
    from aqmlab.scenario import Scenario, check
    from aqmlab.study.study import Study
    from aqmlab.study.sweeping import sweep
    from aqmlab.tuning.outcome import Tuned
    from aqmlab.tuning.study import tune

__all__ = [
    "Analysis",
    "Characterization",
    "Comparison",
    "CrossCheck",
    "Discipline",
    "Error",
    "Imported",
    "InputError",
    "Interrupted",
    "Lab",
    "Overview",
    "Parameter",
    "Problem",
    "Reproduction",
    "Result",
    "Scenario",
    "ScenarioError",
    "StorageError",
    "Study",
    "Tuned",
    "__version__",
    "analyze",
    "characterize",
    "check",
    "compare",
    "cross_check",
    "disciplines",
    "draw",
    "export",
    "export_scenario",
    "import_scenario",
    "open_lab",
    "report",
    "reproduce",
    "reproduce_all",
    "run",
    "schema",
    "sweep",
    "tune",
]

# No module bears the name of a function: importing `aqmlab.run` as a module would hide the function `run`.
_HOME = {
    "Analysis": "analysis.scenario.analysis",
    "analyze": "analysis.scenario.analysis",
    "Characterization": "rfc7928.suite",
    "characterize": "rfc7928.suite",
    "Comparison": "comparison",
    "compare": "comparison",
    "CrossCheck": "crosscheck.checking",
    "cross_check": "crosscheck.checking",
    "draw": "drawing",
    "export_scenario": "crosscheck.checking",
    "Imported": "importing",
    "import_scenario": "importing",
    "Error": "errors",
    "InputError": "errors",
    "Interrupted": "errors",
    "Problem": "errors",
    "ScenarioError": "errors",
    "StorageError": "errors",
    "Lab": "lab",
    "open_lab": "lab",
    "Discipline": "registry",
    "Parameter": "registry",
    "disciplines": "registry",
    "schema": "registry",
    "export": "exporting",
    "report": "reporting",
    "Overview": "reproduction",
    "Reproduction": "reproduction",
    "reproduce": "reproduction",
    "reproduce_all": "reproduction",
    "Result": "result",
    "run": "runner",
    "Scenario": "scenario",
    "check": "scenario",
    "Study": "study.study",
    "sweep": "study.sweeping",
    "Tuned": "tuning.outcome",
    "tune": "tuning.study",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - names are loaded when first used, so that starting is quick
    if name == "__version__":
        return importlib.import_module("aqmlab._core").version()
    if name not in _HOME:
        raise AttributeError(f"module 'aqmlab' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"aqmlab.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
