"""The trace of a link as ns-2 writes it (its manual, section 26.4, "trace file format").

    + 0.26566 0 2 tcp 1040 ------- 2 0.2 3.2 16 5
    event, time in s, from node, to node, type, bytes, flags, flow, source node.port, destination node.port, sequence
    number, number of the packet

The events are ``+`` offered to the queue, ``-`` transmission started, ``r`` received at the far end, ``d`` dropped. Of
the flags ``E`` in the fifth place says that the packet bears a mark (ECN), ``N`` in the seventh that its ends know ECN;
``C`` and ``A``, what the ends tell each other of congestion, are not recorded. ns-2 has no line for a mark: the lines
after it have the flag. Times are rounded to microseconds, halves upwards, as ns-2 does. Nodes have numbers in the
scenario's order; a flow's ports are its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aqmlab.results.exporting.packets import PS, Log, arrivals_beyond, identities, log_of
from aqmlab.scenario.parts import NOT_TCP

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result

MICROSECOND = PS // 10**6
FLAGS = {0b00: "-------", 0b10: "------N", 0b01: "------N", 0b11: "----E-N"}


def trace_text(result: Result, *, seed: int, link: str) -> str:
    """Return the trace of a link in one run."""
    log = log_of(result, seed=seed, link=link)
    rows = _with_receptions(log)
    source, target = log.ends(rows)
    transport = log.flows["transport"].to_numpy()[rows["flow"].to_numpy()]
    kinds = np.where(rows["packet"] == "ack", "ack", np.where(np.isin(transport, NOT_TCP), "udp", "tcp"))
    here, there = (log.node_numbers[name] for name in (log.link.from_, log.link.to))
    columns = (
        rows["kind"],
        (rows["t_ps"].to_numpy() + MICROSECOND // 2) // MICROSECOND / 10**6,
        kinds,
        rows["bytes"],
        rows["ecn"].map(FLAGS),
        rows["flow"],
        source,
        target,
        rows["seq"],
        rows["number"],
    )
    lists = [np.asarray(column).tolist() for column in columns]
    lines = [
        f"{event} {time:.15g} {here} {there} {kind} {size} {flags} {flow} {a}.{flow} {b}.{flow} {seq} {number}\n"
        for event, time, kind, size, flags, flow, a, b, seq, number in zip(*lists, strict=True)
    ]
    return "".join(lines)


def _with_receptions(log: Log) -> pd.DataFrame:
    """Return the events with the numbers of their packets, marks left out and receptions put in, in order of time."""
    import pandas as pd

    events = log.events.assign(number=identities(log.events))
    events = events[events["kind"] != "m"]
    departures = events[events["kind"] == "-"]
    received = departures.assign(kind="r", t_ps=arrivals_beyond(log, departures))
    received = received[received["t_ps"] < round(log.scenario.duration_s * PS)]
    return pd.concat([events, received]).sort_values("t_ps", kind="stable")
