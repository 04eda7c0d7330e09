"""What a running link tells of itself, as a terminal view, JSON lines, Prometheus metrics and a block like tc's."""

from aqmlab.live.statistics.snapshot import Snapshot, SnapshotError
from aqmlab.live.statistics.views import NAMES, Views, open_views

__all__ = ["NAMES", "Snapshot", "SnapshotError", "Views", "open_views"]
