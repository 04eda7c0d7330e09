"""A tap above one of Linux's own disciplines (`aqmlab.interop.kernel.tap`): compiled, and run in the emulator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from aqmlab.interop.kernel.qdisc_options import PROGRAM, options_program, with_options
from aqmlab.interop.kernel.tap import MODULE, below_tap, tap_files
from aqmlab.interop.tc.queues import ONE_PACKET
from aqmlab.live.plan import LivePlan
from aqmlab.live.tc.job import LOGGED, Options, script
from aqmlab.live.tc.module import log_of, program_of
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.live.tc.setting import setting_of
from aqmlab.live.vm import archive
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.machine import boot

RECORDS = LOGGED * 4
"""Records of the log between two looks at the queue: there are several for each call."""
BURST = 100_000
"""Bytes of the token bucket's burst where senders join segments: it would split longer packets."""


@dataclass(frozen=True)
class Tap:
    """A compiled tap and the modules of the discipline that it observes.

    Attributes
    ----------
    program
        The file ``.ko`` of the tap.
    children
        Name and file of each module with logged imports, in the order in which they are loaded.
    further
        Name and file of each module that the job loads before the tap, in their order.
    """

    program: bytes
    children: Mapping[str, bytes] = field(default_factory=dict)
    further: Mapping[str, bytes] = field(default_factory=dict)


def tap_program(build: Path) -> bytes:
    """Compile the tap with the headers of a kernel, and return the file ``.ko``.

    Raises
    ------
    InputError
        As of `aqmlab.live.tc.module.make`.
    """
    return program_of(tap_files(), MODULE, build)


def tapped_log(
    plan: LivePlan,
    words: str,
    tap: Tap,
    image: Image,
    *,
    joins: bool = False,
    headers: bool = False,
    peeks: bool = False,
    splits: bool = True,
    change: Callable[[str], str] = str,
) -> bytes:
    """Run a scenario in the emulated machine with a discipline of Linux below the tap, and return the log.

    Parameters
    ----------
    words
        The discipline in tc's words; lines after the first are those of its own children.
    joins
        Senders hand on packets that the kernel splits later.
    headers
        Log the headers of TCP.
    peeks
        The tap peeks at the discipline's next packet where its parent does, and does not dequeue it.
    splits
        A discipline that can split joined packets does.
    change
        Changes the text of the job.

    Raises
    ------
    InputError
        If the job fails, or records found no room.
    """
    setting = setting_of(plan, qdisc=below_tap(words))
    switches = (("headers=1", headers), ("peeks=1", peeks), ("splits=0", not splits))
    options = Options(
        ping_interval_s=0,
        burst=BURST if joins else ONE_PACKET,
        gso=joins,
        module=MODULE,
        records=RECORDS,
        children=tuple(tap.children),
        parameters=tuple(name for name, is_set in switches if is_set),
    )
    modules = {MODULE: tap.program, **tap.children, **tap.further}
    files = {f"job/{name}.ko": archive.file(program) for name, program in modules.items()}
    text = script(setting, options)
    job = with_options(change(_loading(text, tap.further)))
    if PROGRAM in job:
        files[f"job/{PROGRAM}"] = archive.file(options_program(), executable=True)
    told = boot(image, job, seed=plan.seed, files=files)
    return log_of(PeerRun(setting, told.lines, {}, 0))


def _loading(text: str, modules: Iterable[str]) -> str:
    """Return a job that loads modules before the tap, unless they are loaded already."""
    tap = f'must insmod "$JOB/{MODULE}.ko"'
    lines = [f'grep -q "^{name} " /proc/modules || must insmod "$JOB/{name}.ko"\n' for name in modules]
    return text.replace(tap, "".join(lines) + tap, 1)
