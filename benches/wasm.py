"""Measure how fast scenarios run in a browser (Chromium), compared with native, by processor time of the run itself.

wasm.py [PAIRS]    prints a table in Markdown of D10M, D1G, CHAIN and KERNEL (default: 5 pairs)

Both sides have the scenario in memory before the clock starts, and stop it when the tables are there. In the browser a
worker runs the scenario three times, as the laboratory does when a slider moves: the first run includes code that is
not yet optimized. `worker` is the time of the worker's thread, for which the user waits; `all threads` is that of its
process, with the threads that compile. A pair is a new browser, and a native run before and after it, of which the
mean counts.
"""

from __future__ import annotations

import base64
import shutil
import statistics
import sys
import time
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from aqmlab import _core
from aqmlab.lab.page import CORE, bundle

SCENARIOS = Path(__file__).parent / "scenarios"
NAMES = ("d10m", "d1g", "chain", "kernel")
RUNS = 3
PROGRAM = """
let core = null;
self.onmessage = async ({ data }) => {
  if (!core) { core = await Core.load(data); postMessage(0); return; }
  const { summary } = await core.run({ text: data, file: "bench.toml", overrides: [], seed: 1 });
  postMessage(summary.packet_hops);
};
"""
OPEN = """async ([program, core]) => {
  const worker = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
  window.ask = (message) => new Promise((done, failed) => {
    worker.onmessage = ({ data }) => done(data);
    worker.onerror = ({ message: why }) => failed(new Error(why));
    worker.postMessage(message);
  });
  await ask(Uint8Array.from(atob(core), (c) => c.charCodeAt(0)));
}"""
Measured = tuple[float, float, float, int]
"""Time in s of the worker in its first and its last run and of all threads in the first; packets over links."""


def threads() -> dict[int, dict[str, float]]:
    """Return the processor time in s of the threads of each process that has a worker: process to name to time."""
    found: dict[int, dict[str, float]] = {}
    for path in Path("/proc").glob("[0-9]*/task/*"):
        try:
            name = (path / "comm").read_text().strip()
            seconds = int((path / "schedstat").read_text().split()[0]) / 1e9
        except OSError:
            continue  # it has ended
        own = found.setdefault(int(path.parts[2]), {})
        own[name] = own.get(name, 0.0) + seconds
    return {process: own for process, own in found.items() if "DedicatedWorker" in own}


def spent(work: Callable[[], Any], process: int) -> tuple[float, float]:
    """Return the processor time that work takes of the worker, and of all threads of its process."""
    before = threads()[process]
    work()
    after = threads()[process]
    worker = after["DedicatedWorker"] - before["DedicatedWorker"]
    return worker, sum(after.values()) - sum(before.values())


def in_browser(browser: Browser, text: str, core: str) -> Measured:
    """Run a scenario as WebAssembly."""
    before = threads()
    page = browser.new_page()
    page.evaluate(OPEN, [bundle(("core",)) + PROGRAM, core])
    (process,) = threads().keys() - before.keys()
    hops: list[int] = []
    times = [spent(lambda: hops.append(page.evaluate("(text) => ask(text)", text)), process) for _ in range(RUNS)]
    return times[0][0], times[-1][0], times[0][1], hops[0]


def native(text: str) -> tuple[float, int]:
    """Run a scenario with the compiled core."""
    before = time.thread_time()
    output = _core.Scenario(text, "bench.toml").run(1)
    return time.thread_time() - before, int(output["summary"]["packet_hops"])


def main(pairs: int) -> None:
    """Print the table."""
    print("| scenario | packets over links | native, s | worker, first run, s | native / worker, first run "
          "| native / all threads, first run | native / worker, third run |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    core = base64.b64encode(resources.files("aqmlab").joinpath(CORE).read_bytes()).decode()
    with sync_playwright() as playwright:
        for name in NAMES:
            text, rows = (SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"), []
            for _ in range(pairs):
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                (before, hops), other, (after, _) = native(text), in_browser(browser, text, core), native(text)
                browser.close()
                assert hops == other[-1], "both carry the same packets"
                rows.append(((before + after) / 2, *other))
            own, first, later, together, carried = zip(*rows, strict=True)
            times = f"{statistics.median(own):.2f} | {statistics.median(first):.2f}"
            print(f"| {name.upper()} | {carried[0]:,} | {times} | "
                  f"{shares(own, first)} | {shares(own, together)} | {shares(own, later)} |", flush=True)  # fmt: skip


def shares(own: tuple[float, ...], other: tuple[float, ...]) -> str:
    """Return the ratios of pairs: median and range."""
    found = [one / two for one, two in zip(own, other, strict=True)]
    return f"{statistics.median(found):.2f} ({min(found):.2f} to {max(found):.2f})"


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
