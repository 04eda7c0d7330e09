"""UDP flows of a live run: the project's generator at the senders, a counter at the receivers."""

from __future__ import annotations

from aqmlab.live.stage import Raw, Stage


class DatagramFlows:
    """All UDP flows of a run."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def prepare(self) -> None:
        """Start them."""

    def begin(self, start_at: float) -> None:
        """Begin."""

    def due(self, now: float) -> None:
        """Check."""

    def finish(self, raw: Raw) -> None:
        """Finish."""

    def close(self) -> None:
        """End all."""
