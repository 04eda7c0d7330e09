#!/usr/bin/env python3
"""Print hashes of short runs by a compiled core, to compare machines of different kinds.

core_hashes.py CORE EXAMPLES   CORE is the file _core.abi3.so of a wheel, EXAMPLES a folder of scenarios

Needs Python alone, so that it runs in a small system under qemu-user. The lines must be the same on all machines.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

NAMES = ("dumbbell-red", "l4s", "wifi", "lte", "autorate")
SHORT = [("run.duration", "6s"), ("run.warmup", "1s")]


def main(core_file: str, examples: str) -> None:
    """Run each scenario with one seed."""
    found = importlib.util.spec_from_file_location("_core", core_file)
    if found is None or found.loader is None:
        sys.exit(f"{core_file}: is not a compiled core")
    core = importlib.util.module_from_spec(found)
    found.loader.exec_module(core)
    for name in NAMES:
        path = Path(examples) / f"{name}.toml"
        run = core.Scenario(path.read_text(), path.name, SHORT).run(1)
        digest = hashlib.sha256()
        for part in ("tables", "summary"):
            add(run[part], digest.update)
        print(name, digest.hexdigest()[:24], flush=True)


def add(data: object, update: Callable[[bytes], object]) -> None:
    """Add nested data to a digest, keys in order."""
    if isinstance(data, dict):
        for key in sorted(data):
            add(str(key), update)
            add(data[key], update)
    elif isinstance(data, list | tuple):
        for one in data:
            add(one, update)
    else:
        update(bytes(data) if isinstance(data, bytes | bytearray | memoryview) else repr(data).encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
