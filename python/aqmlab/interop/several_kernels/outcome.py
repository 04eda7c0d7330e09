"""Results of running a scenario in several kernels: the runs, and the changes from one kernel to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aqmlab.interop.crosscheck.agreement import LEVEL, Agreement, Line, agreement
from aqmlab.interop.crosscheck.running import plain_measured
from aqmlab.interop.crosscheck.tool import Measured
from aqmlab.live.vm.build import Image
from aqmlab.scenario.file import Scenario


@dataclass(frozen=True)
class KernelRun:
    """One run of a discipline in a kernel.

    Attributes
    ----------
    measured
        Its measurements.
    digest
        SHA-256 of all that the guest reported.
    options
        The discipline's settings, as tc reports them.
    statistics
        Names of the statistics that tc reports of it.
    """

    measured: Measured
    digest: str
    options: dict[str, Any]
    statistics: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """A discipline in one kernel compared with the same in the first.

    Attributes
    ----------
    release, base
        Releases of the two kernels.
    qdisc
        The discipline, in tc's words.
    lines
        The comparison of each measure; "ours" is the first kernel.
    settings
        Settings and statistics that are not the same, each in words.
    same_bytes
        Whether the guests reported the same bytes with every seed.
    """

    release: str
    base: str
    qdisc: str
    lines: tuple[Line, ...]
    settings: tuple[str, ...]
    same_bytes: bool

    @property
    def changed(self) -> list[Line]:
        """The measures that differ."""
        return [line for line in self.lines if line.agreement is Agreement.DIFFERS]


@dataclass(frozen=True)
class KernelCheck:
    """Results of `cross_check_kernels`.

    Attributes
    ----------
    scenario
        The scenario.
    seeds
        Seeds of the kernels' random numbers.
    margin
        Factor of all margins.
    kernels
        Images, in the order in which they were asked for.
    qdiscs
        Disciplines in tc's words.
    runs
        By release, discipline and seed.
    emulator
        Version of QEMU.
    notes
        Omitted runs, and why.
    """

    scenario: Scenario
    seeds: list[int]
    margin: float
    kernels: tuple[Image, ...]
    qdiscs: tuple[str, ...]
    runs: Mapping[tuple[str, str, int], KernelRun]
    emulator: str
    notes: tuple[str, ...]

    def of(self, release: str, qdisc: str) -> dict[int, KernelRun]:
        """Return the runs of a discipline in a kernel by seed; none if the kernel lacks it."""
        keys = {seed: (release, qdisc, seed) for seed in self.seeds}
        return {seed: self.runs[key] for seed, key in keys.items() if key in self.runs}

    def changes(self) -> list[Change]:
        """Compare every kernel with the first that has the discipline."""
        found = []
        for qdisc in self.qdiscs:
            having = [image.release for image in self.kernels if self.of(image.release, qdisc)]
            found += [self._change(having[0], release, qdisc) for release in having[1:]]
        return found

    def _change(self, base: str, release: str, qdisc: str) -> Change:
        before, after = self.of(base, qdisc), self.of(release, qdisc)
        a, b = ({seed: run.measured for seed, run in side.items()} for side in (before, after))
        lines = agreement(a, b, certain=False, margin=self.margin, by_seed=True)
        first = self.seeds[0]
        settings = settings_changed(before[first], after[first])
        same = all(before[seed].digest == after[seed].digest for seed in self.seeds)
        return Change(release, base, qdisc, tuple(lines), tuple(settings), same)

    def data(self) -> dict[str, Any]:
        """Return everything for other programs."""
        return {
            "scenario": {"name": self.scenario.name, "hash": self.scenario.hash},
            "seeds": self.seeds,
            "level": LEVEL,
            "margin": self.margin,
            "emulator": self.emulator,
            "kernels": [
                {"release": image.release, **{key: image.manifest[key] for key in ("packages", "sha256")}}
                for image in self.kernels
            ],
            "qdiscs": list(self.qdiscs),
            "runs": [
                {
                    "kernel": release,
                    "qdisc": qdisc,
                    "seed": seed,
                    "sha256": run.digest,
                    "options": run.options,
                    "measured": plain_measured(run.measured),
                }
                for (release, qdisc, seed), run in self.runs.items()
            ],
            "changes": [
                {
                    "kernel": change.release,
                    "against": change.base,
                    "qdisc": change.qdisc,
                    "settings": list(change.settings),
                    "same_bytes": change.same_bytes,
                    "lines": [line.data() for line in change.lines],
                }
                for change in self.changes()
            ],
            "notes": list(self.notes),
        }


def settings_changed(before: KernelRun, after: KernelRun) -> list[str]:
    """Return in words which settings and statistics of a discipline are not the same."""
    found = []
    for name in sorted({*before.options, *after.options}):
        here, there = before.options.get(name), after.options.get(name)
        if here != there:
            found.append(f"{name}: {_said(here)} before, {_said(there)} now")
    found += [f"statistic {name} is new" for name in after.statistics if name not in before.statistics]
    found += [f"statistic {name} is gone" for name in before.statistics if name not in after.statistics]
    return found


def _said(value: object) -> str:
    return "none" if value is None else str(value)
