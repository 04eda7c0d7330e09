"""Experiments as data: a scenario, the swept keys and the seeds.

`design` defines the points, `file` reads a sweep from TOML, `blocks` checks the points and cuts their runs into blocks,
`sweeping` passes the missing ones to the scheduler, `sweep` is the resulting table, `grid` tests its
disciplines against each other at each condition, `exporting` writes tables as files.
"""
