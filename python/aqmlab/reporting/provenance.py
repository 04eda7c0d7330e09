"""How a result was made: version, scenario, seeds, and the commands that make it again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.errors import shell_word
from aqmlab.results import folders
from aqmlab.runs.comparison_settings import words_again
from aqmlab.scenario.plugins import PLUGINS

if TYPE_CHECKING:
    from aqmlab.reporting.page import Page
    from aqmlab.results.result import Result
    from aqmlab.runs.comparison import Comparison


def program(page: Page) -> str:
    """Return the beginning of a command: the program, with the plug-ins that are loaded, in the page's folder.

    >>> from aqmlab.reporting.page import Page
    >>> program(Page("", ""))
    'aqmlab'
    """
    names = [name for name in os.environ.get(PLUGINS, "").split(os.pathsep) if name]
    places = [_plugin_word(page, name) for name in names]
    return " ".join(["aqmlab", *(f"--plugin {place}" for place in places)])


def _plugin_word(page: Page, name: str) -> str:
    """Return the word for a plug-in: a file relative to the page's folder, or the name of a module."""
    if not name.endswith(".py"):
        return shell_word(name)
    return shell_word(str(Path(name).absolute())) if page.folder is None else page.path_to(Path(name).absolute())


def seeds_text(seeds: list[int]) -> str:
    """Write seeds as the command line takes them.

    >>> seeds_text([1, 2, 3]), seeds_text([4, 7])
    ('3', '4,7')
    """
    return str(len(seeds)) if seeds == list(range(1, len(seeds) + 1)) else ",".join(map(str, seeds))


def run_command(page: Page, result: Result, *, command: str = "run") -> str:
    """Return the command that runs a scenario again, in the page's folder; `command` is ``run`` or ``live``."""
    file, out = _scenario_file(page, result.folder), _out(page, result.folder)
    return f"{program(page)} {command} {file} --seeds {seeds_text(result.seeds)}{out}"


def compare_command(page: Page, found: Comparison) -> str:
    """Return the command that makes a comparison again, in the page's folder."""
    words = words_again(found.aqm, found.settings)
    options = " ".join(map(shell_word, [*words, "--queue", found.queue, "--seeds", seeds_text(found.seeds)]))
    return f"{program(page)} compare {_scenario_file(page, found.folder)} {options}{_out(page, found.folder)}"


def figure_command(page: Page, command: str, folder: Path | None, key: str) -> str:
    """Return the commands that make a result again and draw one of its figures, in the page's folder."""
    if folder is None:
        return command
    return f"{command} && {program(page)} report {page.path_to(folder)} --figure {key}"


def add_provenance(page: Page, made: Sequence[tuple[str, str, Sequence[Result]]]) -> None:
    """Add the section on how everything on a page was made, at its end.

    Parameters
    ----------
    page
        The page.
    made
        The page's contents: name, the command that makes it again, and its results.
    """
    page.section("Provenance")
    for name, command, results in made:
        first = results[0]
        page.text(
            f"{name}: aqmlab {first.summaries[0]['version']}, seeds {seeds_text(first.seeds)}. Command: `{command}`"
        )
        for result in results:
            aqm = _discipline(result)
            if result.scenario_text:
                page.code(result.scenario_text, fold=f"Scenario {result.name} with {aqm}, hash {result.hash}")
            readings = folders.to_json(result.summaries[0]["readings"])
            page.code(readings, fold=f"Effective parameters of every queue, with {aqm}")


def _discipline(result: Result) -> str:
    place = result.bottleneck
    return str(result.links.loc[result.links["link"] == place, "aqm"].iloc[0])


def _scenario_file(page: Page, folder: Path | None) -> str:
    """Where the scenario of a results folder lies; it has the overrides in it, so it repeats the runs by itself."""
    if folder is None:
        return "scenario.toml"
    return f"{folder.name}/scenario.toml" if page.folder is None else page.path_to(folder / "scenario.toml")


def _out(page: Page, folder: Path | None) -> str:
    """Return the option for the folder in which the results are."""
    return "" if folder is None or page.folder is None else f" --out {page.path_to(folder.parent)}"
