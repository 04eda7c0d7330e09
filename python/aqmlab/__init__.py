"""A laboratory for active queue management.

>>> import aqmlab
>>> [discipline.name for discipline in aqmlab.disciplines()][:2]
['drop-tail', 'red']
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aqmlab.errors import Error, InputError, Interrupted, Problem, ScenarioError, StorageError
    from aqmlab.interop.crosscheck.checking import cross_check, export_scenario
    from aqmlab.interop.crosscheck.outcome import CrossCheck
    from aqmlab.interop.importing import Imported, import_scenario
    from aqmlab.interop.kernel.export import export_module
    from aqmlab.interop.kernel.export_bpf import export_bpf
    from aqmlab.interop.kernel.replay import ReplayedLog, replay_decisions
    from aqmlab.lab import Lab, open_lab
    from aqmlab.papers.outcome import Overview, Reproduction
    from aqmlab.papers.reproduction import reproduce, reproduce_all
    from aqmlab.reporting import axes as axes
    from aqmlab.reporting import notebook as notebook
    from aqmlab.reporting.analysis.analyzing import analyze
    from aqmlab.reporting.analysis.outcome import Analysis
    from aqmlab.reporting.reports import report
    from aqmlab.reporting.topology import draw
    from aqmlab.results.exporting import export
    from aqmlab.results.result import Result
    from aqmlab.rfc7928.suite import Characterization, characterize
    from aqmlab.runs.comparison import Comparison, compare
    from aqmlab.runs.runner import run
    from aqmlab.runs.sweeps.sweep import Study
    from aqmlab.runs.sweeps.sweeping import sweep
    from aqmlab.scenario.file import Scenario, check
    from aqmlab.scenario.registry import Discipline, Parameter, disciplines, schema
    from aqmlab.tuning.outcome import Tuned
    from aqmlab.tuning.tuner import tune

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
    "ReplayedLog",
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
    "export_bpf",
    "export_module",
    "export_scenario",
    "import_scenario",
    "open_lab",
    "replay_decisions",
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
    "Analysis": "reporting.analysis.outcome",
    "analyze": "reporting.analysis.analyzing",
    "Characterization": "rfc7928.suite",
    "characterize": "rfc7928.suite",
    "Comparison": "runs.comparison",
    "compare": "runs.comparison",
    "CrossCheck": "interop.crosscheck.outcome",
    "cross_check": "interop.crosscheck.checking",
    "draw": "reporting.topology",
    "export_scenario": "interop.crosscheck.checking",
    "export_bpf": "interop.kernel.export_bpf",
    "export_module": "interop.kernel.export",
    "ReplayedLog": "interop.kernel.replay",
    "replay_decisions": "interop.kernel.replay",
    "Imported": "interop.importing",
    "import_scenario": "interop.importing",
    "Error": "errors",
    "InputError": "errors",
    "Interrupted": "errors",
    "Problem": "errors",
    "ScenarioError": "errors",
    "StorageError": "errors",
    "Lab": "lab",
    "open_lab": "lab",
    "Discipline": "scenario.registry",
    "Parameter": "scenario.registry",
    "disciplines": "scenario.registry",
    "schema": "scenario.registry",
    "export": "results.exporting",
    "report": "reporting.reports",
    "Overview": "papers.outcome",
    "Reproduction": "papers.outcome",
    "reproduce": "papers.reproduction",
    "reproduce_all": "papers.reproduction",
    "Result": "results.result",
    "run": "runs.runner",
    "Scenario": "scenario.file",
    "check": "scenario.file",
    "Study": "runs.sweeps.sweep",
    "sweep": "runs.sweeps.sweeping",
    "Tuned": "tuning.outcome",
    "tune": "tuning.tuner",
}

# Modules that users import as `from aqmlab import axes`.
_MODULES = {
    "axes": "reporting.axes",
    "notebook": "reporting.notebook",
    "plugins": "scenario.plugins",
    "voip": "results.voip",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - names are loaded when first used, so that starting is quick
    if name == "__version__":
        return importlib.import_module("aqmlab._core").version()
    if name in _MODULES:
        return importlib.import_module(f"aqmlab.{_MODULES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'aqmlab' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"aqmlab.{_HOME[name]}"), name)
    argument_types = importlib.import_module("aqmlab.argument_types")
    if inspect.isfunction(value):
        value = argument_types.named(value)
    elif not issubclass(value, BaseException):
        value = argument_types.with_named_methods(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
