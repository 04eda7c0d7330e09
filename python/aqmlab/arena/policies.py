"""Policies: a queue's settings in a file, or a function that decides at every interval."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from aqmlab.arena.actions import Action, action_of, packets_per_ms
from aqmlab.arena.episodes import COLUMN, Controlled, Episodes, controlled, own_queue
from aqmlab.errors import InputError, one_line
from aqmlab.input_files import read_bytes
from aqmlab.results.result import Result
from aqmlab.runs.comparison_settings import exchange
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.toml_text import Value, entries, read_toml

LONGEST = 1 << 20
"""Longest file of a policy in bytes."""
POINTS_MS = "points_ms"
"""Key of a curve whose averages are delays in ms."""


@dataclass(frozen=True)
class Policy:
    """How a queue is set: once, or at every interval.

    Attributes
    ----------
    name
        Its name in tables.
    settings
        The table of the queue; empty of a policy that decides.
    decide
        Function from a dictionary of counts (`aqmlab.arena.episodes.COLUMN`; all 0 at first) to the next action; None
        of a policy that is settings.
    action, interval_s
        The action that it decides about, and the time between two decisions in s.
    """

    name: str
    settings: Mapping[str, Value] = field(default_factory=dict)
    decide: Callable[[dict[str, float]], Any] | None = None
    action: str | Action = "probability"
    interval_s: float = 0.1

    def table(self, plan: Scenario, link: str) -> dict[str, Value]:
        """Return the settings as a ``[queue.NAME]`` table for a link: averages in ms become packets there."""
        found = dict(self.settings)
        points: Any = found.pop(POINTS_MS, None)
        if points is not None:
            own = exchange(plan, [plan.link(link).queue], "policy", found | {"points": [[0, 0], [1, 1]]}, [])
            scale = packets_per_ms(own, link)
            found["points"] = [[scale * float(ms), p] for ms, p in points]
        return found

    def run(self, plan: Scenario, link: str, seeds: list[int], *, threads: int = 1) -> Result:
        """Run a policy that decides, one run for each seed.

        Raises
        ------
        InputError
            If an action of the policy has the wrong length.
        """
        control = controlled(plan, action=self.action, link=link, interval_s=self.interval_s)
        episodes = Episodes(control, seeds, threads=threads)
        rows = np.zeros((len(seeds), len(COLUMN)))
        while not episodes.is_over:
            rows = episodes.step(np.array([self._decide(control, row) for row in rows.tolist()]))
        return episodes.finish()

    def _decide(self, control: Controlled, row: list[float]) -> np.ndarray:
        assert self.decide is not None, "a policy that decides"
        with _named(self.name):
            answer = self.decide(dict(zip(COLUMN, row, strict=True)))
            action = np.atleast_1d(np.asarray(answer, dtype=float))
        if action.shape != control.action.low.shape or not np.isfinite(action).all():
            wanted = len(control.action.low)
            raise InputError(f"{self.name}: returned {action.tolist()} (allowed: {wanted} finite numbers)")
        return action


def read_policy(text: str) -> Policy:
    """Read a policy: the name of a TOML file, or ``module:name``.

    A file has the keys of a ``[queue.NAME]`` table, ``aqm`` among them. In place of ``points`` it may have
    ``points_ms``: a curve whose averages are delays in ms. ``module:name`` (or ``file.py:name``) is such a table, or a
    function from the counts of the last interval to the next action, with its `Action` and interval as attributes
    ``action`` and ``interval_s``.

    Raises
    ------
    InputError
        If the file or object is missing or invalid.
    """
    path = Path(text)
    if path.suffix == ".toml" or path.is_file():
        return _from_file(path)
    module, sign, name = text.rpartition(":")
    if not sign or not module or not name.isidentifier():
        raise InputError(f"{one_line(text)}: unknown policy (allowed: a TOML file, or module:function)")
    found = getattr(_module(module), name, None)
    if isinstance(found, Mapping):
        return Policy(name, _checked(dict(found), text))
    if not callable(found):
        raise InputError(f"{one_line(text)}: {module} lacks a function or table {name}")
    with _named(text):
        interval_s = float(getattr(found, "interval_s", 0.1))
    return Policy(name, decide=found, action=action_of(getattr(found, "action", "probability")), interval_s=interval_s)


def policy_text(table: Mapping[str, Value]) -> str:
    """Write the settings of a queue as the file of a policy.

    >>> print(policy_text({"aqm": "red", "max_p": 0.1}), end="")
    aqm = "red"
    max_p = 0.1
    """
    return "".join(f"{line}\n" for line in entries(table))


def applied(policy: Policy, plan: Scenario, link: str) -> Scenario:
    """Return a scenario whose queue before a link is set by a policy that is settings."""
    if policy.decide is not None:
        raise InputError(f"{policy.name}: decides while a run lasts; only settings can be put into a scenario")
    return exchange(plan, [own_queue(plan, link)], policy.name, policy.table(plan, link), [])


def _from_file(path: Path) -> Policy:
    try:
        text = read_bytes(path, longest=LONGEST).decode()
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8") from None
    return Policy("policy", _checked(read_toml(text, filename=str(path)), str(path)))


def _checked(table: dict[str, Value], place: str) -> dict[str, Value]:
    place = one_line(place)
    if not isinstance(table.get("aqm"), str):
        raise InputError(f"{place}: the discipline is missing; add aqm, for example aqm = 'red'")
    points: Any = table.get(POINTS_MS)
    if points is None:
        return table
    if "points" in table:
        raise InputError(f"{place}: has both points and {POINTS_MS}; give one of them")
    if table.get("curve") != "points":
        raise InputError(f'{place}: {POINTS_MS} has no effect without curve = "points"; add it')
    try:
        numbers = [(float(ms), float(p)) for ms, p in points]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) < 2:
        raise InputError(f"{place}: {POINTS_MS} (allowed: pairs of delay in ms and probability, at least two)")
    return table


@contextmanager
def _named(policy: str) -> Iterator[None]:
    """Turn errors of a policy's own code into an error that names the policy; also its attempt to exit."""
    try:
        yield
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{one_line(policy)}: {type(error).__name__}: {one_line(str(error))}") from error


def _module(name: str) -> Any:  # noqa: ANN401
    """Import a module, also one in the working directory; a file ``NAME.py`` is loaded from its path."""
    path = Path(name)
    folder = str(path.parent if path.suffix == ".py" else Path.cwd())
    sys.path.insert(0, folder)
    try:
        with _named(f"{name}: cannot be imported"):
            return _loaded(path) if path.suffix == ".py" else importlib.import_module(name)
    finally:
        sys.path.remove(folder)


def _loaded(path: Path) -> Any:  # noqa: ANN401
    """Load a file as a module whose name follows from its path, so that no other module has it."""
    key = f"aqmlab_policy_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(key, path)
    assert spec is not None, "a file of Python"
    assert spec.loader is not None, "a file of Python"
    module = importlib.util.module_from_spec(spec)
    sys.modules[key] = module
    spec.loader.exec_module(module)
    return module
