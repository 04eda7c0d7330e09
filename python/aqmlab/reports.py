"""One self-contained HTML page for any results folder."""

from __future__ import annotations

from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.execution import comparison
from aqmlab.execution.comparison import Comparison
from aqmlab.reporting import build
from aqmlab.reporting.page import Page
from aqmlab.reproduction.reproduction import overview_of, page_of
from aqmlab.results.result import Result
from aqmlab.storage import folders

__all__ = ["page_for", "report"]


def report(folder: str | Path, *, pictures: bool = True, out: str | Path | None = None, progress: bool = False) -> Path:
    """Build the HTML page of a results folder.

    Parameters
    ----------
    folder
        What `aqmlab run`, `compare` or `reproduce` wrote, or a folder that holds several of these; if reproductions
        are among them, the page begins with the overview over those.
    pictures
        Also write every figure as PNG and SVG into ``figures/`` beside the page.
    out
        The page's file, ``.html``; default: ``report.html`` in the folder.
    progress
        Show a progress bar over the figures if stderr is a terminal.

    Returns
    -------
    Path
        The page.
    """
    folder = Path(folder)
    build.must_exist(folder)
    target = folder / "report.html" if out is None else Path(out)
    if target.suffix != ".html" or (out is not None and target.is_dir()):
        raise InputError(f"{target}: a page ends in .html (a figure: --figure KEY)")
    if (folder / build.REPRODUCTION).exists():
        if out is not None:
            raise InputError(f"{folder}: is of a reproduction; its page is written there, under its own name")
        return page_of(folder, pictures=pictures)
    page = page_for(folder, pictures=pictures)
    return page.write(target.parent, pictures=pictures, name=target.name, progress=progress)


def page_for(folder: Path, *, pictures: bool) -> Page:
    """Make the page of a folder with runs, comparisons or both, not yet written."""
    if (folder / comparison.RECORD).exists():
        page = Page(f"{folder.name}", "Disciplines side by side on the same traffic.")
        build.add_comparison(page, Comparison.load(folder))
        return page
    reproductions = [entry for entry in sorted(folder.iterdir()) if (entry / build.REPRODUCTION).exists()]
    runs = [folder] if folders.finished_seeds(folder) else build.runs_below(folder)
    if not runs and not reproductions:
        raise InputError(f"{folder}: holds no finished run")
    if reproductions:
        page = overview_of(reproductions, folder, pictures=pictures)
    else:
        page = Page(
            folder.name,
            f"{len(runs)} scenario{'s' if len(runs) > 1 else ''}, each figure with its n and, if it has one, interval.",
        )
    found = [Comparison.load(run) if (run / comparison.RECORD).exists() else Result.load(run) for run in runs]
    results = [one for one in found if isinstance(one, Result)]
    if len(results) > 1:
        build.add_scenarios(page, results, folder)
    for one in found:
        if isinstance(one, Comparison):
            build.add_comparison(page, one)
        elif len(results) <= build.MANY_SCENARIOS:
            alike = sum(other.name == one.name for other in results) > 1
            build.add_run(page, one, title=f"{one.name} {one.hash[:8]}" if alike else "")
    return page
