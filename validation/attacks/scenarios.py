"""Mutated scenario files."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable
from pathlib import Path

import aqmlab
from aqmlab.errors import Error, ScenarioError
from aqmlab.scenario.file import Scenario
from attacks.tally import EXAMPLES, Tally, command

EXTREMES = [
    *("0", "-1", "1e308", "nan", "inf", "9223372036854775807", "18446744073709551616", '""', "[]", "{}", "true"),
    *('"0s"', '"1ns"', '"8640000s"', '"213days"', '"1e-300s"', '"0bps"', '"100000Gbps"', '"1e400bps"', '"-1p"'),
    *('"1000000000p"', '"\\u0000"', '"../../x"', '"\\u202e"', '"' + "A" * 300 + '"', "1979-05-27", "{ uniform = [1] }"),
]


def mutated(text: str, chance: random.Random) -> str:
    """Change a scenario in one to four places."""
    for _ in range(chance.randint(1, 4)):
        lines = text.split("\n")
        kind = chance.randrange(8)
        place = chance.randrange(len(lines))
        if kind == 0:
            data = bytearray(text.encode())
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            text = data.decode(errors="replace")
        elif kind == 1:
            lines.insert(place, chance.choice(lines))
            text = "\n".join(lines)
        elif kind == 2:
            del lines[place]
            text = "\n".join(lines)
        elif kind == 3:
            at = chance.randrange(len(text) + 1)
            text = (
                text[:at]
                + chance.choice(["\r", "\0", "\x1b[2J", "\u202e", "\ufeff", '"""', "[[", "=", "."])
                + text[at:]
            )
        else:
            keyed = [i for i, line in enumerate(lines) if "=" in line and not line.startswith("#")]
            if keyed:
                i = chance.choice(keyed)
                key = lines[i].partition("=")[0]
                inner = lines[i].partition("{")[2].rpartition("}")[0].split(",")
                if len(inner) > 1 and chance.random() < 0.7:
                    j = chance.randrange(len(inner))
                    inner[j] = f"{inner[j].partition('=')[0]}= {chance.choice(EXTREMES)}"
                    lines[i] = f"{key}= {{{','.join(inner)}}}"
                else:
                    lines[i] = f"{key}= {chance.choice(EXTREMES)}"
                text = "\n".join(lines)
    return text


def scenarios(tally: Tally, chance: random.Random, left: Callable[[], bool], folder: Path) -> None:
    """Mutated scenarios through check; those that are valid are run for a moment in both engines, which must agree."""
    texts = [path.read_text() for path in sorted(EXAMPLES.glob("*.toml")) if path.stat().st_size < 20_000]
    while left():
        text = mutated(chance.choice(texts), chance)
        with tally.case(text):
            plan = None
            with contextlib.suppress(ScenarioError):
                plan = Scenario.from_text(text, filename="a.toml")
            if plan is None:
                tally.note("refused")
                if chance.random() < 0.1:
                    (folder / "a.toml").write_text(text)
                    command(tally, ["check", str(folder / "a.toml")], text)
                continue
            tally.note("valid")
            duration = f"{min(plan.duration_s, 2e6 / max(plan.managed_bps, plan.slowest_bps, 1.0)):.12f}s"
            if chance.random() < 0.3 and plan.counts["flows"] < 200 and float(duration[:-1]) > 0:
                short = {"run.duration": duration, "run.warmup": "0s"}
                with contextlib.suppress(ScenarioError):
                    _run(tally, plan.with_overrides(short), text)


def _run(tally: Tally, plan: Scenario, text: str) -> None:
    """Run a scenario that `check` accepts in both engines: no error, and equal tables."""
    try:
        tables = [aqmlab.run(plan, seeds=[7], engine=engine, progress=False).tables for engine in ("auto", "events")]
    except Error as error:
        tally.find(f"check accepts what run rejects: {error}: {text}")
        return
    tally.note("run in both engines")
    if any(not tables[0][name].equals(tables[1][name]) for name in tables[0].keys() | tables[1].keys()):
        tally.find(f"engines differ: {text}")
