"""Words of the command line as values: overrides, settings and seeds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from aqmlab.errors import InputError, ScenarioError
from aqmlab.scenario.file import LARGEST_SEED, MOST_SEEDS
from aqmlab.scenario.toml_text import read_toml

SEED = re.compile("[0-9]+")
"""Digits of ASCII; those of other scripts are not read, and raised digits are no number."""


def parse_overrides(entries: Sequence[str] | None) -> tuple[tuple[str, str], ...]:
    """Read ``key=value`` words.

    >>> parse_overrides(["run.duration=5s", "flow.tcp.start={ every = '1s' }"])
    (('run.duration', '5s'), ('flow.tcp.start', "{ every = '1s' }"))
    """
    pairs = []
    for entry in entries or ():
        key, sign, value = entry.partition("=")
        if not sign or not key.strip():
            raise InputError(f'--set {entry}: write it as key=value, for example "run.duration=5s"')
        pairs.append((key.strip(), value.strip()))
    return tuple(pairs)


def parse_settings(option: str, entries: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """Read ``NAME={ aqm = 'red', ... }`` words of an option: name to table.

    >>> parse_settings("--with", ["tight={ aqm = 'red', max_th = '20p' }"])
    {'tight': {'aqm': 'red', 'max_th': '20p'}}
    """
    found: dict[str, dict[str, Any]] = {}
    for entry in entries or ():
        name, sign, table = (part.strip() for part in entry.partition("="))
        try:
            data = read_toml(f"table = {table}")
        except ScenarioError as error:
            if name and table.startswith("{") and table.endswith("}"):
                problem = error.problems[0]
                key = problem.key.removeprefix("table.")
                raise InputError(str(replace(problem, file=f"{option} {name}", key=key))) from None
            data = {}
        if not sign or not name or list(data) != ["table"] or not isinstance(data["table"], dict):
            raise InputError(f"{option} {entry}: write it as NAME={{ aqm = 'red', min_th = '5p', ... }}")
        if name in found:
            raise InputError(f"{option} {entry}: {name} is given twice; give each settings a name of their own")
        found[name] = data["table"]
    return found


def parse_seeds(text: str | None) -> int | list[int] | None:
    """Read ``--seeds``.

    >>> parse_seeds("20"), parse_seeds("1,5,9"), parse_seeds("11-13"), parse_seeds("7,11-12")
    (20, [1, 5, 9], [11, 12, 13], [7, 11, 12])
    """
    if text is None:
        return None
    if SEED.fullmatch(text.strip()):
        return _seed(text, text)
    seeds: list[int] = []
    for word in text.split(","):
        low, dash, high = word.strip().partition("-")
        if not SEED.fullmatch(low) or (dash and not SEED.fullmatch(high)):
            raise InputError(
                f"--seeds {text}: a number n (seeds 1 to n), a list such as 1,5,9 or a range such as 11-20"
            )
        found = range(_seed(text, low), _seed(text, high if dash else low) + 1)
        if found.stop - found.start + len(seeds) > MOST_SEEDS:
            raise InputError(f"--seeds {text}: too many (allowed: up to {MOST_SEEDS:,} seeds)")
        seeds += found
    return seeds


def parse_names(option: str, text: str) -> list[str]:
    """Read names with commas between them, each once.

    >>> parse_names("--aqm", "red, codel")
    ['red', 'codel']

    Raises
    ------
    InputError
        If one is empty or given twice.
    """
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise InputError(f'{option} "{text}": a name is empty; write names with commas between them, as red,codel')
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{option}: {name} is given twice")
    return names


def _seed(text: str, digits: str) -> int:
    number = int(digits) if len(digits.strip()) < 20 else LARGEST_SEED + 1  # int() has a limit on digits
    if number > LARGEST_SEED:
        raise InputError(f"--seeds {text}: a seed is too large (allowed: up to {LARGEST_SEED})")
    return number


def parse_until(goals: Sequence[str] | None, max_runs: int | None) -> dict[str, Any]:
    """Read ``--until`` and ``--max-runs`` as arguments of `aqmlab.run` and `aqmlab.compare`.

    >>> parse_until(["ci(goodput)=1%"], 200), parse_until(None, None)
    ({'until': ['ci(goodput)=1%'], 'max_runs': 200}, {})
    """
    if not goals:
        if max_runs is not None:
            raise InputError("--max-runs: is for --until, which is not given")
        return {}
    return {"until": list(goals)} | ({} if max_runs is None else {"max_runs": max_runs})
