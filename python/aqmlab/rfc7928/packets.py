"""Every packet that was offered to a link: whose it is, when it came, when and how it left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

DATA = "data"
NUMBERS = ("flow", "bytes", "offered_s", "left_s", "dropped_s", "marked_s")
COLUMNS = ("link", "packet", *NUMBERS)
"""Columns read from the table ``packets``."""


@dataclass(frozen=True)
class Packets:
    """Packets offered to a link, in order of arrival; one entry each.

    Attributes
    ----------
    flow
        Number of its flow: the place of the flow in the table ``flows``.
    data
        Whether it carries data; otherwise it is an acknowledgement or sets a connection up.
    bytes
        Its length.
    offered_s, left_s
        When it came to the queue, and when its transmission began (nan: it was dropped, or waits still).
    dropped
        Whether it was dropped, at once or later.
    mark_flow, mark_s
        Flow and time of every mark.
    """

    flow: np.ndarray
    data: np.ndarray
    bytes: np.ndarray
    offered_s: np.ndarray
    left_s: np.ndarray
    dropped: np.ndarray
    dropped_s: np.ndarray
    mark_flow: np.ndarray
    mark_s: np.ndarray

    @property
    def waited_s(self) -> np.ndarray:
        """How long each waited, without its own transmission; nan if it did not leave."""
        found: np.ndarray = self.left_s - self.offered_s
        return found

    def of(self, flows: np.ndarray, *, data: bool = True) -> Packets:
        """Return only the packets of some flows: their data, or all else."""
        mine = np.isin(self.flow, flows) & (self.data == data)
        marks = np.isin(self.mark_flow, flows) & data
        return self.chosen(mine, marks)

    def between(self, begin_s: float, end_s: float) -> Packets:
        """Return only the packets that were offered in a stretch of time."""
        mine = (self.offered_s >= begin_s) & (self.offered_s < end_s)
        return self.chosen(mine, (self.mark_s >= begin_s) & (self.mark_s < end_s))

    def chosen(self, mine: np.ndarray, marks: np.ndarray) -> Packets:
        """Return some of the packets and some of the marks."""
        return Packets(
            self.flow[mine],
            self.data[mine],
            self.bytes[mine],
            self.offered_s[mine],
            self.left_s[mine],
            self.dropped[mine],
            self.dropped_s[mine],
            self.mark_flow[marks],
            self.mark_s[marks],
        )


def packets_of(table: pa.Table) -> dict[str, Packets]:
    """Read the table ``packets`` of a run, link by link.

    >>> rows = {"offered_s": [0.0, 0.1], "link": ["a"] * 2, "flow": [0] * 2, "bytes": [1500] * 2,
    ...         "packet": ["data"] * 2, "left_s": [0.2, np.nan], "dropped_s": [np.nan, 0.1],
    ...         "marked_s": [np.nan] * 2}
    >>> found = packets_of(pa.table(rows))["a"]
    >>> found.dropped.tolist(), found.waited_s.tolist()
    ([False, True], [0.2, nan])
    """
    columns = {name: table[name].to_numpy() for name in NUMBERS}
    columns["data"] = pc.equal(table["packet"], DATA).to_numpy()
    link = table["link"].combine_chunks().dictionary_encode()
    place = link.indices.to_numpy()
    return {
        name: _packets({key: own[place == index] for key, own in columns.items()})
        for index, name in enumerate(link.dictionary.to_pylist())
    }


def _packets(columns: Mapping[str, np.ndarray]) -> Packets:
    marked = ~np.isnan(columns["marked_s"])
    return Packets(
        flow=columns["flow"],
        data=columns["data"],
        bytes=columns["bytes"],
        offered_s=columns["offered_s"],
        left_s=columns["left_s"],
        dropped=~np.isnan(columns["dropped_s"]),
        dropped_s=columns["dropped_s"],
        mark_flow=columns["flow"][marked],
        mark_s=columns["marked_s"][marked],
    )
