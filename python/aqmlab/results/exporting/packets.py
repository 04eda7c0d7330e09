"""The packets of a link in one run, from its event log: whose they are, which is which, when they arrive beyond."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from aqmlab.errors import InputError, unknown
from aqmlab.scenario.file import Scenario

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result
    from aqmlab.scenario.parts import Link

PS = 10**12
LARGEST, SMALL = 2**62, 2**31 - 1
"""Numbers that 64 bits hold, and that 32 bits do, which are sorted faster."""
NEEDED = ("packet", "dscp", "ecn", "ttl")
"""Columns that event logs of older versions lack."""


@dataclass(frozen=True)
class Log:
    """The event log of a link.

    Attributes
    ----------
    scenario, link
        What was run, and the link.
    events
        One row an event, in order: `t_ps`, `kind` (``+ - d m``), `flow` (its number), `seq`, `bytes`, `packet`
        (``data``, ``ack``, ``syn``), `dscp`, `ecn` (the two bits), `ttl`.
    flows
        One row a flow, at the place of its number: `flow` (its name), `transport`, `from`, `to`.
    """

    scenario: Scenario
    link: Link
    events: pd.DataFrame
    flows: pd.DataFrame

    @property
    def node_numbers(self) -> dict[str, int]:
        """Return the nodes' numbers, in the scenario's order."""
        return {name: index for index, name in enumerate(self.scenario.nodes)}

    def ends(self, rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of the nodes that sent the rows' packets, and of those that they go to."""
        numbers = self.node_numbers
        flow = rows["flow"].to_numpy()
        a = self.flows["from"].map(numbers).to_numpy()[flow]
        b = self.flows["to"].map(numbers).to_numpy()[flow]
        back = rows["packet"].eq("ack").to_numpy()
        return np.where(back, b, a), np.where(back, a, b)


def log_of(result: Result, *, seed: int, link: str) -> Log:
    """Read the event log of a link in one run."""
    events = result.events
    if missing := [name for name in NEEDED if name not in events.columns]:
        raise InputError(f"{result.name}: the event log is an older one, without {', '.join(missing)}; run again")
    plan = Scenario.from_text(result.scenario_text, filename="scenario.toml")
    own = events[(events["seed"] == seed) & (events["link"] == link)].reset_index(drop=True)
    if own.empty:
        logged = [str(name) for name in events.loc[events["seed"] == seed, "link"].unique()]
        raise InputError(f"no event was recorded there: {unknown('link', link, logged)}")
    flows = result.flows[result.flows["seed"] == seed].reset_index(drop=True)
    return Log(plan, plan.link(link), own, flows)


def identities(events: pd.DataFrame) -> np.ndarray:
    """Number the packets in order of arrival; every event gets its packet's number.

    Packets are told apart by flow, kind and sequence number. Of several alike in the queue, such as duplicate
    acknowledgements, the first to come is taken to be the first to leave. A mark has no number: -1.

    >>> import pandas as pd
    >>> rows = [("+", 0, 5), ("+", 1, 5), ("+", 0, 5), ("-", 0, 5), ("d", 1, 5), ("-", 0, 5)]
    >>> identities(pd.DataFrame(rows, columns=["kind", "flow", "seq"]).assign(packet="ack")).tolist()
    [0, 1, 2, 0, 1, 2]
    """
    comes, leaves = events["kind"].eq("+").to_numpy(), events["kind"].isin(["-", "d"]).to_numpy()
    names = (
        events["flow"].to_numpy(),
        events["packet"].astype("category").cat.codes.to_numpy(),
        events["seq"].to_numpy(),
    )
    numbers = np.full(len(events), -1, dtype=np.int64)
    numbers[comes] = np.arange(comes.sum())
    numbers[leaves] = order_of_leaving(tuple(name[comes] for name in names), tuple(name[leaves] for name in names))
    return numbers


def order_of_leaving(came: tuple[np.ndarray, ...], left: tuple[np.ndarray, ...]) -> np.ndarray:
    """Say of each packet that left which of those that came it is: of several alike the first of those left over.

    Parameters
    ----------
    came, left
        What tells packets apart (flow, kind, sequence number), each an array with an entry a packet, in order of time.

    Returns
    -------
    numpy.ndarray
        For each that left its place among those that came; -1 if none fits.

    >>> order_of_leaving((np.array([7, 8, 7]),), (np.array([8, 7, 7, 7]),)).tolist()
    [1, 0, 2, -1]
    """
    coming, leaving = len(came[0]), len(left[0])
    names = _as_one_number([np.concatenate(pair) for pair in zip(came, left, strict=True)])
    in_order, out_order = np.argsort(names[:coming], kind="stable"), np.argsort(names[coming:], kind="stable")
    in_names, out_names = names[:coming][in_order], names[coming:][out_order]
    turn = np.arange(leaving) - np.searchsorted(out_names, out_names)
    place = np.searchsorted(in_names, out_names) + turn
    fits = place < np.searchsorted(in_names, out_names, side="right")
    found = np.full(leaving, -1, dtype=np.int64)
    found[out_order[fits]] = in_order[place[fits]]
    return found


def _as_one_number(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return a number for each entry, the same for the same entries in all parts.

    Whole numbers are digits as they are where they fit; else, and for anything else, their ranks are, which are dear.
    """
    names = np.zeros(len(parts[0]), dtype=np.int64)
    size = 1
    for part in parts:
        digits, base = part, int(part.max(initial=0)) + 1 if part.dtype.kind in "iu" else 0
        if base == 0 or int(part.min(initial=0)) < 0 or size * base > LARGEST:
            _, digits = np.unique(part, return_inverse=True)
            base = int(digits.max(initial=0)) + 1
        if size * base > LARGEST:
            raise ValueError("too many packets to number")
        names = names * base + digits.astype(np.int64)
        size *= base
    return names.astype(np.int32) if size <= SMALL else names


def arrivals_beyond(log: Log, departures: pd.DataFrame) -> np.ndarray:
    """Return when departures reach the far end of the link, in ps: after transmission and propagation.

    Both are those of the link when the transmission started, as in the simulation.
    """
    start = departures["t_ps"].to_numpy(dtype=np.int64)
    rate, delay = rate_and_delay(log.scenario, log.link, start)
    bits = 8 * departures["bytes"].to_numpy(dtype=np.int64)
    after = np.rint(bits * (PS / rate)) + np.rint(delay * PS)
    arrive: np.ndarray = start + after.astype(np.int64)
    return arrive


def rate_and_delay(scenario: Scenario, link: Link, at_ps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a link's rate in bit/s and its delay in s at some times, as changes leave them."""
    rate, delay = np.full(len(at_ps), link.rate_bps), np.full(len(at_ps), link.delay_s)
    changes = [change for change in scenario.changes if change["link"] == link.name]
    for change in sorted(changes, key=lambda change: float(change["at_s"])):
        later = at_ps >= round(change["at_s"] * PS)
        if change["rate_bps"] is not None:
            rate[later] = change["rate_bps"]
        if change["delay_s"] is not None:
            delay[later] = change["delay_s"]
    return rate, delay
