"""The reference of the Python interface, out of the docstrings: the package's names, and packages below it."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path

import aqmlab
from builder.page import Page, slug

ROOT = Path(aqmlab.__file__).parent
FOLDER = "reference/python"
PRIVATE = ("aqmlab.papers", "aqmlab.cli")
"""Packages that are no interface: reproductions are run by `aqmlab.reproduce`, commands from the shell."""
MODULES = (
    "aqmlab.reporting.axes",
    "aqmlab.figures",
    "aqmlab.reporting.reports",
    "aqmlab.figures.chart",
    "aqmlab.reporting.charts",
    "aqmlab.scenario.plugins",
    "aqmlab.results.quantities",
    "aqmlab.reporting.plots",
)
"""Single modules beside the packages."""


def pages() -> list[Page]:
    """Make a page for the package and one for each part of it."""
    made = [Page(f"{FOLDER}/index.md", "aqmlab", _of_package())]
    for name in [*packages(), *MODULES]:
        made.append(Page(f"{FOLDER}/{slug(name.removeprefix('aqmlab.'))}.md", name, _of_part(name)))
    return made


def packages() -> list[str]:
    """Return the packages below `aqmlab` that list their public names, in a stub or in ``__all__``."""
    found = {".".join(("aqmlab", *path.parent.relative_to(ROOT).parts)): path for path in ROOT.rglob("__init__.py")}
    return sorted(
        name for name, path in found.items() if name != "aqmlab" and not name.startswith(PRIVATE) and _offers(path)
    )


def _offers(path: Path) -> list[str]:
    stub = path.with_suffix(".pyi")
    if stub.is_file():
        body = ast.parse(stub.read_text(encoding="utf-8")).body
        imports = [one for one in body if isinstance(one, ast.ImportFrom) and one.module]
        return [alias.name for one in imports for alias in one.names]
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "__all__":
            return list(ast.literal_eval(statement.value))
    return []


def _of_package() -> str:
    words = [
        "# aqmlab",
        "What `import aqmlab` offers. Most commands of the shell are functions here, with the same name and words.",
    ]
    parts = [_part(_home("aqmlab", name), f"aqmlab.{name}") for name in _public()]
    return "\n\n".join([*words, *parts])


def _part(where: str, name: str) -> str:
    """Return what stands for the documentation of one thing, under its public name."""
    return f"::: {where}\n    options:\n      heading: {name}\n      toc_label: {name.rpartition('.')[2]}"


@cache
def _names() -> list[str]:
    """Return where the names of the package are defined."""
    return [_home("aqmlab", name) for name in _public()]


def _public() -> list[str]:
    """Return the functions of the package, then its classes."""
    return _functions_first("aqmlab", [name for name in dir(aqmlab) if callable(getattr(aqmlab, name))])


def _functions_first(module: str, names: list[str]) -> list[str]:
    """Sort public names: functions, then types, each by the alphabet."""
    home = importlib.import_module(module)
    return sorted(names, key=lambda name: (isinstance(getattr(home, name), type), name.lower()))


def _home(module: str, name: str) -> str:
    thing = getattr(importlib.import_module(module), name)
    return f"{getattr(thing, '__module__', module)}.{getattr(thing, '__qualname__', name)}"


def _of_part(name: str) -> str:
    path = ROOT.joinpath(*name.split(".")[1:], "__init__.py")
    offered = [one for one in _offers(path) if _home(name, one) not in _names()] if path.is_file() else []
    lines = [f"::: {name}", "    options:", "      show_root_heading: true", "      heading_level: 1"]
    if offered:
        lines += ["      members:", *(f"        - {one}" for one in _functions_first(name, offered))]
    return "\n".join(lines)
