"""Names of the tables that a run may record."""

from __future__ import annotations

OPTIONAL = {
    "queue_samples": "probe.queue_interval",
    "cwnd_samples": "probe.cwnd_interval",
    "flow_samples": "probe.flow_interval",
    "discipline_samples": "probe.discipline_interval",
    "delay_histogram": "probe.delay_histogram",
    "code_points": "probe.links",
    "drop_distances": "",
    "drop_reasons": "",
    "markers": "",
    "events": "probe.events",
    "losses": "probe.losses",
    "flow_delays": "probe.flow_delay",
    "flow_delay_histogram": "probe.flow_delay",
    "pages": "",
    "objects": "",
    "segments": "",
    "call_packets": "",
}
"""Tables that a run may lack, and the key that asks for them; without a key they are there unless they are empty."""
TABLES = ("links", "flows", *OPTIONAL)
