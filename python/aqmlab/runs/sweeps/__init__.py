"""Experiments as data: a scenario, the swept keys and the seeds.

`axes` and `design` define the points, `file` reads a sweep from TOML, `blocks` divides the runs into blocks of the
store, `sweeping` passes these to the scheduler, `sweep` is the resulting table, and `exporting` writes it as a file.
"""
