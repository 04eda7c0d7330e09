"""Measure how fast scenarios run in a browser's engine (node), beside native: user time of the run itself, in pairs.

wasm.py [PAIRS]    prints a table in Markdown of D10M, D1G and CHAIN (default: 5 pairs)

Both sides have the scenario in memory before the clock starts, and stop it when the tables are there.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

from aqmlab import _core
from aqmlab.explorer.standalone import CORE, bundle

SCENARIOS = Path(__file__).parent / "scenarios"
NAMES = ("d10m", "d1g", "chain")
PROGRAM = """
import { readFileSync } from "node:fs";
const core = await Core.load(readFileSync(process.argv[2])), text = readFileSync(process.argv[3], "utf8");
const before = process.cpuUsage(), { summary } = await core.run({ text, file: "bench.toml", overrides: [], seed: 1 });
console.log(JSON.stringify([process.cpuUsage(before).user / 1e6, summary.packet_hops]));
"""
Measured = tuple[float, int]
"""User time in s, and packets over links."""


def in_node(name: str, program: Path) -> Measured:
    """Run a scenario as WebAssembly."""
    wasm = resources.files("aqmlab").joinpath(CORE)
    words = ["node", str(program), str(wasm), str(SCENARIOS / f"{name}.toml")]
    seconds, hops = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    return seconds, hops


def native(name: str) -> Measured:
    """Run a scenario with the compiled core."""
    text = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    output = _core.run(text, "bench.toml", 1, [], None)
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before, int(output["summary"]["packet_hops"])


def main(pairs: int) -> None:
    """Print the table."""
    print("| scenario | packets over links | native, s | node, s | native / node, median and range |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "program.mjs"
        program.write_text(bundle(("core",)) + PROGRAM, encoding="utf-8")
        for name in NAMES:
            rows = [(native(name), in_node(name, program)) for _ in range(pairs)]
            assert len({hops for row in rows for _, hops in row}) == 1, "both carry the same packets"
            own, other = ([side[0] for side in sides] for sides in zip(*rows, strict=True))
            shares = [one / two for one, two in zip(own, other, strict=True)]
            times = f"{statistics.median(own):.2f} | {statistics.median(other):.2f}"
            share = f"{statistics.median(shares):.2f} ({min(shares):.2f} to {max(shares):.2f})"
            print(f"| {name.upper()} | {rows[0][0][1]:,} | {times} | {share} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
