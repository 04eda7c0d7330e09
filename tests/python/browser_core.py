"""Runs the scripts of the laboratory's page, with the simulator as WebAssembly, in node."""

from __future__ import annotations

import json
import math
import shlex
import subprocess
from collections.abc import Sequence
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
READ = """
import { readFileSync } from "node:fs";
const [wasm, input] = process.argv.slice(2).map((name) => readFileSync(name));
const core = await Core.load(wasm), asked = JSON.parse(input);
const answers = [];
"""
WRITE = "process.stdout.write(JSON.stringify(answers));\n"


def wasm_path() -> Path:
    """Return the path of the simulator for browsers; skip the test without it, or without node."""
    path = Path(str(resources.files("aqmlab").joinpath(CORE)))
    if not path.is_file():
        pytest.skip("no aqmlab.wasm here: `make web` builds it")
    require("node")
    return path


def answers_of(script: str, asked: Any, folder: Path) -> Any:
    """Run a script that sees `core` and `asked` and pushes to `answers`; return these."""
    wasm = wasm_path()
    program, question = folder / "program.mjs", folder / "asked.json"
    program.write_text(READ.replace("const core", bundle(MODULES) + "\nconst core") + script + WRITE, encoding="utf-8")
    question.write_text(json.dumps(asked), encoding="utf-8")
    done = subprocess.run(
        ["node", str(program), str(wasm), str(question)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def page_answers(file: str, settings: Sequence[dict], folder: Path, *, link: str | None = None) -> list:
    """Return the answers of the page for settings of a scenario; errors as text."""
    asked = {"text": read_text(Path(file)), "file": file, "link": link, "settings": settings}
    return answers_of(ANSWERS, asked, folder)


def page_values(answer: dict, run: int = 0) -> dict[str, float]:
    """Return the numbers of an answer of the page: those of its first or second discipline."""
    shown = {row["key"]: row["values"][run] for row in answer["numbers"]}
    return {key: math.nan if value is None else value for key, value in shown.items()}


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
