"""Cost of a packet-hop by number of flows and of links on the path, and of the set-up by number of routers."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from speed.cases import FLOWS, SPREAD
from speed.chain import chain
from speed.process import SCENARIOS, LimitError, Limits, Run, measure, ours, theirs
from speed.table import MISSING, table

FLOW_COUNTS = (10, 100, 1_000, 10_000, 100_000)
LINK_COUNTS = (1, 2, 5, 10, 20, 50)
GRID_SIDES = (3, 10, 32, 100)
"""Routers on a side of the torus."""
GROUPS = tuple(f"rtt-{rtt}" for rtt in range(28, 119, 10))
"""The groups of `flows.toml`."""
WINDOWS = 1_000_000
"""The sum of all windows of `flows.toml`, in packets: several times what 10 Gb/s and the buffer hold."""
LEAST_WINDOW = 64
ENGINES = ("windows", "events")
CHAIN_S = 10
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Effort:
    """How often each engine runs each size, and when ns-2 is stopped (None: it does not run)."""

    repeats: int
    limits: Limits | None


@dataclass(frozen=True)
class Cost:
    """The median of several runs of one size."""

    engine: str
    ns_a_hop: float
    setup_s: float
    peak_kib: float

    @classmethod
    def of(cls, runs: Sequence[Run], hops: int) -> Cost:
        """Take the medians of runs that carried `hops` packets over links."""
        return cls(
            engine=runs[0].engine,
            ns_a_hop=median(run.run_s for run in runs) / hops * 1e9,
            setup_s=median(run.setup_s for run in runs),
            peak_kib=median(run.peak_kib for run in runs),
        )


def window(flows: int) -> int:
    """Return the limit of a window in packets.

    >>> [window(n) for n in FLOW_COUNTS]
    [100000, 10000, 1000, 100, 64]
    """
    return max(LEAST_WINDOW, WINDOWS // flows)


def flow_overrides(flows: int) -> list[str]:
    """Return what makes so many flows of `flows.toml`."""
    overrides = []
    for group in GROUPS:
        overrides += [f"flow.{group}.count={flows // len(GROUPS)}", f"flow.{group}.tcp.window={window(flows)}p"]
    return overrides


def grid_overrides(side: int) -> list[str]:
    """Return what makes so many rows and columns of routers of `grid.toml`."""
    return [f"torus.rows={side}", f"torus.columns={side}"]


def repeated(command: Sequence[str], repeats: int) -> Cost:
    """Run one of ours several times."""
    runs = [measure(command) for _ in range(repeats)]
    return Cost.of(runs, runs[0].packet_hops)


def peer(command: Sequence[str], limits: Limits | None, tell: Tell) -> Cost | None:
    """Run ns-2 once to time and once to count; None if it does not get through."""
    if limits is None:
        return None
    try:
        run = measure(command, limits)
        return Cost.of([run], measure([*command, "count=1"]).packet_hops)
    except LimitError as stopped:
        tell(str(stopped))
        return None


def by_flows(effort: Effort, tell: Tell, sizes: Sequence[int] = FLOW_COUNTS) -> str:
    """Tabulate the cost as flows grow."""
    scenario, rows, limits = SCENARIOS / "flows.toml", [], effort.limits
    empty = measure(ours(scenario, [*flow_overrides(min(FLOW_COUNTS)), "run.duration=1us"])).peak_kib
    for size in sizes:
        costs = [repeated(ours(scenario, flow_overrides(size), engine=e), effort.repeats) for e in ENGINES]
        other = peer(theirs("dumbbell.tcl", *FLOWS, *SPREAD, f"flows={size}", f"window={window(size)}"), limits, tell)
        if other is None:
            limits = None
        memory = [f"{(cost.peak_kib - empty) / size:.2f}" for cost in costs]
        rows.append([f"{size:,}", *cells(costs, other), *memory])
        tell(" | ".join(rows[-1]))
    return table(header("flows", costs_of=ENGINES, more=[f"KiB a flow, {engine}" for engine in ENGINES]), rows)


def by_links(effort: Effort, tell: Tell, sizes: Sequence[int] = LINK_COUNTS) -> str:
    """Tabulate the cost as links on the way grow."""
    rows, limits = [], effort.limits
    with tempfile.TemporaryDirectory(prefix="speed-") as folder:
        scenario = Path(folder) / "chain.toml"
        for size in sizes:
            scenario.write_text(chain(size))
            short = [f"run.duration={CHAIN_S}s"]
            costs = [repeated(ours(scenario, short, engine=e), effort.repeats) for e in ENGINES]
            other = peer(theirs("chain.tcl", f"hops={size}", f"seconds={CHAIN_S}"), limits, tell)
            rows.append([f"{size}", *cells(costs, other)])
            tell(" | ".join(rows[-1]))
    return table(header("links", costs_of=ENGINES), rows)


def by_routers(effort: Effort, tell: Tell, sides: Sequence[int] = GRID_SIDES) -> str:
    """Tabulate the set-up as routers grow."""
    rows = []
    for side in sides:
        cost = repeated(ours(SCENARIOS / "grid.toml", grid_overrides(side)), effort.repeats)
        rows.append([f"{side * side:,}", f"{cost.setup_s:.3f}", f"{cost.peak_kib / 1024:.1f}"])
        tell(" | ".join(rows[-1]))
    return table(("routers", "s before the first packet", "peak MiB"), rows)


def header(what: str, *, costs_of: Sequence[str], more: Sequence[str] = ()) -> list[str]:
    """Name the columns of `cells`."""
    names = [*costs_of, "ns-2"]
    parts = [[f"{unit}, {name}" for name in names] for unit in ("ns a hop", "set-up s", "peak MiB")]
    return [what, *parts[0], *parts[1], *parts[2], *more]


def cells(costs: Sequence[Cost], other: Cost | None) -> list[str]:
    """Write costs of our engines and of ns-2; an engine that did not run as asked has no numbers."""
    asked = [cost if cost.engine == engine else None for engine, cost in zip(ENGINES, costs, strict=True)]
    columns = [*asked, other]
    return [
        *(f"{cost.ns_a_hop:.1f}" if cost else MISSING for cost in columns),
        *(f"{cost.setup_s:.3f}" if cost else MISSING for cost in columns),
        *(f"{cost.peak_kib / 1024:.1f}" if cost else MISSING for cost in columns),
    ]
