"""Live runs of a scenario in a folder of results: their validity, and jobs for missing ones."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aqmlab.live.kernel_backends import Bottleneck
from aqmlab.live.running import IN_USERSPACE, is_done, live_folder
from aqmlab.results import folders
from aqmlab.results.result import Result
from aqmlab.scenario.file import Scenario
from live_jobs import Job


@dataclass(frozen=True)
class LiveRuns:
    """Live runs of a scenario.

    Attributes
    ----------
    scenario
        The scenario as it is run.
    file, overrides
        Its file, and the overrides of its runs.
    store
        Folder of the results.
    options
        Further words of ``aqmlab live``.
    bottleneck
        The place of the discipline.
    """

    scenario: Scenario
    file: str | Path
    overrides: Mapping[str, str | int | float]
    store: Path
    options: tuple[str, ...] = ()
    bottleneck: Bottleneck = IN_USERSPACE

    @property
    def folder(self) -> Path:
        """The folder of these runs."""
        return live_folder(self.store, self.scenario, self.bottleneck)

    def lacks(self, seed: int) -> bool:
        """Whether this seed lacks a valid run."""
        return not is_done(folders.seed_folder(self.folder, seed), self.scenario)

    def job(self, name: str, seed: int, *, weight: float = 1.0) -> Job:
        """Return the job that does the run of a seed."""
        words = [sys.executable, "-m", "aqmlab", "live", str(self.file), *self.options, "--out", str(self.store)]
        words += ["--seeds", f"{seed}-{seed}", "--resume"]
        for key, value in self.overrides.items():
            words += ["--set", f"{key}={value}"]
        return Job(name, tuple(words), self.scenario.duration_s, weight, lambda: not self.lacks(seed))

    def valid(self, seeds: Iterable[int]) -> Result | None:
        """Return the valid runs of these seeds; None without any."""
        own = [seed for seed in seeds if not self.lacks(seed)]
        return Result.load(self.folder, seeds=own) if own else None
