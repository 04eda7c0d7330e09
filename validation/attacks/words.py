"""Commands with odd words."""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from attacks.tally import EXAMPLES, Tally, command


def words(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Commands with odd words: exit codes 0, 1, 2 and one line of complaint."""
    scenario = folder / "a.toml"
    text = (EXAMPLES / "dumbbell-red.toml").read_text()
    scenario.write_text(text)
    out = str(folder / "out")
    short = ["--set", "run.duration=50ms", "--set", "run.warmup=0s"]
    odd = [
        *(
            "",
            " ",
            "0",
            "-1",
            "1e9",
            "nan",
            "²",
            "٣",
            "1-",
            "-",
            "1,,2",
            "9" * 30,
            "9" * 5000,
            "1,99999999999",
            "\x1b[2J",
        ),
        *(
            "\u202e",
            "../../x",
            "/dev/null",
            "a=b",
            "=",
            "[",
            "{",
            "'",
            '"',
            "x" * 5000,
            "\udcff",
            "ci(x)=1%",
            "ci(goodput)=-1%",
        ),
        *(
            "tcp",
            "red",
            "red,red",
            "red,codel",
            "queue.bottleneck.max_p=nan",
            "flow.tcp.count=1,2",
            "run.seeds=[]",
            "*",
        ),
    ]
    forms: list[list[str | None]] = [
        ["check", str(scenario), "--set", None],
        ["run", str(scenario), *short, "--seeds", None],
        ["run", str(scenario), *short, "--workers", None],
        ["run", str(scenario), *short, "--engine", None],
        ["run", str(scenario), *short, "--seeds", "20", "--max-runs", None, "--until", None],
        ["compare", str(scenario), *short, "--aqm", None, "--seeds", "2"],
        ["sweep", str(scenario), *short, "--out", out, "--grid", None],
        ["sweep", str(scenario), *short, "--out", out, "--range", None, "--sobol", "2"],
        ["sweep", str(scenario), *short, "--out", out, "--zip", None, "--zip", None],
        ["results", "show", out, None],
        ["results", "query", out, None],
        ["results", None, out],
        ["list", None],
        ["list", None, "--json"],
        ["draw", str(scenario), "--set", None],
        ["export", str(scenario), "--to", None, "--out", str(folder / "exported")],
        ["import", None],
        ["check", None],
        ["report", None],
        ["schema", None],
        [None, str(scenario)],
        ["tune", str(scenario), *short, "--goal", None, "--bound", None],
        ["analyze", str(scenario), "--set", None, "--seeds", "2"],
        ["crosscheck", str(scenario), "--with", None],
        ["reproduce", None],
        ["live", "--clean", None],
        ["shape", "--in", None, "--out", None],
    ]
    while left():
        made = [chance.choice(odd) if word is None else word for word in chance.choice(forms)]
        if made[0] in ("live", "shape") and "-" not in made[-1]:
            continue  # what these do to the machine is no subject of this attack
        what = " ".join(repr(word)[:60] for word in made if word != str(scenario))
        with tally.case(what), contextlib.chdir(folder):
            tally.note(f"code {command(tally, made, what)}")
        for extra in ("results", "exported", "out"):
            shutil.rmtree(folder / extra, ignore_errors=True)
