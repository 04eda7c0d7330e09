"""Misshapen records of comparisons and runs."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import aqmlab
from attacks.tally import EXAMPLES, SHORT, Tally, command, snapshot, spoil


def records(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Damaged and misshapen records of comparisons and runs: one line, and no file outside the folder."""
    out = folder / "results"
    overrides = SHORT
    aqmlab.compare(
        EXAMPLES / "dumbbell-red.toml", aqm=["red", "drop-tail"], seeds=2, overrides=overrides, out=out, progress=False
    )
    made = next(path for path in out.iterdir() if (path / "compare.json").is_file())
    single = next(path.parent for path in sorted(out.rglob("seed-0001")))
    files = [made / "compare.json", single / "scenario.toml", single / "seed-0001" / "summary.json"]
    outside = snapshot(folder)
    odd: list[object] = [
        None,
        0,
        -1,
        2**70,
        1e308,
        "",
        "x" * 5000,
        "../../../x",
        "/etc",
        "\x1b[31m",
        [],
        {},
        [[]],
        True,
    ]
    while left():
        path = chance.choice(files)
        before = path.read_bytes()
        sums = path.parent / "SHA256SUMS"
        digests = sums.read_bytes() if sums.exists() else None
        what = "a mutation"
        if path.suffix == ".json" and chance.random() < 0.8:
            data = json.loads(before)
            places = list(_places(data))
            where, key = chance.choice(places)
            value = chance.choice(odd)
            what = f"{path.name}: {key} = {value!r:.60}"
            if chance.random() < 0.2:
                del where[key]
            else:
                where[key] = value
            path.write_text(json.dumps(data))
        elif path.suffix == ".json":
            path.write_bytes(chance.choice([b"", b"[" * 100_000, b"null", b"\xff\xfe", b"{}", b"[1]"]))
        else:
            what = f"{spoil(path, chance, files)} of {path.name}"
        if digests is not None:
            sums.unlink()
        words = chance.choice(
            [
                ["report", str(made)],
                ["report", str(single)],
                ["export", str(chance.choice([made, single])), "--to", "csv", "--out", str(folder / "exported")],
            ]
        )
        with tally.case(what):
            tally.note(f"{words[0]}: code {command(tally, words, what)}")
        path.write_bytes(before)
        if digests is not None:
            sums.write_bytes(digests)
        for extra in ("exported",):
            with contextlib.suppress(OSError):
                (folder / extra).unlink()
            shutil.rmtree(folder / extra, ignore_errors=True)
        for extra in (made, single):
            shutil.rmtree(extra / "figures", ignore_errors=True)
            (extra / "report.html").unlink(missing_ok=True)
        if {name: data for name, data in snapshot(folder).items() if "log.txt" not in name} != {
            name: data for name, data in outside.items() if "log.txt" not in name
        }:
            new = sorted(snapshot(folder).keys() ^ outside.keys())
            tally.find(f"{what}: {words[0]}: other files than before: {new[:5]}")
            return


def _places(data: object) -> Iterator[tuple[Any, Any]]:
    """Yield each place in JSON as its container and its key."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield data, key
        yield from _places(value)
