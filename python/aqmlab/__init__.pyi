"""Public names of aqmlab, each with its module."""

from .errors import Error as Error
from .errors import InputError as InputError
from .errors import Interrupted as Interrupted
from .errors import Problem as Problem
from .errors import ScenarioError as ScenarioError
from .errors import StorageError as StorageError
from .interop.crosscheck.checking import cross_check as cross_check
from .interop.crosscheck.checking import export_scenario as export_scenario
from .interop.crosscheck.outcome import CrossCheck as CrossCheck
from .interop.importing import Imported as Imported
from .interop.importing import import_scenario as import_scenario
from .interop.kernel.export import export_module as export_module
from .interop.kernel.export_bpf import export_bpf as export_bpf
from .interop.kernel.replay import ReplayedLog as ReplayedLog
from .interop.kernel.replay import replay_decisions as replay_decisions
from .lab import Lab as Lab
from .lab import open_lab as open_lab
from .papers.outcome import Overview as Overview
from .papers.outcome import Reproduction as Reproduction
from .papers.reproduction import reproduce as reproduce
from .papers.reproduction import reproduce_all as reproduce_all
from .reporting.analysis.analyzing import analyze as analyze
from .reporting.analysis.outcome import Analysis as Analysis
from .reporting.topology import draw as draw
from .reports import report as report
from .results import voip as voip
from .results.exporting import export as export
from .results.result import Result as Result
from .rfc7928.suite import Characterization as Characterization
from .rfc7928.suite import characterize as characterize
from .runs.comparison import Comparison as Comparison
from .runs.comparison import compare as compare
from .runs.runner import run as run
from .runs.sweeps.sweep import Study as Study
from .runs.sweeps.sweeping import sweep as sweep
from .scenario import plugins as plugins
from .scenario.file import Scenario as Scenario
from .scenario.file import check as check
from .scenario.registry import Discipline as Discipline
from .scenario.registry import Parameter as Parameter
from .scenario.registry import disciplines as disciplines
from .scenario.registry import schema as schema
from .tuning.outcome import Tuned as Tuned
from .tuning.tuner import tune as tune

__version__: str
