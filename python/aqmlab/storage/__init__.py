"""A store of finished runs: Parquet files in folders, and an SQLite index that says which run is where.

    STORE/
        index.sqlite              studies, their points, runs with their metrics, blocks of files (`index`)
        runs/ab/ab12.../          a block: some runs of one sweep, written whole or not at all (`block`)
            runs.parquet          a row a run: name, scenario, seed, version, summary, metrics
            scenarios.parquet     a row a scenario: its hash and its text
            links.parquet, ...    the tables of those runs, one below the other, with the columns run and seed
        owners/                   what processes that are at work hold; empty when none is (`owners`)
        log.txt                   host and times of every call; never part of a result

A run is named by (scenario without its seeds, seed, version) and stored once; studies share it. Which runs make a block
is a function of the study and of what was stored before it began, never of time, so a sweep that was killed and taken
up again leaves the same files, byte for byte, as one that was not disturbed.

The files are the truth and the index is made from them: a block counts from the moment at which its row is in the
index, which is after its folder got its name, which is after its files are on the disk.
"""
