"""What a running link tells of itself, as a terminal view, JSON lines, Prometheus metrics and a block like tc's."""

from aqmlab.live.telemetry.snapshot import Snapshot, SnapshotError
from aqmlab.live.telemetry.views import NAMES, Views, open_views

__all__ = ["NAMES", "Snapshot", "SnapshotError", "Views", "open_views"]
