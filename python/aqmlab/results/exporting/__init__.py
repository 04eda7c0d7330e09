"""Results for other programs: tables, flent data files, ns-2 traces, packet captures."""

from aqmlab.results.exporting.formats import FORMATS, export
from aqmlab.results.frames import to_pandas, to_xarray

__all__ = ["FORMATS", "export", "to_pandas", "to_xarray"]
