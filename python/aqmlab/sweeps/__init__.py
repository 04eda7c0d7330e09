"""Experiments as data: a scenario, the keys that are swept, seeds; and whoever does the runs.

`axes` and `design` say which points there are, `file` reads a study from TOML, `points` checks them all, `plan` cuts
their runs into blocks, `work` is what a worker does, `crews` who works, `execution` has it done and stored, and `study`
is the table that comes out.
"""
