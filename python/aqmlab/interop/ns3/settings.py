"""Settings of RED as C++ for ns-3."""

from __future__ import annotations

from aqmlab.interop.escaping import c_string
from aqmlab.interop.ns3.formatting import wrapped
from aqmlab.interop.ns3.queues import PARTS, disc_of, queue_differences, read_red
from aqmlab.interop.settings import Settings, effective, simulator_notes
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.parts import Link

DEVICE = "the device below has a queue of its own: give it one packet, or the average does not see what waits"


def dialect(own: Settings, link: Link) -> Dialect:
    """Write settings for ns-3."""
    disc = disc_of(link)
    pairs = (f"{c_string(name)}, StringValue({c_string(value)})" for name, value in disc.attributes)
    text = "\n".join(
        [
            "TrafficControlHelper helper;",
            f"helper.SetRootQueueDisc({c_string(disc.kind)},",
            wrapped(pairs, indent="    ") + ");",
        ]
    )
    notes = simulator_notes(own, link.queue, PARTS, queue_differences(link))
    return Dialect("ns-3", "ns-3 (C++)", text, effective(read_red(dict(disc.attributes))), [*notes, DEVICE])
