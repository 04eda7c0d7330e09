"""Read an ns-2 study with limits of memory, processor time and output (``python -m aqmlab.interop.importing.sandbox``).

The order is JSON on standard input, the answer JSON on standard output; see `record` in `recording`.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from dataclasses import fields
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.importing import recording

PAGES = 0
"""Place of the size of the address space in ``/proc/self/statm``, in pages."""


def limit(*, memory_mb: int, seconds: int, output_mb: int) -> None:
    """Limit this process: so much memory beyond what it has now, processor time, and size of a file; no core dumps."""
    try:
        now = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[PAGES]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        now = 1 << 30  # no /proc: as much as the interpreter with all libraries
    limits = {
        resource.RLIMIT_AS: now + memory_mb * 1_000_000,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_FSIZE: output_mb * 1_000_000,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        hard = resource.getrlimit(kind)[1]
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (allowed, allowed))


def plain(run: recording.Recording) -> dict[str, object]:
    """Return a recording as plain data."""
    return {field.name: getattr(run, field.name) for field in fields(run) if not field.name.startswith("_")}


def main() -> int:
    """Read the order, run the study, and write what it did."""
    order = json.load(sys.stdin)
    recording.SECONDS = order["seconds"]
    limit(
        memory_mb=order["memory_mb"],
        seconds=order["processor_seconds"],
        output_mb=order["output_mb"],
    )
    answer: dict[str, object]
    try:
        runs = recording.record_here(order["text"], order["filename"], order["arguments"])
        answer = {"runs": [plain(run) for run in runs]}
    except InputError as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
