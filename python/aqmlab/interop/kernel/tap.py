"""A tap: the kernel module that logs each call of an unchanged discipline of Linux, and its queue in the core.

The tap has to know the times, random numbers and hashes that the discipline gets from the kernel. It exports functions
that call the kernel's and log the value. In the distribution's module of the discipline the imported names are changed
to those of these functions (`with_logged_imports`); its code stays as it is. The log is replayed like that of a module
(`replay`).
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

MODULE = "sch_aqmlab_tap"
KIND = "aqmlab_tap"
"""Name by which tc knows the tap."""
FIRST_KIND, LAST_KIND = 32, 40
"""The first and the last kind of a tap's records (``tap.h``)."""
CAKE = "cake"
TAPPED = ("codel", "fq-codel", "sfb", "pie", "fq-pie", "dualpi2", CAKE, "red", "choke", "rio", "wred")
"""Disciplines of the core that decide as Linux's do."""
IMPORTS = (
    *("ktime_get", "get_random_u16", "get_random_u32", "__get_random_u32_below", "get_random_bytes"),
    *("flow_hash_from_keys", "skb_get_hash_perturb", "init_timer_key", "timer_init_key"),
    *("register_qdisc", "unregister_qdisc"),
)
"""Functions of the kernel whose values or calls are logged, or that keep out the kernel's built-in discipline."""
FURTHER_IMPORTS = {"sch_sfb": ("jiffies",), "sch_dualpi2": ("hrtimer_setup",)}
"""The same, of one module."""
VERSIONS = ("__versions", "__version_ext_crcs", "__version_ext_names")
"""Sections with the checksums of imported names, which the tap's names do not have."""


def tap_files() -> dict[str, str]:
    """Return the files of the module: name and text."""
    headers = ("tap.h", "builtin.h", "child.h", "record.h", "log.h")
    sources = {name: text_of(f"module/{name}") for name in (f"{MODULE}.c", *headers)}
    makefile = text_of("module/Makefile").partition("\n# The plug-in")[0] + "\n.PHONY: modules clean\n"
    return sources | {"Kbuild": f"obj-m := {MODULE}.o\n", "Makefile": makefile}


def logged(name: str) -> str:
    """Return the tap's name of a function of the kernel.

    >>> logged("__get_random_u32_below")
    'aqmlab_get_random_u32_below'
    """
    return f"aqmlab_{name.lstrip('_')}"


def with_logged_imports(program: bytes, name: str) -> bytes:
    """Return a file ``NAME.ko`` that imports the tap's functions in place of the kernel's.

    Raises
    ------
    InputError
        If ``objcopy`` is missing or does not accept the file.
    """
    words = [f"--redefine-sym={one}={logged(one)}" for one in (*IMPORTS, *FURTHER_IMPORTS.get(name, ()))]
    words += [f"--remove-section={section}" for section in VERSIONS]
    with tempfile.TemporaryDirectory(prefix="aqmlab-tapped-") as folder:
        path = Path(folder) / f"{name}.ko"
        path.write_bytes(program)
        try:
            done = subprocess.run(["objcopy", *words, str(path)], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise InputError("a tap needs the program objcopy (binutils), which is not installed") from None
        if done.returncode:
            raise InputError(f"objcopy cannot change {name}.ko: {done.stderr.strip()}")
        return path.read_bytes()


def tapped_queue(scenario: Scenario, link: Link) -> KernelQueue:
    """Return the queue before a link, as its discipline in Linux decides.

    Disciplines other than CAKE have the scenario's dialect of Linux, or ``linux``. Lengths of CAKE are those of Linux,
    with Ethernet's header.

    Raises
    ------
    InputError
        If the core has no dialect of Linux for this discipline, or the queue has another dialect.
    """
    if link.aqm not in TAPPED:
        allowed = ", ".join(f'"{name}"' for name in TAPPED)
        raise InputError(
            f'{scenario.filename}: queue.{link.queue}: no tap logs aqm = "{link.aqm}" (allowed: {allowed})'
        )
    table = dict(scenario.queue_table(link.queue))
    if link.aqm == CAKE:
        table["overhead"] = int(table.get("overhead", 0)) - ETHERNET_HEADER
    elif not str(table.setdefault("dialect", "linux")).startswith("linux"):
        raise InputError(
            f'{scenario.filename}: queue.{link.queue}.dialect: "{table["dialect"]}" is not that of the log '
            f'(allowed: "linux")'
        )
    return KernelQueue(scenario, link, json.dumps(table), {}, chosen_name="tap")


def below_tap(words: str) -> Qdisc:
    """Return a tap with a discipline in tc's words as its child; a second line is the child of that.

    Words after a semicolon change the settings.

    >>> below_tap("codel target 5ms").below
    ('qdisc add dev DEV parent 10:1 handle 20: codel target 5ms',)
    >>> below_tap("gred setup vqs 2 default 1; gred vq 1 limit 9000").below[1]
    'qdisc change dev DEV parent 10:1 handle 20: gred vq 1 limit 9000'
    """
    places = (f"dev DEV parent {HANDLE}1 handle 20:", "dev DEV parent 20:1 handle 30:")
    commands = [
        f"qdisc {verb} {place} {own.strip()}".rstrip()
        for place, line in zip(places, words.splitlines(), strict=False)
        for verb, own in zip(("add", *["change"] * line.count(";")), line.split(";"), strict=True)
    ]
    return Qdisc(KIND, "", below=tuple(commands))
