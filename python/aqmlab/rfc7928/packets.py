"""Every packet that was offered to a link: whose it is, when it came, when and how it left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from aqmlab.results.exporting.packets import order_of_leaving

PS = 1e12
DATA = "data"
EVENT_COLUMNS = ("t_ps", "link", "kind", "flow", "seq", "bytes", "packet")
"""What is read of the table ``events``."""


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


def packets_of(events: pa.Table) -> dict[str, Packets]:
    """Put the event log of a run together, link by link.

    >>> rows = {"t_ps": [0, 1, 2, 3], "link": ["a"] * 4, "kind": ["+", "+", "-", "d"], "flow": [0] * 4,
    ...         "seq": [0, 1, 0, 1], "bytes": [1500] * 4, "packet": ["data"] * 4}
    >>> found = packets_of(pa.table(rows))["a"]
    >>> found.dropped.tolist(), (found.waited_s * PS).tolist()
    ([False, True], [2.0, nan])
    """
    link = events["link"].combine_chunks().dictionary_encode()
    names, place = link.dictionary.to_pylist(), link.indices.to_numpy()
    columns = {name: events[name].to_numpy() for name in ("t_ps", "flow", "seq", "bytes")}
    columns |= {name: _codes(events, name, words) for name, words in (("kind", "+-dm"), ("packet", _PACKETS))}
    return {
        name: _packets({key: own[place == index] for key, own in columns.items()}) for index, name in enumerate(names)
    }


_PACKETS = (DATA, "ack", "syn")


def _codes(events: pa.Table, column: str, words: str | tuple[str, ...]) -> np.ndarray:
    """Return the place of each word in a list."""
    found = events[column].combine_chunks().dictionary_encode()
    places = np.array([words.index(word) for word in found.dictionary.to_pylist()], dtype=np.int64)
    codes: np.ndarray = places[found.indices.to_numpy()]
    return codes


def _packets(events: Mapping[str, np.ndarray]) -> Packets:
    came, left = events["kind"] == 0, (events["kind"] == 1) | (events["kind"] == 2)
    time = events["t_ps"] / PS
    packet = order_of_leaving(
        tuple(events[key][came] for key in ("flow", "packet", "seq")),
        tuple(events[key][left] for key in ("flow", "packet", "seq")),
    )
    count = int(came.sum())
    left_s, dropped_s = np.full(count, np.nan), np.full(count, np.nan)
    gone = events["kind"][left] == 2
    left_s[packet[~gone]] = time[left][~gone]
    dropped_s[packet[gone]] = time[left][gone]
    marks = events["kind"] == 3
    return Packets(
        flow=events["flow"][came],
        data=events["packet"][came] == 0,
        bytes=events["bytes"][came],
        offered_s=time[came],
        left_s=left_s,
        dropped=~np.isnan(dropped_s),
        dropped_s=dropped_s,
        mark_flow=events["flow"][marks],
        mark_s=time[marks],
    )
