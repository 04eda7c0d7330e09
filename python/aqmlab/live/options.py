"""How a live run is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from aqmlab.errors import InputError, unknown
from aqmlab.live.link_process import link_command

BACKENDS = ("link", "tc", "vm")
TRAFFIC = ("sockets", "iperf3")
FASTEST_SNAPSHOTS_S = 0.01


@dataclass(frozen=True)
class Options:
    """How a live run is made.

    Attributes
    ----------
    traffic
        The sender of TCP: ``sockets`` (of the kernel's TCP, by `aqmlab.live.traffic`) or ``iperf3``.
    exec_a, exec_b
        Shell commands that run at the senders' and at the receivers' side.
    record
        A pcap file of the packets that pass the link; the seed is put into its name if there are several.
    snapshot_interval_s
        How often the link reports.
    unshaped
        No rate and no discipline: how fast can the link be?
    keep_awake
        Keep the processors from sleeping.
    link_command
        The link process.
    """

    traffic: str = TRAFFIC[0]
    exec_a: str | None = None
    exec_b: str | None = None
    record: Path | None = None
    snapshot_interval_s: float = 0.1
    unshaped: bool = False
    keep_awake: bool = True
    link_command: tuple[str, ...] = field(default_factory=link_command)

    def __post_init__(self) -> None:
        if self.traffic not in TRAFFIC:
            raise InputError(f"--traffic: {unknown('program', self.traffic, list(TRAFFIC))}")
        if not FASTEST_SNAPSHOTS_S <= self.snapshot_interval_s <= 60:
            raise InputError(f"--interval: {self.snapshot_interval_s} s is not allowed (allowed: 0.01 to 60)")

    def command(self, side: str) -> str | None:
        """Return the command of a side."""
        return self.exec_a if side == "a" else self.exec_b
