"""Real applications and real TCP through the very disciplines that are simulated."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aqmlab.live.agreement import Agreement
    from aqmlab.live.certificate import Certificate
    from aqmlab.live.checks import Trouble, preflight
    from aqmlab.live.link_process import LiveError
    from aqmlab.live.running import LiveRuns, run
    from aqmlab.live.state import clean

__all__ = ["Agreement", "Certificate", "LiveError", "LiveRuns", "Trouble", "clean", "preflight", "run"]

_HOME = {
    "Agreement": "agreement",
    "Certificate": "certificate",
    "LiveError": "link_process",
    "LiveRuns": "running",
    "Trouble": "checks",
    "clean": "state",
    "preflight": "checks",
    "run": "running",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - names are loaded when first used, as in `aqmlab`
    if name not in _HOME:
        raise AttributeError(f"module 'aqmlab.live' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"aqmlab.live.{_HOME[name]}"), name)
    globals()[name] = value
    return value
