"""Figures over several scenarios that differ in a parameter or two: lines against one, a map of two."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from aqmlab.figures import against, parameter_map
from aqmlab.results.quantities import interval_of, quantity, shown_in
from aqmlab.scenario.toml_text import read_toml

if TYPE_CHECKING:
    from aqmlab.figures.chart import Chart
    from aqmlab.results.result import Result

NUMBER = re.compile(r"([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-z%]*)")
LABELS = ("name", "description", "run.seeds")
"""Keys that make no difference to a run."""


def across(results: Sequence[Result]) -> Iterator[Chart]:
    """Yield a figure per metric over the settings in which the scenarios differ, if these are one or two numbers."""
    settings = differing(results)
    varied = list(settings.columns)
    if len(varied) not in (1, 2):
        return
    numbers = {key: numbers_of(settings[key].tolist()) for key in varied}
    if any(found is None for found in numbers.values()):
        return
    units = {key: found[1] for key, found in numbers.items() if found is not None}
    values = pd.DataFrame({key: found[0] for key, found in numbers.items() if found is not None})
    labels = [f"{key}, {units[key]}" if units[key] else key for key in varied]
    runs, limits = [one.metrics() for one in results], [one.limits() for one in results]
    for key in shown_in("scenarios"):
        if not all(key in table.columns for table in runs):
            continue
        what = quantity(key)
        means = [
            interval_of(key, table[key].to_numpy(), limits=own)[0] for table, own in zip(runs, limits, strict=True)
        ]
        if len(varied) == 1:
            ends = {name: [what.scale * getattr(m, name) for m in means] for name in ("mean", "low", "high")}
            table = values.assign(**ends)
            yield against(
                table.sort_values(varied[0]).assign(series=what.title),
                x=varied[0],
                key=f"over-{key}",
                title=f"{what.title} against {varied[0]}",
                x_label=labels[0],
                y_label=what.label,
            )
        elif min(values[one].nunique() for one in varied) >= 2:
            x, y = varied
            table = values.assign(**{key: [what.scale * m.mean for m in means]})
            yield parameter_map(table, x=x, y=y, value=key, x_label=labels[0], y_label=labels[1], label=what.label)


def differing(results: Sequence[Result]) -> pd.DataFrame:
    """Return the settings that differ: a row for each scenario, a column for each dotted key."""
    settings = pd.DataFrame([flattened(read_toml(one.scenario_text)) for one in results])
    return settings[[key for key in settings if key not in LABELS and settings[key].astype(str).nunique() > 1]]


def flattened(table: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Return nested tables as dotted keys.

    >>> flattened({"run": {"duration": "5s"}, "flow": [{"name": "a"}]})
    {'run.duration': '5s', 'flow.0.name': 'a'}
    """
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= flattened(value, f"{before}{key}.")
        elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
            found |= flattened({str(i): one for i, one in enumerate(value)}, f"{before}{key}.")
        else:
            found[before + key] = value
    return found


def numbers_of(values: Sequence[Any]) -> tuple[list[float], str] | None:
    """Return values as numbers with their common unit, or None if they are no numbers of one unit.

    >>> numbers_of(["5ms", "20ms"]), numbers_of([0.1, 0.2]), numbers_of(["5ms", "1s"]), numbers_of(["red", "mred"])
    (([5.0, 20.0], 'ms'), ([0.1, 0.2], ''), None, None)
    """
    matches = [NUMBER.fullmatch(str(value)) for value in values if not isinstance(value, bool)]
    found = [match for match in matches if match is not None]
    if len(found) < len(values) or len({match[2] for match in found}) != 1:
        return None
    return [float(match[1]) for match in found], found[0][2]
