"""A queue's kernel module as a run's bottleneck: compiled for a kernel, and every decision replayed.

The module is the one that ``aqmlab export --to kernel`` writes. Its log of decisions comes back in the job's report
(records ``decisions``, packed by gzip, in base64), with the number of records that found no room.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from aqmlab.errors import InputError, counted
from aqmlab.interop.kernel.export import KernelQueue, module_files
from aqmlab.interop.kernel.replay import ReplayedLog, replay_log
from aqmlab.interop.tc.queues import Qdisc
from aqmlab.live.tc.outcome import PeerRun
from aqmlab.results.outputs import write_export

PATIENCE_S = 300.0
"""How long compiling a module may take."""
RECORD = np.dtype(
    {
        "names": ["time_ns", "packet", "kind", "verdict", "outcome"],
        "formats": ["<u8", "<u4", "u1", "u1", "u1"],
        "offsets": [0, 20, 56, 57, 58],
        "itemsize": 64,
    }
)
"""The fields of a record of the log that are read; ``record.h`` beside the module's source has all fields."""
MARKED, DROPPED = 1, 2
VERDICTS = {"early": 1, "forced": 2, "overflow": 3}


@dataclass(frozen=True)
class KernelModule:
    """A module that was compiled for a kernel.

    Attributes
    ----------
    queue
        The queue that it was written from.
    program
        The file ``.ko``.
    """

    queue: KernelQueue
    program: bytes

    @property
    def qdisc(self) -> Qdisc:
        """The discipline in tc's words."""
        return Qdisc(self.queue.kind, "")


def compiled(queue: KernelQueue, build: Path) -> KernelModule:
    """Write a queue's module, and compile it with the headers of a kernel.

    Raises
    ------
    InputError
        As of `make`.
    """
    return KernelModule(queue, program_of(module_files(queue), queue.module, build))


def program_of(files: Mapping[str, str], module: str, build: Path) -> bytes:
    """Compile the source files of a module with the headers of a kernel, and return the file ``.ko``.

    Raises
    ------
    InputError
        As of `make`.
    """
    with tempfile.TemporaryDirectory(prefix="aqmlab-module-") as name:
        folder = Path(name)
        write_export(folder, files)
        make(folder, build)
        return (folder / f"{module}.ko").read_bytes()


def make(folder: Path, build: Path) -> None:
    """Compile a module's sources with the headers of a kernel.

    Raises
    ------
    InputError
        If there is no compiler, and with the compiler's first error.
    """
    try:
        done = subprocess.run(
            # Its types (BTF) need pahole, and nothing here reads them.
            ["make", "-C", str(folder), f"KERNEL={build}", "CONFIG_DEBUG_INFO_BTF_MODULES="],
            capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise InputError("--kernel-qdisc needs the program make and a C compiler, which are not installed") from None
    except subprocess.TimeoutExpired:
        raise InputError(f"the module was not compiled within {PATIENCE_S:.0f} s") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["make failed"]
        first = next((line for line in lines if "error" in line.lower() or "not found" in line), lines[0])
        raise InputError(f"the module cannot be compiled with {build}: {first.strip()}")


def log_of(run: PeerRun) -> bytes:
    """Return the log of decisions that a job reported.

    Raises
    ------
    InputError
        If records found no room in the guest.
    """
    lost = sum(int(record["data"]) for record in run.of_kind("lost"))
    if lost:
        raise InputError(f"the module's log had no room for {counted(lost, 'record')}")
    return run.packed("decisions")


def replayed(queue: KernelQueue, log: bytes) -> ReplayedLog:
    """Replay a log in the core.

    Raises
    ------
    InputError
        At the first difference.
    """
    found = replay_log(queue, log)
    if found.difference is not None:
        raise InputError(f"the kernel and the core differ: {found.difference}")
    return found


def tables(run: PeerRun, log: bytes) -> dict[str, pa.Table]:
    """Return a run's tables; marks and drops by their reason are those of the log after the warm-up."""
    found = run.tables
    # The log's clock stands while the machine sleeps, that of the job does not.
    start_ns = (run.of_kind("start")[0]["data"] - sum(record["data"] for record in run.of_kind("slept"))) * 1e6
    records = np.frombuffer(log, RECORD)
    after = records[records["time_ns"] >= start_ns + run.setting.warmup_s * 1e9]
    dropped = after["verdict"][after["outcome"] == DROPPED]
    counts = {f"drops_{name}": int(np.count_nonzero(dropped == code)) for name, code in VERDICTS.items()}
    marked = after["verdict"][after["outcome"] == MARKED]
    counts |= {"marks_early": int(np.count_nonzero(marked == VERDICTS["early"])), "marks": len(marked)}
    counts["drops"] = len(dropped)
    links = found["links"]
    for name, value in counts.items():
        links = links.set_column(links.schema.get_field_index(name), name, pa.array([value]))
    return found | {"links": links}
