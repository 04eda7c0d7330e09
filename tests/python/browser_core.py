"""Runs the scripts of the laboratory's page, with the simulator as WebAssembly, in node."""

from __future__ import annotations

import json
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from aqmlab.lab.standalone import CORE, WORKER, bundle
from programs import require

MODULES = WORKER[:-1]
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
