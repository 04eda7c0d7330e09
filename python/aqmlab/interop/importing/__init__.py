"""Scenarios from what other programs have: ns-2 studies in Tcl, queueing disciplines in tc's words.

It imports no module: the process that runs a study (`sandbox`) starts with `recording` alone.
"""
