"""Runs the scripts of the laboratory's page, with the simulator as WebAssembly, in node."""

from __future__ import annotations

import atexit
import json
import math
import shlex
import subprocess
import threading
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

import aqmlab
from aqmlab.cli import parse_overrides, parse_seeds
from aqmlab.lab.page import CORE, WORKER, bundle
from aqmlab.scenario.file import read_text
from programs import require

MODULES = WORKER[:-1]
ANSWERS = """
const session = await Session.open(core, asked.text, asked.file, { link: asked.link });
for (const settings of asked.settings) {
  try { answers.push(await session.answer(settings)); } catch (error) { answers.push(error.message); }
}
"""
LOOP = """
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
const core = await Core.load(readFileSync(process.argv.at(-1)));
for await (const line of createInterface({ input: process.stdin })) {
  const { script, asked } = JSON.parse(line), answers = [];
  let error = null;
  try { await eval(`(async () => { ${script} })()`); } catch (found) { error = String(found.stack ?? found); }
  process.stdout.write(`${JSON.stringify({ answers, error })}\\n`);
}
"""
PATIENCE_S = 600


def wasm_path() -> Path:
    """Return the path of the simulator for browsers; skip the test without it, or without node."""
    path = Path(str(resources.files("aqmlab").joinpath(CORE)))
    if not path.is_file():
        pytest.skip("no aqmlab.wasm here: `make web` builds it")
    require("node")
    return path


@cache
def _node() -> subprocess.Popen[str]:
    """Start node with the page's scripts, which waits for scripts to run."""
    program = f"{bundle(MODULES)}\n{LOOP}"
    words = ["node", "--input-type=module", "--eval", program, str(wasm_path())]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def end() -> None:
        process.kill()
        process.communicate()

    atexit.register(end)
    return process


def answers_of(script: str, asked: Any) -> Any:
    """Run a script that sees `core` and `asked` and pushes to `answers`; return these."""
    wasm_path()
    process = _node()
    timer = threading.Timer(PATIENCE_S, process.kill)
    timer.start()
    try:
        process.stdin.write(f"{json.dumps({'script': script, 'asked': asked})}\n")
        process.stdin.flush()
        found = json.loads(process.stdout.readline())
    finally:
        timer.cancel()
    assert found["error"] is None, found["error"]
    return found["answers"]


def page_answers(file: str, settings: Sequence[dict], *, link: str | None = None, may_fail: bool = False) -> list:
    """Return the answers of the page for settings of a scenario; errors as text, if they may occur."""
    asked = {"text": read_text(Path(file)), "file": file, "link": link, "settings": settings}
    answers = answers_of(ANSWERS, asked)
    assert may_fail or not (errors := [answer for answer in answers if isinstance(answer, str)]), errors
    return answers


def page_values(answer: dict, run: int = 0) -> dict[str, float]:
    """Return the numbers of the first or second discipline in an answer of the page, as fractions."""
    shown = {row["key"]: (row["values"][run], 100 if row["unit"] == "%" else 1) for row in answer["numbers"]}
    return {key: math.nan if value is None else value / scale for key, (value, scale) in shown.items()}


def command_values(command: str, link: str = "bottleneck") -> dict[str, float]:
    """Run a command of the page, in memory; return its numbers."""
    words = shlex.split(command)
    assert words[:2] == ["aqmlab", "run"]
    sets = parse_overrides([words[i + 1] for i, word in enumerate(words) if word == "--set"])
    seeds = parse_seeds(words[words.index("--seeds") + 1])
    result = aqmlab.run(words[2], seeds=seeds, overrides=sets, workers=1, progress=False)
    return result.metrics(link=link).iloc[0].to_dict()


def check_numbers(answer: dict) -> None:
    """Check that the commands of an answer repeat its numbers."""
    for run, command in enumerate(answer["command"].splitlines()):
        shown, repeated = page_values(answer, run), command_values(command, answer["link"])
        due = {key: repeated.get(key, math.nan) for key in shown}
        assert shown == pytest.approx(due, rel=1e-12, nan_ok=True)
