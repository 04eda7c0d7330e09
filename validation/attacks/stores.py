"""Hostile rows, damaged files and links in a store."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import aqmlab
from aqmlab.errors import Error
from aqmlab.runs.store.querying import query
from aqmlab.runs.store.store import ResultStore
from attacks.tally import EXAMPLES, SHORT, Tally, command, snapshot, spoil


def store_in(folder: Path) -> Path:
    """Make a store to damage."""
    overrides = SHORT
    grid = {"flow.tcp.count": [1, 2]}
    aqmlab.sweep(
        EXAMPLES / "dumbbell-red.toml", grid=grid, seeds=2, overrides=overrides, out=folder / "store", progress=False
    )
    return folder / "store"


def stores(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Stores with hostile indexes, damaged files and links: nothing outside changes."""
    made = store_in(folder / "made")
    with ResultStore(made) as opened:
        whole = query(opened, "SELECT * FROM flows ORDER BY ALL")
    precious = folder / "precious"
    (precious / ("ab" * 16)).mkdir(parents=True)
    (precious / "ab" / ("ab" * 16)).mkdir(parents=True)
    (precious / "letters.txt").write_text("kept")
    (precious / "ab" / ("ab" * 16) / "runs.parquet").write_text("kept")
    kept = snapshot(precious)
    values: list[object] = [
        *(
            str(precious),
            "../../precious",
            "../" * 9 + "etc",
            "",
            ".",
            "ab" * 16,
            "\x1b[31m",
        ),
        *(
            "[]",
            "{}",
            "[[1]]",
            '{"a": 1}',
            '{"../../precious/letters.parquet": [1, "' + "ab" * 16 + '"]}',
            "9" * 400,
            "null",
        ),
        *(None, 0, -1, 2**63 - 1, 1.5, b"\xff\x00", "x" * 100_000),
    ]
    columns = {
        "studies": ["study", "content"],
        "blocks": ["block", "files"],
        "runs": ["run", "scenario", "seed", "version", "block", "metrics", "digest"],
        "folders": ["run", "path"],
        "answers": ["run", "scenario", "seed", "version", "reducer", "answer", "digest"],
    }
    store = folder / "store"
    while left():
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(made, store)
        kind = chance.randrange(4)
        what = "file"
        if kind < 2:
            table = chance.choice(list(columns))
            column, value = chance.choice(columns[table]), chance.choice(values)
            what = f"{table}.{column} = {value!r:.80}"
            with contextlib.closing(sqlite3.connect(store / "index.sqlite")) as connection:
                with contextlib.suppress(sqlite3.Error):
                    some = "" if chance.random() < 0.5 else " WHERE rowid = 1"
                    try:
                        connection.execute(f"UPDATE {table} SET {column} = ?{some}", (value,))
                    except sqlite3.OperationalError:
                        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
                connection.commit()
        elif kind == 2:
            path = chance.choice([p for p in sorted(store.rglob("*")) if p.is_file() and p.stat().st_size])
            what = f"{spoil(path, chance, [path])} {path.name}"
        else:
            inside = chance.choice(["runs", "owners", "runs/ab", "runs/ab/" + "ab" * 16])
            what = f"link {inside}"
            target = store / inside
            if target.is_dir():
                shutil.rmtree(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(precious if chance.random() < 0.5 else precious / "ab")
        queries = [["query", "SELECT * FROM runs"], ["query", "SELECT * FROM flows ORDER BY ALL"]]
        others = [["ls"], ["show"], ["gc"], ["gc"], ["gc", "--dry-run"], ["export", "--out", str(folder / "x.csv")]]
        words = chance.choice(queries + others)
        with tally.case(what):
            code = command(tally, ["results", words[0], str(store), *words[1:]], what)
            tally.note(f"code {code}")
            if kind == 2:
                with contextlib.suppress(Error), ResultStore(store) as opened:
                    found = query(opened, "SELECT * FROM flows ORDER BY ALL")
                    if not found.equals(whole) and len(found) == len(whole):
                        tally.find(f"{what}: another answer without an error")
        if snapshot(precious) != kept or not (precious / ("ab" * 16)).is_dir():
            tally.find(f"{what}: {words}: something outside of the store was changed")
            return
