"""A scenario in several programs: their scripts, their runs beside ours, and where they agree."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError
from aqmlab.input_files import read_bytes
from aqmlab.interop.crosscheck.agreement import Line, agreement
from aqmlab.interop.crosscheck.ours import ours
from aqmlab.interop.crosscheck.outcome import CrossCheck, Side
from aqmlab.interop.crosscheck.running import run_seeds, write_files
from aqmlab.interop.crosscheck.tool import Measured, Tool
from aqmlab.interop.crosscheck.tools import tools
from aqmlab.interop.differences import Semantic, inexpressible
from aqmlab.interop.model import Model
from aqmlab.results.outputs import save_output
from aqmlab.runs.arguments import Seeds, as_scenario, seed_list
from aqmlab.runs.runner import run
from aqmlab.scenario.file import LONGEST_TEXT, Overrides, Scenario

SEEDS = 10
FOLDER = "crosscheck"
"""Folder of the tools, in that of the scenario's results."""
WRITTEN = b"written by aqmlab"
"""In the head of every script: only such files are replaced in a folder."""


def cross_check(
    scenario: str | Path | Scenario,
    *,
    programs: str | Iterable[str] = ("ns2", "ns3", "tc"),
    seeds: Seeds = None,
    overrides: Overrides = (),
    margin: float = 1.0,
    workers: int | None = None,
    out: str | Path = "results",
    report: str | Path | None = None,
    progress: bool = True,
) -> CrossCheck:
    """Run a scenario here and in other programs, and compare the measurements.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    programs
        Names of programs: ``ns2``, ``ns3``, ``tc``, as a list or with commas.
    seeds
        A number n for the seeds 1 to n, or the seeds themselves; default: 10.
    overrides
        Dotted keys and values that override the file's.
    margin
        Factor of the margins of equality (`aqmlab.interop.crosscheck.agreement` has them).
    workers
        Runs at a time; default: one per processor core.
    out
        Folder for the results; scripts and measurements of the others go below the scenario's folder in it. What is
        there already is not run again.
    report
        Folder for the page ``report.html``; None makes none.
    progress
        Show a progress bar if stderr is a terminal.

    Raises
    ------
    ScenarioError, InputError, ToolError, StorageError, Interrupted
        With a message of one line.
    """
    if not margin > 0:
        raise InputError(f"margin: {margin:g} is not a factor above 0")
    plan = as_scenario(scenario, overrides=overrides)
    model = Model.of(plan)
    chosen = tools(programs)
    wanted = seed_list(SEEDS if seeds is None else seeds, plan)
    if model.deterministic:
        wanted = wanted[:1]
    result = run(plan, seeds=wanted, workers=workers, out=out, progress=progress)
    measured = ours(model, result)
    folder = Path(out) / plan.label
    sides = [
        _side(one, model, measured, wanted, folder / FOLDER / one.name, margin, workers, progress) for one in chosen
    ]
    found = CrossCheck(model, wanted, margin, dict(measured), tuple(sides), folder / FOLDER)
    if report is not None:
        from aqmlab.interop.crosscheck.page import page_of

        page_of(found).write(Path(report), pictures=False)
    return found


def export_scenario(
    scenario: str | Path | Scenario, *, to: str, out: str | Path | None = None, overrides: Overrides = ()
) -> tuple[list[Path], list[Semantic]]:
    """Write a scenario for another program.

    Parameters
    ----------
    scenario
        A scenario file, or a scenario already loaded.
    to
        ``ns2``, ``ns3`` or ``tc``.
    out
        The script's file, or a folder for all files; default: the current folder.
    overrides
        Dotted keys and values that override the file's.

    Returns
    -------
    tuple
        The files, the script first, and the features that the program lacks or implements differently.

    Raises
    ------
    InputError
        If the program cannot express the scenario, or a folder has a file of the same name that aqmlab did not write.
    """
    (tool,) = tools([to])
    model = Model.of(as_scenario(scenario, overrides=overrides))
    differences = tool.differences(model)
    if lacking := inexpressible(differences):
        raise InputError(f"{model.scenario.filename}: {tool.title} cannot express it: {_listed(lacking)}")
    files = tool.files(model)
    target = Path.cwd() if out is None else Path(out)
    if target.suffix and not target.is_dir():
        if len(files) > 1:
            raise InputError(f"--out {target}: {tool.title} needs {len(files)} files; give a folder")
        save_output(target, next(iter(files.values())))
        return [target], differences
    if foreign := next((name for name in files if _is_foreign(target / name)), None):
        raise InputError(f"{target / foreign}: is there already, and not written by aqmlab (another name: --out FILE)")
    return write_files(files, target), differences


def _is_foreign(path: Path) -> bool:
    """Whether something stands in place of a script that is not an earlier export."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        return True
    return path.is_file() and WRITTEN not in read_bytes(path, longest=LONGEST_TEXT)


def _side(
    tool: Tool,
    model: Model,
    measured: dict[int, dict[Any, float]],
    seeds: list[int],
    folder: Path,
    margin: float,
    workers: int | None,
    progress: bool,
) -> Side:
    differences = tool.differences(model)
    lacking = inexpressible(differences)
    files = tool.files(model)
    write_files(files, folder)
    why_not = f"it cannot express the scenario: {_listed(lacking)}" if lacking else tool.missing()
    theirs: dict[int, Measured] = {}
    lines: list[Line] = []
    if not why_not:
        theirs = run_seeds(tool, model, seeds, folder, workers=workers, progress=progress)
        lines = agreement(measured, theirs, certain=model.deterministic, margin=margin)
    return Side(
        tool.name, tool.title, tool.version(), tuple(differences), why_not, folder, tuple(files), theirs, tuple(lines)
    )


def _listed(differences: Iterable[Semantic]) -> str:
    return " ".join(one.text for one in differences)
