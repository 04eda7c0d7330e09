"""Statistics of a running link, as a terminal view, JSON lines, Prometheus metrics and a block like tc's.

* `snapshot`, `fields`: a snapshot read from a line of the link process; errors name the missing field
* `view`, `views`: the interface of a view, how often it draws, and all selected views as one
* `terminal`, `tc_text`, `jsonl`, `prometheus`: the views; `metrics` is the table of Prometheus metrics
* `formatting`: numbers as text
"""

from aqmlab.live.telemetry.snapshot import Snapshot, SnapshotError
from aqmlab.live.telemetry.views import NAMES, Views, open_views

__all__ = ["NAMES", "Snapshot", "SnapshotError", "Views", "open_views"]
