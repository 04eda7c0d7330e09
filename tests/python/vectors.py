"""The test vectors of `vectors/`, and their runner."""

from __future__ import annotations

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "vectors"
FILES = sorted(FOLDER.glob("*.jsonl"))

_spec = importlib.util.spec_from_file_location("vectors_run", FOLDER / "run.py")
assert _spec is not None
assert _spec.loader is not None
run = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(run)
