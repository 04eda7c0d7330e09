"""Runs that a store has already: they are copied to where a command keeps them, and not computed again.

A store knows runs in folders (of `run`, `compare` and `reproduce`) and in blocks (of `sweep`). A job that keeps some
tables is served by a run that kept them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from aqmlab.errors import StorageError
from aqmlab.results.keys import ALL_TABLES, RunKey
from aqmlab.results.output import Output, output_in_folder
from aqmlab.runs.jobs import Job, Simulation
from aqmlab.runs.store.index import INDEX, Index
from aqmlab.runs.store.kept import SeedFolder
from aqmlab.runs.store.store import ResultStore
from aqmlab.runs.store.stored import output_in_block


def missing(jobs: Sequence[Job], root: Path | None = None) -> list[Job]:
    """Return the jobs that must be computed.

    Parameters
    ----------
    root
        The store's folder. Of its runs those that a job wants in a folder of its own are copied there.
    """
    left = [job for job in jobs if not job.is_done()]
    if root is None or not left or not (root / INDEX).is_file():
        return left
    with ResultStore(root) as store:
        return [job for job in left if not _copied(store, job)]


def note(jobs: Iterable[Job], root: Path) -> None:
    """Note in the store which folders have the runs of these jobs, which are done."""
    found = [
        (job.key, str(job.store.path.relative_to(root)))
        for job in jobs
        if isinstance(job.store, SeedFolder) and job.store.path.is_relative_to(root)
    ]
    index = Index(root, create=True)
    try:
        index.put_folders(found)
    finally:
        index.close()


def _copied(store: ResultStore, job: Job) -> bool:
    source, target = job.source, job.store
    if not (isinstance(source, Simulation) and isinstance(target, SeedFolder)):
        return False
    for key in dict.fromkeys((job.key, replace(job.key, reducer=ALL_TABLES))):
        found = _stored(store, key, target)
        if found is not None:
            names = found.tables if source.tables is None else [one for one in source.tables if one in found.tables]
            summary = {**source.summary, "seed": key.seed, "summary": found.summary["summary"]}
            target.put(job.key, summary, {name: found.tables[name] for name in names})
            return True
    return False


def _stored(store: ResultStore, key: RunKey, target: SeedFolder) -> Output | None:
    """Return a run of the store; None if the store has none, or if its files are damaged or gone."""
    try:
        folder = store.run_folder(key)
        if folder is not None and folder != target.path:
            found = output_in_folder(folder)
            if found.summary["version"] == key.version and found.summary["seed"] == key.seed:
                return found
        if key.reducer == ALL_TABLES and store.index.has_runs([key.name]):
            return output_in_block(store, key.name)
    except (StorageError, KeyError):
        return None
    return None
