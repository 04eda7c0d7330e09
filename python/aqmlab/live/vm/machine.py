"""The emulated machine: QEMU without hardware help, with a clock of its own.

`-icount` ties the guest's clock to the number of instructions it has done (2 ns each), and lets time jump when it has
nothing to do. So what else this machine does has no influence, and nothing of the host gets in: no random numbers of
the processor, a fixed date, one core. The kernel stirs its command line into its random numbers, so the seed that
stands there decides them.

`rr=record` is for the lock that comes with it, the record itself is thrown away: without it QEMU's main loop may let
time jump before its processor's thread has counted the instructions behind which it fell idle, and one run in some
thirty with traffic differs from the others.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.live.processes import finish
from aqmlab.live.tc.failure import judge
from aqmlab.live.vm import archive
from aqmlab.live.vm.build import Image
from aqmlab.live.vm.packages import said

QEMU = "qemu-system-x86_64"
MEMORY_MB = 512
DATE = "2024-01-01T00:00:00"
PROCESSOR = "max,-rdrand,-rdseed,-cx16"
"""Without cmpxchg16b: QEMU 7.2 loses the flags behind it when an interrupt comes there, and the kernel panics."""
KERNEL = "console=ttyS0 panic=-1 quiet mitigations=off nokaslr tsc=reliable rdinit=/init"
PANIC = re.compile(r"Kernel panic - [^\n\r]*")
MOST_S = 3600.0
"""Longer than any run takes, in s of this machine's time."""


def command(image: Image, folder: Path, seed: int, processors: int = 1) -> list[str]:
    """Return the emulator's command line for a job whose files are in the folder.

    Several processors run at once, in real time, and no two runs are equal.
    """
    at_once = ("-accel", "tcg,thread=multi")
    in_turn = ("-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off,rr=record,rrfile=/dev/null")
    return [
        QEMU,
        *("-machine", "pc,hpet=off"),
        *(in_turn if processors == 1 else at_once),
        *("-rtc", f"base={DATE},clock=vm"),
        *("-cpu", PROCESSOR),
        *("-smp", str(processors), "-m", str(MEMORY_MB)),
        *("-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
        *("-serial", f"file:{folder / 'console'}", "-serial", f"file:{folder / 'results'}"),
        *("-kernel", str(image.kernel), "-initrd", str(folder / "initramfs")),
        *("-append", f"{KERNEL} aqmlab.seed={seed}"),
    ]


@dataclass(frozen=True)
class Told:
    """The output of a guest: its lines of results as they came, and the emulator's version."""

    lines: tuple[str, ...]
    emulator: str


def version() -> str:
    """Return the emulator's version; one clear line if it is not installed."""
    try:
        return said([QEMU, "--version"]).splitlines()[0].removeprefix("QEMU emulator version ")
    except InputError:
        raise InputError(f"no {QEMU} (install it: apt-get install --no-install-recommends qemu-system-x86)") from None


def boot(image: Image, script: str, *, seed: int, files: Mapping[str, archive.Entry] = {}, processors: int = 1) -> Told:
    """Run a job in a fresh guest.

    Parameters
    ----------
    image
        The image to boot.
    script
        The job, for `sh`; results are JSON lines on its file descriptor 3.
    seed
        Decides the kernel's random numbers.
    files
        Further files of the guest, by path.
    processors
        Of the guest; with more than one its time is real and not virtual.

    Raises
    ------
    InputError
        If the emulator is missing, the job fails, or the guest's kernel stops by a fault.
    """
    emulator = version()
    job = {"job/run.sh": archive.file(script.encode()), **files}
    return Told(_guest(image, job, seed, processors), emulator)


def _guest(image: Image, job: Mapping[str, archive.Entry], seed: int, processors: int) -> tuple[str, ...]:
    """Boot a guest and return its lines of results."""
    with tempfile.TemporaryDirectory(prefix="aqmlab-lab-") as name:
        folder = Path(name)
        (folder / "initramfs").write_bytes(image.initramfs.read_bytes() + archive.newc(job))
        _run(command(image, folder, seed, processors))
        console = (folder / "console").read_text(encoding="utf-8", errors="replace")
        results = (folder / "results").read_text(encoding="utf-8", errors="replace")
    lines = tuple(line for line in results.splitlines() if line.startswith("{"))
    _judge(lines, console)
    return lines


def _run(words: Sequence[str]) -> None:
    try:
        done = finish(words, longest_s=MOST_S)
    except subprocess.TimeoutExpired:
        raise InputError(f"the emulated machine did not finish within {MOST_S:.0f} s") from None
    if done.returncode:
        raise InputError(f"{QEMU}: {(done.stderr.strip().splitlines() or ['failed'])[0]}")


def _judge(lines: Sequence[str], console: str) -> None:
    """Raise what went wrong in the guest."""
    panic = PANIC.search(console)
    if panic is not None:
        raise InputError(f"the kernel of the emulated machine stopped: {panic[0].strip()}")
    judge(lines, "the emulated machine")
    if "guest: the job ended with 0" not in console:
        last = console.strip().splitlines()[-1:] or ["no output"]
        raise InputError(f"the emulated machine did not finish its job: {last[0]}")
