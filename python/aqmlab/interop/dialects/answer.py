"""All dialects of one queue."""

from __future__ import annotations

from aqmlab.interop.dialects.routers import cisco, juniper
from aqmlab.interop.dialects.settings import Dialect, Settings
from aqmlab.interop.dialects.simulators import ns2, ns3
from aqmlab.interop.dialects.tc import tc
from aqmlab.scenario.file import Scenario

WRITERS = (tc, ns2, ns3, cisco, juniper)


def dialects_of(plan: Scenario, link_name: str) -> list[Dialect]:
    """Write the queue of a link for every system; empty for a queue without RED's parameters."""
    link = plan.link(link_name)
    own = Settings.of(plan, link)
    return [] if own is None else [write(own, link.queue) for write in WRITERS]
