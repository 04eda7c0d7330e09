"""Every packet that was offered to a link: whose it is, when it came, when and how it left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

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
        asked = np.zeros(max(self.flow.max(initial=-1), flows.max(initial=-1)) + 1, dtype=bool)
        asked[flows] = True
        marks = asked[self.mark_flow] if data else np.zeros(len(self.mark_flow), dtype=bool)
        return self.chosen(asked[self.flow] & (self.data == data), marks)

    def chosen(self, mine: np.ndarray, marks: np.ndarray) -> Packets:
        """Return some of the packets and some of the marks."""
        rows, marked = np.flatnonzero(mine), np.flatnonzero(marks)
        return Packets(
            self.flow[rows],
            self.data[rows],
            self.bytes[rows],
            self.offered_s[rows],
            self.left_s[rows],
            self.dropped[rows],
            self.dropped_s[rows],
            self.mark_flow[marked],
            self.mark_s[marked],
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
    kind, kinds = encoded(table["packet"])
    columns["data"] = np.array([one == DATA for one in kinds], dtype=bool)[kind]
    link, names = encoded(table["link"])
    found = {}
    for index, name in enumerate(names):
        rows = np.flatnonzero(link == index)
        found[name] = _packets({key: own[rows] for key, own in columns.items()})
    return found


def encoded(words: pa.ChunkedArray) -> tuple[np.ndarray, list[str]]:
    """Return for each row of a column of words the place of its word, and the different words in order of appearance.

    >>> places, names = encoded(pa.chunked_array([["b", "a", "b"]]))
    >>> places.tolist(), names
    ([0, 1, 0], ['b', 'a'])
    """
    found = words.combine_chunks()
    if not pa.types.is_dictionary(found.type):
        found = found.dictionary_encode()
    return found.indices.to_numpy(), found.dictionary.to_pylist()


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
