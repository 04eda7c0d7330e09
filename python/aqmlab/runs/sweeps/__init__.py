"""Experiments as data: a scenario, the keys that are swept, seeds; and the executors that do the runs.

`axes` and `design` define the points, `file` reads a sweep from TOML, `points` checks them all, `plan` cuts their runs
into blocks, `adoption` takes runs that the store has in folders, `work` is the work of one worker, `executors` are the
workers, `execution` has the runs done and stored, `sweep` is the resulting table, and `exporting` writes it as a file.
"""
