"""Which programs there are to compare with: a module each, which has the tool as ``TOOL``."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from aqmlab.errors import InputError
from aqmlab.interop.crosscheck.tool import Tool
from aqmlab.scenario.file import unknown

HOME = {name: f"aqmlab.interop.{name}.tool" for name in ("ns2", "ns3", "tc")}


def tool(name: str) -> Tool:
    """Return the tool of a name."""
    if name not in HOME:
        raise InputError(unknown("tool", name, list(HOME)))
    found: Tool = importlib.import_module(HOME[name]).TOOL
    return found


def tools(names: str | Iterable[str]) -> list[Tool]:
    """Return the tools of some names, or of a list with commas, each once.

    >>> tools("ns-2")
    Traceback (most recent call last):
    aqmlab.errors.InputError: unknown tool "ns-2" (allowed: ns2, ns3, tc; did you mean ns2?)
    """
    words = names.split(",") if isinstance(names, str) else names
    wanted = list(dict.fromkeys(word.strip() for word in words if word.strip()))
    if not wanted:
        raise InputError(f"no program is given (allowed: {', '.join(HOME)})")
    return [tool(name) for name in wanted]
