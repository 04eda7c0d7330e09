"""Runs of `joint_readings.py`: Network 2 of PC-RED with any links and destinations, and the numbers of a run."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from aqmlab import _core
from aqmlab.papers.pc_red import measure
from aqmlab.papers.pc_red.plan import CASES, FILES
from aqmlab.results.parquet import to_arrow
from aqmlab.scenario.toml_text import Value, inline, override

ROUTERS, HOSTS = 12, 480
"""Routers and sources of Network 2."""
WARMUP_S = 100.0
Numbers = dict[str, list[float]]
"""Quantity to a value for each observed flow, or to one value."""
Overrides = Mapping[str, Value]


class Runs:
    """The numbers of runs, kept in a folder so that none is repeated."""

    def __init__(self, folder: Path, bins_s: Sequence[float]) -> None:
        self.folder = folder
        self.bins_s = bins_s

    def numbers(self, text: str, overrides: Overrides, seed: int) -> Numbers:
        """Return the numbers of a run, from the folder or from a new run."""
        given = [(key, override(value)) for key, value in overrides.items()]
        key = hashlib.sha256(json.dumps([text, given, seed]).encode()).hexdigest()[:24]
        path = self.folder / f"{key}.json"
        if not path.exists():
            tables = _core.Scenario(text, "joint readings", given).run(seed)["tables"]
            path.write_text(json.dumps(numbers_of(tables, self.bins_s)), encoding="utf-8")
        found: Numbers = json.loads(path.read_text(encoding="utf-8"))
        return found


def network2(values: Mapping[str, Any], case: str, duration: str, seed: int) -> str:
    """Write a scenario of Network 2: its links one by one, and a flow from each host to one drawn for this seed."""
    base = tomllib.loads(FILES.text("network2.toml"))
    torus, flow = base.pop("torus"), base.pop("flow")[0]
    given = CASES[case].overrides
    base["run"]["duration"] = duration
    base["probe"] = {"flow_interval": "10s", "delay_histogram": False}
    base["queue"]["router"] |= {"spacing": values["spacing"]}
    if "queue.router.loss_weight" in given:
        base["queue"]["router"]["loss_weight"] = given["queue.router.loss_weight"]
    edges = edges_of(values["topology"])
    trunk, access = torus["link"], torus["host"]
    links = [{"from": f"r{a}", "to": f"r{b}", **trunk} for a, b in edges]
    uplink = {"queue": access["queue"], "reverse_queue": access["queue"]}
    links += [{"from": f"h{k}", "to": f"r{router_of(k)}", **access, **uplink} for k in range(HOSTS)]
    tcp = flow["tcp"] | {"max_rto": values["greatest time-out"]}
    flows = []
    for k, group, to in draw_flows(edges, values["locality"], int(str(given["flow.high.count"])), seed):
        own = {"name": f"{group}-{k}", "count": 1, "priority": group == "high", "from": f"h{k}", "to": f"h{to}"}
        flows.append(flow | own | {"tcp": tcp})
    return "".join(f"{key} = {inline(value)}\n" for key, value in (base | {"link": links, "flow": flows}).items())


def edges_of(topology: Mapping[str, Any]) -> list[tuple[int, int]]:
    """Return the pairs of linked routers, numbered from 0.

    >>> len(edges_of({"rows": 3, "columns": 4, "wrap": True})), len(edges_of({"rows": 1, "columns": 12, "wrap": True}))
    (24, 12)
    >>> len(edges_of({"rows": 3, "columns": 4, "wrap": False}))
    17
    """
    height, width, wrap = int(topology["rows"]), int(topology["columns"]), bool(topology["wrap"])
    found = []
    for y, x in itertools.product(range(height), range(width)):
        if x + 1 < width or (wrap and width > 2):
            found.append((y * width + x, y * width + (x + 1) % width))
        if y + 1 < height or (wrap and height > 2):
            found.append((y * width + x, (y + 1) % height * width + x))
    return found


def router_of(host: int) -> int:
    """Return the router of a host."""
    return host % ROUTERS


def draw_flows(edges: Sequence[tuple[int, int]], locality: float, high: int, seed: int) -> list[tuple[int, str, int]]:
    """Draw a destination for every host, and which flows have priority: source, class, destination.

    A share `locality` of the hosts of each router sends to a host at an adjacent router, the adjacent ones in turn;
    every other host to one at any other router.
    """
    stream = random.Random(seed)
    adjacent = {r: [b if a == r else a for a, b in edges if r in (a, b)] for r in range(ROUTERS)}
    local = round(locality * HOSTS / ROUTERS)
    chosen = set(stream.sample(range(HOSTS), high))
    found = []
    for host in range(HOSTS):
        router, place = router_of(host), host // ROUTERS
        near = adjacent[router]
        goal = near[place % len(near)] if place < local else stream.choice([r for r in range(ROUTERS) if r != router])
        to = stream.randrange(HOSTS // ROUTERS) * ROUTERS + goal
        found.append((host, "high" if host in chosen else "non", to))
    return found


def numbers_of(tables: Mapping[str, Any], bins_s: Iterable[float]) -> Numbers:
    """Read one run: minima and maxima of the flows by class and width of the bins, RED's average, a_d, and the link."""
    found: Numbers = {}
    names, time, delivered = by_flow(tables["flow_samples"])
    for group in ("high", "non"):
        own = delivered[:, [i for i, name in enumerate(names) if name.startswith(group)]]
        for width in bins_s if own.size else ():
            rates = measure.rates(WARMUP_S, time, own, width=width)
            found[f"{group}_min_{width:g}"] = rates.min(axis=0).tolist()
            found[f"{group}_max_{width:g}"] = rates.max(axis=0).tolist()
            found[f"{group}_mean"] = rates.mean(axis=0).tolist()
    queue = to_arrow(tables["queue_samples"], seed=1).to_pandas()
    if len(queue) and queue["t_s"].max() > WARMUP_S:
        average = queue.loc[queue["t_s"] >= WARMUP_S, "average"]
        found |= {"average_mean": [float(average.mean())], "average_sd": [float(average.std(ddof=0))]}
    links = to_arrow(tables["links"], seed=1).to_pandas().set_index("link")
    if "bottleneck" in links.index:
        found["departed_bytes"] = [float(links.loc["bottleneck", "departed_bytes"])]
    gauges = to_arrow(tables["discipline_samples"], seed=1).to_pandas()
    for group in ("high", "non"):
        own = gauges[(gauges["name"] == f"a_d_first_{group}") & (gauges["t_s"] >= WARMUP_S)]["value"]
        if len(own):
            found |= {f"{group}_a_d": [float(own.mean())], f"{group}_a_d_sd": [float(own.std(ddof=0))]}
    return found


def by_flow(table: Mapping[str, Any]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return flows, times in s, and delivered bytes: a row per time, a column per flow."""
    arrow = to_arrow(table, seed=1)
    if not arrow.num_rows:
        return [], np.empty(0), np.empty((0, 0))
    codes, names = pd.factorize(arrow.column("flow").to_pandas())
    time = arrow.column("t_s").to_numpy()
    order = np.lexsort((codes, time)).reshape(-1, len(names))
    delivered = arrow.column("delivered_bytes").to_numpy()[order].astype(float)
    return [str(name) for name in names], time[order[:, 0]], delivered
