"""The tins of CAKE as ``tc -s qdisc show`` prints them: a row for each statistic, a column for each tin."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from aqmlab.results.result import Result

TITLES = {"bulk": "Bulk", "best-effort": "Best Effort", "video": "Video", "voice": "Voice"}
"""tc's names of tins; tc numbers the tins of modes with one or eight."""


def time(seconds: float) -> str:
    """Write a time as tc does.

    >>> time(0.005), time(0.00191), time(0.0000382), time(1.5)
    ('5ms', '1.91ms', '38us', '1.5s')
    """
    us = round(1e6 * seconds)
    scale, unit = (1e6, "s") if us >= 1_000_000 else (1e3, "ms") if us >= 1000 else (1.0, "us")
    return f"{us / scale:.3g}{unit}"


def rate(bits: float) -> str:
    """Write a rate as tc does.

    >>> rate(9_500_000), rate(593_744), rate(0)
    ('9500Kbit', '593744bit', 'unlimited')
    """
    if not bits:
        return "unlimited"
    scale, unit = next((one for one in ((1e9, "Gbit"), (1e6, "Mbit"), (1e3, "Kbit")) if bits % one[0] == 0), (1, "bit"))
    return f"{bits / scale:.0f}{unit}"


WRITERS: dict[str, Callable[[float], str]] = {
    "count": "{:.0f}".format,
    "size": "{:.0f}b".format,
    "rate": rate,
    "time": time,
}
"""How statistics are written; the laboratory has functions of the same names."""
ROWS = (
    ("thresh", "threshold_bps", "rate"),
    ("target", "target_s", "time"),
    ("interval", "interval_s", "time"),
    ("pk_delay", "peak_delay_s", "time"),
    ("av_delay", "average_delay_s", "time"),
    ("sp_delay", "sparse_delay_s", "time"),
    ("backlog", "backlog_bytes", "size"),
    ("pkts", "packets", "count"),
    ("bytes", "bytes", "count"),
    ("way_inds", "indirect_hits", "count"),
    ("way_miss", "way_misses", "count"),
    ("way_cols", "way_collisions", "count"),
    ("drops", "drops", "count"),
    ("marks", "marks", "count"),
    ("ack_drop", "ack_drops", "count"),
    ("sp_flows", "sparse_flows", "count"),
    ("bk_flows", "bulk_flows", "count"),
    ("un_flows", "unresponsive_flows", "count"),
    ("max_len", "longest_packet", "count"),
    ("quantum", "quantum", "count"),
)
"""tc's name of a statistic, the column of the table ``tins``, and its writer in `WRITERS`."""


def tins_of(result: Result) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield each link that has tins, with its table: means over the seeds, counts after the warm-up."""
    table = result.tables.get("tins")
    if table is None or table.empty:
        return
    for link, rows in table.groupby("link", sort=False):
        yield str(link), side_by_side(rows)


def side_by_side(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the tins of a link, of one or several seeds, as tc prints them."""
    import pandas as pd

    means = rows.drop(columns=["seed", "link"], errors="ignore").groupby("tin", sort=False).mean()
    names = ["Tin 0"] if list(means.index) == ["best-effort"] else [TITLES.get(str(tin), "") for tin in means.index]
    titles = [name or f"Tin {place}" for place, name in enumerate(names)]
    values = [[word, *(WRITERS[writer](float(value)) for value in means[column])] for word, column, writer in ROWS]
    return pd.DataFrame(values, columns=["tin", *titles])
