"""Scenarios from what other programs have: ns-2 studies in Tcl, queueing disciplines in tc's words."""

from aqmlab.interop.importing.reading import Imported, import_scenario

__all__ = ["Imported", "import_scenario"]
