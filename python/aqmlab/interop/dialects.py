"""The queue of a link as text for every other system, as the tuner prints it."""

from __future__ import annotations

from aqmlab.errors import InputError
from aqmlab.interop.cisco.queues import dialect as cisco
from aqmlab.interop.juniper.queues import dialect as juniper
from aqmlab.interop.ns2.settings import dialect as ns2
from aqmlab.interop.ns3.settings import dialect as ns3
from aqmlab.interop.settings import Settings
from aqmlab.interop.tc.queues import dialect as tc_of_others
from aqmlab.interop.tc.red import dialect as tc
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.file import Scenario

WRITERS = (tc, ns2, ns3, cisco, juniper)


def dialects_of(plan: Scenario, link_name: str) -> list[Dialect]:
    """Write the queue of a link for every system; for tc alone without RED's parameters, if tc has the discipline."""
    link = plan.link(link_name)
    own = Settings.of(plan, link)
    if own is not None:
        return [write(own, link) for write in WRITERS]
    try:
        return [tc_of_others(plan, link)]
    except InputError:
        return []
