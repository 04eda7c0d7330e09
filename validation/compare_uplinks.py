"""Recommendations for uplinks against the disciplines' defaults and drop-tail, judged by MOS and page load time.

Runs the command for each uplink, and the scenario of its answer, of the defaults and of drop-tail on seeds that no
tuning uses, at the corners of the ranges. Writes the section of docs/validation/tuning.md between its markers.
`python validation/compare_uplinks.py [BUDGET]`; with the default budget of five minutes for each about 40 minutes.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import aqmlab
from aqmlab.cli import main
from aqmlab.results.quantities import difference_of, interval_of
from aqmlab.scenario.toml_text import inline
from aqmlab.tuning.ranges import ranges_of, search_points
from aqmlab.tuning.tuner import SCENARIO_FILE
from aqmlab.tuning.uplink import uplink

PAGE = Path(__file__).resolve().parents[1] / "docs" / "validation" / "tuning.md"
BEGIN, END = "<!-- uplinks: begin -->", "<!-- uplinks: end -->"
SEEDS = range(5_000_001, 5_000_009)
USES = "calls, web and downloads"
CASES: dict[str, tuple[str, ...]] = {
    "5 Mb/s": ("5mbit", "20ms:100ms", "cubic", "fq-codel,codel,pie", USES),
    "20 Mb/s": ("20Mbit", "20ms:100ms", "cubic", "fq-codel,codel,pie", USES),
    "50 Mb/s": ("50Mbps", "20ms:100ms", "cubic", "fq-codel,codel,pie", USES),
    "100/20 Mb/s DSL": ("100/20Mbps", "20ms:100ms", "cubic", "fq-codel,codel,pie", USES),
    "20 Mb/s satellite": ("20Mbps", "550ms:650ms", "cubic", "fq-codel,codel,pie", USES),
    "10 Gb/s, DCTCP": ("10Gbps", "200us:1ms", "dctcp", "red,fq-codel", "downloads"),
}
JUDGED = {"mos_worse": "MOS", "page_load_s": "page load, s", "delay_p95_ms": "95 % delay, ms", "utilization": "util."}


def rows_of(name: str, folder: Path, budget: str) -> Iterator[str]:
    """Tune one uplink, and yield a row for the answer, for the defaults and for drop-tail."""
    rate, rtt, tcp, aqms, uses = CASES[name]
    words = ["tune", "--uplink", rate, "--rtt", rtt, "--for", uses, "--tcp", tcp, "--aqm", aqms, "--budget", budget]
    out, began = io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out):
        code = main([*words, "--out", str(folder)])
    took = time.monotonic() - began
    (folder / "stdout.txt").write_text(out.getvalue())
    found = re.search(r"^Use this: (\S+) ", out.getvalue(), re.MULTILINE)
    if code or found is None:
        yield f"| {name} | no answer (exit {code}) | | | | | | {took:.0f} s |"
        return
    aqm = found[1]
    record = json.loads((folder / aqm / "tune.json").read_text())
    own = uplink(rate, rtt, uses, tcp)
    limit, link = own.scenario.queue_table("bottleneck")["limit"], record["link"]
    default = {"aqm": aqm, "limit": limit, **({"ecn": True} if "ecn" in record["settings"] else {})}
    points = [point for point in search_points(ranges_of(own.over, own.scenario)) if point.corner]
    tuned = aqmlab.Scenario.load(folder / aqm / SCENARIO_FILE)
    bodies = {"recommended": tuned.queue_table("bottleneck"), "defaults": default}
    bodies["drop-tail"] = {"aqm": "drop-tail", "limit": limit}
    values = {kind: measured(own.scenario, body, points, link) for kind, body in bodies.items()}
    first = f"| {name} | {aqm}: {settings(record['settings'])} "
    for kind in bodies:
        cells = [cell(key, values["recommended"], values[kind], kind) for key in JUDGED]
        yield f"{first if kind == 'recommended' else f'| | {kind} '}| {' | '.join(cells)} | " + (
            f"{took:.0f} s |" if kind == "recommended" else "|"
        )


def settings(body: dict[str, object]) -> str:
    """Write the settings without the buffer."""
    return (
        ", ".join(f"{key} {value}" for key, value in body.items() if key not in ("aqm", "limit", "ecn")) or "defaults"
    )


def measured(plan: aqmlab.Scenario, body: dict[str, object], points: list, link: str) -> dict[str, list[float]]:
    """Return each quantity by seed, at the worst of the points."""
    found: dict[str, list[list[float]]] = {key: [] for key in JUDGED}
    for point in points:
        pairs = [("queue.bottleneck", inline(body)), ("probe.delay_histogram", "true"), *point.pairs]
        pairs.append(("probe.links", inline([link])))
        result = aqmlab.run(plan.with_overrides(pairs), seeds=list(SEEDS), progress=False)
        table = result.metrics(link=link)
        for key in JUDGED:
            if key in table:
                found[key].append([float(value) for value in table[key]])
    worst = {"mos_worse": min, "utilization": min, "page_load_s": max, "delay_p95_ms": max}
    return {key: [worst[key](seed) for seed in zip(*rows, strict=True)] for key, rows in found.items()}


def cell(key: str, own: dict[str, list[float]], other: dict[str, list[float]], kind: str) -> str:
    """Write the mean, and how the recommendation compares."""
    values = other[key]
    if not values:
        return "-"
    text = f"{interval_of(key, values)[0].mean:.4g}"
    if kind == "recommended" or own[key] == values:
        return text
    found = difference_of(key, own[key], values).difference.interval
    sign = 1 if key in ("mos_worse", "utilization") else -1
    verdict = "better" if sign * found.mean > 0 else "worse"
    return f"{text} ({verdict if found.low > 0 or found.high < 0 else 'undecided'})"


def section(budget: str) -> str:
    """Return the section for all uplinks."""
    head = " | ".join(JUDGED.values())
    lines = [
        BEGIN,
        "## Uplinks",
        "",
        f"`aqmlab tune --uplink` with a time budget of {budget} each. The answer, the discipline's defaults and",
        f"drop-tail are run again on {len(SEEDS)} seeds that no tuning uses, at the corners of the ranges; each",
        "value is the mean of the worst corner. In parentheses: the recommendation compared with this row (95 %",
        "interval, paired). Utilization is least with one download over the longest round trip.",
        "",
        f"| uplink | settings | {head} | time |",
        "|---|---|" + "---|" * (len(JUDGED) + 1),
    ]
    for name in CASES:
        with tempfile.TemporaryDirectory() as folder:
            for row in rows_of(name, Path(folder), budget):
                lines.append(row)
                print(row, flush=True)
    return "\n".join([*lines, "", END])


def replace_section(text: str, made: str) -> str:
    """Put the section in its place, or at the end."""
    if BEGIN not in text:
        return f"{text.rstrip()}\n\n{made}\n"
    return text[: text.index(BEGIN)] + made + text[text.index(END) + len(END) :]


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "5min"
    PAGE.write_text(replace_section(PAGE.read_text(), section(chosen)))
