"""A tap as the bottleneck: the logged decisions of one of Linux's own disciplines (`aqmlab.interop.kernel.tap`)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from aqmlab.interop.kernel.tap import MODULE, below_tap, tap_files
from aqmlab.interop.tc.queues import Qdisc, qdisc_of
from aqmlab.live.tc.module import KernelModule, program_of


@dataclass(frozen=True)
class Tap(KernelModule):
    """A compiled tap, whose child is the queue's own discipline of Linux."""

    @property
    def qdisc(self) -> Qdisc:
        """The tap and its child in tc's words."""
        return below_tap(qdisc_of(self.queue.scenario, self.queue.link))


def tap_program(build: Path) -> bytes:
    """Compile the tap with the headers of a kernel, and return the file ``.ko``.

    Raises
    ------
    InputError
        As of `aqmlab.live.tc.module.make`.
    """
    return program_of(tap_files(), MODULE, build)
