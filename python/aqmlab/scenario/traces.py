"""Traces of rates: files in mahimahi's format, or with a time and a rate a line."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from aqmlab import _core
from aqmlab.errors import InputError
from aqmlab.scenario.file import read_text

SUFFIXES = (".up", ".down", ".trace", ".rates")
"""Endings of files that are listed as traces."""
EXAMPLES = Path(__file__).parent.parent / "examples"
FIRST_LINE = re.compile(
    r"(#.*\n|\s*\n)*([0-9]+\s*$|time_[a-z]+\s*,\s*rate_|[0-9.]+ *[a-z]+[\s,;]+[0-9.]+ *[kMG]?bps)", re.M
)


@dataclass(frozen=True)
class Trace:
    """A trace of a file.

    Attributes
    ----------
    file
        The file.
    reading
        ``opportunities`` (mahimahi's format) or ``hold`` (a rate over time).
    period_s
        Time in s after which it repeats.
    mean_bps
        Mean rate in bit/s.
    longest_outage_s
        Longest time in s in which nothing may leave.
    bins_bps
        Mean rates of equal parts of the period in bit/s.
    """

    file: Path
    reading: str
    period_s: float
    mean_bps: float
    longest_outage_s: float
    bins_bps: tuple[float, ...]


def read_trace(path: str | Path) -> Trace:
    """Read a file of a trace.

    Raises
    ------
    InputError
        If it cannot be read or is not a trace; names the first wrong line.
    """
    found = json.loads(_core.trace(read_text(Path(path)), str(path)))
    return Trace(Path(path), **(found | {"bins_bps": tuple(found["bins_bps"])}))


def looks_like_trace(text: str) -> bool:
    r"""Return whether a text begins as a trace.

    >>> [looks_like_trace(text) for text in ("# a\n12\n", "0s 5Mbps", "time_s,rate_mbps", "tc qdisc", "interface 1")]
    [True, True, True, False, False]
    """
    return FIRST_LINE.match(text) is not None


def traces(folder: str | Path = ".") -> list[Trace | InputError]:
    """Return the traces of a folder and of the examples, by their endings .up, .down, .trace and .rates.

    A file that is not a trace is in the list as its error.
    """
    files = [file for place in (Path(folder), EXAMPLES) for file in sorted(place.iterdir()) if file.suffix in SUFFIXES]
    found: list[Trace | InputError] = []
    for file in files:
        try:
            found.append(read_trace(file))
        except InputError as error:
            found.append(error)
    return found
