"""Add-ons of the core: packages that register objects as entry points.

The core imports no add-on; it loads the entry points of a group by name. Other distributions can register add-ons too.

| group | name of an entry | object |
|---|---|---|
| ``aqmlab.commands`` | command | module that puts it into the application by `aqmlab.cli.application.command` |
| ``aqmlab.scenarios`` | ``paper`` for files named ``paper:FILE`` | function from FILE to the text of the scenario |
| ``aqmlab.reports`` | record in a folder of results | module with ``page_of`` and ``overview_of`` |
| ``aqmlab.dialects`` | add-on | function from a scenario and a link's name to a list of `Dialect` |
| ``aqmlab.routers`` | operating system | module with ``recommend``, ``LAYERS`` and ``uplink_page`` |
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from aqmlab.errors import Error


@cache  # the metadata of all installed distributions are read: about 10 ms
def _entries(group: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=group)}


def names(group: str) -> list[str]:
    """Return the names that add-ons have registered in a group."""
    return list(_entries(group))


def load(group: str, name: str) -> Any:  # noqa: ANN401 - the table above has the type of each group
    """Import the object that an add-on has registered.

    Raises
    ------
    Error
        If there is none of this name, or it cannot be imported.
    """
    entry = _entries(group).get(name)
    if entry is None:
        raise Error(f"{name}: its add-on is not installed: no entry point in {group} (reinstall aqmlab)")
    try:
        return entry.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise Error(f"{name}: the add-on {entry.value} ({group}) cannot be imported: {reason}") from error
