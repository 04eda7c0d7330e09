"""The tap of Linux's cake: a kernel module that logs each call of an unchanged ``sch_cake``, and its queue in the core.

The tap has to know the times, random numbers and hashes that cake gets from the kernel. It exports functions that call
the kernel's and log the value. In the distribution's ``sch_cake.ko`` the imported names are changed to those of these
functions (`with_logged_imports`); its code stays as it is.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

from aqmlab.errors import InputError
from aqmlab.interop.kernel.export import KernelQueue, text_of
from aqmlab.interop.tc.queues import ETHERNET_HEADER, HANDLE, Qdisc
from aqmlab.scenario.file import Scenario
from aqmlab.scenario.parts import Link

NAME = "cake"
MODULE = "sch_aqmlab_cake"
KIND = "aqmlab_cake"
"""Name by which tc knows the tap."""
CHILD = "sch_cake"
FIRST_KIND = 32
"""The kinds of its records begin here (``cake.h``)."""
IMPORTS = ("ktime_get", "get_random_u16", "get_random_u32", "flow_hash_from_keys")
"""Functions of the kernel whose values are logged."""
VERSIONS = ("__versions", "__version_ext_crcs", "__version_ext_names")
"""Sections with the checksums of imported names, which the tap's names do not have."""


def tap_files() -> dict[str, str]:
    """Return the files of the module: name and text."""
    sources = {name: text_of(f"module/{name}") for name in (f"{MODULE}.c", "cake.h", "child.h", "record.h", "log.h")}
    makefile = text_of("module/Makefile").partition("\n# The plug-in")[0] + "\n.PHONY: modules clean\n"
    return sources | {"Kbuild": f"obj-m := {MODULE}.o\n", "Makefile": makefile}


def with_logged_imports(program: bytes) -> bytes:
    """Return a file ``sch_cake.ko`` that imports the tap's functions in place of the kernel's.

    Raises
    ------
    InputError
        If ``objcopy`` is missing or does not accept the file.
    """
    words = [f"--redefine-sym={name}=aqmlab_{name}" for name in IMPORTS]
    words += [f"--remove-section={name}" for name in VERSIONS]
    with tempfile.TemporaryDirectory(prefix="aqmlab-cake-") as name:
        path = Path(name) / f"{CHILD}.ko"
        path.write_bytes(program)
        try:
            done = subprocess.run(["objcopy", *words, str(path)], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise InputError("the tap of cake needs the program objcopy (binutils), which is not installed") from None
        if done.returncode:
            raise InputError(f"objcopy cannot change {CHILD}.ko: {done.stderr.strip()}")
        return path.read_bytes()


def cake_queue(scenario: Scenario, link: Link) -> KernelQueue:
    """Return the queue before a link, with lengths as Linux counts them: with Ethernet's header.

    Raises
    ------
    InputError
        If it is not cake.
    """
    if link.aqm != NAME:
        raise InputError(
            f'{scenario.filename}: queue.{link.queue}: the log is that of cake, aqm = "{link.aqm}" (allowed: "cake")'
        )
    table = scenario.queue_table(link.queue)
    overhead = int(table.get("overhead", 0)) - ETHERNET_HEADER
    return KernelQueue(scenario, link, json.dumps({**table, "overhead": overhead}), {}, chosen_name=NAME)


def below_tap(words: str) -> Qdisc:
    """Return a tap with cake as its child.

    >>> below_tap("bandwidth 10mbit").below
    ('qdisc add dev DEV parent 10:1 handle 20: cake bandwidth 10mbit',)
    """
    return Qdisc(KIND, "", below=(f"qdisc add dev DEV parent {HANDLE}1 handle 20: cake {words}".rstrip(),))
