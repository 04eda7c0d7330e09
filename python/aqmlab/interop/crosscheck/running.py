"""Runs of a tool, seed by seed, each kept in the store as soon as it is done.

The key of a run has the hash of the tool's files, its version and the seed. A second call for the same run reads the
store.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from aqmlab.interop.crosscheck.tool import Key, Measure, Measured, Tool, end_programs
from aqmlab.interop.model import Model
from aqmlab.results.folders import guarded, make_folder, write_file
from aqmlab.results.keys import RunKey, question
from aqmlab.runs.executors import available_cores
from aqmlab.runs.jobs import Call, Job, missing
from aqmlab.runs.scheduler import Workers
from aqmlab.runs.store.index import store_root
from aqmlab.runs.store.store import ResultStore

K = TypeVar("K", bound=Hashable)
REDUCER = "crosscheck"
"""The stable name, for keys of runs, of the kept answers: measurements of `aqmlab.interop.crosscheck.tool.Measure`."""


def write_files(files: Mapping[str, str], folder: Path) -> list[Path]:
    """Write a tool's files into a folder; existing files with the same text are not written again."""
    make_folder(folder)
    paths = []
    for name, text in files.items():
        path = folder / name
        make_folder(path.parent)
        if not path.is_file() or guarded(path, path.read_bytes) != text.encode():
            guarded(path, lambda path=path, text=text: write_file(path, text.encode()))  # type: ignore[misc]
        paths.append(path)
    return paths


def run_seeds(
    tool: Tool,
    model: Model,
    seeds: Sequence[int],
    folder: Path,
    *,
    workers: int | None = None,
    progress: bool = True,
) -> dict[int, Measured]:
    """Run a tool for all seeds that are not in the folder yet.

    Raises
    ------
    Interrupted
        On Ctrl-C; finished runs are kept.
    ToolError
        If a run fails.
    """
    files = tool.files(model)
    write_files(files, folder)
    answers = ResultStore(store_root(folder), create=True)
    version = f"{tool.name} {tool.version()}"
    keys = {seed: RunKey(version, question({"files": files}), seed, REDUCER) for seed in seeds}
    if all(answers.has(key) for key in keys.values()):
        return {seed: _read(answers, key) for seed, key in keys.items()}
    tool.prepare(model, folder)
    count = workers or available_cores() if tool.parallel else 1
    answer_all(
        keys,
        lambda seed: _plain(tool.run(model, folder, seed)),
        answers,
        title=f"{model.name}, {tool.title}",
        runs=f"runs of {tool.title}",
        workers=count,
        progress=progress,
    )
    return {seed: _read(answers, key) for seed, key in keys.items()}


def answer_all(
    keys: Mapping[K, RunKey],
    run: Callable[[K], Mapping[str, Any]],
    answers: ResultStore,
    *,
    title: str,
    runs: str,
    workers: int | None = None,
    progress: bool = True,
) -> None:
    """Do all runs that have no answer yet, several at a time, and keep each answer as soon as it is there.

    Parameters
    ----------
    keys
        The runs, with the keys of their answers.
    run
        Does a run and returns its answer, plain data; called in threads.
    answers
        Where answers are kept.
    title, runs
        Title of the progress bar, and the name of the runs in the message about an interruption.
    workers
        Runs at a time; default: one per processor core.

    Raises
    ------
    Interrupted
        On Ctrl-C; finished runs are kept.
    """
    jobs = [
        Job(key, Call(partial(run, one), by_chance=False, in_python=False), answers, place=answers.place)
        for one, key in keys.items()
    ]
    with Workers(workers, progress=progress, noun=runs, stop=end_programs) as own:
        own.execute(missing(jobs), title=title)


def _plain(measured: Measured) -> dict[str, list[list[str | float]]]:
    return {"measured": plain_measured(measured)}


def _read(answers: ResultStore, key: RunKey) -> dict[Key, float]:
    return measured_of(answers.get(key)["measured"])


def plain_measured(measured: Measured) -> list[list[str | float]]:
    """Return measurements as plain data."""
    return [[str(measure), place, value] for (measure, place), value in measured.items()]


def measured_of(data: Iterable[Sequence[Any]]) -> dict[Key, float]:
    """Read measurements that are plain data."""
    return {(Measure(name), str(place)): float(value) for name, place, value in data}
