"""One way to run and to keep: jobs, their scheduler, the store, and the commands that are made of them.

A `jobs.Job` is one run to do: its key, the source that computes it, and the place that keeps its result. `jobs.missing`
asks the places and the `store` for the jobs that are left to do. `scheduler` hands them in `portions` to `executors`:
this thread, threads, processes, an executor of the caller, or Dask. `runner` runs scenarios over their seeds, `until`
runs further seeds until intervals are narrow, `comparison` compares disciplines, and `sweeps` runs designs.
`arguments` reads the scenario and the seeds to run. `bounds` reads bounds of quantities, `assertions` judges them on
finished runs.
"""
