"""The one store of finished runs: a computed run is never computed again, by whichever command.

A run is a function of its `RunKey` (`key`): version, scenario (a hash without the list of seeds, or that of the
arguments of a computation), seed, and reducer. The reducer defines the data to keep: all tables, some tables, or
the answer of a function, which has a stable name that never depends on the place of its code. A job
(`aqmlab.runs.jobs.Job`) is a key, a source that computes the run, and a place in the store. Commands differ only
in their sources and reducers:

=====================  ============================  =======================  ================================
command                source                        reducer                  kept in
=====================  ============================  =======================  ================================
``run``, ``compare``   simulation                    all tables               a folder for each run
``sweep``              simulation                    all tables               blocks
``reproduce``          simulation                    the tables it reads      a folder for each run
``reproduce``          function without a scenario   the function's name      answers in the index
``rfc7928``            simulation                    the metrics of a case    answers in the index
``tune``               simulation                    the metrics of a link    answers in the index
``crosscheck``         another program               its measurements         answers in the index
=====================  ============================  =======================  ================================

The store is the folder that ``--out`` names::

    STORE/
        index.sqlite              which run is where; answers; sweeps with their points (`index`)
        NAME-HASH8/seed-0001/     a run in a folder: ``summary.json`` and a Parquet file for each table (`folders`)
        runs/ab/ab12.../          a block: some runs of one sweep, written whole or not at all (`block`)
            runs.parquet          a row a run: name, scenario, seed, version, summary, metrics
            scenarios.parquet     a row a scenario: its hash and its text
            links.parquet, ...    the tables of those runs, one below the other, with the columns run and seed
        owners/                   locks of the processes that work on a sweep; empty without such a process (`claims`)
        log.txt                   host and times of every call; never part of a result

Tables are large, and other programs read them, so they are files; answers are some kilobytes of JSON, so they are rows.
`ResultStore.find` returns a run wherever it is. A command that wants it in a folder copies it from another folder or
from a block (`aqmlab.runs.jobs.missing`), and a sweep makes a block of runs in folders. The copies are the bytes that
the run itself would have written.

Each worker writes finished runs at once, so an interrupted command goes on where it was. The files are the truth
about tables: a block counts from the moment at which its row is in the index, which is after its folder got its name,
which is after its files are on the disk; a run in a folder counts as soon as its folder has its name. An index that was
lost is made again from the blocks; folders enter it again when their command is repeated; answers are computed again.
Which runs make a block is a function of the sweep and of the earlier contents of the store, never of time, so a sweep
that was killed and taken up again leaves the same files, byte for byte, as one that was not disturbed.

Whatever is read is verified: files by the digests in ``SHA256SUMS`` or in the index, names of runs, studies and blocks
by the contents they are hashes of, metrics and answers by a digest in their row. A folder or a block that the index
names must lie in the store. Damaged data are an error, or are computed again; they are never a result.

The format of the store is a number in the index. A store of another format is rejected with a message.
"""
