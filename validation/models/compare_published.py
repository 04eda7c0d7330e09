"""Judges published behaviour outside the reproduced papers: PIE 2013, DCTCP 2010, BBRv1, SCReAM by RFC 8867, and
CAKE 2018.

A page of `make validate`. The claims, their runs and their bounds are data: `validation/published/claims.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import aqmlab
from aqmlab.results.quantities import quantity
from aqmlab.results.result import Result
from aqmlab.scenario.toml_text import Value
from aqmlab.statistics import Interval, Verdict, interval, verdict_between

TITLE = "Published behaviour of PIE, DCTCP, BBRv1, SCReAM and CAKE"
FOLDER = Path(__file__).resolve().parents[1] / "published"
HEAD = "| published | measured | allowed | bounds | verdict |\n|---|---|---|---|---|\n"
Table = dict[str, Any]


def claims() -> Table:
    """Return papers, runs and claims."""
    return tomllib.loads((FOLDER / "claims.toml").read_text(encoding="utf-8"))


def run(entry: Table, *, seeds: int | None = None, short: Mapping[str, Value] | None = None) -> Result:
    """Run a scenario of the folder with its overrides; `short` are further ones."""
    path = FOLDER / f"{entry['scenario']}.toml"
    return aqmlab.run(path, seeds=seeds, overrides={**entry.get("set", {}), **(short or {})}, progress=False)


def values(found: Result, key: str) -> np.ndarray:
    """Return a quantity of each seed, by its key in the file of claims."""
    kind, _, rest = key.partition(".")
    if kind not in SPECIAL:
        quantity(key)
        return found.metrics()[key].to_numpy(dtype=float)
    groups, _, numbers = rest.rpartition(".")
    names = groups.split("+") if groups else []
    numbers_of = list(map(float, numbers.split("-")))
    return np.array([SPECIAL[kind](found, seed, *([names] if names else []), *numbers_of) for seed in found.seeds])


def _queue(found: Result, seed: int, share: float, less: float | None = None) -> float:
    warmup_s = found.summaries[0]["summary"]["warmup_s"]
    table = found.queue_samples
    own = table[(table["link"] == found.bottleneck) & (table["seed"] == seed) & (table["t_s"] >= warmup_s)]
    at = partial(np.percentile, own["queue_packets"].to_numpy(dtype=float))
    return float(at(share) - (0.0 if less is None else at(less)))


def _wait_ms(found: Result, seed: int, start_s: float, end_s: float) -> float:
    links, table = found.links, found.queue_samples
    rate = links.loc[(links["link"] == found.bottleneck) & (links["seed"] == seed), "capacity_bps"].item()
    own = table[(table["link"] == found.bottleneck) & (table["seed"] == seed)]
    return float(own.loc[own["t_s"].between(start_s, end_s, inclusive="left"), "queue_bytes"].mean() * 8e3 / rate)


def _fetch_ms(found: Result, seed: int, share: float) -> float:
    own = found.objects[found.objects["seed"] == seed]
    return float(np.nanpercentile(own["finish_s"] - own["requested_s"], share) * 1e3)


def _arrived(found: Result, seed: int, groups: list[str]) -> pd.DataFrame:
    """Return the arrived bytes by time, a column for each flow of the groups."""
    flows, table = found.flows, found.flow_samples
    own = flows.loc[(flows["seed"] == seed) & flows["group"].isin(groups), "flow"]
    table = table[(table["seed"] == seed) & table["flow"].isin(own)]
    return table.pivot_table(index="t_s", columns="flow", values="arrived_bytes")


def _rates(found: Result, seed: int, groups: list[str], start_s: float, end_s: float) -> np.ndarray:
    """Return the bit rate in Mb/s of each flow between two samples."""
    arrived = _arrived(found, seed, groups)
    ends = arrived.loc[[start_s, end_s]].to_numpy(dtype=float)
    return np.asarray((ends[1] - ends[0]) * 8e-6 / (end_s - start_s))


def _mbps(found: Result, seed: int, groups: list[str], start_s: float, end_s: float) -> float:
    return float(_rates(found, seed, groups, start_s, end_s).sum())


def _least(found: Result, seed: int, groups: list[str], start_s: float, end_s: float) -> float:
    return float(_rates(found, seed, groups, start_s, end_s).min())


def _variation(found: Result, seed: int, groups: list[str], start_s: float, end_s: float) -> float:
    rates = np.diff(_arrived(found, seed, groups).loc[start_s:end_s].sum(axis="columns"))
    return float(rates.std() / rates.mean())


def _percent(found: Result, seed: int, groups: list[str], percent: float) -> float:
    all_flows = found.flows[found.flows["seed"] == seed]
    own = all_flows.loc[all_flows["group"].isin(groups), "goodput_bytes"]
    return float(own.sum() / all_flows["goodput_bytes"].sum() * percent)


def _goodput(found: Result, seed: int, groups: list[str], unit_bps: float) -> float:
    own = found.flows[(found.flows["seed"] == seed) & found.flows["group"].isin(groups)]
    return float(own["goodput_bps"].sum() / unit_bps)


def _induced_ms(found: Result, seed: int, groups: list[str], share: float, least_ms: float) -> float:
    own = found.flow_delay_histogram
    own = own[(own["seed"] == seed) & own["flow"].isin(groups)].sort_values("high_s")
    counts = own["count"].to_numpy(dtype=float)
    place = int(np.argmax(counts.cumsum() >= share / 100 * counts.sum()))
    return float(own["high_s"].to_numpy(dtype=float)[place] * 1e3 - least_ms)


def _dropped(found: Result, seed: int, groups: list[str], percent: float) -> float:
    own = found.flows[(found.flows["seed"] == seed) & found.flows["group"].isin(groups)]
    return float(own["drops"].sum() / own["sent"].sum() * percent)


SPECIAL: dict[str, Callable[..., float]] = {
    "queue": _queue,
    "wait_ms": _wait_ms,
    "fetch_ms": _fetch_ms,
    "mbps": _mbps,
    "least_mbps": _least,
    "variation": _variation,
    "dropped": _dropped,
    "percent": _percent,
    "goodput": _goodput,
    "induced_ms": _induced_ms,
}
"""Quantities of this file, each of a result, a seed, the groups and the numbers behind its name."""


def measured(claim: Table, results: Mapping[str, Result]) -> Interval:
    """Return the interval of the claim's quantity or ratio over the seeds."""
    found = values(results[claim["of"][0]], claim["of"][1])
    return interval(found / values(results[claim["over"][0]], claim["over"][1]) if "over" in claim else found)


def row(claim: Table, found: Interval, verdict: Verdict) -> str:
    """Return the row of the table."""
    own = f"{found.mean:.4g}" + (f" ± {found.half_width:.2g}" if found.half_width > 0 else "")
    word = verdict if verdict is Verdict.HOLDS else f"**{verdict}**"
    return f"| {claim['published']} | {own} | {allowed(claim)} | {claim['bounds']} | {word} |"


def allowed(claim: Table) -> str:
    """Return the bounds in words."""
    low, high = claim["between"]
    if low == float("-inf"):
        return f"below {high:g}"
    return f"above {low:g}" if high == float("inf") else f"{low:g} to {high:g}"


def report() -> tuple[str, bool]:
    """Return the page, and whether everything in it is shown."""
    data = claims()
    results = {name: run(entry) for name, entry in data["run"].items()}
    found = [(claim, measured(claim, results)) for claim in data["claim"]]
    verdicts = [verdict_between(own, *claim["between"]) for claim, own in found]
    seeds = len(next(iter(results.values())).seeds)
    parts = [
        f"""Behaviour that papers outside the five reproduced ones report. Each is a scenario of
`validation/published`, with its published points and bounds in `claims.toml` there. A claim holds if the 95 % interval
of the mean over {seeds} seeds lies within the bounds, and fails if it lies outside.
{sum(verdict is Verdict.HOLDS for verdict in verdicts)} of {len(verdicts)} claims hold."""
    ]
    for key, paper in data["paper"].items():
        rows = [row(*one, verdict) for one, verdict in zip(found, verdicts, strict=True) if one[0]["paper"] == key]
        parts += [f"## {paper['title']}", paper["cited"].strip(), f"Read in: {paper['read_in'].strip()}"]
        parts += [HEAD + "\n".join(rows), paper["remarks"].strip()]
    return "\n\n".join(parts), all(verdict is Verdict.HOLDS for verdict in verdicts)
