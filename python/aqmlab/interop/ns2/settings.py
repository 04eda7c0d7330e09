"""Settings of RED as Tcl for ns-2."""

from __future__ import annotations

from aqmlab.interop.ns2.differences import PARTS, queue_differences
from aqmlab.interop.ns2.queues import ns2_queue, read_queue
from aqmlab.interop.settings import Settings, effective, simulator_notes
from aqmlab.scenario.dialect import Dialect
from aqmlab.scenario.parts import Link


def dialect(own: Settings, link: Link) -> Dialect:
    """Write settings for ns-2. The queue joins $n1 and $n2."""
    queue = ns2_queue(link)
    lines = [
        *(f"Queue/RED set {variable} {value}" for variable, value in queue.settings.items()),
        f"$ns simplex-link $n1 $n2 {link.rate_bps / 1e6:.9g}Mb {link.delay_s * 1e3:.9g}ms RED",
        f"$ns queue-limit $n1 $n2 {queue.limit}",
    ]
    notes = simulator_notes(own, link.queue, PARTS, queue_differences(link))
    return Dialect("ns-2", "ns-2 (Tcl)", "\n".join(lines), effective(read_queue("RED", queue.words)), notes)
