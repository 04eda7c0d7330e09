"""Settings of a discipline for which the distribution's tc has no words: sent to the kernel by a small program.

tc's words are translated into attributes of ``linux/pkt_sched.h``. The program `qdisc_options.c` sends them; it is
linked statically, so that it runs in the emulated machine.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import text_of
from aqmlab.interop.tc.quantities import bytes_of, number_of, seconds_of

PROGRAM = "qdisc_options"


def _microseconds(text: str) -> int:
    return round(seconds_of(text) * 1e6)


def _whole(text: str) -> int:
    return round(number_of(text.removesuffix("%")))


def _parts_of_256(text: str) -> int:
    return int(number_of(text) * 256 + 0.01)


def _bytes(text: str) -> int:
    return round(bytes_of(text))


WITH_VALUE: Mapping[str, tuple[int, int, Callable[[str], int]]] = {
    "limit": (1, 4, _whole),
    "memlimit": (2, 4, _bytes),
    "target": (3, 4, _microseconds),
    "tupdate": (4, 4, _microseconds),
    "alpha": (5, 4, _parts_of_256),
    "beta": (6, 4, _parts_of_256),
    "step_thresh": (8, 4, _microseconds),
    "min_qlen_step": (9, 4, _whole),
    "coupling_factor": (10, 1, _whole),
    "classic_protection": (13, 1, _whole),
}
"""DualPI2's words that have a value: number of the attribute (``TCA_DUALPI2_*``), its bytes, and its unit."""
ALONE = {
    "drop_on_overload": (11, 1),
    "overflow": (11, 0),
    "drop_enqueue": (12, 1),
    "drop_dequeue": (12, 0),
    "l4s_ect": (14, 1),
    "any_ect": (14, 3),
    "split_gso": (15, 1),
    "no_split_gso": (15, 0),
}
"""Words that stand alone: number of the attribute, and its value of one byte."""


def options_of(words: str) -> str:
    """Translate DualPI2's words into the options of the program.

    Raises
    ------
    InputError
        For another discipline, an unknown word, or a value that cannot be read.

    Examples
    --------
    >>> options_of("dualpi2 limit 100 target 5ms alpha 0.16015625 drop_enqueue")
    'dualpi2 1:4:100 3:4:5000 5:4:41 12:1:1'
    """
    kind, *rest = words.split()
    if kind != "dualpi2":
        raise InputError(f'"{kind}": options are known for dualpi2 only')
    found, left = [kind], iter(rest)
    for word in left:
        if word in ALONE:
            attribute, value = ALONE[word]
            found.append(f"{attribute}:1:{value}")
            continue
        if word not in WITH_VALUE:
            allowed = ", ".join((*WITH_VALUE, *ALONE))
            raise InputError(f'"{word}" is not a word of dualpi2 (allowed: {allowed})')
        attribute, size, read = WITH_VALUE[word]
        try:
            found.append(f"{attribute}:{size}:{read(next(left, ''))}")
        except ValueError as error:
            raise InputError(f"dualpi2 {word}: {error}") from None
    return " ".join(found)


def with_options(text: str) -> str:
    """Let a job send DualPI2's settings by the program, which lies beside it.

    >>> with_options("must tc qdisc add dev rb parent 10:1 handle 20: dualpi2 limit 9")
    'must "$JOB/qdisc_options" add rb 10:1 20: dualpi2 1:4:9'
    """
    line = r"tc qdisc (add|change) dev (\S+) parent (\S+) handle (\S+) (dualpi2(?: [\w.%]+)+)"
    return re.sub(line, lambda m: f'"$JOB/{PROGRAM}" {m[1]} {m[2]} {m[3]} {m[4]} {options_of(m[5])}', text)


def options_program() -> bytes:
    """Compile the program, linked statically.

    Raises
    ------
    InputError
        If a C compiler or its static C library is missing, or with the compiler's first error.
    """
    with tempfile.TemporaryDirectory(prefix="aqmlab-options-") as folder:
        source, program = Path(folder) / f"{PROGRAM}.c", Path(folder) / PROGRAM
        source.write_text(text_of(f"netlink/{PROGRAM}.c"), encoding="utf-8")
        command = ["cc", "-O2", "-static", "-o", str(program), str(source)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise InputError("a C compiler (cc) is needed, which is not installed") from None
        if done.returncode:
            first = done.stderr.strip().splitlines()[0]
            raise InputError(f"{PROGRAM}.c cannot be compiled: {first}")
        return program.read_bytes()
