"""A sweep as a file: the options of ``aqmlab sweep``, in TOML.

study = 1
scenario = "dumbbell-red.toml"      # beside this file
seeds = 10

[set]
"run.duration" = "20s"

[grid]
"flow.tcp.count" = [10, 20, 40]

[range]
"queue.bottleneck.max_p" = "0.01:0.5:log"

[draw]
sobol = 64
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aqmlab.errors import InputError, unknown
from aqmlab.runs.sweeps.design import Axis, Range, axes_of, ranges_of
from aqmlab.scenario.file import MOST_SEEDS, is_packaged, override_pairs, read_text
from aqmlab.scenario.toml_text import read_toml

FORMAT = 1
KEYS = ("study", "name", "scenario", "seeds", "set", "grid", "zip", "range", "draw")
DRAW_KEYS = ("random", "sobol", "seed")


@dataclass(frozen=True)
class SweepFile:
    """Contents of a sweep file. Everything but the scenario may be missing."""

    scenario: str | Path
    name: str | None = None
    seeds: int | list[int] | None = None
    overrides: tuple[tuple[str, str], ...] = ()
    grid: tuple[Axis, ...] = ()
    zipped: tuple[Axis, ...] = ()
    ranges: tuple[Range, ...] = ()
    draw: dict[str, int] = field(default_factory=dict)


def read_sweep(path: str | Path) -> SweepFile | None:
    """Read a sweep file; None if the file is a scenario (or nothing that can be read as TOML: its own errors tell)."""
    text = read_text(Path(path))
    try:
        data = read_toml(text, filename=str(path))
    except InputError:
        if any(line.split("=")[0].strip() == "study" for line in text.splitlines()):
            raise
        return None
    return _sweep_file(Path(path), data) if "study" in data else None


def _sweep_file(path: Path, data: dict[str, Any]) -> SweepFile:
    for key in data:
        if key not in KEYS:
            raise InputError(f"{path}: {unknown('key', key, list(KEYS))}")
    if data["study"] != FORMAT:
        raise InputError(f"{path}: study: is {data['study']!r} (allowed: {FORMAT})")
    if not isinstance(data.get("scenario"), str):
        raise InputError(f'{path}: scenario: name the scenario file, for example "dumbbell-red.toml"')
    name = data.get("name")
    if name is not None and (not isinstance(name, str) or not name):
        raise InputError(f"{path}: name: is {name!r} (allowed: text)")
    draw = _table(path, data, "draw")
    for key, value in draw.items():
        if key not in DRAW_KEYS:
            raise InputError(f"{path}: draw: {unknown('key', key, list(DRAW_KEYS))}")
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InputError(f"{path}: draw.{key}: is {value!r} (allowed: a whole number)")
    scenario = data["scenario"]
    return SweepFile(
        scenario=scenario if is_packaged(scenario) else path.parent / scenario,
        name=name,
        seeds=_seeds(path, data.get("seeds")),
        overrides=override_pairs(_table(path, data, "set")),
        grid=axes_of(_table(path, data, "grid"), f"{path}: grid"),
        zipped=axes_of(_table(path, data, "zip"), f"{path}: zip"),
        ranges=ranges_of(_table(path, data, "range"), f"{path}: range"),
        draw=dict(draw),
    )


def _table(path: Path, data: Mapping[str, Any], key: str) -> dict[str, Any]:
    table = data.get(key, {})
    if not isinstance(table, dict):
        raise InputError(f"{path}: {key}: must be a table [{key}]")
    nested = [name for name, value in table.items() if isinstance(value, dict)] if key != "set" else []
    if nested:
        raise InputError(f'{path}: {key}.{nested[0]}: quote the whole key, for example "queue.bottleneck.max_th" = ...')
    return table


def _seeds(path: Path, value: object) -> int | list[int] | None:
    if value is None:
        return None
    numbers = value if isinstance(value, list) else [value]
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in numbers)
    if not whole or not isinstance(value, int | list) or not 0 < len(numbers) <= MOST_SEEDS:
        raise InputError(f"{path}: seeds: is {value!r} (allowed: a number n for the seeds 1 to n, or a list of seeds)")
    return value
