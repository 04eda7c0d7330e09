"""Tables of results as pandas and xarray, indexed by what they are over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from aqmlab.errors import InputError, unknown
from aqmlab.results.quantities import is_quantity, quantity
from aqmlab.results.tables import OPTIONAL, TABLES

if TYPE_CHECKING:
    import pandas as pd


class Tabled(Protocol):
    """Runs of one scenario: `aqmlab.results.result.Result`."""

    @property
    def name(self) -> str:
        """The scenario's name."""

    @property
    def hash(self) -> str:
        """The scenario's hash."""

    @property
    def summaries(self) -> list[dict[str, Any]]:
        """What each run's summary holds."""

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """Table name to table."""

    def metrics(self) -> pd.DataFrame:
        """Return one row per run."""


METRICS = "metrics"
OVER = {
    METRICS: ("seed",),
    "links": ("seed", "link"),
    "flows": ("seed", "flow"),
    "queue_samples": ("seed", "link", "t_s"),
    "cwnd_samples": ("seed", "flow", "t_s"),
    "flow_samples": ("seed", "flow", "t_s"),
    "discipline_samples": ("seed", "link", "name", "t_s"),
    "delay_histogram": ("seed", "link", "high_s"),
    "code_points": ("seed", "link", "dscp"),
    "drop_distances": ("seed", "link", "distance"),
    "channels": ("seed", "link"),
    "drop_reasons": ("seed", "link", "reason"),
    "flow_delays": ("seed", "flow"),
    "flow_delay_histogram": ("seed", "flow", "high_s"),
    "pages": ("seed", "page"),
    "objects": ("seed", "flow", "object"),
    "segments": ("seed", "flow", "segment"),
    "call_packets": ("seed", "flow", "packet"),
}
"""What each table is over; any other has a number for each row."""
UNITS = {"_s": "s", "_ps": "ps", "_bps": "bit/s", "_bytes": "B", "_packets": "packets", "_ms": "ms", "_mbps": "Mbit/s"}
"""Units by the ends of columns' names."""


def to_pandas(result: Tabled, table: str = METRICS) -> pd.DataFrame:
    """Return a table over all runs, indexed by what it is over.

    Parameters
    ----------
    result
        The runs.
    table
        ``metrics`` for one row a run, or a table that the runs recorded: ``links``, ``flows``, ``queue_samples``, ...
    """
    if table != METRICS and table not in TABLES:
        raise InputError(unknown("table", table, [METRICS, *TABLES]))
    if table != METRICS and table not in result.tables:
        key = OPTIONAL[table]
        asked = f"set {key} in the scenario and run again" if key else "it has no rows"
        raise InputError(f"{result.name}: {table} was not recorded; {asked}")
    frame = result.metrics() if table == METRICS else result.tables[table]
    if table not in OVER:
        return frame.rename_axis(index="row")
    return frame.set_index(list(OVER[table]))


def to_xarray(result: Tabled, table: str = METRICS) -> Any:  # noqa: ANN401 - xarray is an extra
    """Return a table over all runs as a ``xarray.Dataset``, with units and provenance as attributes.

    Needs the extra ``aqmlab[xarray]``. The parameters are those of `to_pandas`.
    """
    try:
        import xarray
    except ImportError:
        raise InputError("xarray is not installed: pip install aqmlab[xarray]") from None
    frame = to_pandas(result, table)
    words = {c: frame[c].astype(object) for c in frame.columns if frame[c].dtype.kind not in "iufb"}
    found = xarray.Dataset.from_dataframe(frame.assign(**words))
    for name in (*found.data_vars, *found.coords):
        found[name].attrs |= described(str(name))
    found.attrs |= {"scenario": result.name, "hash": result.hash, "version": result.summaries[0]["version"]}
    return found


def described(column: str) -> dict[str, str]:
    """Return a column's unit, and its name for people if it is a metric.

    >>> described("mean_delay_ms"), described("goodput_bps"), described("drops")
    ({'units': 'ms', 'long_name': 'Mean queueing delay'}, {'units': 'bit/s'}, {})
    """
    if is_quantity(column):
        return {"units": quantity(column).unit, "long_name": quantity(column).title}
    return next(({"units": unit} for end, unit in UNITS.items() if column.endswith(end)), {})
