"""One self-contained HTML page for any results folder."""

from __future__ import annotations

import os
from pathlib import Path

from aqmlab import extensions
from aqmlab.errors import InputError, counted
from aqmlab.reporting import build
from aqmlab.reporting.compare import add_comparison, comparison_title
from aqmlab.reporting.framed import add_live
from aqmlab.reporting.page import Page
from aqmlab.reporting.provenance import add_provenance, compare_command, run_command
from aqmlab.reporting.run import add_run, run_finding, run_title
from aqmlab.reporting.sweep import add_sweep, sweep_finding, sweep_title, sweeps_in
from aqmlab.results import folders
from aqmlab.results.folders import guarded, make_folder, write_file
from aqmlab.results.outputs import ENDINGS
from aqmlab.results.result import Result
from aqmlab.runs import comparison
from aqmlab.runs.comparison import Comparison
from aqmlab.runs.sweeps.sweep import Study

__all__ = ["page_for", "report"]

REPRODUCTIONS = "aqmlab.reports", build.REPRODUCTION
"""Entry point of the add-on that makes pages of reproductions."""
Found = Result | Comparison | Study
"""Objects other than reproductions that a page can show."""


def report(
    folder: str | Path,
    *,
    pictures: bool = True,
    out: str | Path | None = None,
    live: bool = False,
    progress: bool = False,
) -> Path:
    """Build the HTML page of a results folder.

    Parameters
    ----------
    folder
        The output of `aqmlab run`, `compare`, `sweep` or `reproduce`, or a folder that holds several of these; if
        reproductions are among them, the page begins with the overview over those.
    pictures
        Also write every figure as PNG and SVG into ``figures/`` beside the page.
    out
        The page's file, ``.html``; default: ``report.html`` in the folder.
    live
        Also write the laboratory of the run or comparison beside the page (``report-live.html``) and show it in there:
        its parameters can be changed, with the curves of the report kept behind the new ones.
    progress
        Show a progress bar over the figures if stderr is a terminal.

    Returns
    -------
    Path
        The page.
    """
    folder = Path(folder)
    build.must_exist(folder)
    target = folder / "report.html" if out is None else page_file(Path(out), hint=" (a figure: --figure KEY)")
    if (folder / build.REPRODUCTION).exists():
        if live:
            raise InputError(f"--live: {folder} is of a reproduction (allowed: one run or comparison)")
        if out is not None:
            raise InputError(f"{folder}: is of a reproduction; its page is written there, under its own name")
        own: Path = extensions.load(*REPRODUCTIONS).page_of(folder, pictures=pictures)
        return own
    page = page_for(folder, pictures=pictures, at=target.parent)
    beside = live_page(target)
    laboratory = add_live(page, folder, beside.name) if live else ""
    if laboratory:
        make_folder(target.parent)
        guarded(target.parent, lambda: write_file(beside, laboratory.encode()))
    return page.write(target.parent, pictures=pictures, name=target.name, progress=progress)


def page_file(target: Path, *, hint: str = "") -> Path:
    """Return a file for a page; raise `InputError`, with a hint, if it cannot be one."""
    if target.suffix.lower() not in ENDINGS["html"] or target.is_dir():
        raise InputError(f"{target}: a page ends in .html{hint}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{target}: its folder cannot be made ({error.strerror})") from None
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{target}: cannot be written (permission denied)")
    return target


def live_page(page: Path) -> Path:
    """Return the file of the laboratory beside a page.

    >>> live_page(Path("results/report.html")).name
    'report-live.html'
    """
    return page.with_name(f"{page.stem}-live.html")


def page_for(folder: Path, *, pictures: bool, at: Path | None = None) -> Page:
    """Make the page of a folder with runs, comparisons or sweeps; `at` (default: that folder) is where it will be."""
    at = at or folder
    if (folder / comparison.RECORD).exists():
        return _page_of_one(Comparison.load(folder), at)
    reproductions = [entry for entry in sorted(folder.iterdir()) if (entry / build.REPRODUCTION).exists()]
    runs = [folder] if folders.finished_seeds(folder) else build.runs_below(folder)
    found: list[Found] = [
        Comparison.load(run) if (run / comparison.RECORD).exists() else Result.load(run) for run in runs
    ]
    found = [*sweeps_in(folder), *found]
    if not found and not reproductions:
        raise folders.without_runs(folder)
    if len(found) == 1 and not reproductions:
        return _page_of_one(found[0], at)
    results = [one for one in found if isinstance(one, Result)]
    if reproductions:
        page: Page = extensions.load(*REPRODUCTIONS).overview_of(reproductions, folder, pictures=pictures)
        page.folder = at if found else None  # without runs beside them, no command is on the page
    else:
        page = Page(f"Results in {folder.name}", f"{_counted(found)}. Each figure has its number of runs.", folder=at)
    if len(results) > 1:
        build.add_scenarios(page, results, folder)
    shown = [one for one in found if not isinstance(one, Result) or len(results) <= build.MANY_SCENARIOS]
    for one in shown:
        if isinstance(one, Comparison):
            add_comparison(page, one)
        elif isinstance(one, Study):
            add_sweep(page, one)
        else:
            add_run(page, one, title=_name(one, results))
    _provenance(page, shown, results)
    return page


def _page_of_one(one: Found, at: Path) -> Page:
    """Make the page of one run, comparison or sweep: its title and its lead say the answer."""
    if isinstance(one, Comparison):
        page = Page(comparison_title(one), one.answer(), folder=at)
        add_comparison(page, one, alone=True)
    elif isinstance(one, Study):
        page = Page(sweep_title(one), sweep_finding(one), folder=at)
        add_sweep(page, one, alone=True)
    else:
        page = Page(run_title(one), run_finding(one), folder=at)
        add_run(page, one, alone=True)
    _provenance(page, [one], [one] if isinstance(one, Result) else [])
    return page


def _provenance(page: Page, shown: list[Found], results: list[Result]) -> None:
    """Add how everything was made, once; sweeps say it with their tables."""
    made = []
    for one in shown:
        if isinstance(one, Comparison):
            made.append((comparison_title(one), compare_command(page, one), list(one.results.values())))
        elif isinstance(one, Result):
            made.append((_name(one, results), run_command(page, one), [one]))
    if made:
        add_provenance(page, made)


def _name(one: Result, results: list[Result]) -> str:
    """Return a scenario's name, with its hash if others have that name too."""
    alike = sum(other.name == one.name for other in results) > 1
    return f"{one.name} {one.hash[:8]}" if alike else one.name


def _counted(found: list[Found]) -> str:
    """Say how many there are of each.

    >>> _counted([])
    ''
    """
    words = []
    for kind, name in ((Study, "sweep"), (Comparison, "comparison"), (Result, "scenario")):
        count = sum(isinstance(one, kind) for one in found)
        if count:
            words.append(counted(count, name))
    return ", ".join(words)
