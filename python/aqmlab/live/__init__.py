"""Live runs: real applications and real TCP through the disciplines that are simulated.

* `linux`: check of the operating system
* `plan`, `groups`: the core's reading of a scenario for a live run; addresses, routes and kernel settings of flows
* `namespaces`, `state`, `rootless`: network namespaces; the record by which a run is removed; runs without root
* `processes`, `process_output`, `commands`: programs and what they print
* `link`, `link_process`, `observers`, `telemetry`: the bottleneck process and its views
* `one_run`, `run_context`, `running`: one run with its components; many runs
* `traffic`, `udp`: senders and receivers (sockets, iperf3, UDP)
* `checks`, `certificate`: conditions that would spoil a run; whether it counts
* `tables`, `postprocess`: contents of the results folder
* `agreement`, `page`: simulation and live run compared
* `kernel_backends`, `tc`, `vm`: Linux's own disciplines as bottleneck, on this machine's kernel or on an emulated one
* `shape`: this machine as the bottleneck of other machines
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from aqmlab.argument_types import named

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
    if inspect.isfunction(value):
        value = named(value)
    globals()[name] = value
    return value
